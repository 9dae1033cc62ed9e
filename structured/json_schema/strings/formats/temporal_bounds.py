"""Dates, times, datetimes and durations between bounds.

Dates and times are compared digit by digit, as texts. These patterns do not ensure that a day exists: they are
intersected with the pattern of the format. A fraction of a second that ends early counts as padded with zeros.

**Offsets.** Pydantic compares local times if one of the two has no offset, and moments if both have one. So where a
bound has no offset, offsets are free. Where it has one, texts without an offset and texts in UTC are compared exactly.
For others, the offset at the end of the text would decide about its beginning: datetimes keep a day away from the
bound, which is more than any offset, and times of day with other offsets are left out.

**Durations** are written as Pydantic writes them: years of 365 days, days, hours, minutes, seconds, none of them zero.
"""

import datetime as dt
from dataclasses import dataclass
from functools import cache, lru_cache

from structured.json_schema.numbers.ranges import DIGIT, digit_branches, integer_range
from structured.regex import EMPTY, Pattern, alternation, char_set, concat, literal, optional, repeat, union


@dataclass(frozen=True, slots=True)
class DigitLayout:
    """The layout of a text of digits: the separators before some positions, and the most and fewest digits."""

    separators: tuple[tuple[int, str], ...]
    most: int
    fewest: int

    def separator(self, position: int) -> Pattern:
        """Return the separator before a digit."""
        return literal(dict(self.separators).get(position, ""))


@cache
def any_digits_from(layout: DigitLayout, position: int) -> Pattern:
    """Return any digits from a position on, the same node every time, so that automata share its states."""
    if position == layout.most:
        return EMPTY
    digits = concat(layout.separator(position), DIGIT, any_digits_from(layout, position + 1))
    return optional(digits) if position >= layout.fewest else digits


_DAY = ((4, "-"), (6, "-"))
DATE = DigitLayout(_DAY, 8, 8)
DATE_TIME = DigitLayout((*_DAY, (8, "T"), (10, ":"), (12, ":"), (14, ".")), 20, 14)
TIME = DigitLayout(((2, ":"), (4, ":"), (6, ".")), 12, 6)
FRACTION = DigitLayout(((0, "."),), 6, 0)


def between(low: str, high: str, layout: DigitLayout, position: int = 0) -> Pattern:
    """Return the texts whose digits from a position on are between `low` and `high`, inclusive.

    `between("05", "17", DigitLayout((), 2, 2))` → `0[5-9]|1[0-7]`
    """
    if set(low) <= {"0"} and set(high) <= {"9"}:
        return any_digits_from(layout, position)
    zeros, nines = "0" * (len(low) - 1), "9" * (len(low) - 1)
    options = [
        concat(digit, between(after_low, str(after_high), layout, position + 1))
        for digit, after_low, after_high in digit_branches(low, high, zeros, nines)
    ]
    text = concat(layout.separator(position), alternation(*options))
    return optional(text) if position >= layout.fewest and set(low) == {"0"} else text


_ANY_OFFSET = optional(concat(char_set((0x2B, 0x2B), (0x2D, 0x2D), (0x5A, 0x5A)), repeat(char_set((0x30, 0x3A)), 0, 5)))
_UTC = literal("Z")
_OTHER_OFFSET = concat(char_set((0x2B, 0x2B), (0x2D, 0x2D)), repeat(char_set((0x30, 0x3A)), 5, 5))


@lru_cache(maxsize=256)
def dates(low: dt.date | None, high: dt.date | None) -> Pattern | None:
    """Return the dates from `low` to `high`; None if there are none."""
    first, last = (low or dt.date.min), (high or dt.date.max)
    return between(f"{first:%Y%m%d}".zfill(8), f"{last:%Y%m%d}".zfill(8), DATE) if first <= last else None


@lru_cache(maxsize=256)
def times(low: dt.time | None, high: dt.time | None) -> Pattern | None:
    """Return the times of day from `low` to `high`; None if there are none."""
    is_aware = any(bound is not None and bound.tzinfo is not None for bound in (low, high))
    on_the_clock = _times(_clock(low), _clock(high))
    if not is_aware:
        return on_the_clock and concat(on_the_clock, _ANY_OFFSET)
    in_utc = _times(_clock(low, in_utc=True), _clock(high, in_utc=True))
    return union([on_the_clock, in_utc and concat(in_utc, _UTC)])


_FULL_DAY = 24 * 3600 * 10**6


def _clock(bound: dt.time | None, *, in_utc: bool = False) -> int | None:
    """Return the microseconds since midnight; in UTC they may be on the day before or after."""
    if bound is None:
        return None
    seconds = (bound.hour * 60 + bound.minute) * 60 + bound.second
    offset = bound.utcoffset() if in_utc else None
    return (seconds - int(offset.total_seconds() if offset else 0)) * 10**6 + bound.microsecond


def _times(low: int | None, high: int | None) -> Pattern | None:
    first = max(0, low or 0)
    last = _FULL_DAY - 1 if high is None else min(high, _FULL_DAY - 1)
    return between(_clock_digits(first), _clock_digits(last), TIME) if first <= last else None


def _clock_digits(microseconds: int) -> str:
    seconds, fraction = divmod(microseconds, 10**6)
    return f"{seconds // 3600:02}{seconds // 60 % 60:02}{seconds % 60:02}{fraction:06}"


_EARLIEST = dt.datetime(1, 1, 1)  # noqa: DTZ001  a local time
_LATEST = dt.datetime(9999, 12, 31, 23, 59, 59, 999999)  # noqa: DTZ001


@lru_cache(maxsize=256)
def datetimes(low: dt.datetime | None, high: dt.datetime | None) -> Pattern | None:
    """Return the datetimes from `low` to `high`; None if there are none."""
    bounds = (low, high)
    on_the_clock = _datetimes(*(bound and bound.replace(tzinfo=None) for bound in bounds))
    if all(bound is None or bound.tzinfo is None for bound in bounds):
        return on_the_clock and concat(on_the_clock, _ANY_OFFSET)
    in_utc = _datetimes(*(_in_utc(bound, 0) for bound in bounds))
    elsewhere = _datetimes(_in_utc(low, 1), _in_utc(high, -1))
    return union([on_the_clock, in_utc and concat(in_utc, _UTC), elsewhere and concat(elsewhere, _OTHER_OFFSET)])


def _in_utc(bound: dt.datetime | None, days: int) -> dt.datetime | None:
    """Return a bound in UTC, moved by some days; a bound without an offset is a local time and is not moved.

    A bound that would leave the calendar becomes its first or last moment.
    """
    if bound is None or bound.tzinfo is None:
        return bound
    by = dt.timedelta(days=days) - (bound.utcoffset() or dt.timedelta())
    plain = bound.replace(tzinfo=None)
    try:
        return plain + by
    except OverflowError:
        return _LATEST if by > dt.timedelta() else _EARLIEST


def _datetimes(low: dt.datetime | None, high: dt.datetime | None) -> Pattern | None:
    first, last = low or _EARLIEST, high or _LATEST
    return between(_digits_of(first), _digits_of(last), DATE_TIME) if first <= last else None


def _digits_of(moment: dt.datetime) -> str:
    return f"{moment.year:04}{moment:%m%d%H%M%S%f}"


_SECOND = 10**6
_UNITS = ((365 * 86400 * _SECOND, "Y"), (86400 * _SECOND, "D"), (3600 * _SECOND, "H"), (60 * _SECOND, "M"))
_FIRST_UNIT_AFTER_T = 2
"""The index of the first unit after the T."""


@lru_cache(maxsize=256)
def durations(low: dt.timedelta | None, high: dt.timedelta | None) -> Pattern | None:
    """Return the durations from `low` to `high`; None if there are none."""
    first = (low or dt.timedelta.min) // dt.timedelta(microseconds=1)
    last = (high or dt.timedelta.max) // dt.timedelta(microseconds=1)
    if first > last:
        return None
    options: list[Pattern] = [literal("PT0S")] if first <= 0 <= last else []
    if first < 0:
        options.append(concat(literal("-P"), _amount(max(1, -last), -first, 0, is_after_t=False)))
    if last > 0:
        options.append(concat(literal("P"), _amount(max(1, first), last, 0, is_after_t=False)))
    return alternation(*options)


def _amount(low: int, high: int, unit: int, *, is_after_t: bool) -> Pattern:
    """Return the amounts from `low` to `high` microseconds, written in a unit and the smaller ones."""
    if high == 0:
        return EMPTY
    mark = literal("T" if unit >= _FIRST_UNIT_AFTER_T and not is_after_t else "")
    if unit == len(_UNITS):
        seconds = concat(mark, _seconds(max(low, 1), high), literal("S"))
        return optional(seconds) if low == 0 else seconds
    size, letter = _UNITS[unit]
    first, last = low // size, high // size

    def amounts(start: int, end: int, least: int, most: int) -> list[Pattern]:
        """Return the counts of the unit from `start` to `end`, each with an amount of the smaller ones."""
        options = []
        if start == 0:
            options.append(_amount(least, most, unit + 1, is_after_t=is_after_t))
            start = 1
        if start <= end:
            smaller = _amount(least, most, unit + 1, is_after_t=is_after_t or unit >= _FIRST_UNIT_AFTER_T)
            options.append(concat(mark, integer_range(start, end), literal(letter), smaller))
        return options

    if first == last:
        return alternation(*amounts(first, last, low % size, high % size))
    options = amounts(first, first, low % size, size - 1)
    if first + 1 < last:
        options += amounts(first + 1, last - 1, 0, size - 1)
    return alternation(*options, *amounts(last, last, 0, high % size))


def _seconds(low: int, high: int) -> Pattern:
    """Return the seconds from `low` to `high` microseconds, both less than a minute."""
    (first, least), (last, most) = divmod(low, _SECOND), divmod(high, _SECOND)
    if first == last:
        return concat(literal(str(first)), between(f"{least:06}", f"{most:06}", FRACTION))
    start = concat(literal(str(first)), between(f"{least:06}", "9" * 6, FRACTION))
    end = concat(literal(str(last)), between("0" * 6, f"{most:06}", FRACTION))
    middle = [concat(integer_range(first + 1, last - 1), any_digits_from(FRACTION, 0))] if last - first > 1 else []
    return alternation(start, *middle, end)
