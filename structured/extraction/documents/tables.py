"""Tables: files whose rows are documents, one text to a row, in CSV, JSON lines or Parquet.

Rows are read one after another, so that a table may be of any size. A row that is no document (torn, or without text)
is yielded as the error that it is, and fails alone; what makes the rest of a file unreadable is raised.
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from structured.errors import PromptError
from structured.errors.values import counted, message, nearest, shown
from structured.extraction.conversation import is_messages
from structured.extraction.documents.csv_rows import read_csv
from structured.extraction.documents.document import Document
from structured.extraction.documents.json_lines import read_json_lines
from structured.extraction.documents.parquet import read_parquet
from structured.extraction.documents.table import Table

READERS: Mapping[str, Callable[[Path], Table]] = {
    ".csv": read_csv,
    ".tsv": read_csv,
    ".tab": read_csv,
    ".jsonl": read_json_lines,
    ".ndjson": read_json_lines,
    ".parquet": read_parquet,
}
"""What reads a table, by the suffix of its name."""


class _Columns(NamedTuple):
    text: str
    id: str | None


def read_rows(
    path: str | Path,
    *,
    text: str | None = None,
    id: str | None = None,  # noqa: A002  as in Document
) -> Iterator[Document | PromptError]:
    """Return the rows of a table as documents, read as they are needed.

        extract_batch(Person, read_rows("people.csv", text="biography", id="number"))

    The other columns become the `metadata` of a document. A row that is none is yielded as the PromptError that it
    fails with in a batch.

    Parameters:
        path: A file in CSV (`.csv`, `.tsv`; the separator is found out, and the first line has the names of the
            columns), JSON lines (`.jsonl`, `.ndjson`; an object on each line) or Parquet (`.parquet`; needs the extra
            `parquet`). In UTF-8, unless it begins with another byte-order mark.
        text: The column of the texts; in JSON lines, that may also be the messages of a chat. It may be left out where
            only one column has texts.
        id: The column of the ids. Without it, a document is called by its place: `people.csv:17` is line 17 of a text
            file, or row 17 of Parquet, counted from 1.

    Raises:
        PromptError: There is no such column, the file cannot be read, or it is of no such kind. While rows are read:
            the file is not text from some line on, or its quotes are not balanced.
    """
    path = Path(path)
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        known = ", ".join(READERS)
        raise PromptError(f"{path} has the suffix {path.suffix!r}, and rows are read of {known}.{_text_file(path)}")
    try:
        table = reader(path)
    except OSError as error:
        raise PromptError(f"The file {path} cannot be read: {message(error)}.") from error
    columns = _Columns(_text_column(table, text, id), id)
    if id is not None:
        _check_column(table, "id", id)
        if id == columns.text:
            raise PromptError(f"The column {id!r} is to be both the text and the id. Pass two of them.")
    return _documents(table, columns)


def _text_file(path: Path) -> str:
    return " Pass a text file as it is, in a list: [path]." if path.suffix else ""


def _text_column(table: Table, given: str | None, identity: str | None) -> str:
    if given is not None:
        _check_column(table, "text", given)
        return given
    possible = [name for name in table.texts if name != identity]
    if len(possible) != 1:
        which = f"has {counted(len(possible), 'column')} of texts" if possible else "has no column of texts"
        raise PromptError(f"The table {table.path} {which}: {_listed(possible or table.columns)}. Pass text=….")
    return possible[0]


def _check_column(table: Table, option: str, name: str) -> None:
    if name not in table.columns:
        raise PromptError(
            f"{option} is {name!r}, and the table {table.path} has the columns {_listed(table.columns)}."
            f"{nearest(name, table.columns)}"
        )


def _listed(names: tuple[str, ...] | list[str]) -> str:
    return ", ".join(map(repr, names)) or "none"


def _documents(table: Table, columns: _Columns) -> Iterator[Document | PromptError]:
    try:
        for number, row in table.rows:
            place = f"{table.path}:{number}"
            found = row if isinstance(row, PromptError) else _document(row, columns, place)
            if isinstance(found, PromptError):
                found.id = place
            yield found
    except OSError as error:
        raise PromptError(f"The file {table.path} cannot be read to its end: {message(error)}.") from error


def _document(row: Mapping[str, Any], columns: _Columns, place: str) -> Document | PromptError:
    """Return a row as a document, or why it is none."""
    text: Any = row.get(columns.text)
    if not (isinstance(text, str) or is_messages(text)):
        return PromptError(f"{place}: {columns.text!r} is {shown(text)}, not a text. Leave it out.")
    identity = place
    if columns.id is not None:
        given = row.get(columns.id)
        if given is None or isinstance(given, list | dict) or str(given).strip() == "":
            return PromptError(f"{place}: {columns.id!r} is {shown(given)}, no id. Give it one.")
        identity = str(given)
    return Document(text, identity, {name: value for name, value in row.items() if name not in columns})
