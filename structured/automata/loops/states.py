"""The states of the regular automaton: interned sets of leaves, and their rows of the transition table."""

from structured.automata import opcodes as op
from structured.automata.byte_automaton import DEAD, ROW_COMPLETE, UNKNOWN
from structured.automata.loops.closure import close
from structured.automata.loops.distinct_items import ITEM_START, KEPT_STATE, item_after
from structured.automata.loops.frames import intern_frame, leaves_of, mix, push, rehash_rows
from structured.automata.loops.grammar_machine import GrammarMachine
from structured.automata.loops.notation import loop
from structured.automata.loops.machine import DONE, MORE_ELEMENTS, MORE_FRAMES, MORE_STATES, TOO_MANY_LEAVES, Machine
from structured.automata.loops.transitions import MAX_UNJOINED, add_arc, gather_arcs, join_frames
from structured.automata.opcodes import FAR

FIRST_ELEMENT, ELEMENT_COUNT, FIRST_ARC, ARC_COUNT = range(4)
"""The columns of a state: the start of its frames in `elements`, and their number; the start of its arcs in `arcs`, and
their number, -1 until they are made. The states of grammars have the first two; their elements are configurations."""

MAX_LEAVES = 1 << 24
"""The most frames to which one byte may lead, counted once for each path: about 0.1 seconds."""


@loop
def hash_of_elements(elements: Ints, start: int, count: int) -> int:
    """Return a hash code of a set of frames or configurations, the same for any order."""
    code = count
    for position in range(start, start + count):
        code += mix(0x2545F491, elements[position])
    return mix(0, code & 0x7FFFFFFF)


@loop
def state_slot(states: Rows, slots: Ints, elements: Ints, rows: Rows, start: int, count: int, this_round: int) -> int:
    """Return the slot of the state that consists of `elements[start:start + count]`, or the free slot for it.

    The `rows` of these frames or configurations have `this_round` in `LAST_ROUND`. So a state of as many elements is
    the same if all its elements have it.
    """
    mask = len(slots) - 1
    slot = hash_of_elements(elements, start, count) & mask
    while slots[slot] >= 0:
        candidate = slots[slot]
        if states[candidate, ELEMENT_COUNT] == count:
            element = states[candidate, FIRST_ELEMENT]
            end = element + count
            while element < end and rows[elements[element], op.LAST_ROUND] == this_round:
                element += 1
            if element == end:
                break
        slot = (slot + 1) & mask
    return slot


@loop
def intern_state(machine: Machine, count: int) -> int:
    """Return the state of the `count` frames after the used part of `elements`, all met in this round, or a code.

    DEAD if there are none; a code in place of `count` is passed on.
    """
    if count <= 0:
        return count or DEAD
    start, this_round = machine.states.elements_used, machine.states.round
    slot = state_slot(machine.states, machine.state_slots, machine.elements, machine.frames, start, count, this_round)
    if machine.state_slots[slot] >= 0:
        return machine.state_slots[slot]
    new = machine.states.count
    if new == len(machine.states) or new >= machine.max_states:
        return MORE_STATES
    distance = FAR
    for leaf in machine.states.elements[start : start + count]:
        distance = min(distance, machine.frames[leaf].distance)
    machine.states.rows[new].first_element, machine.states.rows[new].element_count = start, count
    machine.states.rows[new].arc_count = -1
    machine.states.table[new, :] = UNKNOWN
    machine.states.distances[new] = distance
    machine.state_slots[slot] = new
    machine.states.count, machine.states.elements_used = new + 1, start + count
    return new


@loop
def elements_of(machine: Machine | GrammarMachine, state: int) -> Ints:
    """Return the frames or configurations of a state."""
    start = machine.states.rows[state].first_element
    return machine.states.elements[start : start + machine.states.rows[state].element_count]


@loop
def add_element(machine: Machine, count: int, new: int) -> int:
    """Add a frame to the `count` ones after the used part of `elements`, unless it was met in this round.

    Returns their number, or a code; a code in place of the frame or of `count` is passed on.
    """
    if count < 0 or new < 0:
        return min(count, new)
    if machine.states.rounds[new] == machine.states.round:
        return count
    index = machine.states.elements_used + count
    if index == len(machine.states.elements):
        return MORE_ELEMENTS
    machine.states.rounds[new] = machine.states.round
    machine.states.elements[index] = new
    return count + 1


@loop
def arc_target(machine: Machine, arc: int, byte: int) -> int:
    """Return the frame to which an arc leads on a byte, DEAD if there is none, or a code."""
    target = machine.arcs[arc].target
    return target if target >= 0 else item_after(machine, -target, byte)


@loop
def gather_leaves(machine: Machine, first: int, end: int, byte: int) -> int:
    """Write the leaves to which some arcs lead on a byte after the used part of `elements`, each once.

    More than `MAX_UNJOINED` are joined. Returns their number, or a code.
    """
    machine.states.round += 1
    this_round, start, count = machine.states.round, machine.states.elements_used, 0
    for arc in range(first, end):
        if machine.arcs[arc].low <= byte <= machine.arcs[arc].high:
            target = arc_target(machine, arc, byte)
            if target == DEAD:
                continue
            for leaf in leaves_of(machine, target):
                if machine.states.rounds[leaf] != this_round:  # `add_element`, without a call for each leaf
                    machine.states.rounds[leaf] = this_round
                    if start + count == len(machine.states.elements):
                        return MORE_ELEMENTS
                    machine.states.elements[start + count] = leaf
                    count += 1
    return count if count <= MAX_UNJOINED else join_frames(machine, start, count)


@loop
def target_state(machine: Machine, first: int, end: int, byte: int) -> int:
    """Return the state that the arcs lead to on a byte, DEAD if none does, or a code."""
    leaf_count = 0
    for arc in range(first, end):
        if machine.arcs[arc].low <= byte <= machine.arcs[arc].high:
            target = arc_target(machine, arc, byte)
            if target == DEAD:
                continue
            code = target if target < 0 else close(machine, target)
            if code < DONE:
                return code
            leaf_count += machine.frames[target].leaf_count
    if leaf_count == 0:
        return DEAD
    if leaf_count > MAX_LEAVES:
        return TOO_MANY_LEAVES
    return intern_state(machine, gather_leaves(machine, first, end, byte))


@loop
def state_of(machine: Machine, top: int) -> int:
    """Return the state of the leaves of a frame, or a code."""
    first = machine.arcs_used
    end = top if top < 0 else add_arc(machine, first, 0, 0, top)
    return end if end < 0 else target_state(machine, first, end, 0)


@entry
def begin(machine: Machine, root: int) -> int:
    """Return the state before a node, or a code."""
    return state_of(machine, push(machine, root, op.FINISHED))


@entry
def begin_item(machine: Machine, item: int) -> int:
    """Make the state before any of the items that must differ; return DONE or a code."""
    first = push(machine, machine.operands[machine.nodes[item].a + op.UNIQUE_ITEM], op.FINISHED)
    state = state_of(machine, first)
    start = frame(machine, item, ITEM_START, 0, op.FINISHED)
    if state < 0 or start < 0:
        return min(state, start)
    machine.frames[start].kept_state = state
    return DONE


@loop
def make_arcs(machine: Machine, state: int) -> int:
    """Write the arcs of a state unless they are there; return DONE or a code."""
    if machine.states.rows[state].arc_count >= 0:
        return DONE
    first = count = machine.arcs_used
    for leaf in elements_of(machine, state):
        if leaf != op.FINISHED:
            count = gather_arcs(machine, leaf, count)
            if count < 0:
                return count
    machine.states.rows[state].first_arc, machine.states.rows[state].arc_count = first, count - first
    machine.arcs_used = count
    return DONE


@entry
def step(machine: Machine, state: int, byte: int) -> int:
    """Return the successor of a state on a byte, new or known, or a code.

    The table gets the successor for all neighbouring bytes on the same arcs.
    """
    if byte == ROW_COMPLETE:
        return DEAD
    if machine.states.table[state, byte] != UNKNOWN:
        return machine.states.table[state, byte]
    code = make_arcs(machine, state)
    if code != DONE:
        return code
    first = machine.states.rows[state].first_arc
    end = first + machine.states.rows[state].arc_count
    target = target_state(machine, first, end, byte)
    if target < DEAD:
        return target
    low, high = 0, ROW_COMPLETE - 1
    for arc in range(first, end):
        arc_low, arc_high = machine.arcs[arc].low, machine.arcs[arc].high
        if arc_low > byte:
            high = min(high, arc_low - 1)
        elif arc_high < byte:
            low = max(low, arc_high + 1)
        else:
            low, high = max(low, arc_low), min(high, arc_high)
        if machine.arcs[arc].target < 0:
            low = high = byte
    for other in range(low, high + 1):
        machine.states.table[state, other] = target
    return target


@entry
def expand(machine: Machine, state: int) -> int:
    """Fill the row of a state in `table`, the entry `ROW_COMPLETE` last; return DONE or a code."""
    for byte in range(ROW_COMPLETE):
        target = step(machine, state, byte)
        if target < DEAD:
            return target
    machine.states.table[state, ROW_COMPLETE] = DEAD
    return DONE


@entry
def rehash_states(slots: Ints, states: Rows, elements: Ints, used: int) -> None:
    """Fill the empty hash table of states with the first `used` states."""
    mask = len(slots) - 1
    for state in range(used):
        slot = hash_of_elements(elements, states[state, FIRST_ELEMENT], states[state, ELEMENT_COUNT]) & mask
        while slots[slot] >= 0:
            slot = (slot + 1) & mask
        slots[slot] = state


@entry
def rehash(machine: Machine, code: int) -> None:
    """Fill the empty hash table of the array that was full, if it has one."""
    if code == MORE_FRAMES:
        rehash_rows(machine.frames, machine.frame_slots, machine.registers[op.FRAMES_USED])
    elif code == MORE_STATES:
        rehash_states(machine.state_slots, machine.states, machine.elements, machine.states.count)


@loop
def compare_leaves(machine: Machine, state: int, top: int) -> int:
    """Return DONE if a state consists of the leaves of a frame, DEAD if not, or a code."""
    code = close(machine, top)
    if code != DONE:
        return code
    frames, same = elements_of(machine, state), 0
    if len(frames) != machine.frames[top].leaf_count:
        return DEAD
    for current in frames:
        for leaf in leaves_of(machine, top):
            same += current == leaf
    return DONE if same == len(frames) else DEAD
