"""The states of a lazy automaton: interned sets of elements, and their rows of the transition table.

The elements of a regular automaton are frames, those of a grammar's automaton configurations.
"""

from typing import Any

import numpy as np

from structured.automata.byte_automaton import DEAD, UNKNOWN
from structured.automata.loops.numbering import mix
from structured.machine_code.growing_arrays import array_bytes, filled, viewed
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
    elements: "list[int]"
    rounds: "list[int]"

    def __init__(self, max_states: int) -> None:
        self.max_states = max_states
        self.elements_used = self.round = 0
        self.table_array = np.empty((INITIAL_STATES, 256), dtype=np.int32)
        self.distance_array = np.zeros(INITIAL_STATES, dtype=np.int32)
        self.table = viewed(self.table_array)
        self.distances = viewed(self.distance_array)
        self.rows = []
        self.slots = filled(-1, 2 * INITIAL_STATES)
        self.elements = []
        self.rounds = []

    def count(self) -> int:
        """Return the number of states."""
        return len(self.rows)

    def room(self) -> int:
        """Return the number of states that there is room for."""
        return len(self.distances)

    def nbytes(self) -> int:
        """Return the bytes of all arrays but the table, of which only the rows in use take memory."""
        return array_bytes(self) - int(self.table_array.nbytes)

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


@rare_loop
def refuse_state(state: int) -> None:
    """Raise IndexError, because a state has not been made."""
    raise IndexError(f"There is no state {state}.")


@loop
def check_state(states: StateTable, state: int) -> None:
    """Raise IndexError if a state has not been made."""
    if state < 0 or state >= len(states.rows):
        refuse_state(state)


@loop
def begin_elements(states: StateTable) -> None:
    """Begin a new round, whose elements follow those in use."""
    states.round += 1
    del states.elements[states.elements_used :]


@loop
def add_element(states: StateTable, new: int) -> None:
    """Add an element to those of this round, unless it was met in it."""
    if states.rounds[new] != states.round:
        states.rounds[new] = states.round
        states.elements.append(new)


@loop
def state_slot(states: StateTable) -> int:
    """Return the slot of the state that consists of the elements of this round, or the free slot for it.

    A state of as many elements is the same if all its elements have been met in this round.
    """
    start = states.elements_used
    count, mask = len(states.elements) - start, len(states.slots) - 1
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
def known_state(states: StateTable) -> int:
    """Return the state of the elements of this round; DEAD if there are none, UNKNOWN if it is new."""
    if len(states.elements) == states.elements_used:
        return DEAD
    slot = state_slot(states)
    return UNKNOWN if states.slots[slot] < 0 else states.slots[slot]


@loop
def add_state(states: StateTable, distance: int) -> int:
    """Return a new state of the elements of this round."""
    new = len(states.rows)
    if new == len(states.distances) or new >= states.max_states:
        grow_states(states)
    states.rows.append(State(states.elements_used, len(states.elements) - states.elements_used, 0, -1))
    states.slots[state_slot(states)] = new
    for byte in range(256):
        states.table[new, byte] = UNKNOWN
    states.distances[new] = distance
    states.elements_used = len(states.elements)
    return new


@rare_loop
def grow_states(states: StateTable) -> None:
    """Make room for twice as many states. Raises LimitError if these are too many.

    All arrays are made before the first is replaced, so that an error leaves the states as they are.
    """
    count = len(states.rows)
    if count >= states.max_states:
        raise LimitError(f"more than {states.max_states:,} states")
    room = 2 * count
    table = states.table_array
    if len(table) < room:
        table = np.empty((GROWN_STATES if room <= GROWN_STATES else max(states.max_states, room), 256), dtype=np.int32)
        table[:count] = states.table_array[:count]
    distances = np.zeros(room, dtype=np.int32)
    distances[:count] = states.distance_array[:count]
    views = viewed(table), viewed(distances), filled(-1, 2 * room)
    states.table, states.distances, states.slots = views
    states.table_array, states.distance_array = table, distances
    fill_state_slots(states)


@loop
def fill_state_slots(states: StateTable) -> None:
    """Fill the empty hash table of the states."""
    for state in range(len(states.rows)):
        code = hash_of_elements(states, states.rows[state].first_element, states.rows[state].element_count)
        slot = code & (len(states.slots) - 1)
        while states.slots[slot] >= 0:
            slot = (slot + 1) & (len(states.slots) - 1)
        states.slots[slot] = state
