"""The check of answers that no mask has seen: they are texts of the type in some layout, before its reader sees them.

Pydantic alone would take more: `"25"` for a number, and members that the type does not have, which it passes over.
Rejected: checking an answer by the JSON Schema that was sent, which lacks what JSON Schema has no words for, and reads
the expressions of Rust and Python as if they were its own.
"""

import json
from dataclasses import replace
from typing import Any

from structured.automata import Automaton, RegularAutomaton
from structured.automata.byte_automaton import Recogniser
from structured.errors.recursion import with_room
from structured.json_schema.schema_compiler import compiled
from structured.json_schema.whitespace import read_whitespace
from structured.output_types.choice import Choice
from structured.output_types.grammar import Grammar
from structured.output_types.json_output import JsonOutput
from structured.output_types.json_schema import JsonSchemaType
from structured.output_types.output_type import OutputType
from structured.output_types.regex import Regex

READ_STRICTLY = (Choice, Grammar, JsonSchemaType, Regex)
"""Types whose `parse` takes no other answers than their automata do."""


class AnswerCheck:
    """Tells whether a text that nobody guided is an answer of a type, whatever its validators say.

    Parameters:
        output_type: The type.
        left_to_parse: The kinds of types whose `parse` is to say it alone.
    """

    def __init__(
        self, output_type: OutputType[Any], left_to_parse: tuple[type[OutputType[Any]], ...] = READ_STRICTLY
    ) -> None:
        self.output_type = output_type
        self.left_to_parse = left_to_parse
        self._recogniser = Recogniser(self._automaton)

    def _automaton(self) -> Automaton:
        """The answers; those that are JSON with their members in any order, and optional ones left out or not."""
        wanted = self.output_type
        if not isinstance(wanted, JsonOutput):
            return wanted.automaton()
        layout = read_whitespace("any")  # JSON in strings stays as it is
        return RegularAutomaton(
            compiled(replace(wanted.compilation(), whitespace=layout, optional="omittable", key_order="any"))
        )

    def fault(self, text: str) -> str | None:
        """Return why a text is no answer; None if it may be one."""
        wanted = self.output_type
        if isinstance(wanted, self.left_to_parse):
            return None
        if not isinstance(wanted, JsonOutput):
            return None if self._recogniser.accepts(text) else f"It is no text of {wanted.name}."
        try:
            written = _compact(text)
        except (ValueError, RecursionError) as error:
            return f"It is no JSON: {error}."
        return None if self._recogniser.accepts(written) else f"It is no JSON of the type {wanted.name}."


def _compact(text: str) -> str:
    """Return a JSON text with each character and number in one spelling. Raises ValueError if it is none."""
    data = with_room(json.loads, text, parse_constant=_refuse_constant)
    written: str = with_room(json.dumps, data, ensure_ascii=False, separators=(",", ":"))
    return written


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no number of JSON")
