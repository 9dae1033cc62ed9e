"""Minimisation: the states of a deterministic automaton that are alike, by refining two partitions in turn.

One partition is of the states. The other is of the transitions, by their character and the set of their target states.
Cutting a set of one partition cuts sets of the other (Valmari, "Fast brief practical DFA minimization", 2012). Dead
states and the transitions to them are removed first.
"""

from typing import NamedTuple

import numpy as np

from structured.automata.dfa.alphabet import DEAD
from structured.automata.dfa.character_automaton import Automaton, Table
from structured.automata.loops.jit import Flags, Ints, Rows, compiled_entry, compiled_loop

SETS, TOUCHED = range(2)
"""What `Partition.sizes` counts: sets, and those with marked elements."""


class Partition(NamedTuple):
    """Numbers in sets: those of one side by side, from `first` up to `past`, the `marked` ones in front."""

    elements: Ints
    places: Ints
    sets: Ints
    first: Ints
    past: Ints
    marked: Ints
    touched: Ints
    sizes: Ints


class Transitions(NamedTuple):
    """The transitions of an automaton, and their numbers by the states that they lead to."""

    sources: Ints
    targets: Ints
    incoming: Ints
    bounds: Ints


def new_partition(size: int) -> Partition:
    """Return a partition of so many numbers that has no sets yet."""
    return Partition._make([*np.zeros((7, size), dtype=np.int32), np.zeros(2, dtype=np.int32)])


def new_transitions(states: int, size: int) -> Transitions:
    """Return room for so many transitions between so many states."""
    return Transitions._make([*np.zeros((3, size), dtype=np.int32), np.zeros(states + 2, dtype=np.int32)])


@compiled_loop
def add_set(partition: Partition, first: int, past: int) -> None:
    """Make a set of the elements at some places, unless there are none."""
    if first == past:
        return
    number = partition.sizes[SETS]
    partition.first[number], partition.past[number] = first, past
    for place in range(first, past):
        partition.places[partition.elements[place]] = place
        partition.sets[partition.elements[place]] = number
    partition.sizes[SETS] += 1


@compiled_loop
def mark(partition: Partition, element: int) -> None:
    """Mark an element, which is not marked yet."""
    number, place = partition.sets[element], partition.places[element]
    border = partition.first[number] + partition.marked[number]
    other = partition.elements[border]
    partition.elements[place], partition.places[other] = other, place
    partition.elements[border], partition.places[element] = element, border
    if partition.marked[number] == 0:
        partition.touched[partition.sizes[TOUCHED]] = number
        partition.sizes[TOUCHED] += 1
    partition.marked[number] += 1


@compiled_loop
def split(partition: Partition) -> None:
    """Cut each set into its marked elements and the others; the larger part stays the set, and none stays marked."""
    while partition.sizes[TOUCHED]:
        partition.sizes[TOUCHED] -= 1
        number = partition.touched[partition.sizes[TOUCHED]]
        first, past = partition.first[number], partition.past[number]
        border = first + partition.marked[number]
        partition.marked[number] = 0
        if border < past and border - first <= past - border:
            partition.first[number] = border
            add_set(partition, first, border)
        elif border < past:
            partition.past[number] = border
            add_set(partition, border, past)


@compiled_loop
def sort_incoming(transitions: Transitions, count: int) -> None:
    """Sort the numbers of the first so many transitions by the states that they lead to."""
    bounds = transitions.bounds
    bounds[:] = 0
    for number in range(count):
        bounds[transitions.targets[number] + 2] += 1
    for state in range(2, len(bounds)):
        bounds[state] += bounds[state - 1]
    for number in range(count):
        place = transitions.targets[number] + 1
        transitions.incoming[bounds[place]] = number
        bounds[place] += 1


@compiled_loop
def find_live(rows: Rows, accepting: Flags, transitions: Transitions, blocks: Ints, queue: Ints) -> None:
    """Set the blocks of the states from which a text can end to 0, the others to -1."""
    count = 0
    for label in range(rows.shape[1]):
        for state in range(rows.shape[0]):
            if rows[state, label] >= 0:
                transitions.sources[count], transitions.targets[count] = state, rows[state, label]
                count += 1
    sort_incoming(transitions, count)
    used = 0
    for state in range(rows.shape[0]):
        blocks[state] = int(accepting[state]) - 1
        if accepting[state]:
            queue[used] = state
            used += 1
    place = 0
    while place < used:
        for number in range(transitions.bounds[queue[place]], transitions.bounds[queue[place] + 1]):
            source = transitions.sources[transitions.incoming[number]]
            if blocks[source] < 0:
                blocks[source] = 0
                queue[used] = source
                used += 1
        place += 1


@compiled_loop
def begin_states(accepting: Flags, blocks: Ints, states: Partition) -> None:
    """Sort the live states into those in which a text may end, and the others."""
    used = 0
    for is_accepting in (True, False):
        first = used
        for state in range(len(blocks)):
            if blocks[state] == 0 and accepting[state] == is_accepting:
                states.elements[used] = state
                used += 1
        add_set(states, first, used)


@compiled_loop
def begin_transitions(rows: Rows, blocks: Ints, transitions: Transitions, cords: Partition) -> None:
    """Sort the transitions between live states by their characters."""
    used = 0
    for label in range(rows.shape[1]):
        first = used
        for state in range(rows.shape[0]):
            target = rows[state, label]
            if target >= 0 and blocks[target] == 0:
                transitions.sources[used], transitions.targets[used] = state, target
                cords.elements[used] = used
                used += 1
        add_set(cords, first, used)
    sort_incoming(transitions, used)


@compiled_entry
def find_blocks(
    rows: Rows, accepting: Flags, blocks: Ints, transitions: Transitions, states: Partition, cords: Partition
) -> None:
    """Number the blocks of the states that are alike, in the order of their first states; of a dead state it is -1.

    `rows` are where the characters lead from each state, -1 being nowhere; the last three are room.
    """
    find_live(rows, accepting, transitions, blocks, states.touched)
    begin_states(accepting, blocks, states)
    begin_transitions(rows, blocks, transitions, cords)
    block, cord = 1, 0
    while cord < cords.sizes[SETS]:
        for place in range(cords.first[cord], cords.past[cord]):
            mark(states, int(transitions.sources[cords.elements[place]]))
        split(states)
        cord += 1
        while block < states.sizes[SETS]:
            for place in range(states.first[block], states.past[block]):
                state = states.elements[place]
                for number in range(transitions.bounds[state], transitions.bounds[state + 1]):
                    mark(cords, int(transitions.incoming[number]))
            split(cords)
            block += 1
    used = 0
    numbers = states.touched
    numbers[: states.sizes[SETS]] = -1
    for state in range(len(blocks)):
        if blocks[state] == 0:
            if numbers[states.sets[state]] < 0:
                numbers[states.sets[state]] = used
                used += 1
            blocks[state] = numbers[states.sets[state]]


def smallest(table: Table, accepting: set[int]) -> Automaton | None:
    """Return the automaton without states that lead nowhere, and with those that are alike made one."""
    rows = table.rows
    ends = np.zeros(len(rows), dtype=np.bool_)
    ends[list(accepting)] = True
    blocks = np.empty(len(rows), dtype=np.int32)
    size = int(np.count_nonzero(rows != DEAD))
    room = new_transitions(len(rows), size), new_partition(len(rows)), new_partition(size)
    find_blocks(rows, ends, blocks, *room)
    if blocks[0] == DEAD:
        return None
    numbers, chosen = np.unique(blocks, return_index=True)
    block_of = np.append(blocks, np.int32(DEAD))  # the last is that of DEAD
    following = block_of[rows[chosen[numbers != DEAD]]]
    return Automaton(table.alphabet.steps(following), frozenset(blocks[ends].tolist()))
