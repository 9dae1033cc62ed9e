"""The keywords of numbers (JSON Schema validation §6.2), compiled to JSON numbers (RFC 8259 §6)."""

from collections.abc import Callable

from structured.json_schema.document.location import Location, Subschemas
from structured.json_schema.numbers.bounds import BOUNDS, DIVISORS, NumberRules, rules_of, too_many_states
from structured.json_schema.numbers.multiples import is_multiple
from structured.json_schema.numbers.pydantic_numbers import (
    DECIMAL,
    FLOAT_DIGITS,
    INTEGER_DIGITS,
    PLACES,
    decimal_text,
    typed_integer,
    typed_number,
)
from structured.json_schema.numbers.ranges import integer_range
from structured.regex import Pattern, union

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


def integer(schemas: Subschemas, location: Location) -> Pattern:
    """Return the integers that satisfy all of some schemas."""
    rules = rules_of(schemas)
    with too_many_states(location, "multipleOf"):
        pattern = _either(typed_integer, rules)
    return _satisfiable(pattern, rules, location, "integer")


def number(schemas: Subschemas, location: Location) -> Pattern:
    """Return the numbers that satisfy all of some schemas."""
    rules = rules_of(schemas)
    with too_many_states(location, "multipleOf"):
        pattern = _either(typed_number, rules)
        if pattern is None and not location.is_type:  # integers between two doubles are compared exactly
            pattern = _either(typed_integer, rules)
    return _satisfiable(pattern, rules, location, "number")


def _either(typed: Callable[[NumberRules], Pattern | None], rules: NumberRules) -> Pattern | None:
    return union(typed(rules._replace(intervals=(interval,))) for interval in rules.intervals)


def _satisfiable(pattern: Pattern | None, rules: NumberRules, location: Location, name: str) -> Pattern:
    if pattern is None:
        raise location.unsatisfiable(f"no {name} is {rules}", keyword=rules.keyword)
    return pattern
