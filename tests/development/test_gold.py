"""The gold corpus: its values are of their types and stand in their documents, and the scorer counts fields."""

import json
import re
from collections import Counter
from datetime import date, datetime, time
from decimal import Decimal
from enum import Enum
from pathlib import Path

import pytest
from pydantic import BaseModel

from benchmarks import gold
from benchmarks.gold import Score, leaves, records, score
from benchmarks.gold.types import TYPES, Event, Invoice, Line

ALL = [*records("tune"), *records("held_out")]


def test_there_are_enough_documents_of_each_type():
    for split, least in (("tune", 15), ("held_out", 10)):
        counts = Counter(type(record.value) for record in records(split))
        assert set(counts) == set(TYPES)
        assert min(counts.values()) >= least


def test_no_document_is_in_both_splits():
    assert len({record.document for record in ALL}) == len(ALL)


def test_documents_are_short():
    assert all(50 <= len(record.document) <= 600 for record in ALL)


def test_values_are_written_as_their_types_write_them():
    """So that nothing in a file is dropped or converted when it is read."""
    for path in Path(gold.__file__).parent.glob("*/*.jsonl"):
        for line in path.read_text(encoding="utf-8").splitlines():
            written = json.loads(line)["value"]
            [output_type] = [one for one in TYPES if one.__name__ == path.stem]
            assert output_type.model_validate(written).model_dump(mode="json") == written


def is_stated(value: object, document: str) -> bool:
    """Tell whether a document states a value: texts as they are, numbers and dates in digits of any layout."""
    digits = [Decimal(number) for number in re.findall(r"\d+(?:\.\d+)?", re.sub(r"(?<=\d),(?=\d{3})", "", document))]
    match value:
        case Enum() | bool() | None | []:
            return True
        case datetime():
            return is_stated(value.date(), document) and is_stated(value.time(), document)
        case date():
            return str(value.year) in document and bool(re.search(rf"(?<!\d)0?{value.day}(?!\d)", document))
        case time():
            return f"{value:%H:%M}" in document
        case str():
            return value.casefold() in document.casefold()
    return Decimal(str(value)) in digits


CHOSEN = {"flat", "house", "studio", "land", "full-time", "part-time", "internship", "temporary"}
"""Values of types that list them: one is chosen by what a document means."""

IN_WORDS = {"one", "a ", "an "}


def test_values_stand_in_their_documents():
    for record in ALL:
        for path, value in leaves(record.value.model_dump()):
            is_one = value == 1 and any(word in record.document.lower() for word in IN_WORDS)
            assert is_one or is_stated(value, record.document) or value in CHOSEN, (record.document, path, value)


def event(**changes) -> Event:
    members = {"title": "Chess", "day": "2025-03-05", "starts": None, "place": "Aula", "speakers": [], "free": True}
    return Event.model_validate(members | changes)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, (6, 6)),
        ({"title": " CHESS "}, (6, 6)),
        ({"title": "Chess Open"}, (5, 6)),
        ({"starts": "19:00"}, (5, 6)),
        ({"day": "2025-05-03", "free": False}, (4, 6)),
        ({"speakers": ["Ana", "Ole"]}, (5, 8)),
    ],
)
def test_fields_are_counted(changes, expected):
    """Each wrong one, and each that is too many."""
    assert score(event(), event(**changes)) == Score(*expected)


def test_lists_of_objects_are_compared_in_order():
    def invoice(*lines: tuple[str, int, str]) -> BaseModel:
        of = [Line(item=item, quantity=quantity, unit_price=Decimal(price)) for item, quantity, price in lines]
        members = {"number": "1", "vendor": "V", "issued": date(2025, 1, 2), "due": None, "lines": of}
        return Invoice(**members, total=Decimal(3), currency="EUR", paid=False)

    two = invoice(("cup", 1, "1.00"), ("pan", 2, "1.00"))
    assert score(two, invoice(("cup", 1, "1.0"), ("pan", 2, "1"))) == Score(13, 13)
    assert score(two, invoice(("pan", 2, "1.00"), ("cup", 1, "1.00"))) == Score(9, 13)
    assert score(two, invoice(("cup", 1, "1.00"))) == Score(10, 13)
