"""An exact contextual lexer as a lazy automaton over bytes.

Lark tries the terminals that the parser allows at a place as alternatives of one regular expression, and a token is the
match that Python's `re` prefers. So the end of a token may depend on the rest of the text: after `1` a number goes on
in `1.5`, but not in `1.x`. If a thread has read a whole token while preferred threads are still alive, the automaton
follows two ways: it reads on with the preferred threads, or it ends the token, with the obligation that these threads
never succeed. The next byte mostly decides. States do not depend on the parser: the caller interprets the tokens that
end in them.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any, Generic, NamedTuple, TypeVar

from structured.automata.byte_automaton import DEAD
from structured.automata.dfa.alphabet import Numbered
from structured.automata.grammar.terminal_expressions import Expressions
from structured.automata.grammar.threads import NO_OBLIGATIONS, Matcher, Obligation, Obligations, Thread, Threads
from structured.automata.loops.lexer_tables import LexerTables
from structured.automata.loops.machine_locks import machine_lock
from structured.automata.opcodes import FAR
from structured.errors import GrammarError, PatternError

IGNORED = -1
"""The terminal of an ignored token."""

_NO_LINE_FEED = -1
"""The column where the token has no line feed."""

_AFTER_TOKEN = -2
"""The goal of a thread that reads on after a token of terminal t, with obligations: `_AFTER_TOKEN - t`."""

MAX_STATES = 20_000
"""The most states with rows. Each takes about 20 KB, as Python objects."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Terminal:
    """A terminal: the text of its regular expression, and whether its tokens are ignored."""

    name: str
    expression: str
    is_ignored: bool = False


@dataclass(frozen=True, slots=True)
class Context:
    """The terminals that are tried at a place, in order, and the keywords that replace them.

    `keywords[terminal]` are terminals: a token becomes the first of them that matches all of it.
    """

    terminals: tuple[int, ...]
    keywords: Mapping[int, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Indentation:
    """The rules that make tokens of indentation from line ends, as Lark's `Indenter`; terminals by their numbers."""

    line_end: int
    indent: int
    dedent: int
    opening: frozenset[int]
    closing: frozenset[int]
    tab_width: int
    line_ends: int
    """The terminal, after all others, of a line end before a line that begins at column 0."""


class LookaroundState(NamedTuple):
    """The lookarounds of the terminals at a place: the obligations on the text that follows, and the lookbehinds.

    After `a(?!b)` an obligation says that no `b` follows; `behind` are the frames of what lookbehinds may have read.
    """

    obligations: frozenset[Obligation]
    behind: frozenset[int]


class Token(NamedTuple):
    """The terminal of a token that may end here, or IGNORED, and the number of the `LookaroundState` after it."""

    terminal: int
    lookaround: int


class Arrival(NamedTuple):
    """The result of a byte: the state within the token, or DEAD, and the tokens that may end there."""

    state: int
    tokens: tuple[Token, ...]


class _Match(NamedTuple):
    """A match of a terminal that ends here: the preferred threads of the same terminal, and obligations."""

    preferred: Threads
    obligations: frozenset[Obligation]


class _Step(NamedTuple):
    """The threads of one terminal after a byte.

    `is_decided`: a thread has succeeded without obligations, so that less preferred threads and terminals do not count.
    """

    threads: Threads
    matches: tuple[_Match, ...]
    is_decided: bool


_NO_STEP = _Step((), (), False)


class _ByteRow(NamedTuple, Generic[T]):
    """An entry for each byte, and the bytes at which the entries may change; 0 and 256 are among them."""

    borders: frozenset[int]
    entries: list[T]


class _State(NamedTuple):
    """The progress of a text within a token.

    `threads` are those of each terminal that is still read, preferred terminals first; `keywords` those of what would
    make the token another terminal.
    """

    is_fresh: bool
    """Whether no byte of the token has been read."""
    threads: tuple[Threads, ...]
    keywords: frozenset[int]
    lookaround: LookaroundState
    column: int = _NO_LINE_FEED
    """The width of the blanks behind the last line feed of the token, where it may be a line end."""


_COLUMN_BORDERS = frozenset({0, 0x09, 0x0A, 0x0B, 0x20, 0x21, 256})
"""The bytes at which the column may change: those of tabs, line feeds and blanks."""

_NO_COLUMNS = _ByteRow(frozenset({0, 256}), [_NO_LINE_FEED] * 256)


class Lexer:
    """The states of a lexer, made lazily.

    With an `indentation`, each line end is a terminal of its own for each column: `line_ends + column`.
    `expected[state]` has the terminals that the token may become, each with its least number of bytes. Automata may
    share a lexer; the caller must hold its `lock`.
    """

    def __init__(
        self, terminals: Sequence[Terminal], contexts: Sequence[Context], *, indentation: Indentation | None = None
    ) -> None:
        self.terminals = terminals
        self.contexts = contexts
        self.indentation = indentation
        expressions = Expressions()
        nodes = [_node(expressions, terminal) for terminal in terminals]
        self.matcher = Matcher(expressions)
        self._first_frames = [self.matcher.enter(node, self.matcher.end(number)) for number, node in enumerate(nodes)]
        self.shortest_matches = [expressions.nodes[node].shortest for node in nodes]
        """The bytes of the shortest match of each terminal, lookaround aside."""
        self.blank_width = 1
        """The most columns that one byte of a line end may be."""
        if indentation is not None and indentation.line_end < len(nodes):
            reads_tab = expressions.reads(nodes[indentation.line_end], 0x09)
            self.blank_width = indentation.tab_width if reads_tab else 1
        self._keyword_frames = self._begin_keywords(nodes)
        self._after_token_frames = [self.matcher.end(_AFTER_TOKEN - number) for number in range(len(nodes))]
        self.tables = LexerTables(len(contexts))
        """What loops see of the states and arrivals."""
        self.states = Numbered[_State]()
        self.expected: list[tuple[tuple[int, int], ...]] = []
        self.lookarounds = Numbered[LookaroundState]()
        self.arrivals = Numbered[Arrival]()
        self._rows: dict[int, tuple[int, ...]] = {}
        self.start = cache(self._new_start)
        """The state before a token, by context and lookaround; DEAD if no token may follow and the text may not end."""
        self._first_threads = cache(self._new_first_threads)
        self._behind_row = cache(self._new_behind_row)
        self._thread_row = cache(self._new_thread_row)
        self._obligation_row = cache(self._new_obligation_row)
        self._keyword_row = cache(self._new_keyword_row)
        self._obligations = Obligations(self.matcher, lambda *key: self._obligation_row(*key).entries)
        self._steps: dict[_Step, _Step] = {_NO_STEP: _NO_STEP}
        self._obligation_sets: dict[frozenset[Obligation], frozenset[Obligation]] = {}
        self.lock = machine_lock()
        self.no_arrival = self._arrival(Arrival(DEAD, ()))
        self.initial_lookaround = self.lookarounds.number(LookaroundState(NO_OBLIGATIONS, self.matcher.beginning()))

    def _begin_keywords(self, nodes: Sequence[int]) -> dict[tuple[int, int], int]:
        """Return the frame of each keyword of each terminal; its goal is numbered after those of the terminals."""
        replaced = [item for context in self.contexts for item in context.keywords.items()]
        pairs = [(terminal, keyword) for terminal, keywords in replaced for keyword in keywords]
        self._keyword_goals = list(dict.fromkeys(pairs))
        return {
            goal: self.matcher.enter(nodes[goal[1]], self.matcher.end(place))
            for place, goal in enumerate(self._keyword_goals, len(self.terminals))
        }

    def _new_start(self, context: int, lookaround: int) -> int:
        tried, behind = self.contexts[context], self.lookarounds[lookaround].behind
        threads = [self._first_threads(terminal, behind) for terminal in tried.terminals]
        keywords = [
            Thread(self._keyword_frames[terminal, keyword])
            for terminal, replacements in tried.keywords.items()
            for keyword in replacements
        ]
        new_keywords = self.matcher.unfolded_frames(keywords, behind)
        return self._state(_State(True, tuple(filter(None, threads)), new_keywords, self.lookarounds[lookaround]))

    def _new_first_threads(self, terminal: int, behind: frozenset[int]) -> Threads:
        """Return the threads of a terminal before its first byte."""
        return tuple(self.matcher.unfold([Thread(self._first_frames[terminal])], behind, is_ordered=True))

    def may_end(self, state: int) -> bool:
        """Tell whether a text may end in a state, if the parser lets it."""
        progress = self.states[state]
        return progress.is_fresh and self.matcher.are_met_at_end(progress.lookaround.obligations)

    def row(self, state: int) -> tuple[int, ...]:
        """Return for each byte the number of its arrival; `no_arrival` for none."""
        row = self._rows.get(state)
        if row is None:
            if len(self._rows) >= MAX_STATES:
                raise GrammarError(
                    f"The lexer of the grammar needs more than {MAX_STATES:,} states",
                    remedy="Repeat less in the terminals, and let them begin differently.",
                )
            row = self._rows[state] = self._new_row(self.states[state])
        return row

    @property
    def has_room(self) -> bool:
        """Whether at most half of the states allowed have rows."""
        return 2 * len(self._rows) <= MAX_STATES

    def _new_row(self, state: _State) -> tuple[int, ...]:
        behind = state.lookaround.behind
        thread_rows = [self._thread_row(threads, behind) for threads in state.threads]
        rows: list[_ByteRow[Any]] = [
            self._behind_row(behind),
            *thread_rows,
            *(self._obligation_row(obligation, behind) for obligation in state.lookaround.obligations),
            *map(self._keyword_row, state.keywords),
            columns := self._columns_after(state),
        ]
        known: dict[tuple[int, ...], int] = {}
        row: list[int] = []
        for byte, end in pairwise(sorted(frozenset[int]().union(*(each.borders for each in rows)))):
            key = tuple([id(each.entries[byte]) for each in rows])  # equal entries of a row are one object
            arrival = known.get(key)
            if arrival is None:
                steps = [row_of_steps.entries[byte] for row_of_steps in thread_rows]
                arrival = known[key] = self._after(state, byte, steps, columns.entries[byte])
            row += [arrival] * (end - byte)
        return tuple(row)

    def _row_by_classes(self, frames: Iterable[int], compute: Callable[[int], T]) -> _ByteRow[T]:
        """Return a result for each byte, computed once for bytes that no frame tells apart."""
        borders = frozenset({0, 256}).union(*map(self.matcher.borders, frames))
        entries: list[T] = []
        for low, end in pairwise(sorted(borders)):
            entries += [compute(low)] * (end - low)
        return _ByteRow(borders, entries)

    def _new_behind_row(self, behind: frozenset[int]) -> _ByteRow[frozenset[int]]:
        """Return for each byte the frames for lookbehinds after it."""
        interned: dict[frozenset[int], frozenset[int]] = {}

        def frames_after(byte: int) -> frozenset[int]:
            frames = self.matcher.behind_after(behind, byte)
            return interned.setdefault(frames, frames)

        return self._row_by_classes(behind, frames_after)

    def _new_thread_row(self, threads: Threads, behind: frozenset[int]) -> _ByteRow[_Step]:
        """Return for each byte the step of the threads of one terminal."""
        frames = [*self._frames_of(threads), *behind]
        return self._row_by_classes(frames, lambda byte: self._step_of(threads, behind, byte))

    def _step_of(self, threads: Threads, behind: frozenset[int], byte: int) -> _Step:
        matcher, after = self.matcher, self._behind_row(behind).entries[byte]
        moved = self._moved(threads, behind, byte)
        if not moved:
            return _NO_STEP
        alive: list[Thread] = []
        matches: list[_Match] = []
        is_decided = False
        for frame, obligations in matcher.unfold(moved, after, is_ordered=True):
            if not matcher.is_end(frame):
                alive.append(Thread(frame, obligations))
                continue
            if matcher.goal[frame] > _AFTER_TOKEN:
                matches.append(_Match(tuple(alive), obligations))
            is_decided = not obligations
            alive += [] if is_decided else [Thread(self._after_token_frames[self._goal_of(threads)], obligations)]
        step = _Step(tuple(alive), tuple(matches), is_decided)
        return self._steps.setdefault(step, step)

    def _new_obligation_row(
        self, obligation: Obligation, behind: frozenset[int]
    ) -> _ByteRow[frozenset[Obligation] | None]:
        """Return for each byte what is left of an obligation, None if it is violated."""

        def left_after(byte: int) -> frozenset[Obligation] | None:
            moved = self._moved(obligation.threads, behind, byte)
            left = self.matcher.obligation_of(obligation.is_positive, moved, self._behind_row(behind).entries[byte])
            return None if left is None else self._obligation_sets.setdefault(left, left)

        return self._row_by_classes([*self._frames_of(obligation.threads), *behind], left_after)

    def _moved(self, threads: Iterable[Thread], behind: frozenset[int], byte: int) -> list[Thread]:
        """Return the threads after a byte, in the same order; one at its end stays while its obligations are open."""
        moved = []
        for frame, obligations in threads:
            after = frame if self.matcher.is_end(frame) else self.matcher.after(frame, byte)
            left = None if after < 0 else self._obligations_after(obligations, behind, byte)
            if left is not None:
                moved.append(Thread(after, left))
        return moved

    def _obligations_after(
        self, obligations: frozenset[Obligation], behind: frozenset[int], byte: int
    ) -> frozenset[Obligation] | None:
        left = NO_OBLIGATIONS
        for obligation in obligations:
            left_of_one = self._obligation_row(obligation, behind).entries[byte]
            if left_of_one is None:
                return None
            left = left | left_of_one if left else left_of_one
        return left

    def _new_keyword_row(self, frame: int) -> _ByteRow[int]:
        """Return for each byte the frame of a keyword after it, -1 if there is none."""
        return self._row_by_classes([frame], lambda byte: self.matcher.after(frame, byte))

    def _frames_of(self, threads: Iterable[Thread]) -> list[int]:
        frames, waiting = [], list(threads)
        while waiting:
            frame, obligations = waiting.pop()
            frames.append(frame)
            waiting += [thread for _, more in obligations for thread in more]
        return frames

    def _after(self, state: _State, byte: int, steps: Sequence[_Step], column: int) -> int:
        """Return the arrival of a byte, given the steps of the threads of each terminal, and the column after it."""
        behind = self._behind_row(state.lookaround.behind).entries[byte]
        obligations = self._obligations_after(state.lookaround.obligations, state.lookaround.behind, byte)
        if obligations is None or all(step is _NO_STEP for step in steps):
            return self.no_arrival
        frames = [self._keyword_row(frame).entries[byte] for frame in state.keywords]
        keywords = self.matcher.unfolded_frames([Thread(frame) for frame in frames if frame >= 0], behind)
        tokens: list[Token] = []
        alive: list[Threads] = []
        denied = obligations
        for threads, step in zip(state.threads, steps, strict=True):
            for preferred, match_obligations in step.matches:
                left = self._obligations.simplest(denied | match_obligations | self._denial(preferred), behind)
                if left is not None:
                    terminal = self._terminal(self._goal_of(threads), keywords, column)
                    tokens.append(Token(terminal, self.lookarounds.number(LookaroundState(left, behind))))
            if step.threads:
                alive.append(step.threads)
                denied |= self._denial(step.threads)
            if step.is_decided:
                break
        while alive and all(self.matcher.is_end(frame) for frame, _ in alive[-1]):
            alive.pop()
        if not alive:
            return self._arrival(Arrival(DEAD, tuple(tokens)))
        goals = set(map(self._goal_of, alive))
        unread = [frame for frame in keywords if not self.matcher.is_end(frame) and self._keyword(frame)[0] in goals]
        column = column if self._may_end_line(alive) else _NO_LINE_FEED
        new = _State(False, tuple(alive), frozenset(unread), LookaroundState(obligations, behind), column)
        return self._arrival(Arrival(self._state(new), tuple(tokens)))

    def _goal_of(self, threads: Threads) -> int:
        goal = self.matcher.goal[threads[0].frame]
        return _AFTER_TOKEN - goal if goal <= _AFTER_TOKEN else goal

    def _denial(self, threads: Threads) -> frozenset[Obligation]:
        return frozenset({Obligation(False, frozenset(threads))}) if threads else NO_OBLIGATIONS

    def _terminal(self, terminal: int, keywords: frozenset[int], column: int) -> int:
        """Return the terminal of a token, given the keywords that match all of it."""
        if self.terminals[terminal].is_ignored:
            return IGNORED
        ended = [self._keyword(frame) for frame in keywords if self.matcher.is_end(frame)]
        terminal = min((keyword for replaced, keyword in ended if replaced == terminal), default=terminal)
        if self.indentation is not None and terminal == self.indentation.line_end:
            return self.indentation.line_ends + column
        return terminal

    def _may_end_line(self, threads: Iterable[Threads]) -> bool:
        line_end = None if self.indentation is None else self.indentation.line_end
        return line_end is not None and line_end in map(self._goal_of, threads)

    def _columns_after(self, state: _State) -> _ByteRow[int]:
        """Return for each byte the width of the blanks behind the last line feed."""
        if self.indentation is None or not self._may_end_line(state.threads):
            return _NO_COLUMNS
        columns = [state.column] * 256
        if state.column != _NO_LINE_FEED:
            columns[0x09] += self.indentation.tab_width
            columns[0x20] += 1
        columns[0x0A] = 0
        return _ByteRow(_COLUMN_BORDERS, columns)

    def _keyword(self, frame: int) -> tuple[int, int]:
        """Return the terminal that a keyword may replace, and the keyword."""
        return self._keyword_goals[self.matcher.goal[frame] - len(self.terminals)]

    def _state(self, new: _State) -> int:
        number = self.states.number(new)
        for added in range(len(self.expected), len(self.states)):
            self.expected.append(tuple(self._expected(self.states[added]).items()))
        for added in range(self.tables.state_count, len(self.expected)):
            self.tables.add_state(self.expected[added], self.may_end(added), self.states[added].column)
        return number

    def _arrival(self, new: Arrival) -> int:
        number = self.arrivals.number(new)
        for added in range(self.tables.arrival_count, len(self.arrivals)):
            self.tables.add_arrival(self.arrivals[added].state, self.arrivals[added].tokens)
        return number

    def _expected(self, state: _State) -> dict[int, int]:
        """Return the terminals that a token may become, each with the least number of bytes that it takes."""
        least_bytes: dict[int, int] = {}
        reachable = set()
        for threads in state.threads:
            goal = self._goal_of(threads)
            reachable.add(goal)
            terminal = IGNORED if self.terminals[goal].is_ignored else goal
            unread = (self.matcher.shortest[frame] for frame, _ in threads if not self.matcher.is_end(frame))
            least_bytes[terminal] = min(*unread, FAR, least_bytes.get(terminal, FAR))
        for frame in state.keywords:
            terminal, keyword = self._keyword(frame)
            if terminal in reachable and not self.terminals[terminal].is_ignored:
                least_bytes[keyword] = min(least_bytes.get(keyword, FAR), self.matcher.shortest[frame])
        return least_bytes


def _node(expressions: Expressions, terminal: Terminal) -> int:
    """Return the node of a terminal. Raises GrammarError for what no automaton can read."""
    try:
        return expressions.add(terminal.expression)
    except PatternError as error:
        raise GrammarError(f"{error.problem}, in the terminal {terminal.name}", remedy=error.remedy) from error
