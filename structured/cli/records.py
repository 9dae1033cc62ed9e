"""Records: what became of each document, as one JSON object in one line, in a file or for a pipe."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from pydantic_core import to_json

from structured.errors import PromptError
from structured.errors.values import message
from structured.extraction.documents.document import Document, DocumentLike
from structured.extraction.outcomes import BatchResult
from structured.output_types.extraction import Extraction

Record = dict[str, Any]


def record_of(result: BatchResult[Any]) -> Record:
    """Return the record of a document: its id, and its value, with the extraction if there is one, or its error."""
    record: Record = {"id": id_of(result.document, result.position)}
    if isinstance(result.document, Document) and result.document.metadata:
        record["metadata"] = dict(result.document.metadata)
    if result.error is not None:
        return {**record, "error": {"kind": type(result.error).__name__, "message": message(result.error)}}
    if isinstance(result.value, Extraction):
        extraction = json.loads(result.value.to_json())
        return {**record, "value": extraction["data"], "extraction": extraction}
    return {**record, "value": json.loads(to_json(result.value, by_alias=True))}


def id_of(document: DocumentLike, position: int) -> str:
    """Return what a document is called: its id, its path, or its position."""
    match document:
        case Path():
            return str(document)
        case Document(id=str() as identity) | (str() as identity, str()) if identity:
            return identity
    return str(position)


def to_line(record: Record, *, ascii_only: bool = False) -> str:
    """Return a record as one line of JSON, without its end."""
    return json.dumps(record, ensure_ascii=ascii_only)


def read_records(path: Path) -> Iterator[Record]:
    """Yield the records of a file. Raises PromptError for a line that is none."""
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            try:
                record = json.loads(line)
                is_one = isinstance(record, dict) and "id" in record and ("value" in record or "error" in record)
            except ValueError:
                is_one = False
            if not is_one:
                raise PromptError(
                    f"Line {number:,} of {path} is no record of a result: an object with an id, and a value or an "
                    "error. Pass a file that `structured extract … --output` has written."
                )
            yield record


class RecordFile:
    """A file to which records are appended, and the documents that it has no record of."""

    def __init__(self, path: Path, *, fresh: bool) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("w+b" if fresh else "a+b")
        self._file.seek(0)
        self._file.truncate(self._file.read().rfind(b"\n") + 1)  # a last line without its end was torn
        self._done = {record["id"] for record in read_records(path)}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._file.close()

    def remaining(self, documents: Iterable[DocumentLike]) -> Iterable[DocumentLike]:
        """Return the documents that have no record yet."""
        return [one for position, one in enumerate(documents) if id_of(one, position) not in self._done]

    def append(self, record: Record) -> None:
        """Write a record so that nothing but a crash of the machine loses it."""
        self._file.write(to_line(record).encode() + b"\n")
        self._file.flush()


def to_extraction(record: Record, output_type: object | None) -> Extraction[Any] | None:
    """Return the extraction of a record; None for a document that failed.

    Without its type, the value is the plain data. Raises ValueError if the record has no evidence.
    """
    if "error" in record:
        return None
    if "extraction" not in record:
        raise ValueError(f"The record of {record['id']!r} has no evidence. Extract with --evidence.")
    made = record["extraction"]
    if output_type is not None:
        return Extraction.from_json(json.dumps(made), output_type)
    plain = {**made, "missing": [], "text": json.dumps(made["data"])}
    return replace(Extraction.from_json(json.dumps(plain), Any), missing=tuple(made["missing"]), text=made["text"])
