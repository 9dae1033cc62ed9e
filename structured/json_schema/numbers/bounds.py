"""The rules of a number: its bounds, its divisors, and the values that are denied.

A validator often compares the bounds not with the decimal text but with the double nearest to it. Rounding to the
nearest double is monotone, and the `repr` of a double rounds to that double. So a text whose decimal value is at least
`repr(bound)` rounds to at least the bound, however many digits it has. A strict bound is the inclusive bound at the
neighbouring double: below 1 means at most 0.9999999999999999. Texts between two neighbours are left out, but every
double can be written, by its `repr`. Limiting texts to 15 digits, so that no two of them round to the same double, was
rejected: the patterns of strict bounds would be shorter, but most doubles could not be written.
"""

import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from fractions import Fraction
from functools import reduce
from typing import NamedTuple

from structured.errors import PatternError
from structured.errors.values import described
from structured.json_schema.document.location import InternalSchema, Location, Subschema, Subschemas
from structured.json_schema.numbers.multiples import common_multiple

BOUNDS = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"})
DIVISORS = frozenset({"divisibleBy", "multipleOf"})
"""`divisibleBy` is the name in draft 3."""

MAX_LISTED_VALUES = 64
"""The most values that are listed one by one."""


class Interval(NamedTuple):
    """The numbers from `low` to `high`, without an end that is strict; None means no bound."""

    low: Fraction | None = None
    high: Fraction | None = None
    low_is_strict: bool = False
    high_is_strict: bool = False

    def __str__(self) -> str:
        low = [] if self.low is None else [f"{'more than' if self.low_is_strict else 'at least'} {_shown(self.low)}"]
        high = [] if self.high is None else [f"{'less than' if self.high_is_strict else 'at most'} {_shown(self.high)}"]
        return " and ".join(low + high)

    def rounded(self, places: int) -> tuple[Fraction | None, Fraction | None]:
        """Return the first and the last decimal with at most `places` digits after the point."""
        scale = 10**places
        first = last = None
        if self.low is not None:
            low = self.low * scale
            first = Fraction(math.floor(low) + 1 if self.low_is_strict else math.ceil(low), scale)
        if self.high is not None:
            high = self.high * scale
            last = Fraction(math.ceil(high) - 1 if self.high_is_strict else math.floor(high), scale)
        return first, last

    @property
    def decimals(self) -> "tuple[Fraction | None, Fraction | None] | None":
        """The least and the greatest decimal such that all between them, and their doubles, lie in the interval."""
        low = self.low if self.low is None else _at_least(self.low, strict=self.low_is_strict)
        high = self.high if self.high is None else _at_least(-self.high, strict=self.high_is_strict)
        if (self.low is not None and low is None) or (self.high is not None and high is None):
            return None
        return low, None if high is None else -high

    @property
    def has_small_fractions(self) -> bool:
        """Whether some decimal between -1 and 1, but 0, and its double, perhaps of very many digits, are inside."""
        if self.decimals is None:
            return False
        low, high = self.decimals
        return low is not None and high is not None and -1 < low <= high < 1 and not low == high == 0

    def without(self, values: "list[Fraction]") -> "list[Interval]":
        """Return the interval without some values: `[1, 9]` without 5 → `[1, 5)` and `(5, 9]`."""
        pieces = [self]
        for value in sorted(set(values)):
            last = pieces[-1]
            if (last.low is None or last.low <= value) and (last.high is None or value <= last.high):
                before = last._replace(high=value, high_is_strict=True)
                pieces[-1:] = [before, last._replace(low=value, low_is_strict=True)]
        return pieces


class NumberRules(NamedTuple):
    """The rules of some schemas about a number: its intervals, its divisor, and denied divisors.

    `keyword` is one of the keywords with these rules, for errors.
    """

    intervals: tuple[Interval, ...]
    divisor: Fraction | None
    denied_divisors: tuple[Fraction, ...] = ()
    keyword: str | None = None

    def __str__(self) -> str:
        words = [str(interval) for interval in self.intervals if interval != Interval()]
        multiple = [] if self.divisor is None else [f"a multiple of {_shown(self.divisor)}"]
        denied = [f"no multiple of {_shown(divisor)}" for divisor in self.denied_divisors]
        return " and ".join([*([" or ".join(words)] if words else []), *multiple, *denied])

    def values_if_few(self) -> list[Fraction] | None:
        """Return the values, if there is a divisor and there are at most `MAX_LISTED_VALUES` values; else None."""
        multiples: list[Fraction] = []
        for low, high, low_is_strict, high_is_strict in self.intervals:
            if self.divisor is None or low is None or high is None or high - low > MAX_LISTED_VALUES * self.divisor:
                return None
            scaled = Interval(low / self.divisor, high / self.divisor, low_is_strict, high_is_strict)
            first, last = scaled.rounded(0)
            assert first is not None
            assert last is not None
            multiples += [count * self.divisor for count in range(int(first), int(last) + 1)]
        kept = [value for value in multiples if all(value % divisor for divisor in self.denied_divisors)]
        return kept if len(kept) <= MAX_LISTED_VALUES else None


def number_rules_of(schemas: Subschemas) -> NumberRules:
    """Return the rules of some schemas about a number together."""
    divisors = [_number(part, keyword) for part in schemas for keyword in part.schema.keys() & DIVISORS]
    common = reduce(common_multiple, divisors) if divisors else None
    complements = [part for part in schemas if isinstance(part.schema, InternalSchema)]
    denied_divisors = [_number(part, "not multipleOf") for part in complements if "not multipleOf" in part.schema]
    denied_divisors += [Fraction(1) for part in complements if part.schema.get("not integer")]
    denied = (value for part in complements for value in part.schema.get("not enum", []))
    values = [Fraction(str(value)) for value in denied if is_number(value)]
    keywords = sorted(key for part in schemas for key in part.schema.keys() & (BOUNDS | DIVISORS))
    intervals = tuple(_interval(schemas).without(values))
    return NumberRules(intervals, common, tuple(dict.fromkeys(denied_divisors)), keywords[0] if keywords else None)


def _interval(schemas: Subschemas) -> Interval:
    lows = [end for part in schemas for end in _ends(part, "minimum", "exclusiveMinimum")]
    highs = [end for part in schemas for end in _ends(part, "maximum", "exclusiveMaximum")]
    low, low_is_strict = max(lows, default=(None, False))
    high, high_is_strict = min(highs, key=lambda end: (end[0], not end[1]), default=(None, False))
    return Interval(low, high, low_is_strict, high_is_strict)


def _ends(part: Subschema, plain: str, exclusive: str) -> Iterator[tuple[Fraction, bool]]:
    """Yield the bounds on one side, and whether each is strict."""
    schema, location = part.schema, part.location
    # In draft 4, `"exclusiveMinimum": true` makes the minimum beside it exclusive.
    is_flag = isinstance(schema.get(exclusive), bool) and not location.is_type
    if plain in schema:
        yield _number(part, plain), is_flag and schema[exclusive]
    if exclusive in schema and not is_flag:
        yield _number(part, exclusive), True


def is_number(value: object) -> bool:
    """Tell whether a value is a number; a bool is not."""
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def _number(part: Subschema, keyword: str) -> Fraction:
    """Return the decimal value of a keyword as written: 0.1 is a tenth, not the double nearest to it."""
    number = part.schema[keyword]
    is_finite = is_number(number) and abs(number) <= sys.float_info.max
    is_divisor = "Of" in keyword or "By" in keyword
    if not is_finite or (is_divisor and number <= 0):
        problem = f"{described(number).partition(' ')[2]} is not a {'divisor' if is_divisor else 'bound'} of a number"
        remedy = "Use a number above 0." if is_finite else "Use a finite number."
        raise part.location.refusal(problem, keyword=keyword, remedy=remedy)
    return Fraction(str(number))


def _at_least(bound: Fraction, *, strict: bool) -> Fraction | None:
    """Return the least decimal from which on all decimals, and their doubles, keep the bound; None if there is none."""
    nearest = float(bound)
    if not strict and Fraction(repr(nearest)) == bound:
        return bound
    if strict or Fraction(nearest) < bound:
        nearest = math.nextafter(nearest, math.inf)
    return max(bound, Fraction(repr(nearest))) if math.isfinite(nearest) else None


@contextmanager
def too_many_states(location: Location, keyword: str) -> Iterator[None]:
    """Turn the error that an automaton has too many states into a refusal of a keyword."""
    try:
        yield
    except PatternError as error:
        checker = "a Pydantic validator" if location.is_type else "your program"
        raise location.refusal(
            f"{keyword!r} with this many digits is too large to enforce",
            keyword=keyword,
            remedy=f"Use fewer digits, or check it in {checker}.",
        ) from error


def _shown(value: Fraction) -> str:
    """Return a decimal as people write it."""
    return str(value.numerator) if value.denominator == 1 else repr(float(value))
