"""Combinations of automata: one after the other, one of several, one again and again.

Where all parts are patterns, the combination is a pattern as well. Grammars and automata of users have none, so there
is the general way: the position automaton of the combination (Glushkov, "The abstract theory of automata", 1961), with
an automaton in each position in place of a character. A state is a set of positions, each with a state of its
automaton. Copies of a part that is repeated a limited number of times are positions of their own, and share it.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from heapq import heappop, heappush
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from structured.automata.byte_automaton import DEAD, Automaton, with_limits_left
from structured.automata.lazy import LIMITS, LazyAutomaton, by_column, check_memory, row_of
from structured.automata.opcodes import FAR
from structured.automata.regular import Limits, RegularAutomaton
from structured.errors import PatternError
from structured.regex import EMPTY, Pattern, alternation, concat, literal, repeat

MAX_POSITIONS = 10_000
"""Of one combination."""


class InSequence(NamedTuple):
    """Texts of all parts, one behind the other."""

    parts: "tuple[Expression, ...]"


class OneOf(NamedTuple):
    """Texts of one of several options; at least one."""

    options: "tuple[Expression, ...]"


class Repeated(NamedTuple):
    """`minimum` to `maximum` texts of an item, without limit if that is None, with a separator between each two."""

    item: "Expression"
    separator: "Expression"
    minimum: int
    maximum: int | None


Expression = Automaton | InSequence | OneOf | Repeated
"""What is combined, and how."""


def combined(expression: Expression) -> Automaton:
    """Return the automaton of a combination: a regular one if all that is combined is regular.

    Raises PatternError if it has too many positions.
    """
    regular = _regular(expression)
    return CombinedAutomaton(expression) if regular is None else regular


def _regular(expression: Expression) -> RegularAutomaton | None:
    parts = list(_automata(expression))
    regular = [part for part in parts if isinstance(part, RegularAutomaton)]
    if len(regular) < len(parts):
        return None
    foundation = next((part.foundation for part in regular if part.foundation is not None), None)
    return RegularAutomaton(_pattern(expression), foundation=foundation)


def _automata(expression: Expression) -> Iterator[Automaton]:
    match expression:
        case InSequence(parts) | OneOf(parts):
            for part in parts:
                yield from _automata(part)
        case Repeated(item, separator):
            yield from _automata(item)
            yield from _automata(separator)
        case _:
            yield expression


def _pattern(expression: Expression) -> Pattern:
    """Return the pattern of a combination of regular automata."""
    match expression:
        case InSequence(parts):
            return concat(*map(_pattern, parts))
        case OneOf(options):
            return alternation(*map(_pattern, options))
        case Repeated(item, separator, minimum, maximum):
            one = _pattern(item)
            if maximum == 0:
                return EMPTY
            more = repeat(
                concat(_pattern(separator), one), max(minimum - 1, 0), None if maximum is None else maximum - 1
            )
            found = concat(one, more)
            return found if minimum > 0 else repeat(found, 0, 1)
        case RegularAutomaton():
            return expression.pattern
    raise TypeError(f"{expression!r} is no regular automaton")


Member = tuple[int, int]
"""A position, and a state of its automaton."""


@dataclass(frozen=True, slots=True, eq=False)
class Positions:
    """The positions of automata in a combination: the first ones, and those that may follow each.

    A text may end behind those that are `last`, or be empty if `is_empty`.
    """

    automata: Sequence[Automaton]
    first: Sequence[int]
    following: Sequence[Sequence[int]]
    last: frozenset[int]
    is_empty: bool
    rest: Sequence[int] = field(init=False, repr=False)
    """For each position the bytes of the shortest text behind it; FAR if there is none."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "rest", self._shortest())

    @classmethod
    def of(cls, expression: Expression) -> "Positions":
        """Return the positions of a combination, in the order in which they are written down."""
        laid_out = _Layout()
        fragment = laid_out.add(expression)
        following = [tuple(dict.fromkeys(followers)) for followers in laid_out.following]
        return cls(laid_out.automata, fragment.first, following, frozenset(fragment.last), fragment.is_empty)

    def _shortest(self) -> list[int]:
        """Return the bytes of the shortest text behind each position (Dijkstra's algorithm, from the ends)."""
        before: list[list[int]] = [[] for _ in self.automata]
        for position, followers in enumerate(self.following):
            for follower in followers:
                before[follower].append(position)
        rest = [FAR] * len(self.automata)
        border = [(0, position) for position in sorted(self.last)]
        while border:
            size, position = heappop(border)
            if size < rest[position]:
                rest[position] = size
                automaton = self.automata[position]
                whole = size + int(automaton.distances[automaton.start])
                for source in before[position]:
                    heappush(border, (whole, source))
        return rest

    @property
    def is_exhausted(self) -> bool:
        """Whether one of the automata is."""
        return any(automaton.is_exhausted for automaton in self.automata)

    def reset(self) -> Self:
        """Return the same positions, with automata that are reset in place of exhausted ones."""
        others = {id(automaton): with_limits_left(automaton) for automaton in self.automata}
        return replace(self, automata=[others[id(automaton)] for automaton in self.automata])

    def begun(self, positions: Iterable[int]) -> list[Member]:
        """Return positions with the states before their texts."""
        return [(position, self.automata[position].start) for position in positions]

    def closure(self, members: Iterable[Member]) -> list[Member]:
        """Return some members, and the members that follow where their texts may end, each once."""
        open_ends, seen = list(members), dict[Member, None]()
        while open_ends:
            member = open_ends.pop()
            if member not in seen:
                seen[member] = None
                position, state = member
                if self.automata[position].accepts(state):
                    open_ends += self.begun(self.following[position])
        return list(seen)


class _Fragment(NamedTuple):
    """A combination that is a part of another: the positions with which it begins and ends."""

    first: tuple[int, ...]
    last: tuple[int, ...]
    is_empty: bool


@dataclass(slots=True)
class _Layout:
    """Positions while they are laid out."""

    automata: list[Automaton] = field(default_factory=list)
    following: list[list[int]] = field(default_factory=list)

    def add(self, expression: Expression) -> _Fragment:
        """Lay out an expression."""
        match expression:
            case InSequence(parts):
                return reduce(self._then, map(self.add, parts), _Fragment((), (), is_empty=True))
            case OneOf(options):
                found = [self.add(option) for option in options]
                return _Fragment(
                    tuple([position for one in found for position in one.first]),
                    tuple([position for one in found for position in one.last]),
                    any(one.is_empty for one in found),
                )
            case Repeated():
                return self._repeated(expression)
        return self._alone(expression)

    def _alone(self, automaton: Automaton) -> _Fragment:
        if len(self.automata) == MAX_POSITIONS:
            raise PatternError(
                f"A combination has more than {MAX_POSITIONS:,} places",
                pattern="",
                remedy="Repeat less, or leave out the maximum.",
            )
        self.automata.append(automaton)
        self.following.append([])
        position = len(self.automata) - 1
        return _Fragment((position,), (position,), is_empty=False)

    def _then(self, left: _Fragment, right: _Fragment) -> _Fragment:
        self._link(left, right)
        return _Fragment(
            left.first + (right.first if left.is_empty else ()),
            right.last + (left.last if right.is_empty else ()),
            left.is_empty and right.is_empty,
        )

    def _link(self, left: _Fragment, right: _Fragment) -> None:
        for position in left.last:
            self.following[position] += right.first

    def _repeated(self, expression: Repeated) -> _Fragment:
        """Lay out as many items as are counted; without a maximum, one more, again and again."""
        item, separator, minimum, maximum = expression
        if maximum == 0:
            return _Fragment((), (), is_empty=True)
        whole = self.add(item)
        ends = [whole] if minimum <= 1 else []
        for count in range(2, (max(minimum, 1) if maximum is None else maximum) + 1):
            whole = self._then(self._then(whole, self.add(separator)), self.add(item))
            if count >= minimum:
                ends.append(whole)
        if maximum is None:
            again = self._then(self.add(separator), self.add(item))
            self._link(again, again)
            ends = [self._then(whole, again._replace(is_empty=True))]
        is_empty = minimum == 0 or any(end.is_empty for end in ends)
        return _Fragment(ends[-1].first, tuple([position for end in ends for position in end.last]), is_empty)


class CombinedAutomaton(LazyAutomaton[tuple[bool, frozenset[Member]]]):
    """The automaton of a combination; follows the `Automaton` protocol.

    Raises PatternError if it has too many positions, or a part that remembers what it has read.
    """

    def __init__(self, expression: Expression, *, limits: Limits = LIMITS) -> None:
        super().__init__(limits)
        found = _each(expression, _taken_apart)
        assert found is not None, "nothing was left out"
        self.expression: Expression = found
        check_memory(self.parts)
        self.positions = Positions.of(found)
        self.start = self._begin((self.positions.is_empty, self._alive(self.positions.begun(self.positions.first))))

    @property
    def parts(self) -> list[Automaton]:
        """What is combined, in the order in which it is written down."""
        return list(_automata(self.expression))

    def of(self, parts: Sequence[Automaton]) -> Self:
        """Return the combination of others."""
        left = iter(parts)
        found = _each(self.expression, lambda _: next(left))
        assert found is not None, "nothing was left out"
        return type(self)(found, limits=self.limits)

    @property
    def fingerprint(self) -> bytes | None:
        """A digest of what is combined; None if a part has none."""
        written = _written(self.expression)
        return None if written is None else hashlib.sha256(repr(("combination", written)).encode()).digest()

    def with_prefix(self, text: str) -> "CombinedAutomaton":
        """Return the automaton of the same texts, each with some text in front."""
        beginning = RegularAutomaton(literal(text))
        return CombinedAutomaton(InSequence((beginning, self.expression)), limits=self.limits)

    def without_bytes(self, absent: frozenset[int]) -> "CombinedAutomaton | None":
        """Return the automaton of the same texts but for those in which some bytes occur; see the protocol."""
        known: dict[int, Automaton | None] = {}

        def restricted(automaton: Automaton) -> Automaton | None:
            if id(automaton) not in known:
                known[id(automaton)] = automaton.without_bytes(absent)
            return known[id(automaton)]

        left = _each(self.expression, restricted)
        return None if left is None else CombinedAutomaton(left, limits=self.limits)

    def successors(
        self, content: tuple[bool, frozenset[Member]]
    ) -> tuple[list[tuple[bool, frozenset[Member]] | None], NDArray[np.intp]]:
        """Return what bytes lead to, by the rows of all members."""
        members = sorted(content[1])
        rows = [row_of(self.positions.automata[position], state) for position, state in members]
        if not rows:
            return [None], np.zeros(256, dtype=np.intp)
        columns, places = by_column(np.stack(rows))
        found: list[tuple[bool, frozenset[Member]] | None] = []
        for column in columns:
            after = [
                (position, target) for (position, _), target in zip(members, column, strict=True) if target != DEAD
            ]
            alive = self._alive(after)
            found.append((False, alive) if alive else None)
        return found, places

    def distance(self, content: tuple[bool, frozenset[Member]]) -> int:
        """Return the bytes of the shortest completion: of one member, and behind its position."""
        is_empty, members = content
        automata, rest = self.positions.automata, self.positions.rest
        found = (int(automata[position].distances[state]) + rest[position] for position, state in members)
        return 0 if is_empty else min(found)

    def _alive(self, members: Iterable[Member]) -> frozenset[Member]:
        return frozenset(self.positions.closure(members))


def _written(expression: Expression) -> object:
    """Return an expression with the fingerprints of its automata; None if one has none."""
    match expression:
        case InSequence(parts) | OneOf(parts):
            found = list(map(_written, parts))
            return None if None in found else (type(expression).__name__, *found)
        case Repeated(item, separator, minimum, maximum):
            inner = _written(item), _written(separator)
            return None if None in inner else ("Repeated", *inner, minimum, maximum)
    return expression.fingerprint


def _taken_apart(automaton: Automaton) -> Expression:
    """Return what an automaton combines; itself if it is no combination."""
    return automaton.expression if isinstance(automaton, CombinedAutomaton) else automaton


def _each(expression: Expression, change: Callable[[Automaton], Expression | None]) -> Expression | None:
    match expression:
        case InSequence(parts):
            found = [_each(part, change) for part in parts]
            kept = tuple([part for part in found if part is not None])
            return InSequence(kept) if len(kept) == len(found) else None
        case OneOf(options):
            left = tuple([one for one in (_each(option, change) for option in options) if one is not None])
            return OneOf(left) if left else None
        case Repeated(item, separator, minimum, maximum):
            one, between = _each(item, change), _each(separator, change)
            if one is None or maximum == 0:
                return InSequence(()) if minimum == 0 else None
            if between is None:
                return Repeated(one, InSequence(()), minimum, 1) if minimum <= 1 else None
            return Repeated(one, between, minimum, maximum)
    return change(expression)
