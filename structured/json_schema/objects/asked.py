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
from structured.json_schema.objects.obligations import Open
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
    """The clauses that are met, and the kinds of which no more may be written; the members that are left to write."""

    met: Open = frozenset()
    closed: frozenset[int] = frozenset()
    left: int | None = None
    is_first: bool = True


class Asked:
    """The members by other names of one object that meet some clauses, each by a property that it asks for."""

    def __init__(self, asked: list[tuple[int, Subschema]], kinds: list[Kind], clauses: Open) -> None:
        self._parts = {index: pair for index, pair in enumerate(asked) if pair[0] in clauses}
        self._kinds = kinds
        self._clauses = clauses
        self._named = {index for index, (_, part) in self._parts.items() if _asked(part).schema is True}
        self._reached = 0

    def check_names(self) -> None:
        """Refuse two properties that are asked for by their values, and that may have names of one kind."""
        for kind in self._kinds:
            alone = [index for index in self._valued(kind, frozenset()) if kind.member((index,)) is not None]
            if any(self._differ(one, other) for one, other in combinations(alone, 2)):
                raise self._parts[alone[1]][1].location.refusal(
                    "More than one property of an open object is asked for, and they might have the same name",
                    keyword=None,
                    remedy="List the properties.",
                )

    def _differ(self, one: int, other: int) -> bool:
        """Tell whether two that are asked for meet different clauses by different values."""
        (clause, part), (other_clause, other_part) = self._parts[one], self._parts[other]
        return clause != other_clause and _key(part) != _key(other_part)

    def _valued(self, kind: Kind, met: Open) -> list[int]:
        """Return which of those asked for by their values may be of a kind, and meet another clause."""
        return [
            index
            for index, (clause, _) in self._parts.items()
            if index in kind.asked and index not in self._named and clause not in met
        ]

    def _named_clauses(self, kind: Kind) -> Open:
        """Return the clauses that are met by any member of a kind."""
        return frozenset(self._parts[index][0] for index in self._named & kind.asked)

    def written(self, comma: Pattern) -> Pattern | None:
        """Return the members from the first that is asked for on; None if not all can be met."""
        return right_linear(_State(), lambda state: self._arcs(state, comma), lambda state: state.met == self._clauses)

    def exactly(self, count: int, comma: Pattern) -> Pattern | None:
        """Return as many members, each of which is asked for; None if they cannot meet all."""
        start = _State(left=count)
        return right_linear(
            start, lambda state: self._arcs(state, comma), lambda state: state.met == self._clauses and state.left == 0
        )

    def __len__(self) -> int:
        return len(self._clauses)

    def _arcs(self, state: _State, comma: Pattern) -> Iterator[tuple[Pattern, _State]]:
        """Yield the members that may follow, with the states after them."""
        self._reached += 1
        if self._reached > MAX_STATES:
            raise next(iter(self._parts.values()))[1].location.refusal(
                "Too many properties of an open object are asked for", keyword=None, remedy="List the properties."
            )
        if state.left == 0:
            return
        before = EMPTY if state.is_first else comma
        left = None if state.left is None else state.left - 1
        for number, kind in enumerate(self._kinds):
            if number in state.closed:
                continue
            for valued in _subsets(self._valued(kind, state.met | self._named_clauses(kind))):
                met = state.met | self._named_clauses(kind) | {self._parts[index][0] for index in valued}
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


def _key(part: Subschema) -> object:
    """Return what is the same where the same is asked of the value."""
    schema = _asked(part).schema
    return schema if isinstance(schema, bool) else (id(schema.schema), schema.location.entered, schema.is_denied)


def _subsets(items: list[int]) -> Iterator[tuple[int, ...]]:
    return chain.from_iterable(combinations(items, size) for size in range(len(items) + 1))
