"""Parquet: flat tables, written some rows at a time."""

import json
from collections.abc import Iterator, Mapping
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

ROWS = 10_000
"""Rows that are written together, which bounds the memory."""


def pyarrow(module: str = "pyarrow") -> Any:
    """Return pyarrow, or a module of it. Raises ImportError, which says how to install it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError("Parquet needs pyarrow: pip install 'structured-extraction[parquet]'.") from error


def write_parquet(path: Path, columns: Mapping[str, str], rows: Iterator[Mapping[str, Any]]) -> None:
    """Write rows to a file; `columns` are the names of columns with their kinds: bool, int, float, text or json."""
    arrow, parquet = pyarrow(), pyarrow("pyarrow.parquet")
    types = {"bool": arrow.bool_(), "int": arrow.int64(), "float": arrow.float64()}
    schema = arrow.schema([(name, types.get(kind, arrow.string())) for name, kind in columns.items()])
    with parquet.ParquetWriter(path, schema) as writer:
        while listed := list(islice(rows, ROWS)):
            cells = [{name: _cell(row.get(name), kind) for name, kind in columns.items()} for row in listed]
            writer.write_table(arrow.Table.from_pylist(cells, schema))


def _cell(value: Any, kind: str) -> Any:
    if value is None:
        return None
    if kind == "json":
        return json.dumps(value)
    return value.encode(errors="backslashreplace").decode() if kind == "text" else value
