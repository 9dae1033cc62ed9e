"""The compiled loops of an index: texts and tokens along the table of an automaton.

Each function is its own reference: `state_after_any.py_func` is the Python that `state_after_any` was compiled from.
"""

from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from structured.automata import DEAD, ROW_COMPLETE, UNKNOWN
from structured.automata.loops.jit import Array, Bytes, Flags, Ints, Rows, compiled_entry
from structured.automata.opcodes import FAR

Text = Annotated[NDArray[np.uint8], Array("uint8")]
Sequences = Annotated[NDArray[np.int32], Array("int32", 3)]

DIFFERENT, UNEXPANDED = -2, -3
"""What `state_after_any` returns in place of a state, besides DEAD."""


@compiled_entry
def state_after_any(sequences: Sequences, table: Rows, state: int) -> int:
    """Return the one state that the bytes of every one of some characters lead to; DEAD if none may be read.

    `sequences`, shape (sequences, 4, 2), are the characters as ranges of bytes, -1 where a sequence is shorter. Returns
    DIFFERENT if the characters lead to different states, and `UNEXPANDED - s` if the row of state `s` must be known.
    """
    common = UNKNOWN
    for sequence in range(len(sequences)):
        current = state
        for position in range(4):
            low, high = int(sequences[sequence, position, 0]), int(sequences[sequence, position, 1])
            if low < 0 or current == DEAD:
                break
            if table[current, ROW_COMPLETE] == UNKNOWN:
                return UNEXPANDED - current
            target = int(table[current, low])
            for byte in range(low + 1, high + 1):
                if table[current, byte] != target:
                    return DIFFERENT
            current = target
        if common not in (UNKNOWN, current):
            return DIFFERENT
        common = current
    return common


@compiled_entry
def forced_run(table: Rows, distances: Ints, present: Flags, path: Ints, run: Text, length: int) -> int:
    """Go on writing down the bytes that are each the only way on, and the states after them; return how many there are.

    Only bytes that are `present` count, shape (256,). `path[length]` is the state where `length` bytes have been
    written. The run ends where the text may end or where two bytes may follow. Returns `-1 - length` if more has to be
    known of the row of the state there. `run` has as many places as the shortest completion has bytes, since each byte
    brings it nearer by one, and `path` one more.
    """
    state = int(path[length])
    while distances[state] > 0:
        only, unknown = -1, False
        for byte in range(256):
            if present[byte] and table[state, byte] == UNKNOWN:
                unknown = True
            elif present[byte] and table[state, byte] != DEAD:
                if only >= 0:
                    return length
                only = byte
        if unknown:
            return -1 - length
        run[length] = only
        length += 1
        state = int(table[state, only])
        path[length] = state
    return length


@compiled_entry
def shortest_text(table: Rows, distances: Ints, present: Flags, path: Ints, text: Text, length: int) -> int:
    """Go on writing down the shortest completion (of several, the first in byte order); as `forced_run`."""
    state = int(path[length])
    while distances[state] > 0:
        byte = 0
        while not present[byte] or table[state, byte] < 0 or distances[table[state, byte]] >= distances[state]:
            if present[byte] and table[state, byte] == UNKNOWN:
                return -1 - length
            byte += 1
            if byte == ROW_COMPLETE:
                raise RuntimeError("No byte brings the end nearer.")
        text[length] = byte
        length += 1
        state = int(table[state, byte])
        path[length] = state
    return length


@compiled_entry
def fewest_tokens(byte: Bytes, first: Ints, token_start: Ints, text: Bytes, counts: Ints) -> None:
    """Fill in how few tokens of a trie spell each suffix of a text, where that is -1; shape (len(text) + 1,).

    That is FAR where no tokens do.
    """
    counts[len(text)] = 0
    for start in range(len(text) - 1, -1, -1):
        if counts[start] >= 0:
            continue
        best = FAR
        node = 0
        for position in range(start, len(text)):
            child, end = int(first[node]), int(first[node + 1])
            while child < end and byte[child] != text[position]:
                child += 1
            if child == end:
                break
            node = child
            if token_start[node] < token_start[node + 1]:
                best = min(best, int(counts[position + 1]) + 1)
        counts[start] = best
