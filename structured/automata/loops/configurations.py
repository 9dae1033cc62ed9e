"""The configurations of a grammar's automaton: their successors by bytes, and their distances from the end.

`tests/support/plain_grammar.py` is the same in plain Python.
"""

from structured.automata.byte_automaton import DEAD, ROW_COMPLETE, UNKNOWN
from structured.automata.loops import grammar_machine as layout
from structured.automata.loops.frames import interned
from structured.automata.loops.grammar_machine import GrammarMachine
from structured.automata.loops.jit import compiled_loop
from structured.automata.loops.stacks import advance, is_complete, least_after, least_of
from structured.automata.opcodes import FAR

DISTANCE, LEAST, MOST, MARK, READ, BEFORE, MET = range(4, 11)
"""The further columns of a configuration: the bytes of the shortest completion, a lower and an upper bound of these,
each UNKNOWN until computed; the last round in which it was gathered, as in a frame; in the last search that met it, the
bytes read, the configuration before, and the round of that."""

MAX_FOLLOWED = 64
"""The most tokens that are followed before a search for the end begins."""

NO_TOKEN = -1
"""The number of token ends of a state after which no token ends."""

SLACK = 2
"""The bytes by which a path by token ends may exceed the shortest text, if the exact distance is not needed."""


@compiled_loop
def configuration(machine: GrammarMachine, lexer: int, place: int) -> int:
    """Return the configuration of a state of the lexer and a place, or a code."""
    rows, slots = machine.configurations, machine.configuration_slots
    return interned(
        rows, slots, machine.sizes, layout.CONFIGURATIONS_USED, layout.MORE_CONFIGURATIONS, lexer, place, 0, 0
    )


@compiled_loop
def fresh(machine: GrammarMachine, place: int, rest: int) -> int:
    """Return the configuration before a token, after the rest that the last token leaves, or a code."""
    context = int(machine.contexts[machine.stacks[machine.places[place, layout.STACK], 0]])
    lexer = UNKNOWN
    if rest < machine.starts.shape[1]:
        lexer = int(machine.starts[context, rest])
    if lexer == UNKNOWN:
        machine.sizes[layout.ASKED] = context
        machine.sizes[layout.ASKED_TOO] = rest
        return layout.NEEDS_START
    return configuration(machine, lexer, place)


@compiled_loop
def after_token(machine: GrammarMachine, place: int, terminal: int, rest: int) -> int:
    """Return the configuration after a token and the rest that it leaves, DEAD if it cannot follow, or a code."""
    after = advance(machine, place, terminal)
    return after if after < 0 else fresh(machine, after, rest)


@compiled_loop
def arrival_of(machine: GrammarMachine, current: int, byte: int) -> int:
    """Return the arrival of the lexer on a byte, or a code."""
    lexer = int(machine.configurations[current, layout.LEXER])
    if lexer >= len(machine.rows) or machine.rows[lexer, ROW_COMPLETE] == UNKNOWN:
        machine.sizes[layout.ASKED] = lexer
        return layout.NEEDS_ROW
    return int(machine.rows[lexer, byte])


@compiled_loop
def landed(machine: GrammarMachine, current: int, arrival: int, way: int) -> int:
    """Return the configuration of an arrival: within the token for way 0, after it for others; DEAD, or a code."""
    place = int(machine.configurations[current, layout.PLACE])
    if way == 0:
        lexer = int(machine.arrivals[arrival, 0])
        return DEAD if lexer == DEAD else configuration(machine, lexer, place)
    token = int(machine.arrivals[arrival, 1]) + way - 1
    return after_token(machine, place, int(machine.tokens[token, 0]), int(machine.tokens[token, 1]))


@compiled_loop
def is_end(machine: GrammarMachine, current: int) -> int:
    """Return 1 if the text may end in a configuration, else 0, or a code."""
    if not machine.lexed[machine.configurations[current, layout.LEXER], 2]:
        return 0
    return is_complete(machine, int(machine.configurations[current, layout.PLACE]))


@compiled_loop
def least(machine: GrammarMachine, current: int) -> int:
    """Return a lower bound of the bytes that complete a configuration, or a code."""
    found = int(machine.configurations[current, LEAST])
    if found != UNKNOWN:
        return found
    ending = is_end(machine, current)
    if ending < 0:
        return ending
    found = 0 if ending else FAR
    if not ending:
        lexer, place = machine.configurations[current, layout.LEXER], int(machine.configurations[current, layout.PLACE])
        first = int(machine.lexed[lexer, 0])
        for row in range(first, first + int(machine.lexed[lexer, 1])):
            terminal, width = int(machine.expected[row, 0]), int(machine.expected[row, 1])
            more = least_after(machine, place, terminal, width, int(machine.lexed[lexer, 3]))
            if more < 0:
                return more
            found = min(found, more)
    machine.configurations[current, LEAST] = found
    if ending or found >= FAR:
        machine.configurations[current, DISTANCE] = found
    return found


@compiled_loop
def is_before(machine: GrammarMachine, left: int, right: int) -> bool:
    """Tell whether one entry of the heap comes before another: the smaller total, then the more bytes read."""
    if machine.heap[left, 0] != machine.heap[right, 0]:
        return bool(machine.heap[left, 0] < machine.heap[right, 0])
    return bool(machine.heap[left, 1] > machine.heap[right, 1])


@compiled_loop
def swap(machine: GrammarMachine, left: int, right: int) -> None:
    """Swap two entries of the heap."""
    for column in range(3):
        kept = machine.heap[left, column]
        machine.heap[left, column] = machine.heap[right, column]
        machine.heap[right, column] = kept


@compiled_loop
def put(machine: GrammarMachine, total: int, read: int, current: int) -> int:
    """Put a configuration on the heap; return DONE or a code."""
    place = int(machine.sizes[layout.HEAP_USED])
    if place == len(machine.heap):
        return layout.MORE_HEAP
    machine.heap[place, 0] = total
    machine.heap[place, 1] = read
    machine.heap[place, 2] = current
    machine.sizes[layout.HEAP_USED] = place + 1
    while place > 0 and is_before(machine, place, (place - 1) // 2):
        swap(machine, place, (place - 1) // 2)
        place = (place - 1) // 2
    return layout.DONE


@compiled_loop
def take(machine: GrammarMachine) -> None:
    """Move the first entry of the heap to the place after its end."""
    last = int(machine.sizes[layout.HEAP_USED]) - 1
    machine.sizes[layout.HEAP_USED] = last
    swap(machine, 0, last)
    place = 0
    while 2 * place + 1 < last:
        child = 2 * place + 1
        if child + 1 < last and is_before(machine, child + 1, child):
            child += 1
        if not is_before(machine, child, place):
            break
        swap(machine, place, child)
        place = child


@compiled_loop
def remember(machine: GrammarMachine, end: int, total: int, column: int) -> int:
    """Store the distances of all configurations on the path to an end, or their upper bounds; return that of the first.

    The path, on which `total` bytes are read, was found by a search or by following tokens.
    """
    current, left = end, 0
    while current >= 0:
        left = total - int(machine.configurations[current, READ])
        machine.configurations[current, column] = left
        current = int(machine.configurations[current, BEFORE])
    return left


@compiled_loop
def spread(machine: GrammarMachine, current: int, now: int) -> int:  # noqa: C901  one loop, and what each step may lack
    """Put all successors of a configuration on the heap; return DONE or a code."""
    read = int(machine.configurations[current, READ]) + 1
    last = -1
    for byte in range(255):
        arrival = arrival_of(machine, current, byte)
        if arrival < 0:
            return arrival
        if arrival == last or machine.absent[byte]:
            continue
        last = arrival
        for way in range(1 + int(machine.arrivals[arrival, 2])):
            after = landed(machine, current, arrival, way)
            if after == DEAD:
                continue
            if after < 0:
                return after
            if machine.configurations[after, MET] == now and machine.configurations[after, READ] <= read:
                continue
            distance = int(machine.configurations[after, DISTANCE])
            if distance == UNKNOWN:
                distance = least(machine, after)
            if distance < 0:
                return distance
            if distance >= FAR:
                continue
            machine.configurations[after, MET] = now
            machine.configurations[after, READ] = read
            machine.configurations[after, BEFORE] = current
            full = put(machine, read + distance, read, after)
            if full < 0:
                return full
    return layout.DONE


@compiled_loop
def most(machine: GrammarMachine, start: int) -> int:
    """Return an upper bound of the bytes that complete a configuration, FAR if it has no completion, or a code.

    It follows the token end after which the parser needs the fewest bytes, token by token, and searches only if these
    lead nowhere.
    """
    current = start
    machine.configurations[start, BEFORE] = -1
    machine.configurations[start, READ] = 0
    for _ in range(MAX_FOLLOWED):
        left = known_most(machine, current)
        if left < 0 and left != UNKNOWN:
            return left
        if left >= FAR and current == start:
            machine.configurations[start, MOST] = FAR
            return FAR
        if left >= FAR:
            break
        if left >= 0:
            return remember(machine, current, left + int(machine.configurations[current, READ]), MOST)
        way = best_token_end(machine, current)
        place, end = int(machine.configurations[current, layout.PLACE]), machine.token_ends[max(way, 0)]
        after = way if way < 0 else after_token(machine, place, int(end[0]), int(end[1]))
        if after == DEAD:
            break
        if after < 0:
            return after
        machine.configurations[after, BEFORE] = current
        machine.configurations[after, READ] = machine.configurations[current, READ] + machine.token_ends[way, 2]
        current = after
    found = search(machine, start)
    if found >= 0:
        machine.configurations[start, MOST] = found
    return found


@compiled_loop
def known_most(machine: GrammarMachine, current: int) -> int:
    """Return the known upper bound of the bytes that complete a configuration, UNKNOWN if there is none, or a code."""
    if machine.configurations[current, MOST] != UNKNOWN:
        return int(machine.configurations[current, MOST])
    if machine.configurations[current, DISTANCE] != UNKNOWN:
        return int(machine.configurations[current, DISTANCE])
    ending = is_end(machine, current)
    if ending < 0:
        return ending
    lexer = machine.configurations[current, layout.LEXER]
    is_dead = lexer < len(machine.token_ends_of) and machine.token_ends_of[lexer, 1] == NO_TOKEN
    return 0 if ending else FAR if is_dead else UNKNOWN


@compiled_loop
def best_token_end(machine: GrammarMachine, current: int) -> int:
    """Return the token end that needs the fewest bytes in all; DEAD if none can be taken, or a code."""
    lexer, place = (
        int(machine.configurations[current, layout.LEXER]),
        int(machine.configurations[current, layout.PLACE]),
    )
    if lexer >= len(machine.token_ends_of) or machine.token_ends_of[lexer, 0] == UNKNOWN:
        machine.sizes[layout.ASKED] = lexer
        return layout.NEEDS_TOKEN_ENDS
    enough = least_of(machine, place)
    if enough < 0:
        return enough
    found, nearest = DEAD, FAR
    first, count = int(machine.token_ends_of[lexer, 0]), int(machine.token_ends_of[lexer, 1])
    for turn in range(-1, count):  # the last one taken is tried first
        way = first + (int(machine.token_ends_of[lexer, 2]) if turn < 0 else turn)
        width = int(machine.token_ends[way, 2])
        if count <= 0 or width >= nearest:
            continue
        after = advance(machine, place, int(machine.token_ends[way, 0]))
        if after == DEAD:
            continue
        needed = after if after < 0 else least_of(machine, after)
        if needed < 0:
            return needed
        if width + needed < nearest:
            found, nearest = way, width + needed
        if found == way and needed < enough and nearest <= enough + SLACK:  # nearer than before, and near enough
            break
    if found != DEAD:
        machine.token_ends_of[lexer, 2] = found - first
    return found


@compiled_loop
def distance_of(machine: GrammarMachine, start: int) -> int:
    """Return the bytes of the shortest text that completes a configuration, FAR if there is none, or a code."""
    if machine.configurations[start, DISTANCE] != UNKNOWN:
        return int(machine.configurations[start, DISTANCE])
    nearest = least(machine, start)
    if nearest < 0 or machine.configurations[start, DISTANCE] != UNKNOWN:
        return nearest
    enough = most(machine, start)
    if enough < 0 or machine.configurations[start, DISTANCE] != UNKNOWN:
        return enough
    if enough > nearest:
        return search(machine, start)
    machine.configurations[start, DISTANCE] = enough
    return enough


@compiled_loop
def search(machine: GrammarMachine, start: int) -> int:  # noqa: C901  one loop, and what each step may lack
    """Search for the shortest text that completes a configuration: its bytes, FAR if there is none, or a code.

    This is the search of `PlainGrammarAutomaton._distance`. After a code it begins anew. It ends when no path is left
    that is shorter than the known upper bound.
    """
    nearest = least(machine, start)
    if nearest < 0 or machine.configurations[start, DISTANCE] != UNKNOWN:
        return nearest
    enough = int(machine.configurations[start, MOST])
    machine.sizes[layout.ROUND] += 1
    now = int(machine.sizes[layout.ROUND])
    machine.sizes[layout.HEAP_USED] = 0
    machine.configurations[start, MET] = now
    machine.configurations[start, READ] = 0
    machine.configurations[start, BEFORE] = -1
    full = put(machine, nearest, 0, start)
    if full < 0:
        return full
    searched = 0
    while machine.sizes[layout.HEAP_USED] > 0:
        take(machine)
        first = int(machine.sizes[layout.HEAP_USED])
        entry = machine.heap[first]
        total, read, current = int(entry[0]), int(entry[1]), int(entry[2])
        if read > machine.configurations[current, READ]:
            continue
        if machine.configurations[current, DISTANCE] != UNKNOWN:
            return remember(machine, current, total, DISTANCE)
        if enough != UNKNOWN and total >= enough:
            machine.configurations[start, DISTANCE] = enough
            return enough
        searched += 1
        if searched > machine.facts[layout.MAX_SEARCHED]:
            return layout.TOO_FAR
        full = spread(machine, current, now)
        if full < 0:
            return full
    for known in range(machine.sizes[layout.CONFIGURATIONS_USED]):  # all configurations met are without end
        if machine.configurations[known, MET] == now:
            machine.configurations[known, DISTANCE] = FAR
    return FAR
