r"""Counters that short tokens cannot exhaust: without them, states that differ only in counts are one.

After each word of `(?:\S+\s+){0,99}` another number of words is left. For a token of eight bytes that is no matter as
long as there are more than a few.
"""

from structured.automata.loops.frames import FIRST, MARK, MEMBERS_USED, NODE, ROUND, SECOND, frame
from structured.automata.loops.jit import compiled_entry, compiled_loop
from structured.automata.loops.machine import MORE_MEMBERS, Machine
from structured.automata.loops.states import MEMBER_COUNT, MEMBERS, intern_state
from structured.automata.loops.string_parts import frame_at, height_of
from structured.automata.opcodes import FAR, OPERATION, REPEAT, SCAN, SHORTEST, UNLIMITED, A, B


@compiled_loop
def most_needed(machine: Machine, node: int) -> int:
    """Return the most characters that any state of an automaton over characters needs to its end."""
    start, most = int(machine.nodes[node, A]), 0
    for row in range(start, start + 6 * int(machine.nodes[node, B]), 6):
        if machine.operands[row + 3] < FAR:
            most = max(most, int(machine.operands[row + 3]))
    return most


@compiled_loop
def count_left(machine: Machine, current: int, length: int) -> int:
    """Return the second number of a frame, UNLIMITED where it is a count that so many bytes cannot exhaust."""
    node, second = int(machine.frames[current, NODE]), int(machine.frames[current, SECOND])
    if machine.nodes[node, OPERATION] == REPEAT:
        item = max(int(machine.nodes[machine.nodes[node, A], SHORTEST]), 1)
        return UNLIMITED if second > length // item + 1 else second
    if machine.nodes[node, OPERATION] == SCAN and second > length:
        return UNLIMITED if second - length > most_needed(machine, node) else second
    return second


@compiled_loop
def without_counts(machine: Machine, leaf: int, height: int, length: int) -> int:
    """Return a frame, `height` above the lowest, without the counts that so many bytes cannot exhaust; what is full."""
    top = frame_at(machine, leaf, height)
    for depth in range(height - 1, -1, -1):
        current = frame_at(machine, leaf, depth)
        node, first = int(machine.frames[current, NODE]), int(machine.frames[current, FIRST])
        top = frame(machine, node, first, count_left(machine, current, length), top)
    return top


@compiled_entry
def find_uncounted(machine: Machine, state: int, length: int) -> int:
    """Return the state from which the same texts of at most `length` bytes may follow, without counts; what is full.

    A state of high stacks is returned as it is.
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
