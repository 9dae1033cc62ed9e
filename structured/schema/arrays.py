"""The keywords of arrays (core §10.3.1, validation §6.4) enter; the pattern of JSON arrays leaves."""

from collections.abc import Callable

from structured.pattern import EMPTY, Pattern, alternation, concat, literal, optional, repeat
from structured.schema.place import Place, Subschema, Subschemas, UnsatisfiableError, counts

PatternOf = Callable[[Subschemas], Pattern]


def array(parts: Subschemas, place: Place, pattern_of: PatternOf) -> Pattern:
    """Return the arrays of the right length: the first items each of their own schema, the others of one."""
    minimum, maximum = counts(parts, "minItems", "maxItems")
    whitespace, depth = place.whitespace, place.depth
    first, rest = _items(parts, maximum, pattern_of)
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
    filled = concat(whitespace.opening(depth), filled, whitespace.closing(depth))
    if minimum == 0:
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
