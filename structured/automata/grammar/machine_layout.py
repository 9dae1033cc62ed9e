"""The machine of a grammar as it begins: the tables of its parser as arrays, and the bytes of what is left of items."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structured.automata.byte_automaton import DEAD, UNKNOWN
from structured.automata.grammar.lark_grammar import Tables
from structured.automata.loops.grammar_machine import GrammarMachine
from structured.automata.loops.machine import unfilled, zeros
from structured.automata.opcodes import FAR


def new_machine(tables: Tables, absent: frozenset[int], facts: Sequence[int]) -> GrammarMachine:
    """Return the machine of a grammar without states, and without rows of its lexer.

    `facts` are the most states, the most configurations that one search visits, and the columns of a blank.
    """
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
    of_lines = [DEAD] * 4
    if indentation is not None:
        of_lines = [indentation.line_end, indentation.indent, indentation.dedent, indentation.line_ends]
    return GrammarMachine(
        lexer_rows=unfilled(64, 256, value=UNKNOWN),
        arrivals=zeros(64, 3),
        tokens=zeros(64, 2),
        starts=unfilled(len(tables.contexts), 16, value=UNKNOWN),
        lexer_states=zeros(64, 4),
        expected=zeros(64, 2),
        token_ends=zeros(64, 3),
        token_ends_of=unfilled(64, 3, value=UNKNOWN),
        actions=actions,
        rules=_array([(rule.origin, rule.size) for rule in rules], 2),
        items=_array(items, 3),
        remainders=unfilled(1, len(items), value=UNKNOWN),
        kernels=_array(kernels, 2),
        context_of=_array(list(tables.context_of)),
        brackets=_array(brackets),
        is_absent=np.isin(np.arange(256), sorted(absent)),
        constants=_array([tables.end_symbol, tables.end, *of_lines, *facts]),
        stacks=zeros(256, 4),
        stack_slots=unfilled(512),
        parser_states=unfilled(256, 5, value=UNKNOWN),
        parser_state_slots=unfilled(512),
        columns=zeros(16, 4),
        column_slots=unfilled(32),
        configurations=unfilled(256, 11, value=UNKNOWN),
        configuration_slots=unfilled(512),
        heap=zeros(256, 3),
        states=zeros(64, 2),
        state_slots=unfilled(128),
        elements=zeros(256),
        distances=zeros(64),
        table=unfilled(64, 256, value=UNKNOWN),
        frontier=zeros(len(tables.shifts) + 1, 3),
        registers=zeros(10),
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
