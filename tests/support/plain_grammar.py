"""The automaton of a grammar in plain Python, which explains the compiled loops and which tests compare them with."""

import hashlib
import heapq
from collections.abc import Iterable
from threading import Lock
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from structured.automata.byte_automaton import DEAD, ROW_COMPLETE, UNKNOWN
from structured.automata.grammar.grammar_automaton import LIMITS, MAX_SEARCHED, EmptyGrammarError, SearchedTooFarError
from structured.automata.grammar.lark_grammar import ParserTables
from structured.automata.grammar.lexer import IGNORED, Indentation, Lexer
from structured.automata.opcodes import FAR
from structured.automata.regular import Limits
from structured.automata.table_states import walk_states
from structured.errors import GrammarError
from structured.vocabulary.trie import Trie


def shortest_of_symbols(tables: ParserTables, widths: list[int]) -> list[int]:
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


class _Stack(NamedTuple):
    """A state of the parser on top of a stack."""

    state: int
    below: int


class Parser:
    """The stacks that tokens lead to; `start` is the one before the first.

    `least[stack]` is a number of bytes that no text is shorter than that the parser can end with.
    """

    def __init__(self, tables: ParserTables, widths: list[int]) -> None:
        """Take the tables and the least number of bytes of each terminal."""
        self.tables = tables
        self.least: list[int] = []
        self._stacks: list[_Stack] = []
        self._known: dict[_Stack, int] = {}
        self._after: dict[tuple[int, int], int] = {}
        self._completed: dict[int, bool] = {}
        shortest = shortest_of_symbols(tables, widths)
        self._ends = [
            [(item, min(sum(shortest[symbol] for symbol in item.remaining), FAR)) for item in items]
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


class _IndentedStack(NamedTuple):
    """A stack of the parser, the number of open brackets, and the columns of the open blocks."""

    stack: int
    brackets: int
    columns: tuple[int, ...]


class IndentedParser:
    """The stacks that tokens and line ends lead to; has what `Parser` has."""

    def __init__(self, parser: Parser, indentation: Indentation) -> None:
        self.parser = parser
        self.indentation = indentation
        self.least: list[int] = []
        self._stacks: list[_IndentedStack] = []
        self._known: dict[_IndentedStack, int] = {}
        self._after: dict[tuple[int, int], int] = {}
        self.start = self._number(_IndentedStack(parser.start, 0, (0,)))

    def context(self, stack: int) -> int:
        """Return what the lexer tries after a stack."""
        return self.parser.context(self._stacks[stack].stack)

    def advance(self, stack: int, terminal: int) -> int:
        """Return the stack after a token, DEAD if it cannot follow."""
        if terminal == IGNORED:
            return stack
        after = self._after.get((stack, terminal))
        if after is None:
            is_line_end = terminal >= self.indentation.line_ends - 1
            new = self._broken if is_line_end else self._advanced
            after = self._after[stack, terminal] = self._number(new(self._stacks[stack], terminal))
        return after

    def least_after(self, stack: int, terminal: int) -> int:
        """Return the least number of bytes after a token, FAR if it cannot follow.

        After a line end, that is with the indentation that is best.
        """
        if terminal != self.indentation.line_end:
            after = self.advance(stack, terminal)
            return FAR if after == DEAD else self.least[after]
        _, brackets, columns = self._stacks[stack]
        if brackets:
            return self.least[stack]
        found = FAR
        for column in {*columns, columns[-1] + 1}:
            after = self.advance(stack, self.indentation.line_ends + column)
            found = min(found, FAR if after == DEAD else self.least[after])
        return found

    def is_complete(self, stack: int) -> bool:
        """Tell whether the text may end after a stack: all blocks end with it."""
        inner, _, columns = self._stacks[stack]
        for _ in columns[1:]:
            inner = self._fed(inner, self.indentation.dedent)
        return inner != DEAD and self.parser.is_complete(inner)

    def _advanced(self, stack: _IndentedStack, terminal: int) -> _IndentedStack:
        brackets = stack.brackets + (terminal in self.indentation.opening) - (terminal in self.indentation.closing)
        inner = self._fed(stack.stack, terminal) if brackets >= 0 else DEAD
        return _IndentedStack(inner, brackets, stack.columns)

    def _broken(self, stack: _IndentedStack, terminal: int) -> _IndentedStack:
        """Return the stack after a line end."""
        if stack.brackets:
            return stack
        column, columns = terminal - self.indentation.line_ends, stack.columns
        inner = self._fed(stack.stack, self.indentation.line_end)
        if column > columns[-1]:
            return _IndentedStack(self._fed(inner, self.indentation.indent), 0, (*columns, column))
        while column < columns[-1]:
            inner, columns = self._fed(inner, self.indentation.dedent), columns[:-1]
            if not columns:  # a line end without a line feed
                return _IndentedStack(DEAD, 0, ())
        return _IndentedStack(inner if column == columns[-1] else DEAD, 0, columns)

    def _fed(self, stack: int, terminal: int) -> int:
        return DEAD if stack == DEAD else self.parser.advance(stack, terminal)

    def _number(self, new: _IndentedStack) -> int:
        if new.stack == DEAD:
            return DEAD
        number = self._known.setdefault(new, len(self._stacks))
        if number == len(self._stacks):
            self._stacks.append(new)
            self.least.append(self.parser.least[new.stack])
        return number


Configuration = tuple[int, int]
"""A state of the lexer and a stack of the parser."""


class PlainGrammarAutomaton:
    """The automaton of the texts of a grammar; follows the `Automaton` protocol.

    Each begins with `prefix`, and none has a byte of `absent`. Raises GrammarError if there are none.
    """

    def __init__(
        self,
        tables: ParserTables,
        *,
        prefix: bytes = b"",
        absent: frozenset[int] = frozenset(),
        limits: Limits = LIMITS,
        max_searched: int = MAX_SEARCHED,
    ) -> None:
        self.tables = tables
        self.prefix = prefix
        self.absent = absent
        self.limits = limits
        self.max_searched = max_searched
        self.lexer = Lexer(tables.terminals, tables.contexts, indentation=tables.indentation)
        parser = Parser(tables, self._widths())
        self.parser = parser if tables.indentation is None else IndentedParser(parser, tables.indentation)
        self._distances_known: dict[Configuration, int] = {}
        self._states: list[tuple[Configuration, ...]] = []
        self._numbers: dict[tuple[Configuration, ...], int] = {}
        self._table = np.full((64, 256), UNKNOWN, dtype=np.int32)
        self._distances = np.zeros(64, dtype=np.int32)
        self._lock = Lock()
        stack = self.parser.start
        first = self.lexer.start(self.parser.context(stack), self.lexer.initial_lookaround), stack
        self.start = self._state([first])
        if self.start == DEAD:
            raise EmptyGrammarError
        for byte in reversed(prefix):
            self.start = self._state_before(self.start, byte)

    def __repr__(self) -> str:
        return f"PlainGrammarAutomaton({len(self.tables.terminals)} terminals, states={len(self._states)})"

    @property
    def fingerprint(self) -> bytes | None:
        """A digest of the tables."""
        return hashlib.sha256(repr((self.tables, self.prefix, sorted(self.absent))).encode()).digest()

    def with_prefix(self, text: str) -> "PlainGrammarAutomaton":
        """Return the automaton of the same texts, each with some text in front."""
        prefix = text.encode() + self.prefix
        return PlainGrammarAutomaton(self.tables, prefix=prefix, absent=self.absent, limits=self.limits)

    def without_bytes(self, absent: frozenset[int]) -> "PlainGrammarAutomaton | None":
        """Return the automaton of the same texts but for those in which some bytes occur; see the protocol."""
        if not absent.isdisjoint(self.prefix):
            return None
        try:
            return PlainGrammarAutomaton(
                self.tables, prefix=self.prefix, absent=self.absent | absent, limits=self.limits
            )
        except EmptyGrammarError:
            return None

    @property
    def table(self) -> NDArray[np.int32]:
        """The successors that are known; shape (states, 256)."""
        return self._table

    @property
    def distances(self) -> NDArray[np.int32]:
        """The number of bytes in the shortest completion of each state; shape (states,)."""
        return self._distances

    def accepts(self, state: int) -> bool:
        """Tell whether the bytes read so far are a whole text of the grammar."""
        return state != DEAD and bool(self._distances[state] == 0)

    def step(self, state: int, byte: int) -> int:
        """Return the successor of a state, or DEAD."""
        if state == DEAD or byte == ROW_COMPLETE:
            return DEAD
        self.expand(state)
        return int(self._table[state, byte])

    def expand(self, state: int) -> None:
        """Fill the row of a state."""
        if self._table[state, ROW_COMPLETE] == UNKNOWN:
            with self._lock:
                row = self._row(state)
                self._table[state] = row

    def walk(self, trie: Trie, state: int, mask: NDArray[np.uint32]) -> int:
        """Set the bits of the tokens of a trie that may follow; see the protocol."""
        reached = walk_states(self, trie, state, mask)
        return int(self._distances[: len(reached)][reached].max(initial=0))

    def _widths(self) -> list[int]:
        """Return the least number of bytes of each terminal, and none for those that no text makes."""
        widths = self.lexer.shortest_matches
        return [*widths, *[0] * (self.tables.end_symbol - len(widths))]

    def _row(self, state: int) -> list[int]:
        """Return the successors of a state."""
        configurations = self._states[state]
        rows = [self.lexer.row(lexer_state) for lexer_state, _ in configurations]
        row: list[int] = []
        known: dict[tuple[int, ...], int] = {}
        for byte, arrivals in enumerate(zip(*rows, strict=True)):
            target = DEAD if byte in self.absent else known.get(arrivals, UNKNOWN)
            if target == UNKNOWN:
                after = [
                    one
                    for arrival, (_, stack) in zip(arrivals, configurations, strict=True)
                    for one in self._landed(arrival, stack)
                ]
                target = known[arrivals] = self._state(after)
            row.append(target)
        return row

    def _landed(self, arrival: int, stack: int) -> list[Configuration]:
        """Return the configurations that an arrival of the lexer leads to: within the token, and after it."""
        state, tokens = self.lexer.arrivals[arrival]
        found = [] if state == DEAD else [(state, stack)]
        for terminal, rest in tokens:
            after = self.parser.advance(stack, terminal)
            if after != DEAD:
                found.append((self.lexer.start(self.parser.context(after), rest), after))
        return found

    def _state(self, configurations: Iterable[Configuration]) -> int:
        """Return the state of those configurations that some text completes, DEAD if there are none."""
        distances = {one: self._distance(one) for one in configurations}
        key = tuple(sorted(one for one, distance in distances.items() if distance < FAR))
        if not key:
            return DEAD
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = self._new_state(min(distances.values()))
            self._states.append(key)
        return number

    def _new_state(self, distance: int) -> int:
        number = len(self._states)
        if number >= self.limits.states:
            raise GrammarError(
                f"The automaton needs more than {self.limits.states:,} states", remedy="Repeat less in the terminals."
            )
        if number == len(self._table):
            self._table = np.concatenate([self._table, np.full_like(self._table, UNKNOWN)])
            self._distances = np.concatenate([self._distances, np.zeros_like(self._distances)])
        self._distances[number] = distance
        return number

    def _state_before(self, state: int, byte: int) -> int:
        """Return a state that leads to another by one byte."""
        number = self._new_state(int(self._distances[state]) + 1)
        self._states.append(())
        self._table[number] = DEAD
        self._table[number, byte] = state
        return number

    def _distance(self, start: Configuration) -> int:
        """Return the bytes of the shortest text that completes a configuration, FAR if there is none."""
        known = self._distances_known.get(start)
        if known is not None:
            return known
        read, before = {start: 0}, dict[Configuration, Configuration]()
        waiting = [(self._least(start), 0, start)]
        searched = 0
        while waiting:
            total, negated, here = heapq.heappop(waiting)
            so_far = -negated
            if so_far > read[here]:
                continue
            if here in self._distances_known or self._is_end(here):
                self._remember(here, total - so_far, before, read)
                return self._distances_known[start]
            searched += 1
            if searched > self.max_searched:
                raise SearchedTooFarError
            for after in self._successors(here):
                if so_far + 1 < read.get(after, FAR):
                    least = self._distances_known.get(after)
                    least = self._least(after) if least is None else least
                    if least < FAR:
                        read[after] = so_far + 1
                        before[after] = here
                        heapq.heappush(waiting, (so_far + 1 + least, -so_far - 1, after))
        for dead in read:
            self._distances_known[dead] = FAR
        return FAR

    def _remember(
        self, end: Configuration, left: int, before: dict[Configuration, Configuration], read: dict[Configuration, int]
    ) -> None:
        """Note the distances of all configurations on the way to one that is so many bytes from the end."""
        total = read[end] + left
        here: Configuration | None = end
        while here is not None:
            self._distances_known[here] = total - read[here]
            here = before.get(here)

    def _successors(self, here: Configuration) -> set[Configuration]:
        lexer_state, stack = here
        row = self.lexer.row(lexer_state)
        arrivals = {arrival for byte, arrival in enumerate(row) if byte not in self.absent}
        return {one for arrival in arrivals for one in self._landed(arrival, stack)}

    def _is_end(self, here: Configuration) -> bool:
        lexer_state, stack = here
        return self.lexer.may_end(lexer_state) and self.parser.is_complete(stack)

    def _least(self, here: Configuration) -> int:
        """Return a number of bytes that no text is shorter than that completes a configuration."""
        lexer_state, stack = here
        if self._is_end(here):
            return 0
        least = FAR
        for terminal, width in self.lexer.expected[lexer_state]:
            least = min(least, width + self.parser.least_after(stack, terminal))
        return least
