"""Rows of Parquet, by pyarrow: a batch of them at a time, of one row group after another."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from structured.errors import PromptError
from structured.errors.values import message
from structured.extraction.documents.table import Row, Table

if TYPE_CHECKING:
    import pyarrow.parquet

_ROWS = 256
"""Rows that are decoded together."""


def read_parquet(path: Path) -> Table:
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
    except pa.ArrowInvalid as error:
        raise PromptError(f"The file {path} is no Parquet: {message(error)}.") from error
    schema = file.schema_arrow
    texts = tuple(column.name for column in schema if _is_text(column.type))
    return Table(path, tuple(schema.names), texts, _rows(path, file))


def _is_text(type_: Any) -> bool:
    from pyarrow import types

    if types.is_dictionary(type_):
        return _is_text(type_.value_type)
    return bool(types.is_string(type_) or types.is_large_string(type_) or types.is_string_view(type_))


def _rows(path: Path, file: "pyarrow.parquet.ParquetFile") -> Iterator[tuple[int, Row]]:
    import pyarrow as pa

    number = 0
    try:
        with file:
            for batch in file.iter_batches(_ROWS):
                for row in batch.to_pylist():
                    number += 1
                    yield number, row
    except pa.ArrowException as error:
        raise PromptError(f"The table {path} cannot be read after row {number:,}: {message(error)}.") from error
