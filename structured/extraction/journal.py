"""A journal: a file of records to which one process at a time appends, and which is whole after any interruption.

A record is one write of one line to a descriptor that appends. What `kill -9` leaves behind is whole lines, and at most
the beginning of one more, which is cut off before anything is appended. Power may take what was not yet on the disk:
records are brought there every few seconds and in the end.
"""

import errno
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import suppress
from os import PathLike, fspath
from pathlib import Path
from time import monotonic
from typing import Literal, Protocol, Self

from structured.errors import OutputError
from structured.errors.values import counted, fault_of_json, message, shown
from structured.extraction.records import DIGEST_OF_NO_TEXT, MAX_ORDER, Record, differences, is_record_prefix, read_line
from structured.results.result import Provenance

if sys.platform == "win32":
    import msvcrt

    _LOCK_OFFSET = 1 << 62
    """The byte that is locked: no file has it, so that others may still read the file."""

    def lock(descriptor: int) -> None:
        """Lock a file. Raises BlockingIOError if it is locked, and OSError where there are no locks."""
        os.lseek(descriptor, _LOCK_OFFSET, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError as error:
            if error.errno in {errno.EACCES, errno.EDEADLK}:
                raise BlockingIOError(error.errno, "locked") from error
            raise
        finally:
            os.lseek(descriptor, 0, os.SEEK_SET)

else:
    import fcntl

    def lock(descriptor: int) -> None:
        """Lock a file. Raises BlockingIOError if it is locked, and OSError where there are no locks."""
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


Resume = Literal["continue", "retry", "fresh"]
"""How to treat existing output: continue, retry failed documents, or overwrite."""

SYNC_SECONDS = 5.0
"""Between two times that records are brought to the disk."""

_FLAGS = (
    os.O_RDWR
    | os.O_APPEND
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
    | getattr(os, "O_NONBLOCK", 0)  # a FIFO in its place keeps nobody waiting
)


class SupportsWrite(Protocol):
    """A stream of bytes that is open for writing."""

    def write(self, data: bytes, /) -> object:
        """Take bytes."""

    def flush(self) -> object:
        """Hand them on."""


class Journal:
    """An open journal, locked. Close it, or use it in a `with`.

    Attributes:
        path: The file.
        failed_before: How many of the records that were there when it was opened have an error.
        record_count: How many records there are now.
        call: The number of this call, greater than those of the calls that wrote the records, up to `MAX_ORDER`.
    """

    def __init__(self, path: Path, provenance: Provenance, resume: Resume = "continue") -> None:
        """Open a file, or make one."""
        self.path = path
        self.failed_before = self.record_count = self.call = self._size = 0
        self._digests: dict[str, bytes] = {}  # of the documents that had a record, by their ids
        self._descriptor = _open_and_lock(path)
        try:
            self._read(provenance, resume)
        except BaseException:
            os.close(self._descriptor)
            raise
        self._synced = monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def was_recorded(self, document_id: str, digest: str) -> bool:
        """Tell whether a document had a record at first, and forget it. Raises OutputError if it is of another text."""
        recorded = self._digests.pop(document_id, None)
        if recorded is None or recorded.hex() == digest:
            return recorded is not None
        if recorded.hex() == DIGEST_OF_NO_TEXT:
            problem = (
                f"The document {shown(document_id)} could not be read when its record in {self.path} was written, or "
                "was empty, and has a text now. Pass resume='retry', which answers what has failed."
            )
        elif digest == DIGEST_OF_NO_TEXT:
            problem = (
                f"The document {shown(document_id)} cannot be read any more, or is empty; it had a text when its "
                f"record in {self.path} was written. Restore it, or leave it out."
            )
        else:
            problem = (
                f"The document {shown(document_id)} has another text than when its record in {self.path} was written. "
                "Give it another id or remove its line, and call again; resume='retry' drops it if it is that of an "
                "error."
            )
        raise OutputError(problem, path=str(self.path))

    def append(self, line: bytes) -> None:
        """Write a record. Raises OutputError if that is impossible; no part of it is left then."""
        self._write(self._descriptor, line)
        self.record_count += 1
        if monotonic() - self._synced >= SYNC_SECONDS:
            self.sync()

    def note_kept(self, error: BaseException) -> None:
        """Add to an exception that ends the call how many records are kept, and how to continue."""
        count = sum(1 for _ in each_line(self.path))  # an interrupt may have come before the last one was counted
        if isinstance(error, OutputError) and Path(error.path) == self.path:
            error.kept = count
        else:
            error.add_note(f"{counted(count, 'record')} kept in {self.path}; the same call goes on.")

    def sync(self) -> None:
        """Bring what was written to the disk. Raises OutputError if that fails."""
        try:
            os.fsync(self._descriptor)
        except OSError as error:
            raise self._error(f"The records of {self.path} could not be brought to the disk", error) from error
        self._synced = monotonic()

    def close(self) -> None:
        """Bring what was written to the disk, and let others write."""
        try:
            self.sync()
        finally:
            os.close(self._descriptor)

    def _write(self, descriptor: int, line: bytes) -> None:
        written = 0
        try:
            while written < len(line):
                written += os.write(descriptor, line[written:])
        except OSError as error:
            with suppress(OSError):  # if it cannot be cut off, the next call does so
                os.ftruncate(descriptor, self._size)
            raise self._error(f"A record could not be written to {self.path}", error) from error
        self._size += written

    def _error(self, problem: str, error: OSError) -> OutputError:
        return OutputError(
            f"{problem}: {error.strerror or message(error)}. {counted(self.record_count, 'record')} kept. Correct "
            "that, and the same call goes on.",
            path=str(self.path),
            kept=self.record_count,
        )

    def _read(self, provenance: Provenance, resume: Resume) -> None:
        """Take note of the records that are there, and drop those that are not to stay."""
        for number, line, record in each_record(self.path, needs_provenance=True):
            if resume != "fresh":
                self._note(number, record, provenance)
            self._size += len(line)
        self._cut_torn_record()
        if resume == "fresh":
            os.ftruncate(self._descriptor, 0)
            self._size = 0
        elif resume == "retry" and self.failed_before:
            self._drop_errors()

    def _note(self, number: int, record: Record, provenance: Provenance) -> None:
        """Take note of a record. Raises OutputError if it is made otherwise now, or the second one of its document."""
        changed = differences(record["provenance"], provenance)
        if changed:
            raise OutputError(
                f"{self.path} cannot be resumed: since line {number} was written, this has changed: "
                f"{'; '.join(changed)}. Call with what it was, write to another file, or pass resume='fresh' to begin "
                "again.",
                path=str(self.path),
            )
        if record["id"] in self._digests:
            problem = f"Line {number} of {self.path} is the second one of the document {record['id']!r}"
            raise OutputError(f"{problem}. Remove one of them.", path=str(self.path))
        self._digests[record["id"]] = bytes.fromhex(record["digest"])
        self.failed_before += "error" in record
        self.record_count += 1
        self.call = min(max(self.call, record.get("order", (0, 0))[0] + 1), MAX_ORDER)

    def _cut_torn_record(self) -> None:
        """Cut off the beginning of a record behind the last whole one. Raises OutputError if anything else is there."""
        length = os.fstat(self._descriptor).st_size
        if length == self._size:
            return
        with self.path.open("rb") as file:
            file.seek(self._size)
            tail = file.read(length - self._size)
        torn_record = tail.rstrip(b"\0") if self._size else tail  # a power cut may leave zeros
        if not is_record_prefix(torn_record):
            raise OutputError(
                f"{self.path} ends with something that is no record of a document, and is left as it is. Pass the path "
                "of a new file, or of one that `write_results` wrote.",
                path=str(self.path),
            )
        os.ftruncate(self._descriptor, self._size)

    def _drop_errors(self) -> None:
        """Drop the records of errors: the others are written to a file that takes the place of this one."""
        path = self.path.resolve()  # a link stays one
        retry_path = path.with_name(f".{path.name}.retry")
        retry_path.unlink(missing_ok=True)
        descriptor = _open_and_lock(retry_path)
        self._size = 0
        try:
            for _, line, record in each_record(self.path, needs_provenance=True):
                if "error" in record:
                    del self._digests[record["id"]]
                else:
                    self._write(descriptor, line)
            os.fsync(descriptor)
            if os.name == "nt":  # an open file cannot be replaced there
                os.close(self._descriptor)
                os.close(descriptor)
                retry_path.replace(path)
                self._descriptor = _open_and_lock(path)
            else:
                retry_path.replace(path)
                os.close(self._descriptor)
                self._descriptor = descriptor
        except BaseException:
            with suppress(OSError):
                os.close(descriptor)
            with suppress(OSError):
                retry_path.unlink()
            raise
        self.record_count, self.failed_before = self.record_count - self.failed_before, 0
        sync_folder(path.parent)


class RecordStream:
    """Records that are written to a stream, such as standard output, from which none is read back."""

    def __init__(self, stream: SupportsWrite) -> None:
        self.path = Path("-")
        self.failed_before = self.call = 0
        self._stream = stream

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Leave the stream open: it is the caller's."""

    def was_recorded(self, _document_id: str, _digest: str) -> bool:
        """Return False: nothing is read back."""
        return False

    def append(self, line: bytes) -> None:
        """Write a record. What the stream raises is raised."""
        self._stream.write(line)
        self._stream.flush()

    def note_kept(self, error: BaseException) -> None:
        """Do nothing: nobody can continue a stream."""


def to_path(path: str | PathLike[str]) -> Path:
    """Return a path of a file. Raises OutputError for what no file can be called."""
    path = Path(fspath(path))
    try:
        is_impossible = b"\0" in os.fsencode(path)
    except UnicodeEncodeError:
        is_impossible = True
    if is_impossible:
        raise OutputError(f"{str(path)!r} has a character that no path can have. Leave it out.", path=str(path))
    return path


def each_line(path: Path) -> Iterator[bytes]:
    """Yield the whole lines of a file, not what is torn. Raises OutputError for what is no regular file."""
    if path.exists() and not path.is_file():
        raise OutputError(f"{path} is no regular file. Pass the path of a file of results.", path=str(path))
    with path.open("rb") as file:
        for line in file:
            if line.endswith(b"\n"):
                yield line


def each_record(path: Path, *, needs_provenance: bool = False) -> Iterator[tuple[int, bytes, Record]]:
    """Yield the records of a file, each with its line and the number of it. Raises OutputError for one that is none."""
    for number, line in enumerate(each_line(path), 1):
        try:
            record = read_line(line, needs_provenance=needs_provenance)
        except (ValueError, RecursionError) as error:
            raise OutputError(
                f"Line {number} of {path} is no record of a document: {fault_of_json(error)}. Correct or remove it, or "
                "pass the path of another file.",
                path=str(path),
            ) from error
        yield number, line, record


def _open_and_lock(path: Path) -> int:
    """Open a file to append to it, and lock it. Raises OutputError if that is impossible."""
    while True:
        try:
            is_new = not path.exists()
            descriptor = os.open(path, _FLAGS | os.O_CREAT, 0o666)
        except OSError as error:
            raise OutputError(
                f"{path} cannot be opened to write to it: {error.strerror or message(error)}. Pass the path of a file "
                "in a folder that you can write to.",
                path=str(path),
            ) from error
        try:
            _lock(path, descriptor)
            with suppress(FileNotFoundError):
                if os.path.samestat(path.stat(), os.fstat(descriptor)):
                    if is_new:
                        sync_folder(path.parent)
                    return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)  # another process replaced it meanwhile


def _lock(path: Path, descriptor: int) -> None:
    """Lock an open file. Raises OutputError if it is none that can be locked, or locked by another call."""
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        raise OutputError(f"{path} is no regular file. Pass the path of one.", path=str(path))
    try:
        lock(descriptor)
    except BlockingIOError as error:
        raise OutputError(
            f"Another call is writing to {path}. Wait for it, or write to another file.", path=str(path)
        ) from error
    except OSError as error:
        raise OutputError(
            f"{path} cannot be locked, so that two processes might write to it at once: "
            f"{error.strerror or message(error)}. Write to a local disk, and copy the file in the end.",
            path=str(path),
        ) from error


def sync_folder(folder: Path) -> None:
    """Bring the name of a new file to the disk, where folders can be opened."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
