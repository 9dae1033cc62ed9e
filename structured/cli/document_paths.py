"""Document paths: the files, folders, patterns and tables that a command line names, as documents.

Names are checked before a model is loaded, so that a mistake costs no time. Files in folders fail alone.
"""

import glob
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from difflib import get_close_matches
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

import typer

from structured.errors import PromptError
from structured.errors.values import message
from structured.extraction.documents.document import Document, DocumentLike, each_document
from structured.extraction.documents.tables import TABLE_READERS, read_rows

STDIN = "-"
"""The path of standard input."""


def documents_at(
    paths: Sequence[str], column: str | None, id_column: str | None, excluded_paths: Iterable[Path] = ()
) -> Iterable[DocumentLike]:
    """Return the documents of files, folders and patterns, without some paths; a list, if their number is known.

    Each row of a table is a document. With a column, standard input is a table, too. A table that is found in a folder
    and cannot be read fails as a document does. Raises `typer.BadParameter` for a name without files or documents.
    """
    excluded = {one.resolve() for one in excluded_paths}
    resolved_paths = {path: path.resolve() for path in chain.from_iterable(map(_files_at, paths))}
    files = [path for path, real in resolved_paths.items() if excluded.isdisjoint([real, *real.parents])]
    tables = {
        path for path in files if path.suffix.lower() in TABLE_READERS or (str(path) == STDIN and column is not None)
    }
    if (column or id_column) and not tables:
        raise typer.BadParameter("--column and --id are about tables, and there is none: CSV, JSON lines, Parquet.")
    if not tables:
        return [_document(path) for path in files]
    named = {*map(Path, paths)}
    parts = [
        _rows(path, column, id_column, is_named=path in named) if path in tables else [_document(path)]
        for path in files
    ]
    return chain.from_iterable(parts)


def _files_at(name: str) -> Iterator[Path]:
    """Yield the files of a path: itself, those of a folder, or those that fit a pattern."""
    path = Path(name)
    if name == STDIN or path.is_file() or (path.exists() and not path.is_dir()):
        yield path
        return
    if path.is_dir():
        files = [one for one in each_document(path) if isinstance(one, Path)]
        problem = f"The folder {name} is empty."
    else:
        if not glob.has_magic(name):
            similar = get_close_matches(path.name, [one.name for one in path.parent.glob("*")], n=1)
            hint = f" Is it {path.parent / similar[0]}?" if similar else ""
            raise typer.BadParameter(f"There is no file or folder {name!r}.{hint}")
        files = [one for one in map(Path, sorted(glob.glob(name, recursive=True))) if one.is_file()]  # noqa: PTH207  absolute patterns, too
        problem = f"No file fits {name!r}."
    if not files:
        raise typer.BadParameter(f"{problem} There is nothing to extract from.")
    yield from files


def _document(path: Path) -> DocumentLike:
    """Return the document of one file, unread, or that of standard input."""
    if str(path) != STDIN:
        return path
    data = sys.stdin.buffer.read()
    try:
        return Document(data.decode("utf-8-sig"), STDIN)
    except UnicodeDecodeError as error:
        raise PromptError(
            f"Standard input is not text in UTF-8: byte {error.start:,} is {data[error.start]:#04x}. Convert it."
        ) from error


def _rows(path: Path, column: str | None, id_column: str | None, *, is_named: bool) -> Iterable[DocumentLike]:
    """Return the rows of a table; an error in their place if it was found in a folder and cannot be read."""
    if str(path) == STDIN:
        return _rows_of_stdin(column, id_column)
    try:
        return _with_error_at_end(path, read_rows(path, text=column, id=id_column))
    except PromptError as error:
        problem = re.sub("^text is", "--column is", re.sub("^id is", "--id is", message(error)))
        problem = problem.replace("Pass text=….", "Name one: --column NAME.")
        if is_named:
            raise typer.BadParameter(problem) from error
        return [PromptError(problem, id=str(path))]


def _with_error_at_end(path: Path, rows: Iterator[DocumentLike]) -> Iterator[DocumentLike]:
    """Yield rows, and an error where the rest of them cannot be read."""
    try:
        yield from rows
    except PromptError as error:
        error.id = str(path)
        yield error


def _rows_of_stdin(column: str | None, id_column: str | None) -> Iterator[DocumentLike]:
    """Yield the rows of standard input, which has JSON lines."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "stdin.jsonl")
        path.write_bytes(sys.stdin.buffer.read())
        for row in _rows(path, column, id_column, is_named=True):
            if isinstance(row, Document):
                yield replace(row, id=row.id.replace(str(path), STDIN))
            else:
                yield row
