"""The states of the regular automaton: sets of frames, interned, and their rows of the table filled."""

from structured.automata import opcodes as op
from structured.automata.byte_automaton import DEAD, ROW_COMPLETE, UNKNOWN
from structured.automata.loops.closure import close
from structured.automata.loops.distinct_items import ITEM_START, item_after
from structured.automata.loops.frames import frame, leaves_of, mixed, push, rehash_rows
from structured.automata.loops.jit import Ints, Rows, compiled_entry, compiled_loop
from structured.automata.loops.machine import DONE, MORE_FRAMES, MORE_MEMBERS, MORE_STATES, TOO_MANY_WAYS, Machine
from structured.automata.loops.transitions import CROWDED, add_arc, gather_arcs, join_members
from structured.automata.opcodes import FAR

MEMBERS, MEMBER_COUNT, FIRST_ARC, ARC_COUNT = range(4)
"""The columns of a state: where its frames lie in `members`, and how many there are; where its arcs lie in `arcs`, and
how many there are, -1 if that is not known yet."""

MAX_WAYS = 1 << 24
"""The most frames to which one byte may lead, counted once for each path: about 0.1 seconds."""


@compiled_loop
def members_code(members: Ints, start: int, count: int) -> int:
    """Return a hash code of a set of frames or configurations, which does not depend on their order."""
    code = count
    for position in range(start, start + count):
        code += mixed(0x2545F491, int(members[position]))
    return mixed(0, code & 0x7FFFFFFF)


@compiled_loop
def state_slot(states: Rows, slots: Ints, members: Ints, elements: Rows, start: int, count: int, now: int) -> int:
    """Return the slot of the state of `count` members from `start` on, or the free slot for it.

    These are marked `now` among the `elements`, so a known state is the same if all its members are marked.
    """
    mask = len(slots) - 1
    slot = members_code(members, start, count) & mask
    while slots[slot] >= 0:
        known = slots[slot]
        if states[known, MEMBER_COUNT] == count:
            other = int(states[known, MEMBERS])
            end = other + count
            while other < end and elements[members[other], op.MARK] == now:
                other += 1
            if other == end:
                break
        slot = (slot + 1) & mask
    return slot


@compiled_loop
def intern_state(machine: Machine, count: int) -> int:
    """Return the state of the `count` frames after the used part of `members`, marked in this round, or a code."""
    start, now = int(machine.sizes[op.MEMBERS_USED]), int(machine.sizes[op.ROUND])
    slot = state_slot(machine.states, machine.state_slots, machine.members, machine.frames, start, count, now)
    if machine.state_slots[slot] >= 0:
        return int(machine.state_slots[slot])
    new = int(machine.sizes[op.STATES_USED])
    if new == len(machine.states) or new >= machine.most:
        return MORE_STATES
    distance = FAR
    for member in machine.members[start : start + count]:
        distance = min(distance, int(machine.frames[member, op.LENGTH]))
    machine.states[new, MEMBERS] = start
    machine.states[new, MEMBER_COUNT] = count
    machine.states[new, ARC_COUNT] = -1
    for byte in range(256):
        machine.table[new, byte] = UNKNOWN
    machine.distances[new] = distance
    machine.state_slots[slot] = new
    machine.sizes[op.STATES_USED] = new + 1
    machine.sizes[op.MEMBERS_USED] = start + count
    return new


@compiled_loop
def members_of(machine: Machine, state: int) -> Ints:
    """Return the frames of a state."""
    start = machine.states[state, MEMBERS]
    return machine.members[start : start + machine.states[state, MEMBER_COUNT]]


@compiled_loop
def add_member(machine: Machine, count: int, new: int) -> int:
    """Put a frame behind `count` others after the used part of `members`, unless it is marked in this round.

    Returns how many are there, or a code.
    """
    if machine.frames[new, op.MARK] == machine.sizes[op.ROUND]:
        return count
    place = int(machine.sizes[op.MEMBERS_USED]) + count
    if place == len(machine.members):
        return MORE_MEMBERS
    machine.frames[new, op.MARK] = machine.sizes[op.ROUND]
    machine.members[place] = new
    return count + 1


@compiled_loop
def arc_target(machine: Machine, arc: int, byte: int) -> int:
    """Return the frame to which an arc leads on a byte, DEAD if there is none, or a code."""
    target = int(machine.arcs[arc, 2])
    return target if target >= 0 else item_after(machine, -target, byte)


@compiled_loop
def gather_members(machine: Machine, first: int, end: int, byte: int) -> int:
    """Write the leaves to which some arcs lead on a byte after the used part of `members`, each once; join many.

    Returns their number, or a code.
    """
    machine.sizes[op.ROUND] += 1
    now, start, count = machine.sizes[op.ROUND], int(machine.sizes[op.MEMBERS_USED]), 0
    for arc in range(first, end):
        if machine.arcs[arc, 0] <= byte <= machine.arcs[arc, 1]:
            target = arc_target(machine, arc, byte)
            if target == DEAD:
                continue
            for leaf in leaves_of(machine, target):
                if machine.frames[leaf, op.MARK] != now:  # `add_member`, without a call for each leaf
                    machine.frames[leaf, op.MARK] = now
                    if start + count == len(machine.members):
                        return MORE_MEMBERS
                    machine.members[start + count] = leaf
                    count += 1
    return count if count <= CROWDED else join_members(machine, start, count)


@compiled_loop
def target_state(machine: Machine, first: int, end: int, byte: int) -> int:
    """Return the state that the arcs lead to on a byte, DEAD if none does, or a code."""
    ways = 0
    for arc in range(first, end):
        if machine.arcs[arc, 0] <= byte <= machine.arcs[arc, 1]:
            target = arc_target(machine, arc, byte)
            if target == DEAD:
                continue
            lack = target if target < 0 else close(machine, target)
            if lack < DONE:
                return lack
            ways += machine.frames[target, op.COUNT]
    if ways == 0:
        return DEAD
    if ways > MAX_WAYS:
        return TOO_MANY_WAYS
    count = gather_members(machine, first, end, byte)
    return count if count < 0 else intern_state(machine, count)


@compiled_loop
def state_of(machine: Machine, top: int) -> int:
    """Return the state of a single frame, or a code."""
    place = int(machine.sizes[op.ARCS_USED])
    end = top if top < 0 else add_arc(machine, place, 0, 0, top)
    return end if end < 0 else target_state(machine, place, end, 0)


@compiled_entry
def begin(machine: Machine, root: int) -> int:
    """Return the state before a node, or a code."""
    machine.frames[op.FINISHED, op.LEAVES], machine.frames[op.FINISHED, op.COUNT] = 0, 1
    machine.leaves[0] = op.FINISHED
    machine.sizes[op.FRAMES_USED] = max(1, machine.sizes[op.FRAMES_USED])
    machine.sizes[op.LEAVES_USED] = max(1, machine.sizes[op.LEAVES_USED])
    return state_of(machine, push(machine, root, op.FINISHED))


@compiled_entry
def begin_item(machine: Machine, item: int) -> int:
    """Make the state before any of the items that differ; return DONE or a code."""
    first = push(machine, int(machine.operands[machine.nodes[item, op.A] + op.UNIQUE_ITEM]), op.FINISHED)
    state = state_of(machine, first)
    kept = frame(machine, item, ITEM_START, 0, op.FINISHED)
    if state < 0 or kept < 0:
        return min(state, kept)
    machine.frames[kept, op.LEAVES] = state
    return DONE


@compiled_loop
def prepare(machine: Machine, state: int) -> int:
    """Write the arcs of a state unless they are known; return DONE or a code."""
    if machine.states[state, ARC_COUNT] >= 0:
        return DONE
    first = count = int(machine.sizes[op.ARCS_USED])
    for leaf in members_of(machine, state):
        if leaf != op.FINISHED:
            count = gather_arcs(machine, int(leaf), count)
            if count < 0:
                return count
    machine.states[state, FIRST_ARC] = first
    machine.states[state, ARC_COUNT] = count - first
    machine.sizes[op.ARCS_USED] = count
    return DONE


@compiled_loop
def follow(machine: Machine, state: int, byte: int) -> int:
    """Return the successor of a state on a byte, new or known, or a code.

    The table is filled for all neighbouring bytes on the same arcs.
    """
    if byte == ROW_COMPLETE:
        return DEAD
    if machine.table[state, byte] != UNKNOWN:
        return int(machine.table[state, byte])
    lack = prepare(machine, state)
    if lack != DONE:
        return lack
    first = int(machine.states[state, FIRST_ARC])
    end = first + int(machine.states[state, ARC_COUNT])
    target = target_state(machine, first, end, byte)
    if target < DEAD:
        return target
    low, high = 0, ROW_COMPLETE - 1
    for arc in range(first, end):
        if machine.arcs[arc, 0] > byte:
            high = min(high, int(machine.arcs[arc, 0]) - 1)
        else:
            low = max(low, int(machine.arcs[arc, 0]))
            if machine.arcs[arc, 1] < byte:
                low = max(low, int(machine.arcs[arc, 1]) + 1)
            else:
                high = min(high, int(machine.arcs[arc, 1]))
        if machine.arcs[arc, 2] < 0:
            low = high = byte
    for other in range(low, high + 1):
        machine.table[state, other] = target
    return target


@compiled_entry
def step(machine: Machine, state: int, byte: int) -> int:
    """Return the successor of a state on a byte; as `follow`."""
    return follow(machine, state, byte)


@compiled_entry
def expand(machine: Machine, state: int) -> int:
    """Fill the row of a state in `table`, the entry `ROW_COMPLETE` last; return DONE or a code."""
    for byte in range(ROW_COMPLETE):
        target = follow(machine, state, byte)
        if target < DEAD:
            return target
    machine.table[state, ROW_COMPLETE] = DEAD
    return DONE


@compiled_entry
def rehash_states(slots: Ints, states: Rows, members: Ints, used: int) -> None:
    """Fill the empty hash table of states with those in use."""
    mask = len(slots) - 1
    for state in range(used):
        slot = members_code(members, int(states[state, MEMBERS]), int(states[state, MEMBER_COUNT])) & mask
        while slots[slot] >= 0:
            slot = (slot + 1) & mask
        slots[slot] = state


@compiled_entry
def rehash(machine: Machine, lack: int) -> None:
    """Fill the empty hash table of the array that was full, if it has one."""
    if lack == MORE_FRAMES:
        rehash_rows(machine.frames, machine.frame_slots, int(machine.sizes[op.FRAMES_USED]))
    elif lack == MORE_STATES:
        rehash_states(machine.state_slots, machine.states, machine.members, int(machine.sizes[op.STATES_USED]))


@compiled_loop
def consists_of(machine: Machine, state: int, top: int) -> bool:
    """Tell whether a state consists of one frame alone, whose leaves are known."""
    members, same = members_of(machine, state), 0
    if len(members) != machine.frames[top, op.COUNT]:
        return False
    for member in members:
        for leaf in leaves_of(machine, top):
            same += member == leaf
    return same == len(members)
