"""The machine of a grammar's automaton: all its arrays as one named tuple, how they grow and lose what is not needed.

The tables of the parser are complete. Python fills in the rows of the lexer when a loop needs them, which becomes
rarer as a text goes on. As in `machine.py`, a loop that cannot go on returns a code, and is called again.
"""

from typing import Any, NamedTuple, TypeVar

import numpy as np

from structured.automata.byte_automaton import UNKNOWN
from structured.automata.loops.jit import Flags, Ints, Rows
from structured.automata.loops.machine import unfilled

DONE = 0
"""The result of a loop that has finished and returns nothing else."""

MORE_STACKS, MORE_PARSER_STATES, MORE_COLUMNS, MORE_CONFIGURATIONS, MORE_HEAP, MORE_STATES = range(-3, -9, -1)
MORE_ELEMENTS, MORE_RESULTS, TOO_FAR = range(-9, -12, -1)
NEEDS_ROW, NEEDS_START, NEEDS_COLUMN, NEEDS_TOKEN_ENDS, NEEDS_WALK = range(-12, -17, -1)
"""The codes of loops that cannot go on. MORE_…: an array is full, for MORE_RESULTS that of the results of a walk.
NEEDS_ROW, NEEDS_TOKEN_ENDS: those of the lexer state `registers[REQUESTED]` are needed. NEEDS_START: the lexer state
before a token is, for the context `registers[REQUESTED]` and the rest `registers[REQUESTED_REST]`. NEEDS_COLUMN: the
remainders for the column `registers[REQUESTED]` are. TOO_FAR: a search visited too many configurations. NEEDS_WALK: the
walk of a vocabulary in a state of the lexer has not been found."""

FULL_ARRAYS = {
    MORE_STACKS: ("stacks",),
    MORE_PARSER_STATES: ("parser_states",),
    MORE_COLUMNS: ("columns",),
    MORE_CONFIGURATIONS: ("configurations",),
    MORE_HEAP: ("heap",),
    MORE_STATES: ("states", "distances", "table"),
    MORE_ELEMENTS: ("elements",),
}
"""The arrays that are full, for each code."""

STACKS_USED, PARSER_STATES_USED, COLUMNS_USED, CONFIGURATIONS_USED, STATES_USED, ELEMENTS_USED = range(6)
ROUND, HEAP_USED, REQUESTED, REQUESTED_REST = range(6, 10)
"""The `registers` of a machine: the used rows of six arrays, the number of the last round, as in `opcodes.py`, the used
rows of the heap, and what a loop needs, as its code says."""

SLOTS = {
    MORE_STACKS: ("stack_slots", STACKS_USED),
    MORE_PARSER_STATES: ("parser_state_slots", PARSER_STATES_USED),
    MORE_COLUMNS: ("column_slots", COLUMNS_USED),
    MORE_CONFIGURATIONS: ("configuration_slots", CONFIGURATIONS_USED),
    MORE_STATES: ("state_slots", STATES_USED),
}
"""The hash tables of these arrays, which are filled again after growth, and where their rows in use are counted."""

LEXER_STATE, PARSER_STATE = range(2)
"""The first columns of a configuration: the states of the lexer and of the parser; see `configurations.py`."""

LR_STATE, TAIL = range(2)
"""The columns of a stack: the LR state on top, and the stack under it, -1 for none. All interned rows begin with four
columns that identify them, 0 where there are fewer. The other columns of a new row are UNKNOWN."""

STACK, BRACKETS, COLUMNS = range(3)
"""The first columns of a state of the parser; see `stacks.py`."""

Arrays = TypeVar("Arrays", bound=tuple[Any, ...])

END_SYMBOL, END_STATE, LINE_END, INDENT, DEDENT, LINE_ENDS, MAX_STATES, MAX_SEARCHED, BLANK_WIDTH = range(9)
"""The `constants` of a grammar: the symbol after the text, the LR state there; the terminals of indentation, DEAD if
there is none; the most states, the most configurations of a search, and the columns of a blank."""


class GrammarMachine(NamedTuple):
    """The tables of a grammar, and its configurations and states so far.

    The lexer: `lexer_rows[lexer state]` are arrivals for each byte, all UNKNOWN before they are requested. `arrivals`
    are `lexer state within the token or DEAD, first token, number of tokens`, the `tokens` that may end there are
    `terminal, rest`; `starts[context, rest]` is the lexer state before the next token. `lexer_states` are
    `first expected, number of expected, 1 if the text may end, column of a line end`, and `expected` are `terminal that
    the token may become, least bytes to its end`. `token_ends` are `terminal, rest, bytes`, ways to end a token;
    `token_ends_of[lexer state]` are `first token end, number of them or NO_TOKEN, the one taken last`, UNKNOWN in all
    before they are requested.

    The parser: `actions[LR state, symbol]` is one more than the LR state to shift to, or minus one more than the rule
    that ends, or 0; `context_of[LR state]` is a context of the lexer. `rules` are `origin, size`, `items` are `origin,
    symbols read, blocks that the remaining ones close`, `kernels[LR state]` are `first item, number of items`;
    `remainders[column, item]` are the bytes of what is left of an item where lines begin at a column, UNKNOWN in all
    before they are requested. `brackets[terminal]` is 1 for those that open one, -1 for those that close one;
    `is_absent[byte]` tells which bytes no text may have.

    `stacks`, `parser_states`, `columns` and `configurations` are interned rows, found by their `…_slots`. `heap` and
    `frontier` are those of searches: `total bytes, bytes read, configuration` and `stack, bytes, 1 if done`. `states`,
    `state_slots`, `elements`, `distances` and `table` are as in `Machine`, of configurations in place of frames.
    """

    lexer_rows: Rows
    arrivals: Rows
    tokens: Rows
    starts: Rows
    lexer_states: Rows
    expected: Rows
    token_ends: Rows
    token_ends_of: Rows
    actions: Rows
    rules: Rows
    items: Rows
    remainders: Rows
    kernels: Rows
    context_of: Ints
    brackets: Ints
    is_absent: Flags
    constants: Ints
    stacks: Rows
    stack_slots: Ints
    parser_states: Rows
    parser_state_slots: Ints
    columns: Rows
    column_slots: Ints
    configurations: Rows
    configuration_slots: Ints
    heap: Rows
    states: Rows
    state_slots: Ints
    elements: Ints
    distances: Ints
    table: Rows
    frontier: Rows
    registers: Ints


def grow(machine: GrammarMachine, code: int) -> GrammarMachine:
    """Return a machine whose full arrays are twice as long; their hash table must be filled again."""
    for name in FULL_ARRAYS[code]:
        machine = with_rows(machine, name, 2 * len(getattr(machine, name)))
    if code not in SLOTS:
        return machine
    slots, _ = SLOTS[code]
    renewed: dict[str, Any] = {slots: np.full(2 * len(getattr(machine, slots)), -1, dtype=np.int32)}
    return machine._replace(**renewed)


def with_rows(arrays: Arrays, name: str, count: int) -> Arrays:
    """Return the arrays, with the named one grown to at least `count` rows; new rows are UNKNOWN."""
    array = getattr(arrays, name)
    if count <= len(array):
        return arrays
    larger = unfilled(max(count, 2 * len(array)), *array.shape[1:], value=UNKNOWN).astype(array.dtype)
    larger[: len(array)] = array
    replaced: Arrays = arrays._replace(**{name: larger})  # type: ignore[attr-defined]  # a named tuple
    return replaced


def collect_garbage(machine: GrammarMachine) -> GrammarMachine:
    """Return a machine with only what its states consist of; earlier numbers of configurations become invalid.

    Most stacks, parser states and configurations are used once, for tokens of a mask that are not sampled.
    """
    registers = machine.registers.copy()
    elements = machine.elements[: registers[ELEMENTS_USED]]
    configurations = np.unique(elements)
    parser_states = np.unique(machine.configurations[configurations, PARSER_STATE])
    stacks = _with_tails(machine.parser_states[parser_states, STACK], machine.stacks[: registers[STACKS_USED], TAIL])
    needed = {
        "stacks": _renumber(machine.stacks[stacks], TAIL, stacks),
        "parser_states": _renumber(machine.parser_states[parser_states], STACK, stacks),
        "configurations": _renumber(machine.configurations[configurations], PARSER_STATE, parser_states),
    }
    registers[[STACKS_USED, PARSER_STATES_USED, CONFIGURATIONS_USED]] = list(map(len, needed.values()))
    larger: dict[str, Any] = {name: _with_unused_rows(rows) for name, rows in needed.items()}
    larger |= {f"{name[:-1]}_slots": unfilled(2 * len(larger[name])) for name in needed}
    elements = machine.elements.copy()
    elements[: registers[ELEMENTS_USED]] = np.searchsorted(configurations, elements[: registers[ELEMENTS_USED]])
    return machine._replace(**larger, elements=elements, heap=machine.heap[:256].copy(), registers=registers)


def _with_tails(stacks: Ints, tails: Ints) -> Ints:
    """Return some stacks and all stacks under them, sorted; `tails[stack]` is the next one under a stack, or -1."""
    is_kept = np.zeros(len(tails), dtype=np.bool_)
    new: Ints = np.unique(stacks)
    while len(new):
        is_kept[new] = True
        next_tails = tails[new]
        new = np.unique(next_tails[(next_tails >= 0) & ~is_kept[next_tails]])
    return np.flatnonzero(is_kept).astype(np.int32)


def _renumber(rows: Ints, column: int, numbers_kept: Ints) -> Ints:
    """Return rows with the numbers of a column replaced by their indices in the sorted `numbers_kept`; -1 stays."""
    numbers = rows[:, column]
    rows[:, column] = np.where(numbers < 0, numbers, np.searchsorted(numbers_kept, numbers))
    return rows


def _with_unused_rows(rows: Ints) -> Ints:
    """Return rows with about as many unused ones after them: in all a power of two, at least 256."""
    room = 1 << max(8, int(2 * len(rows)).bit_length())
    return np.concatenate([rows, unfilled(room - len(rows), rows.shape[1], value=UNKNOWN)])
