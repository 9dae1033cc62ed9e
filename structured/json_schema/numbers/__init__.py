"""The keywords of numbers (JSON Schema validation §6.2), compiled to JSON numbers (RFC 8259 §6).

In a schema that is read by the specification, every number of RFC 8259 is allowed without rules. With rules, a number
is a plain decimal of any number of digits, or has the scientific notation of `structured.json_schema.numbers.ranges`.
Multiples of a divisor with a large factor (more than `MAX_SCIENTIFIC`) are plain decimals only.
"""

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from math import lcm

from structured.automata.dfa import PatternLanguage
from structured.json_schema.document.location import Location, Subschemas
from structured.json_schema.numbers.bounds import (
    BOUNDS,
    DIVISORS,
    Interval,
    NumberRules,
    has_whole_floats,
    rules_of,
    too_many_states,
)
from structured.json_schema.numbers.multiples import (
    MAX_SCIENTIFIC,
    SURE_DIGITS,
    Multiples,
    OtherNumbers,
    ScientificMultiples,
    common_multiple,
    factor_and_power,
    is_multiple,
    scan,
)
from structured.json_schema.numbers.pydantic_numbers import (
    DECIMAL,
    FLOAT_DIGITS,
    INTEGER_DIGITS,
    PLACES,
    decimal_text,
    typed_integer,
    typed_number,
)
from structured.json_schema.numbers.ranges import (
    DIGIT,
    FROM,
    LARGEST,
    LEAST,
    MANTISSA_PLACES,
    NOT_ZERO,
    UP_TO,
    WHOLE,
    Style,
    decimal_places,
    either_sign,
    integer_range,
    magnitudes,
    power_of_ten,
    scientific,
    scientific_multiples,
)
from structured.regex import Pattern, alternation, chars, concat, literal, optional, repeat, union

__all__ = [
    "BOUNDS",
    "DECIMAL",
    "DIVISORS",
    "FLOAT_DIGITS",
    "INTEGER_DIGITS",
    "PLACES",
    "decimal_text",
    "integer",
    "integer_range",
    "is_multiple",
    "number",
]

_ANY_MAGNITUDE = concat(
    alternation(literal("0"), concat(NOT_ZERO, repeat(DIGIT, 0, None))),
    optional(concat(literal("."), repeat(DIGIT, 1, None))),
    optional(concat(chars("Ee"), optional(chars("+-")), repeat(DIGIT, 1, None))),
)
_ANY_NUMBER = concat(optional(literal("-")), _ANY_MAGNITUDE)

_ALL_EXACT = magnitudes(Fraction(10**SURE_DIGITS), Fraction(2**53), WHOLE)
assert _ALL_EXACT is not None, "there are whole numbers between"

_EXACT_WHOLE = alternation(
    repeat(DIGIT, 1, SURE_DIGITS),
    _ALL_EXACT,
    concat(repeat(DIGIT, SURE_DIGITS, SURE_DIGITS), chars("02468")),
)
"""The whole numbers of at most 16 digits that are doubles: from 2**53 on, the even ones."""

_EXACT = PatternLanguage(
    concat(
        optional(literal("-")),
        alternation(repeat(DIGIT, 1, None), concat(_EXACT_WHOLE, literal("."), repeat(DIGIT, 1, None))),
    )
)
"""The plain decimals that are read as integers, or whose doubles have the same digits before the point."""

_ONE = (Fraction(1),)

_Numbers = Callable[[Fraction, Fraction | None], Pattern | None]


@lru_cache(maxsize=1024)
def specified_integer(rules: NumberRules, *, may_have_point: bool) -> Pattern | None:
    """Return the integers that keep the rules; None if there are none. From draft 6 on, `1.0` is an integer."""
    divisor = Fraction(1) if rules.divisor is None else common_multiple(rules.divisor, Fraction(1))
    if may_have_point:
        return specified_number(rules._replace(divisor=divisor))
    plain = union(_bare_integers(interval) for interval in rules.intervals)
    if divisor == 1 and not rules.not_divisors:
        return plain
    return _plain_scan(plain, rules._replace(divisor=divisor))


@lru_cache(maxsize=1024)
def specified_number(rules: NumberRules) -> Pattern | None:
    """Return the numbers that keep the rules; None if there are none.

    A number that is not a multiple of an integer is either another integer or not an integer at all.
    """
    if rules.are_none:
        return _ANY_NUMBER
    places = None if rules.divisor is None else _places(rules.divisor)
    if not rules.not_divisors and (rules.divisor is None or places is not None):
        return union(_numbers(interval, places) for interval in rules.intervals)
    values = rules.few_values()
    if values is not None:
        return union(_numbers(Interval(value, value), None) for value in values)
    if rules.divisor is None and rules.not_divisors != _ONE and all(n.denominator == 1 for n in rules.not_divisors):
        others = specified_number(rules._replace(not_divisors=_ONE))
        return others if 1 in rules.not_divisors else union([specified_number(rules._replace(divisor=_ONE[0])), others])
    return union([_plain_scan(_plain(rules), rules), _scientific_scan(rules)])


def _places(divisor: Fraction) -> int | None:
    """Return the number of places of a divisor whose multiples are all decimals with so many places: 0.01 → 2."""
    factor, power = factor_and_power(divisor)
    return -power if factor == 1 and power <= 0 else None


def _numbers(interval: Interval, places: int | None) -> Pattern | None:
    style = Style() if places is None else Style(places, zeros=True, loose=False)

    def numbers(low: Fraction, high: Fraction | None) -> Pattern | None:
        if low == 0 and high is None and places is None:
            return _ANY_MAGNITUDE
        notation = scientific(low, high, style) if places is None else scientific_multiples(low, high, places)
        return union([magnitudes(low, high, style), notation])

    return _with_integers(interval, numbers)


def _with_integers(interval: Interval, numbers: _Numbers) -> Pattern | None:
    """Return the numbers of an interval, and the integers inside it whose doubles are outside."""
    ends = interval.decimals
    decimals = None if ends is None else either_sign(*ends, numbers, minus_zero=True)
    first, last = interval.integers
    bare = [] if ends is None or (first, last) == Interval(*ends).integers else [_bare_integers(interval)]
    return union([decimals, *bare])


def _bare_integers(interval: Interval) -> Pattern | None:
    first, last = (None if end is None else Fraction(end) for end in interval.integers)
    return either_sign(first, last, lambda low, high: magnitudes(low, high, WHOLE), minus_zero=True)


def _plain(rules: NumberRules) -> Pattern | None:
    """Return the plain decimals between the bounds, with the places of the divisor; without 0 where it is denied.

    Where the divisor is an integer, digits after a point do not change the value.
    """
    style, no_zero = Style(), [Fraction(0)] if rules.not_divisors else []
    if rules.divisor is not None:
        style = Style(decimal_places(rules.divisor), zeros=True, loose=False)
    pieces = [piece for interval in rules.intervals for piece in interval.without(no_zero)]
    decimals = union(_with_integers(piece, lambda low, high: magnitudes(low, high, style)) for piece in pieces)
    is_whole = rules.divisor is not None and rules.divisor.denominator == 1
    return scan(decimals, [_EXACT]) if decimals is not None and is_whole else decimals


def _plain_scan(plain: Pattern | None, rules: NumberRules) -> Pattern | None:
    """Return the plain decimals that are multiples of the divisor and of no denied divisor.

    Integers can be judged by their digits. For other numbers, the double matters.
    """
    if plain is None or rules.divisor is None:
        return plain and scan(plain, [OtherNumbers(divisor) for divisor in rules.not_divisors])
    multiples = Multiples(rules.divisor)
    if rules.divisor.denominator == 1:
        return scan(plain, [multiples], excluded=[Multiples(divisor) for divisor in rules.not_divisors])
    return scan(plain, [multiples, *map(OtherNumbers, rules.not_divisors)])


def _scientific_scan(rules: NumberRules) -> Pattern | None:
    """Return the numbers that keep the rules and for which `repr` has scientific notation.

    Large numbers are integers, and an integer is a multiple of 3/4 if it is a multiple of 3. Where some divisor is
    denied, large numbers are left out, since a decimal that is not a multiple may have a double that is.
    """
    large = NumberRules(
        rules.intervals,
        None if rules.divisor is None else Fraction(rules.divisor.numerator),
        keyword=rules.keyword,
    )
    options = [] if rules.not_divisors else [_scientific_part(large, power_of_ten(FROM), LARGEST)]
    divisors = [*([] if rules.divisor is None else [rules.divisor]), *rules.not_divisors]
    most = power_of_ten(UP_TO + 1)
    if min(divisors) < most:
        options.append(_scientific_part(rules, LEAST, most))
    elif rules.divisor is None:
        options += [_scientific(interval, LEAST, min(divisors) / 2, Style()) for interval in rules.intervals]
    return union(options)


def _scientific_part(rules: NumberRules, least: Fraction, most: Fraction) -> Pattern | None:
    style = Style(MANTISSA_PLACES)
    numbers = union(_scientific(interval, least, most, style) for interval in rules.intervals)
    divisors = [] if rules.divisor is None or (rules.divisor == 1 and least > 1) else [rules.divisor]
    factors = [factor_and_power(divisor)[0] for divisor in (*divisors, *rules.not_divisors)]
    if numbers is None or lcm(*factors) > MAX_SCIENTIFIC:
        return None
    languages = [ScientificMultiples(divisor) for divisor in divisors]
    languages += [ScientificMultiples(divisor, negated=True) for divisor in rules.not_divisors]
    return scan(numbers, languages) if languages else numbers


def _scientific(interval: Interval, least: Fraction, most: Fraction, style: Style) -> Pattern | None:
    """Return the numbers of an interval in scientific notation whose magnitude is from `least` to `most`."""
    if interval.decimals is None:
        return None
    return either_sign(
        *interval.decimals,
        lambda low, high: scientific(max(low, least), most if high is None else min(high, most), style),
    )


def integer(schemas: Subschemas, location: Location) -> Pattern:
    """Return the integers that satisfy all of some schemas."""
    rules = rules_of(schemas)
    with too_many_states(location, "multipleOf"):
        if _are_plain(rules, location):
            pattern = _either(typed_integer, rules)
        else:
            pattern = specified_integer(rules, may_have_point=has_whole_floats(location) and not location.plain_numbers)
    return _satisfiable(pattern, rules, location, "integer")


def number(schemas: Subschemas, location: Location) -> Pattern:
    """Return the numbers that satisfy all of some schemas."""
    rules = rules_of(schemas)
    with too_many_states(location, "multipleOf"):
        pattern = _either(typed_number, rules) if _are_plain(rules, location) else specified_number(rules)
        if pattern is None and not location.is_type:  # integers between two doubles are compared exactly
            pattern = None if rules.not_divisors else _either(typed_integer, rules)
    return _satisfiable(pattern, rules, location, "number")


def _are_plain(rules: NumberRules, location: Location) -> bool:
    """Tell whether numbers are written as those of types; rules with a denied divisor are compiled in another way."""
    return location.plain_numbers and not rules.not_divisors


def _either(typed: Callable[[NumberRules], Pattern | None], rules: NumberRules) -> Pattern | None:
    return union(typed(rules._replace(intervals=(interval,))) for interval in rules.intervals)


def _satisfiable(pattern: Pattern | None, rules: NumberRules, location: Location, name: str) -> Pattern:
    if pattern is None:
        raise location.unsatisfiable(f"no {name} is {rules}", keyword=rules.keyword)
    return pattern
