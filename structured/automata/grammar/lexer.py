"""An exact contextual lexer as a lazy automaton over bytes.

Lark tries the terminals that the parser can take in one place as alternatives of one regular expression, and a token
is the match that Python's `re` prefers. So where a token ends may depend on the rest of the text: after `1` of
`1.5`, a number goes on, and in `1.x` it does not. A state here is one of both ways that a text may be read: where the
preferred threads have read a whole token and others are still alive that would be preferred, one way goes on with
those, and another takes the token, with the obligation that those others never succeed. Mostly that is settled by the
next byte. A state knows nothing of the parser: the tokens that it ends with are left to whoever follows it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from structured.automata.grammar.expressions import Expressions
from structured.automata.grammar.threads import NO_OBLIGATIONS, Matcher, Obligation, Thread, Threads
from structured.automata.opcodes import FAR
from structured.automata.protocol import DEAD

IGNORED = -1
"""The terminal of a token that the parser never sees."""

_NO_LINE = -1
"""The column where the token has no line feed."""

_PAST = -2
"""What a thread has read that ended a token somewhere before, if the obligations that it has left are met."""


@dataclass(frozen=True, slots=True)
class Terminal:
    """A terminal: the text of its regular expression, and whether its tokens are ignored."""

    name: str
    expression: str
    is_ignored: bool = False


@dataclass(frozen=True, slots=True)
class Context:
    """The terminals that are tried in a place, in their order, and the texts that make a token another terminal.

    `keywords[terminal]` are terminals: a token is the first of them of which it is a whole match.
    """

    terminals: tuple[int, ...]
    keywords: Mapping[int, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Indentation:
    """How line ends make tokens of indentation, as Lark's `Indenter` does; terminals by their numbers."""

    line_end: int
    indent: int
    dedent: int
    opening: frozenset[int]
    closing: frozenset[int]
    tab_width: int
    line_ends: int
    """Behind all other terminals: the number of a line end before a line whose first column is 0."""


class Rest(NamedTuple):
    """What a token leaves behind: obligations on what follows it, and what there is to look back at."""

    obligations: frozenset[Obligation]
    behind: frozenset[int]


class Token(NamedTuple):
    """The terminal of a token that may end here, or IGNORED, and what it leaves behind."""

    terminal: int
    rest: int


class Arrival(NamedTuple):
    """Where a byte leads: the state within the token, or DEAD, and the tokens that may end there."""

    state: int
    tokens: tuple[Token, ...]


class _State(NamedTuple):
    """Where a text stands within a token.

    `threads` are those of the terminals, in order; `keywords` those of what would make the token another terminal.
    """

    is_fresh: bool
    """Whether the token has not begun."""
    threads: Threads
    keywords: frozenset[int]
    rest: Rest
    column: int = _NO_LINE
    """The width of the blanks behind the last line feed of the token, where it may be a line end."""


class Lexer:
    """The states of a lexer, made when they are reached.

    With an `indentation`, each line end is a terminal of its own for each column: `line_ends + column`.
    `expected[state]` says which terminals the token may become, each with the least number of bytes that it takes.
    """

    def __init__(
        self, terminals: Sequence[Terminal], contexts: Sequence[Context], *, indentation: Indentation | None = None
    ) -> None:
        self.terminals = terminals
        self.contexts = contexts
        self.indentation = indentation
        expressions = Expressions()
        nodes = [expressions.add(terminal.expression) for terminal in terminals]
        self.matcher = Matcher(expressions)
        self._begun = [self.matcher.enter(node, self.matcher.end(number)) for number, node in enumerate(nodes)]
        self.widths = [expressions.nodes[node].shortest for node in nodes]
        """The bytes of the shortest match of each terminal, lookaround aside."""
        self._keyword_goals: list[tuple[int, int]] = []
        self._keyword_frames = self._begin_keywords(nodes)
        self._past = self.matcher.end(_PAST)
        self.states: list[_State] = []
        self.expected: list[tuple[tuple[int, int], ...]] = []
        self.rests: list[Rest] = []
        self._state_numbers: dict[_State, int] = {}
        self._rest_numbers: dict[Rest, int] = {}
        self._starts: dict[tuple[int, int], int] = {}
        self.arrivals: list[Arrival] = []
        self._arrival_numbers: dict[Arrival, int] = {}
        self._rows: dict[int, tuple[int, ...]] = {}
        self.nothing = self._arrival(Arrival(DEAD, ()))
        self.beginning = self._rest(Rest(NO_OBLIGATIONS, self.matcher.beginning()))

    def _begin_keywords(self, nodes: Sequence[int]) -> dict[tuple[int, int], int]:
        """Return the frame of each keyword of each terminal, which ends with the place of the two in a list."""
        frames: dict[tuple[int, int], int] = {}
        for context in self.contexts:
            for terminal, keywords in context.keywords.items():
                for keyword in keywords:
                    if (terminal, keyword) not in frames:
                        end = self.matcher.end(len(self.terminals) + len(self._keyword_goals))
                        self._keyword_goals.append((terminal, keyword))
                        frames[terminal, keyword] = self.matcher.enter(nodes[keyword], end)
        return frames

    def start(self, context: int, rest: int) -> int:
        """Return the state before a token, DEAD if there can be none and the text cannot end either."""
        state = self._starts.get((context, rest))
        if state is None:
            here, behind = self.contexts[context], self.rests[rest].behind
            threads = [Thread(self._begun[terminal]) for terminal in here.terminals]
            keywords = [
                Thread(self._keyword_frames[terminal, keyword])
                for terminal, all_of_it in here.keywords.items()
                for keyword in all_of_it
            ]
            leaves = self.matcher.unfold(threads, behind, is_ordered=True)
            new = _State(True, tuple(leaves), self._unfolded(keywords, behind), self.rests[rest])
            state = self._starts[context, rest] = self._state(new)
        return state

    def may_end(self, state: int) -> bool:
        """Tell whether a text may end in a state, if the parser lets it."""
        known = self.states[state]
        return known.is_fresh and self.matcher.hold_at_end(known.rest.obligations)

    def row(self, state: int) -> tuple[int, ...]:
        """Return for each byte the number of the arrival that it leads to; `nothing` if it leads nowhere."""
        row = self._rows.get(state)
        if row is None:
            row = self._rows[state] = self._new_row(self.states[state])
        return row

    def _new_row(self, state: _State) -> tuple[int, ...]:
        borders = sorted({0, 256, *self._borders(state)})
        row: list[int] = []
        for low, end in pairwise(borders):
            row += [self._after(state, low)] * (end - low)
        return tuple(row)

    def _borders(self, state: _State) -> set[int]:
        """Return the bytes at which the successor of a state may change."""
        found: set[int] = set()
        frames = [*(thread.frame for thread in state.threads), *state.keywords, *state.rest.behind]
        open_threads = [thread for _, threads in self._all_obligations(state) for thread in threads]
        while open_threads:
            frame, obligations = open_threads.pop()
            frames.append(frame)
            open_threads += [thread for _, threads in obligations for thread in threads]
        for frame in frames:
            found.update(self.matcher.borders(frame))
        if self._may_end_line(state.threads):
            found.update((0x09, 0x0A, 0x0B, 0x20, 0x21))
        return found

    def _all_obligations(self, state: _State) -> list[Obligation]:
        return [
            *state.rest.obligations,
            *(obligation for thread in state.threads for obligation in thread.obligations),
        ]

    def _after(self, state: _State, byte: int) -> int:
        """Return the arrival of a byte."""
        matcher = self.matcher
        behind = matcher.behind_after(state.rest.behind, byte)
        obligations = matcher.all_after(state.rest.obligations, byte, behind)
        if obligations is None:
            return self.nothing
        moved = matcher.moved(state.threads, byte, behind)
        leaves = matcher.unfold(moved, behind, is_ordered=True)
        if not leaves:
            return self.nothing
        after = [Thread(frame) for one in state.keywords for frame in [matcher.after(one, byte)] if frame >= 0]
        keywords = self._unfolded(after, behind)
        column = self._column_after(state, byte)
        tokens: list[Token] = []
        going_on: list[Thread] = []
        for frame, open_ones in leaves:
            if not matcher.is_end(frame):
                going_on.append(Thread(frame, open_ones))
                continue
            more = None if frame == self._past else matcher.obliged(False, going_on, behind)
            if more is not None:
                rest = self._rest(Rest(obligations | open_ones | more, behind))
                tokens.append(Token(self._terminal(frame, keywords, column), rest))
            if open_ones:
                going_on.append(Thread(self._past, open_ones))
        while going_on and going_on[-1].frame == self._past:
            going_on.pop()
        if not going_on:
            return self._arrival(Arrival(DEAD, tuple(tokens)))
        alive = {matcher.goal[thread.frame] for thread in going_on}
        kept = frozenset(
            frame
            for frame in keywords
            if not matcher.is_end(frame) and self._keyword_goals[self._goal(frame)][0] in alive
        )
        column = column if self._may_end_line(going_on) else _NO_LINE
        new = _State(False, tuple(going_on), kept, Rest(obligations, behind), column)
        return self._arrival(Arrival(self._state(new), tuple(tokens)))

    def _terminal(self, end: int, keywords: frozenset[int], column: int) -> int:
        """Return what a token is whose text some keywords have read as well."""
        terminal = self.matcher.goal[end]
        if self.terminals[terminal].is_ignored:
            return IGNORED
        ended = [self._keyword_goals[self._goal(frame)] for frame in keywords if self.matcher.is_end(frame)]
        terminal = min((keyword for one, keyword in ended if one == terminal), default=terminal)
        if self.indentation is not None and terminal == self.indentation.line_end:
            return self.indentation.line_ends + column
        return terminal

    def _may_end_line(self, threads: Sequence[Thread]) -> bool:
        """Tell whether some thread reads a line end."""
        line_end = None if self.indentation is None else self.indentation.line_end
        return any(self.matcher.goal[frame] == line_end for frame, _ in threads)

    def _column_after(self, state: _State, byte: int) -> int:
        """Return the column after a byte."""
        if self.indentation is None or not self._may_end_line(state.threads):
            return _NO_LINE
        if byte == 0x0A:
            return 0
        widths = {0x09: self.indentation.tab_width, 0x20: 1}
        return state.column if state.column == _NO_LINE else state.column + widths.get(byte, 0)

    def _goal(self, frame: int) -> int:
        """Return which keyword a frame reads."""
        return self.matcher.goal[frame] - len(self.terminals)

    def _unfolded(self, threads: Sequence[Thread], behind: frozenset[int]) -> frozenset[int]:
        return frozenset(thread.frame for thread in self.matcher.unfold(threads, behind))

    def _state(self, new: _State) -> int:
        number = self._state_numbers.get(new)
        if number is None:
            number = self._state_numbers[new] = len(self.states)
            self.states.append(new)
            self.expected.append(tuple(self._expected(new).items()))
        return number

    def _expected(self, state: _State) -> dict[int, int]:
        """Return the terminals that a token may become, each with the least number of bytes that it takes."""
        found: dict[int, int] = {}
        reachable = set()
        for frame, _ in state.threads:
            if frame != self._past:
                goal = self.matcher.goal[frame]
                reachable.add(goal)
                terminal = IGNORED if self.terminals[goal].is_ignored else goal
                found[terminal] = min(found.get(terminal, FAR), self.matcher.shortest[frame])
        for frame in state.keywords:
            terminal, keyword = self._keyword_goals[self._goal(frame)]
            if terminal in reachable and not self.terminals[terminal].is_ignored:
                found[keyword] = min(found.get(keyword, FAR), self.matcher.shortest[frame])
        return found

    def _rest(self, new: Rest) -> int:
        number = self._rest_numbers.setdefault(new, len(self.rests))
        if number == len(self.rests):
            self.rests.append(new)
        return number

    def _arrival(self, new: Arrival) -> int:
        number = self._arrival_numbers.setdefault(new, len(self.arrivals))
        if number == len(self.arrivals):
            self.arrivals.append(new)
        return number
