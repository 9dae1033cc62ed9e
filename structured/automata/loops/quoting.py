"""Quotations: the suffix array of a document, and the progress of a quotation as an interval of it and a depth.

The array has the places of the document where quotations may begin, in the order of the bytes from there on: the
suffixes. A *rank* is an index of it. After some bytes of a quotation, the suffixes that begin with them are an interval
of ranks, and the *depth* is the number of these bytes. In `banana`, after `an`: ranks 1 and 2 of `a`, `ana`, `anana`,
…; depth 2.

The array is built by prefix doubling (Manber & Myers,
"Suffix arrays: a new method for on-line string searches", 1993), in which only what is still equal is sorted again
(Larsson & Sadakane, "Faster suffix sorting", 2007); tripling, where three ranks fit in an integer. Each round is a few
calls of NumPy. A suffix automaton has twice as many states, and can only be built byte by byte.

On the stack these are two frames of one node, on the frame after the quotation. The upper has the interval, its first
rank in `first` and its end in `second`; the lower has `-1 - depth`, and the state of the rule, an automaton that
quotations have to match.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from structured.automata import opcodes as op
from structured.automata.byte_automaton import DEAD
from structured.automata.loops.machine import Machine
from structured.automata.opcodes import BARRIER, FAR, UNLIMITED
from structured.machine_code.notation import Bytes, Flags, Ints, Rows, entry, loop

_INTEGER_BYTES = 8
"""The bytes of each suffix that the first round compares: as many as an integer holds."""


def suffix_array(text: NDArray[np.uint8]) -> NDArray[np.int32]:
    """Return where the suffixes of a text without zero bytes begin, sorted.

    `banana` → `[5, 3, 1, 0, 4, 2]`
    """
    size = len(text)
    padded = np.concatenate([text, np.zeros(_INTEGER_BYTES, dtype=np.uint8)])
    first_bytes = np.zeros(size, dtype=np.uint64)
    for offset in range(_INTEGER_BYTES):
        first_bytes = first_bytes << np.uint64(8) | padded[offset : offset + size]
    order = np.argsort(first_bytes)
    rank = np.zeros(size + 1, dtype=np.int32)  # after the end of the text: 0
    factor = 3 if (size + 1) ** 3 < 1 << 63 else 2
    slots = _rank_suffixes(rank, order, np.arange(size), first_bytes[order])
    compared = _INTEGER_BYTES
    while len(slots):
        places = order[slots]
        keys = rank[places].astype(np.int64)
        for part in range(1, factor):
            keys = keys * (size + 1) + rank[np.minimum(places + part * compared, size)]
        key_order = np.argsort(keys)
        order[slots] = places[key_order]
        slots = _rank_suffixes(rank, order, slots, keys[key_order])
        compared *= factor
    return order.astype(np.int32)


def _rank_suffixes(
    rank: NDArray[np.int32], order: NDArray[np.intp], slots: NDArray[np.intp], keys: NDArray[np.integer[Any]]
) -> NDArray[np.intp]:
    """Rank the suffixes in some slots of `order`, sorted by key: each gets one more than the first slot with its key.

    Returns the slots of suffixes that still have equal keys.
    """
    is_first = np.concatenate([[True], keys[1:] != keys[:-1]]) if len(keys) else np.zeros(0, dtype=np.bool_)
    rank[order[slots]] = slots[np.maximum.accumulate(np.where(is_first, np.arange(len(slots)), 0))] + 1
    is_unique = is_first & np.concatenate([is_first[1:], [True]])
    equal_slots: NDArray[np.intp] = slots[~is_unique]
    return equal_slots


@entry
def measure_ends(
    text: Bytes, any_end_distances: Ints, classes: Ints, transitions: Rows, accepting: Flags, end_distances: Rows
) -> None:
    """Compute `end_distances`, shape (states, places): the bytes from each place to the nearest end that a rule allows.

    They depend on the state of the rule at the place; `transitions` has shape (states, classes). `any_end_distances`
    has the bytes to the nearest end without a rule, `classes` the class of the character that ends with a byte, -1
    within a character; both have shape (places,).
    """
    last = len(text)
    for state in range(len(transitions)):
        end_distances[state, last] = FAR
    for place in range(last - 1, -1, -1):
        for state in range(len(transitions)):
            successor = state if classes[place] < 0 else transitions[state, classes[place]]
            if any_end_distances[place] == 0 and accepting[state]:
                end_distances[state, place] = 0
            elif text[place] == BARRIER or successor == DEAD:
                end_distances[state, place] = FAR
            else:
                end_distances[state, place] = min(end_distances[successor, place + 1] + 1, FAR)


@loop
def bytes_to_end(machine: Machine, quotation: int, rank: int, depth: int, state: int) -> int:
    """Return the bytes from a depth of a suffix to the nearest end that the rule allows, `FAR` if there is none.

    `quotation` is the start of the node's numbers in `operands`.
    """
    suffix = machine.operands[machine.operands[quotation + op.SUFFIXES] + rank]
    characters, place = machine.operands[quotation + op.CHARACTER_OF_BYTE], suffix + depth
    min_characters = machine.operands[quotation + op.MIN_CHARACTERS]
    max_characters = machine.operands[quotation + op.MAX_CHARACTERS]
    if min_characters > 0:
        end_character = machine.operands[characters + suffix] + min_characters
        place = max(place, machine.operands[machine.operands[quotation + op.CHARACTER_STARTS] + end_character])
    place_count = machine.operands[quotation + op.PLACE_COUNT]
    distance = machine.operands[machine.operands[quotation + op.END_DISTANCES] + state * place_count + place]
    if distance >= FAR:
        return FAR
    end = place + distance
    count = machine.operands[characters + end] - machine.operands[characters + suffix]
    if max_characters != UNLIMITED and count > max_characters:
        return FAR
    return end - suffix - depth


@loop
def quotation_length(machine: Machine, quotation: int, first: int, end: int, depth: int, state: int) -> int:
    """Return the bytes to the nearest end from a depth of any suffix of an interval."""
    shortest = FAR
    for rank in range(first, end):
        shortest = min(shortest, bytes_to_end(machine, quotation, rank, depth, state))
        if shortest == 0:
            break
    return shortest


@loop
def length_of_first(machine: Machine, quotation: int, first: int, end: int, depth: int, state: int) -> int:
    """Return the bytes to the nearest end from a depth of the first suffix of an interval that has an end, or `FAR`."""
    for rank in range(first, end):
        distance = bytes_to_end(machine, quotation, rank, depth, state)
        if distance < FAR:
            return distance
    return FAR


@loop
def byte_at(machine: Machine, quotation: int, rank: int, depth: int) -> int:
    """Return the byte at a depth of a suffix."""
    suffix = machine.operands[machine.operands[quotation + op.SUFFIXES] + rank]
    return machine.text[machine.operands[quotation + op.QUOTED_TEXT] + suffix + depth]


@loop
def first_rank(machine: Machine, quotation: int, first: int, end: int, depth: int, byte: int) -> int:
    """Return the first rank of an interval whose byte at a depth is not less than `byte`; `end` if there is none."""
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


@loop
def ranks_with_character(machine: Machine, quotation: int, rank: int, end: int, depth: int) -> int:
    """Return the end of the interval of ranks, from a rank on, that have the same character at a depth."""
    if byte_at(machine, quotation, rank, depth) == BARRIER:
        return rank + 1
    characters, byte_depth = machine.operands[quotation + op.CHARACTER_OF_BYTE], depth
    suffix = characters + machine.operands[machine.operands[quotation + op.SUFFIXES] + rank]
    while machine.operands[suffix + byte_depth] == machine.operands[suffix + depth]:
        byte = byte_at(machine, quotation, rank, byte_depth)
        end = first_rank(machine, quotation, rank, end, byte_depth, byte + 1)
        byte_depth += 1
    return end


@loop
def can_end(machine: Machine, quotation: int, first: int, end: int, depth: int, state: int) -> bool:
    """Tell whether a quotation may end at a depth of some suffix of an interval.

    An end depends on the characters before it, which all suffixes share, and on the next one. So one suffix for each
    next character is tested. No quotation ends before its first byte.
    """
    rank = first if depth > 0 else end
    while rank < end:
        if bytes_to_end(machine, quotation, rank, depth, state) == 0:
            return True
        rank = ranks_with_character(machine, quotation, rank, end, depth)
    return False


@loop
def rule_after(machine: Machine, quotation: int, rank: int, depth: int, state: int) -> int:
    """Return the state of the rule after the byte at a depth of a suffix, or DEAD."""
    classes = machine.operands[quotation + op.CHARACTER_CLASSES]
    if classes < 0:
        return state
    suffix = machine.operands[machine.operands[quotation + op.SUFFIXES] + rank]
    character_class = machine.operands[classes + suffix + depth]
    if character_class < 0:
        return state
    row = machine.operands[quotation + op.TRANSITIONS] + state * machine.operands[quotation + op.CLASS_COUNT]
    return machine.operands[row + character_class]
