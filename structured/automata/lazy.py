"""Lazy automata made of other automata in Python: interned contents, rows, distances and limits.

A state of a combination or product consists of states of its parts, its *content*. This module numbers the contents;
each subclass computes the successors and the distance of a content.
"""

import operator
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from threading import RLock
from time import thread_time
from typing import Any, Generic, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from structured.automata.byte_automaton import DEAD, ROW_COMPLETE, UNKNOWN, Automaton, reset_if_exhausted
from structured.automata.opcodes import FAR
from structured.automata.regular import UNCOUNTED_SECONDS, Limits, RegularAutomaton
from structured.automata.table_states import walk_states
from structured.errors import PatternError
from structured.vocabulary.trie import Trie

Content = TypeVar("Content", bound=Hashable)

LIMITS = Limits(seconds=60.0)
"""The limits of other automata with more seconds, because the rows are made in Python."""

_Row = NDArray[np.int32]


class LazyAutomaton(ABC, Generic[Content]):
    """A lazy automaton whose states are numbers of contents; subclasses of the protocol add the start."""

    def __init__(self, limits: Limits = LIMITS) -> None:
        self.limits = limits
        self.seconds = 0.0
        self._contents: list[Content] = []
        self._numbers: dict[Content, int] = {}
        self.table: _Row = np.full((16, 256), UNKNOWN, dtype=np.int32)
        """The successors that are known; shape (states, 256)."""
        self.distances: _Row = np.zeros(16, dtype=np.int32)
        """The number of bytes in the shortest completion of each state; shape (states,)."""
        self._lock = RLock()

    def __repr__(self) -> str:
        return f"{type(self).__name__}(states={len(self._contents)})"

    @property
    @abstractmethod
    def parts(self) -> Sequence[Automaton]:
        """The automata that this one combines."""

    @abstractmethod
    def with_parts(self, parts: Sequence[Automaton]) -> Self:
        """Return the same combination of other parts."""

    @abstractmethod
    def successors(self, content: Content) -> tuple[Sequence[Content | None], NDArray[np.intp]]:
        """Return the successors of a content, None for none, and the place of each byte's successor."""

    @abstractmethod
    def distance(self, content: Content) -> int:
        """Return the number of bytes in the shortest completion."""

    def accepts(self, state: int) -> bool:
        """Tell whether the bytes read so far are a whole text; False for DEAD."""
        return state != DEAD and bool(self.distances[state] == 0)

    def step(self, state: int, byte: int) -> int:
        """Return the successor of a state, or DEAD."""
        if state == DEAD or byte == ROW_COMPLETE:
            return DEAD
        self.expand(state)
        return int(self.table[state, byte])

    def expand(self, state: int) -> None:
        """Fill the row of a state."""
        if self.table[state, ROW_COMPLETE] != UNKNOWN:
            return
        with self._lock, self._timed():
            contents, places = self.successors(self._contents[state])
            numbers = np.array([DEAD if after is None else self.number(after) for after in contents], dtype=np.int32)
            row = numbers[places]
            row[ROW_COMPLETE] = DEAD
            self.table[state] = row

    def number(self, content: Content) -> int:
        """Return the state of a content. Raises PatternError if there are too many."""
        state = self._numbers.get(content)
        if state is None:
            state = len(self._contents)
            if state >= self._max_states:
                raise _too_costly(f"more than {state:,} states")
            if state == len(self.table):
                self.table = np.concatenate([self.table, np.full_like(self.table, UNKNOWN)])
                self.distances = np.concatenate([self.distances, np.zeros_like(self.distances)])
            self.distances[state] = min(self.distance(content), FAR)
            self._contents.append(content)
            self._numbers[content] = state
        return state

    def walk(self, trie: Trie, state: int, mask: NDArray[np.uint32]) -> int:
        """Set the bits of the tokens of a trie that may follow; see the protocol."""
        reached = walk_states(self, trie, state, mask)
        return int(self.distances[: len(reached)][reached].max(initial=0))

    @property
    def is_exhausted(self) -> bool:
        """Whether half of a limit is used up, or a part is exhausted; see the protocol."""
        return self._is_large or 2 * self.seconds > self.limits.seconds or any(part.is_exhausted for part in self.parts)

    def reset(self) -> Self:
        """Return the automaton of the same texts with unused limits; see the protocol."""
        replacements = {id(part): reset_if_exhausted(part) for part in self.parts}  # a part that occurs twice stays one
        parts = [replacements[id(part)] for part in self.parts]
        if self._is_large or any(map(operator.is_not, parts, self.parts)):
            return self.with_parts(parts)
        self.seconds = 0.0
        return self

    @property
    def _is_large(self) -> bool:
        return 2 * len(self._contents) > self._max_states

    @property
    def _max_states(self) -> int:
        return min(self.limits.states, self.limits.bytes // 1024)

    def _start_state(self, content: Content) -> int:
        """Return the state of the content before the first byte. The time for it does not count."""
        with self._timed():
            start = self.number(content)
        self.seconds = 0.0
        return start

    @contextmanager
    def _timed(self) -> Iterator[None]:
        """Add the time of the `with` block. Raises PatternError if the limit is exceeded."""
        began = thread_time()
        yield
        seconds = thread_time() - began
        self.seconds += seconds if seconds > UNCOUNTED_SECONDS else 0.0
        if self.seconds > self.limits.seconds:
            raise _too_costly(f"more than {self.limits.seconds:g} seconds to make states in")


def complete_row(automaton: Automaton, state: int) -> _Row:
    """Return the complete row of a state of a part."""
    if automaton.table[state, ROW_COMPLETE] == UNKNOWN:
        automaton.expand(state)
    row: _Row = automaton.table[state]
    return row


def distinct_columns(rows: Any) -> tuple[list[tuple[int, ...]], NDArray[np.intp]]:
    """Return the distinct columns of some rows, and for each byte the place of its column among them."""
    columns, places = np.unique(rows, axis=1, return_inverse=True)
    return list(map(tuple, columns.T.tolist())), places.reshape(-1)


def refuse_unique_items(automata: Iterable[Automaton]) -> None:
    """Raise PatternError if the items of an automaton must differ: each text of them would be a state of its own."""
    if any(isinstance(automaton, RegularAutomaton) and automaton.has_unique_items for automaton in automata):
        raise PatternError(
            "Items that must differ (uniqueItems) cannot be combined with a grammar, nor restricted by another type",
            pattern="",
            remedy="Use that type alone; or remove 'uniqueItems', and remove repeated items in your program.",
        )


def _too_costly(what: str) -> PatternError:
    return PatternError(
        f"A combination of automata needs {what}",
        pattern="",
        remedy="Combine fewer parts that may go on in several ways, or put a text between them.",
    )
