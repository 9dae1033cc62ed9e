"""Results read back from the file that a call wrote, one by one."""

from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar, overload

from structured.errors import OutputError
from structured.errors.values import message
from structured.extraction.output.journal import each_record, to_path
from structured.extraction.output.records import Record
from structured.output_types.output_type import OutputType
from structured.output_types.resolve import resolve_type
from structured.results.result import Provenance, Result, result_from_json

T = TypeVar("T")


@overload
def read_results(path: str | PathLike[str], output_type: type[T] | OutputType[T]) -> Iterator[Result[T]]: ...
@overload
def read_results(path: str | PathLike[str], output_type: object) -> Iterator[Result[Any]]: ...
def read_results(path: str | PathLike[str], output_type: object) -> Iterator[Result[Any]]:
    """Read the results that `write_results` wrote, one by one, in the order in which they were done.

    It may be read while it is written: a line that is not whole yet is left out.

    Parameters:
        path: The file.
        output_type: The type that the call was given; with `Any`, the values are plain data.

    Returns:
        For each record a `Result`. Its `position` is that of the record, from 0. It has no `generations`.

    Raises:
        OutputError: The file cannot be read, or a line of it is no record, or not one of this type.
        SchemaError: As for `extract`.
    """
    if output_type is not Any:
        resolve_type(output_type)  # raises before the file is read
    return _results(to_path(path), output_type)


def _results(path: Path, output_type: object) -> Iterator[Result[Any]]:
    name = "plain data" if output_type is Any else resolve_type(output_type).name
    try:
        for position, (place, record) in enumerate(each_record(path)):
            try:
                yield _result_of(record, position, output_type)
            except (ValueError, KeyError, TypeError) as error:
                raise OutputError(
                    f"{place}, of the document {record['id']!r}, cannot be read as {name}: {message(error)}. Pass the "
                    "type that it was written with.",
                    path=str(path),
                ) from error
    except OSError as error:
        raise OutputError(
            f"{path} cannot be read: {error.strerror or message(error)}. Pass the path that `write_results` wrote to.",
            path=str(path),
        ) from error


def _result_of(record: Record, position: int, output_type: object) -> Result[Any]:
    provenance = Provenance(**record["provenance"])
    wanted = None
    if output_type is not Any:
        wanted = resolve_type(output_type, provenance.options.get("allow_missing"))
    return result_from_json(record, position, wanted, provenance)
