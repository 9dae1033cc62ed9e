"""Hazards: the ways in which valid answers may still be bad, or never end."""

from collections.abc import Iterator, Mapping

from structured.json_schema.document.location import ANNOTATIONS
from structured.json_schema.numbers import FLOAT_DIGITS, INTEGER_DIGITS, PLACES
from structured.output_types.optional_fields import types_of

_DIGITS = f"{INTEGER_DIGITS} of an int, {FLOAT_DIGITS} before and {PLACES} after the point of a float"

HAZARDS = {
    "recursion": ("May contain itself, to any depth.", "A model for each level; the last without the field."),
    "anything": ("May be any JSON value, however large.", "Name the type: str, list[str], a model."),
    "whitespace": ("Blanks may follow blanks between any two values.", 'whitespace="spaced"'),
    "list": ("A list without a limit: items may be added until the budget is spent.", "Field(max_length=...)"),
    "dictionary": (
        "A dictionary without a limit: entries may be added until the budget is spent.",
        "Field(max_length=...)",
    ),
    "string": (
        "A text without a limit: it may go on until the budget is spent.",
        "Field(max_length=...), or Literal[...] where the values are known.",
    ),
    "number": (f"Digits limited by default alone: {_DIGITS}.", "Field(ge=..., le=...)"),
    "invention": (
        "Always filled in, even where the text says nothing; a default is never used.",
        "X | None in place of X.",
    ),
}
"""By kind, in the order of a report: the problem, and the remedy in words of Pydantic."""

_LOWER = {"minimum", "exclusiveMinimum"}
_UPPER = {"maximum", "exclusiveMaximum"}


def hazards_of(schema: object) -> Iterator[str]:
    """Yield the kinds of hazards that a schema has by itself, without those of the schemas in it."""
    if not isinstance(schema, Mapping) or schema.keys() <= ANNOTATIONS:
        yield "anything"
        return
    types = types_of(schema)
    if "enum" in schema or "const" in schema:
        return
    if "array" in types and "maxItems" not in schema:
        yield "list"
    if "object" in types and "maxProperties" not in schema and schema.get("additionalProperties", False) is not False:
        yield "dictionary"
    if "string" in types and not schema.keys() & {"format", "maxLength", "pattern"}:
        yield "string"
    if types & {"integer", "number"} and not (schema.keys() & _LOWER and schema.keys() & _UPPER):
        yield "number"
