"""The keywords of the specification that forbid something, and of which types they forbid some values."""

from structured.json_schema.numbers import BOUNDS, DIVISORS
from structured.json_schema.strings.typed_strings import PYDANTIC_RULES

EVERY_TYPE = frozenset({"array", "boolean", "null", "number", "object", "string"})
"""An integer is a number."""

NUMBERS = frozenset({"integer", "number"})
_ARRAY, _OBJECT, _STRING = frozenset({"array"}), frozenset({"object"}), frozenset({"string"})

UNEVALUATED = frozenset({"unevaluatedItems", "unevaluatedProperties"})
"""Keywords that ask what the others in the same place have evaluated (core §11)."""

ASSERTIONS: dict[str, frozenset[str]] = {
    **dict.fromkeys((*BOUNDS, *DIVISORS, "not integer", "not multipleOf"), NUMBERS),
    "not enum": NUMBERS | _STRING,
    **dict.fromkeys(("decimal", "format", "maxLength", "minLength", "not format", "not pattern", "pattern"), _STRING),
    **dict.fromkeys(("additionalItems", "items", "maxItems", "minItems", "prefixItems"), _ARRAY),
    **dict.fromkeys(
        ("contains", "maxContains", "minContains", "some item", "unevaluatedItems", "uniqueItems", "not uniqueItems"),
        _ARRAY,
    ),
    **dict.fromkeys(("additionalProperties", "maxProperties", "minProperties", "patternProperties"), _OBJECT),
    **dict.fromkeys(("properties", "propertyNames", "required", "some property", "unevaluatedProperties"), _OBJECT),
}
"""The keywords that are supported, with the types whose values they forbid some of."""

HIDDEN: dict[str, frozenset[str]] = {**dict.fromkeys(PYDANTIC_RULES, _STRING), "reserved_names": _OBJECT}
"""Those of the rules that only the description of a type has."""

INTERNAL = frozenset(
    {
        *("not enum", "not format", "not integer", "not multipleOf", "not pattern", "not uniqueItems"),
        *("some item", "some property"),
    }
)
"""Keywords of schemas that the compiler made; in those of others they mean nothing."""

UNSUPPORTED: dict[str, frozenset[str]] = {
    **dict.fromkeys(("disallow", "extends"), EVERY_TYPE | NUMBERS),
}
"""Keywords of the specification that are not supported yet, with the types whose values they forbid some of."""
