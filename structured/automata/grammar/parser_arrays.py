"""The tables of a parser as arrays, and the bytes of what remains of its items."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from structured.automata.byte_automaton import DEAD
from structured.automata.grammar.lark_grammar import ParserTables
from structured.automata.opcodes import FAR

_Numbers = NDArray[np.int32]


class ParserArrays(NamedTuple):
    """The tables of a parser; see the structs of `grammar_machine.py`, whose fields are the columns."""

    facts: _Numbers
    actions: _Numbers
    rules: _Numbers
    items: _Numbers
    lr_states: _Numbers
    brackets: _Numbers
    is_absent: _Numbers


def parser_arrays(tables: ParserTables, absent: frozenset[int], blank_width: int) -> ParserArrays:
    """Return the tables of a parser; no text has a byte of `absent`, and a blank has at most so many columns."""
    actions = np.zeros((len(tables.shifts), len(tables.symbols)), dtype=np.int32)
    rules: dict[Any, int] = {}
    items: list[tuple[int, int, int]] = []
    lr_states: list[tuple[int, int, int]] = []
    for state, (shifts, reductions) in enumerate(zip(tables.shifts, tables.reductions, strict=True)):
        for symbol, target in shifts.items():
            actions[state, symbol] = target + 1
        for symbol, rule in reductions.items():
            if not actions[state, symbol]:
                actions[state, symbol] = -1 - rules.setdefault(rule, len(rules))
        lr_states.append((tables.context_of[state], len(items), len(tables.items[state])))
        items += [(item.origin, item.read, blocks_closed(tables, item.remaining)) for item in tables.items[state]]
    indentation = tables.indentation
    opening, closing = (frozenset[int](),) * 2 if indentation is None else (indentation.opening, indentation.closing)
    line_symbols = [DEAD] * 4
    if indentation is not None:
        line_symbols = [indentation.line_end, indentation.indent, indentation.dedent, indentation.line_ends]
    return ParserArrays(
        facts=_rows([(tables.end_symbol, tables.end, *line_symbols, blank_width)], 7),
        actions=actions,
        rules=_rows([(rule.origin, rule.size) for rule in rules], 2),
        items=_rows(items, 3),
        lr_states=_rows(lr_states, 3),
        brackets=_numbers(int(symbol in opening) - int(symbol in closing) for symbol in range(len(tables.symbols))),
        is_absent=_numbers(byte in absent for byte in range(256)),
    )


def blocks_closed(tables: ParserTables, symbols: Sequence[int]) -> int:
    """Return how many of the blocks open before some symbols these close."""
    if tables.indentation is None:
        return 0
    depth = lowest = 0
    for symbol in symbols:
        depth += (symbol == tables.indentation.indent) - (symbol == tables.indentation.dedent)
        lowest = min(lowest, depth)
    return -lowest


def _rows(rows: Sequence[tuple[int, ...]], width: int) -> _Numbers:
    return np.array(rows, dtype=np.int32).reshape(-1, width)


def _numbers(numbers: Iterable[int]) -> _Numbers:
    return np.fromiter(numbers, dtype=np.int32)


class Remainders:
    """The bytes of the shortest text of what remains of each item of the tables.

    `widths` are the least bytes of each terminal, `blank_width` the columns of a blank.
    """

    def __init__(self, tables: ParserTables, widths: Sequence[int], blank_width: int) -> None:
        self._indentation = tables.indentation
        self._blank_width = blank_width
        nothing = len(tables.symbols)
        self._widths = np.array([*widths, *[FAR] * (nothing - len(widths)), 0], dtype=np.int64)
        self._origins = np.array([origin for origin, _ in tables.rules], dtype=np.int64)
        self._rules = _padded((symbols for _, symbols in tables.rules), nothing)
        remaining = [item.remaining for items in tables.items for item in items]
        counts = [_count_in_block(tables, symbols) for symbols in remaining]
        in_block = (symbols[:count] for symbols, count in zip(remaining, counts, strict=True))
        after_block = (symbols[count:] for symbols, count in zip(remaining, counts, strict=True))
        self._in_block = _padded(in_block, nothing)
        self._bytes_after_block: NDArray[np.int64] = self._shortest(0)[_padded(after_block, nothing)].sum(axis=1)

    def at(self, column: int) -> _Numbers:
        """Return the bytes of the remainder of each item in a block whose lines begin at a column."""
        bytes_in_block = self._shortest(column)[self._in_block].sum(axis=1)
        remainders: _Numbers = np.minimum(bytes_in_block + self._bytes_after_block, FAR).astype(np.int32)
        return remainders

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


def _count_in_block(tables: ParserTables, symbols: Sequence[int]) -> int:
    """Return how many symbols come before the end of the innermost block that is open before them."""
    if not blocks_closed(tables, symbols):
        return len(symbols)
    return next(end for end in range(len(symbols)) if blocks_closed(tables, symbols[: end + 1]))


def _padded(rows: Iterable[Sequence[int]], filling: int) -> NDArray[np.int64]:
    symbols_of_rows = list(rows)
    padded = np.full((len(symbols_of_rows), max(map(len, symbols_of_rows), default=0)), filling, dtype=np.int64)
    for row, symbols in zip(padded, symbols_of_rows, strict=True):
        row[: len(symbols)] = symbols
    return padded
