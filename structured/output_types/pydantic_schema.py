"""The JSON Schema of a Pydantic type, with the rules that Pydantic enforces but leaves out of it.

`Annotated[date, Field(ge=...)]`, `AwareDatetime`, Enum members that no JSON value equals: a text may follow Pydantic's
own schema and be rejected. Each such rule is written here as a keyword under its Pydantic name. Those that can be
enforced are read in `json_schema/`; the others are refused there, with their place in the schema. To read the core
schema beside the JSON Schema was rejected: `GenerateJsonSchema` walks it already, and is meant to be extended by one
method for each kind.

Functions that the author of a type wrote to check or change its values are named under `validators`, which is no more
than a note, since they are run on the finished answer. The functions of Pydantic itself are known: either a format says
what they accept, or they are refused.
"""

import inspect
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any
from zoneinfo import available_timezones

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode, JsonSchemaValue, JsonSchemaWarningKind
from pydantic_core import core_schema

from structured.errors.recursion import deep
from structured.json_schema.document.location import VALIDATORS
from structured.json_schema.numbers.number_patterns import DECIMAL
from structured.output_types.core_schema import (
    FUNCTION,
    CoreSchema,
    InputNames,
    accepts_unknown_input,
    function_keywords,
    has_hash,
    is_byte_size_reader,
    is_decoder,
    lacks_configuration,
    length_keywords,
    length_limits,
    listed_keys,
    note_contradiction,
    overrides_json_schema,
    restrictions,
    unreadable_values,
    unwrapped,
    with_keywords,
    without_overrides,
)

_KINDS_WITHOUT_JSON = {"callable": "a function", "is-subclass": "a class"}
"""Kinds of core schemas that no JSON value satisfies, in words."""

SCALAR_TYPES = ["boolean", "null", "number", "string"]


class CompleteJsonSchema(GenerateJsonSchema):
    """Pydantic's JSON Schema, and the rules that Pydantic checks and leaves out of it."""

    ignored_warning_kinds: set[JsonSchemaWarningKind] = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._core_definitions: dict[str, CoreSchema] = {}
        self._unconfigured_definitions: list[str] = []
        self._is_restricted = False
        self._text_names: dict[int, str] = {}
        self._union_depth = 0

    @property
    def mode(self) -> JsonSchemaMode:
        """Whatever a model's configuration says: answers are validated."""
        return "validation"

    def build_schema_type_to_method(self) -> dict[Any, Callable[[Any], JsonSchemaValue]]:
        """Let the kinds of schemas to which the same is added have one method."""
        return super().build_schema_type_to_method() | {
            **dict.fromkeys(("date", "datetime", "time", "timedelta"), self._with_bounds),
            **dict.fromkeys(("literal", "enum"), self._with_unreadable_values),
            **dict.fromkeys(("set", "frozenset"), self._hashable),
            **dict.fromkeys(("dict", "frozendict", "ordered-dict", "counter"), self._with_keys),
            **dict.fromkeys(("function-before", "function-wrap", "function-plain"), self._with_function),
            **dict.fromkeys(("model-field", "dataclass-field", "typed-dict-field"), self._with_deep_alias),
            **dict.fromkeys(("model-fields", "dataclass-args", "typed-dict"), self._with_names),
            "complex": lambda schema: self._pydantic_schema(schema) | {"format": "complex"},  # no other string is one
            "url": lambda url: {"type": "string", "format": "uri"} | _present(url, "host_required", *_OF_URLS),
            "multi-host-url": lambda url: {"type": "string", "format": "multi-host-uri"} | _present(url, *_OF_URLS),
        }

    def _pydantic_schema(self, schema: Any) -> JsonSchemaValue:
        """Return the schema as Pydantic writes it."""
        json_schema: JsonSchemaValue = getattr(super(), f"{schema['type'].replace('-', '_')}_schema")(schema)
        return json_schema

    def _with_bounds(self, schema: Any) -> JsonSchemaValue:
        """Add the bounds, `now_op` of PastDate and FutureDate, `tz_constraint` of AwareDatetime and NaiveDatetime."""
        return self._pydantic_schema(schema) | _present(schema, *_BOUNDS, "now_op", "tz_constraint")

    def _with_unreadable_values(self, schema: Any) -> JsonSchemaValue:
        """Add what Pydantic shows and does not accept: `Literal[b"x"]`, `Literal[2**70]`, an Enum of dates."""
        json_schema = self._pydantic_schema(schema)
        values = [json_schema["const"]] if "const" in json_schema else json_schema["enum"]
        return json_schema | unreadable_values(values, map(json.dumps, values), schema)

    def _with_function(self, schema: Any) -> JsonSchemaValue:
        """Add the keywords of the function."""
        return with_keywords(self._pydantic_schema(schema), function_keywords(schema["function"]["function"]))

    @deep
    def generate_inner(self, schema: Any) -> JsonSchemaValue:
        """Add `claimed` where the author of a type contradicts its validation."""
        if schema["type"] == "function-plain":
            return self._schema_of_function(schema)
        if schema["type"] == "function-after" and length_limits(schema["function"]["function"]):
            schema = {**schema, "metadata": {**schema.get("metadata", {}), "pydantic_js_updates": {}}}
        if not overrides_json_schema(schema) or accepts_unknown_input(schema):
            return super().generate_inner(schema)
        own_schema = super().generate_inner(without_overrides(schema))
        json_schema = super().generate_inner(schema)
        note_contradiction(self.resolve_ref_schema(json_schema), own_schema)
        return json_schema

    def _schema_of_function(self, schema: Any) -> JsonSchemaValue:
        """Return the schema of values that a function reads, with the keywords of the function."""
        function = schema["function"]["function"]
        json_schema = super().generate_inner(schema)
        if getattr(function, "__name__", "") == "validate_str_is_valid_iana_tz":
            return {"type": "string", "enum": sorted(available_timezones())}
        keywords = function_keywords(function)
        return with_keywords(json_schema, keywords) if keywords.keys() - {VALIDATORS} else json_schema

    def handle_invalid_for_json_schema(self, schema: Any, error_info: str) -> JsonSchemaValue:
        """Add `no_json` to a type that no JSON value satisfies; a union leaves it out."""
        if self._union_depth:
            return super().handle_invalid_for_json_schema(schema, error_info)
        if schema["type"] == "is-instance":
            return {"no_json": f"an instance of {getattr(schema['cls'], '__name__', schema['cls'])}"}
        return {"no_json": _KINDS_WITHOUT_JSON.get(schema["type"], error_info)}

    @contextmanager
    def _within_union(self) -> Iterator[None]:
        """Let Pydantic raise its own exception for a type that no JSON value satisfies: unions leave it out."""
        self._union_depth += 1
        try:
            yield
        finally:
            self._union_depth -= 1

    def union_schema(self, schema: core_schema.UnionSchema) -> JsonSchemaValue:
        """Leave out the branches that no JSON value satisfies."""
        with self._within_union():
            return super().union_schema(schema)

    def _update_class_schema(self, json_schema: JsonSchemaValue, cls: type[Any], config: Any) -> None:
        self._is_restricted = self._is_restricted or bool(restrictions(config))
        own_schema = dict(json_schema)
        super()._update_class_schema(json_schema, cls, config)
        note_contradiction(json_schema, own_schema)

    def definitions_schema(self, schema: core_schema.DefinitionsSchema) -> JsonSchemaValue:
        """Keep the definitions, to look up references in them."""
        self._core_definitions |= {definition["ref"]: definition for definition in schema["definitions"]}
        lacking = filter(lacks_configuration, schema["definitions"])
        self._unconfigured_definitions += [definition["ref"].partition(":")[0] for definition in lacking]
        return super().definitions_schema(schema)

    def generate(self, schema: Any, mode: JsonSchemaMode = "validation") -> JsonSchemaValue:
        """Add `configured_alias` where a model's configuration may hold for a definition without one, or may not."""
        json_schema = super().generate(schema, mode)
        is_unsure = self._unconfigured_definitions and self._is_restricted
        return json_schema | ({"configured_alias": self._unconfigured_definitions[0]} if is_unsure else {})

    def str_schema(self, schema: core_schema.StringSchema) -> JsonSchemaValue:
        """Add `ascii_only`, `strip_whitespace` and `regex_engine`; the flags of a pattern are written into it."""
        json_schema = super().str_schema(schema) | _present(schema, "ascii_only")
        if schema.get("strip_whitespace", self._config.str_strip_whitespace) and json_schema.keys() & _MEASURES:
            json_schema["strip_whitespace"] = True
        pattern: Any = schema.get("pattern")
        if isinstance(pattern, re.Pattern):
            flags = "".join(letter for letter, flag in _FLAGS.items() if pattern.flags & flag)
            json_schema["pattern"] = f"(?{flags}){pattern.pattern}" if flags else pattern.pattern
        engine = schema.get("regex_engine", self._config.regex_engine)
        if pattern is not None and (isinstance(pattern, re.Pattern) or engine == "python-re"):
            json_schema["regex_engine"] = "python-re"
        return json_schema

    def bytes_schema(self, schema: core_schema.BytesSchema) -> JsonSchemaValue:
        """Name the format in which bytes are read, and their lengths as Pydantic does, since it counts bytes.

        Add `val_json_bytes` where the text encodes them: a type made of bytes may name another format.
        """
        name = {"utf8": "binary", "base64": "base64url"}.get(self._config.val_json_bytes, "hex")
        json_schema = {"type": "string", "format": name}
        lengths = _present(schema, "min_length", "max_length")
        if name == "binary":
            return json_schema | lengths
        decoded = {f"decoded_{keyword}": length for keyword, length in lengths.items()}
        return json_schema | {"val_json_bytes": self._config.val_json_bytes} | decoded

    def float_schema(self, schema: core_schema.FloatSchema) -> JsonSchemaValue:
        """Add the infinite bounds, which Pydantic drops."""
        infinite = {key: bound for key, bound in _present(schema, *_BOUNDS).items() if math.isinf(bound)}
        return super().float_schema(schema) | infinite

    def decimal_schema(self, schema: core_schema.DecimalSchema) -> JsonSchemaValue:
        """Keep what is said of its value, and let it be a number: in texts, models copy separators and end there."""
        bounds = {name: str(bound) for name, bound in _present(schema, *_BOUNDS, "multiple_of").items()}
        return {"type": "number", DECIMAL: bounds | _present(schema, "max_digits", "decimal_places")}

    def fraction_schema(self, schema: Any) -> JsonSchemaValue:
        """Leave out the strings where there are bounds, since those are of numbers, and round these inwards."""
        bounds: dict[str, Any] = {
            key: _rounded(bound, math.inf if key in ("ge", "gt") else -math.inf)
            for key, bound in _present(schema, *_BOUNDS).items()
        }
        if not bounds:
            return super().fraction_schema(schema)
        return self.float_schema(core_schema.float_schema(**bounds))

    def is_subclass_schema(self, schema: core_schema.IsSubclassSchema) -> JsonSchemaValue:
        """Refuse it: no JSON value is a class."""
        return self.handle_invalid_for_json_schema(schema, f"type[{schema['cls'].__name__}]")

    def chain_schema(self, schema: core_schema.ChainSchema) -> JsonSchemaValue:
        """Add `chain` where a later step is more than a function."""
        first, *others = schema["steps"]
        json_schema = self.generate_inner(first)
        for step in others:
            if step["type"] == "is-instance" and step["cls"].__name__ == "Hashable":
                json_schema = {"type": SCALAR_TYPES} if first["type"] == "any" else json_schema | {"chain": "Hashable"}
            elif "function" in step:
                json_schema = with_keywords(json_schema, function_keywords(step["function"]["function"]))
            else:
                json_schema |= {"chain": step["type"]}
        return json_schema

    def json_schema(self, schema: core_schema.JsonSchema) -> JsonSchemaValue:
        """Name the format of any JSON text where no more is asked of it."""
        if "schema" not in schema or unwrapped(schema["schema"])["type"] == "any":
            return {"type": "string", "format": "json-string"}
        return super().json_schema(schema)

    def _hashable(self, schema: Any) -> JsonSchemaValue:
        """Add `unhashable` if an item may be a value that no set holds."""
        json_schema = self._pydantic_schema(schema)
        items: CoreSchema = schema.get("items_schema", {"type": "any"})
        if items["type"] == "any":
            return json_schema | {"items": {"type": SCALAR_TYPES}}
        is_hashable = has_hash(items, self._core_definitions)
        return json_schema if is_hashable else json_schema | {"unhashable": unwrapped(items)["type"]}

    def _with_keys(self, schema: Any) -> JsonSchemaValue:
        """Add `propertyNames`: the schema of the keys, which Pydantic mostly leaves out."""
        json_schema = self._pydantic_schema(schema)
        base = {keyword: value for keyword, value in json_schema.items() if keyword not in _MEMBER_KEYWORDS}
        base["additionalProperties"] = self.generate_inner(schema.get("values_schema", {"type": "any"})) or True
        keys = self._key_schema(schema.get("keys_schema", {"type": "any"}))
        return base | ({"propertyNames": keys} if keys not in ({}, {"type": "string"}) else {})

    def _key_schema(self, schema: Any) -> JsonSchemaValue:
        """Return the schema of the keys of a dictionary: where it is of no string, keys spell what it is of."""
        kind = schema["type"]
        if kind == "definition-ref" and schema["schema_ref"] in self._core_definitions:
            return self._key_schema(self._core_definitions[schema["schema_ref"]])
        if kind in ("literal", "enum"):
            return listed_keys(schema)
        if kind == "nullable":
            return self._key_schema(schema["schema"])
        if kind == "union":
            return {"anyOf": [self._key_schema(choice) for choice in core_schema.iter_union_choices(schema)]}
        if kind.startswith("function-") and "schema" in schema and unwrapped(schema)["type"] in ("literal", "enum"):
            return with_keywords(self._key_schema(schema["schema"]), function_keywords(schema["function"]["function"]))
        return self.generate_inner(schema)

    def tagged_union_schema(self, schema: core_schema.TaggedUnionSchema) -> JsonSchemaValue:
        """Add the function that chooses the branch to the validators: it is run on the finished answer.

        Add `discriminator_function` where it is a value deep inside that chooses.
        """
        with self._within_union():
            json_schema = super().tagged_union_schema(schema)
        if "discriminator" in json_schema:
            return json_schema
        discriminator = schema["discriminator"]
        if not callable(discriminator):
            return json_schema | {"discriminator_function": repr(discriminator)}
        any_of = {("anyOf" if keyword == "oneOf" else keyword): value for keyword, value in json_schema.items()}
        return with_keywords(any_of, function_keywords(discriminator))

    def function_after_schema(self, schema: core_schema.AfterValidatorFunctionSchema) -> JsonSchemaValue:
        """Add the keywords of the function; of `ByteSize`, whose pattern promises too much, name the format."""
        json_schema = super().function_after_schema(schema)
        function: Any = schema["function"]["function"]
        if is_byte_size_reader(function):
            json_schema = {"anyOf": [{"type": "string", "format": "byte-size"}, {"type": "integer", "minimum": 0}]}
        if is_decoder(function) and json_schema.get("format", "binary") != "binary":
            return with_keywords(json_schema, {FUNCTION: function.__qualname__})  # what it decodes is no more the text
        lengths = length_limits(function)
        if not lengths:
            return with_keywords(json_schema, function_keywords(function))
        keywords = length_keywords(schema["schema"], json_schema)
        if keywords is None:
            return with_keywords(json_schema, {"length": unwrapped(schema["schema"])["type"]})
        return with_keywords(json_schema, _with_lengths(json_schema, lengths, *keywords))

    def _with_names(self, schema: Any) -> JsonSchemaValue:
        """Add `reserved_names`, `ambiguous_aliases` and, where they are more than strings, `extras_keys`."""
        fields, keys = schema["fields"], schema.get("extras_keys_schema")
        named_fields = fields.items() if isinstance(fields, Mapping) else [(field["name"], field) for field in fields]
        with self._config_wrapper_stack.push(restrictions(schema.get("config", {}))):
            input_names = self._input_names(named_fields, schema)
            json_schema = _with_input_names(self._pydantic_schema(schema), input_names)
            if keys is None or self.generate_inner(keys) == {"type": "string"}:
                return json_schema
            return json_schema | {"extras_keys": keys["type"]}

    def _input_names(self, fields: Iterable[tuple[str, Any]], schema: Any) -> list[InputNames]:
        """Return the names of fields; where two look for the first of theirs, each is written by another."""
        config = schema.get("config", {})
        by_name = config.get("validate_by_name", self._config.validate_by_name)
        by_alias = config.get("validate_by_alias", self._config.validate_by_alias)
        present = [(name, field) for name, field in fields if self.field_is_present(field)]

        def names_of_fields(taken_names: Collection[str] = ()) -> list[InputNames]:
            names_of = partial(InputNames.of, by_name=by_name, by_alias=by_alias, taken_names=taken_names)
            return [names_of(name, field.get("validation_alias")) for name, field in present]

        first_choices = names_of_fields()
        field_counts = Counter(name for names in first_choices for name in names.lookup_names)
        distinct_names = names_of_fields([name for name, count in field_counts.items() if count > 1])
        for (_, field), first_choice, chosen in zip(present, first_choices, distinct_names, strict=True):
            if first_choice.text_name != chosen.text_name:
                self._text_names[id(field)] = chosen.text_name
        return distinct_names

    def _get_alias_name(self, field: Any, name: str) -> str:
        return self._text_names.get(id(field)) or super()._get_alias_name(field, name)

    def field_is_required(self, field: Any, total: bool) -> bool:
        """Let a field be required whose default Pydantic validates: it may be none that it accepts."""
        default = field["schema"]
        is_validated = default.get("validate_default", self._config.config_dict.get("validate_default", False))
        return super().field_is_required(field, total) or (default["type"] == "default" and bool(is_validated))

    def _with_deep_alias(self, schema: Any) -> JsonSchemaValue:
        """Add `validation_alias`, where it leads deeper into the input."""
        json_schema, alias = self._pydantic_schema(schema), schema.get("validation_alias")
        if not isinstance(alias, list) or self._config.validate_by_name or not self._config.validate_by_alias:
            return json_schema
        is_deep = not any(isinstance(path, list) and len(path) == 1 for path in alias)
        return json_schema | ({"validation_alias": alias} if is_deep else {})

    def field_is_present(self, field: core_schema.ModelField | core_schema.DataclassField | Any) -> bool:
        """Leave out the fields of a dataclass that its constructor does not take: a value for one is rejected."""
        return super().field_is_present(field) and bool(field.get("init", True))

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        """Name `__init__` and `model_post_init`, where the model has its own."""
        names = ["__init__"] if schema.get("custom_init") else []
        post_init = getattr(schema["cls"], schema.get("post_init") or "", None)
        if post_init is not None and post_init.__name__ != "init_private_attributes":  # which is Pydantic's
            names.append("model_post_init")
        validators = [f"{schema['cls'].__name__}.{name}" for name in names]
        return with_keywords(super().model_schema(schema), {VALIDATORS: validators})

    def dataclass_schema(self, schema: core_schema.DataclassSchema) -> JsonSchemaValue:
        """Name `__post_init__`, where there is one."""
        validators = [f"{schema['cls'].__name__}.__post_init__"] if schema.get("post_init") else []
        with self._config_wrapper_stack.push(restrictions(schema.get("config", {}))):
            json_schema = with_keywords(super().dataclass_schema(schema), {VALIDATORS: validators})
        return _with_docstring(json_schema, schema["cls"])


_BOUNDS = ("ge", "gt", "le", "lt")
_OF_URLS = ("allowed_schemes", "max_length")
_MEASURES = frozenset({"maxLength", "minLength", "pattern"})
_MEMBER_KEYWORDS = frozenset({"additionalProperties", "patternProperties", "propertyNames"})
_FLAGS = {"a": re.ASCII, "i": re.IGNORECASE, "m": re.MULTILINE, "s": re.DOTALL, "x": re.VERBOSE}


def _with_docstring(json_schema: JsonSchemaValue, cls: type[Any]) -> JsonSchemaValue:
    """Describe a dataclass by its docstring, unless that is the signature that Python makes where there is none."""
    base = {keyword: value for keyword, value in json_schema.items() if keyword != "description"}
    text = inspect.cleandoc(cls.__doc__ or "")
    return base if not text or text.startswith(f"{cls.__name__}(") else base | {"description": text}


def _present(schema: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    return {key: schema[key] for key in keys if schema.get(key) is not None}


def _with_input_names(json_schema: JsonSchemaValue, fields: list[InputNames]) -> JsonSchemaValue:
    """Add `reserved_names`, which other members may not have, and `ambiguous_aliases`.

    A field that would be looked for under the name of another is required, lest that be read in its place.
    """
    counts = Counter(names.text_name for names in fields)
    ambiguous = {names.text_name for names in fields if names.preferred_names & counts.keys()}
    mistakable = [names.text_name for names in fields if (names.lookup_names - {names.text_name}) & counts.keys()]
    lists = {
        "required": [*dict.fromkeys([*json_schema.get("required", []), *mistakable])],
        "reserved_names": sorted(frozenset().union(*(names.lookup_names for names in fields)) - counts.keys()),
        "ambiguous_aliases": sorted(ambiguous | {name for name, count in counts.items() if count > 1}),
    }
    return json_schema | {keyword: names for keyword, names in lists.items() if names}


def _with_lengths(json_schema: JsonSchemaValue, lengths: Mapping[str, int], least: str, most: str) -> dict[str, int]:
    """Return the keywords of lengths, beside those that are there: both hold."""
    keywords = {}
    if "min_length" in lengths:
        keywords[least] = max(lengths["min_length"], json_schema.get(least, 0))
    if "max_length" in lengths:
        keywords[most] = min(lengths["max_length"], json_schema.get(most, lengths["max_length"]))
    return keywords


def _rounded(bound: Any, towards: float) -> float:
    """Return the nearest double that is not beyond a bound: 1/3, upwards → 0.33333333333333337."""
    nearest = float(bound)
    is_inside = nearest >= bound if towards > 0 else nearest <= bound
    return nearest if is_inside else math.nextafter(nearest, towards)
