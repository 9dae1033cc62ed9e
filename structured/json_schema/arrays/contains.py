"""What arrays have to contain (core §10.3.1.3, §11.2; validation §6.4.4, §6.4.5).

Items stand one after the other, so an array is a regular language over its items: an automaton whose states are a
position and how many items of each kind that is asked for have been met.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from math import inf
from operator import add, gt
from typing import Any

from structured.errors import UnsatisfiableError
from structured.json_schema.arrays.items import evaluates_rest, prefix_of, read_by, rest_of
from structured.json_schema.document.drafts import Draft
from structured.json_schema.document.location import (
    Complement,
    Elsewhere,
    Location,
    PatternOf,
    Subschema,
    Subschemas,
)
from structured.json_schema.logic.complements import SomeItem, contained
from structured.regex import Pattern

MAX_STATES = 4096
"""Positions times what may have been met, in one array."""


@dataclass(frozen=True, slots=True)
class Need:
    """At least `least` and at most `most` items from position `start` on satisfy a schema, which `part` asks for."""

    start: int
    schema: Any
    least: int
    most: int | None
    part: Subschema

    @property
    def highest(self) -> int:
        """The greatest count that is told from those below it."""
        return self.least if self.most is None else self.most


def read_needs(schemas: Subschemas) -> Iterator[Need]:
    """Yield what some schemas ask for."""
    for part in schemas:
        if part.has("contains"):
            least, most = contained(part)
            if least or most is not None or part.scopes:
                yield Need(0, part.elsewhere("contains"), least, most, part)
        some = part.schema.get("some item") if isinstance(part.schema, Complement) else None
        if isinstance(some, SomeItem):
            yield Need(some.start, some.schema, 1, None, part)


State = tuple[int, tuple[int, ...]]
"""A position, and how many items of each need have been met; neither is counted further than it matters."""


class Needing:
    """The arrays in which some items are asked for, as an automaton over items."""

    def __init__(
        self,
        schemas: Subschemas,
        location: Location,
        pattern_of: PatternOf,
        needs: list[Need],
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
                "To look for items among so many is not supported", keyword="contains", remedy="Lower the counts."
            )

    def pattern(self) -> Pattern:
        """Return the pattern of the arrays."""
        found = read_by((0, (0,) * len(self.needs)), self._arcs, self._ends, self.location)
        if found is None:
            raise self.location.unsatisfiable("no array has the items that are asked for", keyword="contains")
        return found

    def _ends(self, state: State) -> bool:
        position, met = state
        return position >= self.minimum and all(
            count >= need.least for count, need in zip(met, self.needs, strict=True)
        )

    def _arcs(self, state: State) -> Iterator[tuple[Pattern, State]]:
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
        """Return which of the needs an item at a position may meet; of one that needs no more, nothing is asked."""
        is_open = tuple(
            position >= need.start and (need.most is not None or count < need.highest or bool(need.part.scopes))
            for count, need in zip(met, self.needs, strict=True)
        )
        if is_open not in self._held:
            self._held[is_open] = list(product(*[(False, True) if one else (False,) for one in is_open]))
        return self._held[is_open]

    def _item(self, position: int, held: tuple[bool, ...]) -> Pattern | None:
        """Return the items at a position that satisfy some of the needs; those that are limited they else fail."""
        key = min(position, max(map(len, self.prefixes))), held
        if key not in self.items:
            said: Subschemas = []
            for part, prefix in zip(self.schemas, self.prefixes, strict=True):
                said.append(prefix[position] if position < len(prefix) else rest_of(part))
                if "unevaluatedItems" in part.schema and not self._is_evaluated(part, position, held):
                    said.append(part.within("unevaluatedItems"))
            for need, is_held in zip(self.needs, held, strict=True):
                asked = (
                    need.schema if isinstance(need.schema, Elsewhere) else Elsewhere(need.schema, need.part.location)
                )
                if is_held or need.most is not None:
                    denied = asked if is_held else asked._replace(is_denied=not asked.is_denied)
                    said.append(_here(denied, self.location.inside()))
            try:
                self.items[key] = self.pattern_of(said)
            except UnsatisfiableError:
                self.items[key] = None
        return self.items[key]

    def _is_evaluated(self, scope: Subschema, position: int, held: tuple[bool, ...]) -> bool:
        """Tell whether an item was evaluated within a schema (core §11.2); `contains` evaluates from 2020-12 on."""
        for part, prefix in zip(self.schemas, self.prefixes, strict=True):
            if scope.identity in part.scopes:
                inner = part.identity != scope.identity and "unevaluatedItems" in part.schema
                if position < len(prefix) or evaluates_rest(part) or inner:
                    return True
        return any(
            is_held
            and scope.identity in need.part.scopes
            and "contains" in need.part.schema
            and need.part.location.draft >= Draft.DRAFT_2020_12
            for need, is_held in zip(self.needs, held, strict=True)
        )


def _here(schema: Elsewhere, location: Location) -> Subschema:
    if schema.is_denied:
        return Subschema(schema, location)
    return Subschema(schema.schema, schema.location.at_depth(location.depth))
