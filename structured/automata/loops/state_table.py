"""The states of a lazy automaton: interned sets of elements, and their rows of the transition table.

The elements of a regular automaton are frames, those of a grammar's automaton configurations.
"""

from typing import Any

import numpy as np

from structured.automata.byte_automaton import UNKNOWN
from structured.automata.loops.numbering import mix
from structured.machine_code.growing_arrays import filled, grown, viewed, zeros
from structured.machine_code.loop_errors import LimitError
from structured.machine_code.notation import Ints, Row, Rows, compiled_class, loop, rare_loop

INITIAL_STATES, GROWN_STATES = 1 << 8, 1 << 11
"""The rows of a new table, 256 KB, and those that it has when these are full, 2 MB. When it grows again, it gets room
for the most rows allowed: the operating system gives so much memory only when a row is written, and copying more rows
would take noticeable time."""


class State(Row):
    """A state: the start of its elements, and their number; the start of its arcs, and their number, -1 until made."""

    first_element: int
    element_count: int
    first_arc: int
    arc_count: int


@compiled_class
class StateTable:
    """States, and the rounds of their elements.

    A *round* is a pass over elements that handles each only once, and to this end writes its number into `rounds`.
    """

    count: int
    max_states: int
    table_array: Any
    """The transitions, shape (states, 256): a state, DEAD or UNKNOWN."""
    distance_array: Any
    """The bytes of the shortest completion of each state."""
    elements_used: int
    round: int
    table: Rows
    distances: Ints
    rows: "list[State]"
    slots: Ints
    elements: Ints
    rounds: Ints

    def __init__(self, max_states: int) -> None:
        self.count = 0
        self.max_states = max_states
        self.elements_used = 0
        self.round = 0
        self.table_array = np.empty((INITIAL_STATES, 256), dtype=np.int32)
        self.distance_array = np.zeros(INITIAL_STATES, dtype=np.int32)
        self.table = viewed(self.table_array)
        self.distances = viewed(self.distance_array)
        self.rows = State.rows(INITIAL_STATES)
        self.slots = filled(-1, 2 * INITIAL_STATES)
        self.elements = zeros(1 << 13)
        self.rounds = zeros(1 << 12)

    def room(self) -> int:
        """Return the number of states that there is room for."""
        return len(self.rows)

    def nbytes(self) -> int:
        """Return the bytes of all arrays but the table, of which only the rows in use take memory."""
        return 20 * len(self.rows) + 4 * (len(self.slots) + len(self.elements) + len(self.rounds))

    def elements_of(self, state: int) -> list[int]:
        """Return the elements of a state."""
        start = self.rows[state].first_element
        return [self.elements[place] for place in range(start, start + self.rows[state].element_count)]


@loop
def hash_of_elements(states: StateTable, start: int, count: int) -> int:
    """Return a hash code of a set of elements, the same for any order."""
    code = count
    for position in range(start, start + count):
        code += mix(0x2545F491, states.elements[position])
    return mix(0, code & 0x7FFFFFFF)


@loop
def state_slot(states: StateTable, start: int, count: int) -> int:
    """Return the slot of the state that consists of `elements[start:start + count]`, or the free slot for it.

    These elements have been met in this round. So a state of as many elements is the same if all its elements have.
    """
    mask = len(states.slots) - 1
    slot = hash_of_elements(states, start, count) & mask
    while states.slots[slot] >= 0:
        candidate = states.slots[slot]
        if states.rows[candidate].element_count == count:
            element = states.rows[candidate].first_element
            end = element + count
            while element < end and states.rounds[states.elements[element]] == states.round:
                element += 1
            if element == end:
                break
        slot = (slot + 1) & mask
    return slot


@loop
def known_state(states: StateTable, count: int) -> int:
    """Return the state of the `count` elements after those in use, all met in this round; UNKNOWN if it is new."""
    slot = state_slot(states, states.elements_used, count)
    return UNKNOWN if states.slots[slot] < 0 else states.slots[slot]


@loop
def add_state(states: StateTable, count: int, distance: int) -> int:
    """Return a new state of the `count` elements after those in use, all met in this round."""
    if states.count == len(states.rows) or states.count >= states.max_states:
        grow_states(states)
    new = states.count
    states.slots[state_slot(states, states.elements_used, count)] = new
    states.rows[new].first_element = states.elements_used
    states.rows[new].element_count = count
    states.rows[new].arc_count = -1
    for byte in range(256):
        states.table[new, byte] = UNKNOWN
    states.distances[new] = distance
    states.elements_used += count
    states.count += 1
    return new


@loop
def add_element(states: StateTable, count: int, new: int) -> int:
    """Add an element to the `count` ones after those in use, unless it was met in this round; return their number."""
    if states.rounds[new] == states.round:
        return count
    place = states.elements_used + count
    if place == len(states.elements):
        grow_elements(states)
    states.rounds[new] = states.round
    states.elements[place] = new
    return count + 1


@rare_loop
def grow_elements(states: StateTable) -> None:
    """Make room for twice as many elements of states."""
    states.elements = grown(states.elements, 2 * len(states.elements))


@rare_loop
def grow_rounds(states: StateTable, count: int) -> None:
    """Make room for the rounds of so many elements."""
    states.rounds = grown(states.rounds, count)


@rare_loop
def grow_states(states: StateTable) -> None:
    """Make room for twice as many states. Raises LimitError if these are too many.

    All arrays are made before the first is replaced, so that an error leaves the states as they are.
    """
    if states.count >= states.max_states:
        raise LimitError(f"more than {states.max_states:,} states")
    room = 2 * len(states.rows)
    if len(states.table_array) < room:
        rows = GROWN_STATES if room <= GROWN_STATES else max(states.max_states, room)
        table = np.empty((rows, 256), dtype=np.int32)
        table[: states.count] = states.table_array[: states.count]
        states.table = viewed(table)
        states.table_array = table
    distances = np.zeros(room, dtype=np.int32)
    distances[: states.count] = states.distance_array[: states.count]
    states.distances = viewed(distances)
    states.distance_array = distances
    slots: Ints = filled(-1, 2 * room)
    states.rows = grown(states.rows, room)
    states.slots = slots
    fill_state_slots(states)


@loop
def fill_state_slots(states: StateTable) -> None:
    """Fill the empty hash table of the states."""
    for state in range(states.count):
        code = hash_of_elements(states, states.rows[state].first_element, states.rows[state].element_count)
        slot = code & (len(states.slots) - 1)
        while states.slots[slot] >= 0:
            slot = (slot + 1) & (len(states.slots) - 1)
        states.slots[slot] = state
