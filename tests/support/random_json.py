"""Random texts of a type, each of which Pydantic has to accept."""

import random
from typing import Any

import numpy as np

from structured.automata import DEAD, RegularAutomaton
from structured.errors import SchemaError
from structured.json_schema.document.location import OptionalProperties
from structured.json_schema.schema_compiler import compiled
from structured.output_types.json_output import JsonLayout
from structured.output_types.resolve import resolve_type

LONG = 60
"""Bytes after which a random text is steered to its end."""


def random_json(automaton: RegularAutomaton, source: random.Random, longest: int = LONG) -> bytes:
    """Return a text of uniform random bytes out of those that are allowed; after `longest`, of those that lead home."""
    state, text = automaton.start, bytearray()
    while True:
        automaton.expand(state)
        row = automaton.table[state]
        allowed = np.flatnonzero(row != DEAD)
        if automaton.accepts(state) and (not len(allowed) or len(text) >= longest or source.random() < 0.3):
            return bytes(text)
        if len(text) >= longest:
            distances = automaton.distances[row[allowed]]
            allowed = allowed[distances < automaton.distances[state]]
        byte = int(source.choice(allowed))
        text.append(byte)
        state = automaton.step(state, byte)


def automaton_of(
    output_type: Any, whitespace: str = "compact", optional: OptionalProperties = "written"
) -> RegularAutomaton:
    return RegularAutomaton(compiled(resolve_type(output_type, layout=JsonLayout(whitespace, optional)).compilation()))


def check_texts(
    output_type: Any,
    count: int,
    source: random.Random,
    whitespace: str = "compact",
    optional: OptionalProperties = "written",
) -> int:
    """Validate random texts of a type; return how many.

    A type that two others share by an alias may be one of those that are refused (`Short`): then none.
    """
    try:
        automaton = automaton_of(output_type, whitespace, optional)
    except SchemaError as error:
        if error.keyword != "configured_alias":
            raise
        return 0
    adapter = resolve_type(output_type).adapter
    for _ in range(count):
        adapter.validate_json(random_json(automaton, source, source.choice((0, 20, LONG))))
    return count
