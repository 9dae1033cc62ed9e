"""The keywords of numbers (JSON Schema validation §6.2), compiled to JSON numbers (RFC 8259 §6).

Numbers are plain decimals of a limited number of digits, so that no model runs on.

A float with bounds or divisors has no exponent, and no negative zero where its minimum is 0. Bounds between which no
decimal of `PLACES` lies are refused. Pydantic accepts a float as a multiple if, in the arithmetic of doubles, it is at
most 1e-9 away from a multiple. That holds for every multiple that is a double, and for every multiple below 2 ** 23,
whatever the divisor: a rounding error there is at most 2 ** -30. Larger multiples that are not doubles are left out.

A `Decimal` is a plain decimal without leading zeros. Pydantic reads its text, and counts digits as `Decimal.as_tuple`
has them, trailing zeros included: 1.50 and 0.001 have three digits, 0 has one before the point, and 0.0 none. Quotients
by `multiple_of` are rounded to the 28 digits of the default context, so greater multiples are left out.
"""

import sys
from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

from structured.automata.dfa.alternating import PatternLanguage
from structured.json_schema.document.location import Location, Subschema, Subschemas
from structured.json_schema.numbers.bounds import Interval, NumberRules, number_rules_of, too_many_states
from structured.json_schema.numbers.multiples import Multiples, NonMultiples, factor_and_power, intersected
from structured.json_schema.numbers.ranges import (
    DecimalStyle,
    decimal_places,
    decimal_range,
    either_sign,
    exponent_of,
    integer_range,
    magnitudes,
    power_of_ten,
)
from structured.regex import Pattern, alternation, concat, literal, repeat, union, words
from structured.regex.character_classes import ECMA
from structured.regex.regex_parser import whole_regex_to_pattern


def integer(schemas: Subschemas, location: Location) -> Pattern:
    """Return the integers that satisfy all of some schemas."""
    rules = number_rules_of(schemas)
    with too_many_states(location, "multipleOf"):
        pattern = _either(typed_integer, rules)
    return _satisfiable(pattern, rules, location, "integer")


def number(schemas: Subschemas, location: Location) -> Pattern:
    """Return the numbers that satisfy all of some schemas."""
    rules = number_rules_of(schemas)
    decimals = [decimal_text(part) for part in schemas if location.is_type and DECIMAL in part.schema]
    with too_many_states(location, "multipleOf"):
        pattern = _either(typed_number, rules)
        if decimals and pattern is not None:
            others = decimals[1:] if pattern is _UNBOUNDED_FLOAT else [*decimals[1:], pattern]
            pattern = intersected(decimals[0], [*map(PatternLanguage, others)]) if others else decimals[0]
        if pattern is None and not location.is_type:  # integers between two doubles are compared exactly
            pattern = _either(typed_integer, rules)
    if pattern is None and rules.divisor is None and any(interval.has_small_fractions for interval in rules.intervals):
        raise location.refusal(
            f"Numbers of more than {PLACES} digits after the point are not written, and none of fewer is {rules}",
            keyword=rules.keyword,
            remedy="Use bounds that are farther apart.",
        )
    return _satisfiable(pattern, rules, location, "number")


def _either(typed: Callable[[NumberRules], Pattern | None], rules: NumberRules) -> Pattern | None:
    return union(typed(rules._replace(intervals=(interval,))) for interval in rules.intervals)


def _satisfiable(pattern: Pattern | None, rules: NumberRules, location: Location, name: str) -> Pattern:
    if pattern is None:
        raise location.unsatisfiable(f"no {name} is {rules}", keyword=rules.keyword)
    return pattern


DECIMAL = "decimal"
"""The keyword of the rules of a decimal under their Pydantic names, with decimals as strings."""

MAX_DIGITS = 1_000
"""The most digits in the rules of a decimal: the pattern grows with their square."""

CONTEXT_DIGITS = 28
"""The precision of Python's default context."""


def decimal_text(part: Subschema) -> Pattern:
    """Return the texts of the decimals that a schema allows."""
    location, rules = part.location, part.schema.get(DECIMAL, {})
    if _most_digits(rules) > MAX_DIGITS:
        raise location.refusal(
            f"Decimals of more than {MAX_DIGITS:,} digits are not supported",
            keyword=DECIMAL,
            remedy="Lower `max_digits` and `decimal_places`, and use bounds of fewer digits.",
        )
    interval = _interval(rules)
    divisor = Fraction(rules["multiple_of"]) if "multiple_of" in rules else None
    pieces = [] if interval is None else _pieces(rules, interval, divisor)
    plain = alternation(*pieces) if pieces else None
    if plain is not None and divisor is not None:
        with too_many_states(location, DECIMAL):
            plain = intersected(plain, [Multiples(divisor)])
    if plain is None:
        raise location.unsatisfiable(f"no decimal keeps {rules}", keyword=DECIMAL)
    return plain


def _most_digits(rules: Mapping[str, Any]) -> int:
    """Return the greatest number of digits in any rule: as a limit, or in a bound that is written out."""
    allowed = [rules[name] for name in ("max_digits", "decimal_places") if rules.get(name) is not None]
    written = [Decimal(rules[name]) for name in ("ge", "gt", "le", "lt", "multiple_of") if name in rules]
    sizes = [max(abs(number.adjusted()), len(number.as_tuple().digits)) for number in written if number.is_finite()]
    return max([*allowed, *sizes], default=0)


def _interval(rules: Mapping[str, Any]) -> Interval | None:
    """Return the interval between the bounds; None if it is empty."""
    bounds = {name: Decimal(rules[name]) for name in ("ge", "gt", "le", "lt") if name in rules}
    finite = {name: Fraction(bound) for name, bound in bounds.items() if bound.is_finite()}
    if any(bound.is_nan() or (bound > 0) == (name[0] == "g") for name, bound in bounds.items() if name not in finite):
        return None
    low = max([(finite[name], name == "gt") for name in ("ge", "gt") if name in finite], default=(None, False))
    highs = [(finite[name], name != "lt") for name in ("le", "lt") if name in finite]
    high = min(highs, default=(None, True))
    return Interval(low[0], high[0], low[1], not high[1])


def _pieces(rules: Mapping[str, Any], interval: Interval, divisor: Fraction | None) -> list[Pattern]:
    """Return the patterns of the decimals, one for each number of digits before the point where that matters."""
    digits, places = rules.get("max_digits"), rules.get("decimal_places")
    whole = _whole_digits(interval, digits, places)
    if divisor is not None:
        whole = min(whole, CONTEXT_DIGITS + exponent_of(divisor))
    if digits is None or places is not None:
        kept = PLACES if places is None else places if digits is None else min(digits, places)
        return _between(interval, 0, max(whole, 0), kept, pointed=whole <= 0)
    pieces = [piece for count in range(1, whole + 1) for piece in _between(interval, count, count, digits - count)]
    return _between(interval, 0, 0, digits, pointed=digits == 0) + pieces


def _whole_digits(interval: Interval, digits: int | None, places: int | None) -> int:
    """Return how many digits may precede the point."""
    if digits is not None:
        return digits - (places or 0)
    ends = [abs(end) for end in (interval.low, interval.high) if end]
    return max([INTEGER_DIGITS, *(exponent_of(end) + 2 for end in ends)])


def _between(interval: Interval, fewest: int, most: int, places: int, *, pointed: bool = False) -> list[Pattern]:
    """Return the decimals of an interval with `fewest` to `most` digits before the point; those below 1 count 0 digits.

    With `pointed`, zero has a point.
    """
    unit, style = power_of_ten(-places), DecimalStyle(places, is_loose=False)
    least = power_of_ten(fewest - 1) if fewest else Fraction(0)
    greatest = power_of_ten(most) - unit

    def inside(low: Fraction, high: Fraction | None) -> Pattern | None:
        end = greatest if high is None else min(high, greatest)
        if not pointed or low > 0:
            return magnitudes(max(low, least), end, style)
        if places == 0:
            return None
        zero, more = concat(literal("0."), repeat(literal("0"), 1, places)), magnitudes(unit, end, style)
        return zero if more is None else alternation(zero, more)

    pattern = either_sign(*interval.rounded(places), inside)
    return [] if pattern is None else [pattern]


INTEGER_DIGITS = 18
"""Digits of an integer without a bound; beside one bound, integers up to ten times that bound are allowed."""

FLOAT_DIGITS = 16
"""Digits before the point of a float without a bound: `repr` writes larger floats with an exponent."""

PLACES = 20
"""Digits after the point: no double from 0.0001 up has more in its `repr`."""

FLOATS = DecimalStyle(PLACES)

_FLOAT = rf"-?(?:0|[1-9]\d{{0,{FLOAT_DIGITS - 1}}})(?:\.\d{{1,{PLACES}}})?(?:[Ee][+\-]?\d{{1,2}})?"
_UNBOUNDED_FLOAT = whole_regex_to_pattern(_FLOAT, ECMA)


@lru_cache(maxsize=1024)
def typed_integer(rules: NumberRules) -> Pattern | None:
    """Return the integers that keep the rules: no leading zeros, no `-0`, no `1.0`; None if there are none."""
    (interval,) = rules.intervals
    first, last = (None if end is None else int(end) for end in interval.rounded(0))
    beyond = 10 * max([abs(end) for end in (interval.low, interval.high) if end is not None], default=Fraction(0))
    limit = int(max(beyond, 10**INTEGER_DIGITS)) - 1
    divisor = 1 if rules.divisor is None else rules.divisor.numerator  # the least multiple that is an integer
    low = -((limit if first is None else -first) // divisor)
    high = (limit if last is None else last) // divisor
    if low > high:
        return None
    factor, zeros = factor_and_power(Fraction(divisor))
    if factor == 1 and not rules.denied_divisors:
        return _with_zeros(low, high, "0" * zeros)
    values = rules._replace(divisor=Fraction(divisor)).values_if_few()
    if values is not None:
        return words(str(value) for value in values) if values else None
    included, excluded = [Multiples(Fraction(divisor))], [Multiples(denied) for denied in rules.denied_divisors]
    if first is not None and last is not None:
        return intersected(integer_range(low * divisor, high * divisor), included, excluded=excluded)
    # Without a bound, digits are counted beside the automaton: counting inside would multiply its states.
    most = len(str(limit)) + (first is None or first < 0)
    return intersected(integer_range(first, last), included, excluded=excluded, most=most)


def _with_zeros(low: int, high: int, zeros: str) -> Pattern:
    """Return the integers from `low` to `high` followed by zeros: `5`, `12`, `00` → `(?:1[0-2]|[5-9])00`."""
    if not zeros or low > 0 or high < 0:
        return concat(integer_range(low, high), literal(zeros))
    ends = [(low, -1)] * (low < 0) + [(1, high)] * (high > 0)
    return alternation(literal("0"), *(concat(integer_range(*pair), literal(zeros)) for pair in ends))


@lru_cache(maxsize=1024)
def typed_number(rules: NumberRules) -> Pattern | None:
    """Return the numbers whose double keeps the rules; None if there are none."""
    if rules._replace(keyword=None) == NumberRules((Interval(),), None):
        return _UNBOUNDED_FLOAT
    if rules.denied_divisors:
        return _non_multiples(rules)
    (interval,) = rules.intervals
    ends = interval.decimals
    if ends is None:
        return None
    low, high = _limited(*ends)
    if rules.divisor is None:
        return decimal_range(low, high, FLOATS)
    reach = _reach(rules.divisor)
    return multiples_between(max(low, -reach), min(high, reach), rules.divisor)


def _non_multiples(rules: NumberRules) -> Pattern | None:
    """Return the plain decimals that keep the rules about denied divisors, too; None if there are none.

    A number that is not a multiple of an integer is either another integer or not an integer at all. Integers are
    judged by their digits. For other numbers, the double matters.
    """
    divisor, denied = rules.divisor, rules.denied_divisors
    if divisor is None and denied != (Fraction(1),) and all(other.denominator == 1 for other in denied):
        integers = None if 1 in denied else typed_integer(rules)
        return union([integers, typed_number(rules._replace(denied_divisors=(Fraction(1),)))])
    plain = typed_number(rules._replace(denied_divisors=()))
    if plain is None or (divisor is not None and divisor.denominator == 1):
        return plain and intersected(plain, [], excluded=[Multiples(other) for other in denied])
    return intersected(plain, [NonMultiples(other) for other in denied])


def multiples_between(low: Fraction, high: Fraction, divisor: Fraction) -> Pattern | None:
    """Return the multiples of a divisor, without zeros after them; None if there are none."""
    factor, power = factor_and_power(divisor)
    style = DecimalStyle(max(0, -power), is_loose=False)
    decimals = decimal_range(low, high, style)
    if decimals is None or (factor == 1 and power <= 0):
        return decimals
    values = NumberRules((Interval(low, high),), divisor).values_if_few()
    if values is None:
        return intersected(decimals, [Multiples(divisor)])
    return union(decimal_range(value, value, style) for value in values)


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
