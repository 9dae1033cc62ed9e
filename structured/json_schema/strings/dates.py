"""The patterns of dates and times as RFC 3339 §5.6 writes them: their characters, without the quotes of a JSON string.

Every text is a real day of the years 0001 to 9999, leap years included, because Python has no others. Pydantic reads
more spellings (numbers, blanks in place of the `T`); none of them is generated.

**Leap seconds.** By RFC 3339 a second may be the 60th in the last minute of a day in UTC, so what the clock shows then
is 23:59 moved by the offset. That Pydantic reads none, and the specification does, is one difference of the two
readings. What the clock shows and the offset depend on each other across whatever fraction stands between, so each
pair is an option of its own. With offsets of whole quarters of an hour, as all have been since there are leap seconds,
these are 96 times of the day. All 1,440 would take 4,300 nodes and were rejected: to use `+03:07` in a leap second is
given up.
"""

from structured.regex import Pattern, alternation, char_set, chars, concat, literal, optional, repeat, words


def _digits(first: int, last: int) -> Pattern:
    return char_set((ord("0") + first, ord("0") + last))


_DIGIT = _digits(0, 9)
_NOT_ZERO = _digits(1, 9)

_YEAR = alternation(
    concat(_NOT_ZERO, repeat(_DIGIT, 3, 3)),
    concat(literal("0"), _NOT_ZERO, repeat(_DIGIT, 2, 2)),
    concat(literal("00"), _NOT_ZERO, _DIGIT),
    concat(literal("000"), _NOT_ZERO),
)
_FOURTH = alternation(
    concat(literal("0"), chars("48")), concat(chars("2468"), chars("048")), concat(chars("13579"), chars("26"))
)
"""Two digits that are divisible by 4, and not 00."""

_LEAP_YEAR = alternation(concat(_DIGIT, _DIGIT, _FOURTH), concat(_FOURTH, literal("00")))
_DAY_OF_EVERY_YEAR = alternation(
    concat(
        alternation(concat(literal("0"), chars("13578")), concat(literal("1"), chars("02"))),
        literal("-"),
        alternation(concat(literal("0"), _NOT_ZERO), concat(chars("12"), _DIGIT), concat(literal("3"), chars("01"))),
    ),
    concat(
        alternation(concat(literal("0"), chars("469")), literal("11")),
        literal("-"),
        alternation(concat(literal("0"), _NOT_ZERO), concat(chars("12"), _DIGIT), literal("30")),
    ),
    concat(
        literal("02-"),
        alternation(concat(literal("0"), _NOT_ZERO), concat(literal("1"), _DIGIT), concat(literal("2"), _digits(0, 8))),
    ),
)
_FULL_DATE = alternation(
    concat(_YEAR, literal("-"), _DAY_OF_EVERY_YEAR),
    concat(_LEAP_YEAR, literal("-02-29")),
)

_SIXTY = concat(_digits(0, 5), _DIGIT)
_HOUR = alternation(concat(chars("01"), _DIGIT), concat(literal("2"), _digits(0, 3)))
_NUMERIC_OFFSET = concat(chars("+-"), _HOUR, literal(":"), _SIXTY)
_CLOCK = concat(_HOUR, literal(":"), _SIXTY, literal(":"), _SIXTY)
_FRACTION = optional(concat(literal("."), repeat(_DIGIT, 1, None)))


def _clock_text(minutes: int) -> str:
    """Return a number of minutes, modulo a day, as a clock shows it: -1 → `23:59`."""
    hour, minute = divmod(minutes % (24 * 60), 60)
    return f"{hour:02}:{minute:02}"


def _leap_second(offset: int) -> Pattern:
    """Return the leap second of any day where the clock is so many minutes ahead of UTC, or behind by the rest."""
    offsets = [f"+{_clock_text(offset)}", f"-{_clock_text(-offset)}", *(["Z", "z"] if offset == 0 else [])]
    return concat(literal(f"{_clock_text(offset - 1)}:60"), _FRACTION, words(offsets))


DATE = _FULL_DATE
"""`2024-02-29`"""

TIME = concat(
    _CLOCK, optional(concat(literal("."), repeat(_DIGIT, 1, 6))), optional(alternation(literal("Z"), _NUMERIC_OFFSET))
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
"""All that RFC 3339 calls a date: those of the year 0000 besides."""

POSSIBLE_TIME = concat(
    _HOUR, literal(":"), _SIXTY, literal(":"), alternation(_SIXTY, literal("60")), _FRACTION,
    alternation(chars("Zz"), _NUMERIC_OFFSET),
)  # fmt: skip
"""All that RFC 3339 calls a time, and any 60th second, which is no time where no leap second can be."""

POSSIBLE_DATE_TIME = concat(POSSIBLE_DATE, chars("Tt"), POSSIBLE_TIME)
"""All that RFC 3339 calls a date and time, and any with a 60th second."""
