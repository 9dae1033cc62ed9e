"""The types of a value that satisfies some schemas together (validation §6.1.1)."""

from structured.json_schema.assertions import EVERY_TYPE, NUMBERS
from structured.json_schema.document.location import Subschema, Subschemas

TYPE_NAMES = ("array", "boolean", "integer", "null", "number", "object", "string")
"""The types that a schema can name."""

_ALONE = {name: frozenset({name}) for name in TYPE_NAMES}


def allowed_types(schemas: Subschemas) -> frozenset[str]:
    """Return the types that all schemas allow (validation §6.1.1); an integer is a number."""
    allowed = EVERY_TYPE
    for part in schemas:
        if "type" in part.schema:
            named = _named_types(part)
            allowed = named if allowed is EVERY_TYPE else _common_types(allowed, named)
    return allowed


def _named_types(part: Subschema) -> frozenset[str]:
    named = part.schema["type"]
    if isinstance(named, str) and named in _ALONE:
        return _ALONE[named]
    names = named if isinstance(named, list) else [named]
    for name in names:
        if not isinstance(name, str) or name not in TYPE_NAMES:
            raise part.location.refusal(
                f"The type {name!r} is not supported", keyword="type", remedy=f"Use one of {', '.join(TYPE_NAMES)}."
            )
    return frozenset(names) - {"integer"} if "number" in names else frozenset(names)


def _common_types(left: frozenset[str], right: frozenset[str]) -> frozenset[str]:
    """Return what is of a type on both sides: `{number}`, `{integer, null}` → `{integer}`."""
    common = left & right
    whole = "integer" in left | right and not (left.isdisjoint(NUMBERS) or right.isdisjoint(NUMBERS))
    return common | {"integer"} if whole else common
