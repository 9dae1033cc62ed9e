"""The texts of a Python `Decimal` inside a JSON string.

A text is a plain decimal without leading zeros. Pydantic counts digits as `Decimal.as_tuple` has them, trailing zeros
included: 1.50 has three digits, two of them after the point, and so has 0.001; 0 has one before the point, and 0.0
none. Pydantic then ignores trailing zeros, but the pattern does not rely on it. A quotient by `multiple_of` is rounded
to the 28 digits of the default context, so greater multiples are left out.
"""

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

from structured.json_schema.document.location import Subschema
from structured.json_schema.numbers.bounds import Interval, too_many_states
from structured.json_schema.numbers.multiples import Multiples, scan
from structured.json_schema.numbers.pydantic_numbers import INTEGER_DIGITS, PLACES
from structured.json_schema.numbers.ranges import Style, either_sign, exponent_of, magnitudes, power_of_ten
from structured.regex import Pattern, alternation, concat, literal, repeat

DECIMAL = "decimal"
"""The format, and the keyword that holds the rules under their Pydantic names, with decimals as strings."""

MAX_DIGITS = 1_000
"""The most digits in the rules of a decimal: the pattern grows with their square."""

CONTEXT_DIGITS = 28
"""The precision of Python's default context."""


def decimal_text(part: Subschema) -> Pattern:
    """Return the texts of the decimals that a schema with the format `decimal` allows, without quotation marks."""
    schema, location = part.schema, part.location
    rules = schema.get(DECIMAL, {})
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
            plain = scan(plain, [Multiples(divisor)])
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
    unit, style = power_of_ten(-places), Style(places, loose=False)
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
