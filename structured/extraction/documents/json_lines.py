"""Rows of JSON lines: an object on each line, in UTF-8."""

import json
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from structured.errors import PromptError
from structured.errors.values import message, shown
from structured.extraction.conversation import is_messages
from structured.extraction.documents.table import Row, Table, lines_of


def read_json_lines(path: Path) -> Table:
    """Return the table in a file of JSON lines, whose columns are those of the first object in it.

    Raises PromptError if there is none, OSError if it cannot be read.
    """
    rows = _rows(path)
    first, before = None, []
    for number, row in rows:
        before.append((number, row))
        if not isinstance(row, PromptError):
            first = row
            break
    if first is None:
        raise (
            before[0][1]
            if before and isinstance(before[0][1], PromptError)
            else PromptError(f"The table {path} is empty.")
        )
    texts = [name for name, value in first.items() if isinstance(value, str) or is_messages(value)]
    return Table(path, tuple(first), tuple(texts), chain(before, rows))


def _rows(path: Path) -> Iterator[tuple[int, Row]]:
    for number, line in enumerate(lines_of(path), 1):
        if line.strip():
            yield number, _row(line, f"{path}:{number}")


def _row(line: str, place: str) -> Row:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        return PromptError(f"{place}: the line is no JSON: {message(error)}. Mend it, or leave it out.")
    return row if isinstance(row, dict) else PromptError(f"{place}: the line is {shown(row)}, and not an object.")
