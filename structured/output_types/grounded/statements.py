"""A statement: characters of a document, and the values that they can be read as.

What the same characters can mean in several ways has several readings: `1.250` is 1.25 and 1250, `3/4/2024` is a day in
April and one in March. What more characters mean is a statement of its own, so that each reading has the characters
that it was read from and no others: of `12 %`, `12` states 12, and `12 %` states 0.12.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")

Span = tuple[int, int]
"""Where a text starts and ends, in characters (code points) of the document as given."""


@dataclass(frozen=True, slots=True)
class Statement(Generic[T]):
    """A span of a document that states a value, and its readings.

    Attributes:
        span: Start and end, in characters of the document as given.
        readings: The values, all different, the usual one first; never empty.
    """

    span: Span
    readings: tuple[T, ...]


def merged(stated: Iterable[tuple[Span, tuple[T, ...]]]) -> tuple[Statement[T], ...]:
    """Return statements in the order of their spans: those of one span are joined, those without a reading left out."""
    readings: dict[Span, tuple[T, ...]] = {}
    for span, values in stated:
        known = readings.get(span)
        readings[span] = values if known is None else (*dict.fromkeys((*known, *values)),)
    return tuple([Statement(span, values) for span, values in sorted(readings.items()) if values])
