"""The inner loops of the regular automaton: frames are interned, closed and followed over bytes.

They are plain Python over arrays, compiled by Numba; with NUMBA_DISABLE_JIT=1 the very same code runs uncompiled. The
arrays are handed in one by one, since Numba takes long to look into tuples of arrays. A loop that lacks room says which
array is full, and leaves behind nothing but facts that stay true; the caller grows it and calls again.
"""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, ParamSpec, TypeVar, cast, get_type_hints

import numba
import numpy as np
from numpy.typing import NDArray

from structured.automata.program import (
    CHOICE,
    FAR,
    OPERATION,
    REPEAT,
    SEQUENCE,
    SHORTEST,
    TEXT,
    UNLIMITED,
    WORDS,
    A,
    B,
    C,
)
from structured.automata.protocol import DEAD, UNKNOWN

Ints = Annotated[NDArray[np.int32], numba.int32[::1]]
Rows = Annotated[NDArray[np.int32], numba.int32[:, ::1]]
Bytes = Annotated[NDArray[np.uint8], numba.types.Array(numba.uint8, 1, "C", readonly=True)]

NODE, FIRST, SECOND, TAIL, LENGTH, LEAVES, COUNT, MARK = range(8)
"""The columns of a frame: the node on top, how far it is read, the frame below; the bytes of the shortest completion;
where its leaves lie in `leaves` (-1: not known yet) and how many there are; the last round in which it was met."""

MEMBERS, MEMBER_COUNT = range(2)
"""The columns of a state: where its frames lie in `members`, and how many there are."""

FRAMES_USED, LEAVES_USED, STATES_USED, MEMBERS_USED, ROUND = range(5)
"""What is counted in `sizes`."""

DONE, MORE_FRAMES, MORE_LEAVES, MORE_STATES, MORE_MEMBERS, MORE_STACK, MORE_ARCS, TOO_MANY_WAYS = range(8)
"""What a loop answers: that it is done, which array is full, or that it gives up."""

MOST_WAYS = 1 << 24
"""Frames that one byte may lead to, counted once for each way that leads there: some 0.1 seconds."""

FINISHED = 0
"""The frame under all others: nothing is left to read."""

CHAIN = 64
"""States expanded beyond the one asked for, where only one byte can follow."""


P = ParamSpec("P")
T = TypeVar("T")


def machine_code(function: Callable[P, T]) -> Callable[P, T]:
    """Compile a function for the types that it is annotated with, or load what an earlier process compiled.

    Without named types Numba compiles a function again for each kind of integer that it is called with.
    """
    hints = get_type_hints(function, include_extras=True)
    returned, *parameters = (_MACHINE_TYPES.get(hint) or hint.__metadata__[0] for hint in _result_first(hints))
    signature = returned(*parameters)
    try:
        return cast("Callable[P, T]", numba.njit(signature, cache=True)(function))
    except RuntimeError:  # no folder to cache in can be written
        return cast("Callable[P, T]", numba.njit(signature)(function))


def _result_first(hints: Mapping[str, Any]) -> list[Any]:
    return [hints["return"], *(hint for name, hint in hints.items() if name != "return")]


_MACHINE_TYPES = {int: numba.int64, bool: numba.boolean, type(None): numba.void}


@machine_code
def mixed(code: int, value: int) -> int:
    """Return a hash code into which one more value is mixed."""
    code = ((code ^ value) * 0x9E3779B1) & 0x7FFFFFFF
    return code ^ (code >> 15)


@machine_code
def frame_hash(node: int, first: int, second: int, tail: int) -> int:
    """Return the hash code of a frame."""
    return mixed(mixed(mixed(mixed(0, int(node)), int(first)), int(second)), int(tail))


@machine_code
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


@machine_code
def word_length(operands: Ints, words: int, word: int) -> int:
    """Return the bytes of a word."""
    return int(operands[words + word + 1]) - int(operands[words + word])


@machine_code
def shortest_word(operands: Ints, words: int, count: int, word: int, read: int) -> int:
    """Return the bytes left of the shortest of the words that begin as `word` does up to `read` bytes."""
    shortest = word_length(operands, words, word)
    for other in range(word + 1, count):
        if operands[words + count + 1 + other] < read:
            break
        shortest = min(shortest, word_length(operands, words, other))
    return shortest - read


@machine_code
def common_prefixes(starts: Ints, text: Bytes) -> Ints:
    """Return for each word how many bytes it has in common with the one before; `starts` has the end of the last."""
    shared = np.zeros(len(starts) - 1, dtype=np.int32)
    for word in range(1, len(shared)):
        before, here, end = starts[word - 1], starts[word], starts[word + 1]
        while before < starts[word] and here < end and text[before] == text[here]:
            before += 1
            here += 1
        shared[word] = here - starts[word]
    return shared


@machine_code
def frame(
    nodes: Rows, operands: Ints, frames: Rows, slots: Ints, sizes: Ints, node: int, first: int, second: int, tail: int
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
    operation = nodes[node, OPERATION]
    length = int(nodes[node, SHORTEST])
    if operation == TEXT:
        length -= first
    elif operation == WORDS:
        length = shortest_word(operands, nodes[node, A], nodes[node, B], first, second)
    elif operation == SEQUENCE:
        length = int(operands[nodes[node, A] + 2 * first + 1])
    elif operation == REPEAT:
        length = min(int(first) * int(nodes[nodes[node, A], SHORTEST]), FAR)
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


@machine_code
def push(nodes: Rows, operands: Ints, frames: Rows, slots: Ints, sizes: Ints, node: int, tail: int) -> int:
    """Return the frame that reads a node from its beginning and then `tail`; -1 for want of room."""
    if nodes[node, OPERATION] == REPEAT:
        return frame(nodes, operands, frames, slots, sizes, node, nodes[node, B], nodes[node, C], tail)
    if nodes[node, OPERATION] == TEXT and nodes[node, B] == 0:
        return tail
    return frame(nodes, operands, frames, slots, sizes, node, 0, 0, tail)


@machine_code
def unfold_repeat(
    nodes: Rows, operands: Ints, frames: Rows, slots: Ints, sizes: Ints, stack: Ints, depth: int, current: int
) -> int:
    """Put on the stack what a repetition goes on with: its item once more and, if that may be, what follows it.

    `x{0,5}` → `x x{0,4}`, ``; `x{3,5}` → `x x{2,4}`. Returns how many frames that are.
    """
    node, tail = int(frames[current, NODE]), int(frames[current, TAIL])
    required, allowed = int(frames[current, FIRST]), int(frames[current, SECOND])
    rest = tail
    if allowed != 1:
        fewer = UNLIMITED if allowed == UNLIMITED else allowed - 1
        rest = frame(nodes, operands, frames, slots, sizes, node, max(required - 1, 0), fewer, tail)
    again = push(nodes, operands, frames, slots, sizes, int(nodes[node, A]), rest)
    if required > 0:
        stack[depth] = again
        return 1
    stack[depth] = tail
    stack[depth + 1] = again
    return 2


@machine_code
def unfold(
    nodes: Rows, operands: Ints, frames: Rows, slots: Ints, sizes: Ints, stack: Ints, depth: int, current: int
) -> int:
    """Put on the stack the frames that a frame goes on with without a byte; return how many they are.

    A frame for which there is no room is -1 on the stack. Returns -1 if the stack is too short.
    """
    node, first, tail = int(frames[current, NODE]), int(frames[current, FIRST]), int(frames[current, TAIL])
    operation, start, count = nodes[node, OPERATION], int(nodes[node, A]), int(nodes[node, B])
    if current == FINISHED or operation < WORDS:
        return 0
    if depth + max(2, count if operation == CHOICE else 0) > len(stack):
        return -1
    if operation == WORDS:
        stack[depth] = tail
        return 1 if word_length(operands, start, first) == frames[current, SECOND] else 0
    if operation == REPEAT:
        return unfold_repeat(nodes, operands, frames, slots, sizes, stack, depth, current)
    if operation == CHOICE:
        for position in range(count):
            option = int(operands[start + count - 1 - position])
            stack[depth + position] = push(nodes, operands, frames, slots, sizes, option, tail)
        return count
    rest = tail
    if first + 1 < count:
        rest = frame(nodes, operands, frames, slots, sizes, node, first + 1, 0, tail)
    stack[depth] = push(nodes, operands, frames, slots, sizes, int(operands[start + 2 * first]), rest)
    return 1


@machine_code
def is_covered(nodes: Rows, frames: Rows, slots: Ints, current: int, now: int) -> bool:
    """Tell whether a repetition was reached by an item without a byte, from the same with one more allowed.

    Whatever matches from here then matches from there.
    """
    node, required, allowed = frames[current, NODE], frames[current, FIRST], frames[current, SECOND]
    if current == FINISHED or nodes[node, OPERATION] != REPEAT or required > 0 or allowed == UNLIMITED:
        return False
    before = slots[frame_slot(frames, slots, node, 0, allowed + 1, frames[current, TAIL])]
    return bool(before >= 0 and frames[before, MARK] == now)


@machine_code
def close(
    nodes: Rows, operands: Ints, frames: Rows, slots: Ints, leaves: Ints, sizes: Ints, stack: Ints, top: int
) -> int:
    """Find the leaves of a frame: the frames reached from it without a byte that read one next, or are finished."""
    if frames[top, LEAVES] >= 0:
        return DONE
    sizes[ROUND] += 1
    now = int(sizes[ROUND])
    start = end = int(sizes[LEAVES_USED])
    stack[0] = top
    depth = 1
    frames[top, MARK] = now
    while depth > 0:
        depth -= 1
        current = int(stack[depth])
        if current == FINISHED or nodes[frames[current, NODE], OPERATION] <= WORDS:
            if end == len(leaves):
                return MORE_LEAVES
            leaves[end] = current
            end += 1
        if is_covered(nodes, frames, slots, current, now):
            continue
        count = unfold(nodes, operands, frames, slots, sizes, stack, depth, current)
        if count < 0:
            return MORE_STACK
        for position in range(depth, depth + count):
            successor = int(stack[position])
            if successor < 0:
                return MORE_FRAMES
            if frames[successor, MARK] != now:
                frames[successor, MARK] = now
                stack[depth] = successor
                depth += 1
    frames[top, LEAVES] = start
    frames[top, COUNT] = end - start
    sizes[LEAVES_USED] = end
    return DONE


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
def gather_words(
    nodes: Rows, operands: Ints, text: Bytes, frames: Rows, slots: Ints, sizes: Ints, arcs: Rows, leaf: int, count: int
) -> int:
    """Append one arc for each byte that some word goes on with; as `gather_arcs`."""
    node, tail = int(frames[leaf, NODE]), int(frames[leaf, TAIL])
    word, read = int(frames[leaf, FIRST]), int(frames[leaf, SECOND])
    words, total = int(nodes[node, A]), int(nodes[node, B])
    shared = words + total + 1
    if word_length(operands, words, word) == read:
        word += 1
        if word == total or operands[shared + word] < read:
            return count
    while True:
        after = word + 1
        while after < total and operands[shared + after] > read:
            after += 1
        target = tail
        if after > word + 1 or word_length(operands, words, word) > read + 1:
            target = frame(nodes, operands, frames, slots, sizes, node, word, read + 1, tail)
        if target < 0:
            return -2
        if count == len(arcs):
            return -1
        arcs[count, 0] = arcs[count, 1] = text[operands[words + word] + read]
        arcs[count, 2] = target
        count += 1
        if after == total or operands[shared + after] < read:
            return count
        word = after


@machine_code
def gather_arcs(
    nodes: Rows, operands: Ints, text: Bytes, frames: Rows, slots: Ints, sizes: Ints, arcs: Rows, leaf: int, count: int
) -> int:
    """Append the arcs of a leaf, `low, high, frame after`, to the first `count` in `arcs`; return how many there are.

    -1 if `arcs` is full, -2 if `frames` is.
    """
    node, tail = int(frames[leaf, NODE]), int(frames[leaf, TAIL])
    first = int(nodes[node, A])
    if nodes[node, OPERATION] == WORDS:
        return gather_words(nodes, operands, text, frames, slots, sizes, arcs, leaf, count)
    if nodes[node, OPERATION] == TEXT:
        if count == len(arcs):
            return -1
        read = int(frames[leaf, FIRST])
        byte = text[first + read]
        target = tail
        if read + 1 < nodes[node, B]:
            target = frame(nodes, operands, frames, slots, sizes, node, read + 1, 0, tail)
        if target < 0:
            return -2
        arcs[count, 0] = byte
        arcs[count, 1] = byte
        arcs[count, 2] = target
        return count + 1
    if count + nodes[node, B] > len(arcs):
        return -1
    for position in range(nodes[node, B]):
        arc = first + 3 * position
        target = tail
        if operands[arc + 2] >= 0:
            target = push(nodes, operands, frames, slots, sizes, operands[arc + 2], tail)
        if target < 0:
            return -2
        arcs[count, 0] = operands[arc]
        arcs[count, 1] = operands[arc + 1]
        arcs[count, 2] = target
        count += 1
    return count


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
            lack = close(nodes, operands, frames, frame_slots, leaves, sizes, stack, arcs[arc, 2])
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
                nodes, operands, frames, frame_slots, leaves, states, distances, state_slots, members, sizes, stack,
                arcs, arc_count, byte, most,
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
            nodes, operands, frames, frame_slots, leaves, states, distances, state_slots, members, sizes, stack, arcs,
            count, row, most,
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
def rehash_frames(frames: Rows, slots: Ints, sizes: Ints) -> None:
    """Fill an empty hash table with the frames in use."""
    mask = len(slots) - 1
    for known in range(1, sizes[FRAMES_USED]):
        slot = frame_hash(frames[known, NODE], frames[known, FIRST], frames[known, SECOND], frames[known, TAIL]) & mask
        while slots[slot] >= 0:
            slot = (slot + 1) & mask
        slots[slot] = known


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
