"""The states of a parser: their successors by terminals, and lower bounds of the bytes to their ends.

A state of the parser is a stack of LR states, the number of open brackets, and the innermost open block; the last two
are 0 and that of column 0 unless a grammar counts them.
"""

from structured.automata.byte_automaton import DEAD, UNKNOWN
from structured.automata.loops.grammar_machine import (
    GrammarMachine,
    block_of,
    make_remainders,
    parser_state_of,
    push_state,
)
from structured.automata.opcodes import FAR
from structured.machine_code.notation import loop

IGNORED = -1
"""The terminal of a token that the parser does not see."""


@loop
def below(machine: GrammarMachine, stack: int, count: int) -> int:
    """Return the stack under the top `count` symbols."""
    for _ in range(count):
        stack = machine.stacks[stack].tail
    return stack


@loop
def state_after(machine: GrammarMachine, stack: int, origin: int) -> int:
    """Return the LR state that a symbol leads to on a stack."""
    return machine.actions[machine.stacks[stack].lr_state, origin] - 1


@loop
def advance_stack(machine: GrammarMachine, stack: int, terminal: int) -> int:
    """Return the stack after a terminal, DEAD if it cannot follow; DEAD for DEAD.

    Rules that end are followed without making a stack of each: all that is kept is the LR state on top of the tail.
    """
    if stack < 0:
        return stack
    is_end = terminal == machine.facts[0].end_symbol
    top, tail = machine.stacks[stack].lr_state, machine.stacks[stack].tail
    while True:
        action = machine.actions[top, terminal]
        if action == 0:
            return DEAD
        if action > 0:
            return push_state(machine, action - 1, push_state(machine, top, tail))
        size = machine.rules[-action - 1].size
        tail = push_state(machine, top, tail) if size == 0 else below(machine, tail, size - 1)
        top = state_after(machine, tail, machine.rules[-action - 1].origin)
        if is_end and top == machine.facts[0].end_state:
            return push_state(machine, top, tail)


@loop
def add_to_frontier(machine: GrammarMachine, count: int, lr_state: int, cost: int) -> int:
    """Add an LR state, reached after `cost` bytes, to the frontier of a search; return the number of states on it."""
    for place in range(count):
        if machine.frontier[place].lr_state == lr_state:
            machine.frontier[place].cost = min(machine.frontier[place].cost, cost)
            return count
    machine.frontier[count].lr_state = lr_state
    machine.frontier[count].cost = cost
    machine.frontier[count].is_visited = 0
    return count + 1


@loop
def nearest_on_frontier(machine: GrammarMachine, count: int) -> int:
    """Return the place of the LR state on the frontier with the least cost that has not been visited, -1 for none."""
    nearest = -1
    for place in range(count):
        is_nearer = nearest < 0 or machine.frontier[place].cost < machine.frontier[nearest].cost
        if is_nearer and not machine.frontier[place].is_visited:
            nearest = place
    return nearest


@loop
def outer_block(machine: GrammarMachine, block: int, count: int) -> int:
    """Return the innermost block after `count` blocks are closed; the outermost stays open."""
    for _ in range(count):
        if machine.blocks[block].outer >= 0:
            block = machine.blocks[block].outer
    return block


@loop
def measure_parser_state(machine: GrammarMachine, start: int) -> int:
    """Compute the lower bound of a state of the parser; return DEAD, or another state whose bound it needs first.

    The frontier of the search holds the LR states that follow each other on the tail of the stack. `remainders` count
    the blanks of a block with each line end. The last line end of a block leads to an outer block, with fewer blanks;
    so the sum here has the blanks of one line too many, and `parser_lower_bound` subtracts them.
    """
    block = machine.parser_states[start].block
    column = machine.blocks[block].column
    if column >= len(machine.remainders) or machine.remainders[column, 0] == UNKNOWN:
        make_remainders(machine, column)
    stack = machine.parser_states[start].stack
    tail = machine.stacks[stack].tail
    count = add_to_frontier(machine, 0, machine.stacks[stack].lr_state, 0)
    best = FAR
    while True:
        nearest = nearest_on_frontier(machine, count)
        if nearest < 0 or machine.frontier[nearest].cost >= best:
            machine.parser_states[start].lower_bound = best
            return DEAD
        machine.frontier[nearest].is_visited = 1
        lr_state, cost = machine.frontier[nearest].lr_state, machine.frontier[nearest].cost
        first = machine.lr_states[lr_state].first_item
        for item in range(first, first + machine.lr_states[lr_state].item_count):
            origin, closed = machine.items[item].origin, machine.items[item].blocks_closed
            total = min(cost + machine.remainders[column, item], FAR)
            if total >= best:
                continue
            if origin < 0:
                best = total
                continue
            stack = below(machine, tail, machine.items[item].symbols_read - 1)
            lr_state_after = state_after(machine, stack, origin)
            if stack == tail and not closed:
                count = add_to_frontier(machine, count, lr_state_after, total)
                continue
            outer = outer_block(machine, block, closed)
            successor = parser_state_of(machine, push_state(machine, lr_state_after, stack), 0, outer)
            if machine.parser_states[successor].lower_bound == UNKNOWN:
                return successor
            best = min(best, total + machine.parser_states[successor].lower_bound)


@loop
def parser_lower_bound(machine: GrammarMachine, parser_state: int) -> int:
    """Return a lower bound of the bytes from a state of the parser to the end of the text; DEAD for DEAD."""
    if parser_state < 0:
        return parser_state
    block = machine.parser_states[parser_state].block
    start = parser_state
    if machine.parser_states[parser_state].brackets:
        start = parser_state_of(machine, machine.parser_states[parser_state].stack, 0, block)
    current = start
    while machine.parser_states[start].lower_bound == UNKNOWN:
        needed = measure_parser_state(machine, current)
        current = start if needed == DEAD else needed
    blanks = machine.blocks[block].column // machine.facts[0].blank_width
    return max(machine.parser_states[start].lower_bound - blanks, 0)


@loop
def break_line(machine: GrammarMachine, parser_state: int, column: int) -> int:
    """Return the state of the parser after a line end before a line that begins at a column, or DEAD."""
    if machine.parser_states[parser_state].brackets:
        return parser_state
    block = machine.parser_states[parser_state].block
    stack = advance_stack(machine, machine.parser_states[parser_state].stack, machine.facts[0].line_end)
    if column > machine.blocks[block].column:
        stack = advance_stack(machine, stack, machine.facts[0].indent)
        return parser_state_of(machine, stack, 0, block_of(machine, column, block))
    while column < machine.blocks[block].column:
        stack = advance_stack(machine, stack, machine.facts[0].dedent)
        block = machine.blocks[block].outer
        if block < 0:
            return DEAD
    if column != machine.blocks[block].column:
        return DEAD
    return parser_state_of(machine, stack, 0, block)


@loop
def advance(machine: GrammarMachine, parser_state: int, terminal: int) -> int:
    """Return the state of the parser after a token, DEAD if it cannot follow."""
    if terminal == IGNORED:
        return parser_state
    if machine.facts[0].line_end != DEAD and terminal >= machine.facts[0].line_ends - 1:
        return break_line(machine, parser_state, terminal - machine.facts[0].line_ends)
    brackets = machine.parser_states[parser_state].brackets + machine.brackets[terminal]
    if brackets < 0:
        return DEAD
    stack = advance_stack(machine, machine.parser_states[parser_state].stack, terminal)
    return parser_state_of(machine, stack, brackets, machine.parser_states[parser_state].block)


@loop
def lower_bound_after(machine: GrammarMachine, parser_state: int, terminal: int, width: int, blanks: int) -> int:
    """Return a lower bound of the bytes to the end of the text if a token of `width` bytes comes first.

    FAR if the token cannot follow. For a line end, the next line has the best indentation; `blanks` of it are read, -1
    before the line feed.
    """
    is_line_end = machine.facts[0].line_end != DEAD and terminal == machine.facts[0].line_end
    if not is_line_end or machine.parser_states[parser_state].brackets:
        bound = parser_lower_bound(machine, parser_state if is_line_end else advance(machine, parser_state, terminal))
        return FAR if bound == DEAD else width + bound
    best = FAR
    block = machine.parser_states[parser_state].block
    column = machine.blocks[block].column + 1
    while True:
        bound = parser_lower_bound(machine, break_line(machine, parser_state, column))
        if bound != DEAD:
            best = min(best, max(width, column // machine.facts[0].blank_width - blanks) + bound)
        if block < 0:
            return best
        column = machine.blocks[block].column
        block = machine.blocks[block].outer


@loop
def parser_may_end(machine: GrammarMachine, parser_state: int) -> bool:
    """Tell whether the text may end in a state of the parser."""
    stack, block = machine.parser_states[parser_state].stack, machine.parser_states[parser_state].block
    while machine.blocks[block].outer >= 0:
        stack = advance_stack(machine, stack, machine.facts[0].dedent)
        block = machine.blocks[block].outer
    return advance_stack(machine, stack, machine.facts[0].end_symbol) >= 0
