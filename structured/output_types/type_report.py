"""The facts of a report on a type: its fields, its cost, and its hazards, by which answers may be bad or endless."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Literal

from structured.errors import SchemaError
from structured.json_schema.document.location import ANNOTATIONS, Subschema
from structured.json_schema.document.references import REFERENCES
from structured.json_schema.keyword_types import ASSERTIONS, INTERNAL, KEYWORD_SHAPES, UNSUPPORTED
from structured.json_schema.logic.choices import CHOICES
from structured.json_schema.nullable import types_of
from structured.json_schema.numbers.number_patterns import FLOAT_DIGITS, INTEGER_DIGITS, PLACES
from structured.json_schema.unsupported_keywords import STRUCTURE

Status = Literal["enforced", "checked", "refused"]


@dataclass(frozen=True, slots=True)
class FieldReport:
    """A field of the answer: its type, and how that is enforced.

    `path` leads to it in the answer: `lines[].price`, `pet (cat).lives`; "" is the whole answer. `kind` is its type as
    the prompt puts it; of a whole answer that is described in several lines, the name of the type. `validators` are the
    functions that are run on the finished answer, which is generated again if one of them rejects it. `refusals` are
    the reasons why the field cannot be compiled. `same_as` are the paths where fields of the same type are listed, if
    that is not here. `may_be_left_out` tells whether an answer may be without the field.
    """

    path: str
    kind: str
    validators: tuple[str, ...] = ()
    refusals: tuple[SchemaError, ...] = ()
    same_as: tuple[str, ...] = ()
    may_be_left_out: bool = False

    @property
    def status(self) -> Status:
        """`"enforced"`: the mask allows nothing else. `"checked"`: it does, and validators have the last word."""
        return "refused" if self.refusals else "checked" if self.validators else "enforced"


@dataclass(frozen=True, slots=True)
class Hazard:
    """A risk in valid answers at some paths, and what to write in the type instead."""

    kind: str
    problem: str
    remedy: str
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of an answer: the nodes of the pattern, the bytes of the shortest answer and of the longest.

    `longest` is None where answers may have any length, where a type contains itself, and where there are too many
    states to know. The nodes are counted, and not the states of the automaton,
    which are as many as the texts need that are written, which nobody knows beforehand. Of a type that is no JSON,
    `nodes` counts the states of its automaton that were visited.
    """

    nodes: int
    shortest: int
    longest: int | None


@dataclass(frozen=True, slots=True)
class Answers:
    """The texts of a type that is no JSON.

    `count` is how many there are, None if there is no limit, or if it is not known. `is_limited` is whether there is a
    limit, None if there are too many states to know. `shortest` and `longest` are answers; None where there is none,
    or it is too long to be shown.
    """

    count: int | None
    is_limited: bool | None
    shortest: str | None
    longest: str | None


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
    "number": (f"Digits limited by default alone: {_DIGITS}.", "Field(ge=..., le=...)", '"minimum" and "maximum"'),
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
_ASSERTIONS = frozenset({*ASSERTIONS, *STRUCTURE, *KEYWORD_SHAPES}) - INTERNAL
_KNOWN_KEYWORDS = _ASSERTIONS | ANNOTATIONS | UNSUPPORTED.keys()
_LOWER_BOUNDS = {"minimum", "exclusiveMinimum"}
_UPPER_BOUNDS = {"maximum", "exclusiveMaximum"}
_DATE_KINDS = {"date": "date", "date-time": "datetime"}

_MEMBER_KEYWORDS = {"additionalProperties", "patternProperties", "properties", "required", *_APPLICATORS}
"""Keywords that describe the members of an object."""


def hazards_of(part: Subschema) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the kinds of hazards of a schema, without those of the schemas in it, each with the names in its text."""
    if isinstance(part.schema, Mapping) and not part.location.is_type:
        yield from _misspellings(part.schema, part.location.keys)
    is_listed = isinstance(part.schema, Mapping) and not part.schema.keys().isdisjoint({"enum", "const"})
    for kind in () if is_listed else _hazard_kinds(part.schema, part.location.is_type):
        yield kind, ()


def _misspellings(schema: Mapping[str, Any], keys: Sequence[str | int]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield keywords and properties that the author of a schema may have misspelt."""
    for keyword in schema.keys() - _KNOWN_KEYWORDS:
        for similar in get_close_matches(keyword, _ASSERTIONS, n=1, cutoff=0.8):  # as difflib counts
            yield "keyword", (keyword, similar)
    is_part = not {"allOf", "anyOf", "else", "if", "not", "oneOf", "then"}.isdisjoint(keys[-2:])
    other_sources = {"additionalProperties", "patternProperties", *_APPLICATORS}
    if not is_part and "properties" in schema and other_sources.isdisjoint(schema):
        for name in schema.get("required", ()):
            if name not in schema["properties"]:
                yield "required", (name,)


def _hazard_kinds(schema: object, is_type: bool) -> Iterator[str]:
    if not isinstance(schema, Mapping) or schema.keys() <= ANNOTATIONS:
        yield "anything"
        return
    types = types_of(schema)
    if types == {"object"} and not any(schema.get(keyword) for keyword in _MEMBER_KEYWORDS):
        yield "empty"
    if "array" in types and "maxItems" not in schema:
        yield "list"
    if "object" in types and "maxProperties" not in schema and schema.get("additionalProperties", False) is not False:
        yield "dictionary"
    if "string" in types and not schema.keys() & {"format", "maxLength", "pattern"}:
        yield "string"
    name = schema.get("format")
    if name in _DATE_KINDS and not (schema.keys() & {"ge", "gt"} and schema.keys() & {"le", "lt"}):
        yield _DATE_KINDS[name]
    if name == "date-time" and is_type and "tz_constraint" not in schema:
        yield "time zone"
    if name == "duration":
        yield "duration"
    if types & {"integer", "number"} and not (schema.keys() & _LOWER_BOUNDS and schema.keys() & _UPPER_BOUNDS):
        yield "number"
