"""The keywords of the specification that forbid something, and of which types they forbid some values."""

from structured.schema.numbers import BOUNDS

EVERY_TYPE = frozenset({"array", "boolean", "null", "number", "object", "string"})
"""An integer is a number."""

NUMBERS = frozenset({"integer", "number"})
_ARRAY, _OBJECT, _STRING = frozenset({"array"}), frozenset({"object"}), frozenset({"string"})

ASSERTIONS: dict[str, frozenset[str]] = {
    **dict.fromkeys(BOUNDS, NUMBERS),
    **dict.fromkeys(("format", "maxLength", "minLength"), _STRING),
    **dict.fromkeys(("additionalItems", "items", "maxItems", "minItems", "prefixItems"), _ARRAY),
    **dict.fromkeys(("additionalProperties", "properties", "required"), _OBJECT),
}
"""The keywords that are honoured, with the types whose values they forbid some of."""

UNSUPPORTED: dict[str, frozenset[str]] = {
    **dict.fromkeys(("disallow", "extends", "if", "not"), EVERY_TYPE | NUMBERS),
    **dict.fromkeys(("divisibleBy", "multipleOf"), NUMBERS),
    **dict.fromkeys(("pattern",), _STRING),
    **dict.fromkeys(("contains", "unevaluatedItems", "uniqueItems"), _ARRAY),
    **dict.fromkeys(
        (
            *("dependencies", "dependentRequired", "dependentSchemas", "maxProperties", "minProperties"),
            *("patternProperties", "propertyNames", "unevaluatedProperties"),
        ),
        _OBJECT,
    ),
}
"""Keywords of the specification that are not honoured yet, with the types whose values they forbid some of."""
