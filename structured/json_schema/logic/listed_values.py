"""Values that `const` and `enum` list, compiled to their JSON texts (validation §6.1.2, §6.1.3)."""

import json
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from structured.errors.recursion import deep
from structured.json_schema.document.location import InternalSchema, Location, Subschema, Subschemas
from structured.json_schema.keyword_types import ASSERTIONS, UNEVALUATED, type_of
from structured.json_schema.logic.choices import CHOICES
from structured.json_schema.logic.validity import allows
from structured.regex import Pattern, alternation, concat, literal, words

_LISTING_KEYWORDS = ("const", "enum")
_CHOICE_OR_UNEVALUATED = frozenset({*CHOICES, *UNEVALUATED})
"""Keywords that may forbid values of any type."""


def lists_values(schemas: Subschemas) -> bool:
    """Tell whether some schema lists the values that it allows."""
    return any(part.has(keyword) for part in schemas for keyword in _LISTING_KEYWORDS)


def listed_values(schemas: Subschemas, allowed: list[Any]) -> Pattern:
    """Return the pattern of those values in the first `const` or `enum` that are `allowed_values`."""
    keyword, part = _first_listing(schemas)
    if set(map(type, allowed)).isdisjoint((list, dict)):
        return words(spellings(allowed, part.location, keyword=keyword))
    spell = partial(spelling, location=part.location, keyword=keyword)
    return alternation(*(value_to_pattern(value, part.location, spell) for value in allowed))


def _first_listing(schemas: Subschemas) -> tuple[str, Subschema]:
    return next((key, part) for part in schemas for key in _LISTING_KEYWORDS if part.has(key))


def allowed_values(
    schemas: Subschemas, types: frozenset[str], denied: Sequence[Subschema] = (), *, has_choices: bool = False
) -> list[Any]:
    """Return the listed values that all the schemas allow and none of those in `denied`; there is at least one.

    With `has_choices`, choices are still to be made. A schema that the compiler made is not evaluated, unless it lists
    values: it follows from the denied schemas and from those with choices, which are evaluated in its place.
    """
    keyword, part = _first_listing(schemas)
    values = [part.schema["const"]] if keyword == "const" else part.schema["enum"]
    type_names = types | {"integer"} if "number" in types else types
    all_fit = set(map(type, values)) == {str} and "string" in types
    allowed = values if all_fit else [value for value in values if type_of(value) in type_names]
    if not allowed:
        raise part.location.unsatisfiable("there is no value of the type", keyword=keyword)
    has_choices = has_choices or any(map(_is_internal, schemas))
    others = [
        other
        for other in schemas
        if not _is_internal(other)
        and (
            _restricts_further(other, types, keyword if other is part else "")
            or (has_choices and not _CHOICE_OR_UNEVALUATED.isdisjoint(other.schema))
        )
    ]
    denied = [other for other in denied if not _is_internal(other)]
    if others or denied:
        fits, readings = partial(_is_allowed, others, denied), part.location.compilation.format_readings
        candidates, allowed = allowed, [value for value in allowed if all(fits(reading, value) for reading in readings)]
        if not allowed and any(fits(reading, value) for reading in readings for value in candidates):
            reason = "there is no value that both validators that assert formats and others allow"
            raise part.location.unsatisfiable(f"{reason}; choose with assert_formats", keyword=keyword)
    if not allowed:
        raise part.location.unsatisfiable("there is no value that the other keywords allow", keyword=keyword)
    return list(allowed)


def _is_internal(part: Subschema) -> bool:
    """Tell whether the compiler made a schema, and not to list values."""
    return isinstance(part.schema, InternalSchema) and not lists_values([part])


def _is_allowed(others: Sequence[Subschema], denied: Sequence[Subschema], asserts_formats: bool, value: Any) -> bool:
    """Tell whether all of some schemas allow a value, and none of those that are denied."""
    holds = partial(allows, value=value, asserts_formats=asserts_formats)
    return all(map(holds, others)) and not any(map(holds, denied))


_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=("\n", ":"))
"""Writes a line for each of some plain values."""


def spellings(values: Iterable[object], location: Location, *, keyword: str) -> list[str]:
    """Return the text of each of some plain values: `["né", 1]` → `['"né"', "1"]`."""
    listed = list(values)
    try:
        text = _ENCODER.encode(listed)
        text.encode()
    except ValueError as error:
        if len(listed) > 1:
            return [spelling(value, location, keyword=keyword) for value in listed]
        raise location.refusal(
            f"No JSON text holds {listed[0]!r}", keyword=keyword, remedy="Remove it, or replace it."
        ) from error
    return text[1:-1].split("\n") if listed else []  # no JSON text has a line break inside a plain value


def spelling(value: object, location: Location, *, keyword: str) -> str:
    """Return the text of a plain value: `"né"` → `"né"`, quotes included."""
    return spellings([value], location, keyword=keyword)[0]


@deep
def value_to_pattern(
    value: Any, location: Location, spell: Callable[[Any], str], names: Callable[[Any], Iterable[str]] = iter
) -> Pattern:
    """Return the pattern of a value with the whitespace of its place; `names` puts the names of an object in order."""
    if not isinstance(value, list | dict):
        return literal(spell(value))
    whitespace = location.whitespace
    inner = partial(value_to_pattern, location=location.of_child(), spell=spell, names=names)
    if isinstance(value, list):
        members = list(map(inner, value))
    else:
        members = [concat(literal(spell(name)), whitespace.colon, inner(value[name])) for name in names(value)]
    comma = whitespace.comma(location.depth)
    joined = concat(*[piece for member in members for piece in (comma, member)][1:]) if members else None
    return whitespace.in_brackets("[]" if isinstance(value, list) else "{}", joined, location.depth)


def _restricts_further(part: Subschema, types: frozenset[str], listed: str) -> bool:
    """Tell whether a schema restricts values by more than their type and one `const` or `enum`, `listed`."""
    asserting = any(not types.isdisjoint(ASSERTIONS[keyword]) for keyword in part.schema.keys() & ASSERTIONS.keys())
    return asserting or any(part.has(keyword) for keyword in _LISTING_KEYWORDS if keyword != listed)
