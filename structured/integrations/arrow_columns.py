"""Arrow columns: the type of a column for what a JSON Schema describes, and JSON data as its cells.

The schema alone decides, so that all parts of a table have the same columns, whatever values came. A type is taken if
it holds exactly what the schema describes: objects with known names are structs, others maps or JSON as text, like
unions, recursive schemas and all that is open. A number that a schema does not bound is an int64 or float64.

A column takes what its type holds exactly, and refuses the rest with UnfitError: a number that would be rounded, a
text that is no UTF-8, a member that has no place. Null is null in any column.

Dates are dates. Times are texts: a timestamp forgets the offset, and how many digits a fraction had.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any, get_args

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaWarningKind

from structured.errors.recursion import deep
from structured.errors.values import shown
from structured.jobs.flat_table import pyarrow
from structured.json_schema.document.location import Identity, Subschema
from structured.json_schema.document.references import follow
from structured.json_schema.nullable import types_of
from structured.output_types.json_schema import JsonSchema
from structured.output_types.missing_values import MissingFieldsType
from structured.output_types.output_type import OutputType
from structured.output_types.paths import Steps, steps_to_path
from structured.output_types.python_type import PythonType
from structured.output_types.resolve import resolve_json
from structured.output_types.schema_parts import listed_schemas

INT64 = range(-(2**63), 2**63)

_CONTENTS: Mapping[str, str] = {
    "string": "texts in UTF-8",
    "bool_": "true and false",
    "int64": "integers of 64 bits",
    "float64": "floats, and integers up to 2**53, behind which floats skip some",
    "date32": "dates of RFC 3339",
    "list_": "arrays",
    "map_": "objects",
    "entries": "objects",
    "struct": "objects with the members of its type alone",
}
"""What the kinds of columns take, other than JSON as text, which takes all data."""


class UnfitError(ValueError):
    """Data that a column cannot hold exactly.

    Attributes:
        steps: Where in the column it has no place: `("lines", 2, "price")`.
        problem: What it is, and what the column takes there.
    """

    def __init__(self, steps: Steps, data: Any, kind: str) -> None:
        self.steps = steps
        self.problem = f"{shown(data)}: it takes {_CONTENTS[kind]}"
        super().__init__(f"{steps_to_path(steps)} cannot hold {self.problem}.")


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

    def to_cell(self, data: Any, steps: Steps = ()) -> Any:
        """Return JSON data as a cell for pyarrow. Raises UnfitError, with a place below `steps`, if it is not exact."""
        match self.kind:
            case _ if data is None:
                return None
            case "json":
                text = json.dumps(data, ensure_ascii=False)
                return text if _is_utf8(text) else json.dumps(data)
            case "list_" if isinstance(data, list):
                items = self.parts["items"]
                return [items.to_cell(item, (*steps, index)) for index, item in enumerate(data)]
            case "map_" | "entries" if isinstance(data, dict):
                values = self.parts["values"]
                return [
                    {"key": TEXT.to_cell(name, steps), "value": values.to_cell(member, (*steps, name))}
                    for name, member in data.items()
                ]
            case "struct" if isinstance(data, dict) and data.keys() <= self.parts.keys():
                return {name: column.to_cell(data.get(name), (*steps, name)) for name, column in self.parts.items()}
            case kind if (cell := _scalar_cell(kind, data)) is not None:
                return cell
        raise UnfitError(steps, data, self.kind)

    def without_maps(self) -> "Column":
        """Return a column for the same data, with lists of entries in place of maps."""
        parts = {name: column.without_maps() for name, column in self.parts.items()}
        return Column("entries" if self.kind == "map_" else self.kind, parts)

    @classmethod
    def list_of(cls, items: "Column") -> "Column":
        """Return a column of arrays."""
        return cls("list_", {"items": items})

    @classmethod
    def map_of(cls, values: "Column") -> "Column":
        """Return a column of objects with any names, and values of one type."""
        return cls("map_", {"values": values})

    @classmethod
    def struct_of(cls, members: Mapping[str, "Column"]) -> "Column":
        """Return a column of objects with these names."""
        return cls("struct", members)


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

_BOUND_KEYWORDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
_BRANCH_KEYWORDS = ("$ref", "anyOf", "oneOf", "allOf")
_SCALAR_COLUMNS: Mapping[str, Column] = {"string": TEXT, "boolean": BOOLEAN, "integer": INTEGER, "number": FLOAT}


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
        serialization_schema = _serialization_schema(output_type)
        root = None if serialization_schema is None else replace(output_type, schema=serialization_schema).root
    elif root is None and (schema := output_type.value_schema) is not None:
        root = resolve_json(JsonSchema(dict(schema))).root
    try:
        return JSON if root is None else _ColumnDerivation().column(root, frozenset())
    except _TooManyMembersError:
        return JSON


class _SerializationSchema(GenerateJsonSchema):
    """The schema of what Pydantic writes, without warnings: they are about defaults."""

    ignored_warning_kinds = {*get_args(JsonSchemaWarningKind)}  # noqa: RUF012  as Pydantic has it


def _serialization_schema(output_type: PythonType[Any]) -> dict[str, Any] | None:
    """Return the schema of what a type's instances are written as; None if Pydantic does not know."""
    try:
        return output_type.adapter.json_schema(mode="serialization", schema_generator=_SerializationSchema)
    except Exception:  # noqa: BLE001  a type runs code of its own there
        return None


class _TooManyMembersError(Exception):
    """A schema has too many members for columns."""


class _ColumnDerivation:
    """A walk through a schema, which counts the members of structs."""

    def __init__(self) -> None:
        self._member_count = 0

    @deep
    def column(self, part: Subschema, ancestors: frozenset[Identity]) -> Column:
        schema = part.schema
        if not isinstance(schema, Mapping) or part.identity in ancestors or len(ancestors) >= MAX_DEPTH:
            return JSON
        ancestors |= {part.identity}
        if "enum" in schema or "const" in schema:
            return _column_of_values(schema["enum"] if "enum" in schema else [schema["const"]])
        kinds = types_of(schema) - {"null"}
        if len(kinds) == 1 and (scalars := kinds & _SCALAR_COLUMNS.keys()):
            return _scalar_column(str(scalars.pop()), schema)
        branches = [keyword for keyword in _BRANCH_KEYWORDS if keyword in schema]
        if branches:
            is_only_keyword = len(branches) == 1 and not {"type", "properties", "items"} & schema.keys()
            return self._column_of_branches(part, branches[0], ancestors) if is_only_keyword else JSON
        if kinds == {"array"}:
            return self._array_column(part, ancestors)
        return self._object_column(part, ancestors) if kinds == {"object"} else JSON

    def _column_of_branches(self, part: Subschema, keyword: str, ancestors: frozenset[Identity]) -> Column:
        """Return the column that all branches beside null have in common."""
        if keyword == "$ref":
            return self.column(follow(part), ancestors)
        options = listed_schemas(part, keyword)
        if keyword != "allOf":
            return self._common_column([option for option in options if not _is_null(option)], ancestors) or JSON
        return self.column(options[0], ancestors) if len(options) == 1 else JSON

    def _common_column(self, parts: Sequence[Subschema], ancestors: frozenset[Identity]) -> Column | None:
        """Return the column that all parts have; None if they differ."""
        columns = [self.column(part, ancestors) for part in parts]
        return columns[0] if columns and all(column == columns[0] for column in columns) else None

    def _array_column(self, part: Subschema, ancestors: frozenset[Identity]) -> Column:
        schema, parts = part.schema, listed_schemas(part, "prefixItems")
        if isinstance(schema.get("items"), Mapping):
            parts.append(part.subschema("items"))
        elif schema.get("items", False) is not False:
            return JSON
        items = self._common_column(parts, ancestors)
        return JSON if items is None else Column.list_of(items)

    def _object_column(self, part: Subschema, ancestors: frozenset[Identity]) -> Column:
        schema = part.schema
        additional, names = schema.get("additionalProperties", False), schema.get("properties", {})
        if "patternProperties" in schema:
            return JSON
        if isinstance(additional, Mapping) and not names:
            return Column.map_of(self.column(part.subschema("additionalProperties"), ancestors))
        if additional is not False or not names:
            return JSON
        self._member_count += len(names)
        if self._member_count > MAX_MEMBERS:
            raise _TooManyMembersError
        return Column.struct_of({name: self.column(part.subschema("properties", name), ancestors) for name in names})


def _is_null(part: Subschema) -> bool:
    return isinstance(part.schema, Mapping) and part.schema.get("type") == "null"


def _scalar_column(kind: str, schema: Mapping[str, Any]) -> Column:
    if kind == "integer" and any(bound in schema and not _is_int64(schema[bound]) for bound in _BOUND_KEYWORDS):
        return JSON
    return DATE if kind == "string" and schema.get("format") == "date" else _SCALAR_COLUMNS[kind]


def _is_int64(bound: object) -> bool:
    return isinstance(bound, int | float) and INT64.start <= bound < INT64.stop


def _column_of_values(values: Sequence[Any]) -> Column:
    """Return the column for listed values."""
    kinds = {type(value) for value in values if value is not None}
    column = {str: TEXT, bool: BOOLEAN, int: INTEGER}.get(kinds.pop(), JSON) if len(kinds) == 1 else JSON
    return column if column != INTEGER or all(value is None or _is_int64(value) for value in values) else JSON
