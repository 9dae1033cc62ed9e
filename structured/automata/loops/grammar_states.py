"""The states of a grammar's automaton: interned sets of configurations, and their rows of the transition table."""

from structured.automata.byte_automaton import DEAD, ROW_COMPLETE, UNKNOWN
from structured.automata.loops.configurations import arrival_of, before_token, distance_of, successor_of, way_count
from structured.automata.loops.grammar_machine import (
    GrammarMachine,
    block_of,
    check_growth,
    parser_state_of,
    push_state,
)
from structured.automata.loops.state_table import add_element, add_state, known_state
from structured.automata.opcodes import FAR
from structured.machine_code.notation import entry, loop


@loop
def new_grammar_state(machine: GrammarMachine, count: int, distance: int) -> int:
    """Return a new state of the `count` configurations after the used elements, all met in this round."""
    if machine.states.count == len(machine.states.rows):
        check_growth(machine, 1024 * machine.states.count)
    return add_state(machine.states, count, distance)


@loop
def grammar_state(machine: GrammarMachine, count: int) -> int:
    """Return the state of the `count` configurations after the used elements, all met in this round; DEAD if none."""
    if count == 0:
        return DEAD
    state = known_state(machine.states, count)
    if state != UNKNOWN:
        return state
    distance = FAR
    for place in range(machine.states.elements_used, machine.states.elements_used + count):
        distance = min(distance, distance_of(machine, machine.states.elements[place]))
    return new_grammar_state(machine, count, distance)


@loop
def add_configuration(machine: GrammarMachine, count: int, current: int) -> int:
    """Add a configuration to the `count` ones after the used elements, unless no text follows; return their number."""
    if current == DEAD or distance_of(machine, current) >= FAR:
        return count
    return add_element(machine.states, count, current)


@entry
def grammar_step(machine: GrammarMachine, state: int, byte: int) -> int:
    """Return the successor of a state, DEAD if there is none, and write it to the table."""
    machine.states.round += 1
    count = 0
    first = machine.states.rows[state].first_element
    end = first if machine.is_absent[byte] else first + machine.states.rows[state].element_count
    for place in range(first, end):
        current = machine.states.elements[place]
        arrival = arrival_of(machine, current, byte)
        for way in range(way_count(machine, arrival)):
            count = add_configuration(machine, count, successor_of(machine, current, arrival, way))
    target = grammar_state(machine, count)
    machine.states.table[state, byte] = target
    return target


@loop
def have_same_arrivals(machine: GrammarMachine, state: int, byte: int, other: int) -> bool:
    """Tell whether two bytes have the same arrivals from all configurations of a state; False for forbidden bytes."""
    if machine.is_absent[byte] or machine.is_absent[other]:
        return False
    first = machine.states.rows[state].first_element
    for place in range(first, first + machine.states.rows[state].element_count):
        current = machine.states.elements[place]
        if arrival_of(machine, current, byte) != arrival_of(machine, current, other):
            return False
    return True


@entry
def grammar_expand(machine: GrammarMachine, state: int) -> None:
    """Fill the row of a state."""
    for byte in range(ROW_COMPLETE):
        if machine.states.table[state, byte] == UNKNOWN:
            if byte > 0 and have_same_arrivals(machine, state, byte, byte - 1):
                machine.states.table[state, byte] = machine.states.table[state, byte - 1]
            else:
                grammar_step(machine, state, byte)
    machine.states.table[state, ROW_COMPLETE] = DEAD


@entry
def grammar_begin(machine: GrammarMachine, lr_state: int, lookaround: int) -> int:
    """Return the state before the first byte, DEAD if there is no text."""
    parser_state = parser_state_of(machine, push_state(machine, lr_state, -1), 0, block_of(machine, 0, -1))
    machine.states.round += 1
    return grammar_state(machine, add_configuration(machine, 0, before_token(machine, parser_state, lookaround)))


@entry
def prepend_byte(machine: GrammarMachine, state: int, byte: int) -> int:
    """Return a new state without configurations, with another as its only successor, by one byte."""
    new = new_grammar_state(machine, 0, machine.states.distances[state] + 1)
    for other in range(256):
        machine.states.table[new, other] = DEAD
    machine.states.table[new, byte] = state
    return new
