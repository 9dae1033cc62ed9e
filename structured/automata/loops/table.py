"""The plain way to walk a trie along an automaton: by its table, asking it to expand a state whose row is missing.

It works for every automaton, and is what faster ways are measured and tested against.
"""

import numpy as np
from numpy.typing import NDArray

from structured.automata.loops.jit import Bytes, Ints, Rows, Words, compiled_loop
from structured.automata.protocol import DEAD, UNKNOWN, Automaton
from structured.vocabulary.trie import Trie

STATE, NEXT, END = range(3)
"""The columns of the path to where a walk stands, one row for each level: the state there, the child of the node there
that comes next, and the end of its children."""

LEVEL, FARTHEST = range(2)
"""What a walk writes down: the level that it stopped at, and the greatest distance of a state that a token led to."""


def path_from(trie: Trie, state: int) -> NDArray[np.int32]:
    """Return the path of a walk that begins, from a state; shape (height + 1, 3)."""
    path = np.empty((trie.height + 1, 3), dtype=np.int32)
    path[0] = state, trie.first[0], trie.first[1]
    return path


def walk_table(automaton: Automaton, trie: Trie, state: int, mask: NDArray[np.uint32]) -> int:
    """Set the bits of the tokens of a trie that may follow; return the greatest distance of a state after one."""
    path = path_from(trie, state)
    progress = np.zeros(2, dtype=np.int32)
    while not walk(
        trie.byte, trie.first, trie.token_start, trie.token_ids, automaton.table, automaton.distances, path, mask,
        progress,
    ):  # fmt: skip
        automaton.expand(int(path[progress[LEVEL], STATE]))
    return int(progress[FARTHEST])


@compiled_loop
def walk(
    byte: Bytes,
    first: Ints,
    token_start: Ints,
    token_ids: Ints,
    table: Rows,
    distances: Ints,
    path: Rows,
    mask: Words,
    progress: Ints,
) -> bool:
    """Walk a trie, setting the bit of each live token and skipping dead subtrees; tell whether the end was reached.

    The walk stops at a child whose transition the table does not know, so that the caller can expand the state of the
    level and call again.
    """
    level = int(progress[LEVEL])
    state, node, end = int(path[level, STATE]), int(path[level, NEXT]), int(path[level, END])
    while level > 0 or node < end:
        if node == end:
            level -= 1
            state, node, end = int(path[level, STATE]), int(path[level, NEXT]), int(path[level, END])
            continue
        target = int(table[state, byte[node]])
        if target == UNKNOWN:
            path[level, NEXT] = node
            progress[LEVEL] = level
            return False
        child = node
        node += 1
        if target == DEAD:
            continue
        if token_start[child] < token_start[child + 1]:
            progress[FARTHEST] = max(progress[FARTHEST], distances[target])
            for position in range(token_start[child], token_start[child + 1]):
                token_id = token_ids[position]
                mask[token_id >> 5] |= np.uint32(1) << np.uint32(token_id & 31)
        if first[child] < first[child + 1]:
            path[level, NEXT] = node
            level += 1
            state, node, end = target, int(first[child]), int(first[child + 1])
            path[level, STATE] = state
            path[level, END] = end
    return True
