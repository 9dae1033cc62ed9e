"""A type or a JSON Schema enters; the pattern of the JSON texts that may be generated leaves."""

from structured.schema.absence import Absent
from structured.schema.drafts import Draft
from structured.schema.json_schema import JsonSchema
from structured.schema.keywords import common_patterns, schema_to_pattern
from structured.schema.output_type import OutputType, read_type, to_regex
from structured.schema.place import Optionals, Reading
from structured.schema.whitespace import DEFAULT_WHITESPACE, Whitespace, read_whitespace

__all__ = [
    "DEFAULT_WHITESPACE",
    "Absent",
    "Draft",
    "JsonSchema",
    "Optionals",
    "OutputType",
    "Reading",
    "Whitespace",
    "common_patterns",
    "read_type",
    "read_whitespace",
    "schema_to_pattern",
    "to_regex",
]
