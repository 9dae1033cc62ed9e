"""The commands of `argparse`: which lines a parser accepts, and how it reads them without ending the program.

What is written is what every parser of this kind understands: the name of an option in full, the first that begins with
two dashes if there is one, its values as words of their own, and a single value that begins as options do behind `=`.
"""

import argparse
import copy
import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from enum import Enum
from pathlib import PurePath
from typing import Any, NoReturn

from structured.errors import SchemaError
from structured.output_types.command_line.layout import Argument, Command, Option
from structured.output_types.command_line.words import SPACE, Value, decimals, free_text, integers, name_word, texts
from structured.regex import Pattern, alternation, concat, literal, repeat

MAX_CHOICES = 100_000

_COUNTS: dict[object, tuple[int, int | None]] = {None: (1, 1), "?": (0, 1), "*": (0, None), "+": (1, None)}
"""How many words an argument takes, by its `nargs`."""

_FLAGS = (argparse._StoreConstAction, argparse._AppendConstAction, argparse._CountAction)  # noqa: SLF001

_REPEATED = (
    argparse._AppendAction,  # noqa: SLF001  there is no public name; an extending action is one of them
    argparse._AppendConstAction,  # noqa: SLF001
    argparse._CountAction,  # noqa: SLF001
)

_ENDING = (argparse._HelpAction, argparse._VersionAction)  # noqa: SLF001

_LIKE_A_NUMBER = re.compile(r"-[0-9.]")


def read_parser(parser: argparse.ArgumentParser) -> Command:
    """Return the lines that a parser accepts. Raises SchemaError for what cannot be enforced, with its place."""
    return _Reader(parser, parser.prog, "", allows_negative=True, outer=()).command()


class _Reader:
    """Reads one parser: of the whole line, or of a subcommand."""

    def __init__(
        self,
        parser: argparse.ArgumentParser,
        place: str,
        marks: str,
        *,
        allows_negative: bool,
        outer: tuple[argparse.ArgumentParser, ...],
    ) -> None:
        self.parser = parser
        self.place = place
        self.outer = outer
        self.names: Mapping[str, argparse.Action] = parser._option_string_actions  # noqa: SLF001
        own = f"{parser.prefix_chars}{parser.fromfile_prefix_chars or ''}"
        self.marks = "".join(dict.fromkeys(marks + own))
        self.allows_negative = allows_negative and not any(map(_LIKE_A_NUMBER.match, self.names))
        if re.search(r"[\w\s'\"]", self.marks):
            raise self.unsupported("A letter, digit, blank or quotation mark begins options", parser.prog)
        actions = [action for action in parser._actions if not isinstance(action, _ENDING)]  # noqa: SLF001
        self.actions = [action for action in actions if not _is_left_out(action)]
        self.subparsers = [one for one in self.actions if isinstance(one, argparse._SubParsersAction)]  # noqa: SLF001

    def unsupported(self, what: str, name: str, remedy: str = "Write a parser without it.") -> SchemaError:
        return SchemaError(what, schema_path=f"{self.place}, {name}" if name else self.place, remedy=remedy)

    def command(self) -> Command:
        options = [self.of_group(group) for group in self.groups()] + [self.option(one) for one in self.single()]
        arguments = self.arguments()
        if self.subparsers and any(option.is_open for option in options):
            raise self.unsupported(
                "An option before a subcommand takes any number of values, and would take its name",
                "",
                "Give nargs a number, or let the option append.",
            )
        if self.subparsers and any(one.minimum != one.maximum for one in arguments):
            raise self.unsupported("An argument before a subcommand may be left out or repeated", "")
        return Command(
            options,
            arguments,
            self.subcommands(),
            needs_subcommand=any(one.required for one in self.subparsers),
        )

    def arguments(self) -> list[Argument]:
        """Return the arguments, in their order."""
        found: list[Argument] = []
        by_place = [action for action in self.actions if not action.option_strings]
        if any(action in self.subparsers for action in by_place[:-1]):
            raise self.unsupported("An argument is added behind the subcommands, which take all words", "")
        for action in by_place:
            if action in self.subparsers:
                continue
            argument = self.argument(action)
            if action.nargs == "*" and action.choices is not None:  # which argparse checks even where there are none
                if any(one.maximum is None for one in found):
                    raise self.unsupported("All words are taken by the argument before", action.dest)
                found = [Argument(one.words, one.maximum or 1, one.maximum) for one in found]
                argument = Argument(argument.words, 1, None)
            found.append(argument)
        return found

    def subcommands(self) -> dict[str, Command]:
        """Return each subcommand by its name, the first where it has more."""
        found: dict[str, Command] = {}
        for action in self.subparsers:
            known: dict[int, str] = {}
            for name, parser in action.choices.items():
                if known.setdefault(id(parser), name) != name:
                    continue
                if name[:1] in tuple(self.marks) or not name:
                    raise self.unsupported("The name of a subcommand begins as options do", name)
                inner = _Reader(
                    parser,
                    f"{self.place} {name}",
                    self.marks,
                    allows_negative=self.allows_negative,
                    outer=(*self.outer, self.parser),
                )
                found[name] = inner.command()
        return found

    def groups(self) -> Iterator[tuple[bool, list[argparse.Action]]]:
        """Yield the actions that exclude each other, and whether one of them is required."""
        seen = set[int]()
        for group in self.parser._mutually_exclusive_groups:  # noqa: SLF001
            members = [action for action in group._group_actions if action in self.actions]  # noqa: SLF001
            for action in members:
                if not action.option_strings:
                    raise self.unsupported("An argument without a name excludes options", action.dest)
                if id(action) in seen:
                    raise self.unsupported("An option is in two groups that exclude each other", _shown(action))
                seen.add(id(action))
            if members or group.required:
                yield group.required, members

    def single(self) -> Iterator[argparse.Action]:
        """Yield the options that exclude no other."""
        grouped = {id(action) for _, members in self.groups() for action in members}
        yield from (action for action in self.actions if action.option_strings and id(action) not in grouped)

    def of_group(self, group: tuple[bool, list[argparse.Action]]) -> Option:
        """Return options of which one may be written."""
        required, members = group
        for action in members:
            has_default = action.nargs != 0 and action.default not in (None, argparse.SUPPRESS)
            if required and (has_default or (action.nargs == "?" and action.const is action.default)):
                raise self.unsupported(
                    "An option of a required group may have its default, which argparse takes for nothing at all",
                    _shown(action),
                    "Give it no default, and with nargs='?' a const.",
                )
        if not members:
            raise self.unsupported("A required group has no option that can be written", "")
        options = [self.option(action) for action in members]
        return Option(
            alternation(*(option.pattern for option in options)), required, any(option.is_open for option in options)
        )

    def option(self, action: argparse.Action) -> Option:
        """Return an option with its values."""
        written = alternation(*(self.option_with_values(action, name) for name in self.written_names(action)))
        if isinstance(action, _REPEATED):
            kind = int if isinstance(action, argparse._CountAction) else list  # noqa: SLF001
            if action.default not in (None, argparse.SUPPRESS) and not isinstance(action.default, kind):
                raise self.unsupported(
                    f"What is given is added to the default, {action.default!r}, which is no {kind.__name__}",
                    _shown(action),
                    "Correct the default.",
                )
            written = concat(written, repeat(concat(SPACE, written), 0, None))
        is_open = action.nargs in ("?", "*", "+")
        return Option(written, action.required, is_open)

    def written_names(self, action: argparse.Action) -> list[str]:
        """Return the names by which an option is written: one, or that of `--x` and that of `--no-x`."""
        names = [name for name in action.option_strings if self.names.get(name) is action]
        long = [name for name in names if name[1:2] == name[0]] or names
        if isinstance(action, argparse.BooleanOptionalAction):
            long = [*long[:1], *[name for name in long if name.startswith("--no-")]]
        else:
            long = long[:1]
        for name in long:
            if shlex.quote(name) != name or "=" in name or len(name) < 2:
                raise self.unsupported("The name of an option needs quotes, or is no name", name)
            self.check_abbreviation(name)
        return list(dict.fromkeys(long))

    def check_abbreviation(self, name: str) -> None:
        """Raise SchemaError if an outer parser, which sees the whole line first, takes a name for one of several."""
        is_short = name[1:2] != name[0]  # of such names, allow_abbrev says nothing
        for parser in self.outer:
            known = parser._option_string_actions  # noqa: SLF001
            taken = [one for one in known if one.startswith(name) or (is_short and one == name[:2])]
            if name not in known and (parser.allow_abbrev or is_short) and len(taken) > 1:
                raise self.unsupported(
                    f"The name abbreviates several options of {parser.prog!r}", name, "Name it differently."
                )

    def option_with_values(self, action: argparse.Action, name: str) -> Pattern:
        """Return the name of an option with what follows it."""
        written = name_word(name)
        if isinstance(action, _FLAGS) or action.nargs == 0 or isinstance(action, argparse.BooleanOptionalAction):
            return written
        if isinstance(action, argparse._ExtendAction) and action.nargs in (None, "?"):  # noqa: SLF001
            raise self.unsupported("A list is extended by what is no list", name, "Give nargs='+', or let it append.")
        value = self.value(action)
        behind = [] if value.marked is None else [concat(literal(f"{name}="), value.marked)]
        bare = self.bare(value)
        if action.nargs in (None, "?"):
            alone = [written] if action.nargs == "?" else []
            return alternation(*alone, *([] if bare is None else [concat(written, SPACE, bare)]), *behind)
        least, most = self.counts(action)
        if bare is None:
            raise self.unsupported("No value can be told from an option", name)
        return concat(written, repeat(concat(SPACE, bare), least, most))

    def argument(self, action: argparse.Action) -> Argument:
        """Return an argument, which has no name."""
        if action.nargs == "?" and action.default == argparse.SUPPRESS and (action.type or action.choices):
            raise self.unsupported(
                "Where the argument is left out, argparse reads SUPPRESS as its value",
                action.dest,
                "Give it a default.",
            )
        value = self.value(action)
        bare = self.bare(value)
        if bare is None:
            raise self.unsupported("No value can be told from an option", action.dest)
        return Argument([bare], *self.counts(action))

    def counts(self, action: argparse.Action) -> tuple[int, int | None]:
        """Return how many words an action takes."""
        if isinstance(action.nargs, int):
            return action.nargs, action.nargs
        if action.nargs not in _COUNTS:
            raise self.unsupported(f"nargs={action.nargs!r} takes options for values", _shown(action))
        return _COUNTS[action.nargs]

    def bare(self, value: Value) -> Pattern | None:
        """Return the words that no parser takes for an option."""
        if value.is_number and self.allows_negative:
            return value.words
        return value.plain

    def value(self, action: argparse.Action) -> Value:
        """Return the words of a value, by its type and choices."""
        convert = self.parser._registry_get("type", action.type, action.type)  # noqa: SLF001
        try:
            return texts(self.choices(action, convert), self.marks) if _has_texts(action) else self.typed(action)
        except SchemaError as error:
            raise self.unsupported(error.problem, _shown(action), error.remedy) from error

    def typed(self, action: argparse.Action) -> Value:
        """Return the words of a value without choices, or whose choices are a range of integers."""
        kind = action.type
        if isinstance(action.choices, range):
            return integers(min(action.choices), max(action.choices), self.marks)
        if kind is int:
            return integers(None, None, self.marks)
        if kind is float or kind is Decimal:
            return decimals(None, None, self.marks)
        if isinstance(kind, type) and issubclass(kind, Enum):
            named = [member.value for member in kind if isinstance(member.value, str)]
            if not named:
                raise SchemaError("No member of the Enum has a text as its value", remedy="Give a function as type.")
            return texts(named, self.marks)
        if isinstance(kind, argparse.FileType):
            raise SchemaError("FileType opens files while a line is read", remedy="Use pathlib.Path as type.")
        if kind is not None and not callable(kind) and not isinstance(kind, str):
            raise SchemaError("The type is no function", remedy="Correct it.")
        return free_text(self.marks)

    def choices(self, action: argparse.Action, convert: Callable[[str], Any]) -> list[str]:
        """Return the text of each choice: one that is read as the choice."""
        found: list[str] = []
        try:
            listed = list(action.choices or ())
        except TypeError as error:
            raise SchemaError("The choices cannot be listed", remedy="Give them as a list.") from error
        if not listed or len(listed) > MAX_CHOICES:
            raise SchemaError(f"There are {len(listed):,} choices", remedy=f"Give 1 to {MAX_CHOICES:,}.")
        for choice in listed:
            candidates = [str(choice), getattr(choice, "value", None), getattr(choice, "name", None)]
            text = next((one for one in candidates if isinstance(one, str) and _is_read_as(one, convert, choice)), None)
            if text is None:
                raise SchemaError(
                    f"No text is read as the choice {choice!r}", remedy="Correct the type or the choices."
                )
            found.append(text)
        return found


def _is_left_out(action: argparse.Action) -> bool:
    """Tell whether an action is a hidden option. An argument takes the words at its place, hidden or not."""
    return action.help == argparse.SUPPRESS and bool(action.option_strings) and not action.required


def _has_texts(action: argparse.Action) -> bool:
    """Tell whether the choices of an action are listed one by one."""
    choices = action.choices
    return choices is not None and not (isinstance(choices, range) and action.type is int and abs(choices.step) == 1)


def _is_read_as(text: str, convert: Callable[[str], Any], choice: object) -> bool:
    try:
        return bool(convert(text) == choice)
    except Exception:  # noqa: BLE001  whatever the function raises, the text is not read
        return False


def _shown(action: argparse.Action) -> str:
    return action.option_strings[-1] if action.option_strings else str(action.dest)


def unknown_types(parser: argparse.ArgumentParser) -> list[str]:
    """Return the names of the types and actions of a parser that may reject a text that is written for them."""
    found: list[str] = []
    for action in parser._actions:  # noqa: SLF001
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            found += [name for one in action.choices.values() for name in unknown_types(one)]
        elif not _is_surely_read(action):
            known = type(action).__module__ == "argparse"
            found.append(getattr(action.type, "__name__", repr(action.type)) if known else type(action).__name__)
    return list(dict.fromkeys(found))


def _is_surely_read(action: argparse.Action) -> bool:
    """Tell whether every text that is written for an action is read."""
    kind = action.type
    known = kind in (None, int, float, str, Decimal) or (isinstance(kind, type) and issubclass(kind, Enum | PurePath))
    return type(action).__module__ == "argparse" and (known or action.choices is not None)


def raising(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """Return a parser that reads as another does, and raises ValueError where that would end the program."""

    def error(message: str) -> NoReturn:
        raise ValueError(message)

    def leave(status: int = 0, message: str | None = None) -> NoReturn:
        raise ValueError(message or f"the parser ends the program with status {status}")

    found = copy.copy(parser)
    actions = [_with_raising(action) for action in parser._actions]  # noqa: SLF001
    found.__dict__.update(_actions=actions, error=error, exit=leave)
    return found


def _with_raising(action: argparse.Action) -> argparse.Action:
    """Return an action whose subcommands raise ValueError."""
    if not isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
        return action
    found = copy.copy(action)
    parsers = {name: raising(parser) for name, parser in action._name_parser_map.items()}  # noqa: SLF001
    found._name_parser_map = parsers  # noqa: SLF001
    found.choices = parsers
    return found


WIDTH = 100
"""Columns of the help that a prompt shows, whatever the terminal has."""


def help_of(parser: argparse.ArgumentParser) -> str:
    """Return the help of a parser and of its subcommands."""
    shown = [_help(parser)]
    for action in parser._actions:  # noqa: SLF001
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            shown += map(help_of, {id(one): one for one in action.choices.values()}.values())
    return "\n\n".join(shown)


def _help(parser: argparse.ArgumentParser) -> str:
    """Return the help without colours, as wide as `WIDTH`."""

    def formatter() -> argparse.HelpFormatter:
        try:
            made = parser.formatter_class(prog=parser.prog, width=WIDTH)  # type: ignore[call-arg]
        except TypeError:  # a formatter that takes no width
            made = parser.formatter_class(prog=parser.prog)
            made._width = WIDTH  # noqa: SLF001
        getattr(made, "_set_color", bool)(False)  # from Python 3.14 on
        return made

    plain = copy.copy(parser)
    plain.__dict__["_get_formatter"] = formatter
    try:
        return plain.format_help().strip()
    except Exception as error:
        raise SchemaError(
            f"The help of {parser.prog!r} cannot be written: {type(error).__name__} {error}".rstrip(),
            remedy="Correct the parser, or give a description: CommandLine(parser, description=…).",
        ) from error
