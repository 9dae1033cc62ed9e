"""The interned stacks of a parser, and their successors by terminals.

A place is a stack with the number of open brackets and the columns of the open blocks, if a grammar counts those.
"""

from structured.automata.byte_automaton import DEAD, UNKNOWN
from structured.automata.loops import grammar_machine as layout
from structured.automata.loops.frames import interned
from structured.automata.loops.grammar_machine import GrammarMachine
from structured.automata.loops.jit import compiled_loop
from structured.automata.opcodes import FAR

LEAST = 4
"""The column of a place for a lower bound of the bytes to the end, UNKNOWN until it is computed."""

COLUMN, OUTER = range(2)
"""The columns of a block: the column of its lines, and the block around it."""

IGNORED = -1


@compiled_loop
def push(machine: GrammarMachine, state: int, below: int) -> int:
    """Return the stack of a state on another stack, or a code."""
    rows, slots, sizes = machine.stacks, machine.stack_slots, machine.sizes
    return interned(rows, slots, sizes, layout.STACKS_USED, layout.MORE_STACKS, state, below, 0, 0)


@compiled_loop
def reduced(machine: GrammarMachine, stack: int, size: int, origin: int) -> int:
    """Return the stack with a symbol in place of the top `size` ones, or a code."""
    for _ in range(size):
        stack = int(machine.stacks[stack, layout.BELOW])
    return push(machine, int(machine.actions[machine.stacks[stack, layout.STATE], origin]) - 1, stack)


@compiled_loop
def advance_stack(machine: GrammarMachine, stack: int, terminal: int) -> int:
    """Return the stack after a terminal, DEAD if it cannot follow, or a code."""
    if stack < 0:
        return stack
    is_end = terminal == machine.facts[layout.END_SYMBOL]
    while True:
        action = int(machine.actions[machine.stacks[stack, layout.STATE], terminal])
        if action == 0:
            return DEAD
        if action > 0:
            return push(machine, action - 1, stack)
        stack = reduced(machine, stack, int(machine.rules[-action - 1, 1]), int(machine.rules[-action - 1, 0]))
        if stack < 0 or (is_end and machine.stacks[stack, layout.STATE] == machine.facts[layout.END_STATE]):
            return stack


@compiled_loop
def entered(machine: GrammarMachine, count: int, stack: int, cost: int) -> int:
    """Add a stack with its cost to the level; return the number of stacks on the level."""
    for place in range(count):
        if machine.level[place, 0] == stack:
            machine.level[place, 1] = min(int(machine.level[place, 1]), cost)
            return count
    machine.level[count, 0] = stack
    machine.level[count, 1] = cost
    machine.level[count, 2] = 0
    return count + 1


@compiled_loop
def place_of(machine: GrammarMachine, stack: int, brackets: int, columns: int) -> int:
    """Return the place of a stack, or a code; DEAD or a code in place of the stack is passed on."""
    if stack < 0 or columns < 0:
        return min(stack, columns)
    rows, slots, sizes = machine.places, machine.place_slots, machine.sizes
    return interned(rows, slots, sizes, layout.PLACES_USED, layout.MORE_PLACES, stack, brackets, columns, 0)


@compiled_loop
def column_of(machine: GrammarMachine, column: int, outer: int) -> int:
    """Return the number of the column of a block within another, or a code."""
    rows, slots, sizes = machine.columns, machine.column_slots, machine.sizes
    return interned(rows, slots, sizes, layout.COLUMNS_USED, layout.MORE_COLUMNS, column, outer, 0, 0)


@compiled_loop
def outer_columns(machine: GrammarMachine, columns: int, count: int) -> int:
    """Return the columns after `count` blocks are closed; the outermost stays open."""
    for _ in range(count):
        if machine.columns[columns, OUTER] >= 0:
            columns = int(machine.columns[columns, OUTER])
    return columns


@compiled_loop
def bytes_of_column(machine: GrammarMachine, columns: int) -> int:
    """Return the least number of bytes of the blanks before a line of the innermost block."""
    return int(machine.columns[columns, COLUMN] // machine.facts[layout.BLANK_WIDTH])


@compiled_loop
def measure_place(machine: GrammarMachine, start: int) -> int:  # noqa: C901  one loop, and what each step may lack
    """Compute `LEAST` of a place and return DEAD, or return another place whose `LEAST` is needed first, or a code.

    See `Parser._find_least`. The level holds stacks of one height with different states. `rests` counts the blanks of a
    block with each line end. The last line end of a block leads to an outer block, with fewer blanks; so the sum here
    has the blanks of one line too many, and `least_of` subtracts them.
    """
    columns = int(machine.places[start, layout.COLUMNS])
    column = int(machine.columns[columns, COLUMN])
    if column >= len(machine.rests) or machine.rests[column, 0] == UNKNOWN:
        machine.sizes[layout.ASKED] = column
        return layout.NEEDS_COLUMN
    count = entered(machine, 0, int(machine.places[start, layout.STACK]), 0)
    best = FAR
    while True:
        nearest = -1
        for position in range(count):
            if not machine.level[position, 2] and (
                nearest < 0 or machine.level[position, 1] < machine.level[nearest, 1]
            ):
                nearest = position
        if nearest < 0 or machine.level[nearest, 1] >= best:
            machine.places[start, LEAST] = best
            return DEAD
        machine.level[nearest, 2] = 1
        stack, cost = int(machine.level[nearest, 0]), int(machine.level[nearest, 1])
        state = machine.stacks[stack, layout.STATE]
        first = int(machine.kernels[state, 0])
        for item in range(first, first + int(machine.kernels[state, 1])):
            origin, read, closed = int(machine.items[item, 0]), int(machine.items[item, 1]), int(machine.items[item, 2])
            outer = outer_columns(machine, columns, closed)
            total = min(cost + int(machine.rests[column, item]), FAR)
            if total >= best:
                continue
            if origin < 0:
                best = total
                continue
            stack_after = reduced(machine, stack, read, origin)
            after = place_of(machine, stack_after, 0, outer)
            if after < 0:
                return after
            least = int(machine.places[after, LEAST])
            if least != UNKNOWN:
                best = min(best, total + least)
            elif read == 1 and not closed:
                count = entered(machine, count, stack_after, total)
            else:
                return after


@compiled_loop
def least_of(machine: GrammarMachine, place: int) -> int:
    """Return a lower bound of the bytes of a text after a place, or a code."""
    start = place_of(machine, int(machine.places[place, layout.STACK]), 0, int(machine.places[place, layout.COLUMNS]))
    if start < 0:
        return start
    while machine.places[start, LEAST] == UNKNOWN:
        current = start
        while True:
            lower = measure_place(machine, current)
            if lower < DEAD:
                return lower
            if lower == DEAD:
                break
            current = lower
    blanks = bytes_of_column(machine, int(machine.places[start, layout.COLUMNS]))
    return max(int(machine.places[start, LEAST]) - blanks, 0)


@compiled_loop
def break_line(machine: GrammarMachine, place: int, column: int) -> int:
    """Return the place after a line end before a line that begins at a column; DEAD, or a code."""
    stack, brackets = int(machine.places[place, layout.STACK]), int(machine.places[place, layout.BRACKETS])
    if brackets:
        return place
    columns = int(machine.places[place, layout.COLUMNS])
    stack = advance_stack(machine, stack, int(machine.facts[layout.LINE_END]))
    if column > machine.columns[columns, COLUMN]:
        stack = advance_stack(machine, stack, int(machine.facts[layout.INDENT]))
        return place_of(machine, stack, 0, column_of(machine, column, columns))
    while column < machine.columns[columns, COLUMN]:
        stack = advance_stack(machine, stack, int(machine.facts[layout.DEDENT]))
        columns = int(machine.columns[columns, OUTER])
        if columns < 0:
            return DEAD
    if column != machine.columns[columns, COLUMN]:
        return DEAD
    return place_of(machine, stack, 0, columns)


@compiled_loop
def advance(machine: GrammarMachine, place: int, terminal: int) -> int:
    """Return the place after a token, DEAD if it cannot follow, or a code."""
    if terminal == IGNORED:
        return place
    if machine.facts[layout.LINE_END] != DEAD and terminal >= machine.facts[layout.LINE_ENDS] - 1:
        return break_line(machine, place, terminal - int(machine.facts[layout.LINE_ENDS]))
    brackets = int(machine.places[place, layout.BRACKETS]) + int(machine.brackets[terminal])
    if brackets < 0:
        return DEAD
    stack = advance_stack(machine, int(machine.places[place, layout.STACK]), terminal)
    return place_of(machine, stack, brackets, int(machine.places[place, layout.COLUMNS]))


@compiled_loop
def least_after(machine: GrammarMachine, place: int, terminal: int, width: int, blanks: int) -> int:
    """Return the least number of bytes if a token comes first, which takes `width`; FAR if it cannot follow.

    For a line end, the next line has the best indentation; `blanks` of it are read, -1 before the line feed. Returns a
    code if it cannot go on.
    """
    is_line_end = machine.facts[layout.LINE_END] != DEAD and terminal == machine.facts[layout.LINE_END]
    if not is_line_end or machine.places[place, layout.BRACKETS]:
        after = place if is_line_end else advance(machine, place, terminal)
        least = after if after < 0 else least_of(machine, after)
        return FAR if least == DEAD else least if least < 0 else width + least
    columns, best = int(machine.places[place, layout.COLUMNS]), FAR
    column = int(machine.columns[columns, COLUMN]) + 1
    while True:
        after = break_line(machine, place, column)
        if after < DEAD:
            return after
        if after >= 0:
            least = least_of(machine, after)
            if least < 0:
                return least
            best = min(best, max(width, column // int(machine.facts[layout.BLANK_WIDTH]) - blanks) + least)
        if columns < 0:
            return best
        column = int(machine.columns[columns, COLUMN])
        columns = int(machine.columns[columns, OUTER])


@compiled_loop
def is_complete(machine: GrammarMachine, place: int) -> int:
    """Return 1 if the text may end in a place, else 0, or a code."""
    stack, columns = int(machine.places[place, layout.STACK]), int(machine.places[place, layout.COLUMNS])
    while machine.columns[columns, OUTER] >= 0:
        stack = advance_stack(machine, stack, int(machine.facts[layout.DEDENT]))
        columns = int(machine.columns[columns, OUTER])
    stack = advance_stack(machine, stack, int(machine.facts[layout.END_SYMBOL]))
    return stack if stack < DEAD else int(stack >= 0)
