"""The tables of a grammar as the arrays that compiled loops read."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from structured.automata.grammar.tables import Tables
from structured.automata.protocol import UNKNOWN

if TYPE_CHECKING:
    from structured.automata.loops.grammar_machine import GrammarMachine


def new_machine(tables: Tables, absent: frozenset[int], facts: dict[int, int]) -> "GrammarMachine":
    """Return the machine of a grammar that has walked nothing, and knows nothing of its lexer."""
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
        exits=_zeros(64, 3),
        exits_of=_unfilled(64, 3, value=UNKNOWN),
        actions=actions,
        rules=_array([(rule.origin, rule.size) for rule in rules], 2),
        items=_array(items, 3),
        rests=_unfilled(1, len(items), value=UNKNOWN),
        kernels=_array(kernels, 2),
        contexts=_array(list(tables.context_of)),
        brackets=_array(brackets),
        absent=np.isin(np.arange(256), sorted(absent)),
        facts=_array(fact_list),
        stacks=_zeros(256, 2),
        stack_slots=_unfilled(512),
        places=_zeros(256, 4),
        place_slots=_unfilled(512),
        columns=_zeros(16, 2),
        column_slots=_unfilled(32),
        configurations=_zeros(256, 9),
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
    """Return how many of the blocks are closed that are open before some symbols."""
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
