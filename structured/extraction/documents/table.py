"""A table on its way to be read: its columns, and its rows one after another; and the lines of a text file."""

import io
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from structured.errors import PromptError
from structured.extraction.documents.plain_text import marked_encoding

Row: TypeAlias = Mapping[str, Any] | PromptError
"""The values of a row by its columns, or why there are none."""


class Table(NamedTuple):
    """A table that is open.

    Attributes:
        path: Its file.
        columns: The names of its columns; in JSON lines, those of the first object.
        texts: Those that may have texts.
        rows: The rows, each with the number of its first line, from 1, or of its row in Parquet.
    """

    path: Path
    columns: tuple[str, ...]
    texts: tuple[str, ...]
    rows: Iterator[tuple[int, Row]]


def lines_of(path: Path) -> Iterator[str]:
    """Yield the lines of a text file with their ends, in UTF-8 or as a byte-order mark says.

    Raises PromptError for a line that is no text, OSError if the file cannot be read.
    """
    with path.open("rb") as file:
        mark, encoding = marked_encoding(file.read(4))
        file.seek(len(mark))
        lines = _decoded(file) if encoding in {None, "utf-8"} else io.TextIOWrapper(file, encoding, newline="")
        number = 0
        try:
            for number, line in enumerate(lines, 1):
                if "\0" in line:
                    raise PromptError(
                        f"Line {number:,} of {path} has NUL characters, so that the file is hardly text. Convert it to "
                        "UTF-8."
                    )
                yield line
        except UnicodeDecodeError as error:  # text in UTF-16 is decoded a block at a time
            line = f"Line {number + 1:,}" if encoding in {None, "utf-8"} else f"A line after {number:,}"
            raise PromptError(
                f"{line} of {path} is not text in {error.encoding.upper()}: it has the byte "
                f"{error.object[error.start]:#04x}. Convert the file to UTF-8."
            ) from error


def _decoded(file: io.BufferedReader) -> Iterator[str]:
    for line in file:
        yield line.decode("utf-8")
