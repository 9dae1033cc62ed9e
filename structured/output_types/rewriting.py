"""Rewriting: what an answer may become if only the values at some places of it are written again."""

from collections.abc import Mapping
from typing import Any

from structured.automata import RegularAutomaton
from structured.json_schema.document.location import Location, Subschema
from structured.json_schema.schema_compiler import foundation, part_to_pattern
from structured.output_types.json_output import with_statements
from structured.output_types.output_type import OutputType
from structured.output_types.paths import Steps
from structured.output_types.places import parts_at
from structured.regex import alternation, concat, literal


def rewriting(
    output_type: OutputType[Any], text: str, places: Mapping[Steps, tuple[int, int]], document: str
) -> RegularAutomaton | None:
    """Return the automaton of what an answer to a document may become if the values at some places are written again.

    Each place is given with where it starts and ends in the text; none lies in another. What may stand there is of
    the type by itself, and perhaps not beside the rest. None if no schema tells what may stand there.
    """
    if output_type.root is None:
        return None
    compilation = output_type.root.location.compilation
    if output_type.depends_on_document:
        compilation = with_statements(compilation, document)
    root = Subschema(compilation.root, Location(compilation))
    pieces, kept = [], 0
    for steps, (start, end) in sorted(places.items(), key=lambda place: place[1]):
        parts = [part._replace(location=part.location._replace(depth=len(steps))) for part in parts_at(root, steps)]
        if not parts:
            return None
        pieces += [literal(text[kept:start]), alternation(*(part_to_pattern(part, compilation) for part in parts))]
        kept = end
    return RegularAutomaton(concat(*pieces, literal(text[kept:])), foundation=foundation())
