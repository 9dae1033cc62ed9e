"""What the regular automaton still has to read, as frames: interned, so that equal stacks are one number.

A loop that lacks room says which array is full, and leaves behind nothing but facts that stay true; the caller grows it
and calls again.
"""

from structured.automata.loops.jit import Bytes, Ints, Rows, compiled_loop
from structured.automata.loops.word_lists import shortest_word, unlike_length
from structured.automata.opcodes import (
    FAR,
    MEMBERS,
    OPERATION,
    PERMUTATION,
    REPEAT,
    SCAN,
    SEQUENCE,
    SHORTEST,
    TEXT,
    UNLIKE,
    WORDS,
    A,
    B,
    C,
)

NODE, FIRST, SECOND, TAIL, LENGTH, LEAVES, COUNT, MARK = range(8)
"""The columns of a frame: the node on top, how far it is read, the frame below; the bytes of the shortest completion;
where its leaves lie in `leaves` (-1: not known yet) and how many there are; the last round in which it was met."""

FRAMES_USED, LEAVES_USED, STATES_USED, MEMBERS_USED, ARCS_USED, ROUND = range(6)
"""What is counted in `sizes`."""

DONE, MORE_FRAMES, MORE_LEAVES, MORE_STATES, MORE_MEMBERS, MORE_STACK, MORE_ARCS, TOO_MANY_WAYS = range(8)
"""What a loop answers: that it is done, which array is full, or that it gives up."""

BEGUN, CHOOSING = -1, -2
"""The columns FIRST of a frame of members in any order that are not a member; see `unordered.py`."""

FINISHED = 0
"""The frame under all others: nothing is left to read."""


@compiled_loop
def mixed(code: int, value: int) -> int:
    """Return a hash code into which one more value is mixed."""
    code = ((code ^ value) * 0x9E3779B1) & 0x7FFFFFFF
    return code ^ (code >> 15)


@compiled_loop
def frame_hash(node: int, first: int, second: int, tail: int) -> int:
    """Return the hash code of a frame."""
    return mixed(mixed(mixed(mixed(0, int(node)), int(first)), int(second)), int(tail))


@compiled_loop
def frame_slot(frames: Rows, slots: Ints, node: int, first: int, second: int, tail: int) -> int:
    """Return where the frame with these contents stands in the hash table, or where it would stand."""
    mask = len(slots) - 1
    slot = frame_hash(node, first, second, tail) & mask
    while slots[slot] >= 0:
        known = slots[slot]
        if (
            frames[known, NODE] == node
            and frames[known, FIRST] == first
            and frames[known, SECOND] == second
            and frames[known, TAIL] == tail
        ):
            break
        slot = (slot + 1) & mask
    return slot


@compiled_loop
def members_length(nodes: Rows, operands: Ints, node: int, position: int, written: int) -> int:
    """Return the bytes of the shortest rest from a member on, given whether one has been written before."""
    if position < nodes[node, B]:
        return int(operands[nodes[node, A] + 4 * position + 2 + written])
    return 0 if written else int(operands[nodes[node, C] + 2])


@compiled_loop
def permutation_length(nodes: Rows, operands: Ints, node: int, first: int, second: int) -> int:
    """Return the bytes that a frame of members in any order adds to the shortest completion of the one below it.

    A member that has been written takes away what is still needed for it.
    """
    more = int(nodes[node, C])
    if first == CHOOSING:
        return second
    if first == BEGUN:
        return int(operands[more + 2]) if second else int(operands[more + 3])
    return -int(operands[nodes[node, A] + 3 * first + 2])


@compiled_loop
def own_length(nodes: Rows, operands: Ints, text: Bytes, node: int, first: int, second: int) -> int:
    """Return the bytes of the shortest rest of a node that has been read so far."""
    operation = nodes[node, OPERATION]
    if operation == TEXT:
        return int(nodes[node, SHORTEST]) - first
    if operation == WORDS:
        return shortest_word(operands, nodes[node, A], nodes[node, B], first, second)
    if operation == UNLIKE:
        return unlike_length(nodes, operands, text, node, first, second)
    if operation == SCAN:
        return int(operands[nodes[node, A] + 6 * first + 4])
    if operation == SEQUENCE:
        return int(operands[nodes[node, A] + 2 * first + 1])
    if operation == MEMBERS:
        return members_length(nodes, operands, node, first, second)
    if operation == PERMUTATION:
        return permutation_length(nodes, operands, node, first, second)
    if operation == REPEAT:
        return min(int(first) * int(nodes[nodes[node, A], SHORTEST]), FAR)
    return int(nodes[node, SHORTEST])


@compiled_loop
def frame(
    nodes: Rows,
    operands: Ints,
    text: Bytes,
    frames: Rows,
    slots: Ints,
    sizes: Ints,
    node: int,
    first: int,
    second: int,
    tail: int,
) -> int:
    """Return the frame with these contents, new or known; -1 for want of room. `slots` is the hash table of frames."""
    if tail < 0:
        return -1
    slot = frame_slot(frames, slots, node, first, second, tail)
    if slots[slot] >= 0:
        return int(slots[slot])
    new = int(sizes[FRAMES_USED])
    if new == len(frames):
        return -1
    length = own_length(nodes, operands, text, node, first, second)
    frames[new, NODE] = node
    frames[new, FIRST] = first
    frames[new, SECOND] = second
    frames[new, TAIL] = tail
    frames[new, LENGTH] = min(length + frames[tail, LENGTH], FAR)
    frames[new, LEAVES] = -1
    frames[new, MARK] = 0
    slots[slot] = new
    sizes[FRAMES_USED] = new + 1
    return new


@compiled_loop
def push(nodes: Rows, operands: Ints, text: Bytes, frames: Rows, slots: Ints, sizes: Ints, node: int, tail: int) -> int:
    """Return the frame that reads a node from its beginning and then `tail`; -1 for want of room."""
    if nodes[node, OPERATION] == REPEAT:
        return frame(nodes, operands, text, frames, slots, sizes, node, nodes[node, B], nodes[node, C], tail)
    if nodes[node, OPERATION] == TEXT and nodes[node, B] == 0:
        return tail
    if nodes[node, OPERATION] == SCAN:
        return frame(nodes, operands, text, frames, slots, sizes, node, 0, nodes[node, C], tail)
    if nodes[node, OPERATION] == PERMUTATION:
        return frame(nodes, operands, text, frames, slots, sizes, node, BEGUN, 0, tail)
    return frame(nodes, operands, text, frames, slots, sizes, node, 0, 0, tail)


@compiled_loop
def rehash_frames(frames: Rows, slots: Ints, sizes: Ints) -> None:
    """Fill an empty hash table with the frames in use."""
    mask = len(slots) - 1
    for known in range(1, sizes[FRAMES_USED]):
        slot = frame_hash(frames[known, NODE], frames[known, FIRST], frames[known, SECOND], frames[known, TAIL]) & mask
        while slots[slot] >= 0:
            slot = (slot + 1) & mask
        slots[slot] = known
