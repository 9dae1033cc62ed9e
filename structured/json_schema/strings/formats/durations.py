"""Durations: those of RFC 3339 appendix A, and those that Pydantic reads and writes.

The specification has whole numbers of any length, no sign, and no gap between the units: `PT1H2S` is none. Pydantic
reads a sign, a fraction of seconds, and gaps. It stops at 999,999,999 days, counts a year as 365 of them and a month
as 30, and writes years and days, never months or weeks. So in `TIMEDELTA` numbers are short enough for every sum of
them, and the years beyond have no more days and hours than Pydantic writes, up to the ends of `datetime.timedelta`.
"""

from structured.json_schema.numbers import integer_range
from structured.json_schema.strings.formats.alphabets import DIGIT
from structured.regex import Pattern, alternation, concat, literal, optional, repeat

_NUMBER = repeat(DIGIT, 1, None)
_MICROSECONDS = optional(concat(literal("."), repeat(DIGIT, 1, 6)))


def _unbroken(units: str) -> Pattern:
    """Return numbers with these units, from any of them on to any after it.

    `HMS` → `1H`, `1H1M`, `1H1M1S`, `1M`, `1M1S`, `1S`
    """
    options: list[Pattern] = []
    after: Pattern = literal("")
    for unit in reversed(units):
        one = concat(_NUMBER, literal(unit), after)
        options.append(one)
        after = optional(one)
    return alternation(*options)


_RFC_TIME = concat(literal("T"), _unbroken("HMS"))

DURATION = concat(
    literal("P"),
    alternation(concat(_unbroken("YMD"), optional(_RFC_TIME)), _RFC_TIME, concat(_NUMBER, literal("W"))),
)
"""RFC 3339 appendix A: `P1Y2M3DT4H5M6S`."""


def _some(*parts: Pattern) -> Pattern:
    """Return some of the parts, one or more, in their order."""
    options = []
    for index, part in enumerate(parts):
        options.append(concat(part, *map(optional, parts[index + 1 :])))
    return alternation(*options)


def _timed(date: Pattern, time: Pattern) -> Pattern:
    return concat(date, optional(concat(literal("T"), time)))


def _units(number: Pattern, *units: str) -> list[Pattern]:
    return [concat(number, literal(unit)) for unit in units]


_SHORT = repeat(DIGIT, 1, 6)
_SIXTY = integer_range(0, 59)
_TIME = _some(*_units(_SHORT, "H", "M"), concat(_SHORT, _MICROSECONDS, literal("S")))
_TIME_OF_DAY = _some(
    *_units(integer_range(0, 23), "H"), *_units(_SIXTY, "M"), concat(_SIXTY, _MICROSECONDS, literal("S"))
)
_SMALL = alternation(
    _timed(_some(*_units(_SHORT, "Y", "M", "W"), *_units(repeat(DIGIT, 1, 8), "D")), _TIME),
    concat(literal("T"), _TIME),
)
_LARGE = _timed(
    concat(*_units(integer_range(1_000_000, 2_739_725), "Y"), optional(*_units(integer_range(0, 364), "D"))),
    _TIME_OF_DAY,
)


def _years_at_the_end(last_day: int) -> Pattern:
    """Return the durations of 2,739,726 years and fewer days than `last_day`, and any time of a day."""
    return _timed(concat(literal("2739726Y"), optional(*_units(integer_range(0, last_day - 1), "D"))), _TIME_OF_DAY)


TIMEDELTA = alternation(
    concat(optional(literal("-")), literal("P"), alternation(_SMALL, _LARGE, _years_at_the_end(9))),
    concat(literal("P2739726Y9D"), optional(concat(literal("T"), _TIME_OF_DAY))),
    literal("-P2739726Y9D"),
)
"""What Pydantic reads for `timedelta`, with all that it writes: `-P1Y2DT3H4M5.000006S`."""
