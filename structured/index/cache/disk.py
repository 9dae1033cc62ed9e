"""Arrays in a folder, by key, for later processes.

Of two processes that write one file at once, the last wins; a reader has the old file or the new one.

Under the name of an entry there may be anything. Only regular files are read, since a FIFO keeps its reader waiting for
ever, and a link leads anywhere.
"""

import os
import stat
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from numpy.typing import NDArray

from structured.errors import CacheWarning
from structured.errors.calling_line import warn
from structured.index.cache.arrays import Arrays, ForgedError, decode, encode
from structured.index.cache_folder import WRITING, CacheFolder, Clearing, kept_folder

__all__ = ["Clearing", "DiskCache", "default_cache"]

MAX_BYTES = 1 << 28
"""Of all files together."""


@dataclass(frozen=True, slots=True)
class DiskCache(CacheFolder):
    """Files of arrays in one folder, by key. Those that were not read for longest go when all are too large."""

    suffix: ClassVar[str] = ".arrays"

    folder: Path
    max_bytes: int = MAX_BYTES

    def load(self, key: str) -> dict[str, NDArray[Any]] | None:
        """Return the arrays saved under a key; None if there are none, or none that can be trusted to be whole.

        Warns with CacheWarning where something else stands in the place of a file, or a file was forged.
        """
        path = self.path(key)
        try:
            arrays = decode(_read(path, self.max_bytes))
        except ForgedError:
            self.reject(key)
            return None
        except (OSError, ValueError):
            return None
        self.note_reading(path)
        return arrays

    def reject(self, key: str) -> None:
        """Remove the file of a key, whose content is wrong and has the right checksum; warn with CacheWarning."""
        path = self.path(key)
        with suppress(OSError):
            path.unlink()
        warn(
            CacheWarning(
                f"{path} has the right checksum and a content that cannot be right, so it is not used. Somebody may "
                "have written to the folder of the cache: see who can, and empty it with `structured cache clear`."
            )
        )

    def save(self, key: str, arrays: Arrays) -> None:
        """Save arrays under a key, in place of what was there. A reader gets the old ones or the new ones."""
        data = encode(arrays)
        if len(data) > self.max_bytes:
            return
        with suppress(OSError):
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=self.folder, prefix=WRITING, suffix=".tmp")
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(data)
                Path(name).replace(self.path(key))
            except OSError:
                Path(name).unlink(missing_ok=True)
                raise
            self.make_room()


def default_cache() -> DiskCache | None:
    """Return the cache in the user's folder; None where STRUCTURED_CACHE is "off", or where there is no home."""
    folder = kept_folder()
    return None if folder is None else DiskCache(folder)


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
