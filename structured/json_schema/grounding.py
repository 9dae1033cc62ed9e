"""Values that a document has to state: of the pattern of a value, what the document allows."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from structured.automata import RegularAutomaton
from structured.automata.byte_automaton import accepts_text
from structured.errors import PatternError
from structured.json_schema.assertions import EVERY_TYPE
from structured.json_schema.document.location import GROUNDED, Location, Subschemas
from structured.json_schema.strings.strings import read_rules
from structured.regex import Pattern, concat, literal, words

GROUNDABLE = frozenset({"integer", "null", "number", "string"})
"""Types of values that can be read off a document. The others are conclusions."""

_IN_OTHER_FORMS = ("date", "date-time", "decimal", "time")
"""Formats of strings that a document states in other forms."""


def is_grounded(schemas: Subschemas) -> bool:
    """Tell whether a document has to state the values of some schemas."""
    return any(GROUNDED in part.schema for part in schemas)


def is_stated_in_forms(schema: Mapping[str, Any]) -> bool:
    """Tell whether the strings of a schema are decimals, dates or times, which a document states in any form."""
    return schema.get("format") in _IN_OTHER_FORMS


def check_grounded(types: frozenset[str], location: Location, *, is_listed: bool) -> None:
    """Refuse to ground what no document states."""
    if types == EVERY_TYPE and not is_listed:
        raise location.refusal(
            "Only a string, a number, a date or a time can be grounded, and this may be of any type",
            remedy="Name the type: Grounded[str].",
        )
    if is_listed or not types <= GROUNDABLE:
        what = "an enum" if is_listed else f"a value of the type {min(types - GROUNDABLE)!r}"
        raise location.refusal(
            f"Only a string, a number, a date or a time can be grounded, and this is {what}",
            remedy="Ground the fields or items inside, or leave it as it is: its evidence is located afterwards.",
        )


def grounded(kind: str, schemas: Subschemas, location: Location, ordinary: Pattern) -> Pattern:
    """Return what a pattern of values of one type allows of those that the document states.

    Raises UnsatisfiableError where it states none.
    """
    statements = location.compilation.statements
    if statements is None or kind == "null":
        return ordinary
    form = next((part.schema["format"] for part in schemas if is_stated_in_forms(part.schema)), None)
    if kind == "string" and form is None:
        rules = read_rules(schemas)
        boundary = next(part.schema[GROUNDED] for part in schemas if GROUNDED in part.schema)
        try:
            quotation = statements.quotation(
                boundary, rules.included, rules.excluded, minimum=rules.minimum, maximum=rules.maximum
            )
        except PatternError as error:
            raise location.refusal(
                f"The rules for this text are too much to look for in a document. {error.problem}",
                keyword=next((name for name in ("format", "pattern") for part in schemas if name in part.schema), None),
                remedy="Write Grounded[str], and check the text in a validator; or ground a shorter document.",
            ) from error
        if quotation is None:
            raise location.unsatisfiable("the document has no text that this may be", keyword=None)
        return concat(literal('"'), quotation, literal('"'))
    quote = '"' if form else ""
    spellings = ([f"{quote}{one}{quote}" for one in alike] for alike in statements.spellings(form or "number"))
    found = _accepted(spellings, ordinary)
    if not found:
        raise location.unsatisfiable(f"the document states no {form or kind} that this may be", keyword=None)
    return words(found)


def _accepted(spellings: Iterable[Sequence[str]], pattern: Pattern) -> list[str]:
    """Return of each value the first of its spellings that a pattern accepts."""
    automaton = RegularAutomaton(pattern)
    found: dict[str, None] = {}
    for alike in spellings:
        accepted = next((one for one in alike if accepts_text(automaton, one)), None)
        if accepted is not None:
            found[accepted] = None
    return list(found)
