"""Tables: a text column in, and typed columns with values, evidence and errors beside it.

The columns follow from the type alone, so that all tables of a dataset have the same, whatever their rows gave. A value
that has no exact place in its column is therefore an error of its row.
"""

from collections.abc import Mapping
from typing import Any, Literal, get_args

from structured.errors import OutputError, PromptError
from structured.errors.arguments import one_of
from structured.extraction.documents.document import DocumentLike
from structured.extraction.extractor import Extractor
from structured.extraction.options import Options, checked_options
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
)
from structured.models.checkpoints import refuse_address
from structured.models.load import find_model
from structured.models.remote.address import is_address
from structured.output_types.json_output import DEFAULT_LAYOUT
from structured.output_types.output_type import check_interface
from structured.output_types.resolve import resolve_type
from structured.results.result import Result, error_to_json

Columns = Literal["typed", "json"]
"""What the new columns hold: values of Arrow types, or JSON as text."""

_EVIDENCE = Struct({"span": List(INTEGER), "match": TEXT, "confidence": FLOAT, "agreement": FLOAT, "page": INTEGER})
_ERROR = Struct({"kind": TEXT, "message": TEXT, "fields": JSON}, frozenset({"fields"}))


class TableExtractor:
    """A model and a type, prepared once, that answers the texts of one table after another.

    Parameters:
        output_type: The type.
        column: The column of the texts.
        columns: The columns that are added.
        options: See `Options`.
    """

    def __init__(self, output_type: object, column: str, columns: Mapping[str, Column], options: Options) -> None:
        self._extractor = Extractor[Any](output_type, **options)
        self._column = column
        self._columns = columns

    def __call__(self, table: Any) -> Any:
        """Return a `pyarrow.Table` with the new columns. Raises what the model raises."""
        check_columns(table.column_names, self._column, self._columns)
        arrow = pyarrow()
        cells = self._cells(table[self._column].to_pylist())
        for name, column in self._columns.items():
            table = table.append_column(name, arrow.array(cells[name], column.arrow))
        return table

    def answer_lists(self, table: Mapping[str, list[Any]]) -> dict[str, list[Any]]:
        """Return the new columns for a table of lists. Raises what the model raises."""
        check_columns([*table], self._column, self._columns)
        return self._cells(table[self._column])

    def _cells(self, texts: list[Any]) -> dict[str, list[Any]]:
        """Return what the new columns have for some texts."""
        results = self._extractor.results(map(_document, texts), progress=False, named="the text")
        rows = [self._row(result) for result in sorted(results, key=lambda result: result.position)]
        return {name: [row[name] for row in rows] for name in self._columns}

    def _row(self, result: Result[Any]) -> dict[str, Any]:
        """Return the cells of the new columns for a row."""
        if result.error is not None:
            return self._cells_of({"error": _without_id(error_to_json(result.error))})
        try:
            return self._cells_of(result.to_dict())
        except UnfitError as error:
            problem = OutputError(
                f"The value has no exact place in its column: {error}. Bound the field, or pass columns='json'.",
                path="value",
            )
            return self._cells_of({"error": error_to_json(problem)})

    def _cells_of(self, members: Mapping[str, Any]) -> dict[str, Any]:
        """Return the cells for the members of a result. Raises UnfitError."""
        return {name: column.to_cell(members.get(name)) for name, column in self._columns.items()}


def _document(cell: Any) -> DocumentLike:
    """Return a cell as a document: a list in a column is no chat, and two texts in one are no id with its text."""
    if isinstance(cell, list | tuple):
        return PromptError(f"The text is a {type(cell).__name__}, not text. Name a column of texts: column=….")
    known: DocumentLike = cell  # whatever else it is, the run says
    return known


def _without_id(error: dict[str, Any]) -> dict[str, Any]:
    """Return an error without what names its document: rows have no ids."""
    fields = {name: value for name, value in error.get("fields", {}).items() if (name, value) != ("id", "")}
    others = {name: value for name, value in error.items() if name != "fields"}
    return {**others, "fields": fields} if fields else others


_OF_BATCHES: Mapping[str, str] = {
    "errors": "Each row that fails has its error in the column `error`, and costs no other.",
    "output": "Write the dataset that is returned.",
    "progress": "The dataset shows its own.",
    "resume": "Leave out rows that are done before.",
}
"""What to do in place of arguments that other calls have and datasets have not."""


def table_options(options: Options) -> Options:
    """Return options as they are kept. Raises TypeError, ValueError, and ModelError for an address that is none.

    Other models are looked for where they are loaded.
    """
    for name, remedy in _OF_BATCHES.items():
        if name in options:
            raise TypeError(f"{name} belongs to other calls, and extract_dataset does not take it. {remedy}")
    kept = checked_options(options)
    named = kept.get("model")
    if isinstance(named, str) and is_address(named):
        find_model(named)
    elif isinstance(named, str):
        refuse_address(named)
    return kept


def added_columns(output_type: object, options: Options, columns: Columns) -> dict[str, Column]:
    """Return the columns that are added for a type. Raises what concerns the type, before an actor is started."""
    one_of(get_args(Columns))("columns", columns)
    missing, grounded = options.get("allow_missing"), options.get("grounded")
    wanted = resolve_type(output_type, missing, options.get("layout", DEFAULT_LAYOUT), grounded=grounded)
    check_interface(wanted)
    typed = {"value": column_of(wanted), "missing": List(TEXT), "evidence": Map(_EVIDENCE), "error": _ERROR}
    return typed if columns == "typed" else dict.fromkeys(typed, JSON)


def check_columns(known: list[str], column: str, added: Mapping[str, Column]) -> None:
    """Raise ValueError if the column of the texts is not there, or one that is added is."""
    if column not in known:
        raise ValueError(f"The dataset has no column {column!r}, but {', '.join(map(repr, known))}. Pass column=….")
    taken = [name for name in added if name in known]
    if taken:
        raise ValueError(
            f"The dataset has columns that would be added: {', '.join(taken)}. Rename them: dataset.rename_columns(…)."
        )
