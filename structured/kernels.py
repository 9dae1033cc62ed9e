"""The two loops over the trie of a vocabulary, written so that Numba compiles them and a person can still run them.

The functions here are plain Python over arrays and are what the tests read as the truth; `compiled` gives the same
functions as machine code. Numba is imported at that first call, and its code is cached on disk for later processes.
"""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from structured.automata import DEAD, UNKNOWN
from structured.vocabulary import Trie


def walk(
    trie: Trie, table: NDArray[np.int32], states: NDArray[np.int32], node: int, successors: NDArray[np.int32]
) -> int:
    """Walk the trie from `node` on, writing the state after each live token and skipping dead subtrees.

    `states[d]` is the state before the byte at depth `d`; `states[0]` is where the walk started. The walk stops at a
    node whose transition the table does not know, so that the caller can expand `states[depth]` and go on from there.
    Returns that node, or the number of nodes at the end.
    """
    while node < len(trie.byte):
        depth = trie.depth[node]
        target = table[states[depth], trie.byte[node]]
        if target == UNKNOWN:
            return node
        if target == DEAD:
            node = trie.subtree_end[node]
        else:
            states[depth + 1] = target
            for i in range(trie.token_start[node], trie.token_start[node + 1]):
                successors[trie.token_ids[i]] = target
            node += 1
    return node


def fewest_tokens(trie: Trie, text: NDArray[np.uint8]) -> NDArray[np.int32]:
    """Return for each suffix of a text how few tokens spell it; shape (len(text) + 1,)."""
    counts = np.zeros(len(text) + 1, dtype=np.int32)
    for start in range(len(text) - 1, -1, -1):
        best = len(text) + 1
        node, end, position = 0, len(trie.byte), start
        while node < end and position < len(text):
            if trie.byte[node] != text[position]:
                node = trie.subtree_end[node]
                continue
            position += 1
            if trie.token_start[node] < trie.token_start[node + 1]:
                best = min(best, counts[position] + 1)
            end = trie.subtree_end[node]
            node += 1
        counts[start] = best
    return counts


class Kernels(NamedTuple):
    """The two loops as machine code."""

    walk: Callable[[Trie, NDArray[np.int32], NDArray[np.int32], int, NDArray[np.int32]], int]
    fewest_tokens: Callable[[Trie, NDArray[np.uint8]], NDArray[np.int32]]


@cache
def compiled() -> Kernels:
    """Return the functions above, compiled."""
    import numba

    try:
        return Kernels(numba.njit(cache=True)(walk), numba.njit(cache=True)(fewest_tokens))
    except RuntimeError:  # no folder to cache in can be written
        return Kernels(numba.njit()(walk), numba.njit()(fewest_tokens))
