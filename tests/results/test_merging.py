"""Merging: each record of a document once, whatever chunks it was read in, and one value for each field."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from structured.output_types.keys import SET_SHAPE
from structured.output_types.paths import leaves, steps_to_path
from structured.results.evidence import Evidence
from structured.results.merging import Merged, PartAnswer, Prefer, merge

ROWS = st.lists(st.tuples(st.sampled_from(["Ana", "Bob", "Chen"]), st.integers(0, 3)), max_size=12)


def said(data: Any, document: str = "", *, start: int = 0, confidence: float = 0.5) -> PartAnswer:
    """Return what a chunk says, each value with where it first stands in the document from a place on."""
    evidence = {}
    for steps, value in leaves(data):
        place = document.find(str(value), start)
        span = None if place < 0 or value in {None, ""} else (place, place + len(str(value)))
        match = "absent" if value is None else "none" if span is None else "exact"
        evidence[steps_to_path(steps)] = Evidence(span, match, confidence)  # type: ignore[arg-type]
    return PartAnswer(data, evidence)


def rows_of(rows: Sequence[tuple[str, int]], first: int, last: int) -> PartAnswer:
    """Return what a chunk says that holds some rows of ten characters, each a name and a number."""
    data = [{"name": name, "number": number} for name, number in rows[first:last]]
    evidence = {}
    for index, (name, _) in enumerate(rows[first:last]):
        start = 10 * (first + index)
        evidence[f"[{index}].name"] = Evidence((start, start + len(name)), "exact", 0.9)
        evidence[f"[{index}].number"] = Evidence((start + 8, start + 9), "exact", 0.9)
    return PartAnswer(data, evidence)


@given(ROWS, st.data())
def test_each_row_once(rows: list[tuple[str, int]], data: st.DataObject) -> None:
    """Rows that chunks repeat from others are there once, equal rows of different places as often as they stand there.

    They come in the order of the document, with the evidence that they had.
    """
    answers, start = [], 0
    while start < len(rows):
        end = data.draw(st.integers(start + 1, len(rows)))
        answers.append(rows_of(rows, max(start - data.draw(st.integers(0, 2)), 0), end))
        start = end
    if data.draw(st.booleans()):  # another pass, with joints of its own
        middle = data.draw(st.integers(0, len(rows)))
        answers += [rows_of(rows, 0, middle), rows_of(rows, middle, len(rows))]
    merged = merge(answers or [PartAnswer([], {})])
    whole = rows_of(rows, 0, len(rows))
    assert (merged.data, merged.evidence) == (whole.data, whole.evidence)
    assert not merged.conflicts


@given(
    st.recursive(
        st.none() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
def test_one_part_stays_as_it_is(data: Any) -> None:
    assert merge([said(data)]).data == data


@given(st.dictionaries(st.sampled_from("abc"), st.none() | st.integers(0, 2), min_size=3), st.integers(1, 4))
def test_parts_that_say_the_same_are_one(data: dict[str, Any], count: int) -> None:
    merged = merge([said(data, "0 1 2")] * count)
    assert merged == Merged(data, said(data, "0 1 2").evidence, {})


@given(ROWS, st.integers(0, 12))
def test_items_that_must_differ_are_there_once(rows: list[tuple[str, int]], middle: int) -> None:
    """Equal rows of different places are one where items must differ: the first of them, with its evidence."""
    answers = [rows_of(rows, 0, middle), rows_of(rows, middle, len(rows))]
    merged = merge(answers, shape_of=lambda _steps, data: SET_SHAPE if isinstance(data, list) else "object")
    assert [tuple(row.values()) for row in merged.data] == list(dict.fromkeys(rows))
    for index, row in enumerate(dict.fromkeys(rows)):
        start = 10 * rows.index(row)
        assert merged.evidence[f"[{index}].name"].span == (start, start + len(row[0]))


def test_half_of_a_record_is_completed() -> None:
    """A record that a joint cuts is one with what the next chunk says of it, which has the rest."""
    document = "Ana lives in Porto and is 31."
    half = said([{"name": "Ana", "city": "Porto", "age": None}], document)
    whole = said([{"name": "Ana", "city": "Porto", "age": 31}], document)
    assert merge([half, whole]).data == whole.data
    assert merge([whole, half]).data == whole.data


def test_what_a_part_repeats_stays_at_its_place() -> None:
    """A record that one chunk says twice comes where the document states it, and not first."""
    document = "Ana 21. Bob 22. Chen 43. Dora 44."
    first = said([{"name": "Ana", "age": 21}, {"name": "Bob", "age": 22}], document)
    again = said([{"name": "Chen", "age": 43}] * 2 + [{"name": "Dora", "age": 44}], document)
    unplaced = PartAnswer([{"name": "Emil", "age": 9}], {}, start=25)
    names = [one["name"] for one in merge([first, replace(again, start=16), unplaced]).data]
    assert names == ["Ana", "Bob", "Chen", "Dora", "Emil"]


def test_what_all_share_tells_nothing_apart() -> None:
    """Two orders of one day are two, although the day of both is read off the same heading."""
    document = "5 May: bread 2, milk 3, eggs 4"
    first = said([{"day": "5 May", "item": "bread"}, {"day": "5 May", "item": "milk"}], document)
    second = said([{"day": "5 May", "item": "milk"}, {"day": "5 May", "item": "eggs"}], document)
    assert [one["item"] for one in merge([first, second]).data] == ["bread", "milk", "eggs"]


def by_number(_steps: Any, item: Any) -> Any:
    return item["no"]


def test_records_with_one_key_are_one() -> None:
    """Also those of one chunk, and wherever they stand; records without a key are told apart by their places."""
    answers = [
        said([{"no": 1, "qty": None}, {"no": 2, "qty": 5}, {"no": 1, "qty": 7}], "1 2 5 7"),
        said([{"no": 2, "qty": None}, {"no": None, "qty": 9}], "9 2"),
    ]
    found = merge(answers, key_of=by_number).data
    assert found == [{"no": 1, "qty": 7}, {"no": 2, "qty": 5}, {"no": None, "qty": 9}]


def test_a_key_that_is_known_later() -> None:
    """A record whose key one chunk lacks is that at the same place, in whichever order they come."""
    document = "Ann 7 is here."
    unknown, known = said([{"no": None, "name": "Ann"}], document), said([{"no": 7, "name": "Ann"}], document)
    for answers in ([unknown, known], [known, unknown]):
        assert merge(answers, key_of=by_number).data == [{"no": 7, "name": "Ann"}]


def test_a_heading_tells_no_records_apart() -> None:
    """What stands before a chunk, and goes along with it, is the same in all of them."""
    parts = []
    for start in (20, 60, 100):
        city = Evidence((2, 8), "exact", 0.9)
        amount = Evidence((start + 5, start + 7), "exact", 0.9)
        parts.append(PartAnswer([{"city": "Berlin", "amount": 10}], {"[0].city": city, "[0].amount": amount}, start))
    assert merge(parts).data == [{"city": "Berlin", "amount": 10}] * 3
    assert len(merge([*parts, *parts]).data) == 3


def test_items_that_stand_nowhere() -> None:
    """What the document does not support cannot be placed: it is there once for each chunk that is alone to say it."""
    assert merge([said(["x", "x"]), said(["x"]), said(["y"])]).data == ["x", "x", "y"]
    assert merge([said(["x", "x"])] * 3).data == ["x", "x"]


@pytest.mark.parametrize(
    ("prefer", "expected"), [("confident", "Bo Xu"), ("first", "Ana"), ("longest", "Ana Diaz"), ("vote", "Ana")]
)
def test_one_value_is_preferred(prefer: Prefer, expected: str) -> None:
    """And the others are kept, with their evidence, as conflicts."""
    document = "Ana; Ana Diaz; Bo Xu"
    answers = [
        said({"name": "Ana"}, document, confidence=0.5),
        said({"name": "Ana Diaz"}, document, confidence=0.6),
        said({"name": "Bo Xu"}, document, confidence=0.9),
        said({"name": "Ana"}, document, confidence=0.7),
        said({"name": None}, document, confidence=1.0),
        said({"name": "Invented"}, document, confidence=1.0),
    ]
    merged = merge(answers, prefer=prefer)
    assert merged.data == {"name": expected}
    others = {value: one.span for value, one in merged.conflicts["name"]}
    spans = {"Ana": (0, 3), "Ana Diaz": (5, 13), "Bo Xu": (15, 20)}
    assert others == {name: span for name, span in spans.items() if name != expected}


def test_nested_lists_and_objects() -> None:
    """Members are merged one by one, and lists in them too."""
    document = "Invoice 7 of Ana: bread, milk, eggs. Total 12"
    first = {"no": 7, "by": {"name": "Ana"}, "lines": ["bread", "milk"], "total": None}
    second = {"no": None, "by": None, "lines": ["milk", "eggs"], "total": 12}
    merged = merge([said(first, document), said(second, document)])
    assert merged.data == {"no": 7, "by": {"name": "Ana"}, "lines": ["bread", "milk", "eggs"], "total": 12}
    assert {path: document[slice(*one.span)] for path, one in merged.evidence.items() if one.span} == {
        "no": "7",
        "by.name": "Ana",
        "lines[0]": "bread",
        "lines[1]": "milk",
        "lines[2]": "eggs",
        "total": "12",
    }


def test_a_model_that_repeats_itself() -> None:
    """Two items of one chunk that say the same of the same places are one; of other places, they are two."""
    document = "Ana 31, Ana 31"
    twice = said([{"name": "Ana", "age": 31}] * 2, document)
    again = said([{"name": "Ana", "age": 31}], document, start=5)
    moved = {path.replace("[0]", "[1]"): one for path, one in again.evidence.items()}
    assert merge([twice]).data == [{"name": "Ana", "age": 31}]
    assert len(merge([PartAnswer(twice.data, {**twice.evidence, **moved})]).data) == 2


def test_many_parts_take_time_in_proportion() -> None:
    """Records are compared with those near them alone."""
    rows = [("Ana", number % 10) for number in range(6_000)]
    answers = [rows_of(rows, start, start + 21) for start in range(0, len(rows), 20)]
    assert json.dumps(merge(answers).data) == json.dumps([{"name": name, "number": number} for name, number in rows])
