"""`structured inspect`, as people meet it in a terminal and programs through a pipe."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from structured import JsonLayout, to_regex
from structured.cli.commands import app

ROOT = Path(__file__).parents[2]
TYPES = """
from typing import Annotated, Literal
from pydantic import BaseModel, Field, field_validator


class Line(BaseModel):
    price: float


class Bill(BaseModel):
    number: Annotated[str, Field(max_length=9)]
    currency: Literal["EUR", "USD"]
    lines: list[Line]
    more: list[Line]

    @field_validator("number")
    @classmethod
    def upper(cls, number: str) -> str:
        return number


class Raw(BaseModel):
    size: Annotated[float, Field(gt=float("nan"))]
    tags: Annotated[set[str], Field(min_length=2)]


class Node(BaseModel):
    children: "list[Node]"


class Outer:
    Inner = Bill


class Wide(BaseModel):
    code: Literal[tuple(f"value {i}" for i in range(90))]


amount = 3
"""

pytestmark = pytest.mark.usefixtures("shop")


@pytest.fixture
def shop(tmp_path, monkeypatch):
    """Stand in a folder with a module of types."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "shop_types", raising=False)
    (tmp_path / "shop_types.py").write_text(TYPES, encoding="utf-8")
    return tmp_path


def run(*arguments, columns=100):
    return CliRunner().invoke(app, ["inspect", *arguments], env={"COLUMNS": str(columns), "TERM": "dumb"})


def lines(result):
    return [line.rstrip() for line in result.stdout.splitlines()]


def test_lines_in_a_pipe_end_where_their_text_ends():
    assert not [line for line in run("shop_types:Bill").stdout.splitlines() if line != line.rstrip()]


def test_no_summary_of_a_command_is_cut():
    """In a terminal of 80 columns."""
    commands = CliRunner().invoke(app, ["--help"], terminal_width=80).output.partition("Commands:")[2]
    assert "inspect  " in commands
    assert "..." not in commands


def test_flags_have_no_value_in_the_help():
    result = run("--help")
    assert result.exit_code == 0
    assert "<bool>" not in result.stdout
    assert "which runs the module or file" in " ".join(result.stdout.split())


@pytest.mark.parametrize("target", ["shop_types:Bill", "shop_types.py:Bill", "shop_types:Outer.Inner"])
def test_a_type_is_found_in_a_module_or_a_file(target):
    """By the name of the module as seen from here, or by the path of the file."""
    result = run(target)
    assert result.exit_code == 0
    assert lines(result)[0] == "Bill  6 fields: 5 enforced, 1 checked"


def test_a_file_may_hold_a_json_schema(shop):
    """Which has a report, called by its title or by the name of the file."""
    (shop / "size.json").write_text('{"enum": [1, 2]}', encoding="utf-8")
    assert lines(run("size.json"))[0] == "size  1 field: 1 enforced"
    (shop / "size.json").write_text('{"enum": [1, 2], "title": "Size"}', encoding="utf-8")
    assert lines(run("size.json"))[0] == "Size  1 field: 1 enforced"
    assert run("size.json", "--regex").stdout == "1|2\n"


def test_the_report_is_a_page():
    """The whole of it."""
    result = run("shop_types:Bill")
    assert lines(result)[:22] == [
        "Bill  6 fields: 5 enforced, 1 checked",
        "",
        "field           kind                       status",
        "────────────────────────────────────────────────────────────────",
        "(answer)        Bill                       enforced",
        "number          string (<= 9 characters)   checked by Bill.upper",
        'currency        "EUR" | "USD"              enforced',
        "lines           [Line, ...]                enforced",
        "lines[].price   number                     enforced",
        "more            [Line, ...]                enforced (as lines[])",
        "",
        "Hazards",
        " • lines, more",
        "   A list without a limit: items may be added until the budget is spent.",
        "   → Field(max_length=...)",
        " • lines[].price",
        "   Digits limited by default alone: 18 of an int, 16 before and 20 after the point of a float.",
        "   → Field(ge=..., le=...)",
        " • number, currency, lines[].price",
        "   Always filled in, even where the text says nothing; a default is never used.",
        "   → X | None in place of X.",
        "",
    ]
    cost = " ".join(lines(result)[22:])
    assert cost.startswith("Cost  An answer takes 58 bytes or more, without a limit. The pattern has ")
    assert cost.endswith(" nodes, with 1 choice in the type.")


def test_the_guide_shows_what_is_printed(shop):
    """For the type of its first section."""
    guide = (ROOT / "docs" / "guides" / "types.md").read_text(encoding="utf-8")
    (types,) = re.findall(r"```python\n(from enum.*?)\nprint\(", guide, flags=re.DOTALL)
    (shown,) = re.findall(r"```text\n(Ticket  .*?)\n```", guide, flags=re.DOTALL)
    (shop / "tickets.py").write_text(types, encoding="utf-8")
    assert lines(run("tickets.py:Ticket", columns=98)) == shown.splitlines()


def test_refusals_are_told_and_fail():
    """All of them, and the exit status is 1."""
    result = run("shop_types:Raw")
    assert result.exit_code == 1
    assert [line for line in lines(result) if line.startswith((" •", "Refused", "2 fields"))] == [
        "Refused",
        " • size",
        " • tags",
        "2 fields of 3 refused: nothing can be extracted.",
    ]


@pytest.mark.thorough
@pytest.mark.parametrize("columns", [40, 80, 140])
@pytest.mark.parametrize("name", ["Bill", "Raw", "Node", "Wide"])
def test_the_report_fits(name, columns):
    """No line is longer than the terminal, and no word of a path is lost."""
    result = run(f"shop_types:{name}", columns=columns)
    assert max(map(len, lines(result))) <= columns
    if columns >= 80:
        assert ("lines[].price" in result.stdout) == (name == "Bill")
    assert "value 89" not in result.stdout


def test_programs_read_json():
    """Every fact of the report; the exit status is the same."""
    result = run("shop_types:Raw", "--json", "--whitespace", "compact")
    report = json.loads(result.stdout)
    assert result.exit_code == 1
    assert (report["type"], report["whitespace"], report["cost"]) == ("Raw", "compact", None)
    assert report["fields"][1]["refusals"] == [
        {
            "problem": "nan is not a bound of a number",
            "keyword": "exclusiveMinimum",
            "schema_path": "/properties/size",
            "remedy": "Use a finite number.",
        }
    ]
    report = json.loads(run("shop_types:Bill", "--json").stdout)
    assert report["fields"][1]["validators"] == ["Bill.upper"]
    assert report["hazards"][0]["paths"] == ["lines", "more"]
    assert report["cost"].keys() == {"nodes", "shortest", "longest"}


def test_the_regular_expression_is_printed():
    """Alone on a line, whatever the width."""
    result = run("shop_types:Bill", "--regex", "--whitespace", "compact", columns=20)
    bill = sys.modules["shop_types"].Bill
    assert result.stdout == to_regex(bill, layout=JsonLayout("compact")) + "\n"


@pytest.mark.parametrize(
    ("name", "reason"),
    [("Node", "Node contains itself, and no regular expression can"), ("Raw", "nan is not a bound of a number")],
)
def test_a_missing_regular_expression_is_explained(name, reason):
    """On the error stream, with exit status 3."""
    result = run(f"shop_types:{name}", "--regex")
    assert (result.exit_code, result.stdout) == (3, "")
    assert f"SchemaError: {reason}" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["shop_types"], 2, "'shop_types' names no type. Write module:Type, or path/to/file.py:Type."),
        (["no_such_module:Bill"], 2, "ModuleNotFoundError: No module named 'no_such_module'"),
        (["no/such/file.py:Bill"], 2, "There is no file 'no/such/file.py'."),
        (["no/such/file.json"], 2, "There is no file 'no/such/file.json'."),
        (["shop_types:Bil"], 2, "There is no 'Bil' in 'shop_types'. Is it Bill?"),
        (["shop_types:Outer.Iner"], 2, "There is no 'Iner' in 'shop_types'. Is it Inner?"),
        (["broken.py:Bill"], 2, "'broken.py' cannot be imported: ZeroDivisionError: division by zero"),
        (["leaving.py:Bill"], 2, "'leaving.py' cannot be imported: SystemExit: 3"),
        (["shop_types:Bill", "--whitespace", "loose"], 2, "'loose' is not one of 'compact',"),
        (["shop_types:amount"], 3, "SchemaError: 3 is a value, not a type."),
    ],
)
def test_errors_are_told_without_a_traceback(shop, arguments, status, message):
    """What is wrong, and what to write."""
    (shop / "broken.py").write_text("1 / 0", encoding="utf-8")
    (shop / "leaving.py").write_text("raise SystemExit(3)", encoding="utf-8")
    result = run(*arguments, columns=200)
    assert result.exit_code == status
    assert result.stdout == ""
    told = " ".join(result.stderr.replace("│", " ").split())
    assert message in told
    assert "Traceback" not in told


@pytest.mark.thorough
def test_it_runs_in_a_process_of_its_own(shop):
    """From the folder of the types, with the file's neighbours in reach, and without torch."""
    (shop / "orders.py").write_text("from shop_types import Bill, Line\nBills = list[Bill]\n", encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "80"}
    command = [sys.executable, "-X", "importtime", "-m", "structured", "inspect", str(shop / "orders.py") + ":Bills"]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", env=environment, check=True, cwd=ROOT)
    assert done.stdout.startswith("list[Bill]  6 fields: 5 enforced, 1 checked")
    assert not any(line.endswith(("| torch", "| transformers")) for line in done.stderr.splitlines())


FLOAT = r"([0-9]+)?\.[0-9]+"
TABLE = r"""Regex('([0-9]+)?\\.[0-9]+')
3 states, all shown.

state  reads  →  shortest completion
> 0    \.     1  .0
       [0-9]  0
  1    [0-9]  2  0
((2))  [0-9]  2
"""


def test_the_automaton_is_a_table():
    assert run("--pattern", FLOAT, "--automaton").stdout == TABLE


@pytest.mark.parametrize("asked", [["--choice", "yes", "--choice", "no"], ["--grammar", "json"], ["shop_types:Bill"]])
def test_automata_of_all_kinds_of_types_are_shown(asked):
    """In 80 columns, and without blanks at the ends of lines."""
    result = run(*asked, "--automaton", "--states", "9", columns=80)
    assert result.exit_code == 0
    assert "> 0 " in result.stdout
    assert all(len(line) <= 80 and line == line.rstrip() for line in result.stdout.splitlines())


def test_the_automaton_of_a_schema_or_a_grammar_in_a_file(shop):
    (shop / "flag.json").write_text('{"type": "boolean"}', encoding="utf-8")
    assert [arrow["reads"] for arrow in states_of("flag.json")[0]["arrows"]] == ["fals", "tru"]
    (shop / "ones.lark").write_text('start: "1"+', encoding="utf-8")
    assert states_of("--grammar", "ones.lark")[0]["arrows"] == [{"reads": "1", "target": 1}]
    assert "ones" in run("--grammar", "ones.lark").stdout


def states_of(*asked):
    return json.loads(run(*asked, "--automaton", "--json").stdout)["states"]


def test_the_graph_is_written(shop):
    """Into files that are named then; `-` is standard output."""
    result = run("--pattern", FLOAT, "--dot", "float.dot", "--mermaid", "float.mmd")
    assert (result.exit_code, result.stdout) == (0, "float.dot\nfloat.mmd\n")
    assert "flowchart LR" in (shop / "float.mmd").read_text(encoding="utf-8")
    assert run("--pattern", FLOAT, "--dot", "-").stdout == (shop / "float.dot").read_text(encoding="utf-8")
    assert run("--pattern", FLOAT, "--automaton", "--dot", "float.dot").stdout == f"float.dot\n{TABLE}"


@pytest.mark.parametrize(
    ("asked", "code", "message"),
    [
        (["--choice", "a", "--states", "3"], 2, "--states is about the automaton: add --automaton."),
        (["--choice", "a", "--automaton", "--regex"], 2, "--regex and --automaton are asked for at once."),
        (["--choice", "a", "--dot", "nowhere/x.dot"], 3, "No such file or directory"),
        (["--grammar", "jsn"], 2, "There is no file 'jsn'. Grammars that ship: json,"),
        (["--grammar", "json", "--choice", "a"], 2, "by --choice and by --grammar"),
        (["shop_types:Raw", "--automaton"], 3, "SchemaError"),
    ],
)
def test_what_cannot_be_shown_is_refused(asked, code, message):
    result = run(*asked)
    assert (result.exit_code, result.stdout) == (code, "")
    assert message in " ".join(result.stderr.replace("│", " ").split())


def test_characters_that_no_terminal_shows_are_escaped():
    table = run("--pattern", "\\x1b\\[31m[\\x00-\\x02]\u202e?", "--automaton").stdout
    assert all(line.isprintable() for line in table.splitlines())
