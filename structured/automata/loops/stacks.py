"""The states of a parser, their successors by terminals, and lower bounds of the bytes to their ends.

A state of the parser is a stack of LR states, the number of open brackets, and the columns of the open blocks; the last
two are 0 and `[0]` unless a grammar counts them. Stacks and states are interned.
"""

from structured.automata.byte_automaton import DEAD, UNKNOWN
from structured.automata.loops import grammar_machine as grammar
from structured.automata.loops.frames import intern_row
from structured.automata.loops.grammar_machine import GrammarMachine
from structured.automata.loops.jit import compiled_loop
from structured.automata.opcodes import FAR

LOWER_BOUND = 4
"""The column of a state of the parser for a lower bound of the bytes to the end, UNKNOWN until it is computed."""

COLUMN, OUTER = range(2)
"""The columns of a block: the column of its lines, and the block around it."""

IGNORED = -1
"""The terminal of a token that the parser does not see."""


@compiled_loop
def push_state(machine: GrammarMachine, lr_state: int, tail: int) -> int:
    """Return the stack of an LR state on another stack, or a code."""
    rows, slots, registers = machine.stacks, machine.stack_slots, machine.registers
    return intern_row(rows, slots, registers, grammar.STACKS_USED, grammar.MORE_STACKS, lr_state, tail, 0, 0)


@compiled_loop
def reduce_stack(machine: GrammarMachine, stack: int, size: int, origin: int) -> int:
    """Return the stack with the symbol `origin` in place of the top `size` ones, or a code."""
    for _ in range(size):
        stack = int(machine.stacks[stack, grammar.TAIL])
    return push_state(machine, int(machine.actions[machine.stacks[stack, grammar.LR_STATE], origin]) - 1, stack)


@compiled_loop
def advance_stack(machine: GrammarMachine, stack: int, terminal: int) -> int:
    """Return the stack after a terminal, DEAD if it cannot follow, or a code."""
    if stack < 0:
        return stack
    is_end = terminal == machine.constants[grammar.END_SYMBOL]
    while True:
        action = int(machine.actions[machine.stacks[stack, grammar.LR_STATE], terminal])
        if action == 0:
            return DEAD
        if action > 0:
            return push_state(machine, action - 1, stack)
        stack = reduce_stack(machine, stack, int(machine.rules[-action - 1, 1]), int(machine.rules[-action - 1, 0]))
        if stack < 0 or (is_end and machine.stacks[stack, grammar.LR_STATE] == machine.constants[grammar.END_STATE]):
            return stack


@compiled_loop
def add_to_frontier(machine: GrammarMachine, count: int, stack: int, cost: int) -> int:
    """Add a stack, reached after `cost` bytes, to the frontier of a search; return the number of stacks on it."""
    for row in range(count):
        if machine.frontier[row, 0] == stack:
            machine.frontier[row, 1] = min(int(machine.frontier[row, 1]), cost)
            return count
    machine.frontier[count, 0], machine.frontier[count, 1], machine.frontier[count, 2] = stack, cost, 0
    return count + 1


@compiled_loop
def intern_parser_state(machine: GrammarMachine, stack: int, brackets: int, columns: int) -> int:
    """Return the state of the parser with a stack, or a code; DEAD or a code in place of the stack is passed on."""
    if stack < 0 or columns < 0:
        return min(stack, columns)
    rows, slots, registers = machine.parser_states, machine.parser_state_slots, machine.registers
    used, code = grammar.PARSER_STATES_USED, grammar.MORE_PARSER_STATES
    return intern_row(rows, slots, registers, used, code, stack, brackets, columns, 0)


@compiled_loop
def parser_fields(machine: GrammarMachine, parser_state: int) -> tuple[int, int, int]:
    """Return `STACK`, `BRACKETS` and `COLUMNS` of a state of the parser."""
    stack = int(machine.parser_states[parser_state, grammar.STACK])
    brackets = int(machine.parser_states[parser_state, grammar.BRACKETS])
    return stack, brackets, int(machine.parser_states[parser_state, grammar.COLUMNS])


@compiled_loop
def intern_column(machine: GrammarMachine, column: int, outer: int) -> int:
    """Return the row of a block that begins at a column inside the block `outer`, or a code."""
    rows, slots, registers = machine.columns, machine.column_slots, machine.registers
    return intern_row(rows, slots, registers, grammar.COLUMNS_USED, grammar.MORE_COLUMNS, column, outer, 0, 0)


@compiled_loop
def outer_columns(machine: GrammarMachine, columns: int, count: int) -> int:
    """Return the columns after `count` blocks are closed; the outermost stays open."""
    for _ in range(count):
        if machine.columns[columns, OUTER] >= 0:
            columns = int(machine.columns[columns, OUTER])
    return columns


@compiled_loop
def measure_parser_state(machine: GrammarMachine, start: int) -> int:  # noqa: C901  one loop, and what each step may need
    """Compute `LOWER_BOUND` of a state of the parser; return DEAD, or another one to compute first, or a code.

    The frontier of the search holds stacks of one height with different LR states. `remainders` count the blanks of a
    block with each line end. The last line end of a block leads to an outer block, with fewer blanks; so the sum here
    has the blanks of one line too many, and `parser_lower_bound` subtracts them.
    """
    start_stack, _, columns = parser_fields(machine, start)
    column = int(machine.columns[columns, COLUMN])
    if column >= len(machine.remainders) or machine.remainders[column, 0] == UNKNOWN:
        machine.registers[grammar.REQUESTED] = column
        return grammar.NEEDS_COLUMN
    count = add_to_frontier(machine, 0, start_stack, 0)
    best = FAR
    while True:
        nearest = -1
        for position in range(count):
            is_nearer = nearest < 0 or machine.frontier[position, 1] < machine.frontier[nearest, 1]
            if is_nearer and not machine.frontier[position, 2]:
                nearest = position
        if nearest < 0 or machine.frontier[nearest, 1] >= best:
            machine.parser_states[start, LOWER_BOUND] = best
            return DEAD
        machine.frontier[nearest, 2] = 1
        stack, cost = int(machine.frontier[nearest, 0]), int(machine.frontier[nearest, 1])
        lr_state = machine.stacks[stack, grammar.LR_STATE]
        first = int(machine.kernels[lr_state, 0])
        for item in range(first, first + int(machine.kernels[lr_state, 1])):
            origin, read, closed = int(machine.items[item, 0]), int(machine.items[item, 1]), int(machine.items[item, 2])
            outer = outer_columns(machine, columns, closed)
            total = min(cost + int(machine.remainders[column, item]), FAR)
            if total >= best:
                continue
            if origin < 0:
                best = total
                continue
            stack_after = reduce_stack(machine, stack, read, origin)
            successor = intern_parser_state(machine, stack_after, 0, outer)
            if successor < 0:
                return successor
            bound = int(machine.parser_states[successor, LOWER_BOUND])
            if bound != UNKNOWN:
                best = min(best, total + bound)
            elif read == 1 and not closed:
                count = add_to_frontier(machine, count, stack_after, total)
            else:
                return successor


@compiled_loop
def parser_lower_bound(machine: GrammarMachine, parser_state: int) -> int:
    """Return a lower bound of the bytes from a state of the parser to the end of the text, or a code.

    DEAD or a code in place of the state is passed on.
    """
    if parser_state < 0:
        return parser_state
    stack, _, columns = parser_fields(machine, parser_state)
    start = intern_parser_state(machine, stack, 0, columns)
    if start < 0:
        return start
    current = start
    while machine.parser_states[start, LOWER_BOUND] == UNKNOWN:
        needed = measure_parser_state(machine, current)
        if needed < DEAD:
            return needed
        current = start if needed == DEAD else needed
    blanks = int(machine.columns[columns, COLUMN] // machine.constants[grammar.BLANK_WIDTH])
    return max(int(machine.parser_states[start, LOWER_BOUND]) - blanks, 0)


@compiled_loop
def break_line(machine: GrammarMachine, parser_state: int, column: int) -> int:
    """Return the state of the parser after a line end before a line that begins at a column; DEAD, or a code."""
    stack, brackets, columns = parser_fields(machine, parser_state)
    if brackets:
        return parser_state
    stack = advance_stack(machine, stack, int(machine.constants[grammar.LINE_END]))
    if column > machine.columns[columns, COLUMN]:
        stack = advance_stack(machine, stack, int(machine.constants[grammar.INDENT]))
        return intern_parser_state(machine, stack, 0, intern_column(machine, column, columns))
    while column < machine.columns[columns, COLUMN]:
        stack = advance_stack(machine, stack, int(machine.constants[grammar.DEDENT]))
        columns = int(machine.columns[columns, OUTER])
        if columns < 0:
            return DEAD
    if column != machine.columns[columns, COLUMN]:
        return DEAD
    return intern_parser_state(machine, stack, 0, columns)


@compiled_loop
def advance(machine: GrammarMachine, parser_state: int, terminal: int) -> int:
    """Return the state of the parser after a token, DEAD if it cannot follow, or a code."""
    if terminal == IGNORED:
        return parser_state
    if machine.constants[grammar.LINE_END] != DEAD and terminal >= machine.constants[grammar.LINE_ENDS] - 1:
        return break_line(machine, parser_state, terminal - int(machine.constants[grammar.LINE_ENDS]))
    stack, brackets, columns = parser_fields(machine, parser_state)
    brackets += int(machine.brackets[terminal])
    if brackets < 0:
        return DEAD
    return intern_parser_state(machine, advance_stack(machine, stack, terminal), brackets, columns)


@compiled_loop
def lower_bound_after(machine: GrammarMachine, parser_state: int, terminal: int, width: int, blanks: int) -> int:
    """Return a lower bound of the bytes to the end of the text if a token of `width` bytes comes first, or a code.

    FAR if the token cannot follow. For a line end, the next line has the best indentation; `blanks` of it are read, -1
    before the line feed.
    """
    is_line_end = machine.constants[grammar.LINE_END] != DEAD and terminal == machine.constants[grammar.LINE_END]
    _, brackets, columns = parser_fields(machine, parser_state)
    if not is_line_end or brackets:
        bound = parser_lower_bound(machine, parser_state if is_line_end else advance(machine, parser_state, terminal))
        return FAR if bound == DEAD else bound if bound < 0 else width + bound
    best = FAR
    column = int(machine.columns[columns, COLUMN]) + 1
    while True:
        bound = parser_lower_bound(machine, break_line(machine, parser_state, column))
        if bound < DEAD:
            return bound
        if bound != DEAD:
            best = min(best, max(width, column // int(machine.constants[grammar.BLANK_WIDTH]) - blanks) + bound)
        if columns < 0:
            return best
        column = int(machine.columns[columns, COLUMN])
        columns = int(machine.columns[columns, OUTER])


@compiled_loop
def parser_may_end(machine: GrammarMachine, parser_state: int) -> int:
    """Return 1 if the text may end in a state of the parser, else 0, or a code."""
    stack, _, columns = parser_fields(machine, parser_state)
    while machine.columns[columns, OUTER] >= 0:
        stack = advance_stack(machine, stack, int(machine.constants[grammar.DEDENT]))
        columns = int(machine.columns[columns, OUTER])
    stack = advance_stack(machine, stack, int(machine.constants[grammar.END_SYMBOL]))
    return stack if stack < DEAD else int(stack >= 0)
