"""Arrow columns: the type of a column for what a JSON Schema describes, and JSON data as its cells.

The schema alone decides, so that all parts of a table have the same columns, whatever values came. A type is taken if
it holds exactly what the schema describes: objects with known names are structs, others maps or JSON as text, like
unions, recursive schemas and all that is open. A number that a schema does not bound is an int64 or float64.

A column takes what its type holds exactly, and refuses the rest: a number that would be rounded, a text that is no
UTF-8, a member that has no place; `rows` keeps its record as JSON. Null is null in any column.

Dates are dates. Times are texts: a timestamp forgets the offset, and how many digits a fraction had.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any, get_args

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaWarningKind

from structured.errors.recursion import deep
from structured.jobs.flat_table import pyarrow
from structured.json_schema.document.location import Identity, Subschema
from structured.json_schema.document.references import follow
from structured.json_schema.nullable import types_of
from structured.output_types.json_schema import JsonSchema
from structured.output_types.missing_values import MissingFieldsType
from structured.output_types.output_type import OutputType
from structured.output_types.python_type import PythonType
from structured.output_types.resolve import resolve_json
from structured.output_types.schema_parts import listed_schemas

INT64 = range(-(2**63), 2**63)

_HELD: Mapping[str, str] = {
    "string": "text in UTF-8",
    "bool_": "boolean",
    "int64": "integer of 64 bits",
    "float64": "number that a float is equal to",
    "date32": "date of RFC 3339",
    "json": "JSON",
    "list_": "array",
    "map_": "object",
    "entries": "object",
    "struct": "object of these members",
}
"""The kinds of columns, and what they hold."""


class UnfitError(ValueError):
    """Data that a column cannot hold exactly."""


@dataclass(frozen=True, slots=True)
class Column:
    """Cells of one type.

    Attributes:
        kind: The function of pyarrow that makes the type; or `json`, for any data as JSON text, or `entries`, for a map
            that is a list of its members.
        parts: The columns of the members of a struct, by their names. A list and a map have one, of the items or the
            values.
    """

    kind: str
    parts: Mapping[str, "Column"] = field(default_factory=dict)

    @property
    def arrow(self) -> Any:
        """The `pyarrow.DataType` of its cells. Raises ImportError without pyarrow."""
        arrow, parts = pyarrow(), {name: column.arrow for name, column in self.parts.items()}
        match self.kind, [*parts.values()]:
            case "json", _:
                return arrow.string()
            case "list_", [items]:
                return arrow.list_(items)
            case "map_", [values]:
                return arrow.map_(arrow.string(), values)
            case "entries", [values]:
                return arrow.list_(arrow.struct({"key": arrow.string(), "value": values}))
            case "struct", _:
                return arrow.struct(parts)
        return getattr(arrow, self.kind)()

    def to_cell(self, data: Any) -> Any:
        """Return JSON data as a cell, which pyarrow takes as it is. Raises UnfitError if that would not be exact."""
        match self.kind:
            case _ if data is None:
                return None
            case "json":
                text = json.dumps(data, ensure_ascii=False)
                return text if _is_utf8(text) else json.dumps(data)
            case "list_" if isinstance(data, list):
                return [self.parts["items"].to_cell(item) for item in data]
            case "map_" | "entries" if isinstance(data, dict):
                values = self.parts["values"]
                return [{"key": TEXT.to_cell(name), "value": values.to_cell(member)} for name, member in data.items()]
            case "struct" if isinstance(data, dict) and data.keys() <= self.parts.keys():
                return {name: column.to_cell(data.get(name)) for name, column in self.parts.items()}
            case kind if (cell := _scalar_cell(kind, data)) is not None:
                return cell
        raise UnfitError(f"{data!r} is no {_HELD[self.kind]}")

    def without_maps(self) -> "Column":
        """Return a column for the same data, with lists of entries in place of maps."""
        parts = {name: column.without_maps() for name, column in self.parts.items()}
        return Column("entries" if self.kind == "map_" else self.kind, parts)


def list_of(items: Column) -> Column:
    """Return a column of arrays."""
    return Column("list_", {"items": items})


def map_of(values: Column) -> Column:
    """Return a column of objects with any names, and values of one type."""
    return Column("map_", {"values": values})


def struct_of(members: Mapping[str, Column]) -> Column:
    """Return a column of objects with these names."""
    return Column("struct", members)


TEXT, BOOLEAN, INTEGER, FLOAT = Column("string"), Column("bool_"), Column("int64"), Column("float64")
DATE, JSON = Column("date32"), Column("json")


def _scalar_cell(kind: str, data: Any) -> Any:
    """Return data as a cell without parts; None if it is of another kind."""
    match kind:
        case "string" if isinstance(data, str) and _is_utf8(data):
            return data
        case "bool_" if isinstance(data, bool):
            return data
        case "int64" if type(data) is int and data in INT64:
            return data
        case "float64" if isinstance(data, float) or (type(data) is int and abs(data) <= 2**53):
            return float(data)
        case "date32":
            return _date(data)
    return None


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _date(data: Any) -> date | None:
    """Return a date that has one text in RFC 3339, so that it is read back as it was; a time has many."""
    try:
        day = date.fromisoformat(data)
    except (TypeError, ValueError):
        return None
    return day if day.isoformat() == data else None


MAX_MEMBERS = 1_000
"""Members of structs in one column; what has more is JSON as text, since a reader opens each as a column."""

MAX_DEPTH = 32
"""Structs, lists and maps inside each other."""

_BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
_BRANCHES = ("$ref", "anyOf", "oneOf", "allOf")
_SCALARS: Mapping[str, Column] = {"string": TEXT, "boolean": BOOLEAN, "integer": INTEGER, "number": FLOAT}


def column_of(output_type: OutputType[Any]) -> Column:
    """Return the column for the values of a type, as JSON data: what Pydantic writes for an instance.

    >>> from structured.output_types.resolve import resolve_type
    >>> column_of(resolve_type(list[int | None]))
    Column(kind='list_', parts={'items': Column(kind='int64', parts={})})
    """
    if isinstance(output_type, MissingFieldsType):
        output_type = output_type.base_type
    root = output_type.root
    if isinstance(output_type, PythonType):
        written = _schema_of_written(output_type)
        root = None if written is None else replace(output_type, schema=written).root
    elif root is None and (schema := output_type.value_schema) is not None:
        root = resolve_json(JsonSchema(dict(schema))).root
    try:
        return JSON if root is None else _Derivation().column(root, frozenset())
    except _TooManyError:
        return JSON


class _WrittenJsonSchema(GenerateJsonSchema):
    """The schema of what Pydantic writes, without warnings: they are about defaults."""

    ignored_warning_kinds = {*get_args(JsonSchemaWarningKind)}  # noqa: RUF012  as Pydantic has it


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
            return _of_values(schema["enum"] if "enum" in schema else [schema["const"]])
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
        options = listed_schemas(part, keyword)
        if keyword != "allOf":
            return self._common([option for option in options if not _is_null(option)], above) or JSON
        return self.column(options[0], above) if len(options) == 1 else JSON

    def _common(self, parts: Sequence[Subschema], above: frozenset[Identity]) -> Column | None:
        """Return the column that all parts have; None if they differ."""
        columns = [self.column(part, above) for part in parts]
        return columns[0] if columns and all(column == columns[0] for column in columns) else None

    def _array(self, part: Subschema, above: frozenset[Identity]) -> Column:
        schema, parts = part.schema, listed_schemas(part, "prefixItems")
        if isinstance(schema.get("items"), Mapping):
            parts.append(part.below("items"))
        elif schema.get("items", False) is not False:
            return JSON
        items = self._common(parts, above)
        return JSON if items is None else list_of(items)

    def _object(self, part: Subschema, above: frozenset[Identity]) -> Column:
        schema = part.schema
        others, names = schema.get("additionalProperties", False), schema.get("properties", {})
        if "patternProperties" in schema:
            return JSON
        if isinstance(others, Mapping) and not names:
            return map_of(self.column(part.below("additionalProperties"), above))
        if others is not False or not names:
            return JSON
        self._members += len(names)
        if self._members > MAX_MEMBERS:
            raise _TooManyError
        return struct_of({name: self.column(part.below("properties", name), above) for name in names})


def _is_null(part: Subschema) -> bool:
    return isinstance(part.schema, Mapping) and part.schema.get("type") == "null"


def _scalar(kind: str, schema: Mapping[str, Any]) -> Column:
    if kind == "integer" and any(bound in schema and not _fits(schema[bound]) for bound in _BOUNDS):
        return JSON
    return DATE if kind == "string" and schema.get("format") == "date" else _SCALARS[kind]


def _fits(bound: object) -> bool:
    return isinstance(bound, int | float) and INT64.start <= bound < INT64.stop


def _of_values(values: Sequence[Any]) -> Column:
    """Return the column for listed values."""
    kinds = {type(value) for value in values if value is not None}
    column = {str: TEXT, bool: BOOLEAN, int: INTEGER}.get(kinds.pop(), JSON) if len(kinds) == 1 else JSON
    return column if column != INTEGER or all(value is None or _fits(value) for value in values) else JSON
