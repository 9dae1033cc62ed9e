"""Where the compilation of a schema stands, and the errors that it raises there."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from structured.errors import SchemaError
from structured.pattern import Literal, Pattern, Reference, literal
from structured.schema.whitespace import Whitespace

Schema = Mapping[str, Any]
"""A JSON Schema that is an object."""

DEFINITIONS = "#/$defs/"


@dataclass(frozen=True, slots=True)
class Place:
    """A schema's JSON Pointer (RFC 6901), the brackets open around its text, and what the whole compilation shares.

    `open_names` are the definitions that the place lies inside. `patterns` keeps each definition's pattern by name, or
    by name and depth where lines are indented. `references` are those to a definition from inside it.
    """

    whitespace: Whitespace
    definitions: Schema
    patterns: dict[str, Pattern]
    references: list[Reference]
    path: str = ""
    depth: int = 0
    open_names: tuple[str, ...] = ()

    def at(self, *keys: str | int) -> "Place":
        """Return the place of a subschema whose text stands at the same depth."""
        return replace(self, path=self.path + "".join(f"/{_escape(str(key))}" for key in keys))

    def inside(self, *keys: str | int) -> "Place":
        """Return the place of a subschema whose text stands inside one more pair of brackets."""
        return replace(self.at(*keys), depth=self.depth + 1)

    def in_definition(self, name: str) -> "Place":
        """Return the place of the definition of this name, its text standing here."""
        return replace(self, path="", open_names=(*self.open_names, name)).at("$defs", name)

    def definition_name(self, reference: object) -> str:
        """Return the definition that a `$ref` names: `"#/$defs/Person"` → `"Person"`."""
        name = str(reference).removeprefix(DEFINITIONS).replace("~1", "/").replace("~0", "~")
        if not str(reference).startswith(DEFINITIONS) or name not in self.definitions:
            raise self.refusal(
                f"The reference {reference!r} leads nowhere",
                keyword="$ref",
                remedy=f"Write the definition under $defs and refer to it as {DEFINITIONS}Name.",
            )
        return name

    def refusal(self, problem: str, *, keyword: str | None = None, remedy: str) -> SchemaError:
        """Return the error that says what cannot be honoured here."""
        return SchemaError(problem, schema_path=self.path, keyword=keyword, remedy=remedy)

    def unsatisfiable(self, reason: str, *, keyword: str) -> SchemaError:
        """Return the error that says that no text can be valid here."""
        return self.refusal(f"Unsatisfiable: {reason}", keyword=keyword, remedy="Allow at least one value.")

    def spelling(self, value: object, *, keyword: str) -> Literal:
        """Return the one way in which a value of the schema is written: `"né"` → `"né"`, quotes included."""
        if not isinstance(value, str | int | float | None):
            raise self.refusal(
                f"{value!r} is neither a string, a number, a boolean nor null",
                keyword=keyword,
                remedy="Use plain values; describe arrays and objects by their type.",
            )
        try:
            text = json.dumps(value, ensure_ascii=False, allow_nan=False)
            text.encode()
        except ValueError as error:
            raise self.refusal(
                f"No JSON text holds {value!r}", keyword=keyword, remedy="Remove it, or replace it."
            ) from error
        return literal(text)

    def counts(self, schema: Schema, at_least: str, at_most: str) -> tuple[int, int | None]:
        """Return the limits of a length, as two keywords of the schema set them; None is no limit.

        `{"minLength": 2}`, `"minLength"`, `"maxLength"` → `(2, None)`
        """
        low = self._count(schema, at_least) or 0
        high = self._count(schema, at_most)
        if high is not None and low > high:
            raise self.unsatisfiable(f"no length is at least {low} and at most {high}", keyword=at_least)
        return low, high

    def _count(self, schema: Schema, keyword: str) -> int | None:
        count = schema.get(keyword)
        if count is not None and (not isinstance(count, int) or isinstance(count, bool) or count < 0):
            raise self.refusal(
                f"{count!r} is not a length", keyword=keyword, remedy="Use an integer that is at least 0."
            )
        return count


def _escape(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")
