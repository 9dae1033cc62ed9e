"""Arrow columns: the type of a column for what a JSON Schema describes, and JSON data as its cells.

The schema alone decides, so that all parts of a table have the same columns, whatever values came. A type is taken if
it holds exactly what the schema describes: objects with known names are structs, others maps or JSON as text, like
unions, recursive schemas and all that is open. A number that a schema does not bound is an int64 or float64.

A column takes what its type holds exactly, and refuses the rest: a number that would be rounded, a text that is no
UTF-8, a member that has no place; `rows` keeps its record as JSON. Null is null in any column.

Dates are dates. Times are texts: a timestamp forgets the offset, and how many digits a fraction had.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaWarningKind

from structured.errors.recursion import deep
from structured.integrations.parquet_tables import pyarrow
from structured.json_schema.document.location import Identity, Subschema
from structured.json_schema.document.references import follow
from structured.json_schema.nullable import types_of
from structured.output_types.json_schema import JsonSchema
from structured.output_types.missing_values import MissingFieldsType
from structured.output_types.output_type import OutputType
from structured.output_types.python_type import PythonType
from structured.output_types.resolve import resolve_json

INT64 = range(-(2**63), 2**63)


class UnfitError(ValueError):
    """Data that a column cannot hold exactly."""


class Column(ABC):
    """Cells of one type."""

    @property
    @abstractmethod
    def arrow(self) -> Any:
        """The `pyarrow.DataType` of its cells. Raises ImportError without pyarrow."""

    def to_cell(self, data: Any) -> Any:
        """Return JSON data as a cell, which pyarrow takes as it is. Raises UnfitError if that would not be exact."""
        return None if data is None else self._to_cell(data)

    @abstractmethod
    def _to_cell(self, data: Any) -> Any: ...


@dataclass(frozen=True, slots=True)
class _Scalar(Column):
    """Cells without parts, of a type that pyarrow calls by this name."""

    name: str

    @property
    def arrow(self) -> Any:
        return getattr(pyarrow(), self.name)()


class _Text(_Scalar):
    __slots__ = ()

    def _to_cell(self, data: Any) -> Any:
        if isinstance(data, str) and _is_utf8(data):
            return data
        raise UnfitError(f"{data!r} is no text in UTF-8")


class _Boolean(_Scalar):
    __slots__ = ()

    def _to_cell(self, data: Any) -> Any:
        if isinstance(data, bool):
            return data
        raise UnfitError(f"{data!r} is no boolean")


class _Integer(_Scalar):
    __slots__ = ()

    def _to_cell(self, data: Any) -> Any:
        if isinstance(data, int) and not isinstance(data, bool) and data in INT64:
            return data
        raise UnfitError(f"{data!r} is no integer of 64 bits")


class _Float(_Scalar):
    __slots__ = ()

    def _to_cell(self, data: Any) -> Any:
        """Return a number as float64; an integer if that is equal to it."""
        if isinstance(data, float):
            return data
        if isinstance(data, int) and not isinstance(data, bool) and abs(data) <= 2**53:
            return float(data)
        raise UnfitError(f"{data!r} has no float that is equal")


class _Date(_Scalar):
    """A date has one text in RFC 3339, so that it is read back as it was; a time has many."""

    __slots__ = ()

    def _to_cell(self, data: Any) -> Any:
        try:
            found = date.fromisoformat(data)
        except (TypeError, ValueError) as error:
            raise UnfitError(f"{data!r} is no date") from error
        if found.isoformat() != data:
            raise UnfitError(f"{data!r} is not written as a date of RFC 3339")
        return found


@dataclass(frozen=True, slots=True)
class JsonText(Column):
    """Cells of any data, as JSON text."""

    @property
    def arrow(self) -> Any:
        """The `pyarrow.DataType` of its cells."""
        return pyarrow().string()

    def _to_cell(self, data: Any) -> Any:
        text = json.dumps(data, ensure_ascii=False)
        return text if _is_utf8(text) else json.dumps(data)


@dataclass(frozen=True, slots=True)
class List(Column):
    """Cells of arrays."""

    items: Column

    @property
    def arrow(self) -> Any:
        """The `pyarrow.DataType` of its cells."""
        return pyarrow().list_(self.items.arrow)

    def _to_cell(self, data: Any) -> Any:
        if isinstance(data, list):
            return [self.items.to_cell(item) for item in data]
        raise UnfitError(f"{data!r} is no array")


@dataclass(frozen=True, slots=True)
class Map(Column):
    """Cells of objects with any names, and values of one type."""

    values: Column

    @property
    def arrow(self) -> Any:
        """The `pyarrow.DataType` of its cells."""
        return pyarrow().map_(TEXT.arrow, self.values.arrow)

    def _to_cell(self, data: Any) -> Any:
        if isinstance(data, dict):
            return [(TEXT.to_cell(name), self.values.to_cell(member)) for name, member in data.items()]
        raise UnfitError(f"{data!r} is no object")


@dataclass(frozen=True, slots=True)
class Struct(Column):
    """Cells of objects with these names.

    Attributes:
        members: The column of each name.
    """

    members: Mapping[str, Column]

    @property
    def arrow(self) -> Any:
        """The `pyarrow.DataType` of its cells."""
        return pyarrow().struct([(name, column.arrow) for name, column in self.members.items()])

    def _to_cell(self, data: Any) -> Any:
        if not isinstance(data, dict) or not data.keys() <= self.members.keys():
            raise UnfitError(f"{data!r} is no object of these members")
        return {name: column.to_cell(data.get(name)) for name, column in self.members.items()}


TEXT, BOOLEAN, INTEGER, FLOAT = _Text("string"), _Boolean("bool_"), _Integer("int64"), _Float("float64")
DATE, JSON = _Date("date32"), JsonText()


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


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
