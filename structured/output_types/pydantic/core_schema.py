"""Facts about a core schema: whether its values have a hash, and which length they have."""

from collections.abc import Iterable, Mapping
from typing import Any

from structured.output_types.pydantic.functions import changes_length, is_decoder

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
_DECODED = "decoded_min_length", "decoded_max_length"
_COUNTED = {
    "bytes": ("min_length", "max_length"),
    "str": ("minLength", "maxLength"),
    **dict.fromkeys(("frozenset", "generator", "list", "set", "tuple"), ("minItems", "maxItems")),
    **dict.fromkeys(("dict", "typed-dict"), ("minProperties", "maxProperties")),
}
"""The keywords of the least and of the greatest length of a value; of bytes, they are Pydantic's own."""


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


_RESTRICTING = ("regex_engine", "str_max_length", "str_min_length", "str_strip_whitespace", "val_json_bytes")


def lacks_configuration(definition: Any) -> bool:
    """Tell whether a definition has strings or bytes, and no configuration of its own: an alias, a plain dataclass.

    By which model's configuration those are read depends on which validators Pydantic has built before.
    """
    if isinstance(definition, list | tuple):
        return any(map(lacks_configuration, definition))
    if not isinstance(definition, dict):
        return False
    kind = definition.get("type")
    if kind in ("enum", "model") or getattr(definition.get("cls"), "__pydantic_config__", None) is not None:
        return False
    return kind in ("bytes", "str") or any(map(lacks_configuration, definition.values()))


def restrictions(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a configuration says of the strings and bytes that are valid."""
    return {name: config[name] for name in _RESTRICTING if config.get(name)}


def length_keywords(schema: CoreSchema, shown: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return the keywords that tell the length of a value, shown by a JSON Schema; None if none does.

    `list[int]` → `("minItems", "maxItems")`, `Base64Bytes` → `("decoded_min_length", "decoded_max_length")`
    """
    while schema["type"] in _INNER and _INNER[schema["type"]] in schema:
        if schema["type"].startswith("function") and changes_length(schema["function"]["function"]):
            return _DECODED if is_decoder(schema["function"]["function"]) else None
        schema = schema[_INNER[schema["type"]]]
    return _DECODED if schema["type"] == "bytes" and "val_json_bytes" in shown else _COUNTED.get(schema["type"])
