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
from typing import Any, TypeVar

from structured.errors import UnsatisfiableError
from structured.json_schema.document.drafts import SchemaDraft
from structured.json_schema.document.location import Complement, Elsewhere, Location, PatternOf, Subschema, Subschemas
from structured.json_schema.logic.complements import SomeItem, contained
from structured.regex import EMPTY, Pattern, alternation, concat, literal, optional, right_linear

State = TypeVar("State", bound=Hashable)


def bracketed(filled: Pattern, location: Location, *, may_be_empty: bool) -> Pattern:
    """Return an array in brackets; `filled` are its items with separators, and it may be empty."""
    whitespace, depth = location.whitespace, location.depth
    filled = concat(whitespace.opening(depth), filled, whitespace.closing(depth))
    if may_be_empty:
        filled = optional(filled) if whitespace.edge == EMPTY else alternation(whitespace.edge, filled)
    return concat(literal("["), filled, literal("]"))


def empty_array(location: Location) -> Pattern:
    """Return the array of no items."""
    return concat(literal("["), location.whitespace.edge, literal("]"))


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
        return empty_array(location) if may_be_empty else None
    return bracketed(filled, location, may_be_empty=may_be_empty)


def items_of(schemas: Subschemas, maximum: int | None, pattern_of: PatternOf) -> tuple[list[Pattern], Pattern | None]:
    """Return the patterns of the first items and of any other item; None if there can be no other."""
    prefixes = [prefix_of(part) for part in schemas]
    first: list[Pattern] = []
    for position in range(max(map(len, prefixes))):
        if position == maximum:
            return first, None
        items = [
            prefix[position] if position < len(prefix) else rest_of(part)
            for part, prefix in zip(schemas, prefixes, strict=True)
        ]
        try:
            first.append(pattern_of(items))
        except UnsatisfiableError:
            return first, None
    if maximum is not None and maximum <= len(first):
        return first, None
    try:
        return first, pattern_of([rest_of(part) for part in schemas])
    except UnsatisfiableError:
        if not first and max(part.length("minItems") or 0 for part in schemas):
            raise
        return first, None


def prefix_of(part: Subschema) -> Subschemas:
    """Return the schemas of the first items: `prefixItems`, or up to draft 2019-09 `items` if it is a list."""
    keyword = "items" if isinstance(part.schema.get("items"), list) else "prefixItems"
    return [part.within(keyword, index) for index in range(len(part.schema.get(keyword, [])))]


def rest_of(part: Subschema) -> Subschema:
    """Return the schema of the items after the first ones."""
    keyword = "additionalItems" if isinstance(part.schema.get("items"), list) else "items"
    return part.within(keyword) if keyword in part.schema else Subschema(True, part.location.inside("items"))


def evaluates_rest(part: Subschema) -> bool:
    """Tell whether a schema evaluates the items after the first ones."""
    return ("additionalItems" if isinstance(part.schema.get("items"), list) else "items") in part.schema


MAX_STATES = 4096
"""Positions times combinations of counts, in one array."""


@dataclass(frozen=True, slots=True)
class ItemNeed:
    """The requirement of `part` that `least` to `most` items from position `start` on satisfy a schema."""

    start: int
    schema: Any
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
            if least or most is not None or part.scopes:
                yield ItemNeed(0, part.elsewhere("contains"), least, most, part)
        some = part.schema.get("some item") if isinstance(part.schema, Complement) else None
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
        self.prefixes = [prefix_of(part) for part in schemas]
        self.last = max([self.minimum, self.maximum or 0, *map(len, self.prefixes), *(need.start for need in needs)])
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
            position >= need.start and (need.most is not None or count < need.highest or bool(need.part.scopes))
            for count, need in zip(met, self.needs, strict=True)
        )
        if is_open not in self._held:
            self._held[is_open] = list(product(*[(False, True) if may_hold else (False,) for may_hold in is_open]))
        return self._held[is_open]

    def _item(self, position: int, held: tuple[bool, ...]) -> Pattern | None:
        key = min(position, max(map(len, self.prefixes))), held
        if key not in self.items:
            rules: Subschemas = []
            for part, prefix in zip(self.schemas, self.prefixes, strict=True):
                rules.append(prefix[position] if position < len(prefix) else rest_of(part))
                if "unevaluatedItems" in part.schema and not self._is_evaluated(part, position, held):
                    rules.append(part.within("unevaluatedItems"))
            for need, is_held in zip(self.needs, held, strict=True):
                needed = (
                    need.schema if isinstance(need.schema, Elsewhere) else Elsewhere(need.schema, need.part.location)
                )
                if is_held or need.most is not None:
                    rule = needed if is_held else needed._replace(is_denied=not needed.is_denied)
                    rules.append(_here(rule, self.location.inside()))
            try:
                self.items[key] = self.pattern_of(rules)
            except UnsatisfiableError:
                self.items[key] = None
        return self.items[key]

    def _is_evaluated(self, scope: Subschema, position: int, held: tuple[bool, ...]) -> bool:
        """Tell whether an item is evaluated within a schema (core §11.2); `contains` evaluates from 2020-12 on."""
        for part, prefix in zip(self.schemas, self.prefixes, strict=True):
            if scope.identity in part.scopes:
                inner = part.identity != scope.identity and "unevaluatedItems" in part.schema
                if position < len(prefix) or evaluates_rest(part) or inner:
                    return True
        return any(
            is_held
            and scope.identity in need.part.scopes
            and "contains" in need.part.schema
            and need.part.location.draft >= SchemaDraft.DRAFT_2020_12
            for need, is_held in zip(self.needs, held, strict=True)
        )


def _here(schema: Elsewhere, location: Location) -> Subschema:
    if schema.is_denied:
        return Subschema(schema, location)
    return Subschema(schema.schema, schema.location.at_depth(location.depth))
