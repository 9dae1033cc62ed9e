"""The states of the regular automaton: interned sets of leaves, and their rows of the transition table."""

from structured.automata import opcodes as op
from structured.automata.byte_automaton import DEAD, ROW_COMPLETE, UNKNOWN
from structured.automata.loops.closure import close
from structured.automata.loops.distinct_items import ITEM_START, item_after
from structured.automata.loops.frames import frame, push
from structured.automata.loops.machine import Machine, add_arc, check_memory
from structured.automata.loops.state_table import add_element, add_state, known_state
from structured.automata.loops.transitions import MAX_UNJOINED, gather_arcs, join_frames
from structured.automata.opcodes import FAR
from structured.machine_code.loop_errors import LimitError
from structured.machine_code.notation import entry, loop, rare_loop

MAX_LEAVES = 1 << 24
"""The most frames to which one byte may lead, counted once for each path: about 0.1 seconds."""


@loop
def state_of_elements(machine: Machine, count: int) -> int:
    """Return the state of the `count` frames after the used elements, all met in this round; DEAD if there are none."""
    if count == 0:
        return DEAD
    state = known_state(machine.states, count)
    if state != UNKNOWN:
        return state
    distance = FAR
    for place in range(machine.states.elements_used, machine.states.elements_used + count):
        distance = min(distance, machine.frames[machine.states.elements[place]].distance)
    if machine.states.count == len(machine.states.rows):
        check_memory(machine, 1024 * machine.states.count)
    return add_state(machine.states, count, distance)


@loop
def arc_target(machine: Machine, arc: int, byte: int) -> int:
    """Return the frame to which an arc leads on a byte, DEAD if there is none."""
    target = machine.arcs[arc].target
    return target if target >= 0 else item_after(machine, -target, byte)


@loop
def gather_leaves(machine: Machine, first: int, end: int, byte: int) -> int:
    """Write the leaves to which some arcs lead on a byte after the used elements, each once; return their number.

    More than `MAX_UNJOINED` are joined.
    """
    machine.states.round += 1
    count = 0
    for arc in range(first, end):
        if machine.arcs[arc].low <= byte <= machine.arcs[arc].high:
            target = arc_target(machine, arc, byte)
            if target != DEAD:
                leaf = machine.frames[target].first_leaf
                for place in range(leaf, leaf + machine.frames[target].leaf_count):
                    count = add_element(machine.states, count, machine.leaves[place])
    return count if count <= MAX_UNJOINED else join_frames(machine, machine.states.elements_used, count)


@rare_loop
def refuse_leaves() -> None:
    """Raise LimitError, because one byte leads to too many frames."""
    raise LimitError(f"more than {MAX_LEAVES:,} ways from one state to another")


@loop
def target_state(machine: Machine, first: int, end: int, byte: int) -> int:
    """Return the state that some arcs lead to on a byte, DEAD if none does."""
    leaf_count = 0
    for arc in range(first, end):
        if machine.arcs[arc].low <= byte <= machine.arcs[arc].high:
            target = arc_target(machine, arc, byte)
            if target != DEAD:
                close(machine, target)
                leaf_count += machine.frames[target].leaf_count
    if leaf_count > MAX_LEAVES:
        refuse_leaves()
    return DEAD if leaf_count == 0 else state_of_elements(machine, gather_leaves(machine, first, end, byte))


@loop
def state_of(machine: Machine, top: int) -> int:
    """Return the state of the leaves of a frame; DEAD for DEAD."""
    if top == DEAD:
        return DEAD
    first = machine.arcs_used
    return target_state(machine, first, add_arc(machine, first, 0, 0, top), 0)


@entry
def begin(machine: Machine, root: int) -> int:
    """Return the state before a node."""
    return state_of(machine, push(machine, root, op.FINISHED))


@entry
def begin_item(machine: Machine, item: int) -> None:
    """Make the state before any of the items that must differ."""
    any_item = push(machine, machine.operands[machine.nodes[item].a + op.UNIQUE_ITEM], op.FINISHED)
    state = state_of(machine, any_item)
    machine.frames[frame(machine, item, ITEM_START, 0, op.FINISHED)].kept_state = state


@loop
def make_arcs(machine: Machine, state: int) -> None:
    """Write the arcs of a state unless they are there."""
    if machine.states.rows[state].arc_count >= 0:
        return
    first = count = machine.arcs_used
    place = machine.states.rows[state].first_element
    for element in range(place, place + machine.states.rows[state].element_count):
        leaf = machine.states.elements[element]
        if leaf != op.FINISHED:
            count = gather_arcs(machine, leaf, count)
    machine.states.rows[state].first_arc, machine.states.rows[state].arc_count = first, count - first
    machine.arcs_used = count


@entry
def step(machine: Machine, state: int, byte: int) -> int:
    """Return the successor of a state on a byte, new or known, or DEAD.

    The table gets the successor for all neighbouring bytes on the same arcs.
    """
    if byte == ROW_COMPLETE:
        return DEAD
    if machine.states.table[state, byte] != UNKNOWN:
        return machine.states.table[state, byte]
    make_arcs(machine, state)
    first = machine.states.rows[state].first_arc
    end = first + machine.states.rows[state].arc_count
    target = target_state(machine, first, end, byte)
    low, high = 0, ROW_COMPLETE - 1
    for arc in range(first, end):
        if machine.arcs[arc].low > byte:
            high = min(high, machine.arcs[arc].low - 1)
        elif machine.arcs[arc].high < byte:
            low = max(low, machine.arcs[arc].high + 1)
        else:
            low, high = max(low, machine.arcs[arc].low), min(high, machine.arcs[arc].high)
        if machine.arcs[arc].target < 0:
            low = high = byte
    for other in range(low, high + 1):
        machine.states.table[state, other] = target
    return target


@entry
def expand(machine: Machine, state: int) -> None:
    """Fill the row of a state in the table, the entry `ROW_COMPLETE` last."""
    for byte in range(ROW_COMPLETE):
        step(machine, state, byte)
    machine.states.table[state, ROW_COMPLETE] = DEAD


@loop
def is_state_of(machine: Machine, state: int, top: int) -> bool:
    """Tell whether a state consists of the leaves of a frame."""
    close(machine, top)
    count, same = machine.states.rows[state].element_count, 0
    if count != machine.frames[top].leaf_count:
        return False
    first, leaves = machine.states.rows[state].first_element, machine.frames[top].first_leaf
    for element in range(first, first + count):
        for place in range(leaves, leaves + count):
            same += machine.states.elements[element] == machine.leaves[place]
    return same == count
