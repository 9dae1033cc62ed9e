"""The configurations of a grammar's automaton: their successors by bytes, and their distances from the end.

A configuration is one way to read a text: a state of the lexer and a state of the parser. Configurations are interned.
`tests/support/plain_grammar.py` is the same in plain Python.
"""

from structured.automata.byte_automaton import DEAD, ROW_COMPLETE, UNKNOWN
from structured.automata.loops import grammar_machine as grammar
from structured.automata.loops.frames import intern_row
from structured.automata.loops.grammar_machine import GrammarMachine
from structured.automata.loops.jit import compiled_loop
from structured.automata.loops.stacks import advance, lower_bound_after, parser_lower_bound, parser_may_end
from structured.automata.opcodes import FAR

DISTANCE, LOWER_BOUND, UPPER_BOUND, LAST_ROUND, BYTES_READ, PREDECESSOR, SEARCH_ROUND = range(4, 11)
"""More columns of a configuration: the bytes of the shortest completion, a lower and an upper bound of these, each
UNKNOWN until computed; the last round that met it, as in a frame; and of the last search that met it, the bytes read,
the configuration before, and the round."""

MAX_TOKENS_FOLLOWED = 64
"""The most tokens that are followed before a search for the end begins."""

NO_TOKEN = -1
"""The number of token ends of a state after which no token ends."""

SLACK = 2
"""The bytes by which an upper bound of a distance may exceed the lower bound without a search for a nearer one."""


@compiled_loop
def intern_configuration(machine: GrammarMachine, lexer_state: int, parser_state: int) -> int:
    """Return the configuration of a state of the lexer and one of the parser, or a code."""
    rows, slots, registers = machine.configurations, machine.configuration_slots, machine.registers
    used, code = grammar.CONFIGURATIONS_USED, grammar.MORE_CONFIGURATIONS
    return intern_row(rows, slots, registers, used, code, lexer_state, parser_state, 0, 0)


@compiled_loop
def before_token(machine: GrammarMachine, parser_state: int, rest: int) -> int:
    """Return the configuration before a token, after the rest that the last token leaves, or a code."""
    context = int(machine.context_of[machine.stacks[machine.parser_states[parser_state, grammar.STACK], 0]])
    if rest >= machine.starts.shape[1] or machine.starts[context, rest] == UNKNOWN:
        machine.registers[grammar.REQUESTED], machine.registers[grammar.REQUESTED_REST] = context, rest
        return grammar.NEEDS_START
    return intern_configuration(machine, int(machine.starts[context, rest]), parser_state)


@compiled_loop
def after_token(machine: GrammarMachine, parser_state: int, terminal: int, rest: int) -> int:
    """Return the configuration after a token and the rest that it leaves, DEAD if it cannot follow, or a code."""
    successor = advance(machine, parser_state, terminal)
    return successor if successor < 0 else before_token(machine, successor, rest)


@compiled_loop
def arrival_of(machine: GrammarMachine, current: int, byte: int) -> int:
    """Return the arrival of the lexer on a byte, or a code."""
    lexer_state = int(machine.configurations[current, grammar.LEXER_STATE])
    if lexer_state >= len(machine.lexer_rows) or machine.lexer_rows[lexer_state, ROW_COMPLETE] == UNKNOWN:
        machine.registers[grammar.REQUESTED] = lexer_state
        return grammar.NEEDS_ROW
    return int(machine.lexer_rows[lexer_state, byte])


@compiled_loop
def successor_of(machine: GrammarMachine, current: int, arrival: int, way: int) -> int:
    """Return the configuration of one way of an arrival, DEAD, or a code.

    Way 0 stays within the token; the others end it, each as one of the tokens of the arrival.
    """
    parser_state = int(machine.configurations[current, grammar.PARSER_STATE])
    if way == 0:
        lexer_state = int(machine.arrivals[arrival, 0])
        return DEAD if lexer_state == DEAD else intern_configuration(machine, lexer_state, parser_state)
    token = int(machine.arrivals[arrival, 1]) + way - 1
    return after_token(machine, parser_state, int(machine.tokens[token, 0]), int(machine.tokens[token, 1]))


@compiled_loop
def may_end(machine: GrammarMachine, current: int) -> int:
    """Return 1 if the text may end in a configuration, else 0, or a code."""
    if not machine.lexer_states[machine.configurations[current, grammar.LEXER_STATE], 2]:
        return 0
    return parser_may_end(machine, int(machine.configurations[current, grammar.PARSER_STATE]))


@compiled_loop
def lower_bound(machine: GrammarMachine, current: int) -> int:
    """Return a lower bound of the bytes that complete a configuration, or a code."""
    best = int(machine.configurations[current, LOWER_BOUND])
    if best != UNKNOWN:
        return best
    is_end = may_end(machine, current)
    if is_end < 0:
        return is_end
    best = 0 if is_end else FAR
    if not is_end:
        lexer_state = machine.configurations[current, grammar.LEXER_STATE]
        parser_state = int(machine.configurations[current, grammar.PARSER_STATE])
        first = int(machine.lexer_states[lexer_state, 0])
        for row in range(first, first + int(machine.lexer_states[lexer_state, 1])):
            terminal, width = int(machine.expected[row, 0]), int(machine.expected[row, 1])
            bound = lower_bound_after(machine, parser_state, terminal, width, int(machine.lexer_states[lexer_state, 3]))
            if bound < 0:
                return bound
            best = min(best, bound)
    machine.configurations[current, LOWER_BOUND] = best
    if is_end or best >= FAR:
        machine.configurations[current, DISTANCE] = best
    return best


@compiled_loop
def heap_precedes(machine: GrammarMachine, left: int, right: int) -> bool:
    """Tell whether one entry of the heap comes before another: the smaller total, then the more bytes read."""
    if machine.heap[left, 0] != machine.heap[right, 0]:
        return bool(machine.heap[left, 0] < machine.heap[right, 0])
    return bool(machine.heap[left, 1] > machine.heap[right, 1])


@compiled_loop
def heap_swap(machine: GrammarMachine, left: int, right: int) -> None:
    """Swap two entries of the heap."""
    heap = machine.heap
    for column in range(3):
        heap[left, column], heap[right, column] = heap[right, column], heap[left, column]


@compiled_loop
def heap_push(machine: GrammarMachine, total: int, read: int, current: int) -> int:
    """Put a configuration on the heap; return DONE or a code."""
    index = int(machine.registers[grammar.HEAP_USED])
    if index == len(machine.heap):
        return grammar.MORE_HEAP
    machine.heap[index, 0], machine.heap[index, 1], machine.heap[index, 2] = total, read, current
    machine.registers[grammar.HEAP_USED] = index + 1
    while index > 0 and heap_precedes(machine, index, (index - 1) // 2):
        heap_swap(machine, index, (index - 1) // 2)
        index = (index - 1) // 2
    return grammar.DONE


@compiled_loop
def heap_pop(machine: GrammarMachine) -> None:
    """Move the first entry of the heap to the row after its end."""
    last = int(machine.registers[grammar.HEAP_USED]) - 1
    machine.registers[grammar.HEAP_USED] = last
    heap_swap(machine, 0, last)
    index = 0
    while 2 * index + 1 < last:
        child = 2 * index + 1
        if child + 1 < last and heap_precedes(machine, child + 1, child):
            child += 1
        if not heap_precedes(machine, child, index):
            break
        heap_swap(machine, index, child)
        index = child


@compiled_loop
def store_distances(machine: GrammarMachine, end: int, total: int, column: int) -> int:
    """Store the distances of all configurations on the path to an end, or their upper bounds; return that of the first.

    The path, on which `total` bytes are read, was found by a search or by following tokens.
    """
    current, distance = end, 0
    while current >= 0:
        distance = total - int(machine.configurations[current, BYTES_READ])
        machine.configurations[current, column] = distance
        current = int(machine.configurations[current, PREDECESSOR])
    return distance


@compiled_loop
def push_successors(machine: GrammarMachine, current: int, this_round: int) -> int:  # noqa: C901  one loop, and what each step may need
    """Put all successors of a configuration on the heap; return DONE or a code."""
    configurations, last = machine.configurations, -1
    read = int(configurations[current, BYTES_READ]) + 1
    for byte in range(255):
        arrival = arrival_of(machine, current, byte)
        if arrival < 0:
            return arrival
        if arrival == last or machine.is_absent[byte]:
            continue
        last = arrival
        for way in range(1 + int(machine.arrivals[arrival, 2])):
            successor = successor_of(machine, current, arrival, way)
            if successor == DEAD:
                continue
            if successor < 0:
                return successor
            if configurations[successor, SEARCH_ROUND] == this_round and configurations[successor, BYTES_READ] <= read:
                continue
            distance = int(configurations[successor, DISTANCE])
            if distance == UNKNOWN:
                distance = lower_bound(machine, successor)
            if distance < 0:
                return distance
            if distance >= FAR:
                continue
            configurations[successor, SEARCH_ROUND] = this_round
            configurations[successor, BYTES_READ], configurations[successor, PREDECESSOR] = read, current
            code = heap_push(machine, read + distance, read, successor)
            if code < 0:
                return code
    return grammar.DONE


@compiled_loop
def upper_bound(machine: GrammarMachine, start: int) -> int:
    """Return an upper bound of the bytes that complete a configuration, FAR if it has no completion, or a code.

    It follows the token end after which the parser needs the fewest bytes, token by token, and searches only if these
    do not come to an end.
    """
    current, configurations = start, machine.configurations
    configurations[start, PREDECESSOR], configurations[start, BYTES_READ] = -1, 0
    for _ in range(MAX_TOKENS_FOLLOWED):
        bound = known_upper_bound(machine, current)
        if bound < UNKNOWN:
            return bound
        if bound >= FAR and current == start:
            configurations[start, UPPER_BOUND] = FAR
            return FAR
        if bound >= FAR:
            break
        read = int(configurations[current, BYTES_READ])
        if bound >= 0:
            return store_distances(machine, current, bound + read, UPPER_BOUND)
        token_end = best_token_end(machine, current)
        parser_state = int(configurations[current, grammar.PARSER_STATE])
        row = machine.token_ends[max(token_end, 0)]
        successor = token_end if token_end < 0 else after_token(machine, parser_state, int(row[0]), int(row[1]))
        if successor == DEAD:
            break
        if successor < 0:
            return successor
        configurations[successor, PREDECESSOR], configurations[successor, BYTES_READ] = current, read + row[2]
        current = successor
    distance = search(machine, start)
    if distance >= 0:
        configurations[start, UPPER_BOUND] = distance
    return distance


@compiled_loop
def known_upper_bound(machine: GrammarMachine, current: int) -> int:
    """Return the known upper bound of the bytes that complete a configuration, UNKNOWN if there is none, or a code."""
    if machine.configurations[current, UPPER_BOUND] != UNKNOWN:
        return int(machine.configurations[current, UPPER_BOUND])
    if machine.configurations[current, DISTANCE] != UNKNOWN:
        return int(machine.configurations[current, DISTANCE])
    is_end = may_end(machine, current)
    if is_end < 0:
        return is_end
    lexer_state = machine.configurations[current, grammar.LEXER_STATE]
    is_dead = lexer_state < len(machine.token_ends_of) and machine.token_ends_of[lexer_state, 1] == NO_TOKEN
    return 0 if is_end else FAR if is_dead else UNKNOWN


@compiled_loop
def best_token_end(machine: GrammarMachine, current: int) -> int:
    """Return the token end with the least bound of the bytes to the end; DEAD if none may follow, or a code.

    The search stops at the first one that is at most `SLACK` bytes worse than the lower bound.
    """
    lexer_state = int(machine.configurations[current, grammar.LEXER_STATE])
    parser_state = int(machine.configurations[current, grammar.PARSER_STATE])
    if lexer_state >= len(machine.token_ends_of) or machine.token_ends_of[lexer_state, 0] == UNKNOWN:
        machine.registers[grammar.REQUESTED] = lexer_state
        return grammar.NEEDS_TOKEN_ENDS
    bound = parser_lower_bound(machine, parser_state)
    if bound < 0:
        return bound
    best, best_total = DEAD, FAR
    first, count = int(machine.token_ends_of[lexer_state, 0]), int(machine.token_ends_of[lexer_state, 1])
    for turn in range(-1, count):  # the last one taken is tried first
        token_end = first + (int(machine.token_ends_of[lexer_state, 2]) if turn < 0 else turn)
        width = int(machine.token_ends[token_end, 2])
        if count <= 0 or width >= best_total:
            continue
        successor = advance(machine, parser_state, int(machine.token_ends[token_end, 0]))
        bound_after = parser_lower_bound(machine, successor)
        if bound_after == DEAD:
            continue
        if bound_after < 0:
            return bound_after
        if width + bound_after < best_total:
            best, best_total = token_end, width + bound_after
        if best == token_end and bound_after < bound and best_total <= bound + SLACK:
            break
    if best != DEAD:
        machine.token_ends_of[lexer_state, 2] = best - first
    return best


@compiled_loop
def distance_of(machine: GrammarMachine, start: int) -> int:
    """Return the bytes of the shortest text that completes a configuration, FAR if there is none, or a code."""
    if machine.configurations[start, DISTANCE] != UNKNOWN:
        return int(machine.configurations[start, DISTANCE])
    lower = lower_bound(machine, start)
    if lower < 0 or machine.configurations[start, DISTANCE] != UNKNOWN:
        return lower
    upper = upper_bound(machine, start)
    if upper < 0 or machine.configurations[start, DISTANCE] != UNKNOWN:
        return upper
    if upper > lower:
        return search(machine, start)
    machine.configurations[start, DISTANCE] = upper
    return upper


@compiled_loop
def search(machine: GrammarMachine, start: int) -> int:  # noqa: C901  one loop, and what each step may need
    """Search for the shortest text that completes a configuration: its bytes, FAR if there is none, or a code.

    This is the search of `PlainGrammarAutomaton._distance`. After a code it begins anew. It ends when no path is left
    that is shorter than the known upper bound.
    """
    lower = lower_bound(machine, start)
    if lower < 0 or machine.configurations[start, DISTANCE] != UNKNOWN:
        return lower
    configurations = machine.configurations
    upper = int(configurations[start, UPPER_BOUND])
    machine.registers[grammar.ROUND] += 1
    machine.registers[grammar.HEAP_USED] = 0
    this_round = int(machine.registers[grammar.ROUND])
    configurations[start, SEARCH_ROUND] = this_round
    configurations[start, PREDECESSOR], configurations[start, BYTES_READ] = -1, 0
    code = heap_push(machine, lower, 0, start)
    if code < 0:
        return code
    searched = 0
    while machine.registers[grammar.HEAP_USED] > 0:
        heap_pop(machine)
        entry = machine.heap[machine.registers[grammar.HEAP_USED]]
        total, read, current = int(entry[0]), int(entry[1]), int(entry[2])
        if read > configurations[current, BYTES_READ]:
            continue
        if configurations[current, DISTANCE] != UNKNOWN:
            return store_distances(machine, current, total, DISTANCE)
        if upper != UNKNOWN and total >= upper:
            configurations[start, DISTANCE] = upper
            return upper
        searched += 1
        if searched > machine.constants[grammar.MAX_SEARCHED]:
            return grammar.TOO_FAR
        code = push_successors(machine, current, this_round)
        if code < 0:
            return code
    for current in range(machine.registers[grammar.CONFIGURATIONS_USED]):  # all that were met have no completion
        if configurations[current, SEARCH_ROUND] == this_round:
            configurations[current, DISTANCE] = FAR
    return FAR
