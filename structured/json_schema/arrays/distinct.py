"""Arrays of which no two items are the same (validation §6.4.3), where items have few values.

Each set of values that are used up is a state, so there can only be few.
"""

import json

from structured.json_schema.arrays.contains import read_needs
from structured.json_schema.arrays.items import bracketed, items_of
from structured.json_schema.document.place import PatternOf, Place, Subschema, Subschemas
from structured.json_schema.logic.equality import identity
from structured.regex import EMPTY, Alternation, Literal, Pattern, Reference, Words, alternation, concat, literal

MAX_DISTINCT = 10
"""Values that items may have."""

Limits = tuple[int, int | None]


def distinct_items(
    parts: Subschemas, distinct: Subschema, place: Place, pattern_of: PatternOf, limits: Limits
) -> Pattern:
    """Return the arrays of different items."""
    first, rest = items_of(parts, limits[1], pattern_of)
    texts = [_texts(item) for item in [*first, *([] if rest is None else [rest])]]
    listed = [found for found in texts if found is not None]
    values = {text for found in listed for text in found}
    if len(listed) < len(texts) or len(values) > MAX_DISTINCT or any(read_needs(parts)):
        raise distinct.place.refusal(
            "'uniqueItems' is not supported for items of more than a few values",
            keyword="uniqueItems",
            remedy="Use list in place of set, and remove what is repeated in a Pydantic validator.",
        )
    found = _Distinct(listed, len(first), limits, place)
    start = found.after(frozenset())
    if start is None:
        raise distinct.place.unsatisfiable("too few items can be different", keyword="uniqueItems")
    options = found.options(frozenset())
    inner = [option for option in options if option != EMPTY]
    if not inner:
        return concat(literal("["), place.whitespace.edge, literal("]"))
    return bracketed(alternation(*inner), place, may_be_empty=EMPTY in options)


class _Distinct:
    """Arrays whose items at each position are one of some texts; at positions past the last, one of the last's."""

    def __init__(self, texts: list[tuple[str, ...]], first: int, limits: Limits, place: Place) -> None:
        self.texts = texts
        self.first = first
        self.minimum, self.maximum = limits
        self.comma = place.whitespace.comma(place.depth)
        self.definitions: dict[str, Pattern] = {}
        self.known: dict[frozenset[object], Pattern | None] = {}
        self.value_of = _python_value if place.is_type else _json_value

    def after(self, used: frozenset[object]) -> Pattern | None:
        """Return what may follow when some values are used up; None if too few are left."""
        if used not in self.known:
            options = self.options(used)
            name = " ".join(sorted(map(repr, used)))
            if options:
                self.definitions[name] = alternation(*options)
            self.known[used] = Reference(name, self.definitions) if options else None
        return self.known[used]

    def options(self, used: frozenset[object]) -> list[Pattern]:
        """Return an end, if there may be one, and each item that may be next with what follows it."""
        position = len(used)
        options: list[Pattern] = [EMPTY] if position >= self.minimum else []
        if position == self.maximum or (position >= self.first and self.first == len(self.texts)):
            return options
        for text in self.texts[min(position, len(self.texts) - 1)]:
            value = self.value_of(text)
            follower = None if value in used else self.after(used | {value})
            if follower is not None:
                options.append(concat(*([self.comma] if position else []), literal(text), follower))
        return options


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
        parts = [_texts(option) for option in pattern.options]
        return None if None in parts else tuple(text for part in parts if part is not None for text in part)
    if isinstance(pattern, Literal | Words):
        texts = pattern.texts if isinstance(pattern, Words) else (pattern.text,)
        return tuple({identity(json.loads(text)): text for text in reversed(texts)}.values())[::-1]
    return None
