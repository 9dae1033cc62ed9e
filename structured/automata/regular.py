"""The lazy deterministic automaton of a pattern over bytes, built state by state as it is walked.

What is left to read of a text is a stack of *frames*, each a node of the pattern with the progress in it. Stacks are
interned, so equal stacks are one number. Reading a byte replaces the top frame. A state of the automaton is a set of
stacks whose top frame reads a byte. States are made when a text reaches them: `a{0,100000}` costs one state for each
repetition that is read, since a counter is in the frame and not in copies of the node. These are the partial
derivatives of Antimirov ("Partial derivatives of regular expressions and finite automaton constructions", 1996), with
concatenations kept as a stack. A Thompson construction was rejected, because it must be built completely before the
first step.
"""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from structured.automata import opcodes as op
from structured.automata.byte_automaton import DEAD, ROW_COMPLETE, UNKNOWN, StringParts, StringRun, runs_of_bytes
from structured.automata.loops import replacement_states, state_walks, states, string_parts
from structured.automata.loops.machine import Machine
from structured.automata.loops.machine_locks import machine_lock
from structured.automata.program import Foundation, assemble
from structured.automata.thread_clock import thread_seconds
from structured.errors import PatternError
from structured.machine_code.loop_errors import LimitError, StateNeeded
from structured.machine_code.notation import SLOWDOWN
from structured.regex import Pattern, concat, excerpt, literal, without_bytes
from structured.vocabulary.trie import Trie

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of an automaton since it was made or reset. It raises PatternError if one is exceeded."""

    states: int = 200_000
    """A row of the table takes 1 KiB."""
    bytes: int = 1 << 29
    """The memory of its arrays, tables of hashes aside."""
    seconds: float = 10.0
    """The time for making states; steps up to `UNCOUNTED_SECONDS` do not count."""


LIMITS = Limits()

MAX_PARTS = 16
"""The most states into which a state is split, one for each item that must differ from others."""

UNCOUNTED_SECONDS = 0.01
"""The most seconds of a step that does not count towards a limit. An ordinary walk takes a hundredth of this."""


class MachineLoops(NamedTuple):
    """The loops that make the states of a machine: the successor on a byte, and all of them."""

    step: Callable[[Any, int, int], int]
    expand: Callable[[Any, int], None]


class MachineAutomaton(ABC):
    """An automaton whose states are made by loops, in the table of a machine."""

    _machine: Any
    _loops: ClassVar[MachineLoops]

    @property
    def table(self) -> NDArray[np.int32]:
        """The successors that are known; shape (states, 256)."""
        table: NDArray[np.int32] = self._machine.states.table_array
        return table[: self._machine.states.room()]

    @property
    def distances(self) -> NDArray[np.int32]:
        """The number of bytes in the shortest completion of each state; shape (states,)."""
        distances: NDArray[np.int32] = self._machine.states.distance_array
        return distances

    def accepts(self, state: int) -> bool:
        """Tell whether the bytes read so far are a whole text of the language; False for DEAD."""
        return state != DEAD and bool(self.distances[state] == 0)

    def step(self, state: int, byte: int) -> int:
        """Return the successor of a state, or DEAD; that of DEAD is DEAD."""
        if state == DEAD or byte == ROW_COMPLETE:
            return DEAD
        if not (0 <= state < self._states_used and 0 <= byte < ROW_COMPLETE):
            raise IndexError(f"There is no state {state}, or no byte {byte}.")
        target = int(self._machine.states.table_array[state, byte])
        return target if target != UNKNOWN else self._run(self._loops.step, state, byte)

    def expand(self, state: int) -> None:
        """Fill the row of a state."""
        self._run(self._loops.expand, state)

    @abstractmethod
    def _run(self, loop: Callable[..., T], *arguments: Any) -> T:
        """Return the result of a loop, one thread at a time."""

    @property
    def _states_used(self) -> int:
        return int(self._machine.states.count())


class RegularAutomaton(MachineAutomaton):
    """The lazy deterministic automaton of a pattern; follows the `Automaton` protocol.

    Patterns that many automata share are assembled once, in a `foundation`. `seconds` is the time spent in making
    states since the automaton was made or reset.
    """

    _machine: Machine
    _loops = MachineLoops(states.step, states.expand)

    def __init__(self, pattern: Pattern, *, foundation: Foundation | None = None, limits: Limits = LIMITS) -> None:
        self.pattern = pattern
        self.foundation = foundation
        self.limits = limits
        self._program = assemble(pattern, foundation)
        self.has_unique_items = bool((self._program.nodes[:, op.OPERATION] == op.DISTINCT).any())
        """Whether items must differ, so that a state depends on all items written."""
        self._begin()

    def _begin(self) -> None:
        """Make a machine with only the state before the first byte."""
        program = self._program
        self.seconds = 0.0
        self._lock = machine_lock()
        self._machine = Machine(program.nodes, program.operands, program.text, self.limits.states, self.limits.bytes)
        self.start = self._call(states.begin, program.root)

    def __repr__(self) -> str:
        return f"RegularAutomaton({str(self.pattern)!r}, states={self._states_used})"

    def __str__(self) -> str:
        """Return the states made so far, one on a line; `…` if some bytes of a state were not tried."""
        lines = []
        for state in range(self._states_used):
            row = self.table[state]
            arcs = _row_text(row) + (
                "" if row[ROW_COMPLETE] != UNKNOWN else "  …" if (row != UNKNOWN).any() else "not expanded"
            )
            lines.append(f"{state:>5} {'accepts' if self.accepts(state) else '       '}  {arcs}")
        return "\n".join(lines)

    @property
    def fingerprint(self) -> bytes | None:
        """A digest of the program; None if it quotes a document."""
        program = self._program
        if (program.nodes[:, op.OPERATION] == op.QUOTATION).any():
            return None
        parts = (program.nodes.tobytes(), program.operands.tobytes(), program.text.tobytes())
        sizes = np.array([*map(len, parts), program.root], dtype=np.int64)
        return hashlib.sha256(b"".join((b"regular", sizes.tobytes(), *parts))).digest()

    @property
    def is_exhausted(self) -> bool:
        """Whether half of a limit is used up; see the protocol."""
        return self._is_large or 2 * self.seconds > self.limits.seconds

    @property
    def _is_large(self) -> bool:
        return 2 * self._states_used > self.limits.states or 2 * self._machine.nbytes() > self.limits.bytes

    def reset(self) -> Self:
        """Return the automaton of the same texts with unused limits; see the protocol."""
        if self._is_large:
            other = copy(self)
            other._begin()  # noqa: SLF001  of its own class
            return other
        self.seconds = 0.0
        return self

    def with_prefix(self, text: str) -> "RegularAutomaton":
        """Return the automaton of the same texts, each with some text in front."""
        pattern = concat(literal(text), self.pattern)
        return RegularAutomaton(pattern, foundation=self.foundation, limits=self.limits)

    def without_bytes(self, absent: frozenset[int]) -> "RegularAutomaton | None":
        """Return the automaton of the same texts but for those in which some bytes occur; see the protocol."""
        pattern = without_bytes(self.pattern, absent)
        if pattern is None or pattern is self.pattern:
            return None if pattern is None else self
        return RegularAutomaton(pattern, foundation=self.foundation, limits=self.limits)

    @property
    def nbytes(self) -> int:
        """The memory that the program and the states made so far take."""
        program, unused = self._program, self._machine.states.room() - self._states_used
        size = program.nodes.nbytes + program.operands.nbytes + program.text.nbytes
        return size + int(self._machine.nbytes()) - 1024 * unused

    def walk(self, trie: Trie, state: int, mask: NDArray[np.uint32], *, distance_limit: int = op.FAR) -> int:
        """Set the bits of the tokens of a trie after which at most so many bytes are needed; see the protocol."""
        return max(self._walk_part(trie, part, mask, distance_limit) for part in self.split_by_item(state))

    def _walk_part(self, trie: Trie, state: int, mask: NDArray[np.uint32], distance_limit: int) -> int:
        with self._lock:
            state_walks.start_walk(self._machine, trie.arrays, state)
            return self._timed(state_walks.walk, trie.arrays, distance_limit, mask)

    def is_in_unique_item(self, state: int) -> bool:
        """Tell whether a state is inside an item that must differ, where nearly each token makes a new state."""
        if not self.has_unique_items:
            return False
        return op.ITEM in self._machine.operations_of(state)

    def state_of_inner_item(self, state: int) -> int:
        """Return a state in the same inner item, for any text of the outer item; items of both must differ.

        In `[["a","b`, the outer item is `["a","b`, the inner one `"b`. The same tokens may follow both states, except
        for tokens that begin with one of the `written_suffixes` of the state or begin another outer item. A state that
        is not in two such items is returned unchanged.
        """
        if not self.has_unique_items:
            return state
        return self._run(replacement_states.find_inner_item, state)

    def written_suffixes(self, state: int, longest: int) -> list[bytes]:
        """Return what written items have after the bytes read of the outermost item, if they begin with these.

        `"abc"` → `c"` after `"ab`. At most the first `longest` bytes of each are returned.
        """
        suffix, suffixes, item = np.empty(longest + 1, dtype=np.int32), [], op.FINISHED
        while (item := self._run(replacement_states.find_written_suffix, state, item, suffix)) != op.FINISHED:
            suffixes.append(bytes(suffix[1 : 1 + min(int(suffix[0]), longest)].tolist()))
        return suffixes

    def split_by_item(self, state: int) -> list[int]:
        """Split a state into states whose union it is, each in at most one item that must differ.

        A walk from each of them makes few states; a walk from the union would make many.
        """
        if not self.has_unique_items:
            return [state]
        parts = np.empty(MAX_PARTS, dtype=np.int32)
        count = self._run(state_walks.split_by_items, state, parts)
        return parts[:count].tolist() or [state]

    def string_run(self, state: int, *, longest: int, other_bytes: int) -> StringRun | StringParts | None:
        """Return the string run of a state, or its parts; None if it has neither.

        With them, most of the vocabulary need not be walked. `longest` is the most characters of an unescaped token,
        and `other_bytes` the most bytes of another token before its first quote.
        """
        results = np.empty(6, dtype=np.int32)
        kind = self._run(string_parts.find_string, state, longest, other_bytes, results)
        if kind != string_parts.RUN:
            return StringParts(*results[:3].tolist()) if kind == string_parts.PARTS else None
        characters, distance, equivalent, ended_by_quote_only, quoteless, is_fixed = results.tolist()
        return StringRun(characters, distance, equivalent, bool(ended_by_quote_only), quoteless, bool(is_fixed))

    def without_counters(self, state: int, length: int) -> int:
        """Return a state with the same distance after which the same texts of at most `length` bytes may follow.

        States that differ only in counters which `length` bytes cannot exhaust give the same state.
        """
        return self._run(replacement_states.find_without_counters, state, length)

    def _run(self, loop: Callable[..., T], *arguments: Any) -> T:
        """Return the result of a loop, one thread at a time."""
        with self._lock:
            return self._timed(loop, *arguments)

    def _timed(self, loop: Callable[..., T], *arguments: Any) -> T:
        """Return the result of a loop; its time counts towards the limit."""
        began = thread_seconds()
        result = self._call(loop, *arguments)
        seconds = (thread_seconds() - began) / SLOWDOWN
        if seconds > UNCOUNTED_SECONDS:
            self.seconds += seconds
        if self.seconds > self.limits.seconds:
            raise self._too_costly(f"more than {self.limits.seconds:g} seconds to make states in")
        return result

    def _call(self, loop: Callable[..., T], *arguments: Any) -> T:
        """Return the result of a loop; it is called again after each state that it needs is made."""
        while True:
            try:
                return loop(self._machine, *arguments)
            except StateNeeded:
                self._make_requested()
            except LimitError as error:
                raise self._too_costly(str(error)) from None

    def _make_requested(self) -> None:
        """Make the state before an item that must differ, or the row of a state, which a loop needs."""
        state, byte = self._machine.requested_state, self._machine.requested_byte
        if state < 0:
            self._call(states.begin_item, -1 - state)
        elif byte >= 0 and self.is_in_unique_item(state):  # each byte leads to a new state
            self._call(states.step, state, byte)
        else:
            self._call(states.expand, state)

    def _too_costly(self, what: str) -> PatternError:
        return PatternError(
            f"The automaton needs {what}",
            pattern=excerpt(self.pattern),
            remedy="Nest fewer bounded repetitions, or make alternatives start differently.",
        )


def _row_text(row: NDArray[np.int32]) -> str:
    """Return the live arcs of a row as `'a'-'z'→3  '0'→4`."""
    runs = [("-".join(map(_byte_text, sorted({low, high}))), target) for low, high, target in runs_of_bytes(row)]
    return "  ".join(f"{label}→{target}" for label, target in runs)


def _byte_text(byte: int) -> str:
    return repr(chr(byte)) if 0x20 < byte < 0x7F else f"{byte:02x}"
