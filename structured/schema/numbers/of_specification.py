"""Numbers of schemas that are read by the specification: every spelling that Python's `json` writes, and others.

Without rules a number is whatever RFC 8259 §6 says. With rules it is a plain decimal of any number of digits, or has
the scientific notation of `structured.schema.numbers.scientific`. Multiples of a divisor whose factor is large
(`MOST_SCIENTIFIC`) are plain decimals alone.
"""

from collections.abc import Callable, Iterable
from fractions import Fraction

from structured.pattern import Pattern, alternation, chars, concat, literal, optional, repeat
from structured.schema.numbers.bounds import Interval, Rules, has_whole_floats
from structured.schema.numbers.multiples import (
    MOST_SCIENTIFIC,
    Multiples,
    OtherNumbers,
    ScientificMultiples,
    common_multiple,
    factor_and_power,
    scan,
)
from structured.schema.numbers.ranges import (
    DIGIT,
    NOT_ZERO,
    WHOLE,
    Style,
    decimal_places,
    either_sign,
    magnitudes,
    power_of_ten,
)
from structured.schema.numbers.scientific import (
    FROM,
    LARGEST,
    LEAST_EXPONENT,
    MANTISSA_PLACES,
    UP_TO,
    scientific,
    scientific_multiples,
)
from structured.schema.place import Place

_ANY_MAGNITUDE = concat(
    alternation(literal("0"), concat(NOT_ZERO, repeat(DIGIT, 0, None))),
    optional(concat(literal("."), repeat(DIGIT, 1, None))),
    optional(concat(chars("Ee"), optional(chars("+-")), repeat(DIGIT, 1, None))),
)
_ANY_NUMBER = concat(optional(literal("-")), _ANY_MAGNITUDE)
_ANY_INTEGER = concat(optional(literal("-")), alternation(literal("0"), concat(NOT_ZERO, repeat(DIGIT, 0, None))))

_Numbers = Callable[[Fraction, Fraction | None], Pattern | None]


def specified_integer(rules: Rules, place: Place) -> Pattern | None:
    """Return the integers that keep the rules; None if there are none. From draft 6 on `1.0` is one."""
    if has_whole_floats(place):
        divisor = Fraction(1) if rules.divisor is None else common_multiple(rules.divisor, Fraction(1))
        return specified_number(rules._replace(divisor=divisor), place)
    plain = _either(_bare_integers(interval) for interval in rules.intervals)
    if plain is None or (rules.divisor is None and not rules.not_divisors):
        return plain
    return _plain_scan(plain, rules._replace(divisor=rules.divisor or Fraction(1)), place)


def specified_number(rules: Rules, place: Place) -> Pattern | None:
    """Return the numbers that keep the rules; None if there are none."""
    if rules.are_none:
        return _ANY_NUMBER
    if rules.not_divisors:
        rules = rules._replace(intervals=[piece for each in rules.intervals for piece in each.without([Fraction(0)])])
    places = None if rules.divisor is None else _places(rules.divisor)
    if not rules.not_divisors and (rules.divisor is None or places is not None):
        return _either(_numbers(interval, places) for interval in rules.intervals)
    return _either([_plain_scan(_plain(rules), rules, place), _scientific_scan(rules, place)])


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
    """Return the plain decimals between the bounds, with as many places as the divisor has."""
    style = Style()
    if rules.divisor is not None:
        style = Style(decimal_places(rules.divisor), zeros=True, loose=False)
    return _either(
        _with_integers(interval, lambda low, high: magnitudes(low, high, style)) for interval in rules.intervals
    )


def _plain_scan(plain: Pattern | None, rules: Rules, place: Place) -> Pattern | None:
    """Return the plain decimals that are multiples of the one divisor and of none of the others.

    What is known to be an integer may be told by its digits. Of other numbers, the double matters.
    """
    if plain is None or rules.divisor is None:
        return plain and scan(plain, [OtherNumbers(divisor) for divisor in rules.not_divisors], place)
    multiples = Multiples(rules.divisor)
    if rules.divisor.denominator == 1:
        return scan(plain, [multiples], place, excluded=[Multiples(divisor) for divisor in rules.not_divisors])
    return scan(plain, [multiples, *map(OtherNumbers, rules.not_divisors)], place)


def _scientific_scan(rules: Rules, place: Place) -> Pattern | None:
    """Return the numbers that keep the rules and for which `repr` has scientific notation.

    The large ones are integers, and an integer is a multiple of 3/4 if it is one of 3.
    """
    large = Rules(
        rules.intervals,
        None if rules.divisor is None else Fraction(rules.divisor.numerator),
        [Fraction(divisor.numerator) for divisor in rules.not_divisors],
        rules.keyword,
    )
    found = [_scientific_part(large, power_of_ten(FROM), LARGEST, place)]
    divisors = [*([] if rules.divisor is None else [rules.divisor]), *rules.not_divisors]
    most = power_of_ten(UP_TO + 1)
    if min(divisors) < most:
        found.append(_scientific_part(rules, power_of_ten(LEAST_EXPONENT), most, place))
    elif rules.divisor is None:
        found += [_scientific(interval, Fraction(0), min(divisors) / 2, Style()) for interval in rules.intervals]
    return _either(found)


def _scientific_part(rules: Rules, least: Fraction, most: Fraction, place: Place) -> Pattern | None:
    """Return the numbers in scientific notation that keep the rules and whose magnitude is from `least` to `most`."""
    style = Style(MANTISSA_PLACES)
    numbers = _either(_scientific(interval, least, most, style) for interval in rules.intervals)
    wanted = [] if rules.divisor is None or (rules.divisor == 1 and least > 1) else [rules.divisor]
    if numbers is None or any(factor_and_power(each)[0] > MOST_SCIENTIFIC for each in wanted + rules.not_divisors):
        return None
    languages = [ScientificMultiples(divisor) for divisor in wanted]
    languages += [ScientificMultiples(divisor, negated=True) for divisor in rules.not_divisors]
    return scan(numbers, languages, place) if languages else numbers


def _scientific(interval: Interval, least: Fraction, most: Fraction, style: Style) -> Pattern | None:
    """Return the numbers of an interval in scientific notation whose magnitude is from `least` to `most`."""
    if interval.decimals is None:
        return None
    return either_sign(
        *interval.decimals,
        lambda low, high: scientific(max(low, least), most if high is None else min(high, most), style),
    )
