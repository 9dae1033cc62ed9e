"""The loops over the trie of a vocabulary, as plain Python over arrays that Numba compiles.

Each function is its own reference: `walk.py_func` is the Python that `walk` was compiled from. Importing this module
imports Numba; the machine code is cached on disk for later processes.
"""

from typing import Annotated

import numba
import numpy as np
from numpy.typing import NDArray

from structured.automata import DEAD, UNKNOWN
from structured.automata.machine_code import Bytes, Ints, Rows, Words, machine_code
from structured.automata.table import NODE

Flags = Annotated[NDArray[np.bool_], numba.boolean[::1]]
Text = Annotated[NDArray[np.uint8], numba.uint8[::1]]
Sequences = Annotated[NDArray[np.int32], numba.int32[:, :, ::1]]

DIFFERENT, UNEXPANDED = -2, -3
"""What `after_any` returns in place of a state, besides DEAD."""


@machine_code
def walk_successors(
    byte: Bytes,
    depth: Ints,
    subtree_end: Ints,
    token_start: Ints,
    token_ids: Ints,
    table: Rows,
    path: Ints,
    successors: Ints,
    progress: Ints,
) -> bool:
    """Walk a trie in the same way, writing down the state after each live token."""
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
        for position in range(token_start[node], token_start[node + 1]):
            successors[token_ids[position]] = target
        node += 1
    progress[NODE] = node
    return True


@machine_code
def walk_targets(
    byte: Bytes,
    depth: Ints,
    subtree_end: Ints,
    token_start: Ints,
    table: Rows,
    path: Ints,
    reached: Flags,
    progress: Ints,
) -> bool:
    """Walk a trie in the same way, marking the states after all live tokens; `reached` has a place for each row."""
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
            reached[target] = True
        node += 1
    progress[NODE] = node
    return True


@machine_code
def walk_to(
    byte: Bytes,
    depth: Ints,
    subtree_end: Ints,
    token_start: Ints,
    token_ids: Ints,
    table: Rows,
    path: Ints,
    wanted: Flags,
    mask: Words,
) -> None:
    """Walk a trie once more, setting the bits of the tokens that lead to wanted states; every row needed is known."""
    node = 0
    while node < len(byte):
        target = table[path[depth[node]], byte[node]]
        if target <= DEAD:
            node = int(subtree_end[node])
            continue
        path[depth[node] + 1] = target
        if wanted[target]:
            for position in range(token_start[node], token_start[node + 1]):
                token_id = token_ids[position]
                mask[token_id >> 5] |= np.uint32(1) << np.uint32(token_id & 31)
        node += 1


@machine_code
def after_any(sequences: Sequences, table: Rows, state: int) -> int:
    """Return the one state that the bytes of every one of some characters lead to; DEAD if none may be read.

    `sequences`, shape (sequences, 4, 2), are the characters as ranges of bytes, -1 where a sequence is shorter. Returns
    DIFFERENT if the characters lead to different states, and `UNEXPANDED - s` if the row of state `s` must be known.
    """
    common = UNKNOWN
    for sequence in range(len(sequences)):
        here = state
        for position in range(4):
            low, high = sequences[sequence, position]
            if low < 0 or here == DEAD:
                break
            if table[here, 0] == UNKNOWN:
                return UNEXPANDED - here
            following = int(table[here, low])
            if (table[here, low : high + 1] != following).any():
                return DIFFERENT
            here = following
        if common not in (UNKNOWN, here):
            return DIFFERENT
        common = here
    return common


@machine_code
def forced_run(table: Rows, distances: Ints, state: int, run: Text) -> int:
    """Write down the bytes that are each the only way on from a state; return how many there are.

    The run ends where the text may end or where two bytes may follow. Returns `UNEXPANDED - s` if the row of state `s`
    must be known first. `run` needs as many places as the shortest completion has bytes, since each byte brings it
    nearer by one.
    """
    length = 0
    while distances[state] > 0:
        if table[state, 0] == UNKNOWN:
            return UNEXPANDED - state
        only = -1
        for byte in range(256):
            if table[state, byte] != DEAD:
                if only >= 0:
                    return length
                only = byte
        run[length] = only
        length += 1
        state = int(table[state, only])
    return length


@machine_code
def shortest_text(table: Rows, distances: Ints, state: int, path: Ints, text: Text) -> int:
    """Write down the shortest completion of a state (of several, the first in byte order), and the states along it.

    Returns its length, or `UNEXPANDED - s` if the row of state `s` must be known first. `text` has `distances[state]`
    places, `path` one more.
    """
    length = 0
    path[0] = state
    while distances[state] > 0:
        if table[state, 0] == UNKNOWN:
            return UNEXPANDED - state
        byte = 0
        while table[state, byte] == DEAD or distances[table[state, byte]] != distances[state] - 1:
            byte += 1
        text[length] = byte
        length += 1
        state = int(table[state, byte])
        path[length] = state
    return length


@machine_code
def fewest_tokens(byte: Bytes, subtree_end: Ints, token_start: Ints, text: Bytes, counts: Ints) -> None:
    """Fill in how few tokens of a trie spell each suffix of a text, where that is -1; shape (len(text) + 1,)."""
    counts[len(text)] = 0
    for start in range(len(text) - 1, -1, -1):
        if counts[start] >= 0:
            continue
        best = len(text) + 1
        node, end, position = 0, len(byte), start
        while node < end and position < len(text):
            if byte[node] != text[position]:
                node = int(subtree_end[node])
                continue
            position += 1
            if token_start[node] < token_start[node + 1]:
                best = min(best, int(counts[position]) + 1)
            end = int(subtree_end[node])
            node += 1
        counts[start] = best
