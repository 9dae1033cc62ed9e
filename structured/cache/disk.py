"""Arrays enter under a key; a file of them lies in a folder, and they leave again in another process.

A file is written beside its place and then moved there, so that several processes may read and write at once: a reader
has the old file or the new one, and the last writer wins. Nothing here raises: a folder that cannot be written, or a
disk that is full, means going on without.
"""

import os
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from structured.cache.arrays import Arrays, decode, encode

MOST_BYTES = 1 << 28
"""Of all files together."""

SUFFIX = ".arrays"

ABANDONED = 3600.0
"""Seconds after which a half-written file has nobody who is still writing it."""


@dataclass(frozen=True, slots=True)
class DiskCache:
    """Files of arrays in one folder, by key. Those that were not read for longest go when all are too large."""

    folder: Path
    most_bytes: int = MOST_BYTES

    def load(self, key: str) -> dict[str, NDArray[Any]] | None:
        """Return the arrays saved under a key; None if there are none, or none that can be trusted to be whole."""
        path = self._path(key)
        try:
            arrays = decode(path.read_bytes())
        except (OSError, ValueError):
            return None
        with suppress(OSError):  # the folder may be there to read alone
            os.utime(path)
        return arrays

    def save(self, key: str, arrays: Arrays) -> None:
        """Save arrays under a key, in place of what was there. Who reads meanwhile has the old ones or the new."""
        data = encode(arrays)
        if len(data) > self.most_bytes:
            return
        with suppress(OSError):
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=self.folder, prefix="writing-", suffix=".tmp")
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
                    ages.append((path.stat().st_mtime, path))
        return [path for _, path in sorted(ages)]

    def size(self) -> int:
        """Return the bytes of all files."""
        return sum(_size(path) for path in self.files())

    def clear(self) -> int:
        """Remove all files; return how many there were."""
        files = self.files()
        for path in (*files, *self._abandoned(0.0)):
            with suppress(OSError):
                path.unlink()
        return len(files)

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}{SUFFIX}"

    def _make_room(self) -> None:
        files = self.files()
        excess = sum(_size(path) for path in files) - self.most_bytes
        for path in (*self._abandoned(ABANDONED), *files):
            if path.suffix == SUFFIX:
                if excess <= 0:
                    return
                excess -= _size(path)
            with suppress(OSError):
                path.unlink()

    def _abandoned(self, seconds: float) -> list[Path]:
        """Return the files whose writer has not come to an end in so many seconds."""
        now = time.time()
        found: list[Path] = []
        with suppress(OSError):
            for path in self.folder.glob("writing-*.tmp"):
                with suppress(OSError):
                    if now - path.stat().st_mtime > seconds:
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


def cache_folder() -> Path:
    """Return the folder that the environment names, or the platform's."""
    named = os.environ.get("STRUCTURED_CACHE_DIR")
    if named:
        return Path(named).expanduser()
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or str(Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = str(Path.home() / "Library" / "Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "structured"


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
