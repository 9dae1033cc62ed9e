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
from structured.automata.loops.state_table import add_element, add_state, begin_elements, check_state, known_state
from structured.automata.opcodes import FAR
from structured.machine_code.notation import entry, loop


@loop
def new_grammar_state(machine: GrammarMachine, distance: int) -> int:
    """Return a new state of the configurations that are the elements of this round."""
    if len(machine.states.rows) == len(machine.states.distances):
        check_growth(machine, 1024 * len(machine.states.rows))
    return add_state(machine.states, distance)


@loop
def grammar_state(machine: GrammarMachine) -> int:
    """Return the state of the configurations that are the elements of this round; DEAD if there are none."""
    state = known_state(machine.states)
    if state != UNKNOWN:
        return state
    distance = FAR
    for place in range(machine.states.elements_used, len(machine.states.elements)):
        distance = min(distance, distance_of(machine, machine.states.elements[place]))
    return new_grammar_state(machine, distance)


@loop
def add_configuration(machine: GrammarMachine, current: int) -> None:
    """Add a configuration to the elements of this round, unless no text follows."""
    if current != DEAD and distance_of(machine, current) < FAR:
        add_element(machine.states, current)


@entry
def grammar_step(machine: GrammarMachine, state: int, byte: int) -> int:
    """Return the successor of a state, DEAD if there is none, and write it to the table."""
    check_state(machine.states, state)
    if byte < 0 or byte >= ROW_COMPLETE:
        return DEAD
    begin_elements(machine.states)
    first = machine.states.rows[state].first_element
    end = first if machine.is_absent[byte] else first + machine.states.rows[state].element_count
    for place in range(first, end):
        current = machine.states.elements[place]
        arrival = arrival_of(machine, current, byte)
        for way in range(way_count(machine, arrival)):
            add_configuration(machine, successor_of(machine, current, arrival, way))
    target = grammar_state(machine)
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
    check_state(machine.states, state)
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
    begin_elements(machine.states)
    add_configuration(machine, before_token(machine, parser_state, lookaround))
    return grammar_state(machine)


@entry
def prepend_byte(machine: GrammarMachine, state: int, byte: int) -> int:
    """Return a new state without configurations, with another as its only successor, by one byte."""
    check_state(machine.states, state)
    begin_elements(machine.states)
    new = new_grammar_state(machine, machine.states.distances[state] + 1)
    for other in range(256):
        machine.states.table[new, other] = DEAD
    machine.states.table[new, byte] = state
    return new
