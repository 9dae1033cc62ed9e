"""Results read back from what a batch wrote, one by one."""

from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar, overload

from structured.errors import OutputError
from structured.errors.values import message
from structured.extraction.outcomes import BatchResult
from structured.extraction.output import journal, parts
from structured.extraction.output.journal import to_path
from structured.extraction.output.records import Record, result_of
from structured.output_types.output_type import OutputType
from structured.output_types.resolve import resolve_type

T = TypeVar("T")


@overload
def read_results(path: str | PathLike[str], output_type: type[T] | OutputType[T]) -> Iterator[BatchResult[T]]: ...
@overload
def read_results(path: str | PathLike[str], output_type: object) -> Iterator[BatchResult[Any]]: ...
def read_results(path: str | PathLike[str], output_type: object) -> Iterator[BatchResult[Any]]:
    """Read the results that a call with `output` wrote, one by one, in the order in which they were done.

    It may be read while it is written: a line that is not whole yet is left out.

    Parameters:
        path: The file, or the folder of parts.
        output_type: The type that the call was given; with `Any`, the values are plain data. With `evidence` or
            `absent`, they are `Extraction` anyway.

    Returns:
        For each record a `BatchResult`. Its `position` is that of the record, from 0. Its `document` has the id and the
        metadata, as JSON gives them back, and the text only where the value is an `Extraction`.

    Raises:
        OutputError: The file cannot be read, or a line of it is no record, or not one of this type.
        ImportError: `pyarrow` is not installed, for parts: `pip install 'structured-extraction[parquet]'`.
        SchemaError: As for `extract`.
    """
    return _results(to_path(path), output_type)


def each_record(path: Path) -> Iterator[tuple[str, Record]]:
    """Yield the records of a file or a folder of parts, and where each stands, in words.

    Raises OutputError for what is no record, and OSError if it cannot be read.
    """
    return parts.each_record(path) if path.is_dir() else journal.each_record(path)


def _results(path: Path, output_type: object) -> Iterator[BatchResult[Any]]:
    wanted = resolve_type(output_type)
    try:
        for position, (place, record) in enumerate(each_record(path)):
            try:
                result = result_of(record, position, output_type, wanted)
            except (ValueError, KeyError, TypeError) as error:
                raise OutputError(
                    f"{place}, of the document {record['id']!r}, cannot be read as {wanted.name}: {message(error)}. "
                    "Pass the type that it was written with.",
                    path=str(path),
                ) from error
            yield result
    except OSError as error:
        raise OutputError(
            f"{path} cannot be read: {error.strerror or message(error)}. Pass the path of what a call with `output` "
            "wrote.",
            path=str(path),
        ) from error
