"""The cache: what a later process would have to compute again of an index, in files with a checksum.

Of an index its masks are kept, and how their states are reached: a tree of single bytes from the start. The automaton
is not read back but walked again along that tree, a fifth of the work of finding the masks; so no number of a file is a
state's, and none is ever followed by a compiled loop.
"""

import hashlib
import json
import os
import stat
import struct
import tempfile
import zlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from structured.automata import AUTOMATON_ERRORS, DEAD, Automaton
from structured.errors import CacheWarning
from structured.errors.calling_line import warn
from structured.index.cache_folder import WRITING, CacheFolder, Clearing, kept_folder
from structured.index.index import Index
from structured.index.masks import words_of
from structured.vocabulary import Vocabulary

Arrays = Mapping[str, NDArray[Any]]


class ForgedError(ValueError):
    """A file has the right checksum and a content that `encode` never writes: it was not damaged, but made so."""


MAGIC = b"structured cache 1\n"
"""The format; another one has another magic, and files of the old are strangers to it."""

TYPES: dict[str, np.dtype[Any]] = {"i4": np.dtype("<i4"), "u1": np.dtype("u1")}
"""What arrays may be of; their bytes are the same on every machine."""

MAX_RAW_BYTES = 1 << 28
"""Of the arrays of one file, whatever its header says."""

SOURCES = ("regex", "vocabulary", "automata", "index")
"""The packages that a file depends on besides the pattern and the vocabulary, which its name is a digest of as well."""


def key_of(kind: str, *parts: bytes) -> str:
    """Return the name of what is made from some parts, by this very code."""
    digest = hashlib.sha256(MAGIC + _code() + kind.encode())
    for part in parts:
        digest.update(struct.pack("<Q", len(part)))
        digest.update(part)
    return f"{kind}-{digest.hexdigest()}"


@cache
def _code() -> bytes:
    """Return a digest of the sources that decide what is kept, so that no release and no edit reads another's files."""
    digest = hashlib.sha256()
    package = Path(__file__).parents[2]
    for path in sorted(path for folder in SOURCES for path in (package / folder).rglob("*.py")):
        with suppress(OSError):
            digest.update(path.read_bytes())
    return digest.digest()


def encode(arrays: Arrays) -> bytes:
    """Return arrays as bytes: the magic, a checksum, the length of a header, the header, the compressed data."""
    header: dict[str, tuple[str, tuple[int, ...]]] = {}
    data: list[bytes] = []
    for name, array in arrays.items():
        kind = f"{array.dtype.kind}{array.dtype.itemsize}"
        header[name] = (kind, array.shape)
        data.append(np.ascontiguousarray(array, dtype=TYPES[kind]).tobytes())
    described = json.dumps(header).encode()
    body = struct.pack("<I", len(described)) + described + zlib.compress(b"".join(data), 1)
    return MAGIC + hashlib.sha256(body).digest() + body


def decode(data: bytes) -> dict[str, NDArray[Any]]:
    """Return the arrays of a file. Raises ValueError if it was damaged, and ForgedError if `encode` never wrote it."""
    start = len(MAGIC) + 32
    if data[: len(MAGIC)] != MAGIC or data[len(MAGIC) : start] != hashlib.sha256(data[start:]).digest():
        raise ValueError("The file is not of this format, or was damaged.")
    try:
        return _decode_body(data[start:])
    except (ValueError, struct.error, zlib.error, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ForgedError(f"The file has the right checksum and the wrong content: {error}") from error


def _decode_body(data: bytes) -> dict[str, NDArray[Any]]:
    """Return the arrays behind a checksum that is right."""
    (length,) = struct.unpack_from("<I", data)
    header = json.loads(data[4 : 4 + length])
    shapes = {name: (TYPES[kind], _shape(shape)) for name, (kind, shape) in header.items()}
    sizes = [dtype.itemsize * int(np.prod(shape, dtype=object)) for dtype, shape in shapes.values()]
    if sum(sizes) > MAX_RAW_BYTES:
        raise ValueError("The arrays are too large.")
    reader = zlib.decompressobj()
    raw = reader.decompress(data[4 + length :], sum(sizes) + 1)
    if len(raw) != sum(sizes) or not reader.eof:
        raise ValueError("The arrays are longer or shorter than the header says.")
    ends = np.cumsum([0, *sizes]).tolist()
    return {
        name: np.frombuffer(raw[start:end], dtype=dtype).reshape(shape).astype(dtype.newbyteorder("="))
        for (name, (dtype, shape)), start, end in zip(shapes.items(), ends[:-1], ends[1:], strict=True)
    }


def _shape(shape: object) -> tuple[int, ...]:
    if not isinstance(shape, list) or not all(type(length) is int and 0 <= length <= MAX_RAW_BYTES for length in shape):
        raise ValueError(f"{shape!r} is not a shape.")
    return tuple(shape)


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

        Warns with CacheWarning if there is something else in place of a file, or a file was forged.
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


MAX_MASK_BYTES = 1 << 24
"""Of the distinct masks saved for one index, the first ones: 1,046 over Llama 3's vocabulary."""

WALKING_SECONDS = 0.1
"""Spent on the tree before the first token; the masks of states that were not reached by then are made when needed."""


def save_index(cache: DiskCache, index: Index) -> None:
    """Save the masks that are known, and how their states are reached, if the automaton has a fingerprint."""
    key = _index_key(index)
    if key is None:
        return
    states, rows, farthest = index.known()
    order, parents, read = _spanning_tree(index.automaton, states)
    places = np.full(len(index.automaton.table), -1, dtype=np.int32)
    places[order] = np.arange(len(order), dtype=np.int32)
    used, masks = np.unique(rows, return_inverse=True)
    used = used[: MAX_MASK_BYTES // (4 * index.table.rows.shape[1])]
    kept = (masks < len(used)) & (places[states] >= 0)
    cache.save(
        key,
        {
            "parents": places[parents],
            "bytes": read,
            "places": places[states[kept]],
            "distances": index.automaton.distances[states[kept]],
            "farthest": farthest[kept],
            "masks": masks[kept].astype(np.int32),
            "rows": index.table.rows[used],
        },
    )


def load_index(cache: DiskCache, index: Index) -> None:
    """Teach a new index what another process has saved, if it has."""
    automaton = index.automaton
    key = _index_key(index)
    if key is None or (arrays := cache.load(key)) is None:
        return
    if not _is_index(arrays, index.vocabulary):
        cache.reject(key)
        return
    states = _walk_tree(automaton, arrays["parents"], arrays["bytes"])[arrays["places"]]
    right = (states != DEAD) & (automaton.distances[states] == arrays["distances"])
    index.learn(states[right], arrays["rows"], arrays["masks"][right], arrays["farthest"][right])


def _index_key(index: Index) -> str | None:
    """Return the name that an index is kept by, None if nothing of it shall be kept.

    The class of the automaton is part of it: two programs may give the same fingerprint to different languages.
    """
    if index.fingerprint is None:
        return None
    kind = type(index.automaton)
    name = f"{kind.__module__}.{kind.__qualname__}"
    return key_of("index", index.vocabulary.fingerprint, name.encode(), index.fingerprint)


def _spanning_tree(
    automaton: Automaton, states: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.uint8]]:
    """Return the states on shortest ways from the start to some states, nearest first, as far as the table knows them.

    For all but the start, also the state before each, and the byte read there.
    """
    table = automaton.table
    before, read = np.full(len(table), DEAD, dtype=np.int32), np.zeros(len(table), dtype=np.uint8)
    seen = np.zeros(len(table), dtype=np.bool_)
    level = np.array([automaton.start])
    order = [level]
    while len(level):
        seen[level] = True
        successors, first = np.unique(table[level], return_index=True)
        new = (successors > DEAD) & ~seen[successors]
        row, byte = np.divmod(first[new], 256)
        before[successors[new]], read[successors[new]] = level[row], byte
        level = successors[new]
        order.append(level)
    wanted = np.zeros(len(table), dtype=np.bool_)
    wanted[automaton.start] = True
    for state in states[seen[states]].tolist():
        above = state
        while not wanted[above]:
            wanted[above] = True
            above = before[above]
    reached = np.concatenate(order).astype(np.int32)
    reached = reached[wanted[reached]]
    return reached, before[reached[1:]], read[reached[1:]]


def _walk_tree(automaton: Automaton, parents: NDArray[np.int32], read: NDArray[np.uint8]) -> NDArray[np.int32]:
    """Return the state at each place of a tree, the start first; DEAD where there is none, or the time was up."""
    end = perf_counter() + WALKING_SECONDS
    states = [automaton.start]
    with suppress(*AUTOMATON_ERRORS):  # the text that comes to such a state will say what is wrong
        for parent, byte in zip(parents.tolist(), read.tolist(), strict=True):
            if perf_counter() > end:
                break
            states.append(automaton.step(states[parent], byte))
    missing = len(parents) + 1 - len(states)
    return np.array([*states, *[DEAD] * missing], dtype=np.int32)


def _is_index(arrays: Arrays, vocabulary: Vocabulary) -> bool:
    """Tell whether arrays are those of an index, each number inside of what it points into."""
    per_state = ("places", "distances", "farthest", "masks")
    kinds = dict.fromkeys(("parents", *per_state), ("i4", 1)) | {"bytes": ("u1", 1), "rows": ("i4", 2)}
    found = {name: (f"{array.dtype.kind}{array.dtype.itemsize}", array.ndim) for name, array in arrays.items()}
    if found != kinds or len({len(arrays[name]) for name in per_state}) > 1:
        return False
    parents, rows, unused = arrays["parents"], arrays["rows"], vocabulary.size % 32
    return (
        len(parents) == len(arrays["bytes"])
        and _within(parents, 0, None)
        and bool((parents <= np.arange(len(parents))).all())
        and _within(arrays["places"], 0, len(parents) + 1)
        and _within(arrays["farthest"], 0, None)
        and _within(arrays["masks"], 0, len(rows))
        and rows.shape[1] == words_of(vocabulary.size)
        and bool(rows.any(axis=1).all())  # there is no state after which nothing may follow
        and not (unused and (rows[:, -1].view(np.uint32) >> np.uint32(unused)).any())  # bits of no token
    )


def _within(array: NDArray[Any], least: int, end: int | None) -> bool:
    return not array.size or bool(array.min() >= least and (end is None or array.max() < end))
