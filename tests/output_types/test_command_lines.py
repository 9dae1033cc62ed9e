"""Command lines: whatever is written, the parser reads, and as it would read the words themselves."""

import argparse
import copy
import enum
import json
import pickle
import random
import re
import runpy
import shlex
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal
from uuid import UUID

import pytest
import typer
from effort import examples
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from walks import random_text

from structured import (
    CommandLine,
    Description,
    SchemaError,
    extract,
    extract_batch,
    inspect_type,
    read_results,
    write_table,
)
from structured.automata.byte_automaton import accepts_text
from structured.models import ScriptedModel
from structured.output_types.command_line import click_command

click = pytest.importorskip("click")


class Colour(enum.Enum):
    RED = "red"
    DARK_BLUE = "dark blue"


NAMES = ("-a", "-b", "--alpha", "--alphabet", "--beta", "-gamma", "--no-x", "--x", "--y-2", "-z", "--zeta")

TYPES: tuple[Any, ...] = (None, str, int, float, Path, Decimal, Colour)

CHOICES: tuple[dict[str, Any], ...] = (
    {"choices": ["one", "two words", "-dash", "it's"]},
    {"choices": [3, -1, 20], "type": int},
    {"choices": range(-5, 400), "type": int},
    {"choices": range(7, 0, -3), "type": int},
    {"choices": list(Colour), "type": Colour},
)

VALUES = st.one_of(st.sampled_from(TYPES).map(lambda kind: {"type": kind}), st.sampled_from(CHOICES))

COUNTS = st.sampled_from([None, None, None, 1, 2, 3, "?", "*", "+"])


@st.composite
def options(draw, names) -> dict[str, Any]:
    """Return what `add_argument` takes, for an option of some names."""
    action = draw(
        st.sampled_from(
            ["store", "store", "store_true", "store_const", "append", "extend", "count", "append_const", "boolean"]
        )
    )
    found: dict[str, Any] = {"action": action, "dest": "".join(filter(str.isalnum, names[0]))}
    if action in ("store", "append", "extend"):
        found |= draw(VALUES) | {"nargs": draw(COUNTS)}
        if action == "extend" and found["nargs"] is None:
            found["nargs"] = "+"
    if action in ("store_const", "append_const"):
        found["const"] = 7
    if action == "boolean":
        if not any(name.startswith("--") for name in names):
            return found | {"action": "store_true"}
        found["action"] = argparse.BooleanOptionalAction
    return found


def fill(draw, parser, depth) -> None:
    names = draw(st.lists(st.sampled_from(NAMES), unique=True, max_size=6))
    group = None
    while names:
        count = draw(st.integers(1, 2))
        own, names = names[:count], names[count:]
        given = draw(options(own))
        if draw(st.booleans()) and draw(st.booleans()):
            group = group or parser.add_mutually_exclusive_group(required=draw(st.booleans()))
            target = group
        else:
            target = parser
            given["required"] = draw(st.booleans())
        try:
            target.add_argument(*own, **given)
        except argparse.ArgumentError:  # --x is there, and so --no-x
            if group is not None and not group._group_actions:
                parser._mutually_exclusive_groups.remove(group)  # argparse prints no help with an empty one
                group = None
    for number in range(draw(st.integers(0, 3))):
        parser.add_argument(f"place{number}", nargs=draw(COUNTS), **draw(VALUES))
    if depth and draw(st.booleans()):
        subparsers = parser.add_subparsers(dest=f"command{depth}", required=draw(st.booleans()))
        for name in ("add", "remove all"):
            fill(draw, subparsers.add_parser(name, aliases=["also"] if name == "add" else []), depth - 1)


@st.composite
def parsers(draw) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "tool",
        prefix_chars=draw(st.sampled_from(["-", "-", "-+"])),
        fromfile_prefix_chars=draw(st.sampled_from([None, None, "@"])),
        allow_abbrev=draw(st.booleans()),
    )
    fill(draw, parser, depth=1)
    return parser


@settings(max_examples=examples(150), deadline=None)
@given(parser=parsers(), seed=st.integers(0, 1000))
def test_argparse_reads_whatever_is_written(parser, seed):
    """A parser that is taken accepts every line, and the value is what it makes of the line."""
    try:
        lines = CommandLine(parser)
    except SchemaError as error:
        assert error.schema_path.startswith("tool")  # noqa: PT017  it says where
        return
    rng = random.Random(seed)
    automaton = lines.automaton()
    for _ in range(5):
        text = random_text(automaton, rng)
        read = parser.parse_args(shlex.split(text)[1:])
        assert read == lines.parse(text)
        assert lines.plain(read).keys() == vars(read).keys()


def image_parser(**options: Any) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("convert", **options)
    parser.add_argument("image")
    parser.add_argument("result", nargs="?")
    parser.add_argument("-q", "--quality", type=int, choices=range(1, 101), metavar="1..100")
    parser.add_argument("--tag", action="append")
    parser.add_argument("-v", "--verbose", action="count")
    size = parser.add_mutually_exclusive_group(required=True)
    size.add_argument("--scale", type=float)
    size.add_argument("--size", type=int, nargs=2)
    return parser


@pytest.mark.parametrize(
    ("line", "accepted"),
    [
        ("convert in.png --scale 0.5", True),
        ("convert --scale 0.5 in.png out.png", True),
        ("convert --verbose in.png --size 3 -4", True),
        ("convert in.png --scale -1.5 --quality 100", True),
        ("convert 'my photo.png' --scale 1", True),
        ('convert "it\'s" --scale 1', True),
        ("convert in.png --scale 1 --tag a --tag 'b c'", True),
        ("convert in.png --scale 1 --tag=-x", True),
        ("convert - --scale 1", True),
        ("convert in.png", False),  # one of a required group is missing
        ("convert in.png --scale 1 --size 3 4", False),  # the others are excluded
        ("convert in.png --scale 1 --quality 0", False),
        ("convert in.png --scale 1 --quality 101", False),
        ("convert in.png --scale 1 --scale 2", False),
        ("convert --scale 1", False),
        ("convert a b c --scale 1", False),
        ("convert a --scale 1 b", False),  # arguments stand together
        ("convert in.png --scale x", False),
        ("convert in.png  --scale 1", False),
        ("convert my photo.png out.png --scale 1", False),
        ("convert $HOME --scale 1", False),
        ("convert a;b --scale 1", False),
        ("convert -x --scale 1", False),
        ("convert in.png --scale 1 --help", False),
        ("other in.png --scale 1", False),
    ],
)
def test_lines_of_a_program(line, accepted):
    lines = CommandLine(image_parser())
    assert accepts_text(lines.automaton(), line) == accepted
    if accepted:
        assert lines.parse(line) == image_parser().parse_args(shlex.split(line)[1:])
        assert lines.write(line) == line
    else:
        with pytest.raises(ValueError, match="none of the lines"):
            lines.parse(line)


@settings(max_examples=examples(100), deadline=None)
@given(word=st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), max_size=8))
def test_every_word_can_be_written(word):
    """As `shlex.quote` writes it, behind a name, whatever it begins with; and a shell reads it as `shlex` does."""
    assume(word != "--")
    parser = argparse.ArgumentParser("tool")
    parser.add_argument("--word")
    lines = CommandLine(parser)
    begins = word.startswith("-") and word != "-"
    text = f"tool --word={shlex.quote(word)}" if begins else f"tool --word {shlex.quote(word)}"
    assert lines.parse(text).word == word


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")
def test_a_shell_reads_the_same_words_as_shlex():
    parser = argparse.ArgumentParser("echo")
    parser.add_argument("--word")
    parser.add_argument("others", nargs="*")
    automaton, rng = CommandLine(parser).automaton(), random.Random(0)
    texts = [random_text(automaton, rng) for _ in range(200)]
    script = "\n".join(f"printf '%s\\n' x {text.partition(' ')[2]}; printf '\\1'" for text in texts)
    shown = subprocess.run(["/bin/sh"], input=script.encode(), capture_output=True, check=True).stdout.decode()
    assert [one.split("\n")[1:-1] for one in shown.split("\1")[:-1]] == [shlex.split(text)[1:] for text in texts]


def refused(change) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("tool", prefix_chars="-")
    change(parser)
    return parser


def with_subcommand(name: str, **option: Any) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("tool")
    parser.add_argument(name, **option)
    parser.add_subparsers().add_parser("run")
    return parser


def abbreviating(outer: str, inner: str, *, allow_abbrev: bool = True) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("tool", allow_abbrev=allow_abbrev)
    for name in outer.split():
        parser.add_argument(name)
    parser.add_subparsers().add_parser("run").add_argument(inner)
    return parser


def twice_exclusive(parser: argparse.ArgumentParser) -> None:
    group = parser.add_mutually_exclusive_group(required=True)
    group.add_argument("--n", type=int, default=5)


def behind_subcommands(parser: argparse.ArgumentParser) -> None:
    parser.add_subparsers().add_parser("run")
    parser.add_argument("file")


@pytest.mark.parametrize(
    ("parser", "problem"),
    [
        (refused(lambda p: p.add_argument("rest", nargs=argparse.REMAINDER)), r"takes options for values .*tool, rest"),
        (refused(lambda p: p.add_argument("--in", type=argparse.FileType())), r"FileType opens files .*tool, --in"),
        (refused(lambda p: p.add_argument("--in", choices=[object()])), "No text is read as the choice"),
        (refused(lambda p: p.add_argument("--in", choices=[])), "0 choices"),
        (refused(lambda p: p.add_argument("--in", action="extend")), "what is no list"),
        (refused(lambda p: p.add_argument("--in", choices=["a\nb"])), "no command line holds"),
        (refused(lambda p: p.add_argument("place", choices=["-a"])), "No value can be told from an option"),
        (refused(lambda p: p.add_argument("--a b")), "needs quotes"),
        (refused(twice_exclusive), "may have its default"),
        (refused(lambda p: p.add_mutually_exclusive_group(required=True)), "no option that can be written"),
        (with_subcommand("--x", nargs="*"), "would take its name"),
        (with_subcommand("x", nargs="?"), "may be left out"),
        (abbreviating("--foot --food", "--foo"), r"abbreviates several options of 'tool' .*tool run, --foo"),
        (abbreviating("-gate -gain", "-g", allow_abbrev=False), "abbreviates several options"),
        (abbreviating("-g -gate", "-ga", allow_abbrev=False), "abbreviates several options"),
        (argparse.ArgumentParser("tool", prefix_chars="x"), "A letter"),
        (refused(lambda p: p.add_argument("--in", choices=["--"])), "ends the options"),
        (
            refused(lambda p: p.add_argument("n", nargs="?", type=int, default=argparse.SUPPRESS)),
            "SUPPRESS as its value",
        ),
        (refused(lambda p: p.add_argument("--n", action="append", default=1)), r"default, 1, which is no list .*--n"),
        (refused(lambda p: p.add_argument("--n", action="extend", nargs="+", default="a")), "which is no list"),
        (refused(lambda p: p.add_argument("--n", action="count", default="a")), "which is no int"),
        (argparse.ArgumentParser("it's"), r"The program's name .*No closing quotation.*program="),
        (refused(behind_subcommands), "behind the subcommands"),
    ],
)
def test_what_cannot_be_enforced_is_refused_with_its_place(parser, problem):
    with pytest.raises(SchemaError, match=problem):
        CommandLine(parser)


def even(text: str) -> int:
    if int(text) % 2:
        raise argparse.ArgumentTypeError(f"{text} is odd")
    return int(text)


def test_a_type_that_is_a_function_rejects_what_it_raises_at(capsys):
    """The model is asked again, and nothing is written to the terminal."""
    parser = argparse.ArgumentParser("tool")
    parser.add_argument("--n", type=even, required=True)
    lines = CommandLine(parser)
    assert lines.validators == ("even",)
    with pytest.raises(ValueError, match="3 is odd"):
        lines.parse("tool --n 3")
    answers = iter(["tool --n 3", "tool --n x", "tool --n 4"])
    assert extract(lines, "Use four.", model=ScriptedModel(lambda _: next(answers)), retries=2).n == 4
    assert capsys.readouterr() == ("", "")
    with pytest.raises(SystemExit):
        parser.parse_args(["--n", "3"])


def test_hidden_options_and_those_that_end_the_program_are_not_written():
    parser = argparse.ArgumentParser("tool")
    parser.add_argument("--version", action="version", version="1")
    parser.add_argument("--secret", help=argparse.SUPPRESS)
    automaton = CommandLine(parser).automaton()
    assert {random_text(automaton, random.Random(seed)) for seed in range(50)} == {"tool"}


def test_a_hidden_argument_has_its_word_and_takes_none_of_another():
    parser = argparse.ArgumentParser("tool")
    parser.add_argument("secret", help=argparse.SUPPRESS)
    parser.add_argument("shown", type=int)
    lines = CommandLine(parser)
    assert vars(lines.parse("tool a 5")) == {"secret": "a", "shown": 5}
    with pytest.raises(ValueError, match="none of the lines"):
        lines.parse("tool 5")


@pytest.mark.parametrize("marks", ["-", "+", "-+", "+/"])
def test_two_dashes_are_never_a_value(marks):
    """Whatever begins options: argparse drops them, and so takes no value, or an empty list."""
    parser = argparse.ArgumentParser("tool", prefix_chars=marks)
    name = marks[0] * 2 + "word"
    parser.add_argument(name)
    automaton = CommandLine(parser).automaton()
    for quoted in ("--", "'--'", '"--"'):
        for line in (f"tool {name} {quoted}", f"tool {name}={quoted}"):
            assert not accepts_text(automaton, line)
    assert accepts_text(automaton, f"tool {name} -")
    for word in ("-a", "--a", "---", "a--"):
        separator = "=" if word[0] in marks else " "
        for quote in ("", "'", '"'):
            line = f"tool {name}{separator}{quote}{word}{quote}"
            assert accepts_text(automaton, line)
            assert parser.parse_args(shlex.split(line)[1:]).word == word


def test_a_parser_whose_help_fails_needs_a_description():
    parser = argparse.ArgumentParser("tool")
    parser.add_argument("--word", help="100 %(nothing)s")
    with pytest.raises(SchemaError, match=r"The help of 'tool' cannot be written: KeyError .*description="):
        CommandLine(parser).describe()
    assert CommandLine(parser, description="A tool.").describe().text == "A tool."


def test_names_that_abbreviate_one_option_of_the_outer_parser_or_none_are_written():
    for outer, inner, allow in (("--foot", "--foo", True), ("--foot --food", "--foo", False), ("-g -ga", "-ga", True)):
        parser = abbreviating(outer, inner, allow_abbrev=allow)
        assert CommandLine(parser).parse(f"tool run {inner} x") == parser.parse_args(["run", inner, "x"])


def test_subcommands_of_subcommands():
    parser = argparse.ArgumentParser("git")
    parser.add_argument("--dir")
    first = parser.add_subparsers(dest="command", required=True)
    remote = first.add_parser("remote", aliases=["r"]).add_subparsers(dest="remote", required=True)
    remote.add_parser("add").add_argument("url")
    first.add_parser("status").add_argument("--short", action="store_true")
    lines = CommandLine(parser)
    assert vars(lines.parse("git --dir . remote add x")) == {
        "dir": ".",
        "command": "remote",
        "remote": "add",
        "url": "x",
    }
    assert lines.parse("git status --short").short is True
    for wrong in ("git", "git remote", "git r add x", "git status --dir .", "git remote add"):
        assert not accepts_text(lines.automaton(), wrong)
    assert "usage: git remote add [-h] url" in lines.describe().text


def test_the_program_may_be_called_otherwise():
    lines = CommandLine(image_parser(), program="python -m 'my tool'", description="Converts.")
    assert lines.parse("python -m 'my tool' in.png --scale 1").image == "in.png"
    assert repr(lines) == """CommandLine("python -m 'my tool'")"""
    described = lines.describe()
    assert isinstance(described, Description)
    assert described.text == "Converts."
    for wrong in ("", "'"):
        with pytest.raises((SchemaError, ValueError)):
            CommandLine(image_parser(), program=wrong)
    with pytest.raises(TypeError, match="Pass an argparse"):
        CommandLine(3)


def test_the_help_is_the_same_in_every_terminal(monkeypatch):
    shown = []
    for columns in ("40", "200"):
        monkeypatch.setenv("COLUMNS", columns)
        shown.append(CommandLine(image_parser(description="Converts images. " * 20)).describe().text)
    assert shown[0] == shown[1]
    assert max(map(len, shown[0].splitlines())) > 80
    assert CommandLine(image_parser()).digest == CommandLine(image_parser()).digest
    assert CommandLine(image_parser()).digest != CommandLine(argparse.ArgumentParser("convert")).digest


def test_a_value_is_written_as_words_or_as_a_line():
    lines = CommandLine(image_parser())
    assert lines.write(["my photo.png", "--scale", "1"]) == "convert 'my photo.png' --scale 1"
    with pytest.raises(ValueError, match="Give the line"):
        lines.write(argparse.Namespace())
    with pytest.raises(ValueError, match="none of the lines"):
        lines.write(["in.png"])


# Click and Typer


@click.group()
@click.option("--verbose", "-v", count=True)
@click.option("--log", type=click.File("w"))
@click.version_option("1.0")
def tool(**_):
    """Work on images."""


@tool.command()
@click.argument("image", type=click.Path(exists=True))
@click.argument("others", nargs=-1)
@click.argument("result")
@click.option("--quality", type=click.IntRange(1, 100, max_open=True), default=80)
@click.option("--gamma", type=click.FloatRange(0.1, 3, min_open=True))
@click.option("--format", type=click.Choice(["png", "jpg", "two words"], case_sensitive=False), required=True)
@click.option("--size", type=(int, int))
@click.option("--tag", multiple=True)
@click.option("--shout/--no-shout", "-s/-S")
@click.option("--key", type=click.UUID)
@click.option("--name", prompt=True)
@click.option("--flag", type=bool)
@click.option("--when", type=click.DateTime())
@click.option("--hidden", hidden=True)
@click.option("--mode", is_flag=False, flag_value="fast")
def convert(**_):
    """Convert an image."""


@tool.command("show", no_args_is_help=True)
@click.option("-n", type=int)
@click.argument("first", required=False)
@click.argument("second", required=False)
def show_image(**_):
    pass


@tool.command("pair")
@click.argument("first", required=False)
@click.argument("second", nargs=2, type=float)
def pair(**_):
    pass


class Format(enum.StrEnum):
    png = "png"
    jpg = "jpg"


application = typer.Typer()


@application.callback()
def main(verbose: bool = False):
    pass


@application.command()
def shrink(  # noqa: PLR0917
    image: Path,
    key: UUID | None = None,
    result: Annotated[Path | None, typer.Argument(exists=True)] = None,
    format: Format = Format.png,  # noqa: A002
    quality: Annotated[int, typer.Option(min=1, max=100)] = 80,
    gamma: Annotated[float, typer.Option(min=0)] = 1.0,
    size: tuple[int, int] = (1, 1),
    tag: list[str] = typer.Option([]),  # noqa: B008
    number: Annotated[int, typer.Option("--number", "-n", count=True)] = 0,
    keep: bool = False,
    log: Annotated[typer.FileTextWrite | None, typer.Option()] = None,
    way: Literal["fast", "slow"] = "fast",
):
    pass


@application.command()
def clear(force: Annotated[bool, typer.Option(prompt=True)]):
    pass


def read_by_click(command, name, words, parent=None):
    """Let Click read a line as its `main` does, down to the last subcommand; paths have to exist."""
    context = command.make_context(name, list(words), parent=parent)
    rest = [*getattr(context, "_protected_args", ()), *context.args]
    if rest:
        read_by_click(command.get_command(context, rest[0]), rest[0], rest[1:], context)


def anywhere(command):
    """Return a command whose paths and files are texts."""
    found = copy.copy(command)
    found.params = [click_command._without_files(one) for one in command.params]
    if hasattr(command, "commands"):
        found.commands = {name: anywhere(one) for name, one in command.commands.items()}
    return found


@pytest.mark.parametrize("program", [tool, show_image, pair, application], ids=["group", "command", "pair", "typer"])
def test_click_reads_whatever_is_written(program):
    """But for dates, whose type is unknown."""
    lines = CommandLine(program)
    command = anywhere(click_command.command_of(program))
    automaton, rng = lines.automaton(), random.Random(0)
    seen = set()
    for _ in range(300):
        text = random_text(automaton, rng, length=80)
        words = shlex.split(text)[1:]
        seen.update(word for word in words if word.startswith("-"))
        if "--when" in words:
            continue
        read_by_click(command, "tool", words)
        assert lines.parse(text) == words
    assert "--hidden" not in seen
    assert "--version" not in seen


@settings(max_examples=examples(60), deadline=None)
@given(
    kinds=st.lists(
        st.sampled_from(
            [
                *({"type": kind} for kind in (str, int, float, bool, click.UUID)),
                *({"type": click.IntRange(*ends)} for ends in ((None, 5), (-3, None), (2, 2), (-70, -7))),
                {"type": click.FloatRange(-0.5, 0.25, min_open=True, max_open=True)},
                {"type": click.FloatRange(1e9, None, min_open=True)},
                {"type": click.FloatRange(None, 1.5, clamp=True, max_open=False)},
                {"type": click.Choice(["a", "-b"])},
                {"type": (str, click.Choice(["x", "y z"]))},
                {"nargs": 3, "type": int},
                {"multiple": True},
                {"count": True},
                {"is_flag": True},
                {"is_flag": False, "flag_value": "z"},
            ]
        ),
        max_size=5,
    ),
    arguments=st.lists(st.sampled_from([{"required": False}, {}, {"nargs": 2}, {"type": int}]), max_size=3),
    variadic=st.integers(-2, 3),
    is_strict=st.booleans(),
    needs_words=st.booleans(),
    subcommands=st.none() | st.booleans(),
    seed=st.integers(0, 1000),
)
def test_click_reads_whatever_is_written_for_random_commands(  # noqa: PLR0917  one for each thing that is random
    kinds, arguments, variadic, is_strict, needs_words, subcommands, seed
):
    params = [click.Option([f"--o{number}"], **kind) for number, kind in enumerate(kinds)]
    given = list(arguments)
    if 0 <= variadic <= len(given):
        given.insert(variadic, {"nargs": -1, "required": bool(seed % 2)})
    params += [click.Argument([f"a{number}"], **kind) for number, kind in enumerate(given)]
    settings = {"allow_interspersed_args": not is_strict}
    if subcommands is None:
        command = click.Command("tool", params=params, no_args_is_help=needs_words, context_settings=settings)
    else:
        params = [one for one in params if one.param_type_name == "option" or one.required]
        inner = [
            click.Command("sub", params=[click.Option(["--in"], type=int)]),
            click.Group("other", [click.Command("last")]),
        ]
        command = click.Group(
            "tool", inner, params=params, invoke_without_command=subcommands, no_args_is_help=needs_words
        )
    try:
        lines = CommandLine(command)
    except SchemaError as error:
        assert re.search("nothing can be|may be left out or repeated", error.problem)  # noqa: PT017
        return
    automaton, rng = lines.automaton(), random.Random(seed)
    for _ in range(5):
        text = random_text(automaton, rng)
        read_by_click(command, "tool", shlex.split(text)[1:])
        assert lines.parse(text) == shlex.split(text)[1:]


def test_lines_of_a_click_group():
    lines = CommandLine(tool)
    for line in (
        "tool --verbose --verbose convert a.png b.png --format png --name me",
        "tool --log x.txt convert --format png --name '' a.png b.png --quality 99 --size 1 -2 --tag -x",
        "tool show -n -5",
    ):
        assert lines.parse(line) == shlex.split(line)[1:]
    for line in (
        "tool",
        "tool show",
        "tool convert a.png b.png --name me",  # the format is required
        "tool convert a.png b.png --format png",  # the program would ask for the name
        "tool convert a.png --format png --name me",
        "tool convert a.png b.png --format png --name me --quality 100",
        "tool convert a.png b.png --format png --name me --when",
        "tool show --verbose",
    ):
        assert not accepts_text(lines.automaton(), line)
    assert "Convert an image." in lines.describe().text
    assert "\x1b" not in lines.describe().text
    assert lines.validators == ("when",)
    with pytest.raises(ValueError, match="does not match"):
        lines.parse("tool convert a.png b.png --format png --name me --when tomorrow")


def test_lines_of_an_application_of_typer():
    lines = CommandLine(application, program="images")
    line = "images --verbose shrink in.png --format jpg --quality 7 --no-keep --way slow"
    assert lines.parse(line) == shlex.split(line)[1:]
    assert lines.parse("images clear --no-force") == ["clear", "--no-force"]
    for wrong in ("images shrink a --quality 101", "images shrink a --format gif", "images --install-completion"):
        assert not accepts_text(lines.automaton(), wrong)
    assert re.search(r"Usage: images shrink", lines.describe().text)


def test_chained_groups_are_refused():
    with pytest.raises(SchemaError, match="chains its commands"):
        CommandLine(click.Group("tool", chain=True, commands=[click.Command("a")]))


def test_a_line_is_extracted():
    found = extract(
        CommandLine(image_parser()), "Halve the picture in.png.", model=ScriptedModel("convert in.png --scale 0.5")
    )
    assert found.scale == 0.5


def test_the_words_of_a_program_are_no_arguments():
    """A program may have several: what the parser reads stands behind all of them."""
    parser = argparse.ArgumentParser("git commit")
    parser.add_argument("--message", required=True)
    lines = CommandLine(parser)
    words = shlex.split("git commit --message Done")
    assert lines.program == words[:2]
    assert lines.parse(shlex.join(words)) == parser.parse_args(words[2:])


def test_a_report_shows_the_program_not_its_help():
    (field,) = inspect_type(CommandLine(image_parser())).fields
    assert field.kind == "CommandLine('convert')"


def test_an_application_without_commands_is_refused():
    with pytest.raises(SchemaError, match=re.escape("has no command. Add one, with @app.command().")):
        CommandLine(typer.Typer())


def test_lines_are_pickled_if_the_parser_can_be():
    """A parser of argparse has functions that cannot be pickled."""
    lines = CommandLine(image_parser())
    with pytest.raises(pickle.PicklingError, match=r"The parser of CommandLine.* cannot be pickled: .* Pass on"):
        pickle.dumps(lines)
    assert copy.deepcopy(lines) is copy.copy(lines) is lines
    command = click.Command("touch", params=[click.Argument(["path"])])
    again = pickle.loads(pickle.dumps(CommandLine(command, program="my touch")))  # noqa: S301  its own
    assert again.parse("my touch a") == ["a"]


def test_lines_are_stored_and_looked_at(tmp_path):
    lines = CommandLine(image_parser())
    path = tmp_path / "lines.jsonl"
    model = ScriptedModel("convert in.png --scale 0.5 --tag a")
    extract_batch(lines, ["Halve it.", "Again."], model=model, output=path)
    assert [vars(one.value)["tag"] for one in read_results(path, lines)] == [["a"], ["a"]]
    for line in path.read_text().splitlines():
        assert json.loads(line)["value"] == "convert in.png --scale 0.5 --tag a"
    assert "convert in.png --scale 0.5" in write_table(path, tmp_path / "table.csv").read_text()
    assert inspect_type(lines).answers.shortest == "convert % --scale 0"


# The literature

EXAMPLE = Path(__file__).parents[2] / "examples" / "literature" / "image_converter.py"


def shown_by_example() -> list[str]:
    docstring = runpy.run_path(str(EXAMPLE))["__doc__"]
    return [line.removeprefix("    ") for line in docstring.splitlines() if line.startswith("    ")][1:]


def test_the_image_converter_prints_what_it_shows(capsys):
    """Given the lines that the model of its docstring wrote."""
    shown = shown_by_example()
    written = dict(zip(shown[::3], shown[1::3], strict=True))
    model = ScriptedModel(lambda prompt: next(line.strip() for wish, line in written.items() if wish in prompt))
    runpy.run_path(str(EXAMPLE))["main"](model, beams=1)
    assert capsys.readouterr().out.splitlines() == shown
