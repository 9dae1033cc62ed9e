"""The stacks of an LALR(1) parser: interned, so that equal ones are one number, with what they still need at least."""

import heapq
from typing import NamedTuple

from structured.automata.grammar.lexer import IGNORED
from structured.automata.grammar.tables import Tables
from structured.automata.opcodes import FAR
from structured.automata.protocol import DEAD


class _Stack(NamedTuple):
    """A state of the parser on top of a stack."""

    state: int
    below: int


class Parser:
    """The stacks that tokens lead to; `start` is the one before the first.

    `least[stack]` is a number of bytes that no text is shorter than that the parser can end with.
    """

    def __init__(self, tables: Tables, widths: list[int]) -> None:
        """Take the tables and the least number of bytes of each terminal."""
        self.tables = tables
        self.least: list[int] = []
        self._stacks: list[_Stack] = []
        self._known: dict[_Stack, int] = {}
        self._after: dict[tuple[int, int], int] = {}
        self._completed: dict[int, bool] = {}
        shortest = shortest_of_symbols(tables, widths)
        self._ends = [
            [(item, min(sum(shortest[symbol] for symbol in item.left), FAR)) for item in items]
            for items in tables.items
        ]
        self.start = self._push(tables.start, DEAD)

    def context(self, stack: int) -> int:
        """Return what the lexer tries after a stack."""
        return self.tables.context_of[self._stacks[stack].state]

    def advance(self, stack: int, terminal: int) -> int:
        """Return the stack after a token, DEAD if it cannot follow."""
        if terminal == IGNORED:
            return stack
        after = self._after.get((stack, terminal))
        if after is None:
            after = self._after[stack, terminal] = self._advance(stack, terminal)
        return after

    def least_after(self, stack: int, terminal: int) -> int:
        """Return the least number of bytes after a token, FAR if it cannot follow."""
        after = self.advance(stack, terminal)
        return FAR if after == DEAD else self.least[after]

    def is_complete(self, stack: int) -> bool:
        """Tell whether the text may end after a stack."""
        complete = self._completed.get(stack)
        if complete is None:
            complete = self._completed[stack] = self._advance(stack, self.tables.end_symbol) != DEAD
        return complete

    def _advance(self, stack: int, terminal: int) -> int:
        tables, is_end = self.tables, terminal == self.tables.end_symbol
        while True:
            state = self._stacks[stack].state
            target = tables.shifts[state].get(terminal)
            if target is not None:
                return self._push(target, stack)
            rule = tables.reductions[state].get(terminal)
            if rule is None:
                return DEAD
            stack = self._reduced(stack, rule.size, rule.origin)
            if is_end and self._stacks[stack].state == tables.end:
                return stack

    def _reduced(self, stack: int, size: int, origin: int) -> int:
        """Return the stack in which a symbol stands in place of some."""
        for _ in range(size):
            stack = self._stacks[stack].below
        return self._push(self.tables.shifts[self._stacks[stack].state][origin], stack)

    def _push(self, state: int, below: int) -> int:
        new = _Stack(state, below)
        number = self._known.get(new)
        if number is None:
            number = self._known[new] = len(self._stacks)
            self._stacks.append(new)
            self.least.append(FAR)
            self.least[number] = self._find_least(number)
        return number

    def _find_least(self, start: int) -> int:
        """Return the least number of bytes after a stack, by the items that its top is in the middle of.

        Whatever is next, an item ends in some way, and then its rule is one more symbol on what is below. So the stacks
        that are met are no higher than this one, and all that are lower are known.
        """
        costs = {start: 0}
        waiting = [(0, start)]
        while waiting:
            cost, stack = heapq.heappop(waiting)
            if cost > costs[stack]:
                continue
            if stack == DEAD:
                return cost
            for item, rest in self._ends[self._stacks[stack].state]:
                after, total = DEAD, cost + rest
                if item.origin >= 0 and rest < FAR:
                    after = self._reduced(stack, item.read, item.origin)
                    if self.least[after] < FAR:  # known, unless it waits for this one
                        after, total = DEAD, total + self.least[after]
                if total < costs.get(after, FAR):
                    costs[after] = total
                    heapq.heappush(waiting, (total, after))
        return FAR


def shortest_of_symbols(tables: Tables, widths: list[int]) -> list[int]:
    """Return the bytes of the shortest text of each symbol."""
    shortest = [*widths, *[FAR] * (len(tables.symbols) - len(widths))]
    changed = True
    while changed:
        changed = False
        for origin, symbols in tables.rules:
            found = min(sum(shortest[symbol] for symbol in symbols), FAR)
            if found < shortest[origin]:
                shortest[origin], changed = found, True
    return shortest
