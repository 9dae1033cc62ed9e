"""Rows: records as rows of a table whose columns are known before the first record comes, and back.

A row is read back when it is made. Where that is not the record, letter by letter, the row has the record as JSON as
well, in the column `json`: an integer of 80 bits has no place in its column, 3 is not 3.0, and a text may be no UTF-8.
What has no place is null in its column, as a whole: a `value` is all there, or not at all.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from structured.extraction.output.arrow_types import column_of
from structured.extraction.output.columns import (
    FLOAT,
    INTEGER,
    JSON,
    TEXT,
    Column,
    List,
    Map,
    Struct,
    UnfitError,
    pyarrow,
    read_column,
)
from structured.extraction.output.records import Record, to_line
from structured.output_types.output_type import OutputType

Row = dict[str, Any]

_KEY = b"structured.columns"
"""What the columns are called among the metadata of a file."""

_EVIDENCE = Struct({"span": List(INTEGER), "match": TEXT, "confidence": FLOAT, "agreement": FLOAT, "page": INTEGER})
_ERROR = Struct({"kind": TEXT, "message": TEXT, "fields": JSON}, frozenset({"fields"}))


@dataclass(frozen=True)
class Rows:
    """The columns of a table of results.

    Attributes:
        columns: The column of each name.
    """

    columns: Mapping[str, Column]

    @staticmethod
    def of(output_type: OutputType[Any]) -> "Rows":
        """Return the columns for the results of a type."""
        return Rows.of_values(column_of(output_type))

    @staticmethod
    def of_values(column: Column) -> "Rows":
        """Return the columns for results whose values are in this one."""
        return Rows(
            {
                "id": TEXT,
                "digest": TEXT,
                "made_by": JSON,
                "metadata": JSON,
                "value": column,
                "text": TEXT,
                "evidence": Map(_EVIDENCE),
                "extraction": JSON,
                "error": _ERROR,
                "json": JSON,
            }
        )

    @staticmethod
    def read(schema: Any) -> "Rows":
        """Return the columns of a file that has this `pyarrow.Schema`. Raises ValueError if it has no results."""
        described = (schema.metadata or {}).get(_KEY)
        if described is None:
            raise ValueError("it has no results of a batch")
        try:
            columns = {name: read_column(one) for name, one in json.loads(described).items()}
        except (AttributeError, TypeError, RecursionError) as error:
            raise ValueError("what it says of its columns cannot be read") from error
        if [*columns] != [*schema.names] or columns.keys() != Rows.of_values(JSON).columns.keys():
            raise ValueError("its columns are not those of results")
        if any(schema.field(name).type != column.arrow for name, column in columns.items()):
            raise ValueError("its columns are not of the types that it says")
        return Rows(columns)

    @property
    def schema(self) -> Any:
        """The `pyarrow.Schema`, with what it takes to read the rows back."""
        described = json.dumps({name: column.description for name, column in self.columns.items()})
        fields = [(name, column.arrow) for name, column in self.columns.items()]
        return pyarrow().schema(fields, {_KEY: described})

    def to_row(self, record: Record) -> Row:
        """Return a record as a row, which pyarrow takes as it is."""
        parts = record_to_parts(record)
        row = {name: _cell(column, parts[name]) for name, column in self.columns.items()}
        if json.dumps(self.to_record(row)) != json.dumps(record):
            row["json"] = to_line(record).decode().rstrip("\n")
        return row

    def to_record(self, row: Row) -> Record:
        """Return the record of a row."""
        if row["json"] is not None:
            found: Record = json.loads(row["json"])
            return found
        told = {name: column.to_data(row[name]) for name, column in self.columns.items()}
        record = {name: told[name] for name in ("id", "digest", "made_by")}
        if told["metadata"] is not None:
            record["metadata"] = told["metadata"]
        if told["error"] is not None:
            return {**record, "error": told["error"]}
        record["value"] = told["value"]
        if told["text"] is not None:
            record["text"] = told["text"]
        if told["extraction"] is not None:
            record["extraction"] = {**told["extraction"], "value": told["value"], "evidence": told["evidence"]}
        return record


def record_to_parts(record: Record) -> dict[str, Any]:
    """Return what each column has of a record, as JSON data.

    The value and the evidence of an extraction have columns of their own, and null in their place.
    """
    extraction = record.get("extraction")
    evidence = None
    if isinstance(extraction, dict):
        evidence = extraction.get("evidence")
        extraction = {**extraction, "value": None, "evidence": None}
    plain = {name: record.get(name) for name in ("id", "digest", "made_by", "metadata", "value", "text", "error")}
    return {**plain, "evidence": evidence, "extraction": extraction, "json": None}


def _cell(column: Column, data: Any) -> Any:
    try:
        return column.to_cell(data)
    except UnfitError:
        return None
