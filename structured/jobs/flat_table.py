"""Flat tables of results, in CSV or Parquet.

A file of results is read three times, so that memory holds none: for the order of the documents, which takes some 300
bytes for each, for the columns and their kinds, and for the rows. A sorted copy was not taken: the file may be large.
Columns follow from the records and not from a type, so that the file is enough to make the table.
"""

import json
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import import_module
from itertools import islice, pairwise
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from structured.errors import OutputError
from structured.errors.arguments import one_of
from structured.errors.values import counted, message
from structured.extraction.journal import each_record, to_path
from structured.extraction.records import MAX_ORDER, Record, read_line
from structured.output_types.checks import Flag
from structured.output_types.paths import leaves_outside_lists, steps_to_path
from structured.results.result import result_from_json

if TYPE_CHECKING:
    from numpy.typing import NDArray

RowsOf = Literal["documents", "values"]
"""A row for each document, or for each value."""

FlatRow = dict[str, Any]

MAX_COLUMNS = 2_000
"""Of a table; more come from values whose names differ from document to document."""


def write_table(path: str | PathLike[str], table: str | PathLike[str], *, rows: RowsOf = "documents") -> Path:
    """Write the results that `write_results` wrote as a flat table, and return its path.

    Rows are in the order of the documents. A table of documents has a row for each: `id`, the metadata as `metadata.…`,
    a column for each field as `value.name` (`value` for a type without fields), the `flags` as text if there are any,
    and the `error`. Lists are JSON. A table of values has a row for each value with its evidence: `id`, and the columns
    of `Result.rows`.

    In CSV (UTF-8, RFC 4180), null is an empty cell, and an empty text is `""`. In Parquet, columns are boolean, int64,
    float64 or text; one with values of several kinds, or with numbers that do not fit, is JSON as text.

    Parameters:
        path: The file of results.
        table: The file to write, .csv or .parquet. One that exists is replaced when the table is whole.
        rows: `"documents"`, or `"values"`.

    Raises:
        ValueError: The name of the table does not end with .csv or .parquet.
        OutputError: The results cannot be read, or have more than 2,000 columns; or the table cannot be written.
        ImportError: `pyarrow` is not installed, for Parquet: `pip install 'structured-extraction[parquet]'`.
    """
    source, target = to_path(path), to_path(table)
    one_of(get_args(RowsOf))("rows", rows)
    write = _WRITERS.get(target.suffix.lower())
    if write is None:
        raise ValueError(f"The table is {target}; its name must end with {' or '.join(_WRITERS)}.")
    temporary = target.with_name(f".{target.name}.writing")
    try:
        offsets = _offsets_in_order(source)
        columns = _columns(source, offsets, rows)
        write(temporary, columns, _rows(source, offsets, rows))
        temporary.replace(target)
    except OSError as error:
        where, problem = str(error.filename or target), error.strerror or message(error)
        raise OutputError(f"{where} cannot be read or written: {problem}.", path=where) from error
    finally:
        with suppress(OSError):
            temporary.unlink()
    return target


def _offsets_in_order(source: Path) -> "NDArray[np.int64]":
    """Return where the records of a file begin, in the order of the documents.

    The records that one call wrote into one gap are a run, in the order of the call. A run follows the record that it
    was written after; of several, the last one written comes first. A run without such a record comes before the one
    that it was written before, with all that follows the run; or else at the end. Records of an earlier version of the
    library, which say nothing, are the first run, in the order of their lines.
    """
    numbers = array("q")
    offset = 0
    for number, line, record in each_record(source):
        call, position, *ids = record.get("order", (-1, number - 1))
        after, before = ids or (None, None)
        numbers.extend((call, position, offset, *map(_key_of_id, (record["id"], after, before))))
        offset += len(line)
    places = np.frombuffer(numbers, np.int64).reshape(-1, 6)
    places = places[np.lexsort((places[:, 1], places[:, 0]))]
    calls, _, offsets, keys, after_keys, before_keys = places.T
    index_of_key = dict(zip(keys.tolist(), range(len(places)), strict=True))
    is_start = np.ones(len(places) + 1, np.bool_)
    is_start[1:-1] = (calls[1:] != calls[:-1]) | (after_keys[1:] != after_keys[:-1])
    starts = np.flatnonzero(is_start).tolist()
    run_of = np.cumsum(is_start) - 1
    firsts: list[int] = []  # of each run, the first record of the runs that it follows, directly or not
    followers: dict[int, list[int]] = defaultdict(list)
    predecessors: dict[int, list[int]] = defaultdict(list)
    for start, end in pairwise(starts):
        leader = index_of_key.get(int(after_keys[start]))
        if leader is not None and calls[leader] < calls[start]:  # it is not one that has been answered again
            followers[leader].append(start)
            firsts.append(firsts[run_of[leader]])
        else:
            firsts.append(start)
        successor = index_of_key.get(int(before_keys[start:end].max(initial=NO_KEY)))
        if successor is not None:
            predecessors[successor].append(firsts[-1])
    order: list[int] = []
    is_placed = np.zeros(len(places), np.bool_)
    stack = sorted(set(firsts), reverse=True)
    while stack:
        index = stack.pop()
        if is_placed[index]:
            continue
        if index in predecessors:
            stack += (index, *reversed(predecessors.pop(index)))
            continue
        is_placed[index] = True
        order.append(index)
        if not is_start[index + 1]:
            stack.append(index + 1)
        stack += followers.get(index, ())
    return offsets[order]


NO_KEY = -1


def _key_of_id(document_id: str | None) -> int:
    """Return a number that stands for an id, which takes less memory."""
    return NO_KEY if document_id is None else hash(document_id) & MAX_ORDER


def _rows(source: Path, offsets: "NDArray[np.int64]", rows: RowsOf) -> Iterator[FlatRow]:
    with source.open("rb") as file:
        for offset in offsets:
            file.seek(offset)
            record = read_line(file.readline(), needs_provenance=False)
            if rows == "documents":
                yield _document_row(record)
            elif "error" not in record:
                result = result_from_json(record, 0, None, None)
                yield from ({"id": record["id"], **row} for row in result.rows())


def _document_row(record: Record) -> FlatRow:
    row = {"id": record["id"]}
    for name in ("metadata", "value"):
        if name in record:
            row |= {steps_to_path(steps): value for steps, value in leaves_outside_lists(record[name], (name,))}
    if "flags" in record:
        row["flags"] = "; ".join(str(Flag(**flag)) for flag in record["flags"])
    if "error" in record:
        row["error"] = f"{record['error'].get('kind')}: {record['error'].get('message')}"
    return row


def _columns(source: Path, offsets: "NDArray[np.int64]", rows: RowsOf) -> dict[str, str]:
    kinds: dict[str, set[str]] = {}
    for row in _rows(source, offsets, rows):
        for name, value in row.items():
            kinds.setdefault(name, set()).add(_value_kind(value))
        if len(kinds) > MAX_COLUMNS:
            raise OutputError(
                f"The table of {source} would have more than {counted(MAX_COLUMNS, 'column')}: the names of its values "
                "differ from document to document. Read them with read_results.",
                path=str(source),
            )
    names = sorted(kinds, key=_column_order) if rows == "documents" else kinds
    is_null_object = {
        name: found == {"null"} and any(one.startswith((f"{name}.", f"{name}[")) for one in kinds)
        for name, found in kinds.items()
    }
    return {name: _column_kind(kinds[name] - {"null"}) for name in names if not is_null_object[name]}


def _column_order(name: str) -> int:
    """Return the place of a column in a table of documents; columns of one part keep the order of the records."""
    return ("id", "metadata", "value", "flags", "error").index(name.replace("[", ".").partition(".")[0])


def _value_kind(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "bool"
        case int():
            has_equal_float = abs(value) <= 2**53
            return "small" if has_equal_float else "int" if -(2**63) <= value < 2**63 else "json"
        case float():
            return "float"
        case str():
            return "text"
    return "json"


def _column_kind(kinds: set[str]) -> str:
    if kinds <= {"small", "int"} and kinds:
        return "int"
    if kinds == {"small", "float"}:
        return "float"
    return next(iter(kinds), "text") if len(kinds) <= 1 else "json"


def _write_csv(path: Path, columns: dict[str, str], rows: Iterator[FlatRow]) -> None:
    with path.open("w", encoding="utf-8", errors="backslashreplace", newline="") as file:
        file.write(",".join(map(_csv_cell, columns)) + "\r\n")
        for row in rows:
            file.write(",".join(_csv_cell(row.get(name)) for name in columns) + "\r\n")


def _csv_cell(value: Any) -> str:
    if value is None:
        return ""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return '"' + text.replace('"', '""') + '"' if not text or set(text) & set('",\r\n') else text


def pyarrow(module: str = "pyarrow") -> Any:
    """Return pyarrow, or a module of it. Raises ImportError, which says how to install it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError("Parquet needs pyarrow: pip install 'structured-extraction[parquet]'.") from error


ROWS_OF_BLOCK = 10_000
"""Rows that are written together, which bounds the memory."""


def _write_parquet(path: Path, columns: dict[str, str], rows: Iterator[FlatRow]) -> None:
    arrow, parquet = pyarrow(), pyarrow("pyarrow.parquet")
    types = {"bool": arrow.bool_(), "int": arrow.int64(), "float": arrow.float64()}
    names = [name.encode(errors="backslashreplace").decode() for name in columns]  # as in CSV
    kinds = [types.get(kind, arrow.string()) for kind in columns.values()]
    with parquet.ParquetWriter(path, schema := arrow.schema(zip(names, kinds, strict=True))) as writer:
        while some := list(islice(rows, ROWS_OF_BLOCK)):
            cells = ([_parquet_cell(row.get(name), kind) for row in some] for name, kind in columns.items())
            writer.write_table(arrow.Table.from_arrays(list(map(arrow.array, cells, kinds)), schema=schema))


def _parquet_cell(value: Any, kind: str) -> Any:
    if value is None or kind not in ("json", "text"):
        return value
    return json.dumps(value) if kind == "json" else value.encode(errors="backslashreplace").decode()


_WRITERS: dict[str, Callable[[Path, dict[str, str], Iterator[FlatRow]], None]] = {
    ".csv": _write_csv,
    ".parquet": _write_parquet,
}
