"""Scalar schemas: those of strings, numbers, booleans and null that say nothing about where they are.

Most leaves of schemas are of a few kinds, such as `{"type": "string"}` with one description or another. Their patterns
are made once in a process.
"""

from collections.abc import Callable, Hashable

from structured.json_schema.document.location import ANNOTATIONS, MARKS, Reading, Subschema, Subschemas
from structured.json_schema.numbers.bounds import BOUNDS, DIVISORS
from structured.regex import Pattern

_TYPES = frozenset({"boolean", "integer", "null", "number", "string"})
_RESTRICTING = frozenset({"type", "enum", "format", "maxLength", "minLength", "pattern", *BOUNDS, *DIVISORS})
_KEYWORDS = _RESTRICTING | ANNOTATIONS - MARKS
_TYPES_OF_VALUES = frozenset({float, int, str})

MAX_VALUES = 64
"""The most values of an enum whose pattern is kept."""

MAX_KEPT = 4096

_patterns: dict[Hashable, Pattern] = {}


def scalar_content(schemas: Subschemas) -> Hashable:
    """Return all that the pattern of a scalar schema depends on; None for other schemas, or several."""
    schema, location = schemas[0].schema, schemas[0].location
    if len(schemas) > 1 or type(schema) is not dict or type(schema.get("type")) is not str:
        return None
    compilation = location.compilation
    is_kept = compilation.reading is Reading.SPECIFICATION and compilation.canonical_form is None
    if not is_kept or schema["type"] not in _TYPES or not schema.keys() <= _KEYWORDS:
        return None
    content: list[Hashable] = [location.draft, compilation.asserts_formats]
    for keyword, value in schema.items():
        if keyword in _RESTRICTING:
            listed = tuple(value) if type(value) is list and len(value) <= MAX_VALUES else (value,)
            if not set(map(type, listed)) <= _TYPES_OF_VALUES:
                return None
            content.append((keyword, type(value), *map(type, listed), listed))
    return tuple(content)


def kept_pattern(content: Hashable, part: Subschema, make: Callable[[], Pattern]) -> Pattern:
    """Return the pattern of a scalar schema with some content, the same node each time."""
    pattern = _patterns.get(content)
    if pattern is None:
        if len(_patterns) >= MAX_KEPT:
            _patterns.clear()
        pattern = _patterns[content] = make()
    part.location.compilation.checked_schema_ids.add(id(part.schema))
    return pattern
