"""The check of answers that no mask has seen: they are what the schema of a type says, before Pydantic reads them.

Pydantic alone would take more: `"25"` for a number, and members that the type does not have, which it passes over.
"""

from typing import Any

from structured.automata.protocol import accepts_text
from structured.output_types.choice import Choice
from structured.output_types.constraints.standard_schema import standard_schema
from structured.output_types.grammar import Grammar
from structured.output_types.json_output import JsonOutput
from structured.output_types.json_schema import JsonSchema, JsonSchemaType
from structured.output_types.output_type import OutputType
from structured.output_types.regex import Regex

_READ_STRICTLY = (Choice, Grammar, JsonSchemaType, Regex)
"""Types whose `parse` takes no other answers than their automata do."""


class AnswerCheck:
    """Tells whether a text that nobody guided is an answer of a type, whatever its validators say."""

    def __init__(self, output_type: OutputType[Any]) -> None:
        self.output_type = output_type
        self._schema: JsonSchemaType | None = None
        if isinstance(output_type, JsonOutput) and not isinstance(output_type, JsonSchemaType):
            schema = standard_schema(output_type.schema, "omittable") if isinstance(output_type.schema, dict) else {}
            source = JsonSchema(schema, assert_formats=False, name=output_type.name)
            self._schema = JsonSchemaType(source.name, schema, source=source)

    def fault(self, text: str, document: str) -> str | None:
        """Return why a text is no answer; None if it may be one."""
        if isinstance(self.output_type, _READ_STRICTLY):
            return None
        if self._schema is None:
            fits = accepts_text(self.output_type.automaton(document), text)
            return None if fits else f"It is no text of {self.output_type.name}."
        try:
            self._schema.parse(text)
        except ValueError as error:
            return f"It is not what the JSON Schema says: {error}"
        return None
