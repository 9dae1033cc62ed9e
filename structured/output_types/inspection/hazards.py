"""Hazards: the ways in which valid answers may still be bad, or never end."""

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from structured.json_schema.document.location import ANNOTATIONS, SHAPES, Subschema
from structured.json_schema.document.references import REFERENCES
from structured.json_schema.keyword_types import ASSERTIONS, INTERNAL, UNSUPPORTED
from structured.json_schema.logic.choices import CHOICES
from structured.json_schema.nullable import types_of
from structured.json_schema.numbers import FLOAT_DIGITS, INTEGER_DIGITS, PLACES
from structured.json_schema.unsupported_keywords import STRUCTURE

_DIGITS = f"{INTEGER_DIGITS} of an int, {FLOAT_DIGITS} before and {PLACES} after the point of a float"

HAZARDS = {
    "keyword": ("An unknown keyword, which is ignored: {!r}.", "", "Did you mean {!r}?"),
    "required": ("Required, and not described in the properties: {!r}.", "", "A property of this name."),
    "empty": ("No fields: every answer is the same.", "The fields to extract.", "The properties to extract."),
    "recursion": (
        "May contain itself, to any depth.",
        "A model for each level; the last without the field.",
        "A schema for each level; the last without the property.",
    ),
    "anything": (
        "May be any JSON value, however large.",
        "Name the type: str, list[str], a model.",
        'Name the type: "string", "array", "object".',
    ),
    "whitespace": (
        "Blanks may follow blanks between any two values.",
        'layout=JsonLayout("spaced")',
        'layout=JsonLayout("spaced")',
    ),
    "list": (
        "A list without a limit: items may be added until the budget is spent.",
        "Field(max_length=...)",
        '"maxItems"',
    ),
    "dictionary": (
        "A dictionary without a limit: entries may be added until the budget is spent.",
        "Field(max_length=...)",
        '"maxProperties"',
    ),
    "string": (
        "A text without a limit: it may use the whole budget.",
        "Field(max_length=...), or Literal[...] where the values are known.",
        '"maxLength", or "enum" where the values are known.',
    ),
    "number": (
        f"Digits limited by default alone: {_DIGITS}.",
        "Field(ge=..., le=...)",
        '"minimum" and "maximum"',
    ),
    "date": (
        "A date of any year from 1 to 9999: a small model may write one that the text does not have.",
        "Field(ge=date(1990, 1, 1), le=date(2040, 12, 31)), with bounds of yours.",
        "Check the year in your program.",
    ),
    "datetime": (
        "A date and time of any year from 1 to 9999: a small model may write one that the text does not have.",
        "Field(ge=datetime(1990, 1, 1), le=datetime(2040, 12, 31)), with bounds of yours.",
        "Check the year in your program.",
    ),
    "time zone": (
        "With a time zone or without one: a small model may write one that the text does not have.",
        "NaiveDatetime, or AwareDatetime where the text states time zones.",
        "",
    ),
    "duration": (
        "Written as in ISO 8601, as 'PT1H30M', which a text seldom has: a small model may get the units wrong.",
        "int, with the unit in the name of the field: minutes: int.",
        '"integer", with the unit in the name of the property.',
    ),
    "invention": (
        "Always filled in, even where the text says nothing; a default is never used.",
        "X | None in place of X.",
        '"null" as another type.',
    ),
}
"""By kind, in the order of a report: the problem, and the remedy in words of Pydantic and in those of JSON Schema."""

_APPLICATORS = frozenset({*REFERENCES, "allOf", "else", "then", *CHOICES})
_ASSERTIONS = frozenset({*ASSERTIONS, *STRUCTURE, *SHAPES}) - INTERNAL
_KNOWN = _ASSERTIONS | ANNOTATIONS | UNSUPPORTED.keys()
_SIMILAR = 0.8
"""How similar a keyword has to be to one that forbids something, as difflib counts, to be taken for a slip."""

_LOWER = {"minimum", "exclusiveMinimum"}
_UPPER = {"maximum", "exclusiveMaximum"}
_DATES = {"date": "date", "date-time": "datetime"}
_LOWER_DATE, _UPPER_DATE = {"ge", "gt"}, {"le", "lt"}


_FIELDS = {"additionalProperties", "patternProperties", "properties", "required", *_APPLICATORS}
"""Keywords that describe the members of an object."""


def hazards_of(part: Subschema) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the hazards that a schema has by itself, without those of the schemas in it: kind, and what it names."""
    if isinstance(part.schema, Mapping) and not part.location.is_type:
        yield from _slips(part.schema, part.location.keys)
    for kind in _kinds_of(part.schema, part.location.is_type):
        yield kind, ()


def _slips(schema: Mapping[str, Any], keys: Sequence[str | int]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield what the author of a schema may have misspelt."""
    for keyword in schema.keys() - _KNOWN:
        for near in get_close_matches(keyword, _ASSERTIONS, n=1, cutoff=_SIMILAR):
            yield "keyword", (keyword, near)
    is_part = not {"allOf", "anyOf", "else", "if", "not", "oneOf", "then"}.isdisjoint(keys[-2:])
    others = {"additionalProperties", "patternProperties", *_APPLICATORS}
    if not is_part and "properties" in schema and others.isdisjoint(schema):
        for name in schema.get("required", ()):
            if name not in schema["properties"]:
                yield "required", (name,)


def _kinds_of(schema: object, is_type: bool) -> Iterator[str]:
    """Yield the kinds of hazards that a schema has by what it allows."""
    if not isinstance(schema, Mapping) or schema.keys() <= ANNOTATIONS:
        yield "anything"
        return
    types = types_of(schema)
    if "enum" in schema or "const" in schema:
        return
    if types == {"object"} and not any(schema.get(keyword) for keyword in _FIELDS):
        yield "empty"
    if "array" in types and "maxItems" not in schema:
        yield "list"
    if "object" in types and "maxProperties" not in schema and schema.get("additionalProperties", False) is not False:
        yield "dictionary"
    if "string" in types and not schema.keys() & {"format", "maxLength", "pattern"}:
        yield "string"
    yield from _kinds_of_time(schema, is_type)
    if types & {"integer", "number"} and not (schema.keys() & _LOWER and schema.keys() & _UPPER):
        yield "number"


def _kinds_of_time(schema: Mapping[str, Any], is_type: bool) -> Iterator[str]:
    """Yield the kinds of hazards of dates, times of dates, and durations."""
    name = schema.get("format")
    if name in _DATES and not (schema.keys() & _LOWER_DATE and schema.keys() & _UPPER_DATE):
        yield _DATES[name]
    if name == "date-time" and is_type and "tz_constraint" not in schema:
        yield "time zone"
    if name == "duration":
        yield "duration"
