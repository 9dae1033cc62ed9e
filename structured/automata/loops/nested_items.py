"""Items that must differ inside of an item that must differ: the outer one is left open while a vocabulary is walked.

The outer item differs from those before it as soon as none of them begins with its text. So the outer item is taken for
one that differs: a text that stands for any other is put among the items written, and the frames of the inner item on
top of that. The result is a state in one item only, which can be walked.

It is wrong for two kinds of tokens, which the caller has to follow one by one: those that go on as an outer item
written before, and those that begin another outer item.
"""

from structured.automata.loops.distinct import SOME_OTHER, item_frame, next_begun, place_item
from structured.automata.loops.frames import FINISHED, FIRST, MARK, MEMBERS_USED, NODE, ROUND, SECOND, TAIL, frame
from structured.automata.loops.jit import Ints, compiled_entry, compiled_loop
from structured.automata.loops.machine import MORE_MEMBERS, MORE_STACK, Machine
from structured.automata.loops.state_walks import reads_item
from structured.automata.loops.states import MEMBER_COUNT, MEMBERS, intern_state
from structured.automata.loops.string_parts import lone_item
from structured.automata.loops.string_runs import NONE
from structured.automata.opcodes import ITEM, OPERATION, UNION


@compiled_loop
def is_in_item(machine: Machine, state: int) -> bool:
    """Tell whether a state reads an item that must differ, and whether no text may end in it."""
    start, found = int(machine.states[state, MEMBERS]), False
    for position in range(start, start + machine.states[state, MEMBER_COUNT]):
        leaf = int(machine.members[position])
        if leaf == FINISHED:
            return False
        found = found or reads_item(machine, leaf)
    return found


@compiled_loop
def moved(machine: Machine, leaf: int, below: int) -> int:
    """Return the stack of a frame with `below` put under it; NONE if stacks are joined in it; what is full."""
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
    """Return the state in the inner item, with the outer one left open; the state itself if there is no inner item.

    Returns what is lacking, if something is.
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
    for position in range(start, start + count):  # which makes all frames, and looks into texts in rounds of its own
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
    """Find the next written item that begins with what has been read of the item of a state, and write down its rest.

    `found[0]` is the length of the rest, and its first bytes follow. The search begins below the frame `above`, at the
    top if that is FINISHED. Returns the frame of what it finds, FINISHED if there is no more.
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
