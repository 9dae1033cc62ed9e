"""Types: those whose values a keyword restricts, and those that schemas allow (validation §6.1.1)."""

from structured.json_schema.document.location import Subschema, Subschemas
from structured.json_schema.numbers.bounds import BOUNDS, DIVISORS
from structured.json_schema.strings.typed_strings import PYDANTIC_RULES

EVERY_TYPE = frozenset({"array", "boolean", "null", "number", "object", "string"})
"""An integer is a number."""

NUMBERS = frozenset({"integer", "number"})
_ARRAY, _OBJECT, _STRING = frozenset({"array"}), frozenset({"object"}), frozenset({"string"})

UNEVALUATED = frozenset({"unevaluatedItems", "unevaluatedProperties"})
"""Keywords that depend on what the others in the same place have evaluated (core §11)."""

ASSERTIONS: dict[str, frozenset[str]] = {
    **dict.fromkeys((*BOUNDS, *DIVISORS, "not integer", "not multipleOf"), NUMBERS),
    **dict.fromkeys(("decimal", "not enum"), NUMBERS | _STRING),
    **dict.fromkeys(("format", "maxLength", "minLength", "not format", "not pattern", "pattern"), _STRING),
    **dict.fromkeys(("additionalItems", "items", "maxItems", "minItems", "prefixItems"), _ARRAY),
    **dict.fromkeys(
        ("contains", "maxContains", "minContains", "some item", "unevaluatedItems", "uniqueItems", "not uniqueItems"),
        _ARRAY,
    ),
    **dict.fromkeys(("additionalProperties", "maxProperties", "minProperties", "patternProperties"), _OBJECT),
    **dict.fromkeys(("properties", "propertyNames", "required", "some property", "unevaluatedProperties"), _OBJECT),
}
"""The supported keywords, with the types whose values they restrict."""

HIDDEN: dict[str, frozenset[str]] = {**dict.fromkeys(PYDANTIC_RULES, _STRING), "reserved_names": _OBJECT}
"""Supported keywords that only the description of a type has, with the types whose values they restrict."""

INTERNAL = frozenset(
    {
        *("not enum", "not format", "not integer", "not multipleOf", "not pattern", "not uniqueItems"),
        *("some item", "some property"),
    }
)
"""Keywords of schemas that the compiler made. In a user's schema they mean nothing."""

UNSUPPORTED: dict[str, frozenset[str]] = {
    **dict.fromkeys(("disallow", "extends"), EVERY_TYPE | NUMBERS),
}
"""Keywords of the specification that are not supported, with the types whose values they restrict."""


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
    """Return the types that both sides allow: `{number}`, `{integer, null}` → `{integer}`."""
    common = left & right
    whole = "integer" in left | right and not (left.isdisjoint(NUMBERS) or right.isdisjoint(NUMBERS))
    return common | {"integer"} if whole else common
