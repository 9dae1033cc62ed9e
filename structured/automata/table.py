"""The plain way to walk a trie along an automaton: by its table, asking it to expand a state whose row is missing.

It works for every automaton, and is what faster ways are measured and tested against.
"""

import numpy as np
from numpy.typing import NDArray

from structured.automata.machine_code import Bytes, Ints, Rows, Words, machine_code
from structured.automata.protocol import DEAD, UNKNOWN, Automaton
from structured.trie import Trie

NODE, FARTHEST = range(2)
"""What a walk writes down: the node that it stopped at, and the greatest distance of a state that a token led to."""


def walk_table(automaton: Automaton, trie: Trie, state: int, mask: NDArray[np.uint32]) -> int:
    """Set the bits of the tokens of a trie that may follow; return the greatest distance of a state after one."""
    path = np.full(trie.height + 1, state, dtype=np.int32)
    progress = np.zeros(2, dtype=np.int32)
    while not walk(
        trie.byte, trie.depth, trie.subtree_end, trie.token_start, trie.token_ids, automaton.table,
        automaton.distances, path, mask, progress,
    ):  # fmt: skip
        automaton.expand(int(path[trie.depth[progress[NODE]]]))
    return int(progress[FARTHEST])


@machine_code
def walk(
    byte: Bytes,
    depth: Ints,
    subtree_end: Ints,
    token_start: Ints,
    token_ids: Ints,
    table: Rows,
    distances: Ints,
    path: Ints,
    mask: Words,
    progress: Ints,
) -> bool:
    """Walk a trie, setting the bit of each live token and skipping dead subtrees; tell whether the end was reached.

    `path[d]` is the state before the byte at depth `d`; `path[0]` is where the walk started. The walk stops at a node
    whose transition the table does not know, so that the caller can expand `path[depth]` and call again.
    """
    node = int(progress[NODE])
    while node < len(byte):
        target = table[path[depth[node]], byte[node]]
        if target == UNKNOWN:
            progress[NODE] = node
            return False
        if target == DEAD:
            node = int(subtree_end[node])
            continue
        path[depth[node] + 1] = target
        if token_start[node] < token_start[node + 1]:
            progress[FARTHEST] = max(progress[FARTHEST], distances[target])
            for position in range(token_start[node], token_start[node + 1]):
                token_id = token_ids[position]
                mask[token_id >> 5] |= np.uint32(1) << np.uint32(token_id & 31)
        node += 1
    progress[NODE] = node
    return True
