"""A folder of cache entries: their limit, the removal of the least recently read ones, and of all.

An entry is written beside its place and then moved there, so that several processes may read and write at once. Nothing
here raises: a folder that cannot be written, or a disk that is full, means going on without.
"""

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

WRITING_PREFIX = "writing-"
"""The beginning of the names of entries that are being written."""

WRITING_PATTERN = f"{WRITING_PREFIX}*.tmp"

ABANDONED_SECONDS = 3600.0
"""Seconds after which a half-written entry counts as abandoned by its writer."""


@dataclass(frozen=True, slots=True)
class Clearing:
    """The result of emptying a folder: the entries that were removed, and those that could not be."""

    removed: tuple[Path, ...]
    failed: Mapping[Path, OSError]
    """The error for each entry that is still there; for the folder itself where its entries cannot be listed."""


@dataclass(frozen=True, slots=True)
class CacheFolder:
    """Entries in one folder, by key. Those that were not read for longest go when all are too large."""

    suffix: ClassVar[str]
    """The end of the names of entries."""

    folder: Path
    max_bytes: int

    def files(self) -> list[Path]:
        """Return the entries, the one that was not read for longest first."""
        return [path for _, path in self._by_age(f"*{self.suffix}")]

    def size(self) -> int:
        """Return the bytes of all entries."""
        return sum(self.size_of(path) for path in self.files())

    def clear(self) -> Clearing:
        """Remove all entries, half-written ones too, and return which were removed and which are still there."""
        try:
            patterns = f"*{self.suffix}", WRITING_PATTERN
            entries = sorted(path for path in self.folder.iterdir() if any(map(path.match, patterns)))
        except (FileNotFoundError, NotADirectoryError):
            entries = []
        except OSError as error:
            return Clearing((), {self.folder: error})
        removed: list[Path] = []
        failed: dict[Path, OSError] = {}
        for path in entries:
            try:
                self.remove(path)
            except FileNotFoundError:  # another process was quicker
                continue
            except OSError as error:
                failed[path] = error
            else:
                removed.append(path)
        return Clearing(tuple(removed), failed)

    def path(self, key: str) -> Path:
        """Return where the entry of a key is, or would be."""
        return self.folder / f"{key}{self.suffix}"

    def write(self, key: str, make: Callable[[Path], object]) -> None:
        """Let a function write an entry to a path, and then move it to its place. Raises OSError if it cannot."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=self.folder, prefix=WRITING_PREFIX, suffix=".tmp") as temporary:
            entry = Path(temporary) / "entry"
            make(entry)
            entry.replace(self.path(key))
        self.make_room()

    def remove(self, path: Path) -> None:
        """Remove an entry, a file or a folder. Raises OSError."""
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()

    def size_of(self, path: Path) -> int:
        """Return the bytes of an entry, or of the files in it; 0 if it cannot be found out."""
        with suppress(OSError):
            return sum(file.lstat().st_size for file in ([*path.iterdir()] if path.is_dir() else [path]))
        return 0

    def mark_as_read(self, path: Path) -> None:
        """Note that an entry was read now, so that it is the last to be removed."""
        with suppress(OSError):  # the folder may be there to read alone
            os.utime(path)

    def make_room(self) -> None:
        """Remove what writers have abandoned, then the entries that were not read for longest, down to the limit."""
        files = self.files()
        sizes = {path: self.size_of(path) for path in files}
        excess = sum(sizes.values()) - self.max_bytes
        for changed, path in self._by_age(WRITING_PATTERN):
            with suppress(OSError):
                if time.time() - changed > ABANDONED_SECONDS:
                    self.remove(path)
        for path in files:
            if excess <= 0:
                return
            with suppress(OSError):
                self.remove(path)
                excess -= sizes[path]

    def _by_age(self, names: str) -> list[tuple[float, Path]]:
        """Return the entries whose names match a pattern, each after the time of its change, oldest first."""
        entries: list[tuple[float, Path]] = []
        with suppress(OSError):
            for path in self.folder.glob(names):
                with suppress(OSError):  # another process may have removed it just now
                    entries.append((path.lstat().st_mtime, path))
        return sorted(entries)


def usable_cache_folder() -> Path | None:
    """Return the folder of all that is kept; None where STRUCTURED_CACHE is "off", or where there is no home.

    The folder is $STRUCTURED_CACHE_DIR or, without it, `structured` where the platform keeps caches.
    """
    if os.environ.get("STRUCTURED_CACHE", "").lower() in ("off", "0", "false", "no"):
        return None
    try:
        return cache_folder()
    except RuntimeError:  # there is no home
        return None


def cache_folder() -> Path:
    """Return the folder that the environment names, or the platform's. Raises RuntimeError if there is no home."""
    chosen_folder = os.environ.get("STRUCTURED_CACHE_DIR")
    if chosen_folder:
        return Path(chosen_folder).expanduser()
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or str(Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = str(Path.home() / "Library" / "Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "structured"
