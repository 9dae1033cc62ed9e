"""Arrays of which no two items are the same (validation §6.4.3), where items have few values.

Each set of values that are used up is a state, so there can only be few.
"""

import json
from collections.abc import Iterator

from structured.json_schema.arrays.contains import read_needs
from structured.json_schema.arrays.items import items_of, read_by
from structured.json_schema.document.location import Location, PatternOf, Subschema, Subschemas
from structured.json_schema.logic.equality import identity
from structured.regex import Alternation, Literal, Pattern, Words, literal

MAX_DISTINCT = 10
"""Values that items may have."""

Limits = tuple[int, int | None]


def distinct_items(
    schemas: Subschemas, distinct: Subschema, location: Location, pattern_of: PatternOf, limits: Limits
) -> Pattern:
    """Return the arrays of different items."""
    first, rest = items_of(schemas, limits[1], pattern_of)
    texts = [_texts(item) for item in [*first, *([] if rest is None else [rest])]]
    listed = [found for found in texts if found is not None]
    values = {text for found in listed for text in found}
    if len(listed) < len(texts) or len(values) > MAX_DISTINCT or any(read_needs(schemas)):
        raise distinct.location.refusal(
            "'uniqueItems' is not supported for items of more than a few values",
            keyword="uniqueItems",
            remedy="Use list in place of set, and remove what is repeated in a Pydantic validator."
            if distinct.location.is_type
            else "Remove 'uniqueItems', and remove what is repeated in your program; or list the values of the items "
            "in an 'enum'.",
        )
    minimum, maximum = limits
    value_of = _python_value if location.is_type else _json_value
    options = [[(literal(text), value_of(text)) for text in found] for found in listed]

    def arcs(used: frozenset[object]) -> Iterator[tuple[Pattern, frozenset[object]]]:
        position = len(used)
        if position != maximum and (position < len(options) or rest is not None):
            for item, value in options[min(position, len(options) - 1)]:
                if value not in used:
                    yield item, used | {value}

    found = read_by(frozenset[object](), arcs, lambda used: len(used) >= minimum, location)
    if found is None:
        raise distinct.location.unsatisfiable("too few items can be different", keyword="uniqueItems")
    return found


def _json_value(text: str) -> object:
    """Return what is the same for texts of the same value (core §4.2.2)."""
    return identity(json.loads(text))


def _python_value(text: str) -> object:
    """Return what is the same for texts of which a set of Python holds one: `1`, `1.0`, `true`."""
    value = json.loads(text)
    return value if isinstance(value, bool | int | float) else _json_value(text)


def _texts(pattern: Pattern) -> tuple[str, ...] | None:
    """Return the texts of a pattern that lists them, one for each value; None of another."""
    if isinstance(pattern, Alternation):
        schemas = [_texts(option) for option in pattern.options]
        return None if None in schemas else tuple(text for part in schemas if part is not None for text in part)
    if isinstance(pattern, Literal | Words):
        texts = pattern.texts if isinstance(pattern, Words) else (pattern.text,)
        return tuple({identity(json.loads(text)): text for text in reversed(texts)}.values())[::-1]
    return None
