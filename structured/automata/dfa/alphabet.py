r"""The alphabet of an automaton: classes of characters that no transition tells apart.

The `\w` of Unicode cuts the characters into about 1,400 ranges but only two classes, so tables have two columns and
not 1,400. Classes are numbered in the order of their first characters; a block of classes is an integer with one bit
for each. Ranges without classes were rejected: every product and every round of minimisation would read all of them.
"""

from bisect import bisect_right
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from structured.regex.character_sets import Range
from structured.regex.syntax import ANY_CHARACTER, Anchor, AutomatonPattern, CharSet, Literal, Pattern, Words
from structured.regex.traversal import nodes_of

Step = tuple[int, int, int]
"""The first and the last character of a range, and the number of the state that they lead to."""

DEAD = -1
"""The number of no state: what leads there leads nowhere."""

_PAST_LAST_CHARACTER = 0x110000

T = TypeVar("T")

_CELLS = 1 << 20
"""The most entries of rows whose steps are computed at once."""


@dataclass(frozen=True, eq=False)
class Alphabet:
    """The characters in classes: those from each of the `starts` up to the next are in the class beside it."""

    starts: tuple[int, ...]
    classes: tuple[int, ...]
    _blocks: dict[tuple[Range, ...], int] = field(init=False, repr=False, default_factory=dict)
    _members: dict[int, tuple[int, ...]] = field(init=False, repr=False, default_factory=dict)

    @cached_property
    def firsts(self) -> tuple[int, ...]:
        """The first character of each class."""
        firsts = dict(zip(reversed(self.classes), reversed(self.starts), strict=True))
        return tuple(sorted(firsts.values()))

    def __len__(self) -> int:
        return len(self.firsts)

    def class_of(self, character: int) -> int:
        """Return the class of a character."""
        return self.classes[bisect_right(self.starts, character) - 1]

    def block(self, ranges: tuple[Range, ...]) -> int:
        """Return the block of the characters of some sorted ranges, which cut no class."""
        block = self._blocks.get(ranges)
        if block is None:
            block = 0
            for number, first in enumerate(self.firsts):
                place = bisect_right(ranges, (first, _PAST_LAST_CHARACTER)) - 1
                block |= (place >= 0 and first <= ranges[place][1]) << number
            self._blocks[ranges] = block
        return block

    def members(self, block: int) -> tuple[int, ...]:
        """Return the classes of a block."""
        members = self._members.get(block)
        if members is None:
            members = self._members[block] = tuple([number for number in range(len(self)) if block >> number & 1])
        return members

    def row(self, states: Mapping[str, Any]) -> list[Any]:
        """Return the state of each class, given the states of some first characters; None for the other classes."""
        return [states.get(chr(first)) for first in self.firsts]

    def steps(self, rows: NDArray[np.int32]) -> tuple[tuple[Step, ...], ...]:
        """Return for each row, the number of a state for each class, the longest ranges that lead to the same state."""
        size = max(_CELLS // len(self.starts), 1)
        return tuple([steps for at in range(0, len(rows), size) for steps in self._steps_of_part(rows[at : at + size])])

    def _steps_of_part(self, rows: NDArray[np.int32]) -> Iterator[tuple[Step, ...]]:
        """Yield the steps of a few rows."""
        targets = rows[:, self.classes]
        begins = np.ones(targets.shape, dtype=np.bool_)
        begins[:, 1:] = targets[:, 1:] != targets[:, :-1]
        row, place = np.nonzero(begins)
        low = np.array(self.starts, dtype=np.int32)[place]
        high = np.where(np.append(row[1:] == row[:-1], False), np.append(low[1:], 0), _PAST_LAST_CHARACTER) - 1
        states = targets[begins]
        live = states != DEAD
        steps = list(zip(low[live].tolist(), high[live].tolist(), states[live].tolist(), strict=True))
        ends = np.cumsum(np.bincount(row[live], minlength=len(rows))).tolist()
        return (tuple(steps[start:end]) for start, end in zip([0, *ends], ends, strict=False))


def alphabet_of(pattern: Pattern) -> Alphabet:
    """Return the alphabet of the characters that a pattern tells apart; the same each time."""
    return common_alphabet(frozenset(ranges for node in nodes_of(pattern) for ranges in _sets_of(node)))


@lru_cache(maxsize=256)
def common_alphabet(sets: frozenset[tuple[Range, ...]]) -> Alphabet:
    """Return the alphabet of the characters that some sets, and that of all, tell apart."""
    changes: dict[int, int] = {0: 0}
    for index, ranges in enumerate([*sets, ANY_CHARACTER.ranges]):
        for low, high in ranges:
            for cut in (low, high + 1):
                changes[cut] = changes.get(cut, 0) ^ 1 << index
    changes.pop(_PAST_LAST_CHARACTER, None)
    starts = sorted(changes)
    membership = 0  # of the characters from a start on, one bit for each of the sets
    memberships: list[int] = []
    for start in starts:
        membership ^= changes[start]
        memberships.append(membership)
    return Alphabet(tuple(starts), numbered(memberships))


@lru_cache(maxsize=256)
def refinement(alphabets: tuple[Alphabet, ...]) -> tuple[Alphabet, tuple[tuple[int, ...], ...]]:
    """Return the coarsest alphabet that is finer than some, and for each of these the classes that contain its own."""
    if len(set(alphabets)) == 1:
        return alphabets[0], (tuple(range(len(alphabets[0]))),) * len(alphabets)
    changes: dict[int, list[tuple[int, int]]] = {}
    for part, alphabet in enumerate(alphabets):
        for start, number in zip(alphabet.starts, alphabet.classes, strict=True):
            changes.setdefault(start, []).append((part, number))
    starts = sorted(changes)
    current_classes = [0] * len(alphabets)
    classes: list[tuple[int, ...]] = []
    for start in starts:
        for part, number in changes[start]:
            current_classes[part] = number
        classes.append(tuple(current_classes))
    return Alphabet(tuple(starts), numbered(classes)), tuple(zip(*dict.fromkeys(classes), strict=True))


class Numbered(list[T]):
    """Distinct values, each numbered by its place."""

    def __init__(self) -> None:
        super().__init__()
        self._numbers: dict[T, int] = {}

    def number(self, value: T) -> int:
        """Return the number of a value, which is appended if it is new."""
        number = self._numbers.setdefault(value, len(self))
        if number == len(self):
            self.append(value)
        return number


def numbered(values: Iterable[Hashable]) -> tuple[int, ...]:
    """Return the numbers of some values, in the order in which they first appear: `b a b` → `0 1 0`."""
    return tuple(map(Numbered[Hashable]().number, values))


def _sets_of(node: Pattern) -> Iterable[tuple[Range, ...]]:
    """Yield the sets of characters that a node tells from others."""
    match node:
        case Literal(text):
            return [((ord(character), ord(character)),) for character in text]
        case Words(texts):
            return [((ord(character), ord(character)),) for character in set().union(*texts)]
        case CharSet(ranges):
            return [ranges]
        case Anchor(_, word_characters):
            return [word_characters]
        case AutomatonPattern(arcs):
            return {ranges for row in arcs for ranges in ranges_by_state(row).values()}
    return ()


def ranges_by_state(row: Iterable[Step]) -> dict[int, tuple[Range, ...]]:
    """Return for each state the ranges of characters that lead to it."""
    by_state: dict[int, list[Range]] = {}
    for low, high, state in row:
        by_state.setdefault(state, []).append((low, high))
    return {state: tuple(ranges) for state, ranges in by_state.items()}
