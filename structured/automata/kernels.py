"""The states of the regular automaton: sets of frames, interned, and their rows of the table filled."""

import numpy as np

from structured.automata.frames import (
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
    close,
    gather_arcs,
    mixed,
    push,
    rehash_frames,
)
from structured.automata.machine_code import Bytes, Ints, Rows, Words, machine_code
from structured.automata.program import FAR
from structured.automata.protocol import DEAD, UNKNOWN

__all__ = [
    "COUNT",
    "FINISHED",
    "FRAMES_USED",
    "LEAVES",
    "LEAVES_USED",
    "MORE_ARCS",
    "MORE_FRAMES",
    "MORE_LEAVES",
    "MORE_MEMBERS",
    "MORE_STACK",
    "MORE_STATES",
    "MOST_WAYS",
    "STATES_USED",
    "expand",
    "push",
    "rehash_frames",
    "rehash_states",
    "target_state",
    "walk",
]

MEMBERS, MEMBER_COUNT = range(2)
"""The columns of a state: where its frames lie in `members`, and how many there are."""

MOST_WAYS = 1 << 24
"""Frames that one byte may lead to, counted once for each way that leads there: some 0.1 seconds."""

CHAIN = 64
"""States expanded beyond the one asked for, where only one byte can follow."""


@machine_code
def intern_state(
    frames: Rows, states: Rows, distances: Ints, slots: Ints, members: Ints, sizes: Ints, count: int, most: int
) -> int:
    """Return the state of the `count` frames that lie, unsorted, behind the used part of `members`; -1 if full."""
    start = int(sizes[MEMBERS_USED])
    if count > 1:
        members[start : start + count].sort()
    mask = len(slots) - 1
    slot = 0
    for position in range(start, start + count):
        slot = mixed(slot, int(members[position]))
    slot &= mask
    while slots[slot] >= 0:
        known = slots[slot]
        if states[known, MEMBER_COUNT] == count:
            other = int(states[known, MEMBERS])
            same = True
            for offset in range(count):
                if members[other + offset] != members[start + offset]:
                    same = False
                    break
            if same:
                return int(known)
        slot = (slot + 1) & mask
    new = int(sizes[STATES_USED])
    if new == len(states) or new >= most:
        return -1
    distance = FAR
    for position in range(start, start + count):
        distance = min(distance, int(frames[members[position], LENGTH]))
    states[new, MEMBERS] = start
    states[new, MEMBER_COUNT] = count
    distances[new] = distance
    slots[slot] = new
    sizes[STATES_USED] = new + 1
    sizes[MEMBERS_USED] = start + count
    return new


@machine_code
def gather_members(
    frames: Rows, leaves: Ints, members: Ints, sizes: Ints, arcs: Rows, arc_count: int, byte: int
) -> int:
    """Write the leaves of all that arcs lead to on a byte behind the used part of `members`, each once.

    Returns how many there are, or -1 if `members` is full.
    """
    sizes[ROUND] += 1
    now = sizes[ROUND]
    start = int(sizes[MEMBERS_USED])
    count = 0
    for arc in range(arc_count):
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


@machine_code
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
    sizes: Ints,
    stack: Ints,
    arcs: Rows,
    arc_count: int,
    byte: int,
    most: int,
) -> int:
    """Return the state that the arcs lead to on a byte, DEAD if none does; `-2 - what` if an array is full."""
    ways = 0
    for arc in range(arc_count):
        if arcs[arc, 0] <= byte <= arcs[arc, 1]:
            lack = close(nodes, operands, text, frames, frame_slots, leaves, sizes, stack, arcs[arc, 2])
            if lack != DONE:
                return -2 - lack
            ways += frames[arcs[arc, 2], COUNT]
    if ways == 0:
        return DEAD
    if ways > MOST_WAYS:
        return -2 - TOO_MANY_WAYS
    count = gather_members(frames, leaves, members, sizes, arcs, arc_count, byte)
    if count < 0:
        return -2 - MORE_MEMBERS
    state = intern_state(frames, states, distances, state_slots, members, sizes, count, most)
    return -2 - MORE_STATES if state < 0 else state


@machine_code
def fill_row(
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
    sizes: Ints,
    stack: Ints,
    arcs: Rows,
    arc_count: int,
    row: Ints,
    most: int,
) -> int:
    """Write the successors on all bytes: one state for each run of bytes that are on the same arcs. Say what is full.

    `row` has 256 places for the successors, and 257 more to note where arcs begin and end.
    """
    cuts = row[256:]
    cuts[:] = 0
    for arc in range(arc_count):
        cuts[arcs[arc, 0]] = 1
        cuts[arcs[arc, 1] + 1] = 1
    target = DEAD
    for byte in range(256):
        if cuts[byte]:
            target = target_state(
                nodes, operands, text, frames, frame_slots, leaves, states, distances, state_slots, members, sizes,
                stack, arcs, arc_count, byte, most,
            )  # fmt: skip
            if target < DEAD:
                return -2 - target
        row[byte] = target
    return DONE


@machine_code
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
    row: Ints,
    state: int,
    most: int,
) -> int:
    """Fill the row of a state in `table`, and those after it as long as one byte alone can follow; say what is full."""
    for _ in range(CHAIN):
        count = 0
        start = int(states[state, MEMBERS])
        for position in range(start, start + states[state, MEMBER_COUNT]):
            if members[position] != FINISHED:
                leaf = int(members[position])
                count = gather_arcs(nodes, operands, text, frames, frame_slots, sizes, arcs, leaf, count)
                if count < 0:
                    return MORE_ARCS if count == -1 else MORE_FRAMES
        lack = fill_row(
            nodes, operands, text, frames, frame_slots, leaves, states, distances, state_slots, members, sizes, stack,
            arcs, count, row, most,
        )  # fmt: skip
        if lack != DONE:
            return lack
        table[state] = row[:256]
        if count != 1 or arcs[0, 0] != arcs[0, 1]:
            break
        state = int(row[arcs[0, 0]])
        if table[state, 0] != UNKNOWN:
            break
    return DONE


@machine_code
def rehash_states(states: Rows, members: Ints, slots: Ints, sizes: Ints) -> None:
    """Fill an empty hash table with the states in use."""
    mask = len(slots) - 1
    for known in range(sizes[STATES_USED]):
        start = int(states[known, MEMBERS])
        slot = 0
        for position in range(start, start + states[known, MEMBER_COUNT]):
            slot = mixed(slot, int(members[position]))
        slot &= mask
        while slots[slot] >= 0:
            slot = (slot + 1) & mask
        slots[slot] = known


@machine_code
def walk(
    byte: Bytes,
    depth: Ints,
    subtree_end: Ints,
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
    row: Ints,
    most: int,
    path: Ints,
    mask: Words,
    progress: Ints,
) -> int:
    """Walk a trie as `table.walk` does, making the states that are missing on the way; say what is full."""
    node, farthest = int(progress[0]), int(progress[1])
    while node < len(byte):
        state = int(path[depth[node]])
        target = int(table[state, byte[node]])
        if target == UNKNOWN:
            lack = expand(
                nodes, operands, text, frames, frame_slots, leaves, states, distances, state_slots, members, table,
                sizes, stack, arcs, row, state, most,
            )  # fmt: skip
            if lack != DONE:
                progress[0] = node
                progress[1] = farthest
                return lack
            target = int(table[state, byte[node]])
        if target == DEAD:
            node = int(subtree_end[node])
            continue
        path[depth[node] + 1] = target
        if token_start[node] < token_start[node + 1]:
            farthest = max(farthest, int(distances[target]))
            for position in range(token_start[node], token_start[node + 1]):
                token_id = token_ids[position]
                mask[token_id >> 5] |= np.uint32(1) << np.uint32(token_id & 31)
        node += 1
    progress[0] = node
    progress[1] = farthest
    return DONE
