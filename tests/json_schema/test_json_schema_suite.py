"""The official test suite of JSON Schema: what was right stays right, and nothing invalid is ever accepted."""

import json
import zipfile
from pathlib import Path

import pytest

from benchmarks.json_schema_suite import (
    ACCEPTS_INVALID,
    BASELINE,
    DRAFTS,
    REFUSED,
    REJECTS_VALID,
    RIGHT,
    SUITE,
    Group,
    by_draft,
    by_keyword,
    edition,
    faults,
    faults_to_text,
    graded,
    groups,
    kind_of,
    table,
    text_to_faults,
)

UPDATE = "`python -m benchmarks.json_schema_suite --update` writes the list anew."


@pytest.fixture(scope="module")
def suite() -> Path:
    if not SUITE.exists():
        pytest.skip("The test suite of JSON Schema is not beside the repository, in shared/json-schema-test-suite.")
    return SUITE


@pytest.mark.thorough
@pytest.mark.parametrize("draft", DRAFTS)
def test_nothing_gets_worse(suite: Path, draft: str) -> None:
    """What is not right is what is listed as such; the list is made shorter when more is right."""
    listed, listed_edition = text_to_faults(BASELINE.read_text(encoding="utf-8"))
    assert edition(suite) == listed_edition, f"The list is of another edition of the suite. {UPDATE}"
    known = {fault for fault in listed if fault[0].startswith(f"{draft}/")}
    found = set(
        faults({location: grade for group in groups(suite, [draft]) for location, grade in graded(group).items()})
    )
    assert sorted(found - known) == [], "These were better before."
    assert sorted(known - found) == [], f"These are better now. {UPDATE}"


def test_nothing_invalid_is_accepted() -> None:
    """Of what every implementation has to support, the list holds no schema that lets through what it forbids."""
    listed, _ = text_to_faults(BASELINE.read_text(encoding="utf-8"))
    assert [fault for fault in listed if fault[1] == ACCEPTS_INVALID and kind_of(fault[0]) == "required"] == []


def made_up(schema: object, *tests: tuple[object, bool]) -> Group:
    return Group("draft7/x", 0, schema, [{"data": data, "valid": valid} for data, valid in tests])


@pytest.mark.parametrize(
    ("group", "grades"),
    [
        (made_up({"type": "null"}, (None, True), (1, False)), [RIGHT, RIGHT]),
        (made_up({"type": "null"}, (None, False), (1, True)), [ACCEPTS_INVALID, REJECTS_VALID]),
        (made_up({"type": "no such"}, (None, True), (1, False)), [REFUSED, REFUSED]),
        (made_up(False, (None, False), (1, True)), [RIGHT, REJECTS_VALID]),
        (made_up(True, ("\ud800", True), ("\U0001f600", True)), [RIGHT]),
    ],
)
def test_grades(group: Group, grades: list[str]) -> None:
    """By what is accepted and should be; where nothing is valid, rejecting all is right."""
    assert list(graded(group).values()) == grades


def test_keys_may_be_in_any_order() -> None:
    """At every level, and the text that is accepted has each of them once."""
    inner = {"properties": {"a": {"const": 1}, "b": {"const": 2}}, "required": ["a"], "additionalProperties": False}
    schema = {"type": "array", "items": {"properties": {"x": inner, "y": inner}}}
    found = graded(
        made_up(
            schema,
            ([{"z": 0, "y": {"b": 2, "a": 1}, "x": {"a": 1}}], True),
            ([{"y": {"b": 2}}], False),
            ([{"y": {"b": 2, "a": 2}}, {}], False),
        )
    )
    assert list(found.values()) == [RIGHT, RIGHT, RIGHT]


def test_the_list_is_read_as_it_was_written() -> None:
    """Refused groups have one number, other tests two, in numeric order."""
    grades = {("draft7/x", 10, test): REFUSED for test in range(2)}
    grades |= {("draft7/x", 9, 0): REFUSED, ("draft7/x", 2, 1): REJECTS_VALID, ("draft7/x", 2, 0): RIGHT}
    text = faults_to_text(faults(grades), "e")
    assert text == "edition: e\ndraft7/x, refused: 9 10\ndraft7/x, rejects valid: 2.1\n"
    assert text_to_faults(text) == (faults(grades), "e")


def test_the_table_counts_grades(tmp_path: Path) -> None:
    """One row for each draft and kind of test, or for each keyword."""
    path = tmp_path / "suite.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name, schema in (("draft4/type", {"type": "null"}), ("draft7/type", {"type": "x"})):
            tests = [{"data": None, "valid": True}, {"data": 1, "valid": True}]
            archive.writestr(f"tests/{name}.json", json.dumps([{"description": "", "schema": schema, "tests": tests}]))
    grades = {location: grade for group in groups(path) for location, grade in graded(group).items()}
    assert table(grades, by_draft).splitlines()[2:] == [
        "| draft4, required | 2 | 1 | 0 | 1 | 0 | 100.0% |",
        "| draft7, required | 2 | 0 | 2 | 0 | 0 | 0.0% |",
    ]
    assert table(grades, by_keyword).splitlines()[2:] == ["| type | 4 | 1 | 2 | 1 | 0 | 50.0% |"]
