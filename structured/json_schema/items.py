"""Items of arrays: their schemas, the brackets around them, and the items that an array has to contain.

Items follow each other, so an array is a regular language over its items. Where `contains` counts some of them (core
§10.3.1.3, §11.2; validation §6.4.4, §6.4.5), it is an automaton: a state is a position and the number of items seen so
far that satisfy each counted schema.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from math import inf
from operator import add, gt
from typing import TypeVar

from structured.errors import UnsatisfiableError
from structured.json_schema.document.drafts import SchemaDraft
from structured.json_schema.document.location import (
    InternalSchema,
    Location,
    PatternOf,
    RelocatedSchema,
    Subschema,
    Subschemas,
)
from structured.json_schema.logic.complements import SomeItem, contained
from structured.regex import Pattern, alternation, concat, right_linear

State = TypeVar("State", bound=Hashable)


def read_by(
    start: State,
    arcs: Callable[[State], Iterable[tuple[Pattern, State]]],
    accepts: Callable[[State], bool],
    location: Location,
) -> Pattern | None:
    """Return the arrays whose items lead an automaton from a state to one that accepts; None if no array does."""
    comma = location.whitespace.comma(location.depth)

    kept: dict[tuple[int, ...], tuple[list[Pattern], Pattern]] = {}  # one node after a comma for the same items

    def separated(reached: tuple[State, bool]) -> Iterator[tuple[Pattern, tuple[State, bool]]]:
        state, is_first = reached
        by_target: dict[State, list[Pattern]] = {}
        for item, target in arcs(state):
            by_target.setdefault(target, []).append(item)
        for target, items in by_target.items():
            if is_first:
                yield alternation(*items), (target, False)
            else:
                key = tuple(map(id, items))
                if key not in kept:
                    kept[key] = items, concat(comma, alternation(*items))
                yield kept[key][1], (target, False)

    filled = right_linear((start, True), separated, lambda reached: not reached[1] and accepts(reached[0]))
    may_be_empty = accepts(start)
    if filled is None:
        return location.whitespace.enclosed("[]", None, location.depth) if may_be_empty else None
    return location.whitespace.enclosed("[]", filled, location.depth, may_be_empty=may_be_empty)


def items_of(schemas: Subschemas, maximum: int | None, pattern_of: PatternOf) -> tuple[list[Pattern], Pattern | None]:
    """Return the patterns of the first items and of any other item; None if there can be no other."""
    first: list[Pattern] = []
    for position in range(max(len(part.first_items) for part in schemas)):
        if position == maximum:
            return first, None
        try:
            first.append(pattern_of([part.item(position) for part in schemas]))
        except UnsatisfiableError:
            return first, None
    if maximum is not None and maximum <= len(first):
        return first, None
    try:
        return first, pattern_of([part.item(inf) for part in schemas])
    except UnsatisfiableError:
        if not first and max(part.length("minItems") or 0 for part in schemas):
            raise
        return first, None


MAX_STATES = 4096
"""Positions times combinations of counts, in one array."""


@dataclass(frozen=True, slots=True)
class ItemNeed:
    """The requirement of `part` that `least` to `most` items from position `start` on satisfy a schema."""

    start: int
    schema: RelocatedSchema
    least: int
    most: int | None
    part: Subschema

    @property
    def highest(self) -> int:
        """The count from which on further items make no difference."""
        return self.least if self.most is None else self.most


def read_needs(schemas: Subschemas) -> Iterator[ItemNeed]:
    """Yield the needs of some schemas."""
    for part in schemas:
        if part.has("contains"):
            least, most = contained(part)
            if least or most is not None or part.unevaluated_parents:
                yield ItemNeed(0, part.relocated("contains"), least, most, part)
        some = part.schema.get("some item") if isinstance(part.schema, InternalSchema) else None
        if isinstance(some, SomeItem):
            yield ItemNeed(some.start, some.schema, 1, None, part)


_Progress = tuple[int, tuple[int, ...]]
"""A position, and how many items have met each need; both stop at the value from which on they make no difference."""


class ArrayWithNeeds:
    """The arrays that contain certain items, as an automaton over items."""

    def __init__(
        self,
        schemas: Subschemas,
        location: Location,
        pattern_of: PatternOf,
        needs: list[ItemNeed],
        limits: tuple[int, int | None],
    ) -> None:
        self.schemas = schemas
        self.location = location
        self.pattern_of = pattern_of
        self.needs = needs
        self.minimum, self.maximum = limits
        self.listed = max(len(part.first_items) for part in schemas)
        self.last = max([self.minimum, self.maximum or 0, self.listed, *(need.start for need in needs)])
        self.items: dict[tuple[int, tuple[bool, ...]], Pattern | None] = {}
        self._held: dict[tuple[bool, ...], list[tuple[bool, ...]]] = {}
        self._most = [inf if need.most is None else need.most for need in needs]
        self._highest = [need.highest for need in needs]
        states = (self.last + 1) * 2 ** sum(need.highest + 1 for need in needs).bit_length()
        if states > MAX_STATES:
            raise location.refusal(
                "Counts of items this high are not supported beside 'contains'",
                keyword="contains",
                remedy="Lower the counts.",
            )

    def pattern(self) -> Pattern:
        """Return the pattern of the arrays."""
        pattern = read_by((0, (0,) * len(self.needs)), self._arcs, self._ends, self.location)
        if pattern is None:
            raise self.location.unsatisfiable("no array has the required items", keyword="contains")
        return pattern

    def _ends(self, state: _Progress) -> bool:
        position, met = state
        return position >= self.minimum and all(
            count >= need.least for count, need in zip(met, self.needs, strict=True)
        )

    def _arcs(self, state: _Progress) -> Iterator[tuple[Pattern, _Progress]]:
        """Yield the items that may follow, and the states after them."""
        position, met = state
        if position == self.maximum:
            return
        following = position + 1 if self.maximum is not None else min(position + 1, self.last)
        for held in self._held_at(position, met):
            counted = tuple(map(add, met, held))
            item = None if any(map(gt, counted, self._most)) else self._item(position, held)
            if item is not None:
                yield item, (following, tuple(map(min, counted, self._highest)))

    def _held_at(self, position: int, met: tuple[int, ...]) -> list[tuple[bool, ...]]:
        """Return the sets of needs that an item at a position may meet; needs that are fully met are left out."""
        is_open = tuple(
            position >= need.start
            and (need.most is not None or count < need.highest or bool(need.part.unevaluated_parents))
            for count, need in zip(met, self.needs, strict=True)
        )
        if is_open not in self._held:
            self._held[is_open] = list(product(*[(False, True) if may_hold else (False,) for may_hold in is_open]))
        return self._held[is_open]

    def _item(self, position: int, held: tuple[bool, ...]) -> Pattern | None:
        key = min(position, self.listed), held
        if key not in self.items:
            rules: Subschemas = []
            for part in self.schemas:
                rules.append(part.item(position))
                if "unevaluatedItems" in part.schema and not self._is_evaluated(part, position, held):
                    rules.append(part.child_subschema("unevaluatedItems"))
            for need, is_held in zip(self.needs, held, strict=True):
                if is_held or need.most is not None:
                    rule = need.schema if is_held else need.schema._replace(is_denied=not need.schema.is_denied)
                    rules.append(rule.subschema_at(self.location.of_child()))
            try:
                self.items[key] = self.pattern_of(rules)
            except UnsatisfiableError:
                self.items[key] = None
        return self.items[key]

    def _is_evaluated(self, scope: Subschema, position: int, held: tuple[bool, ...]) -> bool:
        """Tell whether an item is evaluated within a schema (core §11.2); `contains` evaluates from 2020-12 on."""
        for part in self.schemas:
            if scope.identity in part.unevaluated_parents:
                inner = part.identity != scope.identity and "unevaluatedItems" in part.schema
                if position < len(part.first_items) or part.has(part.other_items_keyword) or inner:
                    return True
        return any(
            is_held
            and scope.identity in need.part.unevaluated_parents
            and "contains" in need.part.schema
            and need.part.location.draft >= SchemaDraft.DRAFT_2020_12
            for need, is_held in zip(self.needs, held, strict=True)
        )
