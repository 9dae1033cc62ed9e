"""Tables: a text column in, and typed columns with values, evidence and errors beside it.

The columns are those of a batch that is written as Parquet. They follow from the type alone, so that all tables of a
dataset have the same, whatever their rows gave. A value that has no exact place in its column is therefore an error of
its row.
"""

from collections.abc import Mapping
from typing import Any, Literal, get_args

from structured.errors import OutputError, PromptError
from structured.errors.arguments import one_of
from structured.extraction.documents.document import DocumentLike
from structured.extraction.extractor import make_extractor
from structured.extraction.options import Options, check_evidence, checked_options, layout_of
from structured.extraction.outcomes import Done, Outcome
from structured.extraction.output.columns import JSON, Column, UnfitError, pyarrow
from structured.extraction.output.records import outcome_to_json
from structured.extraction.output.rows import Rows, record_to_parts
from structured.models.checkpoints import refuse_address
from structured.models.load import find_model
from structured.models.remote.address import is_address
from structured.output_types.interface import check_interface
from structured.output_types.optional_fields import Absent
from structured.output_types.partly_stated import PartlyStated
from structured.output_types.resolve import asks_for_evidence, resolve_type

Columns = Literal["typed", "json"]
"""What the new columns hold: values of Arrow types, or JSON as text."""

_IN_ROW = ("value", "evidence", "document")
"""Parts of an extraction that have columns of their own."""


class TableExtractor:
    """A model and a type, prepared once, that answers the texts of one table after another.

    Parameters:
        output_type: The type.
        column: The column of the texts.
        columns: The columns that are added.
        absent: As for `extract`.
        evidence: As for `extract`.
        options: See `Options`.
    """

    def __init__(  # noqa: PLR0913, PLR0917  what is known of the columns
        self,
        output_type: object,
        column: str,
        columns: Mapping[str, Column],
        absent: Absent | None,
        evidence: bool,
        options: Options,
    ) -> None:
        self._extractor = make_extractor(output_type, absent, options, evidence=evidence)
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
        rows = [self._row(done) for done in self._done(texts)]
        return {name: [row[name] for row in rows] for name in self._columns}

    def _done(self, texts: list[Any]) -> list[Done]:
        """Return what becomes of each text."""
        task, outcome = self._extractor.task, Outcome(len(texts), keeps_texts=True)
        documents = ((task, _document(one)) for one in texts)
        for _ in self._extractor.run.finished(documents, outcome, named="the text"):
            pass
        outcome.check_stopped()
        outcome.warn()
        return [outcome.results[position] for position in range(len(texts))]

    def _row(self, done: Done) -> dict[str, Any]:
        """Return what the new columns have for a row."""
        output_type = self._extractor.task.output_type
        try:
            return self._exact(
                outcome_to_json(output_type, done.value if done.error is None else done.error, done.text)
            )
        except UnfitError as error:
            problem = OutputError(
                f"The value has no exact place in its column: {error}. Bound the field, or pass columns='json'.",
                path="value",
            )
            return self._exact(outcome_to_json(output_type, problem))

    def _exact(self, record: dict[str, Any]) -> dict[str, Any]:
        """Return what the new columns have of a record. Raises UnfitError."""
        parts = record_to_parts(_without_id(record))
        if parts["extraction"] is not None:
            parts["extraction"] = {name: part for name, part in parts["extraction"].items() if name not in _IN_ROW}
        return {name: column.to_cell(parts[name]) for name, column in self._columns.items()}


def _document(cell: Any) -> DocumentLike:
    """Return a cell as a document: a list in a column is no chat, and two texts in one are no id with its text."""
    if isinstance(cell, list | tuple):
        return PromptError(f"The text is a {type(cell).__name__}, not text. Name a column of texts: column=….")
    known: DocumentLike = cell  # whatever else it is, the run says
    return known


def _without_id(record: dict[str, Any]) -> dict[str, Any]:
    """Return a record without the id that the error of a document has: rows have none."""
    error = record.get("error") or {}
    if error.get("fields", {}).get("id") != "":
        return record
    fields = {name: value for name, value in error["fields"].items() if name != "id"}
    others = {name: value for name, value in error.items() if name != "fields"}
    return {**record, "error": {**others, "fields": fields} if fields else others}


_OF_BATCHES: Mapping[str, str] = {
    "errors": "Each row that fails has its error in the column `error`, and costs no other.",
    "output": "Write the dataset that is returned.",
    "progress": "The dataset shows its own.",
    "resume": "Leave out rows that are done before.",
}
"""What stands in place of options that `extract_batch` has and datasets have not."""


def table_options(options: Options) -> Options:
    """Return options as they are kept. Raises TypeError, ValueError, and ModelError for an address that is none.

    Other models are looked for where they are loaded.
    """
    for name, remedy in _OF_BATCHES.items():
        if name in options:
            raise TypeError(f"{name} is an option of extract_batch, and extract_dataset does not take it. {remedy}")
    kept = checked_options(options)
    named = kept.get("model")
    if isinstance(named, str) and is_address(named):
        find_model(named)
    elif isinstance(named, str):
        refuse_address(named)
    return kept


def added_columns(
    output_type: object, absent: Absent | None, options: Options, *, evidence: bool, columns: Columns
) -> dict[str, Column]:
    """Return the columns that are added for a type. Raises what concerns the type, before a row is read."""
    check_evidence("evidence", evidence)
    one_of(get_args(Columns))("columns", columns)
    wanted = resolve_type(output_type, absent, layout_of(options), grounded=options.get("grounded"))
    check_interface(wanted)
    is_extraction = evidence or asks_for_evidence(output_type) or isinstance(wanted, PartlyStated)
    names = ["value", *["evidence", "extraction"] * is_extraction, "error"]
    typed = Rows.of(wanted).columns
    return {name: typed[name] if columns == "typed" else JSON for name in names}


def check_columns(known: list[str], column: str, added: Mapping[str, Column]) -> None:
    """Raise ValueError if the column of the texts is not there, or one that is added is."""
    if column not in known:
        raise ValueError(f"The dataset has no column {column!r}, but {', '.join(map(repr, known))}. Pass column=….")
    taken = [name for name in added if name in known]
    if taken:
        raise ValueError(
            f"The dataset has columns that would be added: {', '.join(taken)}. Rename them: dataset.rename_columns(…)."
        )
