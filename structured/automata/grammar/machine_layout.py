"""The machine of a grammar: its limits, its tables as the arrays of compiled loops, and its garbage collection.

Most stacks, places and configurations are used once, for tokens of a mask that are not sampled. The collection keeps
those that states consist of, and renumbers them.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from structured.automata.byte_automaton import UNKNOWN
from structured.automata.grammar.lark_grammar import Tables
from structured.automata.opcodes import FAR
from structured.automata.regular import Limits
from structured.errors import GrammarError

if TYPE_CHECKING:
    from structured.automata.loops.grammar_machine import GrammarMachine

_Numbers = NDArray[np.int32]


def new_machine(tables: Tables, absent: frozenset[int], facts: dict[int, int]) -> "GrammarMachine":
    """Return the machine of a grammar without states, and without rows of its lexer."""
    from structured.automata.loops.grammar_machine import GrammarMachine

    actions = np.zeros((len(tables.shifts), len(tables.symbols)), dtype=np.int32)
    rules: dict[Any, int] = {}
    items: list[tuple[int, int, int]] = []
    kernels: list[tuple[int, int]] = []
    for state, (shifts, reductions) in enumerate(zip(tables.shifts, tables.reductions, strict=True)):
        for symbol, target in shifts.items():
            actions[state, symbol] = target + 1
        for symbol, rule in reductions.items():
            if not actions[state, symbol]:
                actions[state, symbol] = -1 - rules.setdefault(rule, len(rules))
        kernels.append((len(items), len(tables.items[state])))
        items += [(item.origin, item.read, blocks_closed(tables, item.left)) for item in tables.items[state]]
    indentation = tables.indentation
    opening, closing = (frozenset[int](),) * 2 if indentation is None else (indentation.opening, indentation.closing)
    brackets = [int(symbol in opening) - int(symbol in closing) for symbol in range(len(tables.symbols))]
    fact_list = [facts.get(fact, -1) for fact in range(9)]
    return GrammarMachine(
        rows=_unfilled(64, 256, value=UNKNOWN),
        arrivals=_zeros(64, 3),
        tokens=_zeros(64, 2),
        starts=_unfilled(len(tables.contexts), 16, value=UNKNOWN),
        lexed=_zeros(64, 4),
        expected=_zeros(64, 2),
        token_ends=_zeros(64, 3),
        token_ends_of=_unfilled(64, 3, value=UNKNOWN),
        actions=actions,
        rules=_array([(rule.origin, rule.size) for rule in rules], 2),
        items=_array(items, 3),
        rests=_unfilled(1, len(items), value=UNKNOWN),
        kernels=_array(kernels, 2),
        contexts=_array(list(tables.context_of)),
        brackets=_array(brackets),
        absent=np.isin(np.arange(256), sorted(absent)),
        facts=_array(fact_list),
        stacks=_zeros(256, 4),
        stack_slots=_unfilled(512),
        places=_unfilled(256, 5, value=UNKNOWN),
        place_slots=_unfilled(512),
        columns=_zeros(16, 4),
        column_slots=_unfilled(32),
        configurations=_unfilled(256, 11, value=UNKNOWN),
        configuration_slots=_unfilled(512),
        heap=_zeros(256, 3),
        states=_zeros(64, 2),
        state_slots=_unfilled(128),
        members=_zeros(256),
        distances=_zeros(64),
        table=np.full((64, 256), UNKNOWN, dtype=np.int32),
        level=_zeros(len(tables.shifts) + 1, 3),
        sizes=_zeros(10),
    )


def blocks_closed(tables: Tables, symbols: Sequence[int]) -> int:
    """Return how many of the blocks open before some symbols these close."""
    if tables.indentation is None:
        return 0
    depth = lowest = 0
    for symbol in symbols:
        depth += (symbol == tables.indentation.indent) - (symbol == tables.indentation.dedent)
        lowest = min(lowest, depth)
    return -lowest


def _array(rows: Any, width: int = 0) -> NDArray[np.int32]:
    found = np.array(rows, dtype=np.int32)
    return np.ascontiguousarray(found.reshape(-1, width)) if width else found


def _zeros(*shape: int) -> NDArray[np.int32]:
    return np.zeros(shape, dtype=np.int32)


def _unfilled(*shape: int, value: int = -1) -> NDArray[np.int32]:
    return np.full(shape, value, dtype=np.int32)


class Remainders:
    """What is left of each item of the tables; `widths` are the least bytes of each terminal, `blank_width` columns."""

    def __init__(self, tables: Tables, widths: Sequence[int], blank_width: int) -> None:
        self._indentation = tables.indentation
        self._blank_width = blank_width
        nothing = len(tables.symbols)
        self._widths = np.array([*widths, *[FAR] * (nothing - len(widths)), 0], dtype=np.int64)
        self._origins = np.array([origin for origin, _ in tables.rules], dtype=np.int64)
        self._rules = _padded((symbols for _, symbols in tables.rules), nothing)
        left = [item.left for items in tables.items for item in items]
        inside = [_inside(tables, symbols) for symbols in left]
        self._inside = _padded((symbols[:end] for symbols, end in zip(left, inside, strict=True)), nothing)
        self._outside = _padded((symbols[end:] for symbols, end in zip(left, inside, strict=True)), nothing)
        self._anywhere: NDArray[np.int64] = self._shortest(0)[self._outside].sum(axis=1)

    def at(self, column: int) -> NDArray[np.int32]:
        """Return the bytes of the rest of each item in a block whose lines begin at a column."""
        here = self._shortest(column)[self._inside].sum(axis=1)
        rests: NDArray[np.int32] = np.minimum(here + self._anywhere, FAR).astype(np.int32)
        return rests

    def _shortest(self, column: int) -> NDArray[np.int64]:
        """Return the bytes of the shortest text of each symbol, where each line end is followed by a line there."""
        shortest = self._widths.copy()
        if self._indentation is not None:
            shortest[self._indentation.line_end] += column // self._blank_width
            shortest[self._indentation.indent] += int(self._blank_width == 1)
        while True:
            before = shortest.copy()
            np.minimum.at(shortest, self._origins, np.minimum(shortest[self._rules].sum(axis=1), FAR))
            if (before == shortest).all():
                return shortest


def _inside(tables: Tables, symbols: Sequence[int]) -> int:
    """Return how many symbols come before the innermost block that is open before them is closed."""
    if not blocks_closed(tables, symbols):
        return len(symbols)
    return next(end for end in range(len(symbols)) if blocks_closed(tables, symbols[: end + 1]))


def _padded(rows: Iterable[Sequence[int]], filling: int) -> NDArray[np.int64]:
    kept = list(rows)
    found = np.full((len(kept), max(map(len, kept), default=0)), filling, dtype=np.int64)
    for row, symbols in zip(found, kept, strict=True):
        row[: len(symbols)] = symbols
    return found


LIMITS = Limits(seconds=120.0)
"""The limits of other automata; the seconds are those of one call, such as for a mask."""

MAX_SEARCHED = 20_000
"""The most configurations that one search visits."""


class EmptyGrammarError(GrammarError):
    """No text is of the grammar."""

    def __init__(self) -> None:
        super().__init__("The grammar has no text", remedy="Let what contains itself end somewhere.")


class SearchedTooFarError(GrammarError):
    """No end was found of a text that the parser would go on with."""

    def __init__(self) -> None:
        super().__init__(
            "A rule of the grammar was begun for which no text was found, after a long search",
            remedy="Let every rule have a short text, whose tokens the lexer can tell apart side by side.",
        )


def collected(machine: "GrammarMachine") -> "GrammarMachine":
    """Return a machine with only what its states consist of; earlier numbers of configurations become invalid."""
    from structured.automata.loops import grammar_machine as kinds
    from structured.automata.loops.configurations import PLACE
    from structured.automata.loops.stacks import BELOW, STACK

    sizes = machine.sizes.copy()
    members = machine.members[: sizes[kinds.MEMBERS_USED]]
    configurations = np.unique(members)
    places = np.unique(machine.configurations[configurations, PLACE])
    stacks = _with_below(machine.places[places, STACK], machine.stacks[: sizes[kinds.STACKS_USED], BELOW])
    kept = {
        "stacks": _renumbered(machine.stacks[stacks], BELOW, stacks),
        "places": _renumbered(machine.places[places], STACK, stacks),
        "configurations": _renumbered(machine.configurations[configurations], PLACE, places),
    }
    sizes[[kinds.STACKS_USED, kinds.PLACES_USED, kinds.CONFIGURATIONS_USED]] = list(map(len, kept.values()))
    larger: dict[str, Any] = {name: _roomy(rows) for name, rows in kept.items()}
    larger |= {f"{name[:-1]}_slots": _unfilled(2 * len(larger[name])) for name in kept}
    members = machine.members.copy()
    members[: sizes[kinds.MEMBERS_USED]] = np.searchsorted(configurations, members[: sizes[kinds.MEMBERS_USED]])
    return machine._replace(**larger, members=members, heap=machine.heap[:256].copy(), sizes=sizes)


def _with_below(stacks: _Numbers, below: _Numbers) -> _Numbers:
    is_kept = np.zeros(len(below), dtype=np.bool_)
    new: _Numbers = np.unique(stacks)
    while len(new):
        is_kept[new] = True
        under = below[new]
        new = np.unique(under[(under >= 0) & ~is_kept[under]])
    return np.flatnonzero(is_kept).astype(np.int32)


def _renumbered(rows: _Numbers, column: int, kept: _Numbers) -> _Numbers:
    """Return rows that name by their places in `kept` what they named by number; -1 stays."""
    named = rows[:, column]
    rows[:, column] = np.where(named < 0, named, np.searchsorted(kept, named))
    return rows


def _roomy(rows: _Numbers) -> _Numbers:
    """Return rows with as much room behind them, of a power of two."""
    room = 1 << max(8, int(2 * len(rows)).bit_length())
    return np.concatenate([rows, _unfilled(room - len(rows), rows.shape[1], value=UNKNOWN)])
