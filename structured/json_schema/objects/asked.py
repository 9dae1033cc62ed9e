"""Members of an object that are asked for by what they hold or are called, as an automaton over members.

A state tells which are met, and by names of which kinds. A later member of the same name would take the place of one
that is asked for by its value, since the last counts; so none of that kind is written after it. What is asked for by
its name alone is met by any value.
"""

from collections.abc import Callable, Iterator
from itertools import chain, combinations
from typing import NamedTuple

from structured.json_schema.document.location import Subschema
from structured.json_schema.logic.asked_properties import SomeProperty
from structured.regex import EMPTY, Pattern, concat, right_linear

MAX_STATES = 4096
"""Sets of properties that are met, in one object, times the members that are counted."""


class Kind(NamedTuple):
    """Names for which the same is said of the value: which of the properties asked for may be called so.

    `member` returns the member of which some of those are asked besides, None if there is none.
    """

    asked: frozenset[int]
    member: Callable[[tuple[int, ...]], Pattern | None]


class _State(NamedTuple):
    """What is met, and the kinds of which no more may be written; the members that are left to be written."""

    met: frozenset[int] = frozenset()
    closed: frozenset[int] = frozenset()
    left: int | None = None
    is_first: bool = True


class Asked:
    """The members by other names of one object, some of which are asked for."""

    def __init__(self, parts: list[Subschema], kinds: list[Kind]) -> None:
        self._parts = parts
        self._kinds = kinds
        self._all = frozenset(range(len(parts)))
        self._named = frozenset(index for index, part in enumerate(parts) if _asked(part).schema is True)
        self._reached = 0

    def check_names(self) -> None:
        """Refuse two properties that are asked for by their values, and that may have names of one kind."""
        for kind in self._kinds:
            alone = [index for index in sorted(kind.asked - self._named) if kind.member((index,)) is not None]
            if any(
                _asked(self._parts[one]).schema != _asked(self._parts[other]).schema
                for one, other in combinations(alone, 2)
            ):
                raise self._parts[alone[1]].location.refusal(
                    "More than one property of an open object is asked for, and they might have the same name",
                    keyword=None,
                    remedy="List the properties.",
                )

    def written(self, comma: Pattern) -> Pattern | None:
        """Return the members from the first that is asked for on; None if not all can be met."""
        return right_linear(_State(), lambda state: self._arcs(state, comma), lambda state: state.met == self._all)

    def exactly(self, count: int, comma: Pattern) -> Pattern | None:
        """Return as many members, each of which is asked for; None if they cannot meet all."""
        start = _State(left=count)
        return right_linear(
            start, lambda state: self._arcs(state, comma), lambda state: state.met == self._all and state.left == 0
        )

    def __len__(self) -> int:
        return len(self._parts)

    def _arcs(self, state: _State, comma: Pattern) -> Iterator[tuple[Pattern, _State]]:
        """Yield the members that may follow, with the states after them."""
        self._reached += 1
        if self._reached > MAX_STATES:
            raise self._parts[-1].location.refusal(
                "Too many properties of an open object are asked for", keyword=None, remedy="List the properties."
            )
        if state.left == 0:
            return
        before = EMPTY if state.is_first else comma
        left = None if state.left is None else state.left - 1
        for number, kind in enumerate(self._kinds):
            if number in state.closed:
                continue
            for valued in _subsets(sorted(kind.asked - self._named - state.met)):
                met = state.met | (kind.asked & self._named) | frozenset(valued)
                is_new = met != state.met
                if not is_new and (state.is_first or state.left is not None):
                    continue
                member = kind.member(valued)
                if member is not None:
                    closed = state.closed | {number} if valued else state.closed
                    yield concat(before, member), _State(met, closed, left, is_first=False)


def _asked(part: Subschema) -> SomeProperty:
    asked: SomeProperty = part.schema["some property"]
    return asked


def _subsets(items: list[int]) -> Iterator[tuple[int, ...]]:
    return chain.from_iterable(combinations(items, size) for size in range(len(items) + 1))
