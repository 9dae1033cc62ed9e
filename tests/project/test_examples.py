"""The examples print what they show: each docstring has a command, and below it, indented, the real output, whole."""

import ast
import io
import itertools
import json
import re
import runpy
import sys
import warnings
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import NamedTuple

import pytest
from real_model import NAME

from structured.errors import PackagedModelWarning
from structured.models import ScriptedModel
from structured.models.checkpoints import FETCHABLE, fetched_path

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").rglob("*.py"))
PAGE = ROOT / "docs/examples.md"


def _name(example: Path) -> str:
    return example.relative_to(ROOT).as_posix()


def _wants_real_model(example: Path) -> bool:
    return NAME in example.read_text(encoding="utf-8")


class Shown(NamedTuple):
    """What the docstring of an example shows: the variables that its command sets, and what it prints."""

    variables: dict[str, str]
    output: list[str]


def _shown(example: Path) -> Shown:
    docstring = ast.get_docstring(ast.parse(example.read_text(encoding="utf-8"))) or ""
    lines = docstring.splitlines()
    command = re.compile(rf"    \$ ((?:[A-Z_]+=\S+ )*)python {re.escape(_name(example))}")
    ((start, found),) = [(number, match) for number, line in enumerate(lines, 1) if (match := command.fullmatch(line))]
    indented = itertools.takewhile(lambda line: not line or line.startswith("    "), lines[start:])
    variables = dict(word.split("=", 1) for word in found[1].split())
    return Shown(variables, _lines("\n".join(line.removeprefix("    ") for line in indented)))


def _lines(printed: str) -> list[str]:
    """Return lines without white space at their ends, which no docstring keeps."""
    return [line.rstrip() for line in printed.rstrip().split("\n")]


def _run(example: Path, *arguments: str) -> str:
    """Run an example as its command does, but in this process, which has loaded the model; return what it prints."""
    printed = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings(), redirect_stdout(printed):
        patch.delenv("STRUCTURED_MODEL", raising=False)
        for variable, value in _shown(example).variables.items():
            patch.setenv(variable, value)
        patch.setattr(sys, "argv", [str(example), *arguments])
        warnings.simplefilter("ignore", PackagedModelWarning)
        runpy.run_path(str(example), run_name="__main__")
    return printed.getvalue()


@pytest.fixture(scope="module")
def fetched(real_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Let the real model be one that was fetched, and transformers run it, whose texts are the ones that are shown.

    It is loaded once, since a loaded model is kept by its path.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("STRUCTURED_CACHE_DIR", str(tmp_path_factory.mktemp("fetched")))
        patch.setattr("structured.models.load.is_installed", lambda: False)
        for name in FETCHABLE:
            path = fetched_path(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            if not path.exists():
                path.symlink_to(real_model)
        yield


@pytest.mark.parametrize("example", EXAMPLES, ids=_name)
def test_every_example_is_documented(example: Path) -> None:
    """Each shows what it prints, which the tests below compare, and stands whole on the page of examples."""
    assert _shown(example).output
    assert f'--8<-- "{_name(example)}"' in PAGE.read_text(encoding="utf-8")


def test_the_table_of_examples_has_real_output() -> None:
    """The last column of each row is a line that the example of that row prints; each example has a row."""
    page = PAGE.read_text(encoding="utf-8")
    sections = dict(re.findall(r'^## (.+?)$.*?^--8<-- "(.+?)"$', page, flags=re.MULTILINE | re.DOTALL))
    examples = {heading.lower().replace(",", "").replace(" ", "-"): name for heading, name in sections.items()}
    rows = re.findall(r"^\| \[.+?\]\(#(.+?)\) \|.* \| `(.+?)` \|$", page, flags=re.MULTILINE)
    for anchor, output in rows:
        assert output in map(str.strip, _shown(ROOT / examples[anchor]).output), output
    assert {anchor for anchor, _ in rows} == {*examples}


@pytest.mark.thorough
@pytest.mark.parametrize("example", [one for one in EXAMPLES if not _wants_real_model(one)], ids=_name)
def test_examples_print_what_they_show(example: Path) -> None:
    """With the packaged model, or one of their own."""
    assert _lines(_run(example)) == _shown(example).output


@pytest.mark.slow
@pytest.mark.usefixtures("fetched")
@pytest.mark.parametrize("example", [one for one in EXAMPLES if _wants_real_model(one)], ids=_name)
def test_examples_print_what_smollm2_writes(example: Path) -> None:
    """Some minutes for all of them, most of it for loading the model, plain and adapted."""
    assert _lines(_run(example)) == _shown(example).output


def test_the_image_converter_takes_the_lines_that_it_shows(capsys: pytest.CaptureFixture[str]) -> None:
    """The grammar has the lines that SmolLM2 wrote, and those of the examples in its prompt."""
    example = ROOT / "examples/literature/image_converter.py"
    shown = _shown(example).output
    lines = dict(zip(shown[::2], map(str.strip, shown[1::2]), strict=True))
    model = ScriptedModel(lambda prompt: next(line for wish, line in lines.items() if wish in prompt))
    runpy.run_path(str(example))["main"](model, beams=1)
    assert _lines(capsys.readouterr().out) == shown


def test_invoices_that_fail_do_not_cost_the_others(tmp_path: Path) -> None:
    """One JSON line for each text file of a folder, in the order of their names: fields, or what is wrong with it."""
    (tmp_path / "a.txt").write_text("", encoding="utf-8")
    (tmp_path / "b.txt").write_text("Invoice 17 from Acme Tools: 2 hammers. Total: 40.00 EUR.", encoding="utf-8")
    (tmp_path / "c.txt").write_bytes("Rechnung für Öl".encode("latin-1"))
    (tmp_path / "d.txt").mkdir()
    (tmp_path / "e.txt").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    (tmp_path / "f.txt").write_text("Invoice 4 from Northwind Paper. Total: 12.50 USD.", encoding="utf-8")
    records = [json.loads(line) for line in _run(ROOT / "examples/invoices.py", str(tmp_path)).splitlines()]
    assert [record["file"] for record in records] == [f"{name}.txt" for name in "abcdef"]
    for record in records:
        read = {"number", "vendor", "total", "currency"} if record["file"] in ("b.txt", "f.txt") else {"error"}
        assert record.keys() == {"file"} | read
        assert record.get("error", "-")
