"""Numbers of schemas that are read by the specification: every spelling that Python's `json` writes, and others.

Without rules a number is whatever RFC 8259 §6 says. With rules it is a plain decimal of any number of digits, or has
the scientific notation of `structured.json_schema.numbers.scientific`. Multiples of a divisor whose factor is large
(`MAX_SCIENTIFIC`) are plain decimals alone.
"""

from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import lru_cache
from math import lcm

from structured.automata.dfa import PatternLanguage
from structured.json_schema.numbers.bounds import Interval, Rules
from structured.json_schema.numbers.multiples import (
    MAX_SCIENTIFIC,
    SURE_DIGITS,
    Multiples,
    OtherNumbers,
    ScientificMultiples,
    common_multiple,
    factor_and_power,
    scan,
)
from structured.json_schema.numbers.ranges import (
    DIGIT,
    NOT_ZERO,
    WHOLE,
    Style,
    decimal_places,
    either_sign,
    magnitudes,
    power_of_ten,
)
from structured.json_schema.numbers.scientific import (
    FROM,
    LARGEST,
    LEAST,
    MANTISSA_PLACES,
    UP_TO,
    scientific,
    scientific_multiples,
)
from structured.regex import Pattern, alternation, chars, concat, literal, optional, repeat

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
def specified_integer(rules: Rules, *, may_have_point: bool) -> Pattern | None:
    """Return the integers that keep the rules; None if there are none. From draft 6 on `1.0` is one."""
    divisor = Fraction(1) if rules.divisor is None else common_multiple(rules.divisor, Fraction(1))
    if may_have_point:
        return specified_number(rules._replace(divisor=divisor))
    plain = _either(_bare_integers(interval) for interval in rules.intervals)
    if divisor == 1 and not rules.not_divisors:
        return plain
    return _plain_scan(plain, rules._replace(divisor=divisor))


@lru_cache(maxsize=1024)
def specified_number(rules: Rules) -> Pattern | None:
    """Return the numbers that keep the rules; None if there are none.

    What is no multiple of an integer is another integer, or none.
    """
    if rules.are_none:
        return _ANY_NUMBER
    places = None if rules.divisor is None else _places(rules.divisor)
    if not rules.not_divisors and (rules.divisor is None or places is not None):
        return _either(_numbers(interval, places) for interval in rules.intervals)
    values = rules.few_values()
    if values is not None:
        return _either(_numbers(Interval(value, value), None) for value in values)
    if rules.divisor is None and rules.not_divisors != _ONE and all(n.denominator == 1 for n in rules.not_divisors):
        others = specified_number(rules._replace(not_divisors=_ONE))
        return (
            others if 1 in rules.not_divisors else _either([specified_number(rules._replace(divisor=_ONE[0])), others])
        )
    return _either([_plain_scan(_plain(rules), rules), _scientific_scan(rules)])


def _places(divisor: Fraction) -> int | None:
    """Return the places after the point that all multiples have, if they are all that have these: 0.01 → 2."""
    factor, power = factor_and_power(divisor)
    return -power if factor == 1 and power <= 0 else None


def _either(patterns: Iterable[Pattern | None]) -> Pattern | None:
    found = [pattern for pattern in patterns if pattern is not None]
    return alternation(*found) if found else None


def _numbers(interval: Interval, places: int | None) -> Pattern | None:
    """Return the numbers of an interval, or those that have so many places."""
    style = Style() if places is None else Style(places, zeros=True, loose=False)

    def numbers(low: Fraction, high: Fraction | None) -> Pattern | None:
        if low == 0 and high is None and places is None:
            return _ANY_MAGNITUDE
        notation = scientific(low, high, style) if places is None else scientific_multiples(low, high, places)
        return _either([magnitudes(low, high, style), notation])

    return _with_integers(interval, numbers)


def _with_integers(interval: Interval, numbers: _Numbers) -> Pattern | None:
    """Return the numbers of an interval, and such integers besides as are inside though their doubles are not."""
    ends = interval.decimals
    found = None if ends is None else either_sign(*ends, numbers, minus_zero=True)
    first, last = interval.integers
    bare = [] if ends is None or (first, last) == Interval(*ends).integers else [_bare_integers(interval)]
    return _either([found, *bare])


def _bare_integers(interval: Interval) -> Pattern | None:
    """Return the integers of an interval, without a point."""
    first, last = (None if end is None else Fraction(end) for end in interval.integers)
    return either_sign(first, last, lambda low, high: magnitudes(low, high, WHOLE), minus_zero=True)


def _plain(rules: Rules) -> Pattern | None:
    """Return the plain decimals between the bounds, with as many places as the divisor has; without 0, if it is one.

    Where those are none, digits behind a point do not change what is read.
    """
    style, no_zero = Style(), [Fraction(0)] if rules.not_divisors else []
    if rules.divisor is not None:
        style = Style(decimal_places(rules.divisor), zeros=True, loose=False)
    pieces = [piece for interval in rules.intervals for piece in interval.without(no_zero)]
    found = _either(_with_integers(piece, lambda low, high: magnitudes(low, high, style)) for piece in pieces)
    is_whole = rules.divisor is not None and rules.divisor.denominator == 1
    return scan(found, [_EXACT]) if found is not None and is_whole else found


def _plain_scan(plain: Pattern | None, rules: Rules) -> Pattern | None:
    """Return the plain decimals that are multiples of the one divisor and of none of the others.

    What is known to be an integer may be told by its digits. Of other numbers, the double matters.
    """
    if plain is None or rules.divisor is None:
        return plain and scan(plain, [OtherNumbers(divisor) for divisor in rules.not_divisors])
    multiples = Multiples(rules.divisor)
    if rules.divisor.denominator == 1:
        return scan(plain, [multiples], excluded=[Multiples(divisor) for divisor in rules.not_divisors])
    return scan(plain, [multiples, *map(OtherNumbers, rules.not_divisors)])


def _scientific_scan(rules: Rules) -> Pattern | None:
    """Return the numbers that keep the rules and for which `repr` has scientific notation.

    The large ones are integers, and an integer is a multiple of 3/4 if it is one of 3. Where some multiples are denied
    they are given up, since a decimal that is no multiple may have a double that is one.
    """
    large = Rules(
        rules.intervals,
        None if rules.divisor is None else Fraction(rules.divisor.numerator),
        keyword=rules.keyword,
    )
    found = [] if rules.not_divisors else [_scientific_part(large, power_of_ten(FROM), LARGEST)]
    divisors = [*([] if rules.divisor is None else [rules.divisor]), *rules.not_divisors]
    most = power_of_ten(UP_TO + 1)
    if min(divisors) < most:
        found.append(_scientific_part(rules, LEAST, most))
    elif rules.divisor is None:
        found += [_scientific(interval, LEAST, min(divisors) / 2, Style()) for interval in rules.intervals]
    return _either(found)


def _scientific_part(rules: Rules, least: Fraction, most: Fraction) -> Pattern | None:
    """Return the numbers in scientific notation that keep the rules and whose magnitude is from `least` to `most`."""
    style = Style(MANTISSA_PLACES)
    numbers = _either(_scientific(interval, least, most, style) for interval in rules.intervals)
    wanted = [] if rules.divisor is None or (rules.divisor == 1 and least > 1) else [rules.divisor]
    factors = [factor_and_power(divisor)[0] for divisor in (*wanted, *rules.not_divisors)]
    if numbers is None or lcm(*factors) > MAX_SCIENTIFIC:
        return None
    languages = [ScientificMultiples(divisor) for divisor in wanted]
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
