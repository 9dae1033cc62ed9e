"""The keywords of numbers (JSON Schema validation §6.2), compiled to JSON numbers (RFC 8259 §6)."""

from collections.abc import Callable

from structured.json_schema.document.place import Place, Subschemas
from structured.json_schema.numbers.bounds import BOUNDS, DIVISORS, Rules, has_whole_floats, rules_of, too_many_states
from structured.json_schema.numbers.multiples import is_multiple
from structured.json_schema.numbers.of_decimals import DECIMAL, decimal_text
from structured.json_schema.numbers.of_specification import specified_integer, specified_number
from structured.json_schema.numbers.of_types import FLOAT_DIGITS, INTEGER_DIGITS, PLACES, typed_integer, typed_number
from structured.json_schema.numbers.ranges import integer_range
from structured.regex import Pattern, alternation

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


def integer(parts: Subschemas, place: Place) -> Pattern:
    """Return the integers that satisfy some schemas."""
    rules = rules_of(parts)
    with too_many_states(place, "multipleOf"):
        if _are_plain(rules, place):
            found = _either(typed_integer, rules)
        else:
            found = specified_integer(rules, may_have_point=has_whole_floats(place) and not place.plain_numbers)
    return _satisfiable(found, rules, place, "integer")


def number(parts: Subschemas, place: Place) -> Pattern:
    """Return the numbers that satisfy some schemas."""
    rules = rules_of(parts)
    with too_many_states(place, "multipleOf"):
        found = _either(typed_number, rules) if _are_plain(rules, place) else specified_number(rules)
        if found is None and not place.is_type:  # an integer is compared as it is, also between two doubles
            found = None if rules.not_divisors else _either(typed_integer, rules)
    return _satisfiable(found, rules, place, "number")


def _are_plain(rules: Rules, place: Place) -> bool:
    """Tell whether numbers are written as those of types: always, but what is no multiple of something."""
    return place.plain_numbers and not rules.not_divisors


def _either(typed: Callable[[Rules], Pattern | None], rules: Rules) -> Pattern | None:
    """Return the numbers of all intervals."""
    found = [typed(rules._replace(intervals=(interval,))) for interval in rules.intervals]
    patterns = [pattern for pattern in found if pattern is not None]
    return alternation(*patterns) if patterns else None


def _satisfiable(found: Pattern | None, rules: Rules, place: Place, name: str) -> Pattern:
    if found is None:
        raise place.unsatisfiable(f"no {name} is {rules}", keyword=rules.keyword)
    return found
