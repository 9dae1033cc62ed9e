"""The states of the regular automaton: interned sets of leaves, and their rows of the transition table."""

from structured.automata import opcodes as op
from structured.automata.byte_automaton import DEAD, ROW_COMPLETE, UNKNOWN
from structured.automata.loops.closure import close
from structured.automata.loops.distinct_items import ITEM_START, item_after
from structured.automata.loops.frames import frame, push
from structured.automata.loops.machine import Arc, Machine, check_states
from structured.automata.loops.state_table import add_element, add_state, begin_elements, check_state, known_state
from structured.automata.loops.transitions import MAX_UNJOINED, gather_arcs, join_frames
from structured.automata.opcodes import FAR
from structured.machine_code.loop_errors import LimitError
from structured.machine_code.notation import entry, loop, rare_loop

MAX_LEAVES = 1 << 24
"""The most frames to which one byte may lead, counted once for each path: about 0.1 seconds."""


@loop
def state_of_elements(machine: Machine) -> int:
    """Return the state of the frames that are the elements of this round; DEAD if there are none."""
    state = known_state(machine.states)
    if state != UNKNOWN:
        return state
    distance = FAR
    for place in range(machine.states.elements_used, len(machine.states.elements)):
        distance = min(distance, machine.frames[machine.states.elements[place]].distance)
    if len(machine.states.rows) == len(machine.states.distances):
        check_states(machine)
    return add_state(machine.states, distance)


@loop
def arc_target(machine: Machine, arc: int, byte: int) -> int:
    """Return the frame to which an arc leads on a byte, DEAD if there is none."""
    target = machine.arcs[arc].target
    return target if target >= 0 else item_after(machine, -target, byte)


@loop
def gather_leaves(machine: Machine, first: int, end: int, byte: int) -> None:
    """Make the leaves to which some arcs lead on a byte the elements of a new round.

    More than `MAX_UNJOINED` are joined.
    """
    begin_elements(machine.states)
    for arc in range(first, end):
        if machine.arcs[arc].low <= byte <= machine.arcs[arc].high:
            target = arc_target(machine, arc, byte)
            if target != DEAD:
                leaf = machine.frames[target].first_leaf
                for place in range(leaf, leaf + machine.frames[target].leaf_count):
                    add_element(machine.states, machine.leaves[place])
    if len(machine.states.elements) - machine.states.elements_used > MAX_UNJOINED:
        join_frames(machine, machine.states.elements_used)


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
    gather_leaves(machine, first, end, byte)
    return state_of_elements(machine)


@loop
def state_of(machine: Machine, top: int) -> int:
    """Return the state of the leaves of a frame; DEAD for DEAD."""
    if top == DEAD:
        return DEAD
    first = machine.arcs_used
    del machine.arcs[first:]
    machine.arcs.append(Arc(0, 0, top))
    return target_state(machine, first, first + 1, 0)


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
    first = machine.arcs_used
    del machine.arcs[first:]  # after an error
    place = machine.states.rows[state].first_element
    for element in range(place, place + machine.states.rows[state].element_count):
        leaf = machine.states.elements[element]
        if leaf != op.FINISHED:
            gather_arcs(machine, leaf)
    machine.states.rows[state].first_arc, machine.states.rows[state].arc_count = first, len(machine.arcs) - first
    machine.arcs_used = len(machine.arcs)


@entry
def step(machine: Machine, state: int, byte: int) -> int:
    """Return the successor of a state on a byte, new or known, or DEAD.

    The table gets the successor for all neighbouring bytes on the same arcs.
    """
    check_state(machine.states, state)
    if byte < 0 or byte >= ROW_COMPLETE:
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
    check_state(machine.states, state)
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
