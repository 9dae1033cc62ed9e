"""Types of which a text may not state all fields; their answers are what it states, and the paths of the rest."""

import json
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from pydantic import ValidationError

from structured.json_schema.document.location import Compilation
from structured.output_types.annotations import Annotation
from structured.output_types.json_output import JsonOutput
from structured.output_types.missing import is_all_missing, stated, without
from structured.output_types.paths import steps_to_path
from structured.output_types.stated import Stated

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class PartlyStated(JsonOutput[Stated[T]]):
    """A type of which a text may not state all fields: what is missing is written as null or left out, and listed."""

    of: JsonOutput[T] = field(repr=False, kw_only=True)
    """The type itself, which reads what is stated."""

    @property
    def parts(self) -> Annotation | None:
        """The type, as a stream reads it."""
        return self.of.parts

    def compilation(self) -> Compilation:
        """Return what compiles the schema in which fields may be null."""
        return replace(self.of, schema=self.schema).compilation()

    def parse(self, text: str) -> Stated[T]:
        """Return what an answer states, and where something is missing. Raises ValueError if a validator rejects it."""
        left, missing = stated(self.root, text)
        data = json.loads(left)
        value = None
        try:
            value = self.of.parse(left)
        except ValidationError as error:
            if () not in missing and not is_all_missing(error.errors(), data, missing):
                raise
        return Stated(value, without(data, missing), tuple(map(steps_to_path, missing)))

    def plain(self, value: Any) -> Any:
        """Return an instance as plain JSON data."""
        return self.of.plain(value)
