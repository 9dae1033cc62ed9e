"""Quotations: the suffix array of a text, and the progress of a quotation as an interval of it and a depth.

The array has the suffixes of the text in the order of their bytes. It is built by prefix doubling (Manber & Myers,
"Suffix arrays: a new method for on-line string searches", 1993), in which only what is still equal is sorted again
(Larsson & Sadakane, "Faster suffix sorting", 2007); tripling, where three ranks fit in an integer. Each round is a few
calls of NumPy. A suffix automaton has twice as many states, and can only be built byte by byte.

On the stack these are two frames of one node. The upper has the interval, its first rank in `FIRST` and the end in
`SECOND`; the lower has the depth, as `-1 - depth`, and the state of the rule. Below lies what follows the quotation.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from structured.automata import opcodes as op
from structured.automata.byte_automaton import DEAD
from structured.automata.loops.jit import Bytes, Flags, Ints, Rows, compiled_loop, entry_with_fallback
from structured.automata.loops.machine import Machine
from structured.automata.opcodes import BARRIER, FAR, UNLIMITED

_FIRST = 8
"""Bytes that the first round compares: as many as an integer holds."""


def suffix_array(text: NDArray[np.uint8]) -> NDArray[np.int32]:
    """Return where the suffixes of a text without zero bytes begin, sorted.

    `banana` → `[5, 3, 1, 0, 4, 2]`
    """
    size = len(text)
    padded = np.concatenate([text, np.zeros(_FIRST, dtype=np.uint8)])
    first = np.zeros(size, dtype=np.uint64)
    for offset in range(_FIRST):
        first = first << np.uint64(8) | padded[offset : offset + size]
    order = np.argsort(first)
    rank = np.zeros(size + 1, dtype=np.int32)  # behind the end of the text: 0
    times = 3 if (size + 1) ** 3 < 1 << 63 else 2
    slots = _rank(rank, order, np.arange(size), first[order])
    compared = _FIRST
    while len(slots):
        places = order[slots]
        keys = rank[places].astype(np.int64)
        for ahead in range(1, times):
            keys = keys * (size + 1) + rank[np.minimum(places + ahead * compared, size)]
        sorting = np.argsort(keys)
        order[slots] = places[sorting]
        slots = _rank(rank, order, slots, keys[sorting])
        compared *= times
    return order.astype(np.int32)


def _rank(
    rank: NDArray[np.int32], order: NDArray[np.intp], slots: NDArray[np.intp], keys: NDArray[np.integer[Any]]
) -> NDArray[np.intp]:
    """Rank the suffixes in some slots, sorted by key: each gets the number, from 1, of the first slot with its key.

    Returns the slots of suffixes that still have equal keys.
    """
    is_first = np.concatenate([[True], keys[1:] != keys[:-1]]) if len(keys) else np.zeros(0, dtype=np.bool_)
    rank[order[slots]] = slots[np.maximum.accumulate(np.where(is_first, np.arange(len(slots)), 0))] + 1
    is_alone = is_first & np.concatenate([is_first[1:], [True]])
    left: NDArray[np.intp] = slots[~is_alone]
    return left


def measure_ends_by_rows(text: Bytes, unruled: Ints, kinds: Ints, moves: Rows, accepting: Flags, nearest: Rows) -> None:
    """Compute `measure_ends` in NumPy, for all states of a place at once."""
    states, last = len(moves), len(text)
    after = np.where(moves == DEAD, states, moves).T  # the last column is that of a state from which no end is reached
    row = np.full(states + 1, FAR, dtype=np.int32)
    nearest[:, last] = FAR
    for place in range(last - 1, -1, -1):
        if text[place] == BARRIER:
            row[:states] = FAR
        else:
            row[:states] = np.minimum(row[:states] if kinds[place] < 0 else row[after[kinds[place]]], FAR - 1) + 1
        if unruled[place] == 0:
            row[:states][accepting] = 0
        nearest[:, place] = row[:states]


@entry_with_fallback(measure_ends_by_rows)
def measure_ends(text: Bytes, unruled: Ints, kinds: Ints, moves: Rows, accepting: Flags, nearest: Rows) -> None:
    """Compute `nearest`: the bytes from each place, in each state of a rule, to the nearest end that the rule allows.

    `unruled` has the bytes to the nearest end without a rule, shape (places,); `nearest` has shape (states, places).
    """
    last = len(text)
    for state in range(len(moves)):
        nearest[state, last] = FAR
    for place in range(last - 1, -1, -1):
        for state in range(len(moves)):
            after = state if kinds[place] < 0 else int(moves[state, kinds[place]])
            if unruled[place] == 0 and accepting[state]:
                nearest[state, place] = 0
            elif text[place] == BARRIER or after == DEAD:
                nearest[state, place] = FAR
            else:
                nearest[state, place] = min(int(nearest[after, place + 1]) + 1, FAR)


@compiled_loop
def bytes_to_end(machine: Machine, quotation: int, rank: int, depth: int, state: int) -> int:
    """Return the bytes from a depth of a suffix to the nearest end that the rule allows, `FAR` if there is none.

    `quotation` is the start of the node's numbers in `operands`.
    """
    begin = int(machine.operands[machine.operands[quotation + op.SUFFIXES] + rank])
    counts, place = int(machine.operands[quotation + op.COUNTS]), begin + depth
    fewest, most = int(machine.operands[quotation + op.FEWEST]), int(machine.operands[quotation + op.MOST])
    if fewest > 0:
        enough = int(machine.operands[counts + begin]) + fewest
        place = max(place, int(machine.operands[machine.operands[quotation + op.BORDERS] + enough]))
    row = int(machine.operands[quotation + op.NEAREST]) + state * int(machine.operands[quotation + op.PLACES])
    left = int(machine.operands[row + place])
    if left >= FAR:
        return FAR
    end = place + left
    if most != UNLIMITED and machine.operands[counts + end] - machine.operands[counts + begin] > most:
        return FAR
    return end - begin - depth


@compiled_loop
def quotation_length(machine: Machine, quotation: int, first: int, end: int, depth: int, state: int) -> int:
    """Return the bytes to the nearest end from a depth of any suffix of an interval."""
    shortest = FAR
    for rank in range(first, end):
        shortest = min(shortest, bytes_to_end(machine, quotation, rank, depth, state))
        if shortest == 0:
            break
    return shortest


@compiled_loop
def length_of_one(machine: Machine, quotation: int, first: int, end: int, depth: int, state: int) -> int:
    """Return the bytes to the nearest end from a depth of the first suffix of an interval that has an end, or `FAR`."""
    for rank in range(first, end):
        found = bytes_to_end(machine, quotation, rank, depth, state)
        if found < FAR:
            return found
    return FAR


@compiled_loop
def byte_at(machine: Machine, quotation: int, rank: int, depth: int) -> int:
    """Return the byte at a depth of a suffix."""
    begin = machine.operands[machine.operands[quotation + op.SUFFIXES] + rank]
    return int(machine.text[machine.operands[quotation + op.QUOTED_TEXT] + begin + depth])


@compiled_loop
def first_rank(machine: Machine, quotation: int, first: int, end: int, depth: int, byte: int) -> int:
    """Return the first rank of an interval whose byte at a depth is not less than another; `end` if there is none."""
    low, high, width = first, first, 1
    while high < end and byte_at(machine, quotation, high, depth) < byte:
        low = high + 1
        high += width
        width *= 2
    high = min(high, end)
    while low < high:
        middle = (low + high) // 2
        if byte_at(machine, quotation, middle, depth) < byte:
            low = middle + 1
        else:
            high = middle
    return low


@compiled_loop
def after_character(machine: Machine, quotation: int, rank: int, end: int, depth: int) -> int:
    """Return the end of the run of ranks, from a rank on, with the same character at a depth."""
    if byte_at(machine, quotation, rank, depth) == BARRIER:
        return rank + 1
    counts, last, ahead = int(machine.operands[quotation + op.COUNTS]), end, depth
    place = counts + int(machine.operands[machine.operands[quotation + op.SUFFIXES] + rank])
    while machine.operands[place + ahead] == machine.operands[place + depth]:
        byte = byte_at(machine, quotation, rank, ahead)
        last = first_rank(machine, quotation, rank, last, ahead, byte + 1)
        ahead += 1
    return last


@compiled_loop
def can_end(machine: Machine, quotation: int, first: int, end: int, depth: int, state: int) -> bool:
    """Tell whether a quotation may end at a depth of some suffix of an interval.

    An end depends on the characters before, which all suffixes share, and on the next one. So one suffix for each next
    character is tested. Before its first byte no quotation ends.
    """
    rank = first if depth > 0 else end
    while rank < end:
        if bytes_to_end(machine, quotation, rank, depth, state) == 0:
            return True
        rank = after_character(machine, quotation, rank, end, depth)
    return False


@compiled_loop
def rule_after(machine: Machine, quotation: int, rank: int, depth: int, state: int) -> int:
    """Return the state of the rule after the byte at a depth of a suffix, or DEAD."""
    kinds = int(machine.operands[quotation + op.KINDS])
    if kinds < 0:
        return state
    begin = int(machine.operands[machine.operands[quotation + op.SUFFIXES] + rank])
    kind = int(machine.operands[kinds + begin + depth])
    if kind < 0:
        return state
    moves = int(machine.operands[quotation + op.MOVES])
    return int(machine.operands[moves + state * int(machine.operands[quotation + op.KIND_COUNT]) + kind])
