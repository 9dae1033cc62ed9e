"""Where a state stands inside a string: how many characters may follow, whichever they are.

That spares an index nearly all of its work there: what the plain tokens of so many characters are is known for a
vocabulary, and what the others may do is the same at every count, unless the count runs out within one of them.
"""

from structured.automata.loops.closure import close
from structured.automata.loops.frames import (
    COUNT,
    DONE,
    FINISHED,
    FIRST,
    LEAVES,
    LENGTH,
    MARK,
    MEMBERS_USED,
    MORE_FRAMES,
    MORE_MEMBERS,
    MORE_STATES,
    NODE,
    ROUND,
    SECOND,
    TAIL,
    frame,
    frame_slot,
)
from structured.automata.loops.jit import Bytes, Ints, Rows, compiled_loop
from structured.automata.loops.states import intern_state
from structured.automata.loops.word_lists import character_place
from structured.automata.opcodes import ARCS, OPEN, OPERATION, REPEAT, SCAN, TEXT, UNLIKE, UNLIMITED, A, C

LENGTH_LEFT, FARTHEST, REPRESENTATIVE, QUOTED = range(4)
"""What `find_string_run` writes down, as `StringRun` has it: how many plain characters may follow; the greatest
distance after some of them; a state from which the same other tokens may follow; 1 if nothing but a quote ends the
string."""

NO_ROOM = -1


@compiled_loop
def open_leaf(nodes: Rows, operands: Ints, text: Bytes, frames: Rows, states: Rows, members: Ints, state: int) -> int:
    """Return a frame of a state from which any plain character may be read, again and again; -1 if there is none."""
    start = int(states[state, 0])
    for position in range(start, start + states[state, 1]):
        leaf = int(members[position])
        node, rest = int(frames[leaf, NODE]), int(frames[leaf, TAIL])
        if leaf == FINISHED:
            continue
        if nodes[node, OPERATION] == UNLIKE:
            place = character_place(nodes, operands, text, node, int(frames[leaf, FIRST]), int(frames[leaf, SECOND]))
            if place == operands[nodes[node, C]]:
                return leaf
        elif nodes[node, OPERATION] == SCAN:
            if frames[leaf, SECOND] == UNLIMITED and operands[nodes[node, A] + 6 * frames[leaf, FIRST] + 5]:
                return leaf
        elif nodes[node, OPERATION] == ARCS and nodes[node, OPEN] and rest != FINISHED:
            again = int(frames[rest, NODE])
            if nodes[again, OPERATION] == REPEAT and nodes[again, OPEN]:
                return leaf
    return -1


@compiled_loop
def consists_of(frames: Rows, leaves: Ints, states: Rows, members: Ints, state: int, top: int) -> bool:
    """Tell whether a state consists of one frame alone, whose leaves are known."""
    start, count = int(states[state, 0]), int(states[state, 1])
    if frames[top, COUNT] != count:
        return False
    same = 0
    for first in range(start, start + count):
        for second in range(frames[top, LEAVES], frames[top, LEAVES] + count):
            same += members[first] == leaves[second]
    return same == count


@compiled_loop
def repetition(
    nodes: Rows,
    operands: Ints,
    text: Bytes,
    frames: Rows,
    slots: Ints,
    leaves: Ints,
    states: Rows,
    members: Ints,
    sizes: Ints,
    stack: Ints,
    state: int,
    rest: int,
) -> int:
    """Return the frame of a repetition that is `rest` after one item, if a state consists of it alone.

    -1 if it does not, `-2 - what` if an array is full.
    """
    required, allowed = int(frames[rest, FIRST]), int(frames[rest, SECOND])
    before = UNLIMITED if allowed == UNLIMITED else allowed + 1
    for candidate in (required + 1, 0):
        if candidate > 0 or required == 0:
            found = int(slots[frame_slot(frames, slots, frames[rest, NODE], candidate, before, frames[rest, TAIL])])
            if found >= 0:
                lack = close(nodes, operands, text, frames, slots, leaves, sizes, stack, found)
                if lack != DONE:
                    return -2 - lack
                if consists_of(frames, leaves, states, members, state, found):
                    return found
    return -1


@compiled_loop
def ends_with_quote(nodes: Rows, text: Bytes, frames: Rows, leaves: Ints, top: int) -> bool:
    """Tell whether nothing but a quote can be read from a frame whose leaves are known."""
    for position in range(frames[top, LEAVES], frames[top, LEAVES] + frames[top, COUNT]):
        leaf = int(leaves[position])
        node = int(frames[leaf, NODE])
        if leaf == FINISHED or nodes[node, OPERATION] != TEXT:
            return False
        if text[nodes[node, A] + frames[leaf, FIRST]] != 0x22:
            return False
    return True


@compiled_loop
def state_of(
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
    most: int,
    top: int,
) -> int:
    """Return the state that consists of a frame; `-2 - what` if an array is full."""
    lack = close(nodes, operands, text, frames, frame_slots, leaves, sizes, stack, top)
    if lack != DONE:
        return -2 - lack
    start, count = int(sizes[MEMBERS_USED]), int(frames[top, COUNT])
    if start + count > len(members):
        return -2 - MORE_MEMBERS
    sizes[ROUND] += 1
    for position in range(count):
        leaf = leaves[frames[top, LEAVES] + position]
        frames[leaf, MARK] = sizes[ROUND]
        members[start + position] = leaf
    state = intern_state(frames, states, distances, state_slots, members, table, sizes, count, most)
    return -2 - MORE_STATES if state < 0 else state


@compiled_loop
def find_string_run(
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
    _arcs: Rows,
    most: int,
    state: int,
    longest: int,
    special: int,
    found: Ints,
) -> int:
    """Write down the string run of a state; say what is full, or NO_ROOM if what may follow depends on the characters.

    `longest` is the number of characters of the longest plain token, `special` that of the bytes of any other that are
    before its first quote. The arcs are not looked at; they come with the other arrays.
    """
    leaf = open_leaf(nodes, operands, text, frames, states, members, state)
    if leaf < 0:
        return NO_ROOM
    found[LENGTH_LEFT] = longest
    found[FARTHEST] = frames[leaf, LENGTH] + 1
    found[REPRESENTATIVE] = state
    found[QUOTED] = 0
    if nodes[frames[leaf, NODE], OPERATION] in (UNLIKE, SCAN):
        return DONE
    rest = int(frames[leaf, TAIL])
    tail, allowed = int(frames[rest, TAIL]), int(frames[rest, SECOND])
    whole = repetition(
        nodes, operands, text, frames, frame_slots, leaves, states, members, sizes, stack, state, rest
    )  # fmt: skip
    if whole < -1:
        return -2 - whole
    lack = close(nodes, operands, text, frames, frame_slots, leaves, sizes, stack, tail)
    if lack != DONE:
        return lack
    if whole < 0 or not ends_with_quote(nodes, text, frames, leaves, tail):
        return DONE if allowed == UNLIMITED or allowed >= longest else NO_ROOM
    found[QUOTED] = 1
    if allowed != UNLIMITED:
        found[LENGTH_LEFT] = min(allowed + 1, longest)
    if allowed == UNLIMITED or allowed >= special:
        node, required = int(frames[whole, NODE]), min(int(frames[whole, FIRST]), special + 1)
        representative = frame(nodes, operands, text, frames, frame_slots, sizes, node, required, UNLIMITED, tail)
        other = -2 - MORE_FRAMES
        if representative >= 0:
            other = state_of(
                nodes, operands, text, frames, frame_slots, leaves, states, distances, state_slots, members, table,
                sizes, stack, most, representative,
            )  # fmt: skip
        if other < 0:
            return -2 - other
        found[REPRESENTATIVE] = other
    return DONE
