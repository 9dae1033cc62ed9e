"""Data frames of pandas and Polars, and tables of Arrow and DuckDB: a column of texts in, typed columns out."""

from collections.abc import Mapping
from importlib import import_module
from os import PathLike
from typing import Any, TypeVar, Unpack, cast

from structured.errors.arguments import text
from structured.errors.values import shown
from structured.extraction.calls import extract_results
from structured.extraction.journal import Resume
from structured.extraction.options import Options, checked_options
from structured.extraction.result_files import read_results, write_results
from structured.integrations.datasets import added_columns, cell_document, check_columns, result_cells
from structured.jobs.flat_table import pyarrow
from structured.output_types.paths import Steps, steps_to_path
from structured.output_types.resolve import TypeLike

Frame = TypeVar("Frame")


def extract_table(  # noqa: PLR0913  a batch, and its file
    frame: Frame,
    column: str,
    output_type: TypeLike[Any],
    *,
    prefix: str = "",
    output: str | PathLike[str] | None = None,
    resume: Resume = "continue",
    progress: bool | None = None,
    **options: Unpack[Options],
) -> Frame:
    """Extract one instance from each row of a data frame or table.

        from structured.integrations.data_frames import extract_table

        people = extract_table(pandas.read_csv("letters.csv"), "text", Person)

    The result has the columns of the frame, and behind them:

    - a column for each field of the type, of the Arrow type that belongs to its JSON Schema; for a type without fields,
      one column `value`. They are null if there is an error.
    - `missing`: the paths of the fields that the text does not state, with the option `allow_missing`.
    - `evidence`: for the path of a value its `span`, `match`, `confidence`, `agreement` and `page`.
    - `flags`, if the type has a `Check`: the values that did not pass it, each with its `path`, `value` and `message`.
    - `error`: null, or a struct of `kind`, `message` and `fields` (JSON as text). A row fails as a document of
      `extract_batch` does with `errors="return"`: its text is null or empty, or validators reject every answer. So
      does one whose value has no exact place in its column, such as an integer of more than 64 bits.

    Parameters:
        frame: A `DataFrame` of pandas or Polars; or a table that Arrow reads, such as a `pyarrow.Table` or a relation
            of DuckDB.
        column: The column of the texts.
        output_type: As for `extract`.
        prefix: What the names of the new columns begin with.
        output: The path of a file for the results, as `write_results` writes it. With one, another call with the same
            frame goes on where this one stopped; the documents' ids are the positions of the rows.
        resume: How to treat an output that exists: see `write_results`.
        progress: As for `extract_batch`.
        options: See `Options`.

    Returns:
        A frame of the same kind, with the same index; for other tables a `pyarrow.Table`, which DuckDB reads by the
        name of its variable: `duckdb.sql("SELECT name FROM people")`.

    Raises:
        ImportError: `pyarrow` is not installed: `pip install 'structured-extraction[parquet]'`.
        TypeError: The frame is none of these, or an option is unknown or of the wrong kind.
        ValueError: The column is missing, or one of the new ones is there already.
        OutputError: The output cannot be written, or is of another type, model or frame; see `write_results`.
        SchemaError, ModelError, VocabularyError: As for `extract`.
    """
    options = checked_options(options)
    library = type(frame).__module__.partition(".")[0]
    is_frame = library in ("pandas", "polars") and type(frame).__name__ == "DataFrame"
    table: Any = frame if is_frame else _table(frame)
    known = table.column_names if not is_frame else list(table.columns)
    columns = added_columns(output_type, options, "typed")
    has_fields = columns["value"].kind == "struct"
    fields = columns["value"].parts if has_fields else {"value": columns["value"]}
    others = {name: other for name, other in columns.items() if name != "value"}
    taken = next((name for name in others if name in fields), None)
    text("prefix", prefix)
    if taken is not None:
        raise ValueError(f"The type has a field {taken!r}, which is a column of its own. Rename the field.")
    added = {**fields, **others}
    check_columns(known, text("column", column), [prefix + name for name in added], ", or pass prefix=…")
    if list(known).count(column) > 1:
        raise ValueError(f"There are several columns {column!r}. Rename them.")
    documents = [cell_document(cell) for cell in _texts(table[column], library)]
    if output is None:
        results = extract_results(output_type, documents, progress=progress, **options)
    else:
        write_results(output_type, documents, output, resume=resume, progress=progress, **options)
        results = (result for result in read_results(output, output_type) if int(result.id) < len(documents))

    def path_of(steps: Steps) -> str:
        return prefix + steps_to_path(steps[1:] if has_fields and steps[0] == "value" else steps)

    remedy = "pass output=…, whose records have all values"
    cells = {int(result.id): result_cells(result, columns, remedy, path_of) for result in results}
    rows = [cells[position] for position in range(len(documents))]
    if has_fields:
        rows = [{**row, **(row["value"] or {})} for row in rows]
    lists = {name: [row.get(name) for row in rows] for name in added}
    arrays = {prefix + name: pyarrow().array(lists[name], added[name].arrow) for name in added}
    return cast("Frame", _joined(table, library if is_frame else "pyarrow", arrays))


def _table(frame: object) -> Any:
    """Return a table of Arrow. Raises TypeError."""
    try:
        return pyarrow().table(frame)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"The frame is {shown(frame)}. Pass a DataFrame of pandas or Polars, a table of Arrow or a relation of "
            "DuckDB; collect a LazyFrame first."
        ) from error


def _texts(column: Any, library: str) -> list[Any]:
    """Return the cells of a column; what pandas has for missing ones is None."""
    if library == "pandas":
        return [None if is_null else cell for cell, is_null in zip(column, column.isna(), strict=True)]
    return list(column.to_list() if library == "polars" else column.to_pylist())


def _joined(table: Any, library: str, arrays: Mapping[str, Any]) -> Any:
    """Return a table with new columns."""
    if library == "polars":
        series = import_module(library).from_arrow
        return table.with_columns(series(array).alias(name) for name, array in arrays.items())
    if library == "pandas":
        pandas = import_module(library)
        typed = {name: array.to_pandas(types_mapper=pandas.ArrowDtype) for name, array in arrays.items()}
        return table.assign(**{name: series.set_axis(table.index) for name, series in typed.items()})
    for name, array in arrays.items():
        table = table.append_column(name, array)
    return table
