"""Products of automata: the texts of both.

Where both are patterns of characters, the product is explored, and becomes a pattern again. JSON and grammars have too
many states for that, or no end of them. There a state is a pair, made when it is reached, and kept only if some text
goes on to the end from it: the shortest is found by A* (Hart, Nilsson and Raphael, 1968), with the longer one of what
both sides need as the estimate. What a search finds is remembered.
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
from structured.automata.lazy import LIMITS, LazyAutomaton, by_column, check_memory, row_of
from structured.automata.opcodes import FAR
from structured.automata.regular import LONG, Limits, RegularAutomaton
from structured.errors import PatternError, UnsatisfiableError
from structured.regex import Pattern

MAX_SEARCHED = 50_000
"""States that one search for the shortest text passes through."""

MAX_SECONDS = 15.0
"""Spent in searches by a product and those within it, over their life, searches that take no longer than `LONG` aside.

A search asks the products within for their states, which search in turn: the steps of each are few, and multiply.
"""

Pair = tuple[int, int]
"""A state of each side."""


class EmptyProductError(UnsatisfiableError):
    """No text is of both sides."""

    def __init__(self) -> None:
        super().__init__("No text is of all that is asked for at once", remedy="Ask for less.")


def product(automata: Sequence[Automaton]) -> Automaton:
    """Return the automaton of the texts of all of some automata.

    Raises EmptyProductError if there are none, and PatternError if that was not found out in a long search.
    """
    if len(automata) == 1:
        return automata[0]
    patterns = [one.pattern for one in automata if isinstance(one, RegularAutomaton)]
    if len(patterns) == len(automata) and all(map(is_of_characters, patterns)):
        try:
            found = intersection(patterns)
        except PatternError:  # it is too large to be explored
            return reduce(Product, automata)
        if found is None:
            raise EmptyProductError
        return RegularAutomaton(found)
    return reduce(Product, automata)


def complement(pattern: Pattern) -> Pattern:
    """Return all texts but those of a pattern of characters.

    Raises EmptyProductError if there are none, and PatternError where its automaton is too large.
    """
    found = intersection([], [pattern])
    if found is None:
        raise EmptyProductError
    return found


@contextmanager
def named(name: str) -> Iterator[None]:
    """Let the errors of products tell of what they are: they know automata, and no expressions."""
    try:
        yield
    except PatternError as error:
        if error.pattern:
            raise
        raise PatternError(error.problem, pattern=name, remedy=error.remedy) from error


@dataclass(slots=True)
class _Clock:
    """The time that a product and those within it spend in searches: that of the outermost, which wait for the others.

    Attributes:
        spent: The seconds of the searches before.
        began: When the outermost search began; None if there is none.
    """

    spent: float = 0.0
    began: float | None = None

    @contextmanager
    def searching(self) -> Iterator[None]:
        """Let the time run, unless a search of another product waits for this one."""
        if self.began is not None:
            yield
            return
        began = self.began = monotonic()
        try:
            yield
        finally:
            seconds, self.began = monotonic() - began, None
            self.spent += seconds if seconds > LONG else 0.0

    def check(self) -> None:
        """Raise PatternError where the time is up."""
        began = self.began
        if began is not None and self.spent + monotonic() - began > MAX_SECONDS:  # another thread may have ended it
            raise PatternError(
                f"What texts have in common was searched for longer than {MAX_SECONDS:g} seconds",
                pattern="",
                remedy="Ask for fewer rules at once, or for shorter texts; check the others in a validator.",
            )


class Product(LazyAutomaton[Pair]):
    """The automaton of the texts of two automata; follows the `Automaton` protocol.

    No text has a byte of `absent`. Raises EmptyProductError if there are none, and PatternError if that was not found
    out in a long search, or if one of them remembers what it has read.
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
        check_memory((left, right))
        self.left = left
        self.right = right
        self.absent = absent
        self.max_searched = max_searched
        self._clock: _Clock = left._clock if isinstance(left, Product) else _Clock()  # noqa: SLF001
        self._known: dict[Pair, int] = {}
        self._arcs: dict[Pair, tuple[list[Pair | None], NDArray[np.intp]]] = {}
        self.start = self._begin((left.start, right.start))
        if self.distances[self.start] == FAR:
            raise EmptyProductError

    @property
    def parts(self) -> tuple[Automaton, Automaton]:
        """Both sides."""
        return self.left, self.right

    def of(self, parts: Sequence[Automaton]) -> Self:
        """Return the product of two others."""
        left, right = parts
        return type(self)(left, right, absent=self.absent, limits=self.limits, max_searched=self.max_searched)

    @property
    def _is_large(self) -> bool:
        """Whether there are many states, or pairs that were passed through in searches."""
        return super()._is_large or 2 * len(self._arcs) > self._most_states

    @property
    def fingerprint(self) -> bytes | None:
        """A digest of both sides; None if one has none."""
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

    def _changed(self, left: Automaton, right: Automaton, absent: frozenset[int]) -> "Product":
        return Product(left, right, absent=absent, limits=self.limits, max_searched=self.max_searched)

    def successors(self, content: Pair) -> tuple[list[Pair | None], NDArray[np.intp]]:
        """Return what bytes lead to, without the pairs from which no text goes on to the end."""
        found, places = self._following(content)
        return [None if pair is None or self.distance(pair) == FAR else pair for pair in found], places

    def distance(self, content: Pair) -> int:
        """Return the bytes of the shortest completion of a pair; FAR if there is none. Raises PatternError."""
        if content not in self._known:
            with self._clock.searching():
                self._search(content)
        return self._known[content]

    def _following(self, pair: Pair) -> tuple[list[Pair | None], NDArray[np.intp]]:
        """Return the pairs that bytes lead to, dead or alive; for each byte the place of its pair."""
        known = self._arcs.get(pair)
        if known is None:
            rows = np.stack([row_of(self.left, pair[0]), row_of(self.right, pair[1])])
            rows[:, [*self.absent, ROW_COMPLETE]] = DEAD
            columns, places = by_column(rows)
            pairs = [None if DEAD in column else (column[0], column[1]) for column in columns]
            known = self._arcs[pair] = pairs, places
        return known

    def _estimate(self, pair: Pair) -> int:
        """Return no more than the bytes of the shortest completion of a pair, and these if they are known."""
        known = self._known.get(pair)
        return max(int(self.left.distances[pair[0]]), int(self.right.distances[pair[1]])) if known is None else known

    def _search(self, start: Pair) -> None:
        """Find out the distance of a pair, and those of the pairs on the way."""
        before: dict[Pair, Pair | None] = {start: None}
        steps = {start: 0}
        border = [(self._estimate(start), 0, start)]
        done = set[Pair]()
        while border:
            total, _, pair = heappop(border)
            if pair in done:
                continue
            if pair in self._known or (self.left.accepts(pair[0]) and self.right.accepts(pair[1])):
                self._remember(pair, total, before, steps)
                return
            done.add(pair)
            self._clock.check()
            if len(done) > self.max_searched:
                raise self._searched_too_far()
            here = steps[pair] + 1
            for after in self._following(pair)[0]:
                if after is None or here >= steps.get(after, FAR):
                    continue
                estimate = self._estimate(after)
                if estimate < FAR:
                    steps[after], before[after] = here, pair
                    heappush(border, (here + estimate, -here, after))  # of like ones, that which has come farthest
        self._known.update(dict.fromkeys(done, FAR))

    def _remember(self, end: Pair, total: int, before: dict[Pair, Pair | None], steps: dict[Pair, int]) -> None:
        """Note the distances of the pairs on a shortest way."""
        pair: Pair | None = end
        while pair is not None:
            self._known[pair] = total - steps[pair]
            pair = before[pair]

    def _searched_too_far(self) -> PatternError:
        return PatternError(
            f"A text was begun, and in {self.max_searched:,} steps no end was found that both sides of a product allow",
            pattern="",
            remedy="Restrict a type by what its texts can be: Text(contains=…) where .* stops at line breaks, say.",
        )
