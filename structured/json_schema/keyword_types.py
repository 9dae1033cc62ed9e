"""Types: those whose values a keyword restricts, those that schemas allow, and those of the values of keywords."""

from structured.json_schema.document.location import MAPPINGS, InternalSchema, Schema, Subschema, Subschemas
from structured.json_schema.numbers.bounds import BOUNDS, DIVISORS
from structured.json_schema.strings.typed_strings import PYDANTIC_RULES

DISJOINT_TYPES = frozenset({"array", "boolean", "null", "number", "object", "string"})
"""An integer is a number."""

NUMBERS = frozenset({"integer", "number"})
ARRAY, OBJECT, STRING = frozenset({"array"}), frozenset({"object"}), frozenset({"string"})

UNEVALUATED = frozenset({"unevaluatedItems", "unevaluatedProperties"})
"""Keywords that depend on what the others in the same place have evaluated (core §11)."""

ASSERTIONS: dict[str, frozenset[str]] = {
    **dict.fromkeys((*BOUNDS, *DIVISORS, "decimal", "not integer", "not multipleOf"), NUMBERS),
    "not enum": NUMBERS | STRING,
    **dict.fromkeys(("format", "maxLength", "minLength", "not format", "not pattern", "pattern"), STRING),
    **dict.fromkeys(("additionalItems", "items", "maxItems", "minItems", "prefixItems"), ARRAY),
    **dict.fromkeys(("contains", "maxContains", "minContains", "some item"), ARRAY),
    **dict.fromkeys(("not uniqueItems", "unevaluatedItems", "uniqueItems"), ARRAY),
    **dict.fromkeys(("additionalProperties", "maxProperties", "minProperties", "patternProperties"), OBJECT),
    **dict.fromkeys(("properties", "propertyNames", "required", "some property", "unevaluatedProperties"), OBJECT),
}
"""The supported keywords, with the types whose values they restrict."""

HIDDEN: dict[str, frozenset[str]] = {**dict.fromkeys(PYDANTIC_RULES, STRING), "reserved_names": OBJECT}
"""Supported keywords that only the description of a type has, with the types whose values they restrict."""

INTERNAL = frozenset(keyword for keyword in ASSERTIONS if " " in keyword)
"""Keywords of schemas that the compiler made. In a user's schema they mean nothing."""

UNSUPPORTED: dict[str, frozenset[str]] = {**dict.fromkeys(("disallow", "extends"), DISJOINT_TYPES | NUMBERS)}
"""Keywords of the specification that are not supported, with the types whose values they restrict."""


TYPE_NAMES = ("array", "boolean", "integer", "null", "number", "object", "string")
"""The types that a schema can name."""

_ALONE = {name: frozenset({name, "integer"} if name == "number" else {name}) for name in TYPE_NAMES}
ALL_TYPES = frozenset(TYPE_NAMES)


def named_types(schema: Schema) -> frozenset[str]:
    """Return the types that a schema names, with integers among the numbers; all if it names none."""
    if "type" not in schema:
        return ALL_TYPES
    named = schema["type"]
    if isinstance(named, str):
        return _ALONE.get(named, frozenset())
    names = [name for name in named if isinstance(name, str)] if isinstance(named, list) else []
    return frozenset().union(*(_ALONE.get(name, ()) for name in names))


def allowed_types(schemas: Subschemas) -> frozenset[str]:
    """Return the types that all schemas allow (validation §6.1.1); an integer is a number."""
    allowed = ALL_TYPES
    for part in schemas:
        if "type" in part.schema:
            named = part.schema["type"]
            unknown = [name for name in (named if isinstance(named, list) else [named]) if name not in TYPE_NAMES]
            if unknown:
                raise part.location.refusal(
                    f"The type {unknown[0]!r} is not supported",
                    keyword="type",
                    remedy=f"Use one of {', '.join(TYPE_NAMES)}.",
                )
            allowed &= named_types(part.schema)
    return allowed - {"integer"} if "number" in allowed else allowed


_PYTHON_TYPES = {"boolean": bool, "integer": int, "array": list, "null": type(None), "object": dict, "string": str}
"""In an order in which a `bool`, which is an `int`, is found first."""


def type_of(value: object) -> str:
    """Return the narrowest type of a value: `True` → `"boolean"`, `2` → `"integer"`, `2.0` → `"integer"`."""
    if isinstance(value, float):
        return "integer" if value.is_integer() else "number"
    return next(name for name, kind in _PYTHON_TYPES.items() if isinstance(value, kind))


KEYWORD_SHAPES: dict[str, tuple[type | tuple[type, ...], str]] = {
    **dict.fromkeys(("$defs", "definitions", "patternProperties", "properties"), (MAPPINGS, "an object of schemas")),
    **dict.fromkeys(("dependencies", "dependentRequired", "dependentSchemas"), (MAPPINGS, "an object of rules")),
    **dict.fromkeys(("allOf", "anyOf", "oneOf", "prefixItems"), (list, "a list of schemas")),
    **dict.fromkeys(("$dynamicRef", "$recursiveRef", "$ref", "format", "pattern"), (str, "a string")),
    "enum": (list, "a list of values"),
    "required": (list, "a list of names"),
}
"""The type of a keyword's value, where it is not a schema, number or flag."""


def check_shape(part: Subschema) -> None:
    """Refuse a value that is not a schema, and a keyword whose value has the wrong type."""
    schema, location = part.schema, part.location
    if id(schema) in location.compilation.checked_schema_ids:
        return
    if not isinstance(schema, MAPPINGS):
        raise location.refusal(f"{schema!r} is not a schema", remedy="Use an object, true or false.")
    for keyword, value in schema.items():
        shape = KEYWORD_SHAPES.get(keyword)
        if shape is not None and not isinstance(value, shape[0]):
            raise location.refusal(f"{value!r} is not {shape[1]}", keyword=keyword, remedy="See the specification.")
    for keyword in ("required", "type"):
        names = schema.get(keyword, "")
        if isinstance(names, list) and not all(isinstance(name, str) for name in names):
            raise location.refusal(f"{names!r} is not a list of names", keyword=keyword, remedy="List strings.")
    if not isinstance(schema.get("type", ""), (str, list)):
        raise location.refusal(f"{schema['type']!r} is not a type", keyword="type", remedy="Name it by a string.")
    if not isinstance(schema, InternalSchema):  # which may be freed, and its identity used again
        location.compilation.checked_schema_ids.add(id(schema))
