"""Tables: files with rows, each with one text, in CSV (RFC 4180), JSON lines or Parquet.

Rows are read one after another, so that a table may be of any size. A row that is no document (torn, or without text)
is yielded as the error that it is, and fails alone; what makes the rest of a file unreadable is raised.

The separator of CSV is that of comma, semicolon, tab and bar by which the first rows have as many fields as the header.
The sniffer of the standard library was not taken: it guesses from frequencies, and takes letters for separators.
"""

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from structured.errors import PromptError
from structured.errors.values import counted, fault_of_json, message, nearest, shown
from structured.extraction.documents.plain_text import marked_encoding
from structured.extraction.prompts import is_messages

if TYPE_CHECKING:
    import pyarrow.parquet

Row: TypeAlias = Mapping[str, Any] | PromptError
"""The values of a row by its columns, or why there are none."""


class SourceTable(NamedTuple):
    """A table that is open."""

    path: Path
    columns: tuple[str, ...]
    """The names of its columns; in JSON lines, those of the first object."""
    text_columns: tuple[str, ...]
    """Those that may have texts."""
    rows: Iterator[tuple[int, Row]]
    """The rows, each with the number of its first line, from 1, or of its row in Parquet."""


def lines_of(path: Path) -> Iterator[str]:
    """Yield the lines of a file in UTF-8, or as a byte-order mark says. Raises PromptError or OSError."""
    with path.open("rb") as file:
        mark, encoding = marked_encoding(file.read(4))
        file.seek(len(mark))
        is_utf_8 = encoding in {None, "utf-8"}
        lines = map(bytes.decode, file) if is_utf_8 else io.TextIOWrapper(file, encoding, newline="")
        number = 0
        try:
            for number, line in enumerate(lines, 1):
                if "\0" in line:
                    problem = f"Line {number:,} of {path} has NUL characters, so that the file is hardly text"
                    raise PromptError(f"{problem}. Convert it to UTF-8.")
                yield line
        except UnicodeDecodeError as error:  # text in UTF-16 is decoded a block at a time
            line = f"Line {number + 1:,}" if is_utf_8 else f"A line after {number:,}"
            raise PromptError(
                f"{line} of {path} is not text in {error.encoding.upper()}: it has the byte "
                f"{error.object[error.start]:#04x}. Convert the file to UTF-8."
            ) from error


SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}

_SAMPLE_LINES = 200
"""Lines by which the separator and the columns with texts are found out."""


def read_csv(path: Path) -> SourceTable:
    """Return the table in a file of CSV or TSV. Raises PromptError if there is none, OSError if it cannot be read."""
    lines = lines_of(path)
    sample = list(islice(lines, _SAMPLE_LINES))
    if not any(line.strip() for line in sample):
        raise PromptError(f"The table {path} is empty. Its first line has to have the names of the columns.")
    separator = "\t" if path.suffix.lower() in {".tsv", ".tab"} else _separator(path, sample)
    records = _records(path, chain(sample, lines), separator)
    _, header = next(records)
    duplicates = sorted({name for name in header if header.count(name) > 1})
    if duplicates:
        raise PromptError(f"The table {path} has several columns {duplicates[0]!r}. Rename all but one.")
    texts = _columns_with_letters(header, sample, separator) or tuple(header)
    return SourceTable(path, tuple(header), texts, _csv_rows(path, header, records))


def _columns_with_letters(header: list[str], sample: list[str], separator: str) -> tuple[str, ...]:
    """Return the columns in which a sample of lines has a letter: numbers and dates are no texts."""
    found: set[str] = set()
    with suppress(csv.Error):  # a quote that is open at the end of the sample
        for record in islice(csv.reader(sample, delimiter=separator), 1, None):
            found.update(name for name, field in zip(header, record, strict=False) if any(map(str.isalpha, field)))
    return tuple(name for name in header if name in found)


def _separator(path: Path, sample: list[str]) -> str:
    """Return the separator of a file that begins so. Raises PromptError if it may be one or the other."""
    fitting = [separator for separator in SEPARATORS if _fits(sample, separator)]
    if len(fitting) > 1:
        names = " or ".join(SEPARATORS[one] for one in fitting)
        problem = f"The separator of {path} may be {names}"
        raise PromptError(f"{problem}. Save it with tabs as a .tsv file, or put every field into quotes.")
    if fitting:
        return fitting[0]
    present = [separator for separator in SEPARATORS if separator in sample[0]]
    return present[0] if len(present) == 1 else ","


def _fits(sample: list[str], separator: str) -> bool:
    """Tell whether rows have as many fields as the header, and more than one, if this is the separator."""
    field_counts = []
    try:
        for record in csv.reader(sample, delimiter=separator, strict=True):
            field_counts += [len(record)] * bool(record)
    except csv.Error:  # the last record goes on after the sample, or this is not the separator
        if len(sample) < _SAMPLE_LINES:
            return False
    return len(field_counts) > 0 and field_counts[0] > 1 and set(field_counts) == {field_counts[0]}


def _records(path: Path, lines: Iterable[str], separator: str) -> Iterator[tuple[int, list[str]]]:
    """Yield records with the numbers of their first lines. Raises PromptError where quotes are not balanced."""
    reader = csv.reader(lines, delimiter=separator, strict=True)
    line = 1
    try:
        for record in reader:
            if record:
                yield line, record
            line = reader.line_num + 1
    except csv.Error as error:
        remedy = "Look for a quote that is not closed, or not doubled within a field."
        if "field limit" in message(error):
            condition = "If its quotes are balanced and the text is that long"
            remedy = f"{condition}, raise the limit: csv.field_size_limit(10_000_000)."
        raise PromptError(f"The row at line {line:,} of {path} cannot be read: {message(error)}. {remedy}") from error


def _csv_rows(path: Path, header: list[str], records: Iterator[tuple[int, list[str]]]) -> Iterator[tuple[int, Row]]:
    for number, record in records:
        if len(record) == len(header):
            yield number, dict(zip(header, record, strict=True))
        else:
            problem = f"{path}:{number}: the row has {counted(len(record), 'field')}, and the header has {len(header)}"
            yield number, PromptError(f"{problem}. Put fields with separators or line breaks into quotes.")


def read_json_lines(path: Path) -> SourceTable:
    """Return a table of JSON lines, with the columns of the first object. Raises PromptError or OSError."""
    lines = enumerate(lines_of(path), 1)
    rows = ((number, _row(line, f"{path}:{number}")) for number, line in lines if line.strip())
    before: list[tuple[int, Row]] = []
    for number, row in rows:
        before.append((number, row))
        if not isinstance(row, PromptError):
            texts = [name for name, value in row.items() if isinstance(value, str) or is_messages(value)]
            return SourceTable(path, tuple(row), tuple(texts), chain(before, rows))
    broken = [row for _, row in before if isinstance(row, PromptError)]
    raise (broken[0] if broken else PromptError(f"The table {path} is empty."))


def _row(line: str, place: str) -> Row:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        return PromptError(f"{place}: the line is no JSON: {fault_of_json(error)}. Mend it, or leave it out.")
    return row if isinstance(row, dict) else PromptError(f"{place}: the line is {shown(row)}, and not an object.")


def read_parquet(path: Path) -> SourceTable:
    """Return the table in a Parquet file. Raises PromptError if there is none, OSError if it cannot be read."""
    try:
        import pyarrow as pa
        import pyarrow.parquet
    except ModuleNotFoundError as error:
        raise PromptError(
            f"The table {path} is Parquet, which pyarrow reads, and that is not installed: "
            "pip install 'structured-extraction[parquet]'."
        ) from error
    try:
        file = pa.parquet.ParquetFile(path, memory_map=False, pre_buffer=False)
        text_columns = tuple(column.name for column in file.schema_arrow if _is_text(column.type))
        return SourceTable(path, tuple(file.schema_arrow.names), text_columns, _parquet_rows(path, file))
    except (pa.ArrowException, ValueError) as error:
        raise PromptError(f"The file {path} is no Parquet: {message(error)}.") from error


def _is_text(type_: Any) -> bool:
    from pyarrow import types

    if types.is_dictionary(type_):
        return _is_text(type_.value_type)
    return bool(types.is_string(type_) or types.is_large_string(type_) or types.is_string_view(type_))


def _parquet_rows(path: Path, file: "pyarrow.parquet.ParquetFile") -> Iterator[tuple[int, Row]]:
    import pyarrow as pa

    number = 0
    try:
        with file:
            for batch in file.iter_batches(256):
                for row in batch.to_pylist():
                    number += 1
                    yield number, row
    except (pa.ArrowException, ValueError, OverflowError) as error:  # texts that are no UTF-8, dates beyond the years
        raise PromptError(f"The table {path} cannot be read after row {number:,}: {message(error)}.") from error


TABLE_READERS: Mapping[str, Callable[[Path], SourceTable]] = {
    ".csv": read_csv,
    ".tsv": read_csv,
    ".tab": read_csv,
    ".jsonl": read_json_lines,
    ".ndjson": read_json_lines,
    ".parquet": read_parquet,
}
"""What reads a table, by the suffix of its name."""


def open_table(path: Path, text: str | None, id_column: str | None) -> tuple[SourceTable, str]:
    """Return a table and the name of its column of texts. Raises PromptError, as `read_rows` says."""
    reader = TABLE_READERS.get(path.suffix.lower())
    if reader is None:
        is_workbook = path.suffix.lower() == ".xlsx"
        remedy = "Save the sheet as CSV." if is_workbook else "Pass a text file as it is, in a list: [path]."
        raise PromptError(
            f"{path} has the suffix {path.suffix!r}, and rows are read of {', '.join(TABLE_READERS)}. {remedy}"
        )
    try:
        table = reader(path)
    except OSError as error:
        raise PromptError(f"The file {path} cannot be read: {message(error)}.") from error
    text = _text_column(table, text, id_column)
    if id_column is not None:
        _check_column(table, "id", id_column)
        if id_column == text:
            raise PromptError(f"The column {id_column!r} is to be both the text and the id. Pass two of them.")
    return table, text


def _text_column(table: SourceTable, column: str | None, id_column: str | None) -> str:
    if column is not None:
        _check_column(table, "text", column)
        return column
    candidates = [name for name in table.text_columns if name != id_column]
    candidates = [name for name in candidates if name.lower() != "id"] or candidates
    if len(candidates) != 1:
        which = f"has {counted(len(candidates), 'column')} of texts" if candidates else "has no column of texts"
        listed = _quoted(candidates or table.columns)
        raise PromptError(f"The table {table.path} {which}: {listed}. Name one: read_rows(path, text=…).")
    return candidates[0]


def _check_column(table: SourceTable, option: str, name: str) -> None:
    if name not in table.columns:
        raise PromptError(
            f"{option} is {name!r}, and the table {table.path} has the columns {_quoted(table.columns)}."
            f"{nearest(name, table.columns)}"
        )


def _quoted(names: tuple[str, ...] | list[str]) -> str:
    return ", ".join(map(repr, names)) or "none"
