"""Documents with their right answers: ten types, 26 short documents of each, and how answers are scored.

Prompts are tuned on one split; figures before and after come from the other, which nothing is chosen by.
"""

import json
from collections.abc import Iterator, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel

from benchmarks.gold.types import TYPES

Split = Literal["tune", "held_out"]


class Record(NamedTuple):
    """A document and its right answer."""

    document: str
    value: BaseModel


def records(split: Split) -> list[Record]:
    """Return the records of a split, the types in turn, so that any beginning has about as many of each."""
    by_type = [list(_read(output_type, split)) for output_type in TYPES]
    return [record for turn in zip(*by_type, strict=True) for record in turn]


def _read(output_type: type[BaseModel], split: Split) -> Iterator[Record]:
    path = Path(__file__).parent / split / f"{output_type.__name__}.jsonl"
    for line in path.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        yield Record(record["document"], output_type.model_validate(record["value"]))


class Score(NamedTuple):
    """Right fields, and all: those of the right answer and those that were too many."""

    right: int
    fields: int


def score(expected: BaseModel, answer: BaseModel) -> Score:
    """Compare an answer with the right one, field by field.

    A field is a leaf: a value, or an empty list. Strings are equal but for case and white space around them, numbers,
    dates and enums if they are the same value. Members of lists are compared in order.
    """
    wanted, given = dict(leaves(expected.model_dump())), dict(leaves(answer.model_dump()))
    right = sum(path in given and is_same(value, given[path]) for path, value in wanted.items())
    return Score(right, len(wanted.keys() | given.keys()))


def leaves(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """Yield the path and the value of each leaf: `{"a": [1, None], "b": []}` → `a 0: 1`, `a 1: None`, `b: []`."""
    inner: Sequence[tuple[str | int, Any]] = ()
    if isinstance(value, dict):
        inner = list(value.items())
    elif isinstance(value, list):
        inner = list(enumerate(value))
    for key, member in inner:
        yield from leaves(member, (*path, key))
    if not inner:
        yield path, value


def is_same(wanted: Any, given: Any) -> bool:
    """Tell whether two leaves are the same, as in `score`."""
    if isinstance(wanted, str) and isinstance(given, str):
        return wanted.strip().casefold() == given.strip().casefold()
    if isinstance(wanted, datetime | date) and type(wanted) is not type(given):
        return False
    return bool(wanted == given) and isinstance(wanted, bool) == isinstance(given, bool)
