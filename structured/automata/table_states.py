"""The states that the tokens of a trie lead to, along the transition table of an automaton."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from structured.automata.loops.table_walks import END, LEVEL, NEXT, STATE, walk_table
from structured.vocabulary.trie import Trie


class Expandable(Protocol):
    """An automaton whose rows are filled when they are needed; see `Automaton`."""

    @property
    def table(self) -> NDArray[np.int32]: ...  # noqa: D102

    def expand(self, state: int) -> None: ...  # noqa: D102


def walk_states(
    automaton: Expandable, trie: Trie, state: int, mask: NDArray[np.uint32], targets: NDArray[np.bool_] | None = None
) -> NDArray[np.bool_]:
    """Set the bits of the tokens that lead to a target, or to any state for None; return which states are reached.

    `targets` and the result have an entry for each state.
    """
    path, progress = np.empty((trie.height + 1, 3), dtype=np.int32), np.zeros(1, dtype=np.int32)
    path[0, STATE], path[0, NEXT], path[0, END] = state, trie.first[0], trie.first[1]
    reached = np.zeros(0, dtype=np.bool_)
    while True:
        table = automaton.table
        reached = np.pad(reached, (0, len(table) - len(reached)))
        is_target = np.ones_like(reached) if targets is None else np.pad(targets, (0, len(table) - len(targets)))
        if walk_table(trie.arrays, table, is_target, reached, path, mask, progress):
            return reached
        automaton.expand(int(path[progress[LEVEL], STATE]))
