"""Ranges of decimals, as RFC 8259 §6 writes them.

A range is split at the first digit in which its ends differ: from 07 to 23 are `0[7-9]|2[0-3]|1[0-9]`. At most two of
the branches at each digit still have a bound, so the pattern grows with the number of digits, not of values.
"""

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import NamedTuple

from structured.regex import EMPTY, Pattern, alternation, char_set, chars, concat, literal, optional, repeat

DIGIT = char_set((0x30, 0x39))
NOT_ZERO = char_set((0x31, 0x39))
_NOT_NINE = char_set((0x30, 0x38))
_ZERO = literal("0")

Digits = str | None
"""Digits after the point without trailing zeros; None is an upper limit above all of them."""


class DecimalStyle(NamedTuple):
    """The number of digits after the point: at most `places`.

    A `is_loose` style allows more digits after a run of zeros or nines, so that the run can be one repetition.
    """

    places: int
    is_loose: bool = True

    def rounded(self, value: Fraction, *, up: bool) -> tuple[int, str]:
        """Return the whole part of a number and the digits after the point, rounded up or down to the places."""
        units = (math.ceil if up else math.floor)(value * 10**self.places)
        whole, after = divmod(units, 10**self.places)
        return whole, f"{after:0{self.places}}".rstrip("0") if self.places else ""

    def any_digits(self, places_written: int, fewest: int = 0) -> Pattern:
        """Return any digits that may follow the `places_written` digits after the point."""
        left = self.places - places_written
        return self.only_zeros(places_written, fewest) if left <= 0 else repeat(DIGIT, fewest, left)

    def only_zeros(self, places_written: int, fewest: int = 0) -> Pattern:
        """Return the zeros that may follow the `places_written` digits after the point."""
        return repeat(_ZERO, fewest, max(fewest, self.places - places_written))


def digit_between(first: int, last: int) -> Pattern:
    """Return one digit from the first to the last."""
    return chars("0123456789"[first : last + 1]) if first < last else literal(str(first))


def power_of_ten(exponent: int) -> Fraction:
    """Return 10 ** exponent as a fraction."""
    return Fraction(10**exponent) if exponent >= 0 else Fraction(1, 10**-exponent)


def decimal_places(value: Fraction) -> int:
    """Return the number of digits after the point of a finite decimal: 5/4 → 2."""
    places = 0
    while value.denominator != 1:
        value *= 10
        places += 1
    return places


def integer_range(low: int | None, high: int | None) -> Pattern:
    """Return the integers from `low` to `high`, which is not smaller; None means no limit.

    `integer_range(-12, 3)` → `-(?:1[0-2]|[1-9])|[0-3]`
    """
    if low is None and high is None:
        return alternation(_ZERO, concat(optional(literal("-")), _integers(1, None)))
    if low is not None and low == -(high or 0) < 0:
        return alternation(_ZERO, concat(optional(literal("-")), _integers(1, high)))
    negative = positive = None
    if low is None or low < 0:
        negative = _integers(1 if high is None else max(1, -high), None if low is None else -low)
    if high is None or high >= 0:
        positive = _integers(0 if low is None else max(0, low), high)
    return _signed(negative, positive)


def decimal_range(low: Fraction | None, high: Fraction | None, style: DecimalStyle) -> Pattern | None:
    r"""Return the plain decimals from `low` to `high`; None if there are none. `-0` is allowed with negatives.

    `decimal_range(Fraction(1, 2), Fraction(2), DecimalStyle(1))` → `0\.[5-9]|2(?:\.0)?|1(?:\.[0-9])?`
    """
    return either_sign(low, high, lambda least, most: magnitudes(least, most, style))


def either_sign(
    low: Fraction | None, high: Fraction | None, of: Callable[[Fraction, Fraction | None], Pattern | None]
) -> Pattern | None:
    """Return the numbers from `low` to `high`; `of` makes the patterns of magnitudes. None if there are none.

    Zero may have a minus sign where other numbers do.
    """
    if low is not None and high is not None and low > high:
        return None
    zero = Fraction(0)
    negative = positive = None
    if low is None or low < 0:
        negative = of(zero if high is None else max(zero, -high), None if low is None else -low)
    if high is None or high >= 0:
        positive = of(zero if low is None else max(zero, low), high)
    return None if negative is None and positive is None else _signed(negative, positive)


def _signed(negative: Pattern | None, positive: Pattern | None) -> Pattern:
    """Return the magnitudes `negative` after a minus sign, and the magnitudes `positive` without a sign."""
    if negative == positive and positive is not None:
        return concat(optional(literal("-")), positive)
    signed = [] if negative is None else [concat(literal("-"), negative)]
    return alternation(*signed, *([] if positive is None else [positive]))


def magnitudes(low: Fraction, high: Fraction | None, style: DecimalStyle) -> Pattern | None:
    """Return the plain decimals from `low`, which is at least 0, to `high`; None if there are none."""
    first, after_first = style.rounded(low, up=True)
    last, after_last = (None, None) if high is None else _last_decimal(high, style)
    return _between(first, after_first, last, after_last, style)


def _last_decimal(high: Fraction, style: DecimalStyle) -> tuple[int, Digits]:
    last, after = style.rounded(high, up=False)
    return last, None if style.places and after == "9" * style.places else after


def _between(first: int, after_first: str, last: int | None, after_last: Digits, style: DecimalStyle) -> Pattern | None:
    """Return the decimals between two bounds, each given by its whole part and its digits after the point."""
    if last is not None and (last < first or (last == first and after_last is not None and after_last < after_first)):
        return None
    if first == last:
        return concat(literal(str(first)), _point(after_first, after_last, style))
    options = []
    if after_first:
        options.append(concat(literal(str(first)), _point(after_first, None, style)))
        first += 1
    if last is not None and after_last is not None and not (style.places == 0 and after_last == ""):
        options.append(concat(literal(str(last)), _point("", after_last, style)))
        last -= 1
    if last is None or first <= last:
        options.append(concat(_integers(first, last), _point("", None, style)))
    return alternation(*options)


def _point(low: str, high: Digits, style: DecimalStyle) -> Pattern:
    """Return the point and the digits after it from `low` to `high`; leaving both out means 0."""
    if style.places == 0:
        return EMPTY
    some = concat(literal("."), _fraction(low, high, style, 0, fewest=1))
    return some if low else optional(some)


def _fraction(low: str, high: Digits, style: DecimalStyle, places_written: int, fewest: int = 0) -> Pattern:
    """Return the strings of `fewest` digits or more that, as digits after a point, are from `low` to `high`.

    `05`, `2` → `0[5-9]|20*|1[0-9]*`
    """
    if not low and high is None:
        return style.any_digits(places_written, fewest)
    if high == "":
        return style.only_zeros(places_written, fewest)
    if style.is_loose and high is None and low.startswith("00"):
        return _above_zeros(low, style, places_written)
    options = (
        _below_nines(high, style, places_written)
        if style.is_loose and not low and high is not None and high.startswith("99")
        else (
            concat(digit, _fraction(after_low, after_high, style, places_written + 1))
            for digit, after_low, after_high in digit_branches(low, high, "", None)
        )
    )
    some = alternation(*options)
    return some if low or fewest else optional(some)


def _above_zeros(low: str, style: DecimalStyle, places_written: int) -> Pattern:
    """Return digits after a point that make `low` or more: `0012` → `0?[1-9][0-9]*|00(?:1[2-9][0-9]*|[2-9][0-9]*)`."""
    after = low.lstrip("0")
    zeros = len(low) - len(after)
    soon = concat(repeat(_ZERO, 0, zeros - 1), NOT_ZERO, style.any_digits(places_written + 1))
    return alternation(soon, concat(repeat(_ZERO, zeros, zeros), _fraction(after, None, style, places_written + zeros)))


def _below_nines(high: str, style: DecimalStyle, places_written: int) -> Iterator[Pattern]:
    """Yield digits after a point that make `high` or less: `997` → `9?[0-8][0-9]*`, `9`, `99(?:70*|[0-6][0-9]*)?`."""
    after = high.lstrip("9")
    nines = len(high) - len(after)
    yield concat(repeat(literal("9"), 0, nines - 1), _NOT_NINE, style.any_digits(places_written + 1))
    yield repeat(literal("9"), 1, nines - 1)
    yield concat(repeat(literal("9"), nines, nines), _fraction("", after, style, places_written + nines))


def digit_branches(low: str, high: Digits, zeros: str, nines: Digits) -> Iterator[tuple[Pattern, str, Digits]]:
    """Yield each first digit or range of digits, with the bounds of the digits after it.

    `zeros` and `nines` are the bounds that leave these free: `07`, `23` → `0` and `7`, `9`; `2` and `0`, `3`; `1` and
    `0`, `9`
    """
    first, last = int(low[:1] or "0"), 9 if high is None else int(high[0])
    after_first, after_last = low[1:], None if high is None else high[1:]
    if first == last:
        yield digit_between(first, last), after_first, after_last
        return
    if after_first != zeros:
        yield digit_between(first, first), after_first, nines
        first += 1
    if after_last != nines:
        yield digit_between(last, last), zeros, after_last
        last -= 1
    if first <= last:
        yield digit_between(first, last), zeros, nines


def _integers(low: int, high: int | None) -> Pattern:
    """Return the integers from `low` to `high`, both at least 0: `5`, `1999` → `[5-9]|1[0-9]{3}|[1-9][0-9]{1,2}`."""
    if low == 0 and (high is None or high > 9):
        return alternation(_ZERO, _integers(1, high))
    shortest, longest = len(str(low)), None if high is None else len(str(high))
    if high is not None and shortest == longest:
        return _digit_strings(str(low), str(high))
    options = []
    if low > 10 ** (shortest - 1):
        options.append(_digit_strings(str(low), "9" * shortest))
        shortest += 1
    if longest is not None and high != 10**longest - 1:
        options.append(_digit_strings(str(10 ** (longest - 1)), str(high)))
        longest -= 1
    if longest is None or shortest <= longest:
        options.append(concat(NOT_ZERO, repeat(DIGIT, shortest - 1, None if longest is None else longest - 1)))
    return alternation(*options)


def _digit_strings(low: str, high: str) -> Pattern:
    """Return the digit strings from `low` to `high`, of one length: `07`, `23` → `0[7-9]|2[0-3]|1[0-9]`."""
    zeros, nines = "0" * len(low), "9" * len(low)
    if low == zeros and high == nines:
        return repeat(DIGIT, len(low), len(low))
    branches = digit_branches(low, high, zeros[1:], nines[1:])
    return alternation(*(concat(digit, _digit_strings(first, str(last))) for digit, first, last in branches))


def exponent_of(value: Fraction) -> int:
    """Return the exponent of a positive number in scientific notation: 0.05 → -2."""
    exponent = len(str(value.numerator)) - len(str(value.denominator))
    return exponent if value >= power_of_ten(exponent) else exponent - 1
