"""Grounding: the restriction of a value's pattern to the values that the document states."""

from collections.abc import Mapping
from typing import Any

from structured.automata import RegularAutomaton
from structured.automata.byte_automaton import accepts_text
from structured.errors import PatternError
from structured.json_schema.document.location import GROUNDED, Location, Subschemas
from structured.json_schema.keyword_types import DISJOINT_TYPES
from structured.json_schema.strings.strings import string_rules_of
from structured.regex import Pattern, concat, literal, words

GROUNDABLE = frozenset({"integer", "null", "number", "string"})
"""Types whose values a document can state. Values of other types are conclusions."""

_DATES_AND_TIMES = ("date", "date-time", "time")
"""Formats of strings that a document may state in other forms."""


def is_grounded(schemas: Subschemas) -> bool:
    """Tell whether the document has to state the values of some schemas."""
    return any(GROUNDED in part.schema for part in schemas)


def is_stated_in_forms(schema: Mapping[str, Any]) -> bool:
    """Tell whether the strings of a schema are dates or times, which a document may state in any form."""
    return schema.get("format") in _DATES_AND_TIMES


def check_grounded(types: frozenset[str], location: Location, *, is_listed: bool) -> None:
    """Refuse to ground values that no document states."""
    problem = "Only a string, a number, a date or a time can be grounded, and this"
    if types == DISJOINT_TYPES and not is_listed:
        raise location.refusal(f"{problem} may be of any type", remedy="Name the type: Grounded[str].")
    if is_listed or not types <= GROUNDABLE:
        what = "an enum" if is_listed else f"a value of the type {min(types - GROUNDABLE)!r}"
        raise location.refusal(
            f"{problem} is {what}",
            remedy="Ground the fields or items inside, or leave it as it is: its evidence is located afterwards.",
        )


def grounded(kind: str, schemas: Subschemas, location: Location, allowed: Pattern) -> Pattern:
    """Return the values of one type that the document states and that the pattern `allowed` has.

    Raises UnsatisfiableError where the document states none.
    """
    statements = location.compilation.statements
    if statements is None or kind == "null":
        return allowed
    form = next((part.schema["format"] for part in schemas if is_stated_in_forms(part.schema)), None)
    if kind == "string" and form is None:
        rules = string_rules_of(schemas)
        boundary = next(part.schema[GROUNDED] for part in schemas if GROUNDED in part.schema)
        try:
            quotation = statements.quotation(
                boundary, rules.included, rules.excluded, minimum=rules.minimum, maximum=rules.maximum
            )
        except PatternError as error:
            raise location.refusal(
                f"The document cannot be searched for a text with these rules. {error.problem}",
                keyword=next((name for name in ("format", "pattern") for part in schemas if name in part.schema), None),
                remedy="Write Grounded[str], and check the text in a validator; or ground a shorter document.",
            ) from error
        if quotation is None:
            raise location.unsatisfiable("the document has no text that this may be", keyword=None)
        return concat(literal('"'), quotation, literal('"'))
    quote = '"' if form else ""
    values = statements.spellings(form or "number")
    texts_by_value = ([f"{quote}{spelling}{quote}" for spelling in spellings] for spellings in values)
    automaton = RegularAutomaton(allowed)
    accepted = [next((text for text in texts if accepts_text(automaton, text)), None) for texts in texts_by_value]
    texts = [text for text in accepted if text is not None]
    if not texts:
        raise location.unsatisfiable(f"the document states no {form or kind} that this may be", keyword=None)
    return words(texts)
