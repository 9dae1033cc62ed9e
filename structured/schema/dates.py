"""The patterns of dates and times as RFC 3339 §5.6 writes them, in the quotes of a JSON string.

Every text is a real day of the years 0001 to 9999, leap years included, because Python has no others. Pydantic reads
more spellings (numbers, blanks in place of the `T`); none of them is generated.
"""

from structured.pattern import Pattern, alternation, char_set, chars, concat, literal, optional, repeat


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
_OFFSET = alternation(literal("Z"), concat(chars("+-"), _HOUR, literal(":"), _SIXTY))
_TIME = concat(
    _HOUR,
    literal(":"),
    _SIXTY,
    literal(":"),
    _SIXTY,
    optional(concat(literal("."), repeat(_DIGIT, 1, 6))),
    optional(_OFFSET),
)

DATE = _FULL_DATE
"""`2024-02-29`"""

DATE_TIME = concat(_FULL_DATE, literal("T"), _TIME)
"""`2024-02-29T23:59:59.5+01:00`; the offset may be missing, as Pydantic allows and RFC 3339 does not."""

_CLOCK = concat(_HOUR, literal(":"), _SIXTY, literal(":"), _SIXTY)
_RFC_TIME = concat(_CLOCK, optional(concat(literal("."), repeat(_DIGIT, 1, None))), _OFFSET)

RFC_3339_TIME = _RFC_TIME
"""`23:59:59.5+01:00`; the offset must be there, and no second is a leap second."""

RFC_3339_DATE_TIME = concat(_FULL_DATE, chars("Tt"), _RFC_TIME)
"""`2024-02-29T23:59:59.5+01:00`"""
