"""The values that `const` and `enum` list enter; the pattern of their JSON texts leaves (validation §6.1.2, §6.1.3)."""

import json
import re
from collections.abc import Callable, Iterable
from functools import cache, partial
from typing import Any
from urllib.parse import quote

from structured.errors import SchemaError
from structured.pattern import Pattern, alternation, concat, literal, words
from structured.schema.assertions import ASSERTIONS
from structured.schema.library import ROOT_URI
from structured.schema.place import Place, Subschema, Subschemas
from structured.schema.references import REFERENCES
from structured.schema.resources import pointer_of
from structured.schema.strings import SPECIFIED_FORMATS, UNSUPPORTED_FORMATS

PYTHON_TYPES: dict[str, type | tuple[type, ...]] = {
    "array": list,
    "integer": int,
    "null": type(None),
    "number": (int, float),
    "object": dict,
    "string": str,
}
"""What Python reads the values of each type as; `bool` is told apart before, since it is an `int`."""

_LISTING = ("const", "enum")


def listed_values(parts: Subschemas, types: frozenset[str]) -> Pattern:
    """Return the values that the first `const` or `enum` lists and all the other keywords allow."""
    keyword, part = next((key, part) for part in parts for key in _LISTING if key in part.schema)
    values = [part.schema["const"]] if keyword == "const" else part.schema["enum"]
    kinds = set(map(type, values))
    allowed = values if kinds == {str} and "string" in types else [value for value in values if _has_type(value, types)]
    if not allowed:
        raise part.place.unsatisfiable("there is no value of the type", keyword=keyword)
    others = [other for other in parts if _looks_further(other, types, keyword if other is part else "")]
    if others:
        checks = [_check_of(other) for other in others]
        allowed = [value for value in allowed if all(allows(value) for allows in checks)]
    if not allowed:
        raise part.place.unsatisfiable("there is no value that the other keywords allow", keyword=keyword)
    if kinds.isdisjoint((list, dict)):
        return words(spellings(allowed, part.place, keyword=keyword))
    return alternation(*(written_value(value, part.place, keyword=keyword) for value in allowed))


def spellings(values: Iterable[object], place: Place, *, keyword: str) -> list[str]:
    """Return the one way in which each of some plain values is written: `["né", 1]` → `['"né"', "1"]`."""
    listed = list(values)
    try:
        text = json.dumps(listed, ensure_ascii=False, allow_nan=False, separators=("\n", ":"))
        text.encode()
    except ValueError as error:
        wrong = listed if len(listed) != 1 else listed[0]
        if len(listed) > 1:
            return [spelling(value, place, keyword=keyword) for value in listed]
        raise place.refusal(
            f"No JSON text holds {wrong!r}", keyword=keyword, remedy="Remove it, or replace it."
        ) from error
    return text[1:-1].split("\n") if listed else []  # no JSON text has a line break inside a plain value


def spelling(value: object, place: Place, *, keyword: str) -> str:
    """Return the one way in which a plain value is written: `"né"` → `"né"`, quotes included."""
    return spellings([value], place, keyword=keyword)[0]


def written_value(value: Any, place: Place, *, keyword: str) -> Pattern:
    """Return the pattern of a value with the whitespace of the place; an object's keys are in the order given."""
    if not isinstance(value, list | dict):
        return literal(spelling(value, place, keyword=keyword))
    opening, closing = "[]" if isinstance(value, list) else "{}"
    whitespace, depth = place.whitespace, place.depth
    if not value:
        return concat(literal(opening), whitespace.edge, literal(closing))
    inner = place.inside()
    members = []
    for member in value:
        name = [] if isinstance(value, list) else [literal(spelling(member, place, keyword=keyword)), whitespace.colon]
        inside = member if isinstance(value, list) else value[member]
        members.append(concat(*name, written_value(inside, inner, keyword=keyword)))
    comma = whitespace.comma(depth)
    joined = [piece for member in members for piece in (comma, member)][1:]
    return concat(literal(opening), whitespace.opening(depth), *joined, whitespace.closing(depth), literal(closing))


def type_of(value: object) -> str:
    """Return the narrowest type of a value: `True` → `"boolean"`, `2` → `"integer"`, `2.0` → `"integer"`."""
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, float):
        return "integer" if value.is_integer() else "number"
    return next(name for name, kind in PYTHON_TYPES.items() if isinstance(value, kind))


def _has_type(value: object, types: frozenset[str]) -> bool:
    name = type_of(value)
    return name in types or (name == "integer" and "number" in types)


def _looks_further(part: Subschema, types: frozenset[str], listed: str) -> bool:
    """Tell whether a schema says more of values than their type and, by one keyword, which they are."""
    asserting = any(not types.isdisjoint(ASSERTIONS[keyword]) for keyword in part.schema.keys() & ASSERTIONS.keys())
    return asserting or any(keyword in part.schema for keyword in _LISTING if keyword != listed)


def _check_of(part: Subschema) -> Callable[[object], bool]:
    """Return what tells whether a schema allows a value, in the place where it stands."""
    from jsonschema.validators import validator_for

    place = part.place
    kind = validator_for({"$schema": place.draft.metaschema})
    if not _refers(part.schema):
        return lambda value: _allows(part, kind, kind(part.schema, format_checker=_format_checker()), value)
    if place.scope.outer or place.compilation.library.is_dynamic:  # `jsonschema` takes any reference for dynamic
        raise place.refusal(
            "References beside listed values are not supported where names are dynamic",
            remedy="Use $anchor in place of $dynamicAnchor, or remove what stands beside the listed values.",
        )
    there = f"{place.scope.resource.document or ROOT_URI}#{quote(pointer_of(place.path))}"
    registry = place.compilation.library.registry
    validator = kind({"$ref": there}, registry=registry, format_checker=_format_checker())
    return lambda value: _allows(part, kind, validator, value)


def _refers(value: object) -> bool:
    """Tell whether there may be a reference in a schema."""
    if isinstance(value, list):
        return any(map(_refers, value))
    return isinstance(value, dict) and (not value.keys().isdisjoint(REFERENCES) or any(map(_refers, value.values())))


def _allows(part: Subschema, kind: Any, validator: Any, value: object) -> bool:
    """Tell whether a schema allows a value."""
    try:
        kind.check_schema(part.schema)
        return bool(validator.is_valid(value))
    except SchemaError as error:
        raise part.place.refusal(error.problem, keyword=error.keyword, remedy=error.remedy) from error
    # Whatever is wrong with the schema or with one that it refers to comes out as an error of some kind.
    except Exception as error:
        raise part.place.refusal(
            f"The schema is malformed, or refers to one that is: {str(error).partition(chr(10))[0]}",
            remedy="Correct it, or remove what stands beside the listed values.",
        ) from error


@cache
def _format_checker() -> Any:
    """Return the formats as they are honoured elsewhere: those of `jsonschema` depend on what else is installed."""
    from jsonschema import FormatChecker

    checker = FormatChecker(formats=())
    for name, pattern in SPECIFIED_FORMATS.items():
        checker.checks(name)(partial(_has_format, re.compile(str(pattern))))
    for name in UNSUPPORTED_FORMATS:
        checker.checks(name)(partial(_refuse_format, name))
    return checker


def _has_format(pattern: re.Pattern[str], value: object) -> bool:
    return not isinstance(value, str) or pattern.fullmatch(json.dumps(value, ensure_ascii=False)) is not None


def _refuse_format(name: str, value: object) -> bool:
    if isinstance(value, str):
        raise SchemaError(
            f"The format {name!r} of listed values is not supported yet", keyword="format", remedy="Remove it."
        )
    return True
