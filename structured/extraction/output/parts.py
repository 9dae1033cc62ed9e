"""Parts: a folder of Parquet files that are written one after another, and read as one table.

A file of Parquet can be read when it is whole, and not be added to. So records go to a journal first, as lines of JSON,
and become the next part when there are enough of them, or at the end of a call. The part is written beside, brought to
the disk and renamed, and only then are the records dropped from the journal: what a crash leaves in both is the same,
and is dropped when the folder is opened next. The journal's lock is that of the folder.

The name of the journal begins with a dot, as names do that readers of such folders pass over.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import Any, Self

from structured.errors import OutputError
from structured.errors.values import counted, message
from structured.extraction.output import journal
from structured.extraction.output.columns import pyarrow
from structured.extraction.output.journal import (
    Journal,
    Resume,
    check_unchanged,
    sync_folder,
)
from structured.extraction.output.records import Record, checked
from structured.extraction.output.rows import Row, Rows
from structured.extraction.output.sink import note_kept

JOURNAL = ".journal.jsonl"

DROPPING = ".dropping"
"""A file that is there while all records are being dropped. A call that finds it finishes that."""

PART_RECORDS = 10_000
"""Records of a part: enough for what a file costs its readers, and some seconds' work to write."""

PART_BYTES = 32 * 2**20
"""Bytes of the records of a part, as JSON, after which it is written: a part is in memory once, as Arrow."""

_ROWS = 1_000
"""Rows that are in memory as Python objects."""

_NAME = re.compile(r"part-\d{5,}\.parquet")

_HEADS = ["id", "digest", "made_by", "error.kind", "json"]
"""Columns that tell what is done."""


class Parts:
    """An open folder of parts, locked. Used in a `with`; what is left in the journal becomes a part at its end.

    Attributes:
        path: The folder.
        done: The digest of each document that had a record when it was opened, by its id.
        failed: How many of these have an error.
    """

    def __init__(self, path: Path, made_by: Mapping[str, Any], resume: Resume, rows: Rows) -> None:
        pyarrow("pyarrow.parquet")  # before anything is made
        self.path = path
        self.done: dict[str, bytes] = {}
        self.failed = 0
        self._rows = rows
        _check_folder(path)
        dropping = path / DROPPING

        def decided() -> Resume:
            if resume == "fresh":
                dropping.touch()
                sync_folder(path)
            return "fresh" if dropping.exists() else resume

        self._journal = Journal(path / JOURNAL, made_by, resume, once_locked=decided)
        try:
            for part in parts_of(path):
                if dropping.exists():
                    with self._told(part):
                        part.unlink()
                elif self._note(part, made_by) and resume == "retry":
                    self._drop_errors(part)
            with self._told(dropping):
                dropping.unlink(missing_ok=True)
            self._join_journal()
        except BaseException:
            self._journal.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        """Make a part of what is left, unless the call ends by an error."""
        try:
            if self._waiting and error[0] is None:
                self._fill()
        finally:
            self._journal.close()

    def append(self, line: bytes) -> None:
        """Take a record. Raises OutputError if it, or the part that it completes, cannot be written."""
        self._journal.append(line)
        self._waiting += 1
        if self._waiting >= PART_RECORDS or self._journal.size >= PART_BYTES:
            self._fill()

    def note_kept(self, error: BaseException) -> None:
        """Tell an exception that ends the call what is kept, and how to go on."""
        waiting = {record["id"] for _, record in journal.each_record(self._journal.path)}
        count = 0
        for part in parts_of(self.path):
            with _opened(part) as (file, _):
                count += file.metadata.num_rows
                if waiting and _number(part) >= self._next:  # written when the interrupt came
                    waiting -= {row["id"] for _, row in _numbered(file, ["id"])}
        note_kept(error, self.path, count + len(waiting))

    def _note(self, part: Path, made_by: Mapping[str, Any]) -> int:
        """Take note of the records of a part, and return how many of them have an error."""
        failed = 0
        with _opened(part) as (file, rows):
            for number, head in _numbered(file, _HEADS):
                record = _head(part, number, rows, head)
                check_unchanged(self.path, f"row {number} of {part.name}", record["made_by"], made_by)
                if record["id"] in self.done:
                    raise OutputError(
                        f"Row {number} of {part} is the second one of the document {record['id']!r}. Remove that part, "
                        "or pass resume='fresh' to begin again.",
                        path=str(self.path),
                    )
                self.done[record["id"]] = bytes.fromhex(record["digest"])
                failed += "error" in record
            if rows != self._rows:
                raise OutputError(
                    f"{self.path} cannot be gone on with: {part.name} has other columns than this version of the type "
                    "and of the library would write. Write to another folder, or pass resume='fresh' to begin again.",
                    path=str(self.path),
                )
        self.failed += failed
        return failed

    def _drop_errors(self, part: Path) -> None:
        """Write a part again, without the records that have an error."""
        kept, number = [], 0
        with _opened(part) as (file, rows):
            for batch in file.iter_batches(_ROWS):
                is_kept = []
                for head in batch.select([name.partition(".")[0] for name in _HEADS]).to_pylist():
                    number += 1
                    record = _head(part, number, rows, head)
                    is_kept.append("error" not in record)
                    if "error" in record:
                        del self.done[record["id"]]
                        self.failed -= 1
                kept.append(batch.filter(pyarrow().array(is_kept, pyarrow().bool_())))
        self._write(part, kept)

    def _join_journal(self) -> None:
        """Take note of the records in the journal; those that stand in a part were left there by a crash."""
        if self._journal.done.keys() & self.done.keys():
            self._journal.drop(lambda record: record["id"] in self.done)
        self._waiting = len(self._journal.done)
        self._journal.kept += len(self.done)  # which its messages tell
        self.done |= self._journal.done
        self.failed += self._journal.failed
        self._next = max(map(_number, parts_of(self.path)), default=-1) + 1

    def _fill(self) -> None:
        """Make a part of the records in the journal, and drop them there."""
        part = self.path / f"part-{self._next:05}.parquet"
        schema = self._rows.schema
        records = (record for _, record in journal.each_record(self._journal.path))

        def batches() -> Iterator[Any]:
            while listed := list(islice(records, _ROWS)):
                yield pyarrow().RecordBatch.from_pylist([self._rows.to_row(one) for one in listed], schema)

        self._write(part, batches())
        self._waiting, kept = 0, self._journal.kept
        with self._told(self._journal.path):
            self._journal.drop(lambda _: True)
        self._journal.kept = kept
        self._next += 1

    def _write(self, part: Path, batches: Iterable[Any]) -> None:
        """Write a part, or write it again: beside, and renamed when it is on the disk."""
        beside = part.with_name(f".{part.name}.writing")
        try:
            with self._told(part):
                with beside.open("wb") as file:
                    table = pyarrow().Table.from_batches(batches, self._rows.schema)
                    pyarrow("pyarrow.parquet").write_table(table, file, compression="zstd")
                    file.flush()
                    os.fsync(file.fileno())
                beside.replace(part)
        finally:
            with suppress(OSError):
                beside.unlink()
        sync_folder(self.path)

    @contextmanager
    def _told(self, path: Path) -> Iterator[None]:
        """Raise OutputError where a file cannot be written."""
        try:
            yield
        except OSError as error:
            raise OutputError(
                f"{path} could not be written: {error.strerror or message(error)}. "
                f"{counted(self._journal.kept, 'record')} kept. Correct that, and the same call goes on.",
                path=str(self.path),
                kept=self._journal.kept,
            ) from error


def parts_of(path: Path) -> list[Path]:
    """Return the parts in a folder, in the order in which they were written."""
    return sorted((one for one in path.iterdir() if _NAME.fullmatch(one.name)), key=_number)


def _number(part: Path) -> int:
    return int(part.stem.removeprefix("part-"))


def each_record(path: Path) -> Iterator[tuple[str, Record]]:
    """Yield the records in a folder, those of the journal last, and where each stands.

    The folder may be written to meanwhile: the journal is read before the parts are looked up, so that what becomes a
    part in between is found there, and is left out here.
    """
    beside = path / JOURNAL
    has_journal = beside.exists()
    waiting = {record["id"]: (place, record) for place, record in journal.each_record(beside)} if has_journal else {}
    parts = parts_of(path)
    if not parts and not has_journal:
        raise OutputError(
            f"{path} is a folder without results. Pass the path of what a call with `output` wrote.", path=str(path)
        )
    for part in parts:
        with _opened(part) as (file, rows):
            for number, row in _numbered(file):
                record = _record(part, number, rows, row)
                waiting.pop(record["id"], None)
                yield f"Row {number} of {part}", record
    yield from waiting.values()


def _check_folder(path: Path) -> None:
    """Make a folder, or look whether one holds parts and nothing else that is seen. Raises OutputError if not."""
    try:
        path.mkdir(exist_ok=True)
        for one in path.iterdir():
            if _NAME.fullmatch(one.name):
                with _opened(one):
                    pass
            elif not one.name.startswith((".", "_")):
                raise OutputError(
                    f"The folder {path} holds {one.name}, which is no part of results. Pass the path of a new folder, "
                    "or of one that was written by `output`.",
                    path=str(path),
                )
    except OSError as error:
        raise OutputError(
            f"{path} cannot be made or read as a folder: {error.strerror or message(error)}. Results in Parquet are a "
            "folder of parts. Remove what is there, or pass another path.",
            path=str(path),
        ) from error


@contextmanager
def _opened(part: Path) -> Iterator[tuple[Any, Rows]]:
    """Open a part, with its columns. Raises OutputError if it is none."""
    arrow, parquet = pyarrow(), pyarrow("pyarrow.parquet")
    try:
        with parquet.ParquetFile(_regular(part), memory_map=False, pre_buffer=False) as file:
            yield file, Rows.read(file.schema_arrow)
    except (arrow.ArrowException, ValueError, OSError) as error:
        raise OutputError(
            f"{part} is no part of results: {message(error)}. Remove it, and its documents are done again.",
            path=str(part),
        ) from error


def _regular(part: Path) -> Path:
    """Return the path of a file. Raises ValueError for anything else, such as a FIFO, which would never be read."""
    if not part.is_file():
        raise ValueError("it is no regular file")
    return part


def _numbered(file: Any, columns: list[str] | None = None) -> Iterator[tuple[int, Row]]:
    number = 0
    for batch in file.iter_batches(_ROWS, columns=columns):
        for row in batch.to_pylist():
            number += 1
            yield number, row


def _head(part: Path, number: int, rows: Rows, row: Row) -> Record:
    """Return the record of a row of which only some columns were read, without what the others say."""
    whole = {**dict.fromkeys(rows.columns), **row}
    if row.get("error") is not None:
        whole["error"] = {"kind": "", "message": "", "fields": None, **row["error"]}
    return _record(part, number, rows, whole)


def _record(part: Path, number: int, rows: Rows, row: Row) -> Record:
    try:
        return checked(rows.to_record(row))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise OutputError(
            f"Row {number} of {part} is no record of a document: {message(error)}. Remove that part, and its documents "
            "are done again.",
            path=str(part),
        ) from error
