"""The lazy deterministic automaton of a context-free grammar over bytes.

This is section 4 of Willard & Louf ("Efficient Guided Generation for Large Language Models", 2023). A configuration is
a state of the lexer and a stack of the parser. A state of the automaton is a set of configurations, mostly one or two,
since the rest of the text may decide where a token ends. Configurations without a completion are dropped. A* finds the
shortest completion (Hart, Nilsson and Raphael, 1968); the estimate is the least that lexer and parser need. All
distances found are kept, so that the next search takes a few steps.

`tests/support/plain_grammar.py` is the same in plain Python. Here only the lexer is Python, because a text soon reaches
no new states of it; new stacks come as long as a text goes on, so all else is compiled loops.
"""

import hashlib
from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from structured.automata.byte_automaton import DEAD, UNKNOWN
from structured.automata.grammar.initial_machine import Remainders, new_machine
from structured.automata.grammar.lark_grammar import ParserTables
from structured.automata.grammar.lexer import Lexer
from structured.automata.grammar.vocabulary_walks import TokenEnds, TokenWalks
from structured.automata.loops import grammar_machine, grammar_states, jit
from structured.automata.loops.machine import LEVEL, MAX_DISTANCE, STATE, start_walk
from structured.automata.loops.token_walks import (
    ARRIVAL_COUNT,
    NODE_COUNT,
    PENDING_COUNT,
    walk_configurations,
    walk_lexer,
    walk_pending,
)
from structured.automata.regular import Limits, MachineAutomaton
from structured.errors import GrammarError
from structured.vocabulary.trie import Trie

LIMITS = Limits(seconds=120.0)
"""The default limits of a grammar: those of other automata, but with more seconds, which count for one call alone."""

MAX_SEARCHED = 20_000
"""The most configurations that one search visits."""

MAX_TOKEN_WALKS = 5_000
"""The most walks of tokens, each for a state of the lexer and a set of nodes of a trie."""


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


class GrammarAutomaton(MachineAutomaton):
    """The automaton of the texts of a grammar; follows the `Automaton` protocol.

    Each text begins with `prefix` and has no byte of `absent`. Raises GrammarError if there are no texts.
    """

    _loops: ClassVar[Any] = grammar_states

    def __init__(  # noqa: PLR0913  what tells it from others
        self,
        tables: ParserTables,
        *,
        prefix: bytes = b"",
        absent: frozenset[int] = frozenset(),
        limits: Limits = LIMITS,
        max_searched: int = MAX_SEARCHED,
        lexer: Lexer | None = None,
    ) -> None:
        self.parser_tables = tables
        self.prefix = prefix
        self.absent = absent
        self.limits = limits
        self.max_searched = max_searched
        self.lexer = lexer or Lexer(tables.terminals, tables.contexts, indentation=tables.indentation)
        self._lock = Lock()
        self._began = 0.0
        self._bytes_kept = 0
        """The bytes of the machine after the last collection of what no state needs."""
        self._collection_threshold = limits.bytes // 4
        """The bytes past which there is a collection again."""
        widths = self.lexer.shortest_matches
        widths = [*widths, *[0] * (tables.end_symbol - len(widths))]  # none of those that no text makes
        self._remainders = Remainders(tables, widths, self.lexer.blank_width)
        self._token_ends = TokenEnds(self.lexer, absent)
        self._token_walks: dict[int, TokenWalks] = {}
        self._copied = dict.fromkeys(("arrivals", "tokens", "lexer_states", "expected", "token_ends"), 0)
        """How many of the lexer's items the machine has copies of, by the name of the array."""
        facts = limits.states, max_searched, self.lexer.blank_width
        self._machine: grammar_machine.GrammarMachine = new_machine(tables, absent, facts)
        self._weighed_machine = self._machine
        lookaround = self.lexer.initial_lookaround
        self.start = self._run_locked(lambda: grammar_states.begin(self._machine, tables.start, lookaround))
        if self.start == DEAD:
            raise EmptyGrammarError
        for byte in reversed(prefix):
            after = self.start
            self.start = self._run_locked(lambda: grammar_states.prepend_byte(self._machine, after, byte))  # noqa: B023  called now

    def __repr__(self) -> str:
        return f"GrammarAutomaton({len(self.parser_tables.terminals)} terminals, states={self._states_used})"

    @property
    def fingerprint(self) -> bytes | None:
        """A digest of the tables, the prefix and the absent bytes."""
        return hashlib.sha256(repr((self.parser_tables, self.prefix, sorted(self.absent))).encode()).digest()

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
            self.parser_tables,
            prefix=prefix,
            absent=absent,
            limits=self.limits,
            max_searched=self.max_searched,
            lexer=self.lexer if self.lexer.has_room else None,
        )

    def reset(self) -> "GrammarAutomaton":
        """Return a new automaton of the same texts; its lexer is the same as long as that has room."""
        return self._changed(self.prefix, self.absent)

    @property
    def table(self) -> NDArray[np.int32]:
        """The successors that are known; shape (states, 256)."""
        return self._machine.table

    @property
    def nbytes(self) -> int:
        """The memory that the tables, what has been walked so far, and the walks of tokens take."""
        return self._machine_bytes + sum(walks.nbytes for walks in self._token_walks.values())

    @property
    def _machine_bytes(self) -> int:
        """The memory to which the limits apply; the walks of tokens are limited by their number."""
        return sum(int(array.nbytes) for array in self._machine)

    @property
    def is_exhausted(self) -> bool:
        """Whether half of a limit is used up; see the protocol."""
        is_large = 2 * self._states_used > self.limits.states or 2 * self._bytes_kept > self.limits.bytes
        return is_large or not self.lexer.has_room

    def walk(self, trie: Trie, state: int, mask: NDArray[np.uint32]) -> int:
        """Set the bits of the tokens of a trie that may follow; see the protocol."""
        return self._run_locked(lambda: self._walk(trie, state, mask))

    def _walk(self, trie: Trie, state: int, mask: NDArray[np.uint32]) -> int:
        max_distance, node = 0, np.zeros(1, dtype=np.int32)
        while not self._members(state):  # in the prefix, where one byte may follow
            byte = int(np.flatnonzero(self._machine.table[state] != DEAD)[0])
            state = int(self._machine.table[state, byte])
            below = range(trie.first[node[0]], trie.first[node[0] + 1])
            node[0] = next((child for child in below if trie.byte[child] == byte), 0)
            if not node[0]:
                return max_distance
            max_distance = max(max_distance, self._mark(trie, node[0], state, mask))
        return max(max_distance, self._walk_from(trie, self._members(state), node, mask))

    def _members(self, state: int) -> list[int]:
        """Return the configurations of a state; none for one within the prefix."""
        first, count = self._machine.states[state].tolist()
        members: list[int] = self._machine.elements[first : first + count].tolist()
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
        walks = self._token_walks.get(id(trie))
        if walks is None:
            walks = self._token_walks[id(trie)] = TokenWalks(trie)  # which holds the trie, so that no other has its id
        number = walks.set_of(nodes)
        waiting = np.array([(current, number) for current in currents], dtype=np.int32)
        single_nodes, ends = (np.zeros((count, 2), dtype=np.int32) for count in (1024, walks.longest))
        progress = np.array([0, 0, len(currents), 0], dtype=np.int32)

        def walk() -> int:
            nonlocal waiting, single_nodes, ends
            while True:
                answer: int = walk_pending(self._machine, walks.arrays, waiting, single_nodes, ends, mask, progress)
                if answer == grammar_machine.NEEDS_WALK and walks.count < MAX_TOKEN_WALKS:
                    current, below = waiting[progress[PENDING_COUNT] - 1].tolist()
                    self._add_token_walk(walks, int(self._machine.configurations[current, 0]), below)
                    ends = np.zeros((walks.longest, 2), dtype=np.int32)
                elif answer == grammar_machine.NEEDS_WALK:
                    progress[PENDING_COUNT] -= 1
                    current, below = waiting[progress[PENDING_COUNT]].tolist()
                    nodes_below = walks.nodes_of(below)
                    pairs = np.stack([np.full_like(nodes_below, current), nodes_below], axis=1)
                    single_nodes = _doubled(np.concatenate([single_nodes[: progress[NODE_COUNT]], pairs]))
                    progress[NODE_COUNT] += len(pairs)
                elif answer == grammar_machine.MORE_RESULTS:
                    waiting, single_nodes = _doubled(waiting), _doubled(single_nodes)
                else:
                    return answer

        self._run_with_growth(walk)
        single_nodes = single_nodes[: progress[NODE_COUNT]]
        farthest = int(progress[MAX_DISTANCE])
        return max(farthest, self._walk_step_by_step(trie, single_nodes, mask)) if len(single_nodes) else farthest

    def _walk_step_by_step(self, trie: Trie, starts: NDArray[np.int32], mask: NDArray[np.uint32]) -> int:
        """Set the bits of the tokens that may follow configurations, each below its node, step by step."""
        arrays, path, progress = start_walk(trie, *starts.T)

        def walk() -> int:
            nonlocal path
            while True:
                answer: int = walk_configurations(arrays, self._machine, path, mask, progress)
                if answer != grammar_machine.MORE_RESULTS:
                    return answer
                path = _doubled(path)

        self._run_with_growth(walk)
        return int(progress[MAX_DISTANCE])

    def _add_token_walk(self, walks: TokenWalks, lexer: int, number: int) -> None:
        """Find what tokens do below a set of nodes in a state of the lexer."""
        trie, nodes = walks.trie, walks.nodes_of(number)
        arrays, path, progress = start_walk(trie, lexer, nodes[::-1])
        met = np.empty((len(trie.byte), 2), dtype=np.int32)

        def walk() -> int:
            machine = self._machine
            answer: int = walk_lexer(arrays, machine.lexer_rows, machine.arrivals, path, met, progress)
            machine.registers[grammar_machine.REQUESTED] = path[progress[LEVEL], STATE]
            return answer

        self._run_with_growth(walk)
        met = met[: progress[ARRIVAL_COUNT]]
        with self.lexer.lock:
            walks.add(lexer, number, met, self._token_ends)
            self._copy_states()

    @property
    def _states_used(self) -> int:
        return int(self._machine.registers[grammar_machine.STATES_USED])

    def _run_locked(self, call: Callable[[], int]) -> int:
        """Return the result of a call, one thread at a time, within the seconds of the limits."""
        with self._lock:
            self._began = jit.clock()
            if self._machine is not self._weighed_machine:  # an array has grown
                self._weighed_machine = self._machine
                if self._machine_bytes > self._collection_threshold:
                    self._collect()
            return self._run_with_growth(call)

    def _collect(self) -> None:
        """Drop all that no state needs; again after as much growth, or a quarter of the limit."""
        machine = grammar_machine.collect_garbage(self._machine)
        grammar_states.rehash(machine, grammar_machine.MORE_STACKS)
        grammar_states.rehash(machine, grammar_machine.MORE_PARSER_STATES)
        grammar_states.rehash(machine, grammar_machine.MORE_CONFIGURATIONS)
        self._machine = machine
        self._bytes_kept = self._machine_bytes
        self._collection_threshold = self._bytes_kept + max(self._bytes_kept, self.limits.bytes // 4)

    def _run_with_growth(self, loop: Callable[[], int]) -> int:
        """Call a loop until it returns a result; after each code, grow an array or fill in rows of the lexer."""
        while (answer := loop()) < UNKNOWN:
            requested = int(self._machine.registers[grammar_machine.REQUESTED])
            if answer == grammar_machine.NEEDS_ROW:
                self._copy_row(requested)
            elif answer == grammar_machine.NEEDS_TOKEN_ENDS:
                self._copy_token_ends(requested)
            elif answer == grammar_machine.NEEDS_START:
                self._copy_start(requested, int(self._machine.registers[grammar_machine.REQUESTED_REST]))
            elif answer == grammar_machine.NEEDS_COLUMN:
                self._make_room("remainders", requested + 1)
                self._machine.remainders[requested] = self._remainders.at(requested)
            elif answer == grammar_machine.TOO_FAR:
                raise SearchedTooFarError
            else:
                self._grow(answer)
            if jit.clock() - self._began > self.limits.seconds:
                raise self._too_costly(f"more than {self.limits.seconds:g} seconds for one byte or mask")
        return answer

    def _copy_row(self, state: int) -> None:
        """Copy the row of a lexer state to the machine."""
        with self.lexer.lock:
            row = self.lexer.row(state)
            self._make_room("lexer_rows", state + 1)
            self._copy_states()
        self._machine.lexer_rows[state] = row

    def _copy_token_ends(self, state: int) -> None:
        with self.lexer.lock:
            token_ends, is_complete = self._token_ends.of(state)
            self._copy_states()
        first = self._copied["token_ends"]
        self._append("token_ends", token_ends)
        self._make_room("token_ends_of", state + 1)
        self._machine.token_ends_of[state] = first, -1 if is_complete and not token_ends else len(token_ends), 0

    def _copy_start(self, context: int, lookaround: int) -> None:
        """Copy the lexer state before a token to the machine."""
        with self.lexer.lock:
            state = self.lexer.start(context, lookaround)
            self._copy_states()
        starts = self._machine.starts
        if lookaround >= starts.shape[1]:
            wider = np.full((len(starts), 2 * lookaround), UNKNOWN, dtype=np.int32)
            wider[:, : starts.shape[1]] = starts
            self._machine = self._machine._replace(starts=wider)
        self._machine.starts[context, lookaround] = state

    def _copy_states(self) -> None:
        """Copy new states and arrivals of the lexer to the machine."""
        lexer, copied = self.lexer, self._copied
        for state, tokens in lexer.arrivals[copied["arrivals"] :]:
            self._append("arrivals", [(state, copied["tokens"], len(tokens))])
            self._append("tokens", tokens)
        for state in range(copied["lexer_states"], len(lexer.states)):
            expected, may_end = lexer.expected[state], int(lexer.may_end(state))
            self._append("lexer_states", [(copied["expected"], len(expected), may_end, lexer.states[state].column)])
            self._append("expected", expected)

    def _append(self, name: str, rows: Sequence[tuple[int, ...]]) -> None:
        """Append rows to an array of the machine."""
        copied = self._copied[name]
        self._make_room(name, copied + len(rows))
        if rows:
            getattr(self._machine, name)[copied : copied + len(rows)] = rows
        self._copied[name] = copied + len(rows)

    def _make_room(self, name: str, count: int) -> None:
        self._machine = grammar_machine.with_rows(self._machine, name, count)

    def _grow(self, code: int) -> None:
        """Double the array that is full. Raises GrammarError if that would exceed the limits."""
        if code == grammar_machine.MORE_STATES and self._states_used >= self.limits.states:
            raise self._too_costly(f"more than {self.limits.states:,} states")
        growth = sum(int(getattr(self._machine, name).nbytes) for name in grammar_machine.FULL_ARRAYS[code])
        if self._machine_bytes + growth > self.limits.bytes:
            raise self._too_costly(f"more than {self.limits.bytes:,} bytes")
        machine = grammar_machine.grow(self._machine, code)
        grammar_states.rehash(machine, code)
        self._machine = machine

    def _too_costly(self, what: str) -> GrammarError:
        return GrammarError(
            f"The automaton of the grammar needs {what}",
            remedy="Repeat less in the terminals, and let them begin differently.",
        )


def _doubled(rows: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return rows with room for as many behind them."""
    return np.concatenate([rows, np.zeros_like(rows)])
