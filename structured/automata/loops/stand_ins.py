"""States that replace others in walks: without counters that short texts cannot exhaust, or without an outer item."""

from structured.automata import opcodes as op
from structured.automata.loops.distinct_items import SOME_OTHER, inserted, item_frame, next_begun
from structured.automata.loops.frames import contents, frame, operation_of
from structured.automata.loops.jit import Ints, compiled_entry, compiled_loop
from structured.automata.loops.machine import MORE_STACK, Machine
from structured.automata.loops.states import add_member, intern_state, members_of
from structured.automata.loops.string_parts import frame_at, height_of, lone_item
from structured.automata.loops.string_runs import NONE
from structured.automata.opcodes import FAR, UNLIMITED


@compiled_loop
def is_in_item(machine: Machine, state: int) -> bool:
    """Tell whether a state reads an item that must differ, and no text may end in it."""
    in_item = False
    for leaf in members_of(machine, state):
        if leaf == op.FINISHED:
            return False
        in_item = in_item or operation_of(machine, leaf) == op.ITEM
    return in_item


@compiled_loop
def moved(machine: Machine, leaf: int, below: int) -> int:
    """Return the stack of a frame with `below` put under it; NONE if it contains a union; or a code."""
    height, current = 0, leaf
    while current != op.FINISHED:
        if operation_of(machine, current) == op.UNION:
            return NONE
        if height == len(machine.stack):
            return MORE_STACK
        machine.stack[height] = current
        height += 1
        current = int(machine.frames[current, op.TAIL])
    while height > 0 and below >= 0:
        height -= 1
        node, first, second, _ = contents(machine, int(machine.stack[height]))
        if machine.nodes[node, op.OPERATION] == op.ITEM:
            below = item_frame(machine, node, first, second, below)
        else:
            below = frame(machine, node, first, second, below)
    return below


@compiled_entry
def find_inner(machine: Machine, state: int) -> int:
    """Return the state in the inner item, with a placeholder as outer item; the state itself without an inner item.

    Returns a code if it cannot go on.
    """
    leaf = lone_item(machine, state)
    if leaf < 0 or not is_in_item(machine, int(machine.frames[leaf, op.FIRST])):
        return state
    item, inside, _, written = contents(machine, leaf)
    if machine.frames[written, op.SECOND] > len(machine.stack):
        return MORE_STACK
    other = frame(machine, item, SOME_OTHER, 0, op.FINISHED)
    below = other if other < 0 else inserted(machine, 0, other, written)
    for member in members_of(machine, inside):  # makes all frames first, since that begins new rounds
        top = below if below < 0 else moved(machine, int(member), below)
        if top < 0:
            return state if top == NONE else top
    machine.sizes[op.ROUND] += 1
    count = 0
    for member in members_of(machine, inside):
        count = add_member(machine, count, moved(machine, int(member), below))
        if count < 0:
            return count
    return intern_state(machine, count)


@compiled_entry
def find_rest(machine: Machine, state: int, above: int, found: Ints) -> int:
    """Find the next written item that begins with the bytes read of a state's item, and write its rest into `found`.

    `found[0]` is the length of the rest, and its first bytes follow. The search begins below the frame `above`, or at
    the top if that is FINISHED. Returns the frame of the item, FINISHED if there is none.
    """
    leaf = int(members_of(machine, state)[0])
    text = int(machine.frames[leaf, op.SECOND])
    below = int(machine.frames[leaf if above == op.FINISHED else above, op.TAIL])
    begun = next_begun(machine, text, below)
    if begun != op.FINISHED:
        word, size = int(machine.frames[begun, op.FIRST]), int(machine.frames[text, op.SECOND])
        found[0] = machine.frames[word, op.SECOND] - size
        while machine.frames[word, op.SECOND] > size:
            place = int(machine.frames[word, op.SECOND]) - size
            if place < len(found):
                found[place] = machine.frames[word, op.FIRST]
            word = int(machine.frames[word, op.TAIL])
    return begun


@compiled_loop
def most_needed(machine: Machine, node: int) -> int:
    """Return the most characters that a state of an automaton over characters needs to its end."""
    start, most = int(machine.nodes[node, op.A]), 0
    for row in range(start, start + 6 * int(machine.nodes[node, op.B]), 6):
        if machine.operands[row + 3] < FAR:
            most = max(most, int(machine.operands[row + 3]))
    return most


@compiled_loop
def count_left(machine: Machine, current: int, length: int) -> int:
    """Return `SECOND` of a frame, or UNLIMITED if it is a counter that `length` bytes cannot exhaust."""
    node, _, second, _ = contents(machine, current)
    if machine.nodes[node, op.OPERATION] == op.REPEAT:
        item = max(int(machine.nodes[machine.nodes[node, op.A], op.SHORTEST]), 1)
        return UNLIMITED if second > length // item + 1 else second
    if machine.nodes[node, op.OPERATION] == op.SCAN and second > length:
        return UNLIMITED if second - length > most_needed(machine, node) else second
    return second


@compiled_loop
def without_counts(machine: Machine, leaf: int, height: int, length: int) -> int:
    """Return a frame, `height` above the lowest, without counters that `length` bytes cannot exhaust, or a code."""
    top = frame_at(machine, leaf, height)
    for depth in range(height - 1, -1, -1):
        current = frame_at(machine, leaf, depth)
        node, first = int(machine.frames[current, op.NODE]), int(machine.frames[current, op.FIRST])
        top = frame(machine, node, first, count_left(machine, current, length), top)
    return top


@compiled_entry
def find_without_counters(machine: Machine, state: int, length: int) -> int:
    """Return a state without counters after which the same texts of at most `length` bytes may follow, or a code.

    A state with high stacks is returned unchanged.
    """
    machine.sizes[op.ROUND] += 1
    count = 0
    for member in members_of(machine, state):
        leaf = int(member)
        height = height_of(machine, leaf)
        if height < 0:
            return state
        top = without_counts(machine, leaf, height, length)
        count = top if top < 0 else add_member(machine, count, top)
        if count < 0:
            return count
    return intern_state(machine, count)
