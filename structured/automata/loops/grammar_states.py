"""The states of a grammar's automaton: interned sets of configurations, and their rows of the transition table."""

from structured.automata.byte_automaton import DEAD, ROW_COMPLETE, UNKNOWN
from structured.automata.loops import grammar_machine as grammar
from structured.automata.loops.configurations import LAST_ROUND, arrival_of, before_token, distance_of, successor_of
from structured.automata.loops.frames import rehash_rows
from structured.automata.loops.grammar_machine import GrammarMachine
from structured.automata.loops.jit import compiled_entry, compiled_loop
from structured.automata.loops.stacks import intern_column, intern_parser_state, push_state
from structured.automata.loops.states import ELEMENT_COUNT, FIRST_ELEMENT, elements_of, rehash_states, state_slot
from structured.automata.opcodes import FAR


@compiled_loop
def intern_state(machine: GrammarMachine, count: int, this_round: int) -> int:
    """Return the state of the `count` configurations after the used part of `elements`, all of a round, or a code.

    DEAD if there are none; a code in place of `count` is passed on.
    """
    if count <= 0:
        return count or DEAD
    start, configurations = int(machine.registers[grammar.ELEMENTS_USED]), machine.configurations
    slot = state_slot(machine.states, machine.state_slots, machine.elements, configurations, start, count, this_round)
    if machine.state_slots[slot] >= 0:
        return int(machine.state_slots[slot])
    new = int(machine.registers[grammar.STATES_USED])
    if new == len(machine.states) or new >= machine.constants[grammar.MAX_STATES]:
        return grammar.MORE_STATES
    distance = FAR
    for current in machine.elements[start : start + count]:
        distance = min(distance, distance_of(machine, int(current)))
    machine.states[new, FIRST_ELEMENT], machine.states[new, ELEMENT_COUNT] = start, count
    machine.distances[new] = distance
    machine.state_slots[slot] = new
    machine.registers[grammar.STATES_USED], machine.registers[grammar.ELEMENTS_USED] = new + 1, start + count
    return new


@compiled_loop
def add_element(machine: GrammarMachine, count: int, current: int, this_round: int) -> int:
    """Write a configuration after `count` others that follow the used part of `elements`.

    Not if it was met in this round or no text follows. Returns how many are there, or a code, also one in its place.
    """
    distance = current if current < 0 else distance_of(machine, current)
    if distance < 0:
        return distance
    if distance >= FAR or machine.configurations[current, LAST_ROUND] == this_round:
        return count
    index = int(machine.registers[grammar.ELEMENTS_USED]) + count
    if index == len(machine.elements):
        return grammar.MORE_ELEMENTS
    machine.elements[index] = current
    machine.configurations[current, LAST_ROUND] = this_round
    return count + 1


@compiled_entry
def step(machine: GrammarMachine, state: int, byte: int) -> int:
    """Return the successor of a state, DEAD if there is none, and write it to the table; or return a code."""
    machine.registers[grammar.ROUND] += 1
    this_round = int(machine.registers[grammar.ROUND])
    count = 0
    if not machine.is_absent[byte]:
        for current in elements_of(machine, state):
            arrival = arrival_of(machine, int(current), byte)
            if arrival < 0:
                return arrival
            for way in range(1 + int(machine.arrivals[arrival, 2])):
                successor = successor_of(machine, int(current), arrival, way)
                if successor == DEAD:
                    continue
                count = add_element(machine, count, successor, this_round)
                if count < 0:
                    return count
    target = intern_state(machine, count, this_round)
    if target >= DEAD:
        machine.table[state, byte] = target
    return target


@compiled_loop
def have_same_arrivals(machine: GrammarMachine, state: int, byte: int, other: int) -> bool:
    """Tell whether two bytes have the same arrivals from all configurations of a state; False for forbidden bytes."""
    if machine.is_absent[byte] or machine.is_absent[other]:
        return False
    for current in elements_of(machine, state):
        if arrival_of(machine, int(current), byte) != arrival_of(machine, int(current), other):
            return False
    return True


@compiled_entry
def begin(machine: GrammarMachine, state: int, rest: int) -> int:
    """Return the state before the first byte, DEAD if there is no text, or a code."""
    parser_state = intern_parser_state(machine, push_state(machine, state, -1), 0, intern_column(machine, 0, -1))
    first = parser_state if parser_state < 0 else before_token(machine, parser_state, rest)
    machine.registers[grammar.ROUND] += 1
    this_round = int(machine.registers[grammar.ROUND])
    return intern_state(machine, add_element(machine, 0, first, this_round), this_round)


@compiled_entry
def prepend_byte(machine: GrammarMachine, state: int, byte: int) -> int:
    """Return a new state with another as its only successor, by one byte, or a code."""
    new = int(machine.registers[grammar.STATES_USED])
    if new == len(machine.states):
        return grammar.MORE_STATES
    machine.states[new, FIRST_ELEMENT] = machine.states[new, ELEMENT_COUNT] = 0
    machine.distances[new] = machine.distances[state] + 1
    machine.table[new, :] = DEAD
    machine.table[new, byte] = state
    machine.registers[grammar.STATES_USED] = new + 1
    return new


@compiled_entry
def expand(machine: GrammarMachine, state: int) -> int:
    """Fill the row of a state; return DONE or a code."""
    for byte in range(256):
        if machine.table[state, byte] != UNKNOWN:
            continue
        if byte > 0 and byte < ROW_COMPLETE and have_same_arrivals(machine, state, byte, byte - 1):
            machine.table[state, byte] = machine.table[state, byte - 1]
            continue
        target = DEAD
        if byte < ROW_COMPLETE:
            target = step(machine, state, byte)
        if target < DEAD:
            return target
        machine.table[state, byte] = target
    return grammar.DONE


def rehash(machine: GrammarMachine, code: int) -> None:
    """Fill the empty hash table of what was full, if it has one."""
    if code not in grammar.SLOTS:
        return
    slots, used = grammar.SLOTS[code]
    count = int(machine.registers[used])
    if code == grammar.MORE_STATES:
        rehash_states(machine.state_slots, machine.states, machine.elements, count)
    else:
        rehash_rows(getattr(machine, grammar.FULL_ARRAYS[code][0]), getattr(machine, slots), count)
