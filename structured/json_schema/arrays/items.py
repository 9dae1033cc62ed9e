"""The items of arrays, and what encloses them, for all that makes arrays."""

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import TypeVar

from structured.errors import UnsatisfiableError
from structured.json_schema.document.location import Location, PatternOf, Subschema, Subschemas
from structured.regex import EMPTY, Pattern, alternation, concat, literal, optional, right_linear

State = TypeVar("State", bound=Hashable)


def bracketed(filled: Pattern, location: Location, *, may_be_empty: bool) -> Pattern:
    """Return an array of some items, or none."""
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

    kept: dict[tuple[int, ...], tuple[list[Pattern], Pattern]] = {}  # the same node behind a comma for the same items

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
    """Return the patterns of the first items and of any other; None if there can be no other."""
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
    """Return the schema of the items after those."""
    keyword = "additionalItems" if isinstance(part.schema.get("items"), list) else "items"
    return part.within(keyword) if keyword in part.schema else Subschema(True, part.location.inside("items"))


def evaluates_rest(part: Subschema) -> bool:
    """Tell whether a schema evaluates the items after the first ones."""
    return ("additionalItems" if isinstance(part.schema.get("items"), list) else "items") in part.schema
