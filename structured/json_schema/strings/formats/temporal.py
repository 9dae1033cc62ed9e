"""Dates, times and durations: RFC 3339, and what Pydantic reads and writes.

**Dates and times** (RFC 3339 §5.6). Every text is a real day of the years 0001 to 9999, leap years included, because
Python has no others. Pydantic reads more spellings (numbers, blanks in place of the `T`); none of them is generated.

**Leap seconds.** By RFC 3339 a second may be the 60th in the last minute of a day in UTC; the clock then shows 23:59
moved by the offset. The specification allows it and Pydantic does not. The time and the offset depend on each other
across any fraction between them, so each pair is an option of its own. With offsets of whole quarters of an hour, the
only ones in use since there are leap seconds, these are 96 times of the day. All 1,440 would take 4,300 nodes and were
rejected: `+03:07` in a leap second is left out.

**Durations** (RFC 3339 appendix A). The specification has whole numbers of any length, no sign, and no gap between the
units: `PT1H2S` is not a duration. Pydantic reads a sign, a fraction of seconds, and gaps. It stops at 999,999,999 days,
counts a year as 365 days and a month as 30, and writes years and days, never months or weeks. So numbers in `TIMEDELTA`
are short enough for every sum of them, and larger years have no more days and hours than Pydantic writes, up to the
ends of `datetime.timedelta`.
"""

from structured.json_schema.numbers.ranges import integer_range
from structured.json_schema.strings.formats.alphabets import DIGIT, NOT_ZERO, digits
from structured.regex import Pattern, alternation, chars, concat, literal, optional, repeat, words

_YEAR = alternation(
    concat(NOT_ZERO, repeat(DIGIT, 3, 3)),
    concat(literal("0"), NOT_ZERO, repeat(DIGIT, 2, 2)),
    concat(literal("00"), NOT_ZERO, DIGIT),
    concat(literal("000"), NOT_ZERO),
)
_FOURTH = alternation(
    concat(literal("0"), chars("48")), concat(chars("2468"), chars("048")), concat(chars("13579"), chars("26"))
)
"""Two digits that are divisible by 4, and not 00."""

_LEAP_YEAR = alternation(concat(DIGIT, DIGIT, _FOURTH), concat(_FOURTH, literal("00")))
_DAY_OF_EVERY_YEAR = alternation(
    concat(
        alternation(concat(literal("0"), chars("13578")), concat(literal("1"), chars("02"))),
        literal("-"),
        alternation(concat(literal("0"), NOT_ZERO), concat(chars("12"), DIGIT), concat(literal("3"), chars("01"))),
    ),
    concat(
        alternation(concat(literal("0"), chars("469")), literal("11")),
        literal("-"),
        alternation(concat(literal("0"), NOT_ZERO), concat(chars("12"), DIGIT), literal("30")),
    ),
    concat(
        literal("02-"),
        alternation(concat(literal("0"), NOT_ZERO), concat(literal("1"), DIGIT), concat(literal("2"), digits(0, 8))),
    ),
)
_FULL_DATE = alternation(
    concat(_YEAR, literal("-"), _DAY_OF_EVERY_YEAR),
    concat(_LEAP_YEAR, literal("-02-29")),
)

_SIXTY = concat(digits(0, 5), DIGIT)
_HOUR = alternation(concat(chars("01"), DIGIT), concat(literal("2"), digits(0, 3)))
_NUMERIC_OFFSET = concat(chars("+-"), _HOUR, literal(":"), _SIXTY)
_CLOCK = concat(_HOUR, literal(":"), _SIXTY, literal(":"), _SIXTY)
_FRACTION = optional(concat(literal("."), repeat(DIGIT, 1, None)))


def _clock_text(minutes: int) -> str:
    """Return a number of minutes, modulo a day, as a clock shows it: -1 → `23:59`."""
    hour, minute = divmod(minutes % (24 * 60), 60)
    return f"{hour:02}:{minute:02}"


def _leap_second(offset: int) -> Pattern:
    """Return the leap second of any day on clocks `offset` minutes ahead of UTC, or a day less that many behind it."""
    offsets = [f"+{_clock_text(offset)}", f"-{_clock_text(-offset)}", *(["Z", "z"] if offset == 0 else [])]
    return concat(literal(f"{_clock_text(offset - 1)}:60"), _FRACTION, words(offsets))


DATE = _FULL_DATE
"""`2024-02-29`"""

TIME = concat(
    _CLOCK, optional(concat(literal("."), repeat(DIGIT, 1, 6))), optional(alternation(literal("Z"), _NUMERIC_OFFSET))
)
"""`23:59:59.5+01:00`; the offset may be missing, as Pydantic allows and RFC 3339 does not."""

DATE_TIME = concat(_FULL_DATE, literal("T"), TIME)
"""`2024-02-29T23:59:59.5+01:00`; the offset may be missing here too."""

RFC_3339_TIME = alternation(
    concat(_CLOCK, _FRACTION, alternation(chars("Zz"), _NUMERIC_OFFSET)),
    *(_leap_second(offset) for offset in range(0, 24 * 60, 15)),
)
"""`23:59:59.5+01:00`, `00:59:60+01:00`; the offset must be there."""

RFC_3339_DATE_TIME = concat(_FULL_DATE, chars("Tt"), RFC_3339_TIME)
"""`2024-02-29T23:59:59.5+01:00`"""

POSSIBLE_DATE = alternation(_FULL_DATE, concat(literal("0000-"), _DAY_OF_EVERY_YEAR), literal("0000-02-29"))
"""Every date of RFC 3339, with the year 0000."""

POSSIBLE_TIME = concat(
    _HOUR, literal(":"), _SIXTY, literal(":"), alternation(_SIXTY, literal("60")), _FRACTION,
    alternation(chars("Zz"), _NUMERIC_OFFSET),
)  # fmt: skip
"""Every time of RFC 3339, and any time with a 60th second, although leap seconds occur at certain times only."""

POSSIBLE_DATE_TIME = concat(POSSIBLE_DATE, chars("Tt"), POSSIBLE_TIME)
"""Every date and time of RFC 3339, and any with a 60th second."""

_NUMBER = repeat(DIGIT, 1, None)
_MICROSECONDS = optional(concat(literal("."), repeat(DIGIT, 1, 6)))


def _unbroken(units: str) -> Pattern:
    """Return numbers with consecutive units.

    `HMS` → `1H`, `1H1M`, `1H1M1S`, `1M`, `1M1S`, `1S`
    """
    options: list[Pattern] = []
    after: Pattern = literal("")
    for unit in reversed(units):
        option = concat(_NUMBER, literal(unit), after)
        options.append(option)
        after = optional(option)
    return alternation(*options)


_RFC_TIME = concat(literal("T"), _unbroken("HMS"))

DURATION = concat(
    literal("P"),
    alternation(concat(_unbroken("YMD"), optional(_RFC_TIME)), _RFC_TIME, concat(_NUMBER, literal("W"))),
)
"""RFC 3339 appendix A: `P1Y2M3DT4H5M6S`."""


def _some(*parts: Pattern) -> Pattern:
    """Return one or more of the parts, in their order."""
    options = []
    for index, part in enumerate(parts):
        options.append(concat(part, *map(optional, parts[index + 1 :])))
    return alternation(*options)


def _timed(date: Pattern, time: Pattern) -> Pattern:
    return concat(date, optional(concat(literal("T"), time)))


def _units(number: Pattern, *units: str) -> list[Pattern]:
    return [concat(number, literal(unit)) for unit in units]


_SHORT = repeat(DIGIT, 1, 6)
_UP_TO_59 = integer_range(0, 59)
_TIME = _some(*_units(_SHORT, "H", "M"), concat(_SHORT, _MICROSECONDS, literal("S")))
_TIME_OF_DAY = _some(
    *_units(integer_range(0, 23), "H"), *_units(_UP_TO_59, "M"), concat(_UP_TO_59, _MICROSECONDS, literal("S"))
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
"""Texts that Pydantic reads for `timedelta`, among them all that it writes: `-P1Y2DT3H4M5.000006S`."""
