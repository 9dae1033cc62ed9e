"""The page of what is supported says what is so."""

import json
import re
from pathlib import Path

import pytest

from benchmarks.json_schema_suite import SUITE, SUPPORT, by_keyword, graded, groups, with_figures
from structured.automata import RegularAutomaton
from structured.errors import PatternError, SchemaError
from structured.schema import Reading, schema_to_pattern
from structured.schema.assertions import ASSERTIONS, INTERNAL
from structured.schema.formats import SPECIFIED_FORMATS
from structured.schema.keywords import STRUCTURE

PAGE = SUPPORT.read_text(encoding="utf-8")


def section(title: str) -> str:
    """Return the part of the page under a heading."""
    return re.split(r"^#+ ", PAGE.partition(f"# {title}\n")[2], maxsplit=1, flags=re.MULTILINE)[0]


def test_every_keyword_has_a_row() -> None:
    """Those that the compiler honours, and no other."""
    rows = [line.split("|")[1] for line in section("JSON Schema keywords").splitlines() if line.startswith("| ")]
    named = set(re.findall(r"`([^`]+)`", " ".join(rows)))
    honoured = (ASSERTIONS.keys() - INTERNAL) | STRUCTURE
    assert honoured - named == OF_TYPES | {"divisibleBy"} & honoured
    assert (
        set(re.findall(r"^\| `([^`]+)`", section("Formats"), flags=re.MULTILINE)) == SPECIFIED_FORMATS.keys() - DRAFT_3
    )


OF_TYPES = {"decimal"}
"""Keywords of our own, which tell what Pydantic enforces."""

DRAFT_3 = {"host-name", "ip-address"}
"""Names that only draft 3 had."""


def test_the_figures_are_those_of_the_suite() -> None:
    """As the command writes them."""
    if not Path(SUITE).exists():
        pytest.skip("The test suite of JSON Schema is not beside the repository, in shared/json-schema-test-suite.")
    grades = {place: grade for group in groups(SUITE) for place, grade in graded(group).items()}
    assert with_figures(PAGE, grades) == PAGE
    files = {by_keyword(place[0]) for place in grades}
    unknown = set(re.findall(r"\| ([-\w/]+) \|$", PAGE, flags=re.MULTILINE)) - files
    assert unknown == {"right", "why"}


@pytest.mark.parametrize("example", re.findall(r"^\| `(\{.*\})` \|", section("Refused"), flags=re.MULTILINE))
def test_what_is_said_to_be_refused_is(example: str) -> None:
    """Each example of the table."""
    with pytest.raises((SchemaError, PatternError)):
        RegularAutomaton(schema_to_pattern(json.loads(example.replace("\\|", "|")), reading=Reading.SPECIFICATION))
