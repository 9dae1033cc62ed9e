"""The lazy deterministic automaton of a context-free grammar over bytes.

This is section 4 of Willard & Louf ("Efficient Guided Generation for Large Language Models", 2023). A configuration is
a state of the lexer and a stack of the parser. A state of the automaton is a set of configurations, mostly one or two,
since the rest of the text may decide where a token ends. Configurations without a completion are dropped. A* finds the
shortest completion (Hart, Nilsson and Raphael, 1968); the estimate is the least that lexer and parser need. All
distances found are kept, so that the next search takes a few steps.

`tests/support/plain_grammar.py` is the same in plain Python. Here only the lexer is Python, because a text soon reaches
no new states of it; new stacks come as long as a text goes on, so all else is loops.
"""

import hashlib
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from structured.automata.byte_automaton import DEAD
from structured.automata.grammar.lark_grammar import ParserTables
from structured.automata.grammar.lexer import Lexer
from structured.automata.grammar.parser_arrays import Remainders, parser_arrays
from structured.automata.grammar.token_ends import TokenEnd, TokenEnds
from structured.automata.loops import grammar_states
from structured.automata.loops.grammar_machine import GrammarMachine, collect_garbage
from structured.automata.loops.token_walks import TokenWalks, grammar_walk
from structured.automata.regular import Limits, MachineAutomaton, MachineLoops
from structured.automata.thread_clock import thread_seconds
from structured.errors import GrammarError
from structured.machine_code.loop_errors import LimitError
from structured.machine_code.notation import SLOWDOWN
from structured.vocabulary.trie import Trie

T = TypeVar("T")

LIMITS = Limits(seconds=120.0)
"""The default limits of a grammar: those of other automata, but with more seconds, which count for one call alone."""

MAX_SEARCHED = 20_000
"""The most configurations that one search visits."""

MAX_TOKEN_WALKS = 20_000
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


class _Source:
    """What loops ask for; within the seconds of the limits since the loop `began`."""

    def __init__(self, tables: ParserTables, lexer: Lexer, absent: frozenset[int], seconds: float) -> None:
        self.row = lexer.row
        self.start = lexer.start
        self.began = 0.0
        self._seconds = seconds
        self._token_ends = TokenEnds(lexer, absent)
        widths = lexer.shortest_matches
        widths = [*widths, *[0] * (tables.end_symbol - len(widths))]  # none of those that no text makes
        self.remainders = Remainders(tables, widths, lexer.blank_width).at

    def token_ends(self, lexer_state: int) -> tuple[list[TokenEnd], bool]:
        """Return token ends of a state of the lexer, and whether there are no others."""
        return self._token_ends.of(lexer_state)

    def check_time(self) -> None:
        """Raise GrammarError if the time is up."""
        if (thread_seconds() - self.began) / SLOWDOWN > self._seconds:
            raise _too_costly(f"more than {self._seconds:g} seconds for one byte or mask")

    def refuse_search(self) -> None:
        """Raise SearchedTooFarError."""
        raise SearchedTooFarError


class GrammarAutomaton(MachineAutomaton):
    """The automaton of the texts of a grammar; follows the `Automaton` protocol.

    Each text begins with `prefix` and has no byte of `absent`. Raises GrammarError if there are no texts.
    """

    _loops = MachineLoops(grammar_states.grammar_step, grammar_states.grammar_expand)

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
        self._source = _Source(tables, self.lexer, absent, limits.seconds)
        arrays = parser_arrays(tables, absent, self.lexer.blank_width)
        self._machine = GrammarMachine(self.lexer.tables, arrays, limits.states, limits.bytes, max_searched)
        self._token_walks: dict[int, tuple[Trie, TokenWalks]] = {}
        self._bytes_kept = 0
        """The bytes of the machine after the last collection of what no state needs."""
        self._collection_threshold = limits.bytes // 4
        """The bytes past which there is a collection again."""
        self.start = self._run(grammar_states.grammar_begin, tables.start, self.lexer.initial_lookaround)
        if self.start == DEAD:
            raise EmptyGrammarError
        for byte in reversed(prefix):
            self.start = self._run(grammar_states.prepend_byte, self.start, byte)

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
    def nbytes(self) -> int:
        """The memory that the tables, what has been walked so far, and the walks of tokens take."""
        walks = sum(int(walks.nbytes()) for _, walks in self._token_walks.values())
        return int(self._machine.nbytes()) + int(self.lexer.tables.nbytes()) + walks

    @property
    def is_exhausted(self) -> bool:
        """Whether half of a limit is used up; see the protocol."""
        is_large = 2 * self._states_used > self.limits.states or 2 * self._bytes_kept > self.limits.bytes
        return is_large or not self.lexer.has_room

    def walk(self, trie: Trie, state: int, mask: NDArray[np.uint32]) -> int:
        """Set the bits of the tokens of a trie that may follow; see the protocol."""
        if id(trie) not in self._token_walks:
            walks = TokenWalks(trie.arrays, len(trie.byte), trie.arrays.mask_words, MAX_TOKEN_WALKS)
            self._token_walks[id(trie)] = trie, walks
        walks = self._token_walks[id(trie)][1]
        return self._run(lambda machine: grammar_walk(machine, walks, state, mask))

    def _run(self, loop: Callable[..., T], *arguments: Any) -> T:
        """Return the result of a loop, one thread at a time, within the limits."""
        with self.lexer.lock:
            self.lexer.tables.source = self._source
            self._source.began = thread_seconds()
            try:
                if self._machine.nbytes() > self._collection_threshold:
                    self._collect()
                return loop(self._machine, *arguments)
            except LimitError as error:
                raise _too_costly(str(error)) from None

    def _collect(self) -> None:
        """Drop all that no state needs; again after as much growth, or a quarter of the limit."""
        collect_garbage(self._machine)
        self._bytes_kept = int(self._machine.nbytes())
        self._collection_threshold = self._bytes_kept + max(self._bytes_kept, self.limits.bytes // 4)


def _too_costly(what: str) -> GrammarError:
    return GrammarError(
        f"The automaton of the grammar needs {what}",
        remedy="Repeat less in the terminals, and let them begin differently.",
    )
