"""Document paths: the files, folders, patterns and tables that a command line names, as documents.

Names are checked before a model is loaded, so that a mistake costs no time. Files in folders fail alone.
"""

import glob
import os
import re
import sys
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

import typer

from structured.errors import OptionWarning, PromptError
from structured.errors.calling_line import warn
from structured.errors.values import message
from structured.extraction.documents.document import (
    DocumentLike,
    documents_of,
    files_at,
    is_table,
    looks_like_path,
    read_document,
)

STDIN = "-"
"""The path of standard input."""


def named_documents(
    paths: Sequence[str], column: str | None, id_column: str | None, excluded_paths: Iterable[Path] = ()
) -> Iterable[DocumentLike]:
    """Return the documents of files, folders and patterns, without some paths; a list, if their number is known.

    Each row of a table is a document. With a column, standard input is a table, too. A table that is found in a folder
    and cannot be read fails as a document does. Raises `typer.BadParameter` for a name without files or documents.
    """
    excluded = {*map(os.path.realpath, excluded_paths)}
    found_paths = dict.fromkeys(chain.from_iterable(map(_files_at, paths)))
    files = [path for path in found_paths if os.path.realpath(path) not in excluded]
    stdin_is_table = column is not None
    has_table = any(stdin_is_table if str(path) == STDIN else is_table(path) for path in files)
    if (column or id_column) and not has_table:
        raise typer.BadParameter("--column and --id are about tables, and there is none: CSV, JSON lines, Parquet.")
    named = {*map(Path, paths)}
    parts = [
        _documents_of_stdin(column, id_column) if str(path) == STDIN else _documents_of(path, column, id_column, named)
        for path in files
    ]
    documents = (
        PromptError(_in_options(message(one)), id=one.id) if isinstance(one, PromptError) else one
        for one in chain.from_iterable(parts)
    )
    return documents if has_table else list(documents)


def _files_at(name: str) -> Iterator[Path]:
    """Yield the files of a path: itself, those of a folder, or those that fit a pattern."""
    path = Path(name)
    if name == STDIN:
        yield path
        return
    if glob.has_magic(name) and not path.exists():
        files = [one for one in map(Path, sorted(glob.glob(name, recursive=True))) if one.is_file()]  # noqa: PTH207  absolute patterns, too
        problem = f"No file fits {name!r}."
    else:
        try:
            files = list(files_at(path))
        except PromptError as error:
            raise typer.BadParameter(message(error)) from error
        problem = f"The folder {name} is empty."
    if not files:
        raise typer.BadParameter(f"{problem} There is nothing to extract from.")
    yield from files


def _documents_of(
    path: Path, column: str | None, id_column: str | None, named: Container[Path]
) -> Iterator[DocumentLike]:
    """Return the documents of a file. Raises `typer.BadParameter` for a table that was named and cannot be read."""
    try:
        return documents_of(path, column, id_column, is_named=path in named)
    except PromptError as error:
        raise typer.BadParameter(_in_options(message(error))) from error


def _in_options(problem: str) -> str:
    """Return what is wrong with a table, with the options of the command in place of those of Python."""
    problem = re.sub("^text is", "--column is", re.sub("^id is", "--id is", problem))
    return problem.replace("read_rows(path, text=…)", "--column NAME")


def _documents_of_stdin(column: str | None, id_column: str | None) -> Iterator[DocumentLike]:
    """Yield standard input as a document, or the rows of its JSON lines if it is a table."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "stdin" if column is None else "stdin.jsonl")
        path.write_bytes(sys.stdin.buffer.read())
        for document in _documents_of(path, column, id_column, {path}):
            try:
                read = read_document(document)
            except PromptError as error:
                problem = message(error).replace(f"The file {path}", "Standard input").replace(str(path), STDIN)
                yield PromptError(problem, id=error.id.replace(str(path), STDIN) or STDIN)
            else:
                if looks_like_path(read.text):
                    problem = f"Standard input is {str(read.text).strip()!r}, which looks like a path, and is not read"
                    warn(OptionWarning(f"{problem}. Name the path in place of {STDIN}."))
                yield replace(read, id=read.id.replace(str(path), STDIN))
