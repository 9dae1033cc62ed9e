"""Arrays in a folder, by key, for later processes.

A file is written beside its place and then moved there, so that several processes may read and write at once: a reader
has the old file or the new one, and the last writer wins. Nothing here raises: a folder that cannot be written, or a
disk that is full, means going on without.

Under the name of an entry there may be anything. Only regular files are read, since a FIFO keeps its reader waiting for
ever, and a link leads anywhere.
"""

import os
import stat
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from structured.errors import CacheWarning
from structured.errors.calling_line import warn
from structured.index.cache.arrays import Arrays, ForgedError, decode, encode
from structured.models.fetched import cache_folder

MAX_BYTES = 1 << 28
"""Of all files together."""

SUFFIX = ".arrays"

WRITING = "writing-"
"""What the names of files begin with that are being written."""

ABANDONED = 3600.0
"""Seconds after which a half-written file has nobody who is still writing it."""


@dataclass(frozen=True, slots=True)
class Clearing:
    """What became of the files of a folder that was to be emptied."""

    removed: tuple[Path, ...]
    failed: Mapping[Path, OSError]
    """What is still there, and why; the folder itself where its files are not even known."""


@dataclass(frozen=True, slots=True)
class DiskCache:
    """Files of arrays in one folder, by key. Those that were not read for longest go when all are too large."""

    folder: Path
    max_bytes: int = MAX_BYTES

    def load(self, key: str) -> dict[str, NDArray[Any]] | None:
        """Return the arrays saved under a key; None if there are none, or none that can be trusted to be whole.

        Warns with CacheWarning where something else stands in the place of a file, or a file was forged.
        """
        path = self._path(key)
        try:
            arrays = decode(_read(path, self.max_bytes))
        except ForgedError:
            self.reject(key)
            return None
        except (OSError, ValueError):
            return None
        with suppress(OSError):  # the folder may be there to read alone
            os.utime(path)
        return arrays

    def reject(self, key: str) -> None:
        """Remove the file of a key, whose content is wrong and has the right checksum; warn with CacheWarning."""
        path = self._path(key)
        with suppress(OSError):
            path.unlink()
        warn(
            CacheWarning(
                f"{path} has the right checksum and a content that cannot be right, so it is not used. Somebody may "
                "have written to the folder of the cache: see who can, and empty it with `structured cache clear`."
            )
        )

    def save(self, key: str, arrays: Arrays) -> None:
        """Save arrays under a key, in place of what was there. Who reads meanwhile has the old ones or the new."""
        data = encode(arrays)
        if len(data) > self.max_bytes:
            return
        with suppress(OSError):
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=self.folder, prefix=WRITING, suffix=".tmp")
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(data)
                Path(name).replace(self._path(key))
            except OSError:
                Path(name).unlink(missing_ok=True)
                raise
            self._make_room()

    def files(self) -> list[Path]:
        """Return the files, the one that was not read for longest first."""
        ages: list[tuple[float, Path]] = []
        with suppress(OSError):
            for path in self.folder.glob(f"*{SUFFIX}"):
                with suppress(OSError):  # another process may have removed it just now
                    ages.append((path.lstat().st_mtime, path))
        return [path for _, path in sorted(ages)]

    def size(self) -> int:
        """Return the bytes of all files."""
        return sum(_size(path) for path in self.files())

    def clear(self) -> Clearing:
        """Remove all files, those of writers that did not come to an end as well, and tell which are still there."""
        try:
            found = sorted(path for path in self.folder.iterdir() if _is_own(path.name))
        except (FileNotFoundError, NotADirectoryError):
            found = []
        except OSError as error:
            return Clearing((), {self.folder: error})
        removed: list[Path] = []
        failed: dict[Path, OSError] = {}
        for path in found:
            try:
                path.unlink()
            except FileNotFoundError:  # another process was quicker
                continue
            except OSError as error:
                failed[path] = error
            else:
                removed.append(path)
        return Clearing(tuple(removed), failed)

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}{SUFFIX}"

    def _make_room(self) -> None:
        files = self.files()
        excess = sum(_size(path) for path in files) - self.max_bytes
        for path in (*self._abandoned(ABANDONED), *files):
            if path.suffix == SUFFIX and excess <= 0:
                return
            size = _size(path)
            with suppress(OSError):
                path.unlink()
                excess -= size if path.suffix == SUFFIX else 0

    def _abandoned(self, seconds: float) -> list[Path]:
        """Return the files whose writer has not come to an end in so many seconds."""
        now = time.time()
        found: list[Path] = []
        with suppress(OSError):
            for path in self.folder.glob(f"{WRITING}*.tmp"):
                with suppress(OSError):
                    if now - path.lstat().st_mtime > seconds:
                        found.append(path)
        return found


def default_cache() -> DiskCache | None:
    """Return the cache in the user's folder; None where STRUCTURED_CACHE is "off".

    The folder is $STRUCTURED_CACHE_DIR or, without it, `structured` where the platform keeps caches.
    """
    if os.environ.get("STRUCTURED_CACHE", "").lower() in ("off", "0", "false", "no"):
        return None
    try:
        return DiskCache(cache_folder())
    except RuntimeError:  # there is no home
        return None


def _is_own(name: str) -> bool:
    """Tell whether a name is one that the cache gives to files."""
    return name.endswith(SUFFIX) or (name.startswith(WRITING) and name.endswith(".tmp"))


def _read(path: Path, max_bytes: int) -> bytes:
    """Return the content of a regular file. Raises OSError for anything else, and warns with CacheWarning.

    A file is looked at before it is opened, as opening a device may do something, and again afterwards, as it may have
    been replaced in between; opening never waits.
    """
    _require_file(path, path.lstat(), max_bytes)
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    with os.fdopen(os.open(path, flags), "rb") as file:
        _require_file(path, os.fstat(file.fileno()), max_bytes)
        return file.read(max_bytes + 1)


def _require_file(path: Path, status: os.stat_result, max_bytes: int) -> None:
    if not stat.S_ISREG(status.st_mode):
        warn(CacheWarning(f"{path} is not a regular file, so the cache does not read it. Remove it."))
        raise OSError(f"{path} is not a regular file.")
    if status.st_size > max_bytes:
        raise OSError(f"{path} is larger than any file that is written.")


def _size(path: Path) -> int:
    try:
        return path.lstat().st_size
    except OSError:
        return 0
