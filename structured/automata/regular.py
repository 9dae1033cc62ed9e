"""The lazy deterministic automaton of a pattern over bytes, built state by state as it is walked.

What is still to be read is a stack of *frames*, each a node of the pattern with the place reached in it, interned so
that equal stacks are one number. Reading a byte replaces the top frame; a state of the automaton is a set of stacks
whose top reads a byte. Nothing is built before it is walked: `a{0,100000}` costs one state for each repetition really
read, since a counter lies in the frame and not in copies of the node. These are the partial derivatives of Antimirov
("Partial derivatives of regular expressions and finite automaton constructions", 1996), with the concatenations kept as
a stack. A Thompson construction was rejected because it has to be built whole before the first step.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from threading import Lock
from time import perf_counter
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structured.automata.program import Foundation, Program, assemble
from structured.automata.protocol import DEAD, UNKNOWN, WHOLE, StringRun
from structured.errors import PatternError
from structured.regex import Pattern, concat, excerpt, literal
from structured.vocabulary.trie import Trie


@dataclass(frozen=True, slots=True)
class Limits:
    """What one automaton may cost, however hostile its pattern is. Past any of these it raises PatternError."""

    states: int = 200_000
    """A row of the table takes 1 KiB."""
    bytes: int = 1 << 29
    """Of the arrays that grow, together."""
    seconds: float = 10.0
    """Spent in making states, over the life of the automaton, steps that take no longer than `LONG` aside."""


LIMITS = Limits()

LONG = 0.01
"""Seconds. An ordinary walk takes less than a hundredth of this, so an automaton may live as long as it likes."""


def _unfilled(*shape: int) -> NDArray[np.int32]:
    return np.full(shape, -1, dtype=np.int32)


@dataclass(slots=True)
class _Arrays:
    """What has been walked so far; `loops/frames.py` says what the columns mean."""

    program: Program
    frames: NDArray[np.int32] = field(default_factory=lambda: np.zeros((1024, 8), dtype=np.int32))
    frame_slots: NDArray[np.int32] = field(default_factory=lambda: _unfilled(2048))
    leaves: NDArray[np.int32] = field(default_factory=lambda: np.zeros(2048, dtype=np.int32))
    states: NDArray[np.int32] = field(default_factory=lambda: np.zeros((1024, 4), dtype=np.int32))
    distances: NDArray[np.int32] = field(default_factory=lambda: np.zeros(1024, dtype=np.int32))
    state_slots: NDArray[np.int32] = field(default_factory=lambda: _unfilled(2048))
    members: NDArray[np.int32] = field(default_factory=lambda: np.zeros(4096, dtype=np.int32))
    # A row is filled when its state is made; until then the operating system need not even give it memory.
    table: NDArray[np.int32] = field(default_factory=lambda: np.empty((1024, 256), dtype=np.int32))
    sizes: NDArray[np.int32] = field(default_factory=lambda: np.zeros(6, dtype=np.int32))
    stack: NDArray[np.int32] = field(default_factory=lambda: np.zeros(256, dtype=np.int32))
    arcs: NDArray[np.int32] = field(default_factory=lambda: np.zeros((1024, 3), dtype=np.int32))

    @property
    def machine(self) -> tuple[Any, ...]:
        """What the loops are handed, one by one."""
        program = self.program
        return (
            program.nodes, program.operands, program.text, self.frames, self.frame_slots, self.leaves, self.states,
            self.distances, self.state_slots, self.members, self.table, self.sizes, self.stack, self.arcs,
        )  # fmt: skip


class RegularAutomaton:
    """The lazy deterministic automaton of a pattern; follows the `Automaton` protocol.

    Patterns that many automata have in common are assembled once, in a `foundation`. `seconds` is the time spent in
    making states so far.
    """

    def __init__(self, pattern: Pattern, *, foundation: Foundation | None = None, limits: Limits = LIMITS) -> None:
        self.pattern = pattern
        self.foundation = foundation
        self.limits = limits
        self.seconds = 0.0
        self._lock = Lock()
        self._arrays = _Arrays(assemble(pattern, foundation))
        self.start = self._start()

    def __repr__(self) -> str:
        return f"RegularAutomaton({str(self.pattern)!r}, states={self._states_used})"

    def __str__(self) -> str:
        """Return the part of the automaton that has been walked, one state a line; `…` where bytes were not tried."""
        lines = []
        for state in range(self._states_used):
            row = self.table[state]
            arcs = _row_text(row) + (
                "" if row[WHOLE] != UNKNOWN else "  …" if (row != UNKNOWN).any() else "not expanded"
            )
            lines.append(f"{state:>5} {'accepts' if self.accepts(state) else '       '}  {arcs}")
        return "\n".join(lines)

    @property
    def fingerprint(self) -> bytes:
        """A digest of the program, which is all that the automaton is made of."""
        program = self._arrays.program
        parts = (program.nodes.tobytes(), program.operands.tobytes(), program.text.tobytes())
        sizes = np.array([*map(len, parts), program.root], dtype=np.int64)
        return hashlib.sha256(b"".join((b"regular", sizes.tobytes(), *parts))).digest()

    def with_prefix(self, text: str) -> "RegularAutomaton":
        """Return the automaton of the same texts, each with some text in front."""
        pattern = concat(literal(text), self.pattern)
        return RegularAutomaton(pattern, foundation=self.foundation, limits=self.limits)

    @property
    def table(self) -> NDArray[np.int32]:
        """The successors that are known; shape (states, 256)."""
        return self._arrays.table

    @property
    def distances(self) -> NDArray[np.int32]:
        """The number of bytes in the shortest completion of each state; shape (states,)."""
        return self._arrays.distances

    @property
    def nbytes(self) -> int:
        """The memory that the program and the states made so far take."""
        here = self._arrays
        program = sum(array.nbytes for array in (here.program.nodes, here.program.operands, here.program.text))
        others = sum(int(getattr(here, name).nbytes) for name in _Arrays.__slots__ if name not in {"program", "table"})
        return program + others + self._states_used * int(here.table[0].nbytes)

    def accepts(self, state: int) -> bool:
        """Tell whether the bytes read so far match the whole pattern."""
        return bool(self._arrays.distances[state] == 0)

    def step(self, state: int, byte: int) -> int:
        """Return the successor of a state, or DEAD."""
        if state == DEAD or byte == WHOLE:
            return DEAD
        if self._arrays.table[state, byte] == UNKNOWN:
            loops, here, most = _loops("states"), self._arrays, self.limits.states
            self._until_done(lambda: max(-2 - loops.follow(*here.machine, state, byte, most), loops.DONE))
        return int(self._arrays.table[state, byte])

    def expand(self, state: int) -> None:
        """Fill the row of a state."""
        loops, here, most = _loops("states"), self._arrays, self.limits.states
        self._until_done(lambda: loops.expand(*here.machine, state, most))

    def walk(self, trie: Trie, state: int, mask: NDArray[np.uint32]) -> int:
        """Set the bits of the tokens of a trie that may follow; see the protocol."""
        from structured.automata.loops.table import FARTHEST, path_from

        loops, here, most = _loops("states"), self._arrays, self.limits.states
        path, progress = path_from(trie, state), np.zeros(2, dtype=np.int32)
        tokens = (trie.byte, trie.first, trie.token_start, trie.token_ids)
        self._until_done(lambda: loops.walk(*tokens, *here.machine, most, path, mask, progress))
        return int(progress[FARTHEST])

    def string_run(self, state: int, *, longest: int, special: int) -> StringRun | None:
        """Return the string run of a state; see the protocol."""
        loops, here, most = _loops("string_runs"), self._arrays, self.limits.states
        found = np.empty(4, dtype=np.int32)
        done = self._until_done(lambda: loops.find_string_run(*here.machine, most, state, longest, special, found))
        if done == loops.NO_ROOM:
            return None
        characters, farthest, representative, quoted = found.tolist()
        return StringRun(characters, farthest, representative, bool(quoted))

    def _until_done(self, loop: Callable[[], int]) -> int:
        """Call a loop until it lacks no room; one thread at a time, since arrays are replaced in between."""
        with self._lock:
            start = perf_counter()
            while (lack := loop()) > 0:
                self._grow(lack)
            self._spend(perf_counter() - start)
        return lack

    def _spend(self, seconds: float) -> None:
        if seconds > LONG:
            self.seconds += seconds
        if self.seconds > self.limits.seconds:
            raise self._too_costly(f"more than {self.limits.seconds:g} seconds to make states in")

    @property
    def _states_used(self) -> int:
        return int(self._arrays.sizes[_loops("states").STATES_USED])

    def _start(self) -> int:
        """Return the state of everything that the pattern may begin with."""
        loops, here = _loops("states"), self._arrays
        program = here.program
        here.sizes[loops.FRAMES_USED] = 1
        here.frames[loops.FINISHED, loops.LEAVES] = 0
        here.frames[loops.FINISHED, loops.COUNT] = 1
        here.leaves[0] = loops.FINISHED
        here.sizes[loops.LEAVES_USED] = 1
        while True:
            root = loops.push(
                program.nodes, program.operands, program.text, here.frames, here.frame_slots, here.sizes, program.root,
                0,
            )  # fmt: skip
            here.arcs[0] = (0, 255, root)
            state = loops.target_state(*here.machine, 0, 1, 0, self.limits.states)
            if state >= 0:
                return int(state)
            self._grow(-2 - state)

    def _grow(self, lack: int) -> None:
        """Double the array that is full. Raises PatternError where that would be more than the limits allow."""
        loops, here = _loops("states"), self._arrays
        growing = {
            loops.MORE_FRAMES: ("frames",),
            loops.MORE_LEAVES: ("leaves",),
            loops.MORE_STATES: ("states", "distances", "table"),
            loops.MORE_MEMBERS: ("members",),
            loops.MORE_STACK: ("stack",),
            loops.MORE_ARCS: ("arcs",),
        }
        if lack not in growing:
            raise self._too_costly(f"more than {loops.MAX_WAYS:,} ways from one state to another")
        if lack == loops.MORE_STATES and self._states_used >= self.limits.states:
            raise self._too_costly(f"more than {self.limits.states:,} states")
        if 2 * sum(getattr(here, name).nbytes for names in growing.values() for name in names) > self.limits.bytes:
            raise self._too_costly(f"more than {self.limits.bytes:,} bytes")
        for name in growing[lack]:
            array = getattr(here, name)
            grown = np.empty((2 * len(array), *array.shape[1:]), dtype=np.int32)
            grown[: len(array)] = array
            setattr(here, name, grown)
        if lack == loops.MORE_FRAMES:
            here.frame_slots = _unfilled(2 * len(here.frame_slots))
            loops.rehash_frames(here.frames, here.frame_slots, here.sizes)
        elif lack == loops.MORE_STATES:
            here.state_slots = _unfilled(2 * len(here.state_slots))
            loops.rehash_states(here.states, here.members, here.state_slots, here.sizes)

    def _too_costly(self, what: str) -> PatternError:
        return PatternError(
            f"The automaton needs {what}",
            pattern=excerpt(self.pattern),
            remedy="Nest fewer bounded repetitions, or make alternatives start differently.",
        )


@cache
def _loops(name: str) -> ModuleType:
    """Return a module of compiled loops; to import one imports Numba."""
    return import_module(f"structured.automata.loops.{name}")


def _row_text(row: NDArray[np.int32]) -> str:
    """Return the live arcs of a row as `'a'-'z'→3  '0'→4`."""
    pieces = []
    byte = 0
    while byte < 256:
        end = byte
        while end < 255 and row[end + 1] == row[byte]:
            end += 1
        if row[byte] > DEAD:
            label = _byte_text(byte) if byte == end else f"{_byte_text(byte)}-{_byte_text(end)}"
            pieces.append(f"{label}→{row[byte]}")
        byte = end + 1
    return "  ".join(pieces)


def _byte_text(byte: int) -> str:
    return repr(chr(byte)) if 0x20 < byte < 0x7F else f"{byte:02x}"
