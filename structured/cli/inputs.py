"""Inputs: the documents that paths on a command line stand for.

Everything is looked up before a model is loaded, so that a name with a mistake in it costs no time.
"""

import csv
import glob
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from itertools import chain
from pathlib import Path
from typing import Any, cast

import typer

from structured.errors import PromptError
from structured.errors.values import message, nearest
from structured.extraction.documents.document import Document, DocumentLike, each_document

STDIN = "-"
"""What stands for standard input among paths."""

TABLES = {".csv", ".tsv", ".jsonl", ".ndjson"}
"""How the names of files end that hold many documents, one in each row."""


def documents_at(paths: Sequence[str], column: str | None, id_column: str | None) -> Iterable[DocumentLike]:
    """Return the documents of files, folders and patterns; a list, if their number is known.

    With a column, each path is a table, and each of its rows a document. Raises `typer.BadParameter` where there is
    nothing of a name.
    """
    found = list(dict.fromkeys(chain.from_iterable(map(_named, paths))))
    if column is None:
        if id_column is not None:
            raise typer.BadParameter("--id names a column beside that of the texts. Name that as well: --column text.")
        return [_document(path) for path in found]
    return chain.from_iterable([read_table(path, column, id_column) for path in found])


def _named(name: str) -> Iterator[Path]:
    """Yield the files that a path stands for: itself, those of a folder, or those that fit a pattern."""
    path = Path(name)
    if name == STDIN or path.is_file() or (path.exists() and not path.is_dir()):
        yield path
        return
    if path.is_dir():
        found = [one for one in each_document(path) if isinstance(one, Path)]
        where = f"The folder {name} is empty."
    else:
        if not glob.has_magic(name):
            near = get_close_matches(path.name, [one.name for one in path.parent.glob("*")], n=1)
            hint = f" Is it {path.parent / near[0]}?" if near else ""
            raise typer.BadParameter(f"There is no file or folder {name!r}.{hint}")
        found = [one for one in map(Path, sorted(glob.glob(name, recursive=True))) if one.is_file()]  # noqa: PTH207  absolute patterns, too
        where = f"No file fits {name!r}."
    if not found:
        raise typer.BadParameter(f"{where} There is nothing to extract from.")
    yield from found


def _document(path: Path) -> DocumentLike:
    """Return the document of one file, unread, or that of standard input."""
    if str(path) == STDIN:
        return Document(_decoded(sys.stdin.buffer.read(), "Standard input"), STDIN)
    if path.suffix.lower() in TABLES:
        raise typer.BadParameter(
            f"{path} is a table, of which each row is a document. Name the column of the texts: --column text. To read "
            f"it as a single document: structured extract … - < {path}"
        )
    return path


def _decoded(read: bytes, name: str) -> str:
    try:
        return read.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise PromptError(f"{name} is not text in UTF-8: byte {error.start:,} is {read[error.start]:#04x}.") from error


def read_table(path: Path, column: str, id_column: str | None) -> Iterator[Document]:
    """Return the documents in the rows of a table: CSV with a header, or JSON lines; standard input has JSON lines.

    What is in the other columns goes along as metadata. Without a column of ids, a document is called by its row.

    Raises `typer.BadParameter` for a table without the columns, and PromptError for one that cannot be read.
    """
    rows = _rows(path)
    first = next(rows, None)
    for name in (column, id_column):
        if first is not None and name is not None and name not in first:
            raise typer.BadParameter(
                f"{path} has no column {name!r}.{nearest(name, map(str, first))} It has {', '.join(map(str, first))}."
            )
    return (
        _row_document(row, column, id_column, f"{path}:{number}")
        for number, row in enumerate(chain([] if first is None else [first], rows), 1)
    )


def _row_document(row: dict[str, Any], column: str, id_column: str | None, place: str) -> Document:
    identity = place if id_column is None else str(row.get(id_column, place))
    return Document(
        cast("str", row.get(column)), identity, {name: cell for name, cell in row.items() if name != column}
    )


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of a table. Raises PromptError."""
    csv.field_size_limit(2**31 - 1)  # documents are long
    try:
        if path.suffix.lower() in {".csv", ".tsv"}:
            with path.open(encoding="utf-8-sig", newline="") as file:
                yield from csv.DictReader(
                    file, delimiter="\t" if path.suffix.lower() == ".tsv" else ",", strict=True, restkey=""
                )
            return
        lines = sys.stdin.buffer if str(path) == STDIN else path.open("rb")
        with lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    row = json.loads(line)
                    if not isinstance(row, dict):
                        raise PromptError(f"Line {number:,} of {path} is no JSON object. Write one for each document.")
                    yield row
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise PromptError(f"The table {path} cannot be read: {message(error)}.") from error
    except json.JSONDecodeError as error:
        raise PromptError(f"Line {number:,} of {path} is no JSON: {message(error)}.") from error
