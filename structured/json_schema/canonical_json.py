r"""Canonical JSON: one spelling for each value, so that values are equal if and only if their texts are (core §4.2.2).

A string is spelled as `json.dumps` spells it, a number as a plain decimal without redundant zeros: `\u0061` is `a`, and
`1.0` and `1e0` are `1`. Decimals with a point have at most fifteen digits, so no two of them are the same double. The
properties of all objects are written in one order, followed by at most one under a name that no schema lists.
"""

from collections.abc import Iterable
from functools import lru_cache, partial
from typing import Any

from structured.automata.dfa.alternating import PatternLanguage
from structured.errors import PatternError, SchemaError
from structured.json_schema.document.equality import CanonicalForm
from structured.json_schema.document.location import (
    Compilation,
    InternalSchema,
    Location,
    PatternOf,
    RelocatedSchema,
    Subschema,
    Subschemas,
)
from structured.json_schema.logic.conjunctions import check_productive
from structured.json_schema.logic.listed_values import spelling, value_to_pattern
from structured.json_schema.numbers.multiples import intersected
from structured.json_schema.whitespace import DEFAULT_WHITESPACE, read_whitespace
from structured.regex import EMPTY, Pattern, alternation
from structured.regex.character_classes import ECMA
from structured.regex.regex_parser import whole_regex_to_pattern

MAX_DIGITS = 15
"""Digits of a decimal with a point that every reader of JSON distinguishes (RFC 8259 §6)."""

_WITH_POINT = "|".join(rf"[1-9]\d{{{whole}}}\.\d{{0,{MAX_DIGITS - 2 - whole}}}[1-9]" for whole in range(MAX_DIGITS - 1))
_DECIMAL = rf"0|-?[1-9]\d*|-?(?:0\.\d{{0,{MAX_DIGITS - 2}}}[1-9]|{_WITH_POINT})"
_PLAIN_DECIMALS = PatternLanguage(whole_regex_to_pattern(_DECIMAL, ECMA))
"""The numbers in canonical form."""


def canonical_values(schemas: Subschemas, location: Location, pattern_of: PatternOf) -> Pattern:
    """Return the values that satisfy some schemas, in canonical form.

    The schemas are compiled again until the form has a place for every name that they list. Raises
    `UnsatisfiableError` if there are no such values, and `SchemaError` where they have no canonical form.
    """
    outer = location.compilation
    if outer.canonical_form is not None:
        return pattern_of(schemas)
    form = CanonicalForm({}) if outer.canonical_compilation is None else outer.canonical_compilation.canonical_form
    while True:
        assert form is not None
        if outer.canonical_compilation is None or outer.canonical_compilation.canonical_form is not form:
            outer.canonical_compilation = outer.uncompiled()
            outer.canonical_compilation.key_order, outer.canonical_compilation.canonical_form = "schema", form
            if location.whitespace.inside_brackets != EMPTY:
                outer.canonical_compilation.whitespace = read_whitespace(DEFAULT_WHITESPACE)
        pattern = pattern_of([_moved(part, outer.canonical_compilation) for part in schemas])
        if not form.unplaced_names:
            break
        form = CanonicalForm({name: place for place, name in enumerate([*form.names, *form.unplaced_names])})
    if outer.canonical_compilation.recursive_references:
        check_productive(pattern, outer.canonical_compilation)
    return pattern


def _moved(part: Subschema, compilation: Compilation) -> Subschema:
    """Return a schema as part of another compilation of the same document."""
    location = part.location._replace(compilation=compilation)
    if isinstance(part.schema, RelocatedSchema):
        origin = part.schema.location._replace(compilation=compilation)
        return part._replace(schema=part.schema._replace(location=origin), location=location)
    if isinstance(part.schema, InternalSchema):
        raise location.refusal(
            "'uniqueItems' is not supported where other rules of the items are denied",
            keyword="uniqueItems",
            remedy="Describe the allowed items instead.",
        )
    return part._replace(location=location)


def canonical_numbers(values: Pattern, location: Location) -> Pattern:
    """Return numbers, in canonical form where values are compared by their texts."""
    if location.compilation.canonical_form is None:
        return values
    try:
        numbers = _plain_numbers(values)
    except PatternError as error:
        raise location.refusal(error.problem, keyword="uniqueItems", remedy=error.remedy) from error
    if numbers is None:
        raise _too_many_digits(location)
    return numbers


def canonical_listing(values: Iterable[Any], location: Location) -> Pattern:
    """Return listed values in canonical form: `[1.0, "a"]` → `1`, `"a"`."""
    form, spell = location.compilation.canonical_form, partial(_text, location=location)
    assert form is not None
    return alternation(*(value_to_pattern(value, location, spell, form.ordered) for value in values))


def _text(value: Any, location: Location) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    text = spelling(value, location, keyword="enum")
    if isinstance(value, float) and not _PLAIN_DECIMALS.contains(text):
        raise _too_many_digits(location)
    return text


@lru_cache(maxsize=1024)
def _plain_numbers(values: Pattern) -> Pattern | None:
    return intersected(values, [_PLAIN_DECIMALS])


def _too_many_digits(location: Location) -> SchemaError:
    return location.refusal(
        "'uniqueItems' is not supported for numbers of so many digits",
        keyword="uniqueItems",
        remedy=f"Allow some of at most {MAX_DIGITS} digits.",
    )
