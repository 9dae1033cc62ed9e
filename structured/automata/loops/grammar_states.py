"""The states of a grammar's automaton: sets of configurations, interned, and their rows of the table filled."""

from structured.automata.byte_automaton import DEAD, ROW_COMPLETE, UNKNOWN
from structured.automata.loops import grammar_machine as layout
from structured.automata.loops.configurations import MARK, arrival_of, distance_of, fresh, landed
from structured.automata.loops.frames import rehash_rows
from structured.automata.loops.grammar_machine import GrammarMachine
from structured.automata.loops.jit import compiled_entry, compiled_loop
from structured.automata.loops.stacks import column_of, place_of, push
from structured.automata.loops.states import MEMBER_COUNT, MEMBERS, rehash_states, state_slot
from structured.automata.opcodes import FAR


@compiled_loop
def intern_state(machine: GrammarMachine, count: int, now: int) -> int:
    """Return the state of the `count` configurations behind the used part of `members`, marked `now`, or a code."""
    if count == 0:
        return DEAD
    start, configurations = int(machine.sizes[layout.MEMBERS_USED]), machine.configurations
    slot = state_slot(machine.states, machine.state_slots, machine.members, configurations, start, count, now)
    if machine.state_slots[slot] >= 0:
        return int(machine.state_slots[slot])
    new = int(machine.sizes[layout.STATES_USED])
    if new == len(machine.states) or new >= machine.facts[layout.MAX_STATES]:
        return layout.MORE_STATES
    distance = FAR
    for position in range(start, start + count):
        distance = min(distance, distance_of(machine, int(machine.members[position])))
    machine.states[new, MEMBERS] = start
    machine.states[new, MEMBER_COUNT] = count
    machine.distances[new] = distance
    machine.state_slots[slot] = new
    machine.sizes[layout.STATES_USED] = new + 1
    machine.sizes[layout.MEMBERS_USED] = start + count
    return new


@compiled_loop
def gather(machine: GrammarMachine, count: int, current: int, now: int) -> int:
    """Put a configuration behind the used part of `members`, unless it is there or has no end.

    Returns how many are there, or a code.
    """
    distance = distance_of(machine, current)
    if distance < 0:
        return distance
    if distance >= FAR or machine.configurations[current, MARK] == now:
        return count
    place = int(machine.sizes[layout.MEMBERS_USED]) + count
    if place == len(machine.members):
        return layout.MORE_MEMBERS
    machine.members[place] = current
    machine.configurations[current, MARK] = now
    return count + 1


@compiled_loop
def follow(machine: GrammarMachine, state: int, byte: int) -> int:
    """Return the successor of a state, and note it in the table, or a code."""
    machine.sizes[layout.ROUND] += 1
    now = int(machine.sizes[layout.ROUND])
    count = 0
    if not machine.absent[byte]:
        first = int(machine.states[state, MEMBERS])
        for position in range(first, first + int(machine.states[state, MEMBER_COUNT])):
            current = int(machine.members[position])
            arrival = arrival_of(machine, current, byte)
            if arrival < 0:
                return arrival
            for way in range(1 + int(machine.arrivals[arrival, 2])):
                after = landed(machine, current, arrival, way)
                if after == DEAD:
                    continue
                count = after if after < 0 else gather(machine, count, after, now)
                if count < 0:
                    return count
    target = intern_state(machine, count, now)
    if target >= DEAD:
        machine.table[state, byte] = target
    return target


@compiled_loop
def is_alike(machine: GrammarMachine, state: int, byte: int, other: int) -> bool:
    """Tell whether two bytes lead the lexer to the same from all configurations of a state, so far as is known."""
    if machine.absent[byte] or machine.absent[other]:
        return False
    first = int(machine.states[state, MEMBERS])
    for position in range(first, first + int(machine.states[state, MEMBER_COUNT])):
        current = int(machine.members[position])
        if arrival_of(machine, current, byte) != arrival_of(machine, current, other):
            return False
    return True


@compiled_entry
def begin(machine: GrammarMachine, state: int, rest: int) -> int:
    """Return the state before the first byte, DEAD if there is no text, or a code."""
    columns = column_of(machine, 0, -1)
    stack = push(machine, state, -1)
    place = place_of(machine, stack, 0, columns)
    if place < 0:
        return place
    first = fresh(machine, place, rest)
    if first < 0:
        return first
    machine.sizes[layout.ROUND] += 1
    now = int(machine.sizes[layout.ROUND])
    count = gather(machine, 0, first, now)
    if count < 0:
        return count
    return intern_state(machine, count, now)


@compiled_entry
def before(machine: GrammarMachine, state: int, byte: int) -> int:
    """Return a new state that leads to another by one byte, or a code."""
    new = int(machine.sizes[layout.STATES_USED])
    if new == len(machine.states):
        return layout.MORE_STATES
    machine.states[new, MEMBERS] = 0
    machine.states[new, MEMBER_COUNT] = 0
    machine.distances[new] = machine.distances[state] + 1
    for other in range(256):
        machine.table[new, other] = DEAD
    machine.table[new, byte] = state
    machine.sizes[layout.STATES_USED] = new + 1
    return new


@compiled_entry
def step(machine: GrammarMachine, state: int, byte: int) -> int:
    """Return the successor of a state, DEAD if there is none, or a code."""
    if machine.table[state, byte] != UNKNOWN:
        return int(machine.table[state, byte])
    return follow(machine, state, byte)


@compiled_entry
def expand(machine: GrammarMachine, state: int) -> int:
    """Fill the row of a state; return DONE or a code."""
    for byte in range(256):
        if machine.table[state, byte] != UNKNOWN:
            continue
        if byte > 0 and byte < ROW_COMPLETE and is_alike(machine, state, byte, byte - 1):
            machine.table[state, byte] = machine.table[state, byte - 1]
            continue
        target = DEAD
        if byte < ROW_COMPLETE:
            target = follow(machine, state, byte)
        if target < DEAD:
            return target
        machine.table[state, byte] = target
    return layout.DONE


def rehash(machine: GrammarMachine, lack: int) -> None:
    """Fill the empty hash table of what was full, if it has one."""
    if lack == layout.MORE_STATES:
        rehash_states(machine.state_slots, machine.states, machine.members, int(machine.sizes[layout.STATES_USED]))
    elif lack in layout.SLOTS:
        slots, used = layout.SLOTS[lack]
        rehash_rows(getattr(machine, layout.GROWING[lack][0]), getattr(machine, slots), int(machine.sizes[used]))
