"""States that replace others in walks: without counters that short texts cannot exhaust, or without an outer item."""

from structured.automata.loops.distinct_items import SOME_OTHER, item_frame, next_begun, place_item
from structured.automata.loops.frames import FINISHED, FIRST, MARK, MEMBERS_USED, NODE, ROUND, SECOND, TAIL, frame
from structured.automata.loops.jit import Ints, compiled_entry, compiled_loop
from structured.automata.loops.machine import MORE_MEMBERS, MORE_STACK, Machine
from structured.automata.loops.state_walks import reads_item
from structured.automata.loops.states import MEMBER_COUNT, MEMBERS, intern_state
from structured.automata.loops.string_parts import frame_at, height_of, lone_item
from structured.automata.loops.string_runs import NONE
from structured.automata.opcodes import FAR, ITEM, OPERATION, REPEAT, SCAN, SHORTEST, UNION, UNLIMITED, A, B


@compiled_loop
def is_in_item(machine: Machine, state: int) -> bool:
    """Tell whether a state reads an item that must differ, and no text may end in it."""
    start, in_item = int(machine.states[state, MEMBERS]), False
    for position in range(start, start + machine.states[state, MEMBER_COUNT]):
        leaf = int(machine.members[position])
        if leaf == FINISHED:
            return False
        in_item = in_item or reads_item(machine, leaf)
    return in_item


@compiled_loop
def moved(machine: Machine, leaf: int, below: int) -> int:
    """Return the stack of a frame with `below` put under it; NONE if it contains a union; or a code."""
    height, current = 0, leaf
    while current != FINISHED:
        if machine.nodes[machine.frames[current, NODE], OPERATION] == UNION:
            return NONE
        if height == len(machine.stack):
            return MORE_STACK
        machine.stack[height] = current
        height += 1
        current = int(machine.frames[current, TAIL])
    while height > 0 and below >= 0:
        height -= 1
        current = int(machine.stack[height])
        node, first = machine.frames[current, NODE], machine.frames[current, FIRST]
        second = machine.frames[current, SECOND]
        if machine.nodes[node, OPERATION] == ITEM:
            below = item_frame(machine, int(node), int(first), int(second), below)
        else:
            below = frame(machine, int(node), int(first), int(second), below)
    return below


@compiled_entry
def find_inner(machine: Machine, state: int) -> int:
    """Return the state in the inner item, with a placeholder as outer item; the state itself without an inner item.

    Returns a code if it cannot go on.
    """
    leaf = lone_item(machine, state)
    if leaf < 0 or not is_in_item(machine, int(machine.frames[leaf, FIRST])):
        return state
    item, inside, written = (
        int(machine.frames[leaf, NODE]),
        int(machine.frames[leaf, FIRST]),
        int(machine.frames[leaf, TAIL]),
    )
    if machine.frames[written, SECOND] > len(machine.stack):
        return MORE_STACK
    other = frame(machine, item, SOME_OTHER, 0, FINISHED)
    below = other if other < 0 else place_item(machine, 0, other, written)
    start, count = int(machine.states[inside, MEMBERS]), int(machine.states[inside, MEMBER_COUNT])
    for position in range(start, start + count):  # makes all frames first, since that begins new rounds
        top = below if below < 0 else moved(machine, int(machine.members[position]), below)
        if top < 0:
            return state if top == NONE else top
    free, new = int(machine.sizes[MEMBERS_USED]), 0
    if free + count > len(machine.members):
        return MORE_MEMBERS
    for position in range(start, start + count):
        machine.members[free + new] = moved(machine, int(machine.members[position]), below)
        new += 1
    machine.sizes[ROUND] += 1
    for position in range(free, free + new):
        machine.frames[machine.members[position], MARK] = machine.sizes[ROUND]
    return intern_state(machine, new)


@compiled_entry
def find_rest(machine: Machine, state: int, above: int, found: Ints) -> int:
    """Find the next written item that begins with the bytes read of a state's item, and write its rest into `found`.

    `found[0]` is the length of the rest, and its first bytes follow. The search begins below the frame `above`, or at
    the top if that is FINISHED. Returns the frame of the item, FINISHED if there is none.
    """
    leaf = int(machine.members[machine.states[state, MEMBERS]])
    text = int(machine.frames[leaf, SECOND])
    below = int(machine.frames[leaf if above == FINISHED else above, TAIL])
    begun = next_begun(machine, text, below)
    if begun != FINISHED:
        word, size = int(machine.frames[begun, FIRST]), int(machine.frames[text, SECOND])
        found[0] = machine.frames[word, SECOND] - size
        while machine.frames[word, SECOND] > size:
            place = int(machine.frames[word, SECOND]) - size
            if place < len(found):
                found[place] = machine.frames[word, FIRST]
            word = int(machine.frames[word, TAIL])
    return begun


@compiled_loop
def most_needed(machine: Machine, node: int) -> int:
    """Return the most characters that a state of an automaton over characters needs to its end."""
    start, most = int(machine.nodes[node, A]), 0
    for row in range(start, start + 6 * int(machine.nodes[node, B]), 6):
        if machine.operands[row + 3] < FAR:
            most = max(most, int(machine.operands[row + 3]))
    return most


@compiled_loop
def count_left(machine: Machine, current: int, length: int) -> int:
    """Return `SECOND` of a frame, or UNLIMITED if it is a counter that `length` bytes cannot exhaust."""
    node, second = int(machine.frames[current, NODE]), int(machine.frames[current, SECOND])
    if machine.nodes[node, OPERATION] == REPEAT:
        item = max(int(machine.nodes[machine.nodes[node, A], SHORTEST]), 1)
        return UNLIMITED if second > length // item + 1 else second
    if machine.nodes[node, OPERATION] == SCAN and second > length:
        return UNLIMITED if second - length > most_needed(machine, node) else second
    return second


@compiled_loop
def without_counts(machine: Machine, leaf: int, height: int, length: int) -> int:
    """Return a frame, `height` above the lowest, without counters that `length` bytes cannot exhaust, or a code."""
    top = frame_at(machine, leaf, height)
    for depth in range(height - 1, -1, -1):
        current = frame_at(machine, leaf, depth)
        node, first = int(machine.frames[current, NODE]), int(machine.frames[current, FIRST])
        top = frame(machine, node, first, count_left(machine, current, length), top)
    return top


@compiled_entry
def find_without_counters(machine: Machine, state: int, length: int) -> int:
    """Return a state without counters after which the same texts of at most `length` bytes may follow, or a code.

    A state with high stacks is returned unchanged.
    """
    start, free = int(machine.states[state, MEMBERS]), int(machine.sizes[MEMBERS_USED])
    machine.sizes[ROUND] += 1
    now, count = machine.sizes[ROUND], 0
    for position in range(start, start + machine.states[state, MEMBER_COUNT]):
        leaf = int(machine.members[position])
        height = height_of(machine, leaf)
        if height < 0:
            return state
        top = without_counts(machine, leaf, height, length)
        if top < 0:
            return top
        if machine.frames[top, MARK] != now:
            machine.frames[top, MARK] = now
            if free + count == len(machine.members):
                return MORE_MEMBERS
            machine.members[free + count] = top
            count += 1
    return intern_state(machine, count)
