"""The states of the regular automaton: sets of frames, interned, and their rows of the table filled."""

import numpy as np

from structured.automata.loops.closure import close
from structured.automata.loops.frames import (
    ARCS_USED,
    COUNT,
    DONE,
    FINISHED,
    FRAMES_USED,
    LEAVES,
    LEAVES_USED,
    LENGTH,
    MARK,
    MEMBERS_USED,
    MORE_ARCS,
    MORE_FRAMES,
    MORE_LEAVES,
    MORE_MEMBERS,
    MORE_STACK,
    MORE_STATES,
    ROUND,
    STATES_USED,
    TOO_MANY_WAYS,
    mixed,
    push,
    rehash_frames,
)
from structured.automata.loops.jit import Bytes, Ints, Rows, Words, compiled_loop
from structured.automata.loops.table import END, FARTHEST, LEVEL, NEXT, STATE
from structured.automata.loops.transitions import gather_arcs
from structured.automata.opcodes import FAR
from structured.automata.protocol import DEAD, UNKNOWN, WHOLE

__all__ = [
    "COUNT",
    "DONE",
    "FINISHED",
    "FRAMES_USED",
    "LEAVES",
    "LEAVES_USED",
    "MAX_WAYS",
    "MORE_ARCS",
    "MORE_FRAMES",
    "MORE_LEAVES",
    "MORE_MEMBERS",
    "MORE_STACK",
    "MORE_STATES",
    "STATES_USED",
    "expand",
    "push",
    "rehash_frames",
    "rehash_states",
    "target_state",
    "walk",
]

MEMBERS, MEMBER_COUNT, FIRST_ARC, ARC_COUNT = range(4)
"""The columns of a state: where its frames lie in `members`, and how many there are; where its arcs lie in `arcs`, and
how many there are, -1 if that is not known yet."""

MAX_WAYS = 1 << 24
"""Frames that one byte may lead to, counted once for each way that leads there: some 0.1 seconds."""


@compiled_loop
def members_code(members: Ints, start: int, count: int) -> int:
    """Return a hash code of a set of frames, which does not depend on their order."""
    code = count
    for position in range(start, start + count):
        code += mixed(0x2545F491, int(members[position]))
    return mixed(0, code & 0x7FFFFFFF)


@compiled_loop
def intern_state(
    frames: Rows,
    states: Rows,
    distances: Ints,
    slots: Ints,
    members: Ints,
    table: Rows,
    sizes: Ints,
    count: int,
    most: int,
) -> int:
    """Return the state of the `count` frames that lie behind the used part of `members`; -1 if there is no room.

    They are those that were marked in this round, and so is a known state's every frame if it is the same.
    """
    start, now = int(sizes[MEMBERS_USED]), sizes[ROUND]
    mask = len(slots) - 1
    slot = members_code(members, start, count) & mask
    while slots[slot] >= 0:
        known = int(slots[slot])
        if states[known, MEMBER_COUNT] == count:
            other = int(states[known, MEMBERS])
            end = other + count
            while other < end and frames[members[other], MARK] == now:
                other += 1
            if other == end:
                return known
        slot = (slot + 1) & mask
    new = int(sizes[STATES_USED])
    if new == len(states) or new >= most:
        return -1
    distance = FAR
    for position in range(start, start + count):
        distance = min(distance, int(frames[members[position], LENGTH]))
    states[new, MEMBERS] = start
    states[new, MEMBER_COUNT] = count
    states[new, ARC_COUNT] = -1
    for byte in range(256):
        table[new, byte] = UNKNOWN
    distances[new] = distance
    slots[slot] = new
    sizes[STATES_USED] = new + 1
    sizes[MEMBERS_USED] = start + count
    return new


@compiled_loop
def gather_members(
    frames: Rows, leaves: Ints, members: Ints, sizes: Ints, arcs: Rows, first: int, end: int, byte: int
) -> int:
    """Write the leaves of all that some arcs lead to on a byte behind the used part of `members`, each once.

    Returns how many there are, or -1 if `members` is full.
    """
    sizes[ROUND] += 1
    now = sizes[ROUND]
    start = int(sizes[MEMBERS_USED])
    count = 0
    for arc in range(first, end):
        if arcs[arc, 0] <= byte <= arcs[arc, 1]:
            target = arcs[arc, 2]
            for position in range(frames[target, LEAVES], frames[target, LEAVES] + frames[target, COUNT]):
                leaf = leaves[position]
                if frames[leaf, MARK] != now:
                    frames[leaf, MARK] = now
                    if start + count == len(members):
                        return -1
                    members[start + count] = leaf
                    count += 1
    return count


@compiled_loop
def target_state(
    nodes: Rows,
    operands: Ints,
    text: Bytes,
    frames: Rows,
    frame_slots: Ints,
    leaves: Ints,
    states: Rows,
    distances: Ints,
    state_slots: Ints,
    members: Ints,
    table: Rows,
    sizes: Ints,
    stack: Ints,
    arcs: Rows,
    first: int,
    end: int,
    byte: int,
    most: int,
) -> int:
    """Return the state that the arcs lead to on a byte, DEAD if none does; `-2 - what` if an array is full."""
    ways = 0
    for arc in range(first, end):
        if arcs[arc, 0] <= byte <= arcs[arc, 1]:
            lack = close(nodes, operands, text, frames, frame_slots, leaves, sizes, stack, arcs[arc, 2])
            if lack != DONE:
                return -2 - lack
            ways += frames[arcs[arc, 2], COUNT]
    if ways == 0:
        return DEAD
    if ways > MAX_WAYS:
        return -2 - TOO_MANY_WAYS
    count = gather_members(frames, leaves, members, sizes, arcs, first, end, byte)
    if count < 0:
        return -2 - MORE_MEMBERS
    state = intern_state(frames, states, distances, state_slots, members, table, sizes, count, most)
    return -2 - MORE_STATES if state < 0 else state


@compiled_loop
def prepare(
    nodes: Rows,
    operands: Ints,
    text: Bytes,
    frames: Rows,
    frame_slots: Ints,
    states: Rows,
    members: Ints,
    sizes: Ints,
    arcs: Rows,
    state: int,
) -> int:
    """Write down the arcs of a state, unless that has been done; say what is full."""
    if states[state, ARC_COUNT] >= 0:
        return DONE
    first = count = int(sizes[ARCS_USED])
    start = int(states[state, MEMBERS])
    for position in range(start, start + states[state, MEMBER_COUNT]):
        if members[position] != FINISHED:
            leaf = int(members[position])
            count = gather_arcs(nodes, operands, text, frames, frame_slots, sizes, arcs, leaf, count)
            if count < 0:
                return MORE_ARCS if count == -1 else MORE_FRAMES
    states[state, FIRST_ARC] = first
    states[state, ARC_COUNT] = count - first
    sizes[ARCS_USED] = count
    return DONE


@compiled_loop
def follow(
    nodes: Rows,
    operands: Ints,
    text: Bytes,
    frames: Rows,
    frame_slots: Ints,
    leaves: Ints,
    states: Rows,
    distances: Ints,
    state_slots: Ints,
    members: Ints,
    table: Rows,
    sizes: Ints,
    stack: Ints,
    arcs: Rows,
    state: int,
    byte: int,
    most: int,
) -> int:
    """Return the successor of a state on a byte, new or known; `-2 - what` if an array is full.

    It is filled in for all the bytes around that are on the same arcs.
    """
    if byte == WHOLE:
        return DEAD
    if table[state, byte] != UNKNOWN:
        return int(table[state, byte])
    lack = prepare(nodes, operands, text, frames, frame_slots, states, members, sizes, arcs, state)
    if lack != DONE:
        return -2 - lack
    first = int(states[state, FIRST_ARC])
    end = first + int(states[state, ARC_COUNT])
    target = target_state(
        nodes, operands, text, frames, frame_slots, leaves, states, distances, state_slots, members, table, sizes,
        stack, arcs, first, end, byte, most,
    )  # fmt: skip
    if target < DEAD:
        return target
    low, high = 0, WHOLE - 1
    for arc in range(first, end):
        if arcs[arc, 0] > byte:
            high = min(high, int(arcs[arc, 0]) - 1)
        else:
            low = max(low, int(arcs[arc, 0]))
            if arcs[arc, 1] < byte:
                low = max(low, int(arcs[arc, 1]) + 1)
            else:
                high = min(high, int(arcs[arc, 1]))
    for other in range(low, high + 1):
        table[state, other] = target
    return target


@compiled_loop
def expand(
    nodes: Rows,
    operands: Ints,
    text: Bytes,
    frames: Rows,
    frame_slots: Ints,
    leaves: Ints,
    states: Rows,
    distances: Ints,
    state_slots: Ints,
    members: Ints,
    table: Rows,
    sizes: Ints,
    stack: Ints,
    arcs: Rows,
    state: int,
    most: int,
) -> int:
    """Fill the row of a state in `table`, the entry that tells so last; say what is full."""
    for byte in range(WHOLE):
        target = follow(
            nodes, operands, text, frames, frame_slots, leaves, states, distances, state_slots, members, table, sizes,
            stack, arcs, state, byte, most,
        )  # fmt: skip
        if target < DEAD:
            return -2 - target
    table[state, WHOLE] = DEAD
    return DONE


@compiled_loop
def rehash_states(states: Rows, members: Ints, slots: Ints, sizes: Ints) -> None:
    """Fill an empty hash table with the states in use."""
    mask = len(slots) - 1
    for known in range(sizes[STATES_USED]):
        slot = members_code(members, int(states[known, MEMBERS]), int(states[known, MEMBER_COUNT])) & mask
        while slots[slot] >= 0:
            slot = (slot + 1) & mask
        slots[slot] = known


@compiled_loop
def walk(
    byte: Bytes,
    first: Ints,
    token_start: Ints,
    token_ids: Ints,
    nodes: Rows,
    operands: Ints,
    text: Bytes,
    frames: Rows,
    frame_slots: Ints,
    leaves: Ints,
    states: Rows,
    distances: Ints,
    state_slots: Ints,
    members: Ints,
    table: Rows,
    sizes: Ints,
    stack: Ints,
    arcs: Rows,
    most: int,
    path: Rows,
    mask: Words,
    progress: Ints,
) -> int:
    """Walk a trie as `table.walk` does, making the states that are missing on the way; say what is full."""
    farthest = int(progress[FARTHEST])
    level = int(progress[LEVEL])
    state, node, end = int(path[level, STATE]), int(path[level, NEXT]), int(path[level, END])
    while level > 0 or node < end:
        if node == end:
            level -= 1
            state, node, end = int(path[level, STATE]), int(path[level, NEXT]), int(path[level, END])
            continue
        target = int(table[state, byte[node]])
        if target == UNKNOWN:
            target = follow(
                nodes, operands, text, frames, frame_slots, leaves, states, distances, state_slots, members, table,
                sizes, stack, arcs, state, int(byte[node]), most,
            )  # fmt: skip
            if target < DEAD:
                path[level, NEXT] = node
                progress[LEVEL] = level
                progress[FARTHEST] = farthest
                return -2 - target
        child = node
        node += 1
        if target == DEAD:
            continue
        if token_start[child] < token_start[child + 1]:
            farthest = max(farthest, int(distances[target]))
            for position in range(token_start[child], token_start[child + 1]):
                token_id = token_ids[position]
                mask[token_id >> 5] |= np.uint32(1) << np.uint32(token_id & 31)
        if first[child] < first[child + 1]:
            path[level, NEXT] = node
            level += 1
            state, node, end = target, int(first[child]), int(first[child + 1])
            path[level, STATE] = state
            path[level, END] = end
    progress[FARTHEST] = farthest
    return DONE
