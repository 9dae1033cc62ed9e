"""The least bytes of what is left of rules, by the column at which lines begin.

`shortest_of_symbols` is the same for a grammar without indentation. Here all rules are added up at once, since each
column of a block is asked for.
"""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from structured.automata.grammar.layout import blocks_closed
from structured.automata.grammar.tables import Tables
from structured.automata.opcodes import FAR

_Costs = NDArray[np.int64]


class Remainders:
    """What is left of each item of the tables; `widths` are the least bytes of each terminal, `blank_width` columns."""

    def __init__(self, tables: Tables, widths: Sequence[int], blank_width: int) -> None:
        self._indentation = tables.indentation
        self._blank_width = blank_width
        nothing = len(tables.symbols)
        self._widths = np.full(nothing + 1, FAR, dtype=np.int64)
        self._widths[: len(widths)] = widths
        self._widths[nothing] = 0
        self._origins = np.array([origin for origin, _ in tables.rules], dtype=np.int64)
        self._rules = _padded((symbols for _, symbols in tables.rules), nothing)
        left = [item.left for items in tables.items for item in items]
        inside = [_inside(tables, symbols) for symbols in left]
        self._inside = _padded((symbols[:end] for symbols, end in zip(left, inside, strict=True)), nothing)
        self._outside = _padded((symbols[end:] for symbols, end in zip(left, inside, strict=True)), nothing)
        self._anywhere: _Costs = self._shortest(0)[self._outside].sum(axis=1)

    def at(self, column: int) -> NDArray[np.int32]:
        """Return the bytes of the rest of each item in a block whose lines begin at a column."""
        here = self._shortest(column)[self._inside].sum(axis=1)
        rests: NDArray[np.int32] = np.minimum(here + self._anywhere, FAR).astype(np.int32)
        return rests

    def _shortest(self, column: int) -> _Costs:
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
    """Return rows of one length, filled up behind."""
    kept = list(rows)
    found = np.full((len(kept), max(map(len, kept), default=0)), filling, dtype=np.int64)
    for row, symbols in zip(found, kept, strict=True):
        row[: len(symbols)] = symbols
    return found
