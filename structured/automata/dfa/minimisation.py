"""Minimisation: the states of a deterministic automaton that are alike, by refining two partitions in turn.

One partition is of the states. The other is of the transitions, by their character and the set of their target states.
Cutting a set of one partition cuts sets of the other (Valmari, "Fast brief practical DFA minimization", 2012). Dead
states and the transitions to them are removed first.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from structured.automata.dfa.alphabet import DEAD, numbered
from structured.automata.dfa.character_automaton import CharacterAutomaton, Table
from structured.machine_code.growing_arrays import viewed
from structured.machine_code.notation import Flags, Ints, compiled_class, entry, loop, walk_entry


@compiled_class
class Partition:
    """Numbers in sets: those of one side by side, from `first` up to `past`, the `marked` ones in front.

    `touched` are the sets with marked elements.
    """

    set_count: int
    touched_count: int
    elements: Ints
    places: Ints
    sets: Ints
    first: Ints
    past: Ints
    marked: Ints
    touched: Ints

    def __init__(self, elements: Any, sets: Any, sizes: Any, set_count: int) -> None:
        self.set_count = set_count
        self.touched_count = 0
        past = np.cumsum(sizes, dtype=np.int32)
        self.elements = viewed(elements)
        self.places = viewed(np.argsort(elements).astype(np.int32))
        self.sets = viewed(sets)
        self.first = viewed(past - sizes)
        self.past = viewed(past)
        self.marked = viewed(np.zeros_like(sizes))
        self.touched = viewed(np.zeros_like(sizes))

    def set_numbers(self) -> list[int]:
        """Return the set of each number."""
        numbers: list[int] = np.asarray(self.sets).tolist()
        return numbers


@compiled_class
class Transitions:
    """The states that transitions come from; `incoming` are their numbers by the states that they lead to."""

    sources: Ints
    incoming: Ints
    bounds: Ints

    def __init__(self, sources: Any, incoming: Any, bounds: Any) -> None:
        self.sources = viewed(sources)
        self.incoming = viewed(incoming)
        self.bounds = viewed(bounds)


@loop
def add_set(partition: Partition, first: int, past: int) -> None:
    """Make a set of the elements at some places."""
    number = partition.set_count
    partition.first[number], partition.past[number] = first, past
    for place in range(first, past):
        partition.places[partition.elements[place]] = place
        partition.sets[partition.elements[place]] = number
    partition.set_count += 1


@loop
def mark_element(partition: Partition, element: int) -> None:
    """Mark an element, which is not marked yet."""
    number, place = partition.sets[element], partition.places[element]
    border = partition.first[number] + partition.marked[number]
    other = partition.elements[border]
    partition.elements[place], partition.places[other] = other, place
    partition.elements[border], partition.places[element] = element, border
    if partition.marked[number] == 0:
        partition.touched[partition.touched_count] = number
        partition.touched_count += 1
    partition.marked[number] += 1


@loop
def split_sets(partition: Partition) -> None:
    """Cut each set into its marked elements and the others; the larger part stays the set, and none stays marked."""
    while partition.touched_count > 0:
        partition.touched_count -= 1
        number = partition.touched[partition.touched_count]
        first, past = partition.first[number], partition.past[number]
        border = first + partition.marked[number]
        partition.marked[number] = 0
        if border < past and border - first <= past - border:
            partition.first[number] = border
            add_set(partition, first, border)
        elif border < past:
            partition.past[number] = border
            add_set(partition, border, past)


@entry
def find_live(transitions: Transitions, live: Flags, queue: Ints, count: int) -> None:
    """Set the flags of the states from which a text can end; those that accept are set, and in front in the queue."""
    place = 0
    while place < count:
        for number in range(transitions.bounds[queue[place]], transitions.bounds[queue[place] + 1]):
            source = transitions.sources[transitions.incoming[number]]
            if not live[source]:
                live[source] = True
                queue[count] = source
                count += 1
        place += 1


@walk_entry
def refine_partitions(transitions: Transitions, states: Partition, cords: Partition) -> None:
    """Cut the sets of two partitions, of live states and of the transitions between them, until none tells apart."""
    block, cord = 1, 0
    while cord < cords.set_count:
        for place in range(cords.first[cord], cords.past[cord]):
            mark_element(states, transitions.sources[cords.elements[place]])
        split_sets(states)
        cord += 1
        while block < states.set_count:
            for place in range(states.first[block], states.past[block]):
                state = states.elements[place]
                for number in range(transitions.bounds[state], transitions.bounds[state + 1]):
                    mark_element(cords, transitions.incoming[number])
            split_sets(cords)
            block += 1


def _transitions(rows: NDArray[np.int32]) -> tuple[Transitions, NDArray[np.intp]]:
    """Return the transitions of a table, and the class of characters of each."""
    sources, labels = np.nonzero(rows != DEAD)
    targets = rows[sources, labels]
    incoming = np.argsort(targets, kind="stable")
    bounds = np.searchsorted(targets[incoming], np.arange(len(rows) + 1))
    return Transitions(*(numbers.astype(np.int32) for numbers in (sources, incoming, bounds))), labels


def _partition(keys: NDArray[Any]) -> Partition:
    """Return the partition of as many numbers into those with the same key, with room for each to be a set."""
    _, sets, counts = np.unique(keys, return_inverse=True, return_counts=True)
    elements = np.argsort(sets, kind="stable").astype(np.int32)
    sizes = np.zeros(len(keys), dtype=np.int32)
    sizes[: len(counts)] = counts
    return Partition(elements, sets.astype(np.int32), sizes, len(counts))


def live_blocks(rows: NDArray[np.int32], accepting: NDArray[np.bool_]) -> NDArray[np.int32]:
    """Return the numbers of the states that are alike, in the order of their first states; of a dead state it is -1.

    `rows` are where the characters lead from each state, `DEAD` being nowhere.
    """
    transitions, labels = _transitions(rows)
    ends = np.flatnonzero(accepting)
    live, queue = accepting.copy(), np.zeros(len(rows), dtype=np.int32)
    queue[: len(ends)] = ends
    find_live(transitions, live, queue, len(ends))
    blocks = np.full(len(rows) + 1, DEAD, dtype=np.int32)  # the last is that of DEAD
    blocks[:-1][live] = np.arange(np.count_nonzero(live))
    if not live.all():
        transitions, labels = _transitions(blocks[rows[live]])
    states = _partition(~accepting[live])
    refine_partitions(transitions, states, _partition(labels))
    blocks[:-1][live] = numbered(states.set_numbers())
    return blocks[:-1]


def minimised(table: Table, accepting: set[int]) -> CharacterAutomaton | None:
    """Return the automaton of a table without dead states, its alike states made one; None if it has no text."""
    ends = np.zeros(len(table.rows), dtype=np.bool_)
    ends[list(accepting)] = True
    blocks = live_blocks(table.rows, ends)
    if blocks[0] == DEAD:
        return None
    numbers, chosen = np.unique(blocks, return_index=True)
    block_of = np.append(blocks, np.int32(DEAD))  # the last is that of DEAD
    following = block_of[table.rows[chosen[numbers != DEAD]]]
    return CharacterAutomaton(table.alphabet.steps(following), frozenset(blocks[ends].tolist()))
