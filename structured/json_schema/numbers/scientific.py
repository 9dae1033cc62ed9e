r"""Ranges of numbers in scientific notation.

The notation is the one of Python's `repr`, which is that of `json.dumps`: one digit that is not zero stands before the
point (`1.5e+22`, `1e-07`). A plus sign and the zero before a single digit may be left out, and `E` may stand for `e`.
The numbers of one exponent are a range of mantissas; those between two exponents are all mantissas.
"""

from fractions import Fraction

from structured.json_schema.numbers.ranges import Style, exponents, mantissas, power_of_ten
from structured.regex import Pattern, alternation, concat

LEAST_EXPONENT, GREATEST_EXPONENT = -324, 308
"""Those of doubles."""

LEAST = 5 * power_of_ten(LEAST_EXPONENT)
"""The least double above 0."""

FROM, UP_TO = 16, -5
"""`repr` turns to scientific notation from the first exponent up, and from the second down."""

MANTISSA_PLACES = 16
"""No double needs more than 17 digits."""

LARGEST = 17 * power_of_ten(GREATEST_EXPONENT - 1)
"""A little less than the greatest double, which has many digits."""


def exponent_of(value: Fraction) -> int:
    """Return the exponent of a positive number in scientific notation: 0.05 → -2."""
    exponent = len(str(value.numerator)) - len(str(value.denominator))
    return exponent if value >= power_of_ten(exponent) else exponent - 1


def scientific(low: Fraction, high: Fraction | None, style: Style) -> Pattern | None:
    """Return the numbers above 0, from `low` to `high`; None if there are none."""
    if high is not None and (high <= 0 or high < low):
        return None
    first = None if low == 0 else exponent_of(low)
    last = None if high is None else exponent_of(high)
    options = []
    if first is not None and first == last:
        return _numbers(_mantissa(low, first), _mantissa(high, first), first, first, style)
    if first is not None and _mantissa(low, first) > 1:
        options.append(_numbers(_mantissa(low, first), None, first, first, style))
        first += 1
    if last is not None and not style.reaches(10, _mantissa(high, last)):
        options.append(_numbers(Fraction(1), _mantissa(high, last), last, last, style))
        last -= 1
    if first is None or last is None or first <= last:
        options.append(_numbers(Fraction(1), None, first, last, style))
    found = [option for option in options if option is not None]
    return alternation(*found) if found else None


def _mantissa(value: Fraction | None, exponent: int) -> Fraction:
    return (value or 0) / power_of_ten(exponent)


def _numbers(low: Fraction, high: Fraction | None, first: int | None, last: int | None, style: Style) -> Pattern | None:
    """Return the mantissas from `low` to `high` with each of the exponents from `first` to `last`."""
    mantissa = mantissas(low, high, style)
    return None if mantissa is None else concat(mantissa, exponents(first, last))


def scientific_multiples(low: Fraction, high: Fraction | None, places: int) -> Pattern | None:
    """Return the multiples of 10 ** -places for which `repr` has this notation; the rest is left to plain decimals."""
    most = LARGEST if high is None else min(high, LARGEST)
    options = [scientific(max(low, power_of_ten(FROM)), most, Style(MANTISSA_PLACES))]
    first = max(-places, LEAST_EXPONENT if low == 0 else exponent_of(low))
    for exponent in range(first, UP_TO + 1):
        unit = power_of_ten(exponent)
        style = Style(places + exponent, loose=False)
        greatest = 10 * unit - power_of_ten(-places)
        options.append(scientific(max(low, unit), min(most, greatest), style))
    found = [option for option in options if option is not None]
    return alternation(*found) if found else None
