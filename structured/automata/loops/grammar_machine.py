"""The machine of a grammar's automaton: all its arrays as one named tuple, how they grow and are collected.

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

MORE_STACKS, MORE_PLACES, MORE_COLUMNS, MORE_CONFIGURATIONS, MORE_HEAP, MORE_STATES, MORE_MEMBERS = range(-3, -10, -1)
NEEDS_ROW, NEEDS_START, NEEDS_COLUMN, NEEDS_TOKEN_ENDS, TOO_FAR, MORE_FOUND, NEEDS_WALK = range(-10, -17, -1)
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

LEXER, PLACE = range(2)
"""The first columns of a configuration: the state of the lexer and the place of the parser; see `configurations.py`."""

STATE, BELOW = range(2)
"""The columns of a stack: the state of the parser on top, the stack below. Four columns
identify an interned row; where there are three facts, the fourth is 0. The other columns of a new row are UNKNOWN."""

STACK, BRACKETS, COLUMNS = range(3)
"""The first columns of a place; see `stacks.py`."""

Arrays = TypeVar("Arrays", bound=tuple[Any, ...])

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


def with_room(arrays: Arrays, name: str, count: int) -> Arrays:
    """Return the arrays, with the named one grown to at least `count` rows; new rows are UNKNOWN."""
    array = getattr(arrays, name)
    if count <= len(array):
        return arrays
    larger = unfilled(max(count, 2 * len(array)), *array.shape[1:], value=UNKNOWN).astype(array.dtype)
    larger[: len(array)] = array
    replaced: Arrays = arrays._replace(**{name: larger})  # type: ignore[attr-defined]  # a named tuple
    return replaced


def collected(machine: GrammarMachine) -> GrammarMachine:
    """Return a machine with only what its states consist of; earlier numbers of configurations become invalid.

    Most stacks, places and configurations are used once, for tokens of a mask that are not sampled.
    """
    sizes = machine.sizes.copy()
    members = machine.members[: sizes[MEMBERS_USED]]
    configurations = np.unique(members)
    places = np.unique(machine.configurations[configurations, PLACE])
    stacks = _with_below(machine.places[places, STACK], machine.stacks[: sizes[STACKS_USED], BELOW])
    kept = {
        "stacks": _renumbered(machine.stacks[stacks], BELOW, stacks),
        "places": _renumbered(machine.places[places], STACK, stacks),
        "configurations": _renumbered(machine.configurations[configurations], PLACE, places),
    }
    sizes[[STACKS_USED, PLACES_USED, CONFIGURATIONS_USED]] = list(map(len, kept.values()))
    larger: dict[str, Any] = {name: _roomy(rows) for name, rows in kept.items()}
    larger |= {f"{name[:-1]}_slots": unfilled(2 * len(larger[name])) for name in kept}
    members = machine.members.copy()
    members[: sizes[MEMBERS_USED]] = np.searchsorted(configurations, members[: sizes[MEMBERS_USED]])
    return machine._replace(**larger, members=members, heap=machine.heap[:256].copy(), sizes=sizes)


def _with_below(stacks: Ints, below: Ints) -> Ints:
    is_kept = np.zeros(len(below), dtype=np.bool_)
    new: Ints = np.unique(stacks)
    while len(new):
        is_kept[new] = True
        under = below[new]
        new = np.unique(under[(under >= 0) & ~is_kept[under]])
    return np.flatnonzero(is_kept).astype(np.int32)


def _renumbered(rows: Ints, column: int, kept: Ints) -> Ints:
    """Return rows that name by their places in `kept` what they named by number; -1 stays."""
    named = rows[:, column]
    rows[:, column] = np.where(named < 0, named, np.searchsorted(kept, named))
    return rows


def _roomy(rows: Ints) -> Ints:
    """Return rows with as much room behind them, of a power of two."""
    room = 1 << max(8, int(2 * len(rows)).bit_length())
    return np.concatenate([rows, unfilled(room - len(rows), rows.shape[1], value=UNKNOWN)])
