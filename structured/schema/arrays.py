"""The keywords of arrays (core §10.3.1, validation §6.4) enter; the pattern of JSON arrays leaves.

Items stand one after the other, so an array is a regular language over its items. Where nothing is asked of their
number beside `minItems` and `maxItems`, it is a repetition; where some items are asked for (`contains`), or none may
be there twice, it is an automaton whose states are a position and what has been met so far.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

from structured.pattern import EMPTY, Pattern, Reference, Words, alternation, concat, literal, optional, repeat
from structured.schema.complements import SomeItem
from structured.schema.place import Complement, Elsewhere, Place, Subschema, Subschemas, UnsatisfiableError, counts

PatternOf = Callable[[Subschemas], Pattern]

MOST_STATES = 4096
"""Positions times what may have been met, in one array."""

MOST_DISTINCT = 10
"""Values of which each may be there once: every set of them is a state."""


def array(parts: Subschemas, place: Place, pattern_of: PatternOf) -> Pattern:
    """Return the arrays of the right length: the first items each of their own schema, the others of one."""
    minimum, maximum = counts(parts, "minItems", "maxItems")
    needs = list(_needs(parts))
    distinct = next((part for part in parts if part.schema.get("uniqueItems") is True), None)
    same = next(
        (part for part in parts if isinstance(part.schema, Complement) and "not uniqueItems" in part.schema), None
    )
    if same is not None:
        raise same.place.refusal("That two items are the same cannot be asked for", keyword="uniqueItems", remedy="…")
    if distinct is not None and not (parts[0].place.is_type and minimum <= 1) and (maximum is None or maximum > 1):
        return _distinct(parts, distinct, place, pattern_of, minimum, maximum)
    if needs or any("unevaluatedItems" in part.schema for part in parts):
        return _Needing(parts, place, pattern_of, needs, minimum, maximum).pattern()
    first, rest = _items(parts, maximum, pattern_of)
    return _enclosed(first, rest, place, minimum, maximum)


def _enclosed(first: list[Pattern], rest: Pattern | None, place: Place, minimum: int, maximum: int | None) -> Pattern:
    whitespace, depth = place.whitespace, place.depth
    most = maximum if rest is not None else len(first)
    if most is not None and most < minimum:
        raise place.unsatisfiable(f"no more than {most} items can be valid", keyword="minItems")
    if most == 0:
        return concat(literal("["), whitespace.edge, literal("]"))
    comma = whitespace.comma(depth)
    filled: Pattern = EMPTY
    if rest is not None and not first:
        more = repeat(concat(comma, rest), max(minimum - 1, 0), None if most is None else most - 1)
        filled = concat(rest, more)
    elif rest is not None:
        left = None if most is None else most - len(first)
        filled = repeat(concat(comma, rest), max(minimum - len(first), 0), left)
    for position in reversed(range(len(first))):
        filled = concat(first[position], filled)
        if position > 0:
            filled = concat(comma, filled)
            filled = optional(filled) if position >= minimum else filled
    return _bracketed(filled, place, may_be_empty=minimum == 0)


def _bracketed(filled: Pattern, place: Place, *, may_be_empty: bool) -> Pattern:
    whitespace, depth = place.whitespace, place.depth
    filled = concat(whitespace.opening(depth), filled, whitespace.closing(depth))
    if may_be_empty:
        filled = optional(filled) if whitespace.edge == EMPTY else alternation(whitespace.edge, filled)
    return concat(literal("["), filled, literal("]"))


def _items(parts: Subschemas, maximum: int | None, pattern_of: PatternOf) -> tuple[list[Pattern], Pattern | None]:
    """Return the patterns of the first items and of any other; None if there can be no other."""
    prefixes = [_prefix(part) for part in parts]
    first: list[Pattern] = []
    for position in range(max(map(len, prefixes))):
        if position == maximum:
            return first, None
        items = [
            prefix[position] if position < len(prefix) else _rest(part)
            for part, prefix in zip(parts, prefixes, strict=True)
        ]
        try:
            first.append(pattern_of(items))
        except UnsatisfiableError:
            return first, None
    if maximum is not None and maximum <= len(first):
        return first, None
    try:
        return first, pattern_of([_rest(part) for part in parts])
    except UnsatisfiableError:
        if not first and max(part.length("minItems") or 0 for part in parts):
            raise
        return first, None


def _prefix(part: Subschema) -> Subschemas:
    """Return the schemas of the first items: `prefixItems`, or up to draft 2019-09 `items` if it is a list."""
    keyword = "items" if isinstance(part.schema.get("items"), list) else "prefixItems"
    return [part.within(keyword, index) for index in range(len(part.schema.get(keyword, [])))]


def _rest(part: Subschema) -> Subschema:
    """Return the schema of the items after those."""
    keyword = "additionalItems" if isinstance(part.schema.get("items"), list) else "items"
    return part.within(keyword) if keyword in part.schema else Subschema(True, part.place.inside("items"))


def _evaluates_rest(part: Subschema) -> bool:
    """Tell whether a schema evaluates the items after the first ones."""
    return ("additionalItems" if isinstance(part.schema.get("items"), list) else "items") in part.schema


@dataclass(frozen=True, slots=True)
class _Need:
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


def _needs(parts: Subschemas) -> Iterator[_Need]:
    for part in parts:
        if "contains" in part.schema:
            least, most = part.length("minContains"), part.length("maxContains")
            least = 1 if least is None else least
            if least or most is not None or part.scopes:
                yield _Need(0, part.elsewhere("contains"), least, most, part)
        some = part.schema.get("some item") if isinstance(part.schema, Complement) else None
        if isinstance(some, SomeItem):
            yield _Need(some.start, some.schema, 1, None, part)


State = tuple[int, tuple[int, ...]]
"""A position, and how many items of each need have been met; neither is counted further than it matters."""


class _Needing:
    """The arrays in which some items are asked for, as an automaton over items."""

    def __init__(
        self, parts: Subschemas, place: Place, pattern_of: PatternOf, needs: list[_Need], minimum: int,
        maximum: int | None,
    ) -> None:  # fmt: skip
        self.parts = parts
        self.place = place
        self.pattern_of = pattern_of
        self.needs = needs
        self.minimum = minimum
        self.maximum = maximum
        self.prefixes = [_prefix(part) for part in parts]
        self.last = max([minimum, maximum or 0, *map(len, self.prefixes), *(need.start for need in needs)])
        self.definitions: dict[str, Pattern] = {}
        self.items: dict[tuple[int, tuple[bool, ...]], Pattern | None] = {}
        states = (self.last + 1) * 2 ** sum(need.highest + 1 for need in needs).bit_length()
        if states > MOST_STATES:
            raise place.refusal(
                "To look for items among so many is not supported", keyword="contains", remedy="Lower the counts."
            )

    def pattern(self) -> Pattern:
        """Return the pattern of the arrays."""
        start = (0, (0,) * len(self.needs))
        arcs: dict[State, list[tuple[Pattern, State]]] = {}
        open_ends = [start]
        while open_ends:
            state = open_ends.pop()
            if state not in arcs:
                arcs[state] = list(self._arcs(state))
                open_ends += [target for _, target in arcs[state]]
        live = {state for state in arcs if self._ends(state)}
        before: dict[State, set[State]] = {}
        for state, ways in arcs.items():
            for _, target in ways:
                before.setdefault(target, set()).add(state)
        border = set(live)
        while border:
            border = {source for state in border for source in before.get(state, ())} - live
            live |= border
        if start not in live:
            raise self.place.unsatisfiable("no array has the items that are asked for", keyword="contains")
        return self._written(start, arcs, live)

    def _written(self, start: State, arcs: dict[State, list[tuple[Pattern, State]]], live: set[State]) -> Pattern:
        comma = self.place.whitespace.comma(self.place.depth)
        for state in live:
            options: list[Pattern] = [EMPTY] if self._ends(state) else []
            options += [
                concat(comma, item, Reference(str(target), self.definitions))
                for item, target in arcs[state]
                if target in live
            ]
            self.definitions[str(state)] = alternation(*options)
        first = [
            concat(item, Reference(str(target), self.definitions)) for item, target in arcs[start] if target in live
        ]
        if not first:
            return concat(literal("["), self.place.whitespace.edge, literal("]"))
        return _bracketed(alternation(*first), self.place, may_be_empty=self._ends(start))

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
        for held in product((False, True), repeat=len(self.needs)):
            counted = [count + is_held for count, is_held in zip(met, held, strict=True)]
            if any(
                need.most is not None and count > need.most for count, need in zip(counted, self.needs, strict=True)
            ) or any(
                is_held and position < need.start for is_held, need in zip(held, self.needs, strict=True)
            ):  # fmt: skip
                continue
            item = self._item(position, held)
            if item is not None:
                after = tuple(min(count, need.highest) for count, need in zip(counted, self.needs, strict=True))
                yield item, (position + 1 if self.maximum is not None else min(position + 1, self.last), after)

    def _item(self, position: int, held: tuple[bool, ...]) -> Pattern | None:
        """Return the items at a position that satisfy some of the needs; those that are limited they else fail."""
        key = min(position, max(map(len, self.prefixes))), held
        if key not in self.items:
            said: Subschemas = []
            for part, prefix in zip(self.parts, self.prefixes, strict=True):
                said.append(prefix[position] if position < len(prefix) else _rest(part))
                if "unevaluatedItems" in part.schema and not self._is_evaluated(part, position, held):
                    said.append(part.within("unevaluatedItems"))
            for need, is_held in zip(self.needs, held, strict=True):
                asked = need.schema if isinstance(need.schema, Elsewhere) else Elsewhere(need.schema, need.part.place)
                if is_held or need.most is not None:
                    denied = asked if is_held else asked._replace(is_denied=not asked.is_denied)
                    said.append(_here(denied, self.place.inside()))
            try:
                self.items[key] = self.pattern_of(said)
            except UnsatisfiableError:
                self.items[key] = None
        return self.items[key]

    def _is_evaluated(self, scope: Subschema, position: int, held: tuple[bool, ...]) -> bool:
        """Tell whether an item was evaluated within a schema (core §11.2)."""
        for part, prefix in zip(self.parts, self.prefixes, strict=True):
            if scope.identity in part.scopes:
                inner = part.identity != scope.identity and "unevaluatedItems" in part.schema
                if position < len(prefix) or _evaluates_rest(part) or inner:
                    return True
        return any(
            is_held and scope.identity in need.part.scopes and "contains" in need.part.schema
            for need, is_held in zip(self.needs, held, strict=True)
        )


def _here(schema: Elsewhere, place: Place) -> Subschema:
    if schema.is_denied:
        return Subschema(schema, place)
    return Subschema(schema.schema, schema.place._replace(depth=place.depth))


def _distinct(
    parts: Subschemas, distinct: Subschema, place: Place, pattern_of: PatternOf, minimum: int, maximum: int | None
) -> Pattern:
    """Return the arrays of which no two items are the same, where there are few values that items can have."""
    first, rest = _items(parts, maximum, pattern_of)
    texts = [_texts(item) for item in [*first, *([] if rest is None else [rest])]]
    values = {text for found in texts if found is not None for text in found}
    if any(found is None for found in texts) or len(values) > MOST_DISTINCT or any(_needs(parts)):
        raise distinct.place.refusal(
            "'uniqueItems' is not supported for items of more than a few values",
            keyword="uniqueItems",
            remedy="Use list in place of set, and remove what is repeated in a Pydantic validator.",
        )
    definitions: dict[str, Pattern] = {}
    comma = place.whitespace.comma(place.depth)
    known: dict[tuple[int, frozenset[str]], Pattern | None] = {}

    def after(used: frozenset[str]) -> Pattern | None:
        """Return what may follow when some values are used up; None if too few are left."""
        position = len(used)
        key = position, used
        if key in known:
            return known[key]
        options: list[Pattern] = [EMPTY] if position >= minimum else []
        here = texts[position] if position < len(first) else texts[-1] if rest is not None else ()
        if position != maximum:
            for text in here or ():
                if text not in used:
                    follower = after(used | {text})
                    if follower is not None:
                        options.append(concat(*([comma] if position else []), literal(text), follower))
        known[key] = None
        if options:
            name = " ".join(sorted(used))
            definitions[name] = alternation(*options)
            known[key] = Reference(name, definitions)
        return known[key]

    found = after(frozenset())
    if found is None:
        raise distinct.place.unsatisfiable("too few items can be different", keyword="uniqueItems")
    inner = [option for option in _options(definitions[""]) if option != EMPTY]
    if not inner:
        return concat(literal("["), place.whitespace.edge, literal("]"))
    return _bracketed(alternation(*inner), place, may_be_empty=minimum == 0)


def _options(pattern: Pattern) -> tuple[Pattern, ...]:
    return getattr(pattern, "options", (pattern,))


def _texts(pattern: Pattern) -> tuple[str, ...] | None:
    """Return the texts of a pattern that lists them; None of another."""
    match pattern:
        case Words(texts):
            return texts
        case _ if hasattr(pattern, "text"):
            return (pattern.text,)
    return None
