"""The keywords of arrays (core §10.3.1, validation §6.4), compiled to JSON arrays.

Items follow each other, so an array is a regular language over its items. With `minItems` and `maxItems` alone it is a
repetition; with `contains` or `uniqueItems` it is an automaton whose states hold a position and what was found so far.
"""

from structured.json_schema.arrays.items import ArrayWithNeeds, bracketed, empty_array, items_of, read_needs
from structured.json_schema.arrays.unique_items import distinct_items
from structured.json_schema.document.location import Complement, Location, PatternOf, Subschemas, counts
from structured.regex import EMPTY, Pattern, concat, optional, repeat


def array(schemas: Subschemas, location: Location, pattern_of: PatternOf) -> Pattern:
    """Return the arrays that satisfy some schemas: first items with schemas of their own, others with one schema."""
    for part in schemas:
        if isinstance(part.schema, Complement) and "not uniqueItems" in part.schema:
            raise part.location.refusal(
                "Two equal items cannot be required",
                keyword="uniqueItems",
                remedy="Remove the denied 'uniqueItems'.",
            )
    limits = counts(schemas, "minItems", "maxItems")
    distinct = next((part for part in schemas if part.schema.get("uniqueItems") is True), None)
    if distinct is not None and _matters(schemas, *limits):
        return distinct_items(schemas, distinct, location, pattern_of, limits)
    needs = list(read_needs(schemas))
    if needs or any("unevaluatedItems" in part.schema for part in schemas):
        return ArrayWithNeeds(schemas, location, pattern_of, needs, limits).pattern()
    first, rest = items_of(schemas, limits[1], pattern_of)
    return _enclosed(first, rest, location, *limits)


def _matters(schemas: Subschemas, minimum: int, maximum: int | None) -> bool:
    """Tell whether uniqueness restricts the array: a Python set may be written with repeated items."""
    if maximum is not None and maximum <= 1:
        return False
    return minimum > 1 or not schemas[0].location.is_type


def _enclosed(
    first: list[Pattern], rest: Pattern | None, location: Location, minimum: int, maximum: int | None
) -> Pattern:
    most = maximum if rest is not None else len(first)
    if most is not None and most < minimum:
        raise location.unsatisfiable(f"no more than {most} items can be valid", keyword="minItems")
    if most == 0:
        return empty_array(location)
    comma = location.whitespace.comma(location.depth)
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
    return bracketed(filled, location, may_be_empty=minimum == 0)
