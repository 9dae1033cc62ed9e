"""Values of keywords: the types that they must have, and the limits of lengths that they set."""

from collections.abc import Mapping

from structured.json_schema.document.location import InternalSchema, Subschema, Subschemas

UNREACHABLE_LENGTH = 1 << 30
"""No text is as long as this, in any unit."""

KEYWORD_SHAPES: dict[str, tuple[type, str]] = {
    **dict.fromkeys(("$defs", "definitions", "patternProperties", "properties"), (Mapping, "an object of schemas")),
    **dict.fromkeys(("dependencies", "dependentRequired", "dependentSchemas"), (Mapping, "an object of rules")),
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
    if not isinstance(schema, Mapping):
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


Limits = tuple[int, int | None]
"""The least and the greatest length; None means no limit."""


def length_limits(schemas: Subschemas, at_least: str, at_most: str) -> Limits:
    """Return the limits of a length that two keywords of some schemas set together.

    `{"minLength": 2}`, `"minLength"`, `"maxLength"` → `(2, None)`
    """
    low = max(part.length(at_least) or 0 for part in schemas)
    upper = [part.length(at_most) for part in schemas]
    high = min((most for most in upper if most is not None and most < UNREACHABLE_LENGTH), default=None)
    if low >= UNREACHABLE_LENGTH or (high is not None and low > high):
        unit = _UNITS[at_least]
        count = f"{low:,}" if low >= UNREACHABLE_LENGTH else f"at least {low:,} and at most {high:,}"
        part = next(part for part in schemas if part.length(at_least) == low)
        raise part.location.unsatisfiable(f"no value has {count} {unit}", keyword=at_least)
    return low, high


_UNITS = {"minItems": "items", "minLength": "characters", "minProperties": "properties"}
"""The units of lengths, by the keyword of the lower limit."""
