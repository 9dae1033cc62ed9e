"""Partitions of a language: its texts, sorted by which of some other languages they are in."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from structured.automata.dfa.automaton import Automaton
from structured.automata.dfa.exploration import table_of
from structured.automata.dfa.minimisation import smallest
from structured.automata.dfa.products import Tracked
from structured.automata.dfa.protocol import Language
from structured.automata.dfa.table import Table


@dataclass(frozen=True, slots=True)
class Partition:
    """The texts of a language, sorted by which of some others they are in: for each kind, the states where it ends."""

    table: Table
    kinds: dict[frozenset[int], set[int]]

    def automaton(self, kinds: Iterable[frozenset[int]]) -> Automaton:
        """Return the automaton of the texts of some kinds."""
        found = smallest(self.table, {state for kind in kinds for state in self.kinds[kind]})
        if found is None:
            raise ValueError("no text is of such a kind")
        return found


def partition(base: Language, languages: Sequence[Language]) -> Partition:
    """Return the texts of a language, sorted by which of the others they are in."""
    tracked = Tracked(base, tuple(languages))
    kinds: dict[frozenset[int], set[int]] = {}

    def note(number: int, state: Any) -> None:
        if tracked.accepts(state):
            kinds.setdefault(tracked.kind(state), set()).add(number)

    return Partition(table_of(tracked, note), kinds)
