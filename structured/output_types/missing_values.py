"""Missing values: fields that may be null in an answer, and the types that list them beside the value.

The schema of a type is changed so that fields may be null. Of an answer, the type reads what is left without the nulls
of missing fields. Where it requires a missing value there is no instance; then the errors of Pydantic have to say that
values are missing, and nothing else.

Of a `JsonSchema`, an answer may be without a property that is not required. Models seldom leave out a key, but do write
null. So the property may be null while the answer is written, and is removed from the value. Some rules (`oneOf`,
`dependentRequired`, `minProperties` …) tie properties to each other, and a null that is removed later could break them.
There the property stays as it is, and the model itself has to leave it out.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from typing import Any, Generic, NamedTuple, TypeVar

from pydantic import ValidationError

from structured.errors.recursion import deep
from structured.json_schema.document.equality import identity
from structured.json_schema.document.location import NOT_STATED, Compilation, Identity, Schema, Subschema
from structured.json_schema.document.references import follow
from structured.json_schema.nullable import any_branch, can_be_null, types_of
from structured.output_types.annotations import Annotation
from structured.output_types.json_output import JsonOutput
from structured.output_types.paths import FieldSelection, Steps, has_member, steps_to_path
from structured.output_types.schema_parts import (
    NON_ASSERTING_KEYWORDS,
    discriminator_properties,
    edited_at,
    listed_schemas,
    parts_at_step,
    reachable_schemas,
    rewritten_schema,
)

NULL_KEPT, NULL_REMOVED, OMITTED = "null", "dropped", "left out"
"""The ways in which an answer marks a field as missing: null, which the type reads; null, which is dropped before the
type reads the answer; or by leaving it out."""

_CHOSEN_MARK = "chosen"

_PRESENCE_SENSITIVE_KEYWORDS = frozenset(
    {
        *("$dynamicRef", "$recursiveRef", "const", "contains", "dependencies", "dependentRequired", "dependentSchemas"),
        *("enum", "if", "maxProperties", "minProperties", "not", "oneOf", "propertyNames", "unevaluatedItems"),
        *("unevaluatedProperties", "uniqueItems"),
    }
)
"""Keywords that may judge a value by whether a property is there."""

_APPLICATORS = ("$ref", "allOf", "anyOf")
_INNER_POINTER = re.compile(r"(?:/(?:\$defs|definitions)/[^/]*)*+.*(?:/properties/|/items(?:/|$))")
"""The pointer of a `$ref` to a place inside a definition. Where a property on its way becomes nullable, what it holds
moves below `anyOf`, and the `$ref` leads nowhere. `/$defs/Line/properties/price`, but not `/$defs/items`"""


def can_be_missing(part: Subschema) -> bool:
    """Tell whether a value can say that there is none: as null, or as a list without items.

    So can a constant, which invents nothing, and an object, whose fields are visited one by one.
    """
    return any_branch(part, _allows_nothing, {})


def _allows_nothing(schema: Schema) -> bool:
    if "const" in schema or "enum" in schema:
        return "const" in schema or None in schema["enum"] or len(schema["enum"]) == 1
    types = types_of(schema)
    return not types or bool(types & {"null", "object"}) or ("array" in types and not schema.get("minItems"))


@deep
def with_missing_fields(root: Subschema, missing: FieldSelection) -> Schema:
    """Return the schema of a type in which chosen fields may be null, and are marked.

    With True, these are all fields of which the type itself does not let a text say that there is none; with False,
    none. Raises SchemaError for a path that leads to no field, and for the discriminator of a union.
    """
    if missing is not True:
        return edited_at(root, missing or (), _nullable)
    discriminator_identities = discriminator_properties(root)

    def nullable_field(outer_part: Subschema, keys: Sequence[str | int], schema: Any) -> Any:
        part = outer_part.subschema(*keys)
        is_field = keys[0] == "properties" and part.identity not in discriminator_identities
        return _nullable_if_needed(part, schema) if is_field else schema

    schema: Schema = _nullable_if_needed(root, rewritten_schema(root, nullable_field))
    return schema


def _nullable_if_needed(part: Subschema, schema: Any) -> Any:
    """Return the schema of a field: marked if it may be null, nullable if it cannot be missing, or else as it is."""
    return _nullable(part, schema) if can_be_null(part) or not can_be_missing(part) else schema


def _nullable(part: Subschema, schema: Any) -> Any:
    """Return a schema that allows null as well, and is marked."""
    if can_be_null(part):
        return {**schema, NOT_STATED: NULL_KEPT} if isinstance(schema, Mapping) else schema
    annotations = {keyword: schema[keyword] for keyword in ("$defs", "description") if keyword in schema}
    own_keywords = {keyword: value for keyword, value in schema.items() if keyword != "$defs"}
    return {"anyOf": [own_keywords, {"type": "null"}], NOT_STATED: NULL_REMOVED, **annotations}


@deep
def chosen_properties(root: Subschema, paths: Sequence[str]) -> Schema:
    """Return a JSON Schema in which the properties at some paths are marked as chosen."""
    return edited_at(root, paths, lambda _, schema: {**schema, NOT_STATED: _CHOSEN_MARK})


@deep
def with_missing_properties(root: Subschema, *, are_chosen: bool) -> Schema:
    """Return a JSON Schema in which optional properties are listed if they are missing: all, or those that are chosen.

    Raises SchemaError for one that is chosen, required, and may not be null.
    """
    judges = _schemas_that_judge_presence(root)

    def nullable_property(part: Subschema, keys: Sequence[str | int], schema: Any) -> Any:
        member = part.subschema(*keys)
        if keys[0] != "properties" or (are_chosen and member.schema.get(NOT_STATED) != _CHOSEN_MARK):
            return schema
        if can_be_null(member):
            return {**schema, NOT_STATED: NULL_KEPT}
        if keys[1] not in part.schema.get("required", ()):
            return {**schema, NOT_STATED: OMITTED} if part.identity in judges else _nullable(member, schema)
        if are_chosen:
            raise member.location.refusal(
                f"The property {keys[1]!r} is required and may not be null, so it cannot be missing",
                keyword="required",
                remedy="Take it from required, or allow null.",
            )
        return schema

    schema: Schema = rewritten_schema(root, nullable_property)
    return schema


def _schemas_that_judge_presence(root: Subschema) -> set[Identity]:
    """Return the schemas that may judge a value by whether a property is there, and those inside them."""
    parts = [part for part in (root, *reachable_schemas(root)) if isinstance(part.schema, Mapping)]
    has_inner_reference = any(_INNER_POINTER.match(part.schema.get("$ref", "").partition("#")[2]) for part in parts)
    judging = [part for part in parts if has_inner_reference or _may_judge_presence(part.schema)]
    return {part.identity for judge in judging for part in (judge, *reachable_schemas(judge))}


def _may_judge_presence(schema: Schema) -> bool:
    """Tell whether a schema may judge a value by whether a property is there, beside by `required`."""
    applicators = [keyword for keyword in _APPLICATORS if keyword in schema]
    has_others = len(schema.keys() - NON_ASSERTING_KEYWORDS) > 1 or len(schema.get("allOf", [])) > 1
    return (bool(applicators) and has_others) or not _PRESENCE_SENSITIVE_KEYWORDS.isdisjoint(schema)


class Digits(str):
    """A number as it is written."""

    __slots__ = ()


read_digits = partial(json.loads, parse_float=Digits, parse_int=Digits)
"""Reads JSON text; its numbers keep their digits."""


def separate_missing(root: Subschema, text: str) -> tuple[str, tuple[Steps, ...]]:
    """Return the part of an answer that the type reads, and the places of what is missing.

    `{"name": "Ana", "age": null}` → `{"name": "Ana"}`, `(("age",),)`
    """
    value = read_digits(text)
    missing: dict[Steps, None] = {}
    if value is None and isinstance(root.schema, Mapping) and NOT_STATED in root.schema:
        return "null", ((),)
    _remove_missing(root, value, (), missing)
    return _to_json_text(value), tuple(missing)


def without_missing(data: Any, missing: Sequence[Steps]) -> Any:
    """Return the stated data of an answer, without the nulls that the type reads in place of missing values."""
    for *container_steps, name in filter(None, missing):
        container = data
        for step in container_steps:
            container = container[step]
        container.pop(name, None)
    return data


def _remove_missing(part: Subschema, value: Any, steps: Steps, missing: dict[Steps, None]) -> None:
    """Collect the missing members of a value, and remove those that the type does not read."""
    if not isinstance(part.schema, Mapping) or not isinstance(value, dict | list):
        return
    targets = [follow(part)] if "$ref" in part.schema else []
    listed = listed_schemas(part, "anyOf", "oneOf")
    branches = (branch for branch in listed if may_be_of_branch(branch, value))  # after others have removed members
    for same_value_part in chain(targets, listed_schemas(part, "allOf"), branches):
        _remove_missing(same_value_part, value, steps, missing)
    names = dict.fromkeys([*part.schema.get("properties", ()), *value]) if isinstance(value, dict) else {}
    for step in names or range(len(value)):
        for member_part in parts_at_step(part, step):
            mark = member_part.schema.get(NOT_STATED) if isinstance(member_part.schema, Mapping) else None
            is_present = has_member(value, step)
            if mark is not None and (not is_present or value[step] is None):
                missing[(*steps, step)] = None
                if mark == NULL_REMOVED and isinstance(value, dict):
                    value.pop(str(step), None)
            elif is_present:
                _remove_missing(member_part, value[step], (*steps, step), missing)


def may_be_of_branch(part: Subschema, value: Any) -> bool:
    """Return whether a value may belong to a branch: an object without other properties, and with its constants."""
    while isinstance(part.schema, Mapping) and "$ref" in part.schema:
        part = follow(part)
    if not isinstance(part.schema, Mapping) or not isinstance(value, dict) or "properties" not in part.schema:
        return True
    properties = part.schema["properties"]
    is_closed = part.schema.get("additionalProperties", False) is False and "patternProperties" not in part.schema
    if is_closed and value.keys() - properties.keys():
        return False
    return all(_may_have_value(member, value[name]) for name, member in properties.items() if name in value)


def _may_have_value(schema: Any, value: Any) -> bool:
    """Return whether a value, whose numbers are digits, is one that a schema lists, where it lists values."""
    if not isinstance(schema, Mapping):
        return True
    if "enum" in schema or "const" in schema:
        key = identity(json.loads(_to_json_text(value)))
        return any(identity(option) == key for option in schema.get("enum", [schema.get("const")]))
    if schema.get("type") == "null":
        return value is None
    return any(_may_have_value(option, value) for option in schema["anyOf"]) if "anyOf" in schema else True


def _to_json_text(value: Any) -> str:
    """Return a value as JSON text, its numbers unchanged."""
    if isinstance(value, Digits):
        return str(value)
    if isinstance(value, dict):
        return f"{{{', '.join(f'{json.dumps(name)}: {_to_json_text(member)}' for name, member in value.items())}}}"
    return f"[{', '.join(map(_to_json_text, value))}]" if isinstance(value, list) else json.dumps(value)


class _LocatedError(NamedTuple):
    """An error of Pydantic: the missing place, if it reports one, and the branch of a union that it belongs to."""

    missing_place: Steps | None
    union: Steps | None
    branch: object


def is_all_missing(errors: Sequence[Mapping[str, Any]], data: Any, missing: Sequence[Steps]) -> bool:
    """Return whether Pydantic's errors about a value report only the values that are known to be missing.

    In a union it is enough if the errors of one branch do: of the others, they say why the value does not fit.
    """
    located_errors = [_locate_error(error["type"], error["loc"], data) for error in errors]
    missing_errors = [error for error in located_errors if error.missing_place in missing]
    branches = {(error.union, error.branch) for error in missing_errors}
    unions = {error.union for error in missing_errors if error.union is not None}
    other_errors = [error for error in located_errors if error.missing_place not in missing]
    return all(error.union in unions and (error.union, error.branch) not in branches for error in other_errors)


def _locate_error(error_type: str, location: Steps, data: Any) -> _LocatedError:
    """Return the fault of an error, by following its location (which names branches, too) into the value."""
    steps: Steps = ()
    union: Steps | None = None
    branch: str | int | None = None
    for number, step in enumerate(location, 1):
        if has_member(data, step):
            steps, data = (*steps, step), data[step]
        elif number == len(location) and error_type.startswith("missing"):
            return _LocatedError((*steps, step), union, branch)
        elif union is None:
            union, branch = steps, step
    return _LocatedError(None, union, branch)


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ParsedAnswer(Generic[T]):
    """The values that an answer states, and the paths of the fields that are missing.

    Attributes:
        value: The instance; missing fields have their defaults. None if a missing field is required by the type.
        data: The stated values as plain JSON, without the missing fields.
        missing: The paths of the missing fields, such as `"lines[2].price"`.
        error: Why there is no instance: the error about the required fields that are missing. None if there is one.
    """

    value: T | None
    data: Any
    missing: tuple[str, ...]
    error: Exception | None = None


@dataclass(frozen=True, eq=False)
class MissingFieldsType(JsonOutput[ParsedAnswer[T]]):
    """A type with fields that may be missing: they are written as null or left out, and listed."""

    base_type: JsonOutput[T] = field(repr=False, kw_only=True)
    """The type itself, which reads what is stated."""

    @property
    def parts(self) -> Annotation:
        """The type, as a stream reads it."""
        return self.base_type.parts

    def compilation(self) -> Compilation:
        """Return the compilation of the schema in which fields may be null."""
        return replace(self.base_type, schema=self.schema).compilation()

    def compilation_options(self) -> list[object]:
        """Return the options of the type itself."""
        return self.base_type.compilation_options()

    def parse(self, text: str) -> ParsedAnswer[T]:
        """Return the stated values of an answer, and its missing fields.

        Raises ValueError if a validator rejects it.
        """
        stated_text, missing = separate_missing(self.root, text)
        data = self.to_data(stated_text)
        value, missing_error = None, None
        try:
            value = self.base_type.parse(stated_text)
        except ValidationError as error:
            if () not in missing and not is_all_missing(error.errors(), data, missing):
                raise
            missing_error = error
        return ParsedAnswer(value, without_missing(data, missing), tuple(map(steps_to_path, missing)), missing_error)

    def to_data(self, text: str) -> Any:
        """Return the JSON value of an answer, as the type itself does."""
        return self.base_type.to_data(text)

    def plain(self, value: Any) -> Any:
        """Return an instance as plain JSON data."""
        return self.base_type.plain(value)
