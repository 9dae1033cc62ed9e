"""A journal: a file of records to which one process at a time appends, and which is whole after any interruption.

A record is one write of one line to a descriptor that appends. What `kill -9` leaves behind is whole lines, and at most
the beginning of one more, which is cut off before anything is appended. Power may take what was not yet on the disk:
records are brought there every few seconds and in the end.
"""

import errno
import os
import stat
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from os import PathLike, fspath
from pathlib import Path
from time import monotonic
from typing import Any, Literal, Protocol, Self

from structured.errors import OutputError
from structured.errors.values import counted, message
from structured.extraction.records import Record, differences, is_begun, read_line
from structured.results.result import Provenance

if sys.platform == "win32":
    import msvcrt
    import os

    _FAR = 1 << 62
    """A byte that no file has: others may still read what is there."""

    def lock(descriptor: int) -> None:
        """Lock a file. Raises BlockingIOError if it is locked, and OSError where there are no locks."""
        os.lseek(descriptor, _FAR, os.SEEK_SET)
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
        done: The digest of each document that had a record when it was opened, by its id.
        failed: How many of these have an error.
        kept: How many records there are now.
    """

    def __init__(
        self,
        path: Path,
        provenance: Provenance,
        resume: Resume = "continue",
    ) -> None:
        """Open a file, or make one."""
        self.path = path
        self.done: dict[str, bytes] = {}
        self.failed = self.kept = 0
        self._provenance = provenance
        self._descriptor = _open_locked(path)
        try:
            if resume == "fresh":
                self._empty()
            else:
                self._size = self._read()
                self._mend()
                if resume == "retry" and self.failed:
                    self._drop_errors()
        except BaseException:
            os.close(self._descriptor)
            raise
        self._synced = monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def append(self, line: bytes) -> None:
        """Write a record. Raises OutputError if that is impossible; no part of it is left then."""
        self._write(self._descriptor, line)
        self.kept += 1
        if monotonic() - self._synced >= SYNC_SECONDS:
            self.sync()

    def note_kept(self, error: BaseException) -> None:
        """Add to an exception that ends the call how many records are kept, and how to continue."""
        kept = sum(1 for _ in each_line(self.path))  # an interrupt may have come before the last one was counted
        if isinstance(error, OutputError) and Path(error.path) == self.path:
            error.kept = kept
        else:
            error.add_note(f"{counted(kept, 'record')} kept in {self.path}; the same call goes on.")

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
            f"{problem}: {error.strerror or message(error)}. {counted(self.kept, 'record')} kept. Correct that, and "
            "the same call goes on.",
            path=str(self.path),
            kept=self.kept,
        )

    def _read(self) -> int:
        """Take note of the records that are there, and return where the last of them ends."""
        end = 0
        for number, line in enumerate(each_line(self.path), 1):
            record = read_record(self.path, number, line)
            check_unchanged(self.path, f"line {number}", record["provenance"], self._provenance)
            if record["id"] in self.done:
                raise OutputError(
                    f"Line {number} of {self.path} is the second one of the document {record['id']!r}. Remove one of "
                    "them.",
                    path=str(self.path),
                )
            self.done[record["id"]] = bytes.fromhex(record["digest"])
            self.failed += "error" in record
            self.kept += 1
            end += len(line)
        return end

    def _mend(self) -> None:
        """Cut off the beginning of a record behind the last whole one. Raises OutputError if anything else is there."""
        length = os.fstat(self._descriptor).st_size
        if length == self._size:
            return
        with self.path.open("rb") as file:
            file.seek(self._size)
            tail = file.read(length - self._size)
        begun = tail.rstrip(b"\0") if self._size else tail  # a power cut may leave zeros
        if not is_begun(begun):
            raise _no_output(self.path)
        os.ftruncate(self._descriptor, self._size)

    def _empty(self) -> None:
        """Drop all records. Raises OutputError if the file holds anything else."""
        self._size = 0
        for number, line in enumerate(each_line(self.path), 1):
            read_record(self.path, number, line)
            self._size += len(line)
        self._mend()
        os.ftruncate(self._descriptor, 0)
        self._size = 0

    def _drop_errors(self) -> None:
        """Drop the records of errors: the others are written to a file that takes the place of this one."""
        path = self.path.resolve()  # a link stays one
        beside = path.with_name(f".{path.name}.retry")
        with suppress(FileNotFoundError):
            beside.unlink()
        descriptor = _open_locked(beside)
        self._size = 0
        try:
            for number, line in enumerate(each_line(self.path), 1):
                record = read_record(self.path, number, line)
                if "error" in record:
                    self.kept -= 1
                    if self.done.pop(record["id"], None) is not None:
                        self.failed -= 1
                else:
                    self._write(descriptor, line)
            os.fsync(descriptor)
            if os.name == "nt":  # an open file cannot be replaced there
                os.close(self._descriptor)
                os.close(descriptor)
                beside.replace(path)
                self._descriptor = _open_locked(path)
            else:
                beside.replace(path)
                os.close(self._descriptor)
                self._descriptor = descriptor
        except BaseException:
            with suppress(OSError):
                os.close(descriptor)
            with suppress(OSError):
                beside.unlink()
            raise
        sync_folder(path.parent)


class Lines:
    """Records that are written to a stream, such as standard output, from which none is read back."""

    def __init__(self, stream: SupportsWrite) -> None:
        self.path = Path("-")
        self.done: dict[str, bytes] = {}
        self.failed = 0
        self._stream = stream

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Leave the stream open: it is the caller's."""

    def append(self, line: bytes) -> None:
        """Write a record. What the stream raises is raised."""
        self._stream.write(line)
        self._stream.flush()

    def note_kept(self, error: BaseException) -> None:
        """Do nothing: nobody can continue a stream."""


def to_path(given: str | PathLike[str]) -> Path:
    """Return a path of a file. Raises OutputError for what no file can be called."""
    path = Path(fspath(given))
    try:
        is_none = b"\0" in os.fsencode(path)
    except UnicodeEncodeError:
        is_none = True
    if is_none:
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


def each_record(path: Path) -> Iterator[tuple[str, Record]]:
    """Yield the records of a file, and where each stands. Raises OutputError for a line that is none."""
    for number, line in enumerate(each_line(path), 1):
        yield f"Line {number} of {path}", read_record(path, number, line, is_own=False)


def read_record(path: Path, number: int, line: bytes, *, is_own: bool = True) -> Record:
    """Return the record of a line of a file. Raises OutputError if it is none."""
    try:
        return read_line(line, is_own=is_own)
    except (ValueError, RecursionError) as error:
        raise OutputError(
            f"Line {number} of {path} is no record of a document: {message(error)}. Correct or remove it, or pass the "
            "path of another file.",
            path=str(path),
        ) from error


def check_unchanged(path: Path, place: str, before: Mapping[str, Any], now: Provenance) -> None:
    """Raise OutputError if records are made otherwise now than one that is there."""
    changed = differences(before, now)
    if changed:
        raise OutputError(
            f"{path} cannot be resumed: since {place} was written, this has changed: {'; '.join(changed)}. Call "
            "with what it was, write to another file, or pass resume='fresh' to begin again.",
            path=str(path),
        )


def _open_locked(path: Path) -> int:
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
            found = os.fstat(descriptor)
            _check_regular(path, found)
            _lock(path, descriptor)
            if _is_at(path, found):
                if is_new:
                    sync_folder(path.parent)
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)  # another process replaced it meanwhile


def _check_regular(path: Path, found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise OutputError(f"{path} is no regular file. Pass the path of one.", path=str(path))


def _lock(path: Path, descriptor: int) -> None:
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


def _is_at(path: Path, found: os.stat_result) -> bool:
    """Tell whether a path still leads to a file that was opened."""
    try:
        return os.path.samestat(path.stat(), found)
    except FileNotFoundError:
        return False


def sync_folder(folder: Path) -> None:
    """Bring the name of a new file to the disk, where folders can be opened."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _no_output(path: Path) -> OutputError:
    return OutputError(
        f"{path} ends with something that is no record of a document, and is left as it is. Pass the path of a new "
        "file, or of one that `write_results` wrote.",
        path=str(path),
    )
