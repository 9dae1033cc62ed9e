"""The keywords of numbers (JSON Schema validation §6.2) enter; the pattern of JSON numbers (RFC 8259 §6) leaves.

A range is split at the first digit in which its ends differ: from 07 to 23 are `0[7-9]|2[0-3]|1[0-9]`. At most two of
the branches at each digit still have a bound, so the pattern grows with the number of digits, not of values.

**Floats.** What Pydantic compares with the bounds of a `float` is not the decimal text but the double nearest to it.
Rounding to the nearest double is monotone, and the `repr` of a double rounds to that double. So a text whose decimal
value is at least `repr(bound)` rounds to at least the bound, whatever its number of digits. A strict bound is the
inclusive bound at the neighbouring double: below 1 is at most 0.9999999999999999. The texts between two neighbours are
given up, but no double is, since its `repr` remains. Limiting texts to 15 digits, so that no two of them round to the
same double, was rejected: the patterns of strict bounds would be shorter, and most doubles could not be written.
A float with bounds has no exponent, and no negative zero where its minimum is 0.
"""

import math
import sys
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction

from structured.pattern import Pattern, alternation, char_set, chars, concat, literal, optional, repeat
from structured.schema.place import Place, Subschema, Subschemas

INTEGER_DIGITS = 18
"""Digits of an integer that has no bound; with one bound, ten times the bound is still allowed."""

FLOAT_DIGITS = 16
"""Digits before the point, in the same way: `repr` turns to an exponent for what has more."""

PLACES = 20
"""Digits after the point: no double from 0.0001 up has more in its `repr`."""

BOUNDS = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"})

_DIGIT = char_set((0x30, 0x39))
_NOT_ZERO = char_set((0x31, 0x39))
_NOT_NINE = char_set((0x30, 0x38))
_UNIT = 10**PLACES
_ANY_INTEGER = concat(optional(literal("-")), alternation(literal("0"), concat(_NOT_ZERO, repeat(_DIGIT, 0, None))))
_ANY_NUMBER = concat(
    _ANY_INTEGER,
    optional(concat(literal("."), repeat(_DIGIT, 1, None))),
    optional(concat(chars("Ee"), optional(chars("+-")), repeat(_DIGIT, 1, None))),
)
"""As RFC 8259 §6 has them, for schemas that are read by the specification."""

_UNBOUNDED_FLOAT = concat(
    optional(literal("-")),
    alternation(literal("0"), concat(_NOT_ZERO, repeat(_DIGIT, 0, FLOAT_DIGITS - 1))),
    optional(concat(literal("."), repeat(_DIGIT, 1, PLACES))),
    optional(concat(chars("Ee"), optional(chars("+-")), repeat(_DIGIT, 1, 2))),
)


def integer(parts: Subschemas, place: Place) -> Pattern:
    """Return the integers within the bounds: no leading zeros, no `-0`, no `1.0`."""
    bounds = _bounds(parts)
    if not bounds and not place.plain_numbers:
        return _ANY_INTEGER
    at_least = [math.ceil(bounds["minimum"])] if "minimum" in bounds else []
    at_least += [math.floor(bounds["exclusiveMinimum"]) + 1] if "exclusiveMinimum" in bounds else []
    at_most = [math.floor(bounds["maximum"])] if "maximum" in bounds else []
    at_most += [math.ceil(bounds["exclusiveMaximum"]) - 1] if "exclusiveMaximum" in bounds else []
    limit = math.ceil(_beyond(10**INTEGER_DIGITS, *bounds.values())) - 1
    low = max(at_least, default=-limit)
    high = min(at_most, default=limit)
    if low > high:
        raise place.unsatisfiable(f"no integer is at least {low} and at most {high}", keyword=min(bounds))
    return integer_range(low, high)


def number(parts: Subschemas, place: Place) -> Pattern:
    """Return the numbers whose double lies within the bounds; see the docstring of the module."""
    bounds = {keyword: float(bound) for keyword, bound in _bounds(parts).items()}
    if not bounds:
        return _UNBOUNDED_FLOAT if place.plain_numbers else _ANY_NUMBER
    low = bounds.get("minimum", -math.inf)
    high = bounds.get("maximum", math.inf)
    if "exclusiveMinimum" in bounds:
        low = max(low, math.nextafter(bounds["exclusiveMinimum"], math.inf))
    if "exclusiveMaximum" in bounds:
        high = min(high, math.nextafter(bounds["exclusiveMaximum"], -math.inf))
    units = _units(low, high) if low <= high and low < math.inf and high > -math.inf else range(0)
    if not units:
        reason = f"no number with at most {PLACES} decimal places is at least {low!r} and at most {high!r}"
        raise place.unsatisfiable(reason, keyword=min(bounds))
    return decimal_range(units[0], units[-1])


def integer_range(low: int, high: int) -> Pattern:
    """Return the integers from `low` to `high`, which is no smaller.

    `integer_range(-12, 3)` → `-(?:1[0-2]|[1-9])|[0-3]`
    """
    if low == -high < 0:
        return alternation(literal("0"), concat(optional(literal("-")), _integers(1, high)))
    negative = _integers(max(1, -high), -low) if low < 0 else None
    positive = _integers(max(0, low), high) if high >= 0 else None
    return _signed(negative, positive)


def decimal_range(low: int, high: int) -> Pattern:
    r"""Return the plain decimals from `low` to `high`, which is no smaller, both in units of 10 ** -PLACES.

    Were PLACES 1: `decimal_range(5, 20)` → `0\.[5-9]|2(?:\.0)?|1(?:\.[0-9])?`
    """
    negative = _decimals(max(0, -high), -low) if low < 0 else None
    positive = _decimals(max(0, low), high) if high >= 0 else None
    return _signed(negative, positive)


def _bounds(parts: Subschemas) -> dict[str, Fraction]:
    """Return the bounds that some schemas set together, by keyword."""
    bounds: dict[str, Fraction] = {}
    for part in parts:
        for keyword in part.schema.keys() & BOUNDS:
            bound = part.schema[keyword]
            if keyword.startswith("exclusive") and isinstance(bound, bool) and not part.place.is_type:
                continue
            # In draft 4, `"exclusiveMinimum": true` makes the minimum beside it exclusive.
            exclusive = keyword.replace("m", "exclusiveM", 1)
            name = exclusive if not part.place.is_type and part.schema.get(exclusive) is True else keyword
            value = _bound(part, keyword)
            pick = max if name.endswith("inimum") else min
            bounds[name] = pick(bounds.get(name, value), value)
    return bounds


def _bound(part: Subschema, keyword: str) -> Fraction:
    """Return the decimal value that the keyword shows: 0.1 is a tenth, not the double nearest to it."""
    bound = part.schema[keyword]
    is_number = isinstance(bound, int | float | Decimal) and not isinstance(bound, bool)
    if not is_number or not abs(bound) <= sys.float_info.max:
        raise part.place.refusal(f"{bound!r} is no bound of a number", keyword=keyword, remedy="Use a finite number.")
    return Fraction(str(bound))


def _beyond(limit: int, *ends: Fraction) -> Fraction:
    """Return how far numbers may go where nothing bounds them: to `limit`, or to ten times the end that has a bound."""
    return max([Fraction(limit), *(10 * abs(end) for end in ends)])


def _units(low: float, high: float) -> range:
    """Return every multiple of 10 ** -PLACES from `low` to `high`, in that unit; an infinite end is drawn in."""
    ends = [Fraction(repr(end)) for end in (low, high) if math.isfinite(end)]
    limit = min(_beyond(10**FLOAT_DIGITS, *ends) - Fraction(1, _UNIT), Fraction(repr(sys.float_info.max)))
    first = Fraction(repr(low)) if math.isfinite(low) else -limit
    last = Fraction(repr(high)) if math.isfinite(high) else limit
    return range(math.ceil(first * _UNIT), math.floor(last * _UNIT) + 1)


def _signed(negative: Pattern | None, positive: Pattern | None) -> Pattern:
    """Return the magnitudes `negative` behind a minus sign, and the magnitudes `positive` without one."""
    if negative == positive and positive is not None:
        return concat(optional(literal("-")), positive)
    signed = [] if negative is None else [concat(literal("-"), negative)]
    return alternation(*signed, *([] if positive is None else [positive]))


def _integers(low: int, high: int) -> Pattern:
    """Return the integers from `low` to `high`, both at least 0.

    `5`, `1999` → `[5-9]|1[0-9]{3}|[1-9][0-9]{1,2}`
    """
    shortest, longest = len(str(low)), len(str(high))
    if shortest == longest:
        return _fixed(str(low), str(high))
    if low == 0:
        return alternation(literal("0"), _integers(1, high))
    options = []
    if low > 10 ** (shortest - 1):
        options.append(_fixed(str(low), "9" * shortest))
        shortest += 1
    if high < 10**longest - 1:
        options.append(_fixed(str(10 ** (longest - 1)), str(high)))
        longest -= 1
    if shortest <= longest:
        options.append(concat(_NOT_ZERO, repeat(_DIGIT, shortest - 1, longest - 1)))
    return alternation(*options)


def _decimals(low: int, high: int) -> Pattern:
    """Return the decimals from `low` to `high` units, `low` at least 0: split by the integer before the point."""
    (first, after_first), (last, after_last) = divmod(low, _UNIT), divmod(high, _UNIT)
    if first == last:
        return concat(literal(str(first)), _point(after_first, after_last))
    options = []
    if after_first > 0:
        options.append(concat(literal(str(first)), _point(after_first, _UNIT - 1)))
        first += 1
    if after_last < _UNIT - 1:
        options.append(concat(literal(str(last)), _point(0, after_last)))
        last -= 1
    if first <= last:
        options.append(concat(_integers(first, last), _point(0, _UNIT - 1)))
    return alternation(*options)


def _point(low: int, high: int) -> Pattern:
    """Return the point and the digits after it that make `low` to `high` units; nothing at all makes 0."""
    some = concat(literal("."), _padded(f"{low:0{PLACES}}", f"{high:0{PLACES}}", fewest=1))
    return optional(some) if low == 0 else some


def _fixed(low: str, high: str) -> Pattern:
    """Return the digit strings as long as `low` and `high` and between them: `07`, `23` → `0[7-9]|2[0-3]|1[0-9]`."""
    if _is_all("0", low) and _is_all("9", high):
        return repeat(_DIGIT, len(low), len(low))
    return alternation(*(concat(head, _fixed(*tails)) for head, *tails in _branches(low, high)))


def _padded(low: str, high: str, *, fewest: int = 0) -> Pattern:
    """Return the digit strings, of `fewest` digits or more, that lie between `low` and `high` when padded with zeros.

    `05`, `20` → `0[5-9]|20?|1[0-9]?`
    """
    from_zero, to_nine = _is_all("0", low), _is_all("9", high)
    if _is_all("0", high) or (from_zero and to_nine):
        return repeat(_DIGIT if to_nine else literal("0"), fewest, len(high))
    if to_nine and low.startswith("00"):
        return _above_zeros(low)
    options = (
        _below_nines(high)
        if from_zero and high.startswith("99")
        else (concat(head, _padded(*tails)) for head, *tails in _branches(low, high))
    )
    some = alternation(*options)
    return optional(some) if from_zero and fewest == 0 else some


def _above_zeros(low: str) -> Pattern:
    """Return the digit strings that make `low` or more: `0012` → `0?[1-9][0-9]{0,3}|00(?:1[2-9]|[2-9][0-9]?)`.

    They may be longer than `low`: that is what lets a run of zeros be one repetition, and not a nest of options.
    """
    after = low.lstrip("0")
    zeros = len(low) - len(after)
    soon = concat(repeat(literal("0"), 0, zeros - 1), _NOT_ZERO, repeat(_DIGIT, 0, len(low) - 1))
    return alternation(soon, concat(repeat(literal("0"), zeros, zeros), _padded(after, "9" * len(after))))


def _below_nines(high: str) -> Iterator[Pattern]:
    """Yield the digit strings that make `high` or less: `997` → `9?[0-8][0-9]{0,2}`, `9`, `99[0-7]?`."""
    after = high.lstrip("9")
    nines = len(high) - len(after)
    yield concat(repeat(literal("9"), 0, nines - 1), _NOT_NINE, repeat(_DIGIT, 0, len(high) - 1))
    yield repeat(literal("9"), 1, nines - 1)
    yield concat(repeat(literal("9"), nines, nines), _padded("0" * len(after), after))


def _branches(low: str, high: str) -> Iterator[tuple[Pattern, str, str]]:
    """Yield each way to go on from the first digit: the digit, and what the digits after it lie between.

    `07`, `23` → `0` and `7`, `9`; `2` and `0`, `3`; `1` and `0`, `9`
    """
    zeros, nines = "0" * (len(low) - 1), "9" * (len(low) - 1)
    first, last = int(low[0]), int(high[0])
    if first == last:
        yield literal(low[0]), low[1:], high[1:]
        return
    if low[1:] != zeros:
        yield literal(low[0]), low[1:], nines
        first += 1
    if high[1:] != nines:
        yield literal(high[0]), zeros, high[1:]
        last -= 1
    if first <= last:
        yield chars("0123456789"[first : last + 1]) if first < last else literal(str(first)), zeros, nines


def _is_all(digit: str, digits: str) -> bool:
    return digits == digit * len(digits)
