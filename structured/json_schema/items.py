"""Items of arrays: their schemas, the brackets around them, and the items that an array has to contain.

Items follow each other, so an array is a regular language over its items. Where `contains` counts some of them (core
§10.3.1.3, §11.2; validation §6.4.4, §6.4.5), it is an automaton: a state is a position and the number of items seen so
far that match each rule.
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
    Limits,
    Location,
    PatternOf,
    RelocatedSchema,
    Subschema,
    Subschemas,
)
from structured.json_schema.logic.complements import SomeItem, contains_limits
from structured.regex import Pattern, alternation, concat, right_linear

State = TypeVar("State", bound=Hashable)


def arrays_read_by(
    start: State,
    arcs: Callable[[State], Iterable[tuple[Pattern, State]]],
    accepts: Callable[[State], bool],
    location: Location,
) -> Pattern | None:
    """Return the arrays whose items lead an automaton from a state to one that accepts; None if no array does."""
    comma = location.whitespace.comma(location.depth)
    items_after_comma: dict[tuple[int, ...], tuple[list[Pattern], Pattern]] = {}  # one node for the same items

    def arcs_with_commas(place: tuple[State, bool]) -> Iterator[tuple[Pattern, tuple[State, bool]]]:
        state, is_first = place
        by_target: dict[State, list[Pattern]] = {}
        for item, target in arcs(state):
            by_target.setdefault(target, []).append(item)
        for target, items in by_target.items():
            if is_first:
                yield alternation(*items), (target, False)
            else:
                key = tuple(map(id, items))
                if key not in items_after_comma:
                    items_after_comma[key] = items, concat(comma, alternation(*items))
                yield items_after_comma[key][1], (target, False)

    filled = right_linear((start, True), arcs_with_commas, lambda place: not place[1] and accepts(place[0]))
    may_be_empty = accepts(start)
    if filled is None and not may_be_empty:
        return None
    return location.whitespace.in_brackets("[]", filled, location.depth, may_be_empty=may_be_empty)


def item_patterns(schemas: Subschemas, most: int | None, pattern_of: PatternOf) -> tuple[list[Pattern], Pattern | None]:
    """Return the patterns of the first items and of any other item; None if there can be no other."""
    first: list[Pattern] = []
    for position in range(max(len(part.first_items) for part in schemas)):
        if position == most:
            return first, None
        try:
            first.append(pattern_of([part.item(position) for part in schemas]))
        except UnsatisfiableError:
            return first, None
    if most is not None and most <= len(first):
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
class ContainsRule:
    """The rule of `part` that `least` to `most` items from position `start` on match a schema."""

    start: int
    schema: RelocatedSchema
    least: int
    most: int | None
    part: Subschema

    @property
    def counted_up_to(self) -> int:
        """The count from which on further items make no difference."""
        return self.least if self.most is None else self.most


def contains_rules(schemas: Subschemas) -> Iterator[ContainsRule]:
    """Yield the rules of some schemas about the number of certain items."""
    for part in schemas:
        if part.has("contains"):
            least, most = contains_limits(part)
            if least or most is not None or part.unevaluated_parents:
                yield ContainsRule(0, part.subschema("contains").relocated, least, most, part)
        some = part.schema.get("some item") if isinstance(part.schema, InternalSchema) else None
        if isinstance(some, SomeItem):
            yield ContainsRule(some.start, some.schema, 1, None, part)


_Progress = tuple[int, tuple[int, ...]]
"""A position, and how many items match each rule; both stop at the value from which on they make no difference."""


class ArrayWithContains:
    """The arrays that contain certain items, as an automaton over items."""

    def __init__(
        self, schemas: Subschemas, location: Location, pattern_of: PatternOf, rules: list[ContainsRule], limits: Limits
    ) -> None:
        self.schemas = schemas
        self.location = location
        self.pattern_of = pattern_of
        self.rules = rules
        self.minimum, self.maximum = limits
        self.first_item_count = max(len(part.first_items) for part in schemas)
        starts = (rule.start for rule in rules)
        self.last_position = max(self.minimum, self.maximum or 0, self.first_item_count, *starts)
        self.items: dict[tuple[int, tuple[bool, ...]], Pattern | None] = {}
        self._most = [inf if rule.most is None else rule.most for rule in rules]
        self._counted_up_to = [rule.counted_up_to for rule in rules]
        states = (self.last_position + 1) * 2 ** sum(rule.counted_up_to + 1 for rule in rules).bit_length()
        if states > MAX_STATES:
            raise location.refusal(
                "Counts of items this high are not supported beside 'contains'",
                keyword="contains",
                remedy="Lower the counts.",
            )

    def pattern(self) -> Pattern:
        """Return the pattern of the arrays."""
        pattern = arrays_read_by((0, (0,) * len(self.rules)), self._arcs, self._accepts, self.location)
        if pattern is None:
            raise self.location.unsatisfiable("no array has the required items", keyword="contains")
        return pattern

    def _accepts(self, progress: _Progress) -> bool:
        position, counts = progress
        are_enough = (count >= rule.least for count, rule in zip(counts, self.rules, strict=True))
        return position >= self.minimum and all(are_enough)

    def _arcs(self, progress: _Progress) -> Iterator[tuple[Pattern, _Progress]]:
        """Yield the items that may follow, and the states after them."""
        position, counts = progress
        if position == self.maximum:
            return
        following = position + 1 if self.maximum is not None else min(position + 1, self.last_position)
        for matches in self._possible_matches(position, counts):
            counts_then = tuple(map(add, counts, matches))
            item = None if any(map(gt, counts_then, self._most)) else self._item(position, matches)
            if item is not None:
                yield item, (following, tuple(map(min, counts_then, self._counted_up_to)))

    def _possible_matches(self, position: int, counts: tuple[int, ...]) -> Iterator[tuple[bool, ...]]:
        """Yield, for each kind of item at a position, which rules it matches, where that makes a difference."""
        makes_difference = (
            position >= rule.start
            and (rule.most is not None or count < rule.counted_up_to or bool(rule.part.unevaluated_parents))
            for count, rule in zip(counts, self.rules, strict=True)
        )
        return product(*[(False, True) if may_match else (False,) for may_match in makes_difference])

    def _item(self, position: int, matches: tuple[bool, ...]) -> Pattern | None:
        key = min(position, self.first_item_count), matches
        if key not in self.items:
            schemas: Subschemas = []
            for part in self.schemas:
                schemas.append(part.item(position))
                if "unevaluatedItems" in part.schema and not self._is_evaluated(part, position, matches):
                    schemas.append(part.child_subschema("unevaluatedItems"))
            for rule, is_match in zip(self.rules, matches, strict=True):
                if is_match or rule.most is not None:
                    schema = rule.schema if is_match else rule.schema._replace(is_denied=not rule.schema.is_denied)
                    schemas.append(schema.subschema_at(self.location.of_child()))
            try:
                self.items[key] = self.pattern_of(schemas)
            except UnsatisfiableError:
                self.items[key] = None
        return self.items[key]

    def _is_evaluated(self, parent: Subschema, position: int, matches: tuple[bool, ...]) -> bool:
        """Tell whether an item is evaluated within a schema (core §11.2); `contains` evaluates from 2020-12 on."""
        for part in self.schemas:
            if parent.identity in part.unevaluated_parents:
                is_inner = part.identity != parent.identity and "unevaluatedItems" in part.schema
                if position < len(part.first_items) or part.has(part.other_items_keyword) or is_inner:
                    return True
        return any(
            is_match
            and parent.identity in rule.part.unevaluated_parents
            and "contains" in rule.part.schema
            and rule.part.location.draft >= SchemaDraft.DRAFT_2020_12
            for rule, is_match in zip(self.rules, matches, strict=True)
        )
