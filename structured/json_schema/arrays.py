"""The keywords of arrays (core §10.3.1, validation §6.4), compiled to JSON arrays.

Items follow each other, so an array is a regular language over its items. With `minItems` and `maxItems` alone it is a
repetition; with `contains` or `uniqueItems` it is an automaton whose states hold a position and what was found so far.
"""

import json
import math
from collections.abc import Iterator

import numpy as np

from structured.automata import RegularAutomaton
from structured.automata.dfa.character_automaton import most_characters
from structured.errors import SchemaError
from structured.json_schema.canonical_json import canonical_values
from structured.json_schema.document.equality import identity
from structured.json_schema.document.location import (
    InternalSchema,
    Limits,
    Location,
    PatternOf,
    Subschema,
    Subschemas,
    length_limits,
)
from structured.json_schema.items import ArrayWithContains, arrays_read_by, contains_rules, item_patterns
from structured.json_schema.strings.strings import CANONICAL_CHARACTER
from structured.regex import (
    EMPTY,
    Alternation,
    AutomatonPattern,
    CharSet,
    Concat,
    Distinct,
    Iteration,
    Literal,
    ObjectMembers,
    Pattern,
    Reference,
    Unlike,
    Words,
    concat,
    literal,
    optional,
    repeat,
)
from structured.regex.traversal import nodes_of, parts_of

MAX_DISTINCT = 10
"""The most values of items for which each set of values is a state."""

MAX_MIN_ITEMS = 1024
"""The greatest `minItems` for items with more values."""


def arrays_of_distinct_items(
    schemas: Subschemas, distinct: Subschema, location: Location, pattern_of: PatternOf, limits: Limits
) -> Pattern:
    """Return the arrays in which no two items are equal."""
    first, other = item_patterns(schemas, limits[1], pattern_of)
    texts = [_listed_texts(item) for item in [*first, *([] if other is None else [other])]]
    listed = [item_texts for item_texts in texts if item_texts is not None]
    values = {text for item_texts in listed for text in item_texts}
    are_few = len(listed) == len(texts) and len(values) <= MAX_DISTINCT
    if location.is_type and not are_few:
        raise distinct.location.refusal(
            f"A set of at least {limits[0]:,} items is supported if its items have at most {MAX_DISTINCT} values",
            keyword="uniqueItems",
            remedy="Use list in place of set, and remove what is repeated in a Pydantic validator.",
        )
    if any(contains_rules(schemas)):
        raise _refusal(
            distinct,
            "arrays that have to contain certain items ('contains', or 'not' with 'items')",
            "Remove one of the two rules, and check it in your program.",
        )
    if not are_few:
        return _distinct_items_of_many_values(schemas, distinct, location, pattern_of, limits)
    minimum, maximum = limits
    value_of = _python_value if location.is_type else _json_value
    options = [[(literal(text), value_of(text)) for text in item_texts] for item_texts in listed]

    def arcs(used: frozenset[object]) -> Iterator[tuple[Pattern, frozenset[object]]]:
        position = len(used)
        if position != maximum and (position < len(options) or other is not None):
            for item, value in options[min(position, len(options) - 1)]:
                if value not in used:
                    yield item, used | {value}

    pattern = arrays_read_by(frozenset[object](), arcs, lambda used: len(used) >= minimum, location)
    if pattern is None:
        raise distinct.location.unsatisfiable("too few items can be different", keyword="uniqueItems")
    return pattern


def _distinct_items_of_many_values(
    schemas: Subschemas, distinct: Subschema, location: Location, pattern_of: PatternOf, limits: Limits
) -> Pattern:
    remedy = "remove 'uniqueItems', and remove what is repeated in your program."
    if any("unevaluatedItems" in part.schema for part in schemas):
        raise _refusal(distinct, "items beside 'unevaluatedItems'", f"Write 'items' instead; or {remedy}")
    if any(part.first_items for part in schemas):
        raise _refusal(distinct, "first items of more than a few values", f"Let all items have one schema; or {remedy}")
    minimum, maximum = limits
    if minimum > MAX_MIN_ITEMS:
        raise _refusal(distinct, f"at least {minimum:,} items", f"Require at most {MAX_MIN_ITEMS:,}; or {remedy}")
    item = canonical_values([part.item(math.inf) for part in schemas], location, pattern_of)
    least = max(minimum, 1)
    if (least > 1 or not is_inexhaustible(item)) and may_hold_distinct_items(item):
        items = "two items or more" if least > 1 else "a few items"
        raise _refusal(distinct, f"{items} that hold arrays of different items", f"Require none; or {remedy}")
    lengths = _shortest_lengths(item, least) if least > 1 else ()
    if least > 1 and len(lengths) < least:
        raise distinct.location.unsatisfiable("too few items can be different", keyword="uniqueItems")
    comma = location.whitespace.comma(location.depth)
    filled = Distinct(item, comma, least, maximum, lengths, is_inexhaustible(item))
    return location.whitespace.in_brackets("[]", filled, location.depth, may_be_empty=minimum == 0)


def _refusal(distinct: Subschema, feature: str, remedy: str) -> SchemaError:
    problem = f"'uniqueItems' is not supported for {feature}"
    return distinct.location.refusal(problem, keyword="uniqueItems", remedy=remedy)


def _shortest_lengths(item: Pattern, count: int) -> tuple[int, ...]:
    """Return the lengths in bytes of the `count` shortest texts of a pattern, or of all if there are fewer."""
    automaton = RegularAutomaton(item)
    lengths: list[int] = []
    ways, size = {automaton.start: 1}, 0
    while ways and len(lengths) < count:
        ending = sum(number for state, number in ways.items() if automaton.accepts(state))
        lengths += [size] * min(ending, count - len(lengths))
        following: dict[int, int] = {}
        for state, number in ways.items():
            automaton.expand(state)
            row = automaton.table[state]
            for target, bytes_there in zip(*np.unique(row[row >= 0], return_counts=True), strict=True):
                total = following.get(int(target), 0) + number * int(bytes_there)
                following[int(target)] = min(total, count)
        ways, size = following, size + 1
    return tuple(lengths)


def _json_value(text: str) -> object:
    """Return a key that is equal for texts of the same value (core §4.2.2)."""
    return identity(json.loads(text))


def _python_value(text: str) -> object:
    """Return a key that is equal for texts whose values are one element of a Python set: `1`, `1.0`, `true`."""
    value = json.loads(text)
    return value if isinstance(value, bool | int | float) else _json_value(text)


def _listed_texts(pattern: Pattern) -> tuple[str, ...] | None:
    """Return the texts of a pattern that lists them, one for each value; None if it does not list them."""
    if isinstance(pattern, Alternation):
        lists = [_listed_texts(option) for option in pattern.options]
        return None if None in lists else tuple(text for texts in lists if texts is not None for text in texts)
    if isinstance(pattern, Literal | Words):
        texts = pattern.texts if isinstance(pattern, Words) else (pattern.text,)
        return tuple({identity(json.loads(text)): text for text in reversed(texts)}.values())[::-1]
    return None


INEXHAUSTIBLE = 1 << 20
"""Values that no text can use up: an automaton has fewer states."""

_MAX_COUNTED = 64
"""The length up to which texts are counted."""


def may_hold_distinct_items(pattern: Pattern) -> bool:
    """Tell whether a pattern contains items that must differ, or may do so by a definition under construction."""

    def is_under_construction(node: Pattern) -> bool:
        return isinstance(node, Reference) and node.name not in node.definitions

    nodes = nodes_of(pattern, lambda node: () if is_under_construction(node) else parts_of(node))
    return any(isinstance(node, Distinct) or is_under_construction(node) for node in nodes)


def is_inexhaustible(pattern: Pattern) -> bool:
    """Tell whether some part of a pattern, and so the pattern, surely has `INEXHAUSTIBLE` texts or more.

    The numbers of texts of several parts are not multiplied: two parts may spell the same text.
    """
    composite_types = Concat | Alternation | ObjectMembers | Distinct | Iteration
    nodes = nodes_of(pattern, lambda node: parts_of(node) if isinstance(node, composite_types) else ())
    return any(_fewest_texts(node) >= INEXHAUSTIBLE for node in nodes)


def _fewest_texts(pattern: Pattern) -> float:
    """Return a lower bound of the number of texts of a pattern, whatever its parts are."""
    match pattern:
        case Words(texts):
            return len(texts)
        case CharSet(ranges):
            return sum(high - low + 1 for low, high in ranges)
        case Iteration(item, _, maximum) if isinstance(item, CharSet) or item is CANONICAL_CHARACTER:
            return math.inf if maximum is None else _characters(item) ** maximum
        case Iteration(_, _, None) | Unlike() | Reference():  # a pattern that contains itself has ever longer texts
            return math.inf
        case AutomatonPattern():
            return _text_count(pattern)
        case _:
            return 1


def _characters(pattern: Pattern) -> int:
    """Return how many characters a set has; for any character, how many need no escape."""
    options = pattern.options if isinstance(pattern, Alternation) else (pattern,)
    return sum(high - low + 1 for option in options if isinstance(option, CharSet) for low, high in option.ranges)


def _text_count(automaton: AutomatonPattern) -> float:
    """Return how many texts of a limited length an automaton accepts."""
    if automaton.most is None and most_characters(automaton) is None:
        return math.inf
    states, count = {0: 1.0}, 0.0
    longest = _MAX_COUNTED if automaton.most is None else min(automaton.most, _MAX_COUNTED)
    for _ in range(longest + 1):
        count += sum(ways for state, ways in states.items() if state in automaton.accepting)
        following: dict[int, float] = {}
        for state, ways in states.items():
            for low, high, target in automaton.arcs[state]:
                following[target] = following.get(target, 0.0) + ways * (high - low + 1)
        states = following
    return count


def array(schemas: Subschemas, location: Location, pattern_of: PatternOf) -> Pattern:
    """Return the arrays that satisfy some schemas: first items with schemas of their own, others with one schema."""
    for part in schemas:
        if isinstance(part.schema, InternalSchema) and "not uniqueItems" in part.schema:
            raise part.location.refusal(
                "Two equal items cannot be required", keyword="uniqueItems", remedy="Remove the denied 'uniqueItems'."
            )
    limits = length_limits(schemas, "minItems", "maxItems")
    distinct = next((part for part in schemas if part.schema.get("uniqueItems") is True), None)
    is_plural = limits[1] is None or limits[1] > 1
    if distinct is not None and is_plural and (limits[0] > 1 or not location.is_type):  # a set may repeat itself
        return arrays_of_distinct_items(schemas, distinct, location, pattern_of, limits)
    rules = list(contains_rules(schemas))
    if rules or any("unevaluatedItems" in part.schema for part in schemas):
        return ArrayWithContains(schemas, location, pattern_of, rules, limits).pattern()
    first, other = item_patterns(schemas, limits[1], pattern_of)
    return _enclosed(first, other, location, limits)


def _enclosed(first: list[Pattern], other: Pattern | None, location: Location, limits: Limits) -> Pattern:
    minimum, maximum = limits
    most = maximum if other is not None else len(first)
    if most is not None and most < minimum:
        raise location.unsatisfiable(f"no more than {most} items can be valid", keyword="minItems")
    if most == 0:
        return location.whitespace.in_brackets("[]", None, location.depth)
    comma = location.whitespace.comma(location.depth)
    filled: Pattern = EMPTY
    if other is not None:
        before = max(len(first), 1)  # items without a comma, or with a schema of their own
        left = None if most is None else most - before
        filled = repeat(concat(comma, other), max(minimum - before, 0), left)
        filled = filled if first else concat(other, filled)
    for position in reversed(range(len(first))):
        filled = concat(first[position], filled)
        if position > 0:
            filled = concat(comma, filled)
            filled = optional(filled) if position >= minimum else filled
    return location.whitespace.in_brackets("[]", filled, location.depth, may_be_empty=minimum == 0)
