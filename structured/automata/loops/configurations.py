"""The configurations of a grammar's automaton: their successors by bytes, and their distances from the end.

A configuration is one way to read a text: a state of the lexer and a state of the parser.
`tests/support/plain_grammar.py` is the same in plain Python.
"""

from structured.automata.byte_automaton import DEAD, UNKNOWN
from structured.automata.loops.grammar_machine import (
    GrammarMachine,
    configuration_of,
    grow_heap,
    has_token_ends,
    make_token_ends,
    refuse_search,
)
from structured.automata.loops.lexer_tables import lexer_arrival, lexer_start
from structured.automata.loops.stacks import advance, lower_bound_after, parser_lower_bound, parser_may_end
from structured.automata.opcodes import FAR
from structured.machine_code.notation import loop

MAX_TOKENS_FOLLOWED = 64
"""The most tokens that are followed before a search for the end begins."""

SLACK = 2
"""The bytes by which an upper bound of a distance may exceed the lower bound without a search for a nearer one."""


@loop
def before_token(machine: GrammarMachine, parser_state: int, lookaround: int) -> int:
    """Return the configuration before a token, after the lookaround that the last token leaves."""
    context = machine.lr_states[machine.stacks[machine.parser_states[parser_state].stack].lr_state].context
    return configuration_of(machine, lexer_start(machine.lexer, context, lookaround), parser_state)


@loop
def after_token(machine: GrammarMachine, parser_state: int, token: int) -> int:
    """Return the configuration after a token, DEAD if it cannot follow."""
    successor = advance(machine, parser_state, machine.lexer.tokens[token].terminal)
    return DEAD if successor < 0 else before_token(machine, successor, machine.lexer.tokens[token].lookaround)


@loop
def arrival_of(machine: GrammarMachine, current: int, byte: int) -> int:
    """Return the arrival of the lexer on a byte."""
    return lexer_arrival(machine.lexer, machine.configurations[current].lexer_state, byte)


@loop
def way_count(machine: GrammarMachine, arrival: int) -> int:
    """Return the number of ways of an arrival."""
    return machine.lexer.arrivals[arrival].token_count + 1


@loop
def successor_of(machine: GrammarMachine, current: int, arrival: int, way: int) -> int:
    """Return the configuration of one way of an arrival, or DEAD.

    Way 0 stays within the token; the others end it, each as one of the tokens of the arrival.
    """
    parser_state = machine.configurations[current].parser_state
    if way == 0:
        lexer_state = machine.lexer.arrivals[arrival].state
        return DEAD if lexer_state == DEAD else configuration_of(machine, lexer_state, parser_state)
    place = machine.lexer.arrivals[arrival].first_token + way - 1
    return after_token(machine, parser_state, machine.lexer.ending[place])


@loop
def may_end(machine: GrammarMachine, current: int) -> bool:
    """Tell whether the text may end in a configuration."""
    if not machine.lexer.states[machine.configurations[current].lexer_state].may_end:
        return False
    return parser_may_end(machine, machine.configurations[current].parser_state)


@loop
def lower_bound(machine: GrammarMachine, current: int) -> int:
    """Return a lower bound of the bytes that complete a configuration."""
    best = machine.configurations[current].lower_bound
    if best != UNKNOWN:
        return best
    is_end = may_end(machine, current)
    best = 0 if is_end else FAR
    if not is_end:
        lexer_state = machine.configurations[current].lexer_state
        parser_state = machine.configurations[current].parser_state
        first, blanks = machine.lexer.states[lexer_state].first_expected, machine.lexer.states[lexer_state].column
        for place in range(first, first + machine.lexer.states[lexer_state].expected_count):
            terminal, width = machine.lexer.expected[place].terminal, machine.lexer.expected[place].width
            best = min(best, lower_bound_after(machine, parser_state, terminal, width, blanks))
    machine.configurations[current].lower_bound = best
    if is_end or best >= FAR:
        machine.configurations[current].distance = best
    return best


@loop
def heap_precedes(machine: GrammarMachine, left: int, right: int) -> bool:
    """Tell whether one entry of the heap comes before another: the smaller total, then the more bytes read."""
    if machine.heap[left].total != machine.heap[right].total:
        return machine.heap[left].total < machine.heap[right].total
    return machine.heap[left].bytes_read > machine.heap[right].bytes_read


@loop
def heap_swap(machine: GrammarMachine, left: int, right: int) -> None:
    """Swap two entries of the heap."""
    total, read, current = machine.heap[left].total, machine.heap[left].bytes_read, machine.heap[left].configuration
    machine.heap[left].total = machine.heap[right].total
    machine.heap[left].bytes_read = machine.heap[right].bytes_read
    machine.heap[left].configuration = machine.heap[right].configuration
    machine.heap[right].total, machine.heap[right].bytes_read = total, read
    machine.heap[right].configuration = current


@loop
def heap_push(machine: GrammarMachine, total: int, read: int, current: int) -> None:
    """Put a configuration on the heap."""
    place = machine.heap_size
    if place == len(machine.heap):
        grow_heap(machine)
    machine.heap[place].total, machine.heap[place].bytes_read = total, read
    machine.heap[place].configuration = current
    machine.heap_size += 1
    while place > 0 and heap_precedes(machine, place, (place - 1) // 2):
        heap_swap(machine, place, (place - 1) // 2)
        place = (place - 1) // 2


@loop
def heap_pop(machine: GrammarMachine) -> None:
    """Move the first entry of the heap to the place after its end."""
    machine.heap_size -= 1
    last = machine.heap_size
    heap_swap(machine, 0, last)
    place = 0
    while 2 * place + 1 < last:
        child = 2 * place + 1
        if child + 1 < last and heap_precedes(machine, child + 1, child):
            child += 1
        if not heap_precedes(machine, child, place):
            return
        heap_swap(machine, place, child)
        place = child


@loop
def store_distances(machine: GrammarMachine, end: int, total: int) -> int:
    """Store the distances of all configurations on the path of a search, of `total` bytes; return that of the first."""
    current, distance = end, 0
    while current >= 0:
        distance = total - machine.configurations[current].bytes_read
        machine.configurations[current].distance = distance
        current = machine.configurations[current].predecessor
    return distance


@loop
def store_upper_bounds(machine: GrammarMachine, end: int, total: int) -> int:
    """Store the upper bounds of all configurations on a path of tokens, of `total` bytes; return that of the first."""
    current, bound = end, 0
    while current >= 0:
        bound = total - machine.configurations[current].bytes_read
        machine.configurations[current].upper_bound = bound
        current = machine.configurations[current].predecessor
    return bound


@loop
def least_distance(machine: GrammarMachine, current: int) -> int:
    """Return the distance of a configuration, or else a lower bound of it."""
    distance = machine.configurations[current].distance
    return lower_bound(machine, current) if distance == UNKNOWN else distance


@loop
def put_on_path(machine: GrammarMachine, current: int, predecessor: int, read: int) -> None:
    """Let the path of this search reach a configuration after some bytes, from another or from -1."""
    machine.configurations[current].search = machine.search
    machine.configurations[current].bytes_read = read
    machine.configurations[current].predecessor = predecessor


@loop
def push_successors(machine: GrammarMachine, current: int) -> None:
    """Put all successors of a configuration on the heap."""
    last = -1
    read = machine.configurations[current].bytes_read + 1
    for byte in range(255):
        arrival = arrival_of(machine, current, byte)
        if arrival == last or machine.is_absent[byte]:
            continue
        last = arrival
        for way in range(way_count(machine, arrival)):
            successor = successor_of(machine, current, arrival, way)
            if successor == DEAD:
                continue
            is_met = machine.configurations[successor].search == machine.search
            if is_met and machine.configurations[successor].bytes_read <= read:
                continue
            distance = least_distance(machine, successor)
            if distance >= FAR:
                continue
            put_on_path(machine, successor, current, read)
            heap_push(machine, read + distance, read, successor)


@loop
def upper_bound(machine: GrammarMachine, start: int) -> int:
    """Return an upper bound of the bytes that complete a configuration, FAR if it has no completion.

    It follows the token end after which the parser needs the fewest bytes, token by token, and searches only if these
    do not come to an end.
    """
    if machine.configurations[start].upper_bound != UNKNOWN:
        return machine.configurations[start].upper_bound
    machine.search += 1
    put_on_path(machine, start, -1, 0)
    current = start
    for _ in range(MAX_TOKENS_FOLLOWED):
        bound = known_upper_bound(machine, current)
        read = machine.configurations[current].bytes_read
        if bound >= FAR:
            break
        if bound != UNKNOWN:
            return store_upper_bounds(machine, current, bound + read)
        token_end = best_token_end(machine, current)
        if token_end == DEAD:
            break
        parser_state, width = machine.configurations[current].parser_state, machine.token_ends[token_end].width
        successor = after_token(machine, parser_state, machine.token_ends[token_end].token)
        if machine.configurations[successor].search == machine.search:  # an ignored token leads back
            break
        put_on_path(machine, successor, current, read + width)
        current = successor
    distance = FAR if current == start and known_upper_bound(machine, start) >= FAR else search(machine, start)
    machine.configurations[start].upper_bound = distance
    return distance


@loop
def known_upper_bound(machine: GrammarMachine, current: int) -> int:
    """Return the known upper bound of the bytes that complete a configuration, UNKNOWN if there is none."""
    if machine.configurations[current].upper_bound != UNKNOWN:
        return machine.configurations[current].upper_bound
    if machine.configurations[current].distance != UNKNOWN:
        return machine.configurations[current].distance
    if may_end(machine, current):
        return 0
    lexer_state = machine.configurations[current].lexer_state
    if not has_token_ends(machine, lexer_state):
        return UNKNOWN
    has_none = machine.token_ends_of[lexer_state].are_complete and machine.token_ends_of[lexer_state].count == 0
    return FAR if has_none else UNKNOWN


@loop
def best_token_end(machine: GrammarMachine, current: int) -> int:
    """Return the token end with the least bound of the bytes to the end; DEAD if none may follow.

    The search stops at the first one that is at most `SLACK` bytes worse than the lower bound.
    """
    lexer_state = machine.configurations[current].lexer_state
    parser_state = machine.configurations[current].parser_state
    if not has_token_ends(machine, lexer_state):
        make_token_ends(machine, lexer_state)
    bound = parser_lower_bound(machine, parser_state)
    best, best_total = DEAD, FAR
    first, count = machine.token_ends_of[lexer_state].first, machine.token_ends_of[lexer_state].count
    for turn in range(-1, count):
        token_end = first + (machine.token_ends_of[lexer_state].last if turn < 0 else turn)
        if count == 0 or machine.token_ends[token_end].width >= best_total:
            continue
        width, token = machine.token_ends[token_end].width, machine.token_ends[token_end].token
        bound_after = parser_lower_bound(machine, advance(machine, parser_state, machine.lexer.tokens[token].terminal))
        if bound_after == DEAD:
            continue
        if width + bound_after < best_total:
            best, best_total = token_end, width + bound_after
        if best == token_end and bound_after < bound and best_total <= bound + SLACK:
            break
    if best != DEAD:
        machine.token_ends_of[lexer_state].last = best - first
    return best


@loop
def distance_of(machine: GrammarMachine, start: int) -> int:
    """Return the bytes of the shortest text that completes a configuration, FAR if there is none."""
    if machine.configurations[start].distance != UNKNOWN:
        return machine.configurations[start].distance
    lower = lower_bound(machine, start)
    if machine.configurations[start].distance != UNKNOWN:
        return lower
    upper = upper_bound(machine, start)
    if machine.configurations[start].distance != UNKNOWN:
        return machine.configurations[start].distance
    if upper > lower:
        return search(machine, start)
    machine.configurations[start].distance = upper
    return upper


@loop
def search(machine: GrammarMachine, start: int) -> int:
    """Search for the shortest text that completes a configuration; return its bytes, FAR if there is none.

    This is the search of `PlainGrammarAutomaton._distance`. It ends when no path is left that is shorter than the known
    upper bound.
    """
    lower, upper = lower_bound(machine, start), machine.configurations[start].upper_bound
    if machine.configurations[start].distance != UNKNOWN:
        return lower
    machine.search += 1
    machine.heap_size = 0
    put_on_path(machine, start, -1, 0)
    heap_push(machine, lower, 0, start)
    searched = 0
    while machine.heap_size > 0:
        heap_pop(machine)
        total, current = machine.heap[machine.heap_size].total, machine.heap[machine.heap_size].configuration
        if machine.heap[machine.heap_size].bytes_read > machine.configurations[current].bytes_read:
            continue
        if machine.configurations[current].distance != UNKNOWN:
            return store_distances(machine, current, total)
        if upper != UNKNOWN and total >= upper:
            machine.configurations[start].distance = upper
            return upper
        searched += 1
        if searched > machine.max_searched:
            refuse_search(machine)
        push_successors(machine, current)
    for current in range(machine.configuration_numbers.count):  # all that were met have no completion
        if machine.configurations[current].search == machine.search:
            machine.configurations[current].distance = FAR
    return FAR
