"""Arrow types: the column that holds what a JSON Schema describes.

The schema alone decides, so that all parts of a table have the same columns, whatever values came. A type is taken if
it holds exactly what the schema describes: objects with known names are structs, others maps or JSON as text, like
unions, recursive schemas and all that is open. A number that a schema does not bound is an int64 or float64; one that
does not fit is refused when it comes, and `rows` keeps its record as JSON.

Dates are dates. Times are texts: a timestamp forgets the offset, and how many digits a fraction had.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaWarningKind

from structured.errors.recursion import deep
from structured.extraction.output.columns import (
    BOOLEAN,
    DATE,
    FLOAT,
    INT64,
    INTEGER,
    JSON,
    TEXT,
    Column,
    List,
    Map,
    Struct,
    pyarrow,
)
from structured.json_schema.document.location import Identity, Subschema
from structured.json_schema.document.references import follow
from structured.json_schema.nullable import types_of
from structured.output_types.json_schema import JsonSchema
from structured.output_types.missing_values import MissingFieldsType
from structured.output_types.output_type import OutputType
from structured.output_types.python_type import PythonType
from structured.output_types.resolve import resolve_json

MAX_MEMBERS = 1_000
"""Members of structs in one column; what has more is JSON as text, since a reader opens each as a column."""

MAX_DEPTH = 32
"""Structs, lists and maps inside each other."""

_BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
_BRANCHES = ("$ref", "anyOf", "oneOf", "allOf")
_SCALARS: Mapping[str, Column] = {"string": TEXT, "boolean": BOOLEAN, "integer": INTEGER, "number": FLOAT}


def arrow_field(name: str, output_type: OutputType[Any]) -> Any:
    """Return the `pyarrow.Field` for the values of a type; `column_of` converts them. Raises ImportError."""
    return pyarrow().field(name, column_of(output_type).arrow)


def column_of(output_type: OutputType[Any]) -> Column:
    """Return the column for the values of a type, as JSON data: what Pydantic writes for an instance.

    >>> from structured.output_types.resolve import resolve_type
    >>> column_of(resolve_type(list[list[int | None]]))
    List(items=List(items=_Integer(name='int64')))
    """
    if isinstance(output_type, MissingFieldsType):
        output_type = output_type.of
    if isinstance(output_type, PythonType):
        written = _schema_of_written(output_type)
        return JSON if written is None else schema_to_column(replace(output_type, schema=written).root)
    root, schema = output_type.root, output_type.value_schema
    if root is None and schema is not None:
        root = resolve_json(JsonSchema(dict(schema))).root
    return JSON if root is None else schema_to_column(root)


def schema_to_column(root: Subschema) -> Column:
    """Return the column for what a schema describes."""
    try:
        return _Derivation().column(root, frozenset())
    except _TooManyError:
        return JSON


class _WrittenJsonSchema(GenerateJsonSchema):
    """The schema of what Pydantic writes, without warnings: they are about defaults."""

    def emit_warning(self, kind: JsonSchemaWarningKind, detail: str) -> None:
        """Be silent."""


def _schema_of_written(output_type: PythonType[Any]) -> dict[str, Any] | None:
    """Return the schema of what a type's instances are written as; None if Pydantic does not know."""
    try:
        return output_type.adapter.json_schema(mode="serialization", schema_generator=_WrittenJsonSchema)
    except Exception:  # noqa: BLE001  a type runs code of its own there
        return None


class _TooManyError(Exception):
    """A schema has too many members for columns."""


class _Derivation:
    """A walk through a schema, which counts the members of structs."""

    def __init__(self) -> None:
        self._members = 0

    @deep
    def column(self, part: Subschema, above: frozenset[Identity]) -> Column:
        schema = part.schema
        if not isinstance(schema, Mapping) or part.identity in above or len(above) >= MAX_DEPTH:
            return JSON
        above |= {part.identity}
        if "enum" in schema or "const" in schema:
            return _listed(schema["enum"] if "enum" in schema else [schema["const"]])
        kinds = types_of(schema) - {"null"}
        if len(kinds) == 1 and (scalars := kinds & _SCALARS.keys()):
            return _scalar(str(scalars.pop()), schema)
        branches = [keyword for keyword in _BRANCHES if keyword in schema]
        if branches:
            is_alone = len(branches) == 1 and not {"type", "properties", "items"} & schema.keys()
            return self._branched(part, branches[0], above) if is_alone else JSON
        if kinds == {"array"}:
            return self._array(part, above)
        return self._object(part, above) if kinds == {"object"} else JSON

    def _branched(self, part: Subschema, keyword: str, above: frozenset[Identity]) -> Column:
        """Return the column that all branches beside null have in common."""
        if keyword == "$ref":
            return self.column(follow(part), above)
        options = [part.below(keyword, index) for index in range(len(part.schema[keyword]))]
        if keyword == "allOf":
            return self.column(options[0], above) if len(options) == 1 else JSON
        columns = [self.column(option, above) for option in options if not _is_null(option)]
        return columns[0] if columns and all(column == columns[0] for column in columns) else JSON

    def _array(self, part: Subschema, above: frozenset[Identity]) -> Column:
        schema = part.schema
        parts = [part.below("prefixItems", index) for index in range(len(schema.get("prefixItems", ())))]
        if isinstance(schema.get("items"), Mapping):
            parts.append(part.below("items"))
        elif not parts or schema.get("items", False) is not False:
            return JSON
        columns = [self.column(item, above) for item in parts]
        return List(columns[0]) if all(column == columns[0] for column in columns) else JSON

    def _object(self, part: Subschema, above: frozenset[Identity]) -> Column:
        schema = part.schema
        others, names = schema.get("additionalProperties", False), schema.get("properties", {})
        if "patternProperties" in schema:
            return JSON
        if isinstance(others, Mapping) and not names:
            return Map(self.column(part.below("additionalProperties"), above))
        if others is not False or not names:
            return JSON
        self._members += len(names)
        if self._members > MAX_MEMBERS:
            raise _TooManyError
        return Struct({name: self.column(part.below("properties", name), above) for name in names})


def _is_null(part: Subschema) -> bool:
    return isinstance(part.schema, Mapping) and part.schema.get("type") == "null"


def _scalar(kind: str, schema: Mapping[str, Any]) -> Column:
    if kind == "integer" and any(bound in schema and not _fits(schema[bound]) for bound in _BOUNDS):
        return JSON
    return DATE if kind == "string" and schema.get("format") == "date" else _SCALARS[kind]


def _fits(bound: object) -> bool:
    return isinstance(bound, int | float) and INT64.start <= bound < INT64.stop


def _listed(values: list[Any]) -> Column:
    """Return the column for listed values."""
    listed = [value for value in values if value is not None]
    for kind, column in ((str, TEXT), (bool, BOOLEAN), (int, INTEGER)):
        if listed and all(type(value) is kind for value in listed):
            return column if kind is not int or all(map(_fits, listed)) else JSON
    return JSON
