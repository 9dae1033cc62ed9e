"""Reasoning before an answer: the pattern of whatever a model writes up to a marker.

Models that reason write freely, then a marker such as `</think>`, then their answer. The free part is a text like any
other, with a pattern and a budget of its own: when the tokens run out, the mask allows only the marker.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from structured.automata import RegularAutomaton
from structured.errors.arguments import check_fields, count, text
from structured.index.index import Index
from structured.regex import Pattern, char_set, literal, right_linear
from structured.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class Thinking:
    """What a reasoning model may write before its answer: free text that ends with a marker.

    Parameters:
        marker: The text that ends the reasoning.
        max_tokens: The most tokens of the reasoning, marker included. When they run out, the mask forces the marker.
    """

    marker: str = "</think>"
    max_tokens: int = 2048

    def __post_init__(self) -> None:
        check_fields(self, {"marker": text, "max_tokens": count(1)})
        if not self.marker:
            raise ValueError("marker is empty; it must be the text that ends the thinking, such as '</think>'.")


@lru_cache(maxsize=8)
def thinking_index(marker: str, vocabulary: Vocabulary) -> Index:
    """Return the index of all texts that end with a marker, which is in them nowhere else."""
    name = f"The marker {marker!r} of the thinking"
    return Index(RegularAutomaton(ending_with(marker)), vocabulary, name=name)


def ending_with(marker: str) -> Pattern:
    """Return the pattern of the texts that end with a marker at its first occurrence.

    A state is the number of its characters that have just been read, as in Knuth, Morris & Pratt ("Fast pattern
    matching in strings", 1977); a character that does not go on leads back to the longest beginning that does.
    """

    def arcs(read: int) -> Iterator[tuple[Pattern, int]]:
        if read < len(marker):
            targets = {character: _longest_beginning(marker, marker[:read] + character) for character in marker}
            yield from ((literal(character), target) for character, target in targets.items())
            yield char_set(*((ord(character), ord(character)) for character in targets), negated=True), 0

    found = right_linear(0, arcs, len(marker).__eq__)
    assert found is not None
    return found


def _longest_beginning(marker: str, text: str) -> int:
    """Return the length of the longest beginning of a marker that a text ends with."""
    return next(size for size in range(min(len(marker), len(text)), -1, -1) if text.endswith(marker[:size]))
