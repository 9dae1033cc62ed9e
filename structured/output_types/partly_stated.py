"""Types whose answers may leave fields out: what is missing is listed beside the value."""

import json
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

from pydantic import ValidationError

from structured.json_schema.document.location import Compilation
from structured.output_types.annotations import Annotation
from structured.output_types.json_output import JsonOutput
from structured.output_types.missing import is_all_missing, stated, without
from structured.output_types.paths import steps_to_path

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Stated(Generic[T]):
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
class PartlyStated(JsonOutput[Stated[T]]):
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

    def parse(self, text: str) -> Stated[T]:
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
        return Stated(value, without(data, missing), tuple(map(steps_to_path, missing)), problem)

    def plain(self, value: Any) -> Any:
        """Return an instance as plain JSON data."""
        return self.of.plain(value)
