"""Core schemas of Pydantic: their functions, the names, lengths and texts of values, and what their author overrides.

`json_schema_extra`, `WithJsonSchema` and `__get_pydantic_json_schema__` change the JSON Schema, and not the validation.
What they add is enforced as one more rule, or refused as an unknown keyword. What they change or remove would let
texts be written that are rejected. Where a function reads the value first, they are all that is known, and believed.
"""

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from pydantic.types import Base64Encoder, Base64UrlEncoder
from pydantic_core import SchemaError, SchemaValidator, ValidationError

from structured.json_schema.document.location import VALIDATORS

FUNCTION = "function"
"""The keyword that names a function of a library if no format says which values it accepts."""

_LIBRARIES = frozenset({"ipaddress", "pydantic", "pydantic_extra_types"})

_DESCRIBED_BY_FORMAT = frozenset(
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
_LENGTH_CHANGING_FUNCTIONS = _DECODERS | {"wrap_val", "ByteSize._validate"}
"""Functions of Pydantic after which a value is no longer as long as the text."""

_WRAPPERS_OF_USER_FUNCTIONS = frozenset({"val_func"})
"""Functions that Pydantic makes of those that a user wrote: `annotated_types.Predicate`."""


def function_keywords(function: Any) -> dict[str, Any]:
    """Return the keywords that represent a function: a note, the constraints that it checks, or its name.

    `partial(min_length_validator, min_length=2)` → `{"min_length": 2}`
    """
    plain = function.func if isinstance(function, partial) else function
    name = _qualified_name(plain)
    if _library_of(plain) not in _LIBRARIES or name in _WRAPPERS_OF_USER_FUNCTIONS:
        local_name = name.rpartition("<locals>.")[2]
        return {VALIDATORS: ["Predicate" if local_name in _WRAPPERS_OF_USER_FUNCTIONS else local_name]}
    if is_decoder(plain):
        return {"decodes_to": "str"} if name == "EncodedStr.decode_str" else {}
    if name in _DESCRIBED_BY_FORMAT:
        return {}
    if isinstance(function, partial) and function.keywords:
        return {key: value for key, value in function.keywords.items() if value is not None}
    return {FUNCTION: name}


def _is_pydantics_own(function: Any) -> bool:
    """Tell whether a function that makes a JSON Schema is Pydantic's own, and was not configured by a user."""
    return _library_of(function) == "pydantic" and getattr(function, "__module__", "") != "pydantic.json_schema"


def _library_of(function: Any) -> str:
    return str(getattr(function, "__module__", "")).partition(".")[0]


def is_decoder(function: Any) -> bool:
    """Tell whether a function decodes base 64, as Pydantic's `Base64Bytes` and `Base64Str` do."""
    if _library_of(function) != "pydantic" or _qualified_name(function) not in _DECODERS:
        return False
    return function.__self__.encoder in (Base64Encoder, Base64UrlEncoder)


def length_limits(function: Any) -> dict[str, int]:
    """Return the least or the greatest length that a function of Pydantic checks: `{"min_length": 2}`."""
    if not isinstance(function, partial) or _library_of(function.func) not in _LIBRARIES:
        return {}
    return {key: length for key, length in function.keywords.items() if key in ("max_length", "min_length")}


def is_byte_size_reader(function: Any) -> bool:
    """Tell whether a function is that of Pydantic's `ByteSize`."""
    return _library_of(function) == "pydantic" and _qualified_name(function) == "ByteSize._validate"


def with_keywords(json_schema: Mapping[str, Any], keywords: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema with the keywords of a function; names of validators are added to those that it has."""
    names = [*json_schema.get(VALIDATORS, []), *keywords.get(VALIDATORS, [])]
    keywords = {keyword: value for keyword, value in keywords.items() if keyword != VALIDATORS}
    return {**json_schema, **keywords, **({VALIDATORS: names} if names else {})}


def _qualified_name(function: Any) -> str:
    name = str(getattr(function, "__qualname__", type(function).__qualname__))
    enclosing, _, local_name = name.rpartition("<locals>.")
    return name if local_name == "<lambda>" and enclosing else local_name


CoreSchema = Mapping[str, Any]
"""A core schema of Pydantic: a dictionary with a `type`."""

_WRAPPERS = {
    **dict.fromkeys(("default", "nullable", "custom-error", "definitions", "missing-sentinel"), "schema"),
    **dict.fromkeys(("function-before", "function-after", "function-wrap"), "schema"),
    "json-or-python": "json_schema",
    "lax-or-strict": "lax_schema",
}
"""Kinds of schema that stand for another, and where that is."""

_HASHABLE_KINDS = frozenset(
    {
        *("bool", "bytes", "complex", "date", "datetime", "decimal", "enum", "float", "fraction", "function-plain"),
        *("int", "literal", "multi-host-url", "none", "str", "time", "timedelta", "url", "uuid", "frozenset"),
    }
)
_DECODED_LENGTHS = "decoded_min_length", "decoded_max_length"
_LENGTHS = {
    "bytes": ("min_length", "max_length"),
    "str": ("minLength", "maxLength"),
    **dict.fromkeys(("frozenset", "generator", "list", "set", "tuple"), ("minItems", "maxItems")),
    **dict.fromkeys(("dict", "typed-dict"), ("minProperties", "maxProperties")),
}
"""The keywords of the least and of the greatest length of a value; of bytes, they are Pydantic's own."""


def unwrapped(schema: CoreSchema) -> CoreSchema:
    """Return the schema that a wrapping schema validates JSON texts by."""
    while schema["type"] in _WRAPPERS and _WRAPPERS[schema["type"]] in schema:
        schema = schema[_WRAPPERS[schema["type"]]]
    return schema


def has_hash(schema: CoreSchema, definitions: Mapping[str, CoreSchema], seen: frozenset[str] = frozenset()) -> bool:
    """Tell whether every value of a schema surely has a hash, as the items of a set must."""
    kind = schema["type"]
    if kind == "definition-ref":
        name = schema["schema_ref"]
        return name in seen or (name in definitions and has_hash(definitions[name], definitions, seen | {name}))
    if kind in _HASHABLE_KINDS:
        return True
    if kind in ("model", "dataclass") and getattr(schema["cls"], "__hash__", None) is None:
        return False
    return all(has_hash(part, definitions, seen) for part in _component_schemas(schema)) and kind in _COMPOSITE_KINDS


_COMPOSITE_KINDS = frozenset(
    {*_WRAPPERS, "dataclass", "dataclass-args", "json", "model", "model-fields", "named-tuple", "tagged-union", "tuple"}
) | {"union"}


def _component_schemas(schema: CoreSchema) -> Iterable[CoreSchema]:
    """Return the schemas of the values that a value consists of, or may be."""
    kind = schema["type"]
    if kind in _WRAPPERS:
        return [schema[_WRAPPERS[kind]]]
    if kind == "union":
        return [choice[0] if isinstance(choice, tuple) else choice for choice in schema["choices"]]
    if kind == "tagged-union":
        return list(schema["choices"].values())
    if kind == "tuple":
        return list(schema["items_schema"])
    if kind == "json":
        return [schema.get("schema", {"type": "any"})]
    if kind in ("model-fields", "dataclass-args", "named-tuple"):
        fields = schema["fields"]
        return [field["schema"] for field in (fields.values() if isinstance(fields, Mapping) else fields)]
    return [schema["schema"]] if "schema" in schema else []


_RESTRICTING_SETTINGS = ("regex_engine", "str_max_length", "str_min_length", "str_strip_whitespace", "val_json_bytes")


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


def restrictions(config: Mapping[str, Any]) -> Any:
    """Return the entries of a configuration that restrict strings and bytes; None if there are none."""
    return {name: config[name] for name in _RESTRICTING_SETTINGS if config.get(name)} or None


def length_keywords(schema: CoreSchema, json_schema: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return the keywords that tell the length of a value, shown by a JSON Schema; None if none does.

    `list[int]` → `("minItems", "maxItems")`, `Base64Bytes` → `("decoded_min_length", "decoded_max_length")`
    """
    while schema["type"] in _WRAPPERS and _WRAPPERS[schema["type"]] in schema:
        function = schema["function"]["function"] if schema["type"].startswith("function") else None
        plain = function.func if isinstance(function, partial) else function
        if function is not None and _qualified_name(plain) in _LENGTH_CHANGING_FUNCTIONS:
            return _DECODED_LENGTHS if is_decoder(function) else None
        schema = schema[_WRAPPERS[schema["type"]]]
    is_decoded = schema["type"] == "bytes" and "val_json_bytes" in json_schema
    return _DECODED_LENGTHS if is_decoded else _LENGTHS.get(schema["type"])


@dataclass(frozen=True, slots=True)
class InputNames:
    """The names of one field in the input.

    `text_name` is the one that texts have, `lookup_names` are all names at which an alias begins, and `preferred_names`
    those of aliases that are tried before it.
    """

    text_name: str
    preferred_names: frozenset[str]
    lookup_names: frozenset[str]

    @classmethod
    def of(
        cls, name: str, alias: Any, *, by_name: bool, by_alias: bool, taken_names: Collection[str] = ()
    ) -> "InputNames":
        """Return the names of a field, whose alias is a name, a path, or a list of paths that are tried in turn.

        Its name in texts is the first plain one that no other field has (`taken_names`), or else the first.
        `AliasChoices(AliasPath("names", 0), "name")` → written as `name`, `names` being preferred
        """
        paths = _alias_paths(alias) if alias is not None and by_alias else []
        if alias is None or by_name:
            paths.append([name])
        first_names = [str(path[0]) for path in paths]
        name_positions = [position for position, path in enumerate(paths) if len(path) == 1]
        free = [position for position in name_positions if first_names[position] not in taken_names]
        chosen = next(iter([*free, *name_positions]), 0)
        return cls(first_names[chosen], frozenset(first_names[:chosen]), frozenset(first_names))


def _alias_paths(alias: Any) -> list[list[Any]]:
    """Return the paths of an alias: `"a"` → `[["a"]]`, `["a", 0]` → `[["a", 0]]`."""
    if isinstance(alias, str):
        return [[alias]]
    return [list(path) for path in alias] if alias and isinstance(alias[0], list) else [list(alias)]


_ANNOTATIONS = {"$comment", "default", "deprecated", "description", "examples", "readOnly", "title", "writeOnly"}
_UNKNOWN_INPUT_KINDS = frozenset(
    {"any", "callable", "custom-error", "function-before", "function-plain", "function-wrap", "is-instance"}
)
_AUTHOR_HOOKS = ("pydantic_js_functions", "pydantic_js_annotation_functions")


def overrides_json_schema(schema: Mapping[str, Any]) -> bool:
    """Tell whether the author of a type changes its JSON Schema; a mark of this library only adds a keyword."""
    metadata = schema.get("metadata") or {}
    functions = [function for key in _AUTHOR_HOOKS for function in metadata.get(key, ())]
    return "pydantic_js_extra" in metadata or not all(
        _is_pydantics_own(function) or _library_of(function) == "structured" for function in functions
    )


def accepts_unknown_input(schema: Mapping[str, Any]) -> bool:
    """Tell whether only the author knows which values are read: nothing is validated, or a function comes first."""
    while schema["type"] in ("default", "nullable", "model-field", "dataclass-field", "typed-dict-field"):
        schema = schema["schema"]
    if schema["type"] == "json-or-python":
        return accepts_unknown_input(schema["json_schema"])
    return schema["type"] in _UNKNOWN_INPUT_KINDS


def without_overrides(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a core schema without a name, and without what its author says of the JSON Schema."""
    metadata = dict(schema["metadata"])
    metadata.pop("pydantic_js_extra", None)
    for key in _AUTHOR_HOOKS:
        metadata[key] = [function for function in metadata.get(key, ()) if _is_pydantics_own(function)]
    return {**schema, "metadata": metadata} | ({} if "ref" not in schema else {"ref": f"{schema['ref']} itself"})


def note_contradiction(json_schema: dict[str, Any], own_schema: Mapping[str, Any]) -> None:
    """Add `claimed` to a JSON Schema that lacks a rule of Pydantic's own, or has it otherwise."""
    rules = {keyword: rule for keyword, rule in own_schema.items() if keyword not in _ANNOTATIONS}
    if any(json_schema.get(keyword) != rule for keyword, rule in rules.items()):
        json_schema["claimed"] = True


def listed_keys(schema: Any) -> dict[str, Any]:
    """Return the schema of keys that are of a Literal or an Enum: `Literal["a", True]` → `"a"`, `"true"`."""
    members = schema["expected"] if schema["type"] == "literal" else [member.value for member in schema["members"]]
    values = [getattr(member, "value", member) for member in members]
    texts = [value if isinstance(value, str) else json.dumps(value, default=repr) for value in values]
    pairs = {"type": "dict", "keys_schema": schema}
    json_schema = {"type": "string", "enum": texts}
    return json_schema | unreadable_values(texts, (json.dumps({text: None}) for text in texts), pairs)


def unreadable_values(values: list[Any], texts: Iterable[str], schema: Any) -> dict[str, list[Any]]:
    """Return as a keyword the values, if any, that Pydantic does not read from their JSON texts."""
    try:
        validator = SchemaValidator(schema)
    except SchemaError:
        return {"unreadable_values": values} if values else {}
    unreadable = [value for value, text in zip(values, texts, strict=True) if not _is_readable(text, validator)]
    return {"unreadable_values": unreadable} if unreadable else {}


def _is_readable(text: str, validator: SchemaValidator) -> bool:
    try:
        validator.validate_json(text)
    except ValidationError:
        return False
    return True
