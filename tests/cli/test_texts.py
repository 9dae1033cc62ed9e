"""Regular expressions and choices on the command line, in place of a type."""

import ast
import json
import re

import pytest
from typer.testing import CliRunner

from structured.cli.commands import app
from structured.cli.console import ExitCode


def run(*arguments):
    return CliRunner().invoke(app, [*arguments], env={"COLUMNS": "200", "TERM": "dumb"})


@pytest.fixture
def letter(tmp_path):
    path = tmp_path / "letter.txt"
    path.write_text("Born in 1987. Yes.")
    return str(path)


@pytest.mark.filterwarnings("ignore::structured.errors.PackagedModelWarning")
@pytest.mark.parametrize(
    ("options", "expected"),
    [(["--pattern", "19[0-9]{2}"], r"19[0-9]{2}"), (["--choice", "yes", "--choice", "no"], "yes|no")],
)
def test_a_text_is_extracted(options, expected, letter, tmp_path):
    """Each gives a line with the text, which a later call does not repeat."""
    output = tmp_path / "out.jsonl"
    for _ in range(2):
        done = run("extract", *options, letter, "--output", str(output))
        assert done.exit_code == 0
    (line,) = output.read_text().splitlines()
    assert re.fullmatch(expected, json.loads(line)["value"])


@pytest.mark.filterwarnings("ignore::structured.errors.PackagedModelWarning")
def test_a_text_of_a_grammar_is_extracted(letter, tmp_path):
    """The grammar may be one that ships, or that of a file."""
    grammar, sums = tmp_path / "year.lark", tmp_path / "sums.txt"
    grammar.write_text("start: /19[0-9]{2}/")
    sums.write_text("2 + 3\n")
    asked = (
        (str(grammar), letter, lambda text: re.fullmatch("19[0-9]{2}", text)),
        ("arithmetic", str(sums), ast.parse),
    )
    for given, document, read in asked:
        done = run("extract", "--grammar", given, document, "--max-tokens", "20")
        assert done.exit_code == 0
        assert read(json.loads(done.stdout)["value"])


def test_a_graph_that_cannot_be_written_is_told_in_a_sentence(tmp_path):
    target = tmp_path / "nowhere" / "x.dot"
    done = run("inspect", "--pattern", "a+", "--dot", str(target))
    assert done.exit_code == ExitCode.UNUSABLE
    assert f"OutputError: {target} cannot be written: No such file or directory." in done.stderr


def test_a_text_is_inspected():
    report = json.loads(run("inspect", "--pattern", "[0-9]{4}", "--json").stdout)
    assert (report["answers"]["count"], report["cost"]["longest"]) == (10_000, 4)
    shown = run("inspect", "--choice", "yes", "--choice", "no")
    assert "There are 2 answers. The shortest: 'no'. The longest: 'yes'." in shown.stdout


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["inspect", "--pattern", "(a"], "unterminated subpattern"),
        (["inspect", "--choice", "a", "--choice", "a"], "appears twice"),
        (["inspect", "shop.py:Order", "--pattern", "a"], "Leave one of them out"),
        (["inspect"], "There is no type"),
        (["extract", "--pattern", "a", "--choice", "b", "x.txt"], "Leave one of them out"),
        (["extract", "--pattern", "a", "--many", __file__], "--many is for Python types"),
    ],
)
def test_what_is_no_type_is_refused(arguments, problem):
    done = run(*arguments)
    assert done.exit_code == 2
    assert problem in " ".join(done.output.split())
