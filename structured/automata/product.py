"""Products of automata: the texts that two automata both accept.

If both are patterns of characters, the product is built completely and becomes a pattern again. JSON and grammars have
too many states for that. Their product is lazy: a state is a pair, and a pair without a completion is dropped.
A* finds the shortest completion (Hart, Nilsson and Raphael, 1968); the estimate is the greater distance of the two
sides. All distances found are kept.
"""

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce
from heapq import heappop, heappush
from time import monotonic
from typing import Self

import numpy as np
from numpy.typing import NDArray

from structured.automata.byte_automaton import DEAD, ROW_COMPLETE, Automaton
from structured.automata.dfa.products import intersection, is_of_characters
from structured.automata.lazy import LIMITS, LazyAutomaton, complete_row, distinct_columns, refuse_unique_items
from structured.automata.opcodes import FAR
from structured.automata.regular import UNCOUNTED_SECONDS, Limits, RegularAutomaton
from structured.errors import PatternError, UnsatisfiableError
from structured.regex import Pattern

MAX_SEARCHED = 20_000
"""The most pairs that one search for a shortest completion visits."""

MAX_SECONDS = 15.0
"""The most seconds that a product and the products within it may search in all; shorter searches than
`UNCOUNTED_SECONDS` do not count.

Each step of a search may start searches in the products within, so few steps on each level multiply.
"""

Pair = tuple[int, int]
"""A state of each side."""


class EmptyProductError(UnsatisfiableError):
    """The error that no text is accepted by all automata of a product."""

    def __init__(self) -> None:
        super().__init__("No text satisfies all the types and rules at once", remedy="Remove some of them.")


def product(automata: Sequence[Automaton]) -> Automaton:
    """Return the automaton of the texts that all automata accept.

    Raises EmptyProductError if there are none, and PatternError if a long search found neither a text nor that.
    """
    if len(automata) == 1:
        return automata[0]
    patterns = [automaton.pattern for automaton in automata if isinstance(automaton, RegularAutomaton)]
    if len(patterns) == len(automata) and all(map(is_of_characters, patterns)):
        try:
            common = intersection(patterns)
        except PatternError:  # the product is too large to be built completely
            return reduce(Product, automata)
        if common is None:
            raise EmptyProductError
        return RegularAutomaton(common)
    return reduce(Product, automata)


def complement(pattern: Pattern) -> Pattern:
    """Return the pattern of all texts that a pattern of characters does not match.

    Raises EmptyProductError if there are none, and PatternError if the automaton is too large.
    """
    others = intersection([], [pattern])
    if others is None:
        raise EmptyProductError
    return others


@contextmanager
def named_errors(name: str) -> Iterator[None]:
    """Put a name into the errors of products raised inside the `with`, which do not know the user's expression."""
    try:
        yield
    except PatternError as error:
        if error.pattern:
            raise
        raise PatternError(error.problem, pattern=name, remedy=error.remedy) from error


@dataclass(slots=True)
class _Clock:
    """The time that a product and the products within it spend in searches; only outermost searches are timed.

    Attributes:
        seconds_spent: The seconds of earlier searches.
        began: When the outermost search began; None outside of searches.
    """

    seconds_spent: float = 0.0
    began: float | None = None

    @contextmanager
    def searching(self) -> Iterator[None]:
        """Time a search, unless it is part of a search of another product."""
        if self.began is not None:
            yield
            return
        began = self.began = monotonic()
        try:
            yield
        finally:
            seconds, self.began = monotonic() - began, None
            self.seconds_spent += seconds if seconds > UNCOUNTED_SECONDS else 0.0

    def check(self) -> None:
        """Raise PatternError if the time is up."""
        began = self.began  # None where another thread has ended the search
        if began is not None and self.seconds_spent + monotonic() - began > MAX_SECONDS:
            raise PatternError(
                f"No text that satisfies all rules at once was found in {MAX_SECONDS:g} seconds",
                pattern="",
                remedy="Use fewer rules at once, or shorter texts; check the other rules in a validator.",
            )


class Product(LazyAutomaton[Pair]):
    """The automaton of the texts that two automata accept; follows the `Automaton` protocol.

    No text has a byte of `absent`. Raises EmptyProductError if there are no texts, and PatternError if a long search
    found neither a text nor that, or if a side has items that must differ.
    """

    def __init__(
        self,
        left: Automaton,
        right: Automaton,
        *,
        absent: frozenset[int] = frozenset(),
        limits: Limits = LIMITS,
        max_searched: int = MAX_SEARCHED,
    ) -> None:
        super().__init__(limits)
        refuse_unique_items((left, right))
        self.left = left
        self.right = right
        self.absent = absent
        self.max_searched = max_searched
        self._clock: _Clock = left._clock if isinstance(left, Product) else _Clock()  # noqa: SLF001
        self._distances: dict[Pair, int] = {}
        self._arcs: dict[Pair, tuple[list[Pair | None], NDArray[np.intp]]] = {}
        self.start = self._start_state((left.start, right.start))
        if self.distances[self.start] == FAR:
            raise EmptyProductError

    @property
    def parts(self) -> tuple[Automaton, Automaton]:
        """Both sides."""
        return self.left, self.right

    def with_parts(self, parts: Sequence[Automaton]) -> Self:
        """Return the product of two other automata."""
        left, right = parts
        return self._changed(left, right, self.absent)

    @property
    def _is_large(self) -> bool:
        """Whether half of the allowed states or searched pairs is used up."""
        return super()._is_large or 2 * len(self._arcs) > self._max_states

    @property
    def fingerprint(self) -> bytes | None:
        """A digest of the fingerprints of both sides; None if a side has none."""
        sides = self.left.fingerprint, self.right.fingerprint
        if None in sides:
            return None
        return hashlib.sha256(repr(("product", sides, sorted(self.absent))).encode()).digest()

    def with_prefix(self, text: str) -> "Product":
        """Return the automaton of the same texts, each with some text in front."""
        return self._changed(self.left.with_prefix(text), self.right.with_prefix(text), self.absent)

    def without_bytes(self, absent: frozenset[int]) -> "Product | None":
        """Return the automaton of the same texts but for those in which some bytes occur; see the protocol."""
        left, right = self.left.without_bytes(absent), self.right.without_bytes(absent)
        if left is None or right is None:
            return None
        try:
            return self._changed(left, right, self.absent | absent)
        except EmptyProductError:
            return None

    def _changed(self, left: Automaton, right: Automaton, absent: frozenset[int]) -> Self:
        return type(self)(left, right, absent=absent, limits=self.limits, max_searched=self.max_searched)

    def successors(self, content: Pair) -> tuple[list[Pair | None], NDArray[np.intp]]:
        """Return the successors of a pair, without pairs that have no completion."""
        pairs, places = self._all_successors(content)
        return [None if pair is None or self.distance(pair) == FAR else pair for pair in pairs], places

    def distance(self, content: Pair) -> int:
        """Return the bytes of the shortest completion of a pair; FAR if there is none. Raises PatternError."""
        if content not in self._distances:
            with self._clock.searching():
                self._search(content)
        return self._distances[content]

    def _all_successors(self, pair: Pair) -> tuple[list[Pair | None], NDArray[np.intp]]:
        """Return the successors of a pair, complete or not, and for each byte the place of its successor."""
        arcs = self._arcs.get(pair)
        if arcs is None:
            rows = np.stack([complete_row(self.left, pair[0]), complete_row(self.right, pair[1])])
            rows[:, [*self.absent, ROW_COMPLETE]] = DEAD
            columns, places = distinct_columns(rows)
            pairs = [None if DEAD in column else (column[0], column[1]) for column in columns]
            arcs = self._arcs[pair] = pairs, places
        return arcs

    def _estimate(self, pair: Pair) -> int:
        """Return the bytes of the shortest completion of a pair if known, else a lower bound."""
        distance = self._distances.get(pair)
        if distance is not None:
            return distance
        return max(int(self.left.distances[pair[0]]), int(self.right.distances[pair[1]]))

    def _search(self, start: Pair) -> None:
        """Find the distance of a pair, and those of the pairs on the path to the end."""
        predecessors: dict[Pair, Pair | None] = {start: None}
        steps = {start: 0}
        queue = [(self._estimate(start), 0, start)]
        visited = set[Pair]()
        while queue:
            total, _, pair = heappop(queue)
            if pair in visited:
                continue
            if pair in self._distances or (self.left.accepts(pair[0]) and self.right.accepts(pair[1])):
                ancestor: Pair | None = pair
                while ancestor is not None:
                    self._distances[ancestor] = total - steps[ancestor]
                    ancestor = predecessors[ancestor]
                return
            visited.add(pair)
            self._clock.check()
            if len(visited) > self.max_searched:
                raise PatternError(
                    f"No end of a text that both sides of a product allow was found in {self.max_searched:,} steps",
                    pattern="",
                    remedy="Use a type with fewer texts, such as Text(contains=…), in which .* stops at line breaks.",
                )
            length = steps[pair] + 1
            for after in self._all_successors(pair)[0]:
                if after is None or length >= steps.get(after, FAR):
                    continue
                estimate = self._estimate(after)
                if estimate < FAR:
                    steps[after], predecessors[after] = length, pair
                    heappush(queue, (length + estimate, -length, after))  # of equals, the longest path first
        self._distances.update(dict.fromkeys(visited, FAR))
