"""The benchmark of evidence: what it counts as right, which spans are certain, and that its tables add up."""

import json
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.evidence import (
    WAYS,
    Answer,
    Choice,
    Value,
    answer,
    area_under_curve,
    by_way,
    calibration_table,
    certain_span,
    choice_table,
    confidence_table,
    field_table,
    is_right,
    questions,
    with_grounded_text,
)
from benchmarks.gold import leaves, records, score
from benchmarks.gold.types import TYPES, Invoice, Person, Ticket
from structured.json_schema.document.location import GROUNDED
from structured.models import ScriptedModel

PEOPLE = [record for record in records("held_out") if isinstance(record.value, Person)]


@pytest.mark.parametrize("output_type", TYPES, ids=lambda kind: kind.__name__)
def test_right_values_are_those_of_the_score(output_type: type) -> None:
    """Whether answers are compared as JSON, value by value, or as instances."""
    values = [record.value for record in records("tune") if type(record.value) is output_type]
    for expected, other in [*pairwise(values), (values[0], values[0])]:
        wanted = dict(leaves(expected.model_dump()))
        said = dict(leaves(json.loads(other.model_dump_json())))
        right = sum(is_right(wanted, path, value) for path, value in said.items())
        assert (right, len(wanted.keys() | said.keys())) == score(expected, other)


@pytest.mark.parametrize(
    ("document", "value", "certain"),
    [
        ("Ana met Bo.", "ana", "Ana"),
        ("Ana met Ana.", "Ana", None),
        ("Anabel met Bo.", "Ana", None),
        ("It costs 1.250,00 EUR.", 1250, "1.250,00"),
        ("12.5 is not 5, and 15 is not.", 5, "5"),
        ("Paid on 14 March 2024.", records("tune")[0].value, None),
        ("For two (2).", 2, None),
        ("True, it is.", True, None),
    ],
)
def test_a_span_is_certain_if_there_is_one(document: str, value: object, certain: str | None) -> None:
    span = certain_span(document, value)
    assert (span and document[slice(*span)]) == certain


def test_gold_dates_mostly_have_a_certain_span() -> None:
    """The forms that are looked for are those that the documents use."""
    dates = [
        certain_span(record.document, record.value.issued)
        for record in records("held_out")
        if isinstance(record.value, Invoice)
    ]
    assert sum(span is not None for span in dates) >= 8


@pytest.mark.parametrize(("output_type", "strings"), list(zip(TYPES, (4, 3, 3, 3, 3, 3, 4, 3, 1, 4), strict=True)))
def test_every_string_is_grounded(output_type: type, strings: int) -> None:
    """In models inside and in lists too; dates, times, decimals and enums are as they were."""
    schema = with_grounded_text(output_type).model_json_schema()
    marked = [part for part in parts(schema) if part.pop(GROUNDED, None) == "words"]
    assert len(marked) == strings
    assert schema == output_type.model_json_schema()


def parts(schema: object) -> Iterator[dict[str, Any]]:
    if isinstance(schema, dict):
        yield schema
    for inner in schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ():
        yield from parts(inner)


def test_conclusions_are_asked_for() -> None:
    """Enums and booleans, by their description or else their name."""
    assert [name for name, _, _ in questions(Ticket)] == ["category", "urgent"]
    assert [asked for _, _, asked in questions(Ticket)] == ["category", "Whether the customer asks for a quick answer"]
    assert [name for name, _, _ in questions(Person)] == []


@given(st.lists(st.tuples(st.sampled_from([0.1, 0.2, 0.3]), st.booleans()), min_size=1))
def test_the_area_is_the_share_of_pairs_in_order(pairs: list[tuple[float, bool]]) -> None:
    right, wrong = ([one for one, truth in pairs if truth is kind] for kind in (True, False))
    scores = [(one > other) + (one == other) / 2 for one in right for other in wrong]
    area = area_under_curve(*zip(*pairs, strict=True))
    assert area == pytest.approx(sum(scores) / len(scores) if scores else float("nan"), nan_ok=True)


def test_answers_are_judged() -> None:
    """A model that writes the right answer to one document writes one that others do not state."""
    model = ScriptedModel(PEOPLE[0].value.model_dump_json())
    first, second = answer(model, "free", "held_out", Person, 20)
    assert (first.right, first.fields, first.error) == (5, 5, None)
    assert second.right < 5
    name = first.values[0]
    assert name.path == "name"
    assert name.right
    assert name.span == name.certain == (0, len(PEOPLE[0].value.name))
    assert "none" in {one.match for one in second.values}
    grounded = answer(model, "all grounded", "held_out", Person, 20)
    assert "none" not in {one.match for each in grounded for one in each.values}


def test_an_answer_with_a_removed_text_is_judged() -> None:
    """Its tokens are no longer those of its text, so it has none to make a confidence of."""
    value = PEOPLE[0].value.model_copy(update={"occupation": "astronaut"})
    count = records("held_out").index(PEOPLE[0]) + 1
    [first] = answer(ScriptedModel(value.model_dump_json()), "all grounded", "held_out", Person, count)
    values = {one.path: one for one in first.values}
    assert values["name"].right
    assert not values["occupation"].right
    assert not any(one.tokens for one in first.values)


def test_the_tables_add_up() -> None:
    """Half of the values are right, and their confidence tells which."""
    values = [Value(f"v{n}", n % 2 == 0, "none", (0, 1), (0, 1), (n % 2 == 0) * 0.5, [(-0.1, 1.0)]) for n in range(40)]
    answers = [Answer("m", "free", split, 0, "Person", 20, 40, 1.5, None, 30, values) for split in ("tune", "held_out")]
    assert list(by_way(answers, "tune")) == ["free"]
    assert list(field_table(answers))[2:] == ["| free | 1 | 20 of 40 (50.0%) | 0 | 1.50 | 30.0 | 40 of 40 | 20 of 20 |"]
    assert list(calibration_table(answers))[2:] == ["| free | 40 | 50.0% | 1.000 | 0.250 | 0.000 |"]
    assert list(confidence_table(answers))[2] == "| product of shares | 0.500 | 0.405 |"
    choices = [Choice("m", "held_out", "Ticket.urgent", n % 4 > 0, 0.75, 1.0) for n in range(40)]
    assert list(choice_table(choices))[2:] == [
        "| all | 30 of 40 (75%) | 0.500 | 0.000 |",
        "| Ticket.urgent | 30 of 40 (75%) |  |  |",
    ]


def test_every_way_has_its_row() -> None:
    answers = [Answer("m", way, "held_out", 0, "Person", 1, 2, 1.0) for way in reversed(WAYS)]
    assert [line.split(" | ")[0] for line in list(field_table(answers))[2:]] == [f"| {way}" for way in WAYS]
