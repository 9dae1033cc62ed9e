"""The machine of a grammar's automaton: all its arrays as one named tuple, and how they grow.

The tables of the parser are complete. Python fills in the rows of the lexer when a loop needs them, which becomes
rarer as a text goes on. As in `machine.py`, a loop that cannot go on returns a code, and is called again.
"""

from typing import Any, NamedTuple

import numpy as np

from structured.automata.byte_automaton import UNKNOWN
from structured.automata.loops.jit import Flags, Ints, Rows

DONE = 0
"""The result of a loop that has finished and returns nothing else."""

MORE_STACKS, MORE_PLACES, MORE_COLUMNS, MORE_CONFIGURATIONS, MORE_HEAP, MORE_STATES, MORE_MEMBERS = range(-3, -10, -1)
NEEDS_ROW, NEEDS_START, NEEDS_COLUMN, NEEDS_EXITS, TOO_FAR, MORE_FOUND, NEEDS_WALK = range(-10, -17, -1)
"""The codes of loops that cannot go on. An array is full. A row or the token ends of the lexer state `sizes[ASKED]` are
needed; or the start for the context `sizes[ASKED]` and the rest `sizes[ASKED_TOO]`; or the remainders for the column
`sizes[ASKED]`. A search visited too many configurations. A walk has no room for its results, or needs the walk of the
vocabulary in a state of the lexer."""

GROWING = {
    MORE_STACKS: ("stacks",),
    MORE_PLACES: ("places",),
    MORE_COLUMNS: ("columns",),
    MORE_CONFIGURATIONS: ("configurations",),
    MORE_HEAP: ("heap",),
    MORE_STATES: ("states", "distances", "table"),
    MORE_MEMBERS: ("members",),
}
"""The arrays that are full, for each code."""

STACKS_USED, PLACES_USED, COLUMNS_USED, CONFIGURATIONS_USED, STATES_USED, MEMBERS_USED = range(6)
ROUND, HEAP_USED, ASKED, ASKED_TOO = range(6, 10)
"""The places of counts in `sizes`."""

SLOTS = {
    MORE_STACKS: ("stack_slots", STACKS_USED),
    MORE_PLACES: ("place_slots", PLACES_USED),
    MORE_COLUMNS: ("column_slots", COLUMNS_USED),
    MORE_CONFIGURATIONS: ("configuration_slots", CONFIGURATIONS_USED),
    MORE_STATES: ("state_slots", STATES_USED),
}
"""The hash tables of these arrays, which are filled again after growth, and where their rows in use are counted."""

END_SYMBOL, END_STATE, LINE_END, INDENT, DEDENT, LINE_ENDS, MAX_STATES, MAX_SEARCHED, BLANK_WIDTH = range(9)
"""The `facts` of a grammar: the symbol behind the text, the state there; the terminals of indentation, DEAD if there is
none; the states that there may be, the configurations that one search may pass through, and the columns of a blank."""


class GrammarMachine(NamedTuple):
    """The tables of a grammar, and its configurations and states so far.

    `rows[lexer state]` are arrivals for each byte, UNKNOWN in all if they have not been asked for; `arrivals` are
    `state, first token, tokens`, `tokens` are `terminal, rest`, `starts[context, rest]` lexer states. `lexed` are
    `first expected, how many, 1 if the text may end, the column of a line end`, `expected` are `terminal, width`;
    `token_ends` are `terminal, rest, width`, some ways out of a token, and `token_ends_of[lexer state]` are
    `first token end, how many, which was taken last`, how many being -1 where no token ends, all UNKNOWN if they have
    not been asked for.

    `actions[parser state, symbol]` is one more than the state to shift to, or minus one more than the rule that ends,
    or 0. `rules` are `origin, size`, `items` are `origin, read, blocks that the rest closes`, `kernels` are
    `first item, items`; `rests[column, item]` are the bytes of the rest where lines begin at a column, all UNKNOWN if
    they have not been asked for; `brackets[terminal]` is 1 or -1 for those that open and close one.
    """

    rows: Rows
    arrivals: Rows
    tokens: Rows
    starts: Rows
    lexed: Rows
    expected: Rows
    token_ends: Rows
    token_ends_of: Rows
    actions: Rows
    rules: Rows
    items: Rows
    rests: Rows
    kernels: Rows
    contexts: Ints
    brackets: Ints
    absent: Flags
    facts: Ints
    stacks: Rows
    stack_slots: Ints
    places: Rows
    place_slots: Ints
    columns: Rows
    column_slots: Ints
    configurations: Rows
    configuration_slots: Ints
    heap: Rows
    states: Rows
    state_slots: Ints
    members: Ints
    distances: Ints
    table: Rows
    level: Rows
    sizes: Ints


def grown(machine: GrammarMachine, lack: int) -> GrammarMachine:
    """Return a machine whose full arrays are twice as long; their hash table must be filled again."""
    for name in GROWING[lack]:
        machine = with_room(machine, name, 2 * len(getattr(machine, name)))
    if lack not in SLOTS:
        return machine
    slots, _ = SLOTS[lack]
    renewed: dict[str, Any] = {slots: np.full(2 * len(getattr(machine, slots)), -1, dtype=np.int32)}
    return machine._replace(**renewed)


def with_room(machine: GrammarMachine, name: str, count: int) -> GrammarMachine:
    """Return a machine in which an array has at least `count` rows; new rows are UNKNOWN."""
    array: Ints = getattr(machine, name)
    if count <= len(array):
        return machine
    larger = np.full((max(count, 2 * len(array)), *array.shape[1:]), UNKNOWN, dtype=np.int32)
    larger[: len(array)] = array
    return machine._replace(**{name: larger})
