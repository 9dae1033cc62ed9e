"""Combinations of automata: sequences, choices and repetitions.

If all parts are patterns, the combination is a pattern too. Otherwise it is a position automaton (Glushkov, "The
abstract theory of automata", 1961), with an automaton at each position in place of a character. A state is a set of
positions, each with a state of its automaton. The copies of a part that is repeated a limited number of times are
separate positions with the same automaton.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from heapq import heappop, heappush
from itertools import chain
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from structured.automata.byte_automaton import DEAD, Automaton, reset_if_exhausted
from structured.automata.lazy import LIMITS, LazyAutomaton, complete_row, distinct_columns, refuse_unique_items
from structured.automata.opcodes import FAR
from structured.automata.regular import Limits, RegularAutomaton
from structured.errors import PatternError
from structured.regex import EMPTY, Pattern, alternation, concat, literal, repeat

MAX_POSITIONS = 10_000
"""The most positions of one combination."""


class InSequence(NamedTuple):
    """The texts of all parts, one after the other."""

    parts: "tuple[Expression, ...]"


class OneOf(NamedTuple):
    """The texts of one of several options; at least one option."""

    options: "tuple[Expression, ...]"


class Repeated(NamedTuple):
    """`minimum` to `maximum` texts of an item, with a separator between each two; None is no maximum."""

    item: "Expression"
    separator: "Expression"
    minimum: int
    maximum: int | None


Expression = Automaton | InSequence | OneOf | Repeated
"""A tree of combinations with automata as leaves."""


def combined(expression: Expression) -> Automaton:
    """Return the automaton of a combination: a regular one if all its parts are regular.

    Raises PatternError if it has too many positions.
    """
    parts = list(_automata(expression))
    regular = [part for part in parts if isinstance(part, RegularAutomaton)]
    if len(regular) < len(parts):
        return CombinedAutomaton(expression)
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
            item_pattern = _pattern(item)
            if maximum == 0:
                return EMPTY
            separated, most = concat(_pattern(separator), item_pattern), None if maximum is None else maximum - 1
            repeated = concat(item_pattern, repeat(separated, max(minimum - 1, 0), most))
            return repeated if minimum > 0 else repeat(repeated, 0, 1)
        case RegularAutomaton():
            return expression.pattern
    raise TypeError(f"{expression!r} is not a regular automaton")


Member = tuple[int, int]
"""A position, and a state of its automaton."""

_Content = tuple[bool, frozenset[Member]]
"""Whether nothing has been read of an expression that may be empty, and the members of a state."""


@dataclass(frozen=True, eq=False)
class Positions:
    """The positions of automata in a combination: the first ones, and the ones that may follow each.

    A text may end after a `last` position; the empty text is one if `may_be_empty`.
    """

    automata: Sequence[Automaton]
    first: Sequence[int]
    followers: Sequence[Sequence[int]]
    last: frozenset[int]
    may_be_empty: bool

    @classmethod
    def of(cls, expression: Expression) -> "Positions":
        """Return the positions of a combination, in the order of its parts."""
        builder = _PositionBuilder()
        fragment = builder.add(expression)
        followers = [tuple(dict.fromkeys(successors)) for successors in builder.followers]
        return cls(builder.automata, fragment.first, followers, frozenset(fragment.last), fragment.may_be_empty)

    @cached_property
    def bytes_after(self) -> list[int]:
        """The bytes of the shortest text after each position, FAR if there is none (by Dijkstra's algorithm)."""
        predecessors: list[list[int]] = [[] for _ in self.automata]
        for position, followers in enumerate(self.followers):
            for follower in followers:
                predecessors[follower].append(position)
        bytes_after = [FAR] * len(self.automata)
        queue = [(0, position) for position in sorted(self.last)]
        while queue:
            size, position = heappop(queue)
            if size < bytes_after[position]:
                bytes_after[position] = size
                automaton = self.automata[position]
                whole = size + int(automaton.distances[automaton.start])
                for source in predecessors[position]:
                    heappush(queue, (whole, source))
        return bytes_after

    @property
    def is_exhausted(self) -> bool:
        """Whether an automaton is exhausted."""
        return any(automaton.is_exhausted for automaton in self.automata)

    def reset(self) -> Self:
        """Return the same positions, with exhausted automata reset."""
        replacements = {id(automaton): reset_if_exhausted(automaton) for automaton in self.automata}
        return replace(self, automata=[replacements[id(automaton)] for automaton in self.automata])

    def start_members(self, positions: Iterable[int]) -> list[Member]:
        """Return positions with the states before their texts."""
        return [(position, self.automata[position].start) for position in positions]

    def closure(self, members: Iterable[Member]) -> list[Member]:
        """Return some members and, after each whose text may end, the members that may follow; each once."""
        open_ends, seen = list(members), dict[Member, None]()
        while open_ends:
            member = open_ends.pop()
            if member not in seen:
                seen[member] = None
                position, state = member
                if self.automata[position].accepts(state):
                    open_ends += self.start_members(self.followers[position])
        return list(seen)


class _Fragment(NamedTuple):
    """A part of a combination: its first and last positions, and whether it may be empty."""

    first: tuple[int, ...]
    last: tuple[int, ...]
    may_be_empty: bool


@dataclass(slots=True)
class _PositionBuilder:
    """The positions of a combination while they are collected."""

    automata: list[Automaton] = field(default_factory=list)
    followers: list[list[int]] = field(default_factory=list)

    def add(self, expression: Expression) -> _Fragment:
        """Add the positions of an expression."""
        match expression:
            case InSequence(parts):
                return reduce(self._then, map(self.add, parts), _Fragment((), (), may_be_empty=True))
            case OneOf(options):
                first, last, may_be_empty = zip(*map(self.add, options), strict=True)
                return _Fragment(tuple(chain.from_iterable(first)), tuple(chain.from_iterable(last)), any(may_be_empty))
            case Repeated():
                return self._repeated(expression)
        return self._alone(expression)

    def _alone(self, automaton: Automaton) -> _Fragment:
        if len(self.automata) == MAX_POSITIONS:
            raise PatternError(
                f"A combination has more than {MAX_POSITIONS:,} positions",
                pattern="",
                remedy="Lower the numbers of repetitions, or omit the maximum.",
            )
        self.automata.append(automaton)
        self.followers.append([])
        position = len(self.automata) - 1
        return _Fragment((position,), (position,), may_be_empty=False)

    def _then(self, left: _Fragment, right: _Fragment) -> _Fragment:
        self._link(left, right)
        return _Fragment(
            left.first + (right.first if left.may_be_empty else ()),
            right.last + (left.last if right.may_be_empty else ()),
            left.may_be_empty and right.may_be_empty,
        )

    def _link(self, left: _Fragment, right: _Fragment) -> None:
        for position in left.last:
            self.followers[position] += right.first

    def _repeated(self, expression: Repeated) -> _Fragment:
        """Add the positions of each counted item; without a maximum, those of one more, which follows itself."""
        item, separator, minimum, maximum = expression
        if maximum == 0:
            return _Fragment((), (), may_be_empty=True)
        counted = self.add(item)
        ends = [counted] if minimum <= 1 else []
        for count in range(2, (max(minimum, 1) if maximum is None else maximum) + 1):
            counted = self._then(self._then(counted, self.add(separator)), self.add(item))
            if count >= minimum:
                ends.append(counted)
        if maximum is None:
            separated_item = self._then(self.add(separator), self.add(item))
            self._link(separated_item, separated_item)
            ends = [self._then(counted, separated_item._replace(may_be_empty=True))]
        may_be_empty = minimum == 0 or any(end.may_be_empty for end in ends)
        return _Fragment(ends[-1].first, tuple(chain.from_iterable(end.last for end in ends)), may_be_empty)


class CombinedAutomaton(LazyAutomaton[_Content]):
    """The automaton of a combination; follows the `Automaton` protocol.

    Raises PatternError if it has too many positions, or a part whose items must differ.
    """

    def __init__(self, expression: Expression, *, limits: Limits = LIMITS) -> None:
        super().__init__(limits)
        flat = _replace_automata(expression, lambda part: part.expression if isinstance(part, type(self)) else part)
        assert flat is not None, "every part has a replacement"
        self.expression: Expression = flat
        refuse_unique_items(self.parts)
        self.positions = positions = Positions.of(flat)
        members = positions.closure(positions.start_members(positions.first))
        self.start = self._start_state((positions.may_be_empty, frozenset(members)))

    @property
    def parts(self) -> list[Automaton]:
        """The automata of the combination, in order."""
        return list(_automata(self.expression))

    def with_parts(self, parts: Sequence[Automaton]) -> Self:
        """Return the same combination of other automata."""
        replacements = iter(parts)
        replaced = _replace_automata(self.expression, lambda _: next(replacements))
        assert replaced is not None, "every part has a replacement"
        return type(self)(replaced, limits=self.limits)

    @property
    def fingerprint(self) -> bytes | None:
        """A digest of the combination; None if a part has no fingerprint."""
        written = _with_fingerprints(self.expression)
        return None if written is None else hashlib.sha256(repr(("combination", written)).encode()).digest()

    def with_prefix(self, text: str) -> "CombinedAutomaton":
        """Return the automaton of the same texts, each with some text in front."""
        beginning = RegularAutomaton(literal(text))
        return CombinedAutomaton(InSequence((beginning, self.expression)), limits=self.limits)

    def without_bytes(self, absent: frozenset[int]) -> "CombinedAutomaton | None":
        """Return the automaton of the same texts but for those in which some bytes occur; see the protocol."""
        restricted = {automaton: automaton.without_bytes(absent) for automaton in set(self.parts)}
        left = _replace_automata(self.expression, restricted.__getitem__)
        return None if left is None else CombinedAutomaton(left, limits=self.limits)

    def successors(self, content: _Content) -> tuple[list[_Content | None], NDArray[np.intp]]:
        """Return the successors of a content, from the rows of all members."""
        members = sorted(content[1])
        rows = [complete_row(self.positions.automata[position], state) for position, state in members]
        if not rows:
            return [None], np.zeros(256, dtype=np.intp)
        columns, places = distinct_columns(np.stack(rows))
        contents: list[_Content | None] = []
        for column in columns:
            after = [(position, state) for (position, _), state in zip(members, column, strict=True) if state != DEAD]
            contents.append((False, frozenset(self.positions.closure(after))) if after else None)
        return contents, places

    def distance(self, content: _Content) -> int:
        """Return the bytes of the shortest completion: of a member, and of the positions after it."""
        may_be_empty, members = content
        automata, bytes_after = self.positions.automata, self.positions.bytes_after
        lengths = (int(automata[position].distances[state]) + bytes_after[position] for position, state in members)
        return 0 if may_be_empty else min(lengths)


def _with_fingerprints(expression: Expression) -> object:
    """Return an expression with fingerprints in place of its automata; None if an automaton has none."""
    match expression:
        case InSequence(parts) | OneOf(parts):
            written = list(map(_with_fingerprints, parts))
            return None if None in written else (type(expression).__name__, *written)
        case Repeated(item, separator, minimum, maximum):
            inner = _with_fingerprints(item), _with_fingerprints(separator)
            return None if None in inner else ("Repeated", *inner, minimum, maximum)
    return expression.fingerprint


def _replace_automata(expression: Expression, new: Callable[[Automaton], Expression | None]) -> Expression | None:
    """Return an expression with `new(automaton)`, None for no text, as each automaton; None if no text is left."""
    match expression:
        case InSequence(parts) | OneOf(parts):
            replaced = [_replace_automata(part, new) for part in parts]
            left = tuple([part for part in replaced if part is not None])
            if isinstance(expression, OneOf):
                return OneOf(left) if left else None
            return InSequence(left) if len(left) == len(replaced) else None
        case Repeated(item, separator, minimum, maximum):
            new_item, new_separator = _replace_automata(item, new), _replace_automata(separator, new)
            if new_item is None or maximum == 0:
                return InSequence(()) if minimum == 0 else None
            if new_separator is None:
                return Repeated(new_item, InSequence(()), minimum, 1) if minimum <= 1 else None
            return Repeated(new_item, new_separator, minimum, maximum)
    return new(expression)
