"""The plain way to walk a trie along an automaton: by its table, asking it to expand a state whose row is missing.

It works for every automaton. `state_walks.walk` is the same for the question that is asked most, and makes the states.
"""

import numpy as np
from numpy.typing import NDArray

from structured.automata.loops.jit import Flags, Ints, Rows, Words, compiled_entry
from structured.automata.loops.machine import TrieArrays
from structured.automata.protocol import DEAD, UNKNOWN
from structured.vocabulary.trie import Trie

STATE, NEXT, END = range(3)
"""The columns of the path to where a walk stands, one row for each level: the state there, the child of the node there
that comes next, and the end of its children."""

FIRST_RANK, END_RANK, DEPTH, RULE, CURSOR, AFTER, NEAR = range(3, 10)
"""Further columns of a level that stands in a quotation, where `STATE` is a frame of it, negated: the interval of the
suffix array, the depth and the state of the rule; the first rank that has not been passed by the children so far; the
state of what follows the quotation; and a distance that the one of the level does not exceed. See `quoting.py`."""

ITEM_STATE, ITEM_TEXT, ENDED = FIRST_RANK, END_RANK, DEPTH
"""The same of a level that stands in an item that must differ from others, or behind it: the state of the automaton of
any item, and what is read of this one, DEAD if no item that is written begins so; behind it `-1 - s` for the state `s`
that follows, and the level at which the item ended. See `distinct.py`."""

LEVEL, FARTHEST = range(2)
"""What a walk writes down: the level that it stopped at, and the greatest distance of a state that a token led to."""


def walk_from(trie: Trie, state: int) -> tuple[TrieArrays, NDArray[np.int32], NDArray[np.int32]]:
    """Return the arrays of a trie, and the path and the progress of a walk that begins at its root, from a state."""
    path = np.empty((trie.height + 1, 10), dtype=np.int32)
    path[0, STATE], path[0, NEXT], path[0, END] = state, trie.first[0], trie.first[1]
    return TrieArrays(trie.byte, trie.first, trie.token_start, trie.token_ids), path, np.zeros(2, dtype=np.int32)


@compiled_entry
def walk(trie: TrieArrays, table: Rows, wanted: Flags, reached: Flags, path: Rows, mask: Words, progress: Ints) -> bool:
    """Walk a trie, skipping dead subtrees; tell whether the end was reached.

    The states after all live tokens are marked in `reached`; the bits of those tokens that lead to a `wanted` state are
    set. Both have a place for each row. The walk stops at a child whose transition the table does not know, so that the
    caller can expand the state of the level and call again.
    """
    level = int(progress[LEVEL])
    state, node, end = int(path[level, STATE]), int(path[level, NEXT]), int(path[level, END])
    while level > 0 or node < end:
        if node == end:
            level -= 1
            state, node, end = int(path[level, STATE]), int(path[level, NEXT]), int(path[level, END])
            continue
        target = int(table[state, trie.byte[node]])
        if target == UNKNOWN:
            path[level, NEXT] = node
            progress[LEVEL] = level
            return False
        child = node
        node += 1
        if target == DEAD:
            continue
        if trie.token_start[child] < trie.token_start[child + 1]:
            reached[target] = True
            if wanted[target]:
                for position in range(trie.token_start[child], trie.token_start[child + 1]):
                    token_id = trie.token_ids[position]
                    mask[token_id >> 5] |= np.uint32(1) << np.uint32(token_id & 31)
        if trie.first[child] < trie.first[child + 1]:
            path[level, NEXT] = node
            level += 1
            state, node, end = target, int(trie.first[child]), int(trie.first[child + 1])
            path[level, STATE] = state
            path[level, END] = end
    return True
