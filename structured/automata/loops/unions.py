"""Stacks that differ only below: they are joined, so that what is above is read once for all of them.

Where alternatives contain each other, each level of the text multiplies the stacks by the alternatives that it may be.
What is on top of them is soon the same. So frames with the same top become one, on the *union* of what is below: a
frame for each of them, with the one that it stands for in `FIRST` and the others below, in the order of their numbers.
The stacks of a state then take as much room as the levels one beside the other, not one times the other. This is the
graph-structured stack of Tomita ("An efficient augmented-context-free parsing algorithm", 1987).
"""

from structured.automata.loops.frames import FINISHED, FIRST, MARK, NODE, ROUND, SECOND, TAIL, frame
from structured.automata.loops.jit import compiled_loop
from structured.automata.loops.machine import MORE_MEMBERS, Machine
from structured.automata.opcodes import ITEM, OPERATION, QUOTATION, REPEAT, SEQUENCE, UNION_NODE

CROWDED = 16
"""Frames of a state that need not be joined."""

MAX_COMMON = 16
"""Frames above the union that are compared."""


@compiled_loop
def is_same_top(machine: Machine, one: int, other: int) -> bool:
    """Tell whether two frames differ only in what is below them."""
    return bool(
        machine.frames[one, NODE] == machine.frames[other, NODE]
        and machine.frames[one, FIRST] == machine.frames[other, FIRST]
        and machine.frames[one, SECOND] == machine.frames[other, SECOND]
    )


@compiled_loop
def add_frame(machine: Machine, start: int, count: int, new: int) -> int:
    """Put a frame among those that were marked in this round, which are in order; return how many there are then."""
    if machine.frames[new, MARK] == machine.sizes[ROUND]:
        return count
    machine.frames[new, MARK] = machine.sizes[ROUND]
    if start + count == len(machine.members):
        return MORE_MEMBERS
    place = start + count
    while place > start and machine.members[place - 1] > new:
        machine.members[place] = machine.members[place - 1]
        place -= 1
    machine.members[place] = new
    return count + 1


@compiled_loop
def gather_below(machine: Machine, first: int, end: int, free: int) -> int:
    """Write what is below some members at a free place of `members`, in order, and unions frame by frame.

    Returns how many frames that is; what is full.
    """
    machine.sizes[ROUND] += 1
    count = 0
    for position in range(first, end):
        below = int(machine.frames[machine.members[position], TAIL])
        while below != FINISHED and machine.frames[below, NODE] == UNION_NODE:
            count = add_frame(machine, free, count, int(machine.frames[below, FIRST]))
            below = int(machine.frames[below, TAIL])
            if count < 0:
                return count
        count = add_frame(machine, free, count, below)
        if count < 0:
            return count
    return count


@compiled_loop
def have_same_top(machine: Machine, start: int, end: int) -> bool:
    """Tell whether some members are repetitions or sequences that differ only in what is below them."""
    first = int(machine.members[start])
    if first == FINISHED or machine.nodes[machine.frames[first, NODE], OPERATION] not in (REPEAT, SEQUENCE):
        return False
    for position in range(start + 1, end):
        other = int(machine.members[position])
        if other == FINISHED or not is_same_top(machine, first, other):
            return False
    return True


@compiled_loop
def joined(machine: Machine, start: int, end: int, free: int) -> int:
    """Return the frame that stands for some members with the same top, on the union of what is below; what is full.

    `a b c`, `a b d` → `a b (c | d)`
    """
    machine.stack[0] = machine.members[start]
    above = 1
    count = gather_below(machine, start, end, free)
    while count > 1 and above < MAX_COMMON and have_same_top(machine, free, free + count):
        machine.stack[above] = machine.members[free]
        above += 1
        behind = free + count
        count = gather_below(machine, free, behind, behind)
        for position in range(count):
            machine.members[free + position] = machine.members[behind + position]
    if count < 0:
        return count
    below = int(machine.members[free + count - 1])
    for position in range(free + count - 2, free - 1, -1):
        below = frame(machine, UNION_NODE, int(machine.members[position]), 0, below)
    while above > 0:
        above -= 1
        top = machine.stack[above]
        node, first, second = machine.frames[top, NODE], machine.frames[top, FIRST], machine.frames[top, SECOND]
        below = frame(machine, int(node), int(first), int(second), below)
    return below


@compiled_loop
def join_members(machine: Machine, start: int, count: int) -> int:
    """Join those of some members that have the same top, and mark what is left; return how many that are."""
    end, group, left = start + count, start, start
    while group < end:
        leaf, after = int(machine.members[group]), group + 1
        if leaf != FINISHED and machine.nodes[machine.frames[leaf, NODE], OPERATION] not in (QUOTATION, ITEM):
            for position in range(group + 1, end):
                other = int(machine.members[position])
                if other != FINISHED and is_same_top(machine, leaf, other):
                    machine.members[position] = machine.members[after]
                    machine.members[after] = other
                    after += 1
        if after > group + 1:
            leaf = joined(machine, group, after, end)
            if leaf < 0:
                return leaf
        machine.members[left] = leaf
        left += 1
        group = after
    machine.sizes[ROUND] += 1
    for position in range(start, left):
        machine.frames[machine.members[position], MARK] = machine.sizes[ROUND]
    return left - start
