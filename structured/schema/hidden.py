"""A Pydantic type enters; its JSON Schema leaves, and with it the rules that Pydantic enforces but leaves out.

`Annotated[date, Field(ge=...)]`, `AwareDatetime`, Enum members that no JSON value equals: a text may follow Pydantic's
own schema and be rejected. Each such rule is written here as a keyword under its Pydantic name. No table of
`keywords.py` holds it, so it is refused there, with its place in the schema. Reading the core schema beside the JSON
Schema was rejected: `GenerateJsonSchema` walks it already, and is meant to be extended by one method for each kind.

Functions that the author of a type wrote to check or change its values are named as well, under `validators`. Since
they are run on the finished answer, that keyword is no more than a note.
"""

import json
import math
from collections.abc import Mapping
from functools import partial
from typing import Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue, JsonSchemaWarningKind
from pydantic_core import SchemaError as CoreSchemaError
from pydantic_core import SchemaValidator, ValidationError, core_schema

VALIDATORS = "validators"
"""The keyword under which the names of the functions stand that are run on a finished value."""

NOT_STATED = "not stated"
"""The keyword that marks a field which may be null because the text may not state it; see `absence.py`."""

_Field = core_schema.ModelField | core_schema.DataclassField | core_schema.TypedDictField


class CompleteJsonSchema(GenerateJsonSchema):
    """Pydantic's JSON Schema, and beside it the hidden rules. The methods are named by Pydantic."""

    ignored_warning_kinds: set[JsonSchemaWarningKind] = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012

    def str_schema(self, schema: core_schema.StringSchema) -> JsonSchemaValue:
        """Add `ascii_only`, and `strip_whitespace` where the length is counted after it."""
        shown = super().str_schema(schema)
        if schema.get("strip_whitespace", self._config.str_strip_whitespace) and "minLength" in shown:
            shown["strip_whitespace"] = True
        return shown | _present(schema, "ascii_only")

    def float_schema(self, schema: core_schema.FloatSchema) -> JsonSchemaValue:
        """Add the infinite bounds, which Pydantic drops."""
        bounds = {key: schema.get(key) for key in ("ge", "gt", "le", "lt")}
        infinite = {key: bound for key, bound in bounds.items() if bound in (math.inf, -math.inf)}
        return super().float_schema(schema) | infinite

    def date_schema(self, schema: core_schema.DateSchema) -> JsonSchemaValue:
        """Add the bounds, and `now_op` of PastDate and FutureDate."""
        return super().date_schema(schema) | _present(schema, "ge", "gt", "le", "lt", "now_op")

    def datetime_schema(self, schema: core_schema.DatetimeSchema) -> JsonSchemaValue:
        """Add the same, and `tz_constraint` of AwareDatetime and NaiveDatetime."""
        return super().datetime_schema(schema) | _present(schema, "ge", "gt", "le", "lt", "now_op", "tz_constraint")

    def decimal_schema(self, schema: core_schema.DecimalSchema) -> JsonSchemaValue:
        """Let it be a string, as Pydantic writes it, and keep what is said of its value: floats would lose digits."""
        rules = _present(schema, "ge", "gt", "le", "lt", "multiple_of", "max_digits", "decimal_places")
        shown = {name: rule if name in {"max_digits", "decimal_places"} else str(rule) for name, rule in rules.items()}
        return {"type": "string", "format": "decimal"} | ({"decimal": shown} if shown else {})

    def complex_schema(self, schema: core_schema.ComplexSchema) -> JsonSchemaValue:
        """Add the format: no other string is a complex number."""
        return super().complex_schema(schema) | {"format": "complex"}

    def literal_schema(self, schema: core_schema.LiteralSchema) -> JsonSchemaValue:
        """Add `unreadable_values`, as for an Enum."""
        return _with_unreadable_values(super().literal_schema(schema), schema)

    def enum_schema(self, schema: core_schema.EnumSchema) -> JsonSchemaValue:
        """Add `unreadable_values`: the members that Pydantic does not find again from their JSON text."""
        return _with_unreadable_values(super().enum_schema(schema), schema)

    def function_before_schema(self, schema: core_schema.BeforeValidatorFunctionSchema) -> JsonSchemaValue:
        """Name the function."""
        return _with_validators(super().function_before_schema(schema), _name(schema["function"]["function"]))

    def function_after_schema(self, schema: core_schema.AfterValidatorFunctionSchema) -> JsonSchemaValue:
        """Name the function."""
        return _with_validators(super().function_after_schema(schema), _name(schema["function"]["function"]))

    def function_wrap_schema(self, schema: core_schema.WrapValidatorFunctionSchema) -> JsonSchemaValue:
        """Name the function."""
        return _with_validators(super().function_wrap_schema(schema), _name(schema["function"]["function"]))

    def function_plain_schema(self, schema: core_schema.PlainValidatorFunctionSchema) -> JsonSchemaValue:
        """Name the function."""
        return _with_validators(super().function_plain_schema(schema), _name(schema["function"]["function"]))

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        """Name `__init__` and `model_post_init`, where the model has its own."""
        names = ["__init__"] if schema.get("custom_init") else []
        after = getattr(schema["cls"], schema.get("post_init") or "", None)
        if after is not None and after.__name__ != "init_private_attributes":  # which is Pydantic's
            names.append("model_post_init")
        return _with_validators(super().model_schema(schema), *(f"{schema['cls'].__name__}.{name}" for name in names))

    def dataclass_schema(self, schema: core_schema.DataclassSchema) -> JsonSchemaValue:
        """Name `__post_init__`, where there is one."""
        names = [f"{schema['cls'].__name__}.__post_init__"] if schema.get("post_init") else []
        return _with_validators(super().dataclass_schema(schema), *names)

    def model_field_schema(self, schema: core_schema.ModelField) -> JsonSchemaValue:
        """Add `validation_alias`, where it leads deeper into the input."""
        return super().model_field_schema(schema) | _deep_alias(schema)

    def dataclass_field_schema(self, schema: core_schema.DataclassField) -> JsonSchemaValue:
        """Add `validation_alias`, where it leads deeper into the input."""
        return super().dataclass_field_schema(schema) | _deep_alias(schema)

    def typed_dict_field_schema(self, schema: core_schema.TypedDictField) -> JsonSchemaValue:
        """Add `validation_alias`, where it leads deeper into the input."""
        return super().typed_dict_field_schema(schema) | _deep_alias(schema)

    def field_is_present(self, field: core_schema.ModelField | core_schema.DataclassField | Any) -> bool:
        """Leave out the fields of a dataclass that its constructor does not take: a value for one is rejected."""
        return super().field_is_present(field) and bool(field.get("init", True))


def _with_validators(shown: JsonSchemaValue, *names: str) -> JsonSchemaValue:
    return shown | {VALIDATORS: [*shown.get(VALIDATORS, []), *names]} if names else shown


def _name(function: Any) -> str:
    """Return a function's name as its author wrote it: `Adult.of_age`, `<lambda>`."""
    if isinstance(function, partial):
        return _name(function.func)
    name = str(getattr(function, "__qualname__", type(function).__qualname__)).rpartition("<locals>.")[2]
    return "Predicate" if name == "val_func" else name  # what Pydantic calls that of `annotated_types.Predicate`


def _present(schema: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    return {key: schema[key] for key in keys if schema.get(key) is not None}


def _deep_alias(schema: _Field) -> dict[str, Any]:
    alias = schema.get("validation_alias")
    if not isinstance(alias, list) or any(isinstance(path, list) and len(path) == 1 for path in alias):
        return {}
    return {"validation_alias": alias}


def _with_unreadable_values(shown: JsonSchemaValue, schema: core_schema.CoreSchema) -> JsonSchemaValue:
    """Add the values that Pydantic shows and does not accept: `Literal[b"x"]`, `Literal[2**70]`, an Enum of dates."""
    values = [shown["const"]] if "const" in shown else shown["enum"]
    unreadable = [value for value in values if not _is_readable(value, schema)]
    return shown | {"unreadable_values": unreadable} if unreadable else shown


def _is_readable(value: object, schema: core_schema.CoreSchema) -> bool:
    try:
        SchemaValidator(schema).validate_json(json.dumps(value))
    except (ValidationError, CoreSchemaError):
        return False
    return True
