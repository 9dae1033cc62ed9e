"""Missing values: types whose answers may leave fields out, and list them beside the value.

An answer with null for what is missing is split into what it states and the paths of the rest. The type reads what is
stated. Where it requires a missing value there is no instance; then the errors of Pydantic have to say that values are
missing, and nothing else.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, NamedTuple, TypeVar

from pydantic import ValidationError

from structured.json_schema.document.location import NOT_STATED, Compilation, Subschema
from structured.json_schema.document.references import follow
from structured.output_types.annotations import Annotation
from structured.output_types.json_output import JsonOutput
from structured.output_types.missing_fields import DROPPED
from structured.output_types.paths import Steps, steps_to_path


class _Number(str):
    """A number as it is written."""

    __slots__ = ()


def stated(root: Subschema, text: str) -> tuple[str, tuple[Steps, ...]]:
    """Return the part of an answer that the type reads, and the places of what is missing.

    `{"name": "Ana", "age": null}` → `{"name": "Ana"}`, `(("age",),)`
    """
    value = json.loads(text, parse_float=_Number, parse_int=_Number)
    missing: dict[Steps, None] = {}
    if value is None and isinstance(root.schema, Mapping) and NOT_STATED in root.schema:
        return "null", ((),)
    _drop(root, value, (), missing)
    return _written(value), tuple(missing)


def without(data: Any, missing: Sequence[Steps]) -> Any:
    """Return the stated data of an answer, without the nulls that the type reads in place of missing values."""
    for *above, name in filter(None, missing):
        inside = data
        for step in above:
            inside = inside[step]
        inside.pop(name, None)
    return data


def _drop(part: Subschema, value: Any, steps: Steps, missing: dict[Steps, None]) -> None:
    """Collect the missing members of a value, and remove those that the type does not read."""
    schema = part.schema
    if not isinstance(schema, Mapping) or not isinstance(value, dict | list):
        return
    if "$ref" in schema:
        _drop(follow(part), value, steps, missing)
    for keyword in ("allOf", "anyOf", "oneOf"):
        for index in range(len(schema.get(keyword, []))):
            option = part.below(keyword, index)
            if keyword == "allOf" or _fits(option, value):
                _drop(option, value, steps, missing)
    if isinstance(value, list):
        _drop_in_items(part, value, steps, missing)
    else:
        _drop_in_members(part, value, steps, missing)


def _drop_in_items(part: Subschema, value: list[Any], steps: Steps, missing: dict[Steps, None]) -> None:
    first = len(part.schema.get("prefixItems", []))
    for index, item in enumerate(value):
        if index < first:
            _drop(part.below("prefixItems", index), item, (*steps, index), missing)
        elif "items" in part.schema:
            _drop(part.below("items"), item, (*steps, index), missing)


def _drop_in_members(part: Subschema, value: dict[str, Any], steps: Steps, missing: dict[Steps, None]) -> None:
    properties = part.schema.get("properties", {})
    for name in properties:
        _drop_member(part.below("properties", name), value, name, (*steps, name), missing)
    if "additionalProperties" in part.schema:
        for name in [name for name in value if name not in properties]:
            _drop(part.below("additionalProperties"), value[name], (*steps, name), missing)


def _drop_member(part: Subschema, value: dict[str, Any], name: str, steps: Steps, missing: dict[Steps, None]) -> None:
    note = part.schema.get(NOT_STATED) if isinstance(part.schema, Mapping) else None
    if note is not None and value.get(name) is None:
        missing[steps] = None
        if note == DROPPED:
            value.pop(name, None)
    elif name in value:
        _drop(part, value[name], steps, missing)


def _fits(part: Subschema, value: Any) -> bool:
    """Return whether a value may belong to a branch: an object without other properties, and with its constants."""
    while isinstance(part.schema, Mapping) and "$ref" in part.schema:
        part = follow(part)
    if not isinstance(part.schema, Mapping) or not isinstance(value, dict) or "properties" not in part.schema:
        return True
    properties = part.schema["properties"]
    if "additionalProperties" not in part.schema and value.keys() - properties.keys():
        return False
    return all(
        value[name] == inside["const"]
        for name, inside in properties.items()
        if name in value and isinstance(inside, Mapping) and isinstance(inside.get("const"), str)
    )


def _written(value: Any) -> str:
    """Return a value as JSON text, its numbers unchanged."""
    if isinstance(value, _Number):
        return str(value)
    if isinstance(value, dict):
        return f"{{{', '.join(f'{json.dumps(name)}: {_written(inside)}' for name, inside in value.items())}}}"
    return f"[{', '.join(map(_written, value))}]" if isinstance(value, list) else json.dumps(value)


class _Fault(NamedTuple):
    """An error of Pydantic: the missing place, if it reports one, and the branch of a union that it belongs to."""

    gap: Steps | None
    union: Steps | None
    branch: object


def is_all_missing(errors: Sequence[Mapping[str, Any]], data: Any, missing: Sequence[Steps]) -> bool:
    """Return whether Pydantic's errors about a value report only the values that are known to be missing.

    In a union it is enough if the errors of one branch do: for the others, Pydantic says why the value does not fit
    them.
    """
    faults = [_fault(error["type"], error["loc"], data) for error in errors]
    known = [fault for fault in faults if fault.gap in missing]
    lacking = {(fault.union, fault.branch) for fault in known}
    unions = {fault.union for fault in known if fault.union is not None}
    others = [fault for fault in faults if fault.gap not in missing]
    return all(fault.union in unions and (fault.union, fault.branch) not in lacking for fault in others)


def _fault(kind: str, location: Steps, data: Any) -> _Fault:
    """Return the fault of an error, by following its location (which names branches, too) into the value."""
    steps: Steps = ()
    union: Steps | None = None
    label: str | int | None = None
    for number, step in enumerate(location, 1):
        if _has(data, step):
            steps, data = (*steps, step), data[step]
        elif number == len(location) and kind.startswith("missing"):
            return _Fault((*steps, step), union, label)
        elif union is None:
            union, label = steps, step
    return _Fault(None, union, label)


def _has(data: Any, step: str | int) -> bool:
    if isinstance(data, list):
        return isinstance(step, int) and step < len(data)
    return isinstance(data, dict) and step in data


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

    of: JsonOutput[T] = field(repr=False, kw_only=True)
    """The type itself, which reads what is stated."""

    @property
    def parts(self) -> Annotation | None:
        """The type, as a stream reads it."""
        return self.of.parts

    def compilation(self) -> Compilation:
        """Return the compilation of the schema in which fields may be null."""
        return replace(self.of, schema=self.schema).compilation()

    def parse(self, text: str) -> ParsedAnswer[T]:
        """Return the stated values of an answer, and its missing fields.

        Raises ValueError if a validator rejects it.
        """
        left, missing = stated(self.root, text)
        data = json.loads(left)
        value, problem = None, None
        try:
            value = self.of.parse(left)
        except ValidationError as error:
            if () not in missing and not is_all_missing(error.errors(), data, missing):
                raise
            problem = error
        return ParsedAnswer(value, without(data, missing), tuple(map(steps_to_path, missing)), problem)

    def plain(self, value: Any) -> Any:
        """Return an instance as plain JSON data."""
        return self.of.plain(value)
