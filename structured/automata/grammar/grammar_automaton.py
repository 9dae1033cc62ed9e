"""The lazy deterministic automaton of a context-free grammar over bytes.

This is section 4 of Willard & Louf ("Efficient Guided Generation for Large Language Models", 2023). A configuration is
a state of the lexer and a stack of the parser. A state of the automaton is a set of configurations, mostly one or two,
since the rest of the text may decide where a token ends. Configurations without a completion are dropped. A* finds the
shortest completion (Hart, Nilsson and Raphael, 1968); the estimate is the least that lexer and parser need. All
distances found are kept, so that the next search takes a few steps.

`tests/support/plain_grammar.py` is the same in plain Python. Here only the lexer is Python, because a text soon reaches
no new states of it; new stacks come as long as a text goes on, so the rest are compiled loops.
"""

import hashlib
from collections.abc import Callable, Sequence
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from structured.automata.byte_automaton import DEAD, UNKNOWN, StringRun
from structured.automata.grammar.lark_grammar import Tables
from structured.automata.grammar.lexer import Lexer
from structured.automata.grammar.machine_layout import (
    LIMITS,
    MAX_SEARCHED,
    EmptyGrammarError,
    Remainders,
    SearchedTooFarError,
    collected,
    new_machine,
)
from structured.automata.grammar.vocabulary_walks import TokenEnds, TokenWalks
from structured.automata.regular import Limits, MachineAutomaton, loops_of
from structured.errors import GrammarError
from structured.vocabulary.trie import Trie

if TYPE_CHECKING:
    from structured.automata.loops.grammar_machine import GrammarMachine

MAX_TOKEN_WALKS = 5_000
"""The most walks of tokens, each for a state of the lexer and a set of nodes of a trie."""


class GrammarAutomaton(MachineAutomaton):
    """The automaton of the texts of a grammar; follows the `Automaton` protocol.

    Each text begins with `prefix` and has no byte of `absent`. Raises GrammarError if there are no texts.
    """

    _loops = "grammar_states"

    def __init__(  # noqa: PLR0913  what tells it from others
        self,
        tables: Tables,
        *,
        prefix: bytes = b"",
        absent: frozenset[int] = frozenset(),
        limits: Limits = LIMITS,
        max_searched: int = MAX_SEARCHED,
        lexer: Lexer | None = None,
    ) -> None:
        self.tables = tables
        self.prefix = prefix
        self.absent = absent
        self.limits = limits
        self.max_searched = max_searched
        self.lexer = (
            Lexer(tables.terminals, tables.contexts, indentation=tables.indentation) if lexer is None else lexer
        )
        self._lock = Lock()
        self._began = 0.0
        self._kept = 0
        self._enough = limits.bytes // 4
        widths = self.lexer.widths
        widths = [*widths, *[0] * (tables.end_symbol - len(widths))]  # none of those that no text makes
        self._remainders = Remainders(tables, widths, self.lexer.blank_width)
        self._token_ends = TokenEnds(self.lexer, absent)
        self._token_walks: dict[int, TokenWalks] = {}
        self._told = {"arrivals": 0, "tokens": 0, "states": 0, "expected": 0, "token_ends": 0}
        self._machine: GrammarMachine = new_machine(tables, absent, self._facts())
        self._weighed = self._machine
        loops, first = loops_of("grammar_states"), tables.start
        self.start = self._until_done(lambda: loops.begin(self._machine, first, self.lexer.beginning))
        if self.start == DEAD:
            raise EmptyGrammarError
        for byte in reversed(prefix):
            after = self.start
            self.start = self._until_done(lambda: loops.before(self._machine, after, byte))  # noqa: B023  called now

    def __repr__(self) -> str:
        return f"GrammarAutomaton({len(self.tables.terminals)} terminals, states={self._states_used})"

    @property
    def fingerprint(self) -> bytes | None:
        """A digest of the tables."""
        return hashlib.sha256(repr((self.tables, self.prefix, sorted(self.absent))).encode()).digest()

    def with_prefix(self, text: str) -> "GrammarAutomaton":
        """Return the automaton of the same texts, each with some text in front."""
        return self._changed(text.encode() + self.prefix, self.absent)

    def without_bytes(self, absent: frozenset[int]) -> "GrammarAutomaton | None":
        """Return the automaton of the same texts but for those in which some bytes occur; see the protocol."""
        if not absent.isdisjoint(self.prefix):
            return None
        try:
            return self._changed(self.prefix, self.absent | absent)
        except EmptyGrammarError:
            return None

    def _changed(self, prefix: bytes, absent: frozenset[int]) -> "GrammarAutomaton":
        return GrammarAutomaton(
            self.tables,
            prefix=prefix,
            absent=absent,
            limits=self.limits,
            max_searched=self.max_searched,
            lexer=self.lexer if self.lexer.has_room else None,
        )

    def reset(self) -> "GrammarAutomaton":
        """Return a new automaton of the same texts with the same lexer."""
        return self._changed(self.prefix, self.absent)

    @property
    def table(self) -> NDArray[np.int32]:
        """The successors that are known; shape (states, 256)."""
        return self._machine.table

    @property
    def nbytes(self) -> int:
        """The memory that the tables and what has been walked so far take."""
        return sum(int(array.nbytes) for array in self._machine)

    @property
    def is_exhausted(self) -> bool:
        """Whether half of a limit is used up; see the protocol."""
        is_large = 2 * self._states_used > self.limits.states or 2 * self._kept > self.limits.bytes
        return is_large or not self.lexer.has_room

    def walk(self, trie: Trie, state: int, mask: NDArray[np.uint32]) -> int:
        """Set the bits of the tokens of a trie that may follow; see the protocol."""
        return self._until_done(lambda: self._walk(trie, state, mask))

    def _walk(self, trie: Trie, state: int, mask: NDArray[np.uint32]) -> int:
        farthest, node = 0, np.zeros(1, dtype=np.int32)
        while not self._members(state):  # in the prefix, where one byte may follow
            byte = int(np.flatnonzero(self._machine.table[state] != DEAD)[0])
            state = int(self._machine.table[state, byte])
            below = range(trie.first[node[0]], trie.first[node[0] + 1])
            node[0] = next((child for child in below if trie.byte[child] == byte), 0)
            if not node[0]:
                return farthest
            farthest = max(farthest, self._mark(trie, node[0], state, mask))
        return max(farthest, self._walk_from(trie, self._members(state), node, mask))

    def _members(self, state: int) -> list[int]:
        """Return the configurations of a state; none for one within the prefix."""
        first, count = self._machine.states[state].tolist()
        members: list[int] = self._machine.members[first : first + count].tolist()
        return members

    def _mark(self, trie: Trie, node: int, state: int, mask: NDArray[np.uint32]) -> int:
        """Set the bits of the tokens at a node, which lead to a state; return its distance if there are some."""
        token_ids = trie.token_ids[trie.token_start[node] : trie.token_start[node + 1]]
        np.bitwise_or.at(mask, token_ids >> 5, np.uint32(1) << (token_ids & 31).astype(np.uint32))
        return int(self._machine.distances[state]) if len(token_ids) else 0

    def _walk_from(self, trie: Trie, currents: list[int], nodes: NDArray[np.int32], mask: NDArray[np.uint32]) -> int:
        """Set the bits of the tokens below some nodes that may follow configurations.

        Returns a distance that no state after one exceeds.
        """
        loops, machine, table = loops_of("token_walks"), loops_of("grammar_machine"), loops_of("machine")
        walks = self._token_walks.setdefault(id(trie), TokenWalks(trie))  # which keeps its id from another trie
        number = walks.set_of(nodes)
        waiting = np.array([(current, number) for current in currents], dtype=np.int32)
        few, ends = (np.zeros((count, 2), dtype=np.int32) for count in (1024, walks.longest))
        progress = np.array([0, 0, len(currents), 0], dtype=np.int32)

        def walk() -> int:
            nonlocal waiting, few, ends
            while True:
                answer: int = loops.walk_on(self._machine, walks.arrays, waiting, few, ends, mask, progress)
                if answer == machine.NEEDS_WALK and walks.count < MAX_TOKEN_WALKS:
                    current, below = waiting[progress[loops.WAITING] - 1].tolist()
                    self._add_token_walk(walks, int(self._machine.configurations[current, 0]), below)
                    ends = np.zeros((walks.longest, 2), dtype=np.int32)
                elif answer == machine.NEEDS_WALK:
                    progress[loops.WAITING] -= 1
                    current, below = waiting[progress[loops.WAITING]].tolist()
                    more = np.array([(current, node) for node in walks.nodes_of(below).tolist()], dtype=np.int32)
                    few = np.concatenate([few[: progress[loops.FEW]], more, np.zeros_like(few)])
                    progress[loops.FEW] += len(more)
                elif answer == machine.MORE_FOUND:
                    waiting, few = (np.concatenate([array, np.zeros_like(array)]) for array in (waiting, few))
                else:
                    return answer

        self._grown_until_done(walk)
        few = few[: progress[loops.FEW]]
        farthest = int(progress[table.FARTHEST])
        return max(farthest, self._walk_below(trie, few, mask)) if len(few) else farthest

    def _walk_below(self, trie: Trie, starts: NDArray[np.int32], mask: NDArray[np.uint32]) -> int:
        """Set the bits of the tokens that may follow configurations, each below its node, step by step."""
        loops, table = loops_of("token_walks"), loops_of("machine")
        arrays, path, progress = table.walk_from(trie, *starts.T)

        def walk() -> int:
            nonlocal path
            while True:
                answer: int = loops.walk_configurations(arrays, self._machine, path, mask, progress)
                if answer != loops.MORE_FOUND:
                    return answer
                path = np.concatenate([path, np.zeros_like(path)])

        self._grown_until_done(walk)
        return int(progress[table.FARTHEST])

    def _add_token_walk(self, walks: TokenWalks, lexer: int, number: int) -> None:
        """Find what tokens do below a set of nodes in a state of the lexer."""
        trie, nodes = walks.trie, walks.nodes_of(number)
        loops, table, machine = loops_of("token_walks"), loops_of("machine"), loops_of("grammar_machine")
        arrays, path, progress = table.walk_from(trie, lexer, nodes[::-1])
        found = np.zeros((1024, 2), dtype=np.int32)

        def walk() -> int:
            nonlocal found
            while True:
                rows, arrivals = self._machine.rows, self._machine.arrivals
                answer: int = loops.walk_lexer(arrays, rows, arrivals, path, found, progress)
                if answer != loops.MORE_FOUND:
                    self._machine.sizes[machine.ASKED] = path[progress[table.LEVEL], table.STATE]
                    return answer
                found = np.concatenate([found, np.zeros_like(found)])

        self._grown_until_done(walk)
        found = found[: progress[loops.FOUND]]
        with self.lexer.lock:
            walks.add(lexer, number, found, self.lexer, self._token_ends.of)
            self._tell_states()

    def string_run(self, state: int, *, longest: int, special: int) -> StringRun | None:  # noqa: ARG002
        """Return None: no string runs are known."""
        return None

    def without_counters(self, state: int, length: int) -> int:  # noqa: ARG002
        """Return the state itself: no counters are known."""
        return state

    def _facts(self) -> dict[int, int]:
        machine, indentation = loops_of("grammar_machine"), self.tables.indentation
        facts = {
            machine.END_SYMBOL: self.tables.end_symbol,
            machine.END_STATE: self.tables.end,
            machine.MAX_STATES: self.limits.states,
            machine.MAX_SEARCHED: self.max_searched,
            machine.BLANK_WIDTH: self.lexer.blank_width,
        }
        if indentation is not None:
            facts |= {
                machine.LINE_END: indentation.line_end,
                machine.INDENT: indentation.indent,
                machine.DEDENT: indentation.dedent,
                machine.LINE_ENDS: indentation.line_ends,
            }
        return facts

    @property
    def _states_used(self) -> int:
        return int(self._machine.sizes[loops_of("grammar_machine").STATES_USED])

    def _until_done(self, call: Callable[[], int]) -> int:
        """Return the result of a call, one thread at a time, within the seconds of the limits."""
        with self._lock:
            self._began = loops_of("jit").clock()
            if self._machine is not self._weighed:  # an array has grown
                self._weighed = self._machine
                if self.nbytes > self._enough:
                    self._collect()
            return self._grown_until_done(call)

    def _collect(self) -> None:
        """Drop all that no state needs; again after as much growth, or a quarter of the limit."""
        lacks = loops_of("grammar_machine")
        machine = collected(self._machine)
        for lack in (lacks.MORE_STACKS, lacks.MORE_PLACES, lacks.MORE_CONFIGURATIONS):
            loops_of("grammar_states").rehash(machine, lack)
        self._machine = machine
        self._kept = self.nbytes
        self._enough = self._kept + max(self._kept, self.limits.bytes // 4)

    def _grown_until_done(self, loop: Callable[[], int]) -> int:
        """Call a loop until it returns a result; after each code, grow an array or fill in rows of the lexer."""
        clock, machine = loops_of("jit").clock, loops_of("grammar_machine")
        while (answer := loop()) < UNKNOWN:
            if answer == machine.NEEDS_ROW:
                self._tell_row(int(self._machine.sizes[machine.ASKED]))
            elif answer == machine.NEEDS_EXITS:
                self._tell_token_ends(int(self._machine.sizes[machine.ASKED]))
            elif answer == machine.NEEDS_START:
                sizes = self._machine.sizes
                self._tell_start(int(sizes[machine.ASKED]), int(sizes[machine.ASKED_TOO]))
            elif answer == machine.NEEDS_COLUMN:
                column = int(self._machine.sizes[machine.ASKED])
                self._room("rests", column + 1)
                self._machine.rests[column] = self._remainders.at(column)
            elif answer == machine.TOO_FAR:
                raise SearchedTooFarError
            else:
                self._grow(answer)
            if clock() - self._began > self.limits.seconds:
                raise self._too_costly(f"more than {self.limits.seconds:g} seconds for one byte or mask")
        return answer

    def _tell_row(self, state: int) -> None:
        """Copy the row of a lexer state to the machine."""
        with self.lexer.lock:
            row = self.lexer.row(state)
            self._room("rows", state + 1)
            self._tell_states()
        self._machine.rows[state] = row

    def _tell_token_ends(self, state: int) -> None:
        with self.lexer.lock:
            token_ends, is_complete = self._token_ends.of(state)
            self._tell_states()
        first = self._told["token_ends"]
        self._append("token_ends", token_ends)
        self._room("token_ends_of", state + 1)
        self._machine.token_ends_of[state] = first, -1 if is_complete and not token_ends else len(token_ends), 0

    def _tell_start(self, context: int, rest: int) -> None:
        """Copy the lexer state before a token to the machine."""
        with self.lexer.lock:
            state = self.lexer.start(context, rest)
            self._tell_states()
        starts = self._machine.starts
        if rest >= starts.shape[1]:
            wider = np.full((len(starts), 2 * rest), UNKNOWN, dtype=np.int32)
            wider[:, : starts.shape[1]] = starts
            self._machine = self._machine._replace(starts=wider)
        self._machine.starts[context, rest] = state

    def _tell_states(self) -> None:
        """Copy new states and arrivals of the lexer to the machine."""
        lexer, told = self.lexer, self._told
        arrivals = lexer.arrivals[told["arrivals"] :]
        tokens: list[tuple[int, ...]] = [token for _, more in arrivals for token in more]
        self._append("tokens", tokens)
        first = told["tokens"] - len(tokens)
        rows: list[tuple[int, ...]] = []
        for state, more in arrivals:
            rows.append((state, first, len(more)))
            first += len(more)
        self._append("arrivals", rows)
        first = told["expected"]
        expected: list[tuple[int, ...]] = []
        lexed: list[tuple[int, ...]] = []
        for state in range(told["states"], len(lexer.states)):
            here = lexer.expected[state]
            lexed.append((first, len(here), int(lexer.may_end(state)), lexer.states[state].column))
            first += len(here)
            expected += here
        self._append("expected", expected)
        self._append("lexed", lexed, "states")

    def _append(self, name: str, rows: Sequence[tuple[int, ...]], count: str = "") -> None:
        """Append rows to an array of the machine."""
        told = self._told[count or name]
        self._room(name, told + len(rows))
        if rows:
            getattr(self._machine, name)[told : told + len(rows)] = rows
        self._told[count or name] = told + len(rows)

    def _room(self, name: str, count: int) -> None:
        self._machine = loops_of("grammar_machine").with_room(self._machine, name, count)

    def _grow(self, lack: int) -> None:
        """Double the array that is full. Raises GrammarError if that would exceed the limits."""
        loops = loops_of("grammar_machine")
        if lack == loops.MORE_STATES and self._states_used >= self.limits.states:
            raise self._too_costly(f"more than {self.limits.states:,} states")
        if self.nbytes + sum(getattr(self._machine, name).nbytes for name in loops.GROWING[lack]) > self.limits.bytes:
            raise self._too_costly(f"more than {self.limits.bytes:,} bytes")
        machine = loops.grown(self._machine, lack)
        loops_of("grammar_states").rehash(machine, lack)
        self._machine = machine

    def _too_costly(self, what: str) -> GrammarError:
        return GrammarError(
            f"The automaton of the grammar needs {what}",
            remedy="Repeat less in the terminals, and let them begin differently.",
        )
