"""A part of a core schema enters; what has to be known of its values leaves: have they a hash, what is their length."""

from collections.abc import Iterable, Mapping
from typing import Any

from structured.schema.hidden.functions import changes_length

CoreSchema = Mapping[str, Any]
"""A core schema of Pydantic: a dictionary with a `type`."""

_INNER = {
    **dict.fromkeys(("default", "nullable", "custom-error", "definitions", "missing-sentinel"), "schema"),
    **dict.fromkeys(("function-before", "function-after", "function-wrap"), "schema"),
    "json-or-python": "json_schema",
    "lax-or-strict": "lax_schema",
}
"""Kinds of schema that stand for another, and where that is."""

_SCALARS = frozenset(
    {
        *("bool", "bytes", "complex", "date", "datetime", "decimal", "enum", "float", "fraction", "function-plain"),
        *("int", "literal", "multi-host-url", "none", "str", "time", "timedelta", "url", "uuid", "frozenset"),
    }
)
_COUNTED = frozenset({"str", "list", "set", "frozenset", "dict", "deque", "tuple", "generator", "typed-dict"})


def inner(schema: CoreSchema) -> CoreSchema:
    """Return the schema that a schema stands for, as JSON texts are validated."""
    while schema["type"] in _INNER and _INNER[schema["type"]] in schema:
        schema = schema[_INNER[schema["type"]]]
    return schema


def has_hash(schema: CoreSchema, definitions: Mapping[str, CoreSchema], seen: frozenset[str] = frozenset()) -> bool:
    """Tell whether every value of a schema surely has a hash, as the items of a set must."""
    kind = schema["type"]
    if kind == "definition-ref":
        name = schema["schema_ref"]
        return name in seen or (name in definitions and has_hash(definitions[name], definitions, seen | {name}))
    if kind in _SCALARS:
        return True
    if kind in ("model", "dataclass") and getattr(schema["cls"], "__hash__", None) is None:
        return False
    return all(has_hash(part, definitions, seen) for part in _parts(schema)) and kind in _MADE_OF_PARTS


_MADE_OF_PARTS = frozenset(
    {*_INNER, "dataclass", "dataclass-args", "json", "model", "model-fields", "named-tuple", "tagged-union", "tuple"}
) | {"union"}


def _parts(schema: CoreSchema) -> Iterable[CoreSchema]:
    """Return the schemas of the values that a value consists of, or may be."""
    kind = schema["type"]
    if kind in _INNER:
        return [schema[_INNER[kind]]]
    if kind == "union":
        return [choice[0] if isinstance(choice, tuple) else choice for choice in schema["choices"]]
    if kind == "tagged-union":
        return list(schema["choices"].values())
    if kind == "tuple":
        return list(schema["items_schema"])
    if kind == "json":
        return [schema.get("schema", {"type": "any"})]
    fields = schema.get("fields", ())
    if kind in ("model-fields", "dataclass-args", "named-tuple"):
        return [field["schema"] for field in (fields.values() if isinstance(fields, Mapping) else fields)]
    return [schema["schema"]] if "schema" in schema else []


def length_unit(schema: CoreSchema) -> str | None:
    """Return what the length of a value counts: `"bytes"`, or `"items"` as the JSON Schema has them; None if neither.

    `Base64Bytes` → None, since the text is longer than the value
    """
    while schema["type"] in _INNER and _INNER[schema["type"]] in schema:
        if schema["type"].startswith("function") and changes_length(schema["function"]["function"]):
            return None
        schema = schema[_INNER[schema["type"]]]
    return "bytes" if schema["type"] == "bytes" else "items" if schema["type"] in _COUNTED else None
