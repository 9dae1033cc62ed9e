"""The loops of an index: texts and tokens along the table of an automaton."""

from typing import Any

import numpy as np

from structured.automata.byte_automaton import DEAD, ROW_COMPLETE, UNKNOWN
from structured.automata.loops.state_table import refuse_state
from structured.automata.opcodes import FAR
from structured.machine_code.growing_arrays import viewed
from structured.machine_code.loop_errors import StateNeeded
from structured.machine_code.notation import Bytes, Flags, Ints, Rows, Sequences, Text, compiled_class, entry, rare_loop
from structured.vocabulary.trie import TrieArrays

DIFFERENT = -2
"""What `state_after_any` returns in place of a state, besides DEAD."""


@compiled_class
class BytePath:
    """Bytes from a state on, `text[:length]`, and the states before, between and after them, `states[:length + 1]`."""

    length: int
    text: Text
    states: Ints

    def __init__(self, state: int, max_length: int) -> None:
        if state < 0:
            raise IndexError(f"There is no state {state}.")
        self.length = 0
        self.text = viewed(np.zeros(max_length, dtype=np.uint8))
        self.states = viewed(np.full(max_length + 1, state, dtype=np.int32))

    def last_state(self) -> int:
        """Return the state after all bytes."""
        return int(self.states[self.length])

    def written(self) -> tuple[Any, Any]:
        """Return the bytes and the states."""
        return np.asarray(self.text)[: self.length], np.asarray(self.states)[: self.length + 1]


@rare_loop
def need_row(state: int) -> int:
    """Raise StateNeeded for the row of a state."""
    raise StateNeeded(state)


@entry
def state_after_any(sequences: Sequences, table: Rows, state: int) -> int:
    """Return the one state that the bytes of every one of some characters lead to; DEAD if none may be read.

    `sequences`, shape (sequences, 4, 2), are the characters as ranges of bytes, -1 where a sequence is shorter. Returns
    DIFFERENT if the characters lead to different states. Raises StateNeeded with a state whose row must be known.
    """
    if state < 0 or state >= len(table):
        refuse_state(state)
    common = UNKNOWN
    for sequence in range(len(sequences)):
        current = state
        for position in range(4):
            low, high = sequences[sequence, position, 0], sequences[sequence, position, 1]
            if low < 0 or current == DEAD:
                break
            if table[current, ROW_COMPLETE] == UNKNOWN:
                need_row(current)
            target = table[current, low]
            for byte in range(low + 1, high + 1):
                if table[current, byte] != target:
                    return DIFFERENT
            current = target
        if common != UNKNOWN and common != current:  # noqa: PLR1714  in C, no set
            return DIFFERENT
        common = current
    return common


@entry
def follow_forced(table: Rows, distances: Ints, present: Flags, path: BytePath) -> bool:
    """Go on with the bytes that are each the only way on, and tell whether all of them have been written.

    Only bytes that are `present` count, shape (256,). The run of bytes ends where the text may end or where two bytes
    may follow. If more must be known of the row of the last state, it is not finished. The path has room for as many
    bytes as the shortest completion has, since each byte brings the end nearer by one.
    """
    state = path.states[path.length]
    while distances[state] > 0:
        only, unknown = -1, False
        for byte in range(256):
            if present[byte] and table[state, byte] == UNKNOWN:
                unknown = True
            elif present[byte] and table[state, byte] != DEAD:
                if only >= 0:
                    return True
                only = byte
        if unknown:
            return False
        path.text[path.length] = only
        path.length += 1
        state = table[state, only]
        path.states[path.length] = state
    return True


@entry
def follow_shortest(table: Rows, distances: Ints, present: Flags, path: BytePath) -> bool:
    """Go on with the shortest completion (of several, the first in byte order), as `follow_forced`."""
    state = path.states[path.length]
    while distances[state] > 0:
        byte = 0
        while not present[byte] or table[state, byte] < 0 or distances[table[state, byte]] >= distances[state]:
            if present[byte] and table[state, byte] == UNKNOWN:
                return False
            byte += 1
            if byte == ROW_COMPLETE:
                no_byte_nearer()
        path.text[path.length] = byte
        path.length += 1
        state = table[state, byte]
        path.states[path.length] = state
    return True


@rare_loop
def no_byte_nearer() -> int:
    """Raise RuntimeError: the distances of a table are wrong."""
    raise RuntimeError("No byte brings the end nearer.")


@entry
def fewest_tokens(trie: TrieArrays, text: Bytes, counts: Ints) -> None:
    """Fill in how few tokens of a trie spell each suffix of a text, if that is -1; shape (len(text) + 1,).

    That is FAR if no tokens do.
    """
    counts[len(text)] = 0
    for start in range(len(text) - 1, -1, -1):
        if counts[start] >= 0:
            continue
        best = FAR
        node = 0
        for position in range(start, len(text)):
            child, end = trie.first[node], trie.first[node + 1]
            while child < end and trie.byte[child] != text[position]:
                child += 1
            if child == end:
                break
            node = child
            if trie.token_start[node] < trie.token_start[node + 1]:
                best = min(best, counts[position + 1] + 1)
        counts[start] = best
