"""Core schemas of Pydantic: the functions in them, the names and lengths of values, and what their author overrides.

`json_schema_extra`, `WithJsonSchema` and `__get_pydantic_json_schema__` change the JSON Schema, and not the validation.
What they add is enforced as one more rule, or refused as an unknown keyword. What they change or remove would let
texts be written that are rejected. Where a function reads the value first, they are all that is known, and believed.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from pydantic.types import Base64Encoder, Base64UrlEncoder

from structured.json_schema.document.location import VALIDATORS

FUNCTION = "function"
"""The keyword that names a function of a library if no format says which values it accepts."""

_LIBRARIES = frozenset({"ipaddress", "pydantic", "pydantic_extra_types"})

_SAID_BY_A_FORMAT = frozenset(
    {
        *("EmailStr._validate", "NameEmail._validate", "path_validator", "ByteSize._validate"),
        "wrap_val",
        *("SecretStr", "SecretBytes", "Secret.__get_pydantic_core_schema__.<locals>.<lambda>"),
        *("IPv4Address", "IPv4Interface", "IPv4Network", "IPv6Address", "IPv6Interface", "IPv6Network"),
        *("IPvAnyAddress._validate", "IPvAnyInterface._validate", "IPvAnyNetwork._validate"),
        *("ip_v4_address_validator", "ip_v4_interface_validator", "ip_v4_network_validator"),
        *("ip_v6_address_validator", "ip_v6_interface_validator", "ip_v6_network_validator"),
        *("pattern_either_validator", "pattern_str_validator", "pattern_bytes_validator"),
        *("validate_str_is_valid_iana_tz", "defaultdict_validator", "sequence_validator"),
        "forbid_inf_nan_check",
    }
)
"""Functions of Pydantic that accept whatever the schema beside them allows."""

_DECODERS = frozenset({"EncodedBytes.decode", "EncodedStr.decode_str"})
_CHANGES_LENGTH = _DECODERS | {"wrap_val", "ByteSize._validate"}
"""Functions of Pydantic after which a value is no longer as long as the text."""

_WRITTEN_BY_USERS = frozenset({"val_func"})
"""Functions that Pydantic makes of those that a user wrote: `annotated_types.Predicate`."""


def said_of(function: Any) -> dict[str, Any]:
    """Return the keywords that represent a function: a note, the constraints that it checks, or its name.

    `partial(min_length_validator, min_length=2)` → `{"min_length": 2}`
    """
    plain = function.func if isinstance(function, partial) else function
    name = _qualified_name(plain)
    if _library(plain) not in _LIBRARIES or name in _WRITTEN_BY_USERS:
        own = name.rpartition("<locals>.")[2]
        return {VALIDATORS: ["Predicate" if own in _WRITTEN_BY_USERS else own]}
    if is_decoder(plain):
        return {"decodes_to": "str"} if name == "EncodedStr.decode_str" else {}
    if name in _SAID_BY_A_FORMAT:
        return {}
    if isinstance(function, partial) and function.keywords:
        return {key: value for key, value in function.keywords.items() if value is not None}
    return {FUNCTION: name}


def _is_of_pydantic(function: Any) -> bool:
    """Tell whether a function that makes a JSON Schema is Pydantic's own, and was not configured by a user."""
    return _library(function) == "pydantic" and getattr(function, "__module__", "") != "pydantic.json_schema"


def _library(function: Any) -> str:
    return str(getattr(function, "__module__", "")).partition(".")[0]


def is_decoder(function: Any) -> bool:
    """Tell whether a function decodes base 64, as Pydantic's `Base64Bytes` and `Base64Str` do."""
    if _library(function) != "pydantic" or _qualified_name(function) not in _DECODERS:
        return False
    return function.__self__.encoder in (Base64Encoder, Base64UrlEncoder)


def said_of_length(function: Any) -> dict[str, int]:
    """Return the least or the greatest length that a function of Pydantic checks: `{"min_length": 2}`."""
    if not isinstance(function, partial) or _library(function.func) not in _LIBRARIES:
        return {}
    return {key: length for key, length in function.keywords.items() if key in ("max_length", "min_length")}


def reads_byte_sizes(function: Any) -> bool:
    """Tell whether a function is that of Pydantic's `ByteSize`."""
    return _library(function) == "pydantic" and _qualified_name(function) == "ByteSize._validate"


def noted(shown: Mapping[str, Any], keywords: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema with the keywords of a function; names of validators are added to those that it has."""
    names = [*shown.get(VALIDATORS, []), *keywords.get(VALIDATORS, [])]
    keywords = {keyword: value for keyword, value in keywords.items() if keyword != VALIDATORS}
    return {**shown, **keywords, **({VALIDATORS: names} if names else {})}


def _qualified_name(function: Any) -> str:
    name = str(getattr(function, "__qualname__", type(function).__qualname__))
    within, _, own = name.rpartition("<locals>.")
    return name if own == "<lambda>" and within else own


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
    """Return the schema that a wrapping schema validates JSON texts by."""
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
    """Return the entries of a configuration that restrict strings and bytes."""
    return {name: config[name] for name in _RESTRICTING if config.get(name)}


def length_keywords(schema: CoreSchema, shown: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return the keywords that tell the length of a value, shown by a JSON Schema; None if none does.

    `list[int]` → `("minItems", "maxItems")`, `Base64Bytes` → `("decoded_min_length", "decoded_max_length")`
    """
    while schema["type"] in _INNER and _INNER[schema["type"]] in schema:
        function = schema["function"]["function"] if schema["type"].startswith("function") else None
        plain = function.func if isinstance(function, partial) else function
        if function is not None and _qualified_name(plain) in _CHANGES_LENGTH:
            return _DECODED if is_decoder(function) else None
        schema = schema[_INNER[schema["type"]]]
    return _DECODED if schema["type"] == "bytes" and "val_json_bytes" in shown else _COUNTED.get(schema["type"])


@dataclass(frozen=True, slots=True)
class Spelling:
    """The names of one field in the input.

    `written` is the one that texts have. `preferred` are names at which an alias that is tried before it begins, and
    `looked_up` all names at which one begins.
    """

    written: str
    preferred: frozenset[str]
    looked_up: frozenset[str]

    @classmethod
    def of(cls, name: str, alias: Any, *, by_name: bool, by_alias: bool, claimed: Collection[str] = ()) -> "Spelling":
        """Return the names of a field, whose alias is a name, a path, or a list of paths that are tried in turn.

        It is written by the first plain name that is not `claimed` by another field, or else by the first.
        `AliasChoices(AliasPath("names", 0), "name")` → written as `name`, `names` being preferred
        """
        paths = _paths(alias) if alias is not None and by_alias else []
        if alias is None or by_name:
            paths.append([name])
        heads = [str(path[0]) for path in paths]
        plain = [at for at, path in enumerate(paths) if len(path) == 1]
        chosen = next((at for at in plain if heads[at] not in claimed), plain[0] if plain else 0)
        return cls(heads[chosen], frozenset(heads[:chosen]), frozenset(heads))


def _paths(alias: Any) -> list[list[Any]]:
    """Return the paths of an alias: `"a"` → `[["a"]]`, `["a", 0]` → `[["a", 0]]`."""
    if isinstance(alias, str):
        return [[alias]]
    return [list(path) for path in alias] if alias and isinstance(alias[0], list) else [list(alias)]


_ANNOTATIONS = frozenset(
    {"$comment", "default", "deprecated", "description", "examples", "readOnly", "title", "writeOnly"}
)
_UNKNOWN_INPUT = frozenset(
    {"any", "callable", "custom-error", "function-before", "function-plain", "function-wrap", "is-instance"}
)
_BY_THE_AUTHOR = ("pydantic_js_functions", "pydantic_js_annotation_functions")


def has_claims(schema: Mapping[str, Any]) -> bool:
    """Tell whether the author of a type changes its JSON Schema; a mark of this library only adds a keyword."""
    metadata = schema.get("metadata") or {}
    functions = [function for key in _BY_THE_AUTHOR for function in metadata.get(key, ())]
    return "pydantic_js_extra" in metadata or not all(
        _is_of_pydantic(function) or _library(function) == "structured" for function in functions
    )


def is_open(schema: Mapping[str, Any]) -> bool:
    """Tell whether only the author knows which values are read: nothing is validated, or a function comes first."""
    while schema["type"] in ("default", "nullable", "model-field", "dataclass-field", "typed-dict-field"):
        schema = schema["schema"]
    if schema["type"] == "json-or-python":
        return is_open(schema["json_schema"])
    return schema["type"] in _UNKNOWN_INPUT


def without_claims(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a core schema without a name, and without what its author says of the JSON Schema."""
    metadata = dict(schema["metadata"])
    metadata.pop("pydantic_js_extra", None)
    for key in _BY_THE_AUTHOR:
        metadata[key] = [function for function in metadata.get(key, ()) if _is_of_pydantic(function)]
    return {**schema, "metadata": metadata} | ({} if "ref" not in schema else {"ref": f"{schema['ref']} itself"})


def contradicts(shown: Mapping[str, Any], truth: Mapping[str, Any]) -> bool:
    """Tell whether a JSON Schema lacks a rule of another, or has it otherwise."""
    return any(shown.get(keyword) != rule for keyword, rule in truth.items() if keyword not in _ANNOTATIONS)
