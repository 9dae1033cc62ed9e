"""Numbers of Pydantic types: one spelling of each value, and a limited number of digits, so that no model runs on.

A float with bounds or a divisor has no exponent, unless no decimal of `PLACES` lies between its bounds, and no negative
zero where its minimum is 0. Pydantic accepts a float as a multiple if, in the arithmetic of doubles, it is at most 1e-9
away from a multiple. That holds for every multiple that is a double, and for every multiple below 2 ** 23, whatever the
divisor: a rounding error there is at most 2 ** -30. Larger multiples that are not doubles are left out.
"""

import sys
from fractions import Fraction
from functools import lru_cache

from structured.json_schema.numbers.bounds import Interval, NumberRules
from structured.json_schema.numbers.multiples import Multiples, common_multiple, factor_and_power, scan
from structured.json_schema.numbers.ranges import (
    DIGIT,
    MANTISSA_PLACES,
    NOT_ZERO,
    Style,
    decimal_places,
    decimal_range,
    either_sign,
    integer_range,
    power_of_ten,
    scientific,
)
from structured.regex import Pattern, alternation, chars, concat, literal, optional, repeat, union, words

INTEGER_DIGITS = 18
"""Digits of an integer without a bound; beside one bound, integers up to ten times that bound are allowed."""

FLOAT_DIGITS = 16
"""Digits before the point of a float without a bound: `repr` writes larger floats with an exponent."""

PLACES = 20
"""Digits after the point: no double from 0.0001 up has more in its `repr`."""

FLOATS = Style(PLACES)

_UNBOUNDED_FLOAT = concat(
    optional(literal("-")),
    alternation(literal("0"), concat(NOT_ZERO, repeat(DIGIT, 0, FLOAT_DIGITS - 1))),
    optional(concat(literal("."), repeat(DIGIT, 1, PLACES))),
    optional(concat(chars("Ee"), optional(chars("+-")), repeat(DIGIT, 1, 2))),
)


@lru_cache(maxsize=1024)
def typed_integer(rules: NumberRules) -> Pattern | None:
    """Return the integers that keep the rules: no leading zeros, no `-0`, no `1.0`; None if there are none."""
    (interval,) = rules.intervals
    first, last = interval.integers
    beyond = 10 * max([abs(end) for end in (interval.low, interval.high) if end is not None], default=Fraction(0))
    limit = int(max(beyond, 10**INTEGER_DIGITS)) - 1
    divisor = 1 if rules.divisor is None else int(common_multiple(rules.divisor, Fraction(1)))
    low = -((limit if first is None else -first) // divisor)
    high = (limit if last is None else last) // divisor
    if low > high:
        return None
    factor, zeros = factor_and_power(Fraction(divisor))
    if factor == 1:
        return _with_zeros(low, high, "0" * zeros)
    values = rules._replace(divisor=Fraction(divisor)).few_values()
    if values is not None:
        return words(str(value) for value in values)
    if first is not None and last is not None:
        return scan(integer_range(low * divisor, high * divisor), [Multiples(Fraction(divisor))])
    # Without a bound, digits are counted beside the automaton: counting inside would multiply its states.
    most = len(str(limit)) + (first is None or first < 0)
    return scan(integer_range(first, last), [Multiples(Fraction(divisor))], most=most)


def _with_zeros(low: int, high: int, zeros: str) -> Pattern:
    """Return the integers from `low` to `high` followed by zeros: `5`, `12`, `00` → `(?:1[0-2]|[5-9])00`."""
    if not zeros or low > 0 or high < 0:
        return concat(integer_range(low, high), literal(zeros))
    ends = [(low, -1)] * (low < 0) + [(1, high)] * (high > 0)
    return alternation(literal("0"), *(concat(integer_range(*pair), literal(zeros)) for pair in ends))


@lru_cache(maxsize=1024)
def typed_number(rules: NumberRules) -> Pattern | None:
    """Return the numbers whose double keeps the rules; None if there are none."""
    if rules.are_none:
        return _UNBOUNDED_FLOAT
    (interval,) = rules.intervals
    ends = interval.decimals
    if ends is None:
        return None
    low, high = _limited(*ends)
    if rules.divisor is None:
        return decimal_range(low, high, FLOATS) or either_sign(low, high, _with_exponent)
    reach = _reach(rules.divisor)
    return multiples_between(max(low, -reach), min(high, reach), rules.divisor)


def _with_exponent(low: Fraction, high: Fraction | None) -> Pattern | None:
    """Return the numbers above 0 between two bounds that have too many places for plain decimals."""
    return scientific(low, high, Style(MANTISSA_PLACES))


def multiples_between(low: Fraction, high: Fraction, divisor: Fraction) -> Pattern | None:
    """Return the multiples of a divisor, without zeros after them; None if there are none."""
    factor, power = factor_and_power(divisor)
    decimals = decimal_range(low, high, Style(max(0, -power), loose=False))
    if decimals is None or (factor == 1 and power <= 0):
        return decimals
    values = NumberRules((Interval(low, high),), divisor).few_values()
    return scan(decimals, [Multiples(divisor)]) if values is None else _listed(values, max(0, -power))


def _listed(values: list[Fraction], places: int) -> Pattern | None:
    """Return some values, each with at most `places` digits after the point."""
    return union(decimal_range(value, value, Style(places, loose=False)) for value in values)


def _limited(low: Fraction | None, high: Fraction | None) -> tuple[Fraction, Fraction]:
    """Return the bounds, with a limit in place of each that is missing."""
    most = max([Fraction(10**FLOAT_DIGITS), *(10 * abs(end) for end in (low, high) if end is not None)])
    limit = min(most - power_of_ten(-PLACES), Fraction(repr(sys.float_info.max)))
    return -limit if low is None else low, limit if high is None else high


def _reach(divisor: Fraction) -> Fraction:
    """Return a limit up to which Pydantic accepts every multiple of a divisor: a digit and zeros, less a unit."""
    limit = 2**23 if divisor >= Fraction(1, 10**8) else 10**6
    if Fraction(float(divisor)) == divisor:
        limit = max(limit, 2**53 // divisor.denominator)
    unit = int(power_of_ten(len(str(limit)) - 1))
    return Fraction(limit // unit * unit) - power_of_ten(-decimal_places(divisor))
