"""The cache: what a later process would have to compute again of an index, in compressed files of safetensors.

Of an index its masks are kept, and how their states are reached: a tree of single bytes from the start. The automaton
is not read back but walked again along that tree, a fifth of the work of finding the masks; so no number of a file is a
state's, and none is ever followed by a compiled loop.

A file begins with a digest of its key and its content: one that is damaged, or that belongs to another index, is not
used. A mask that allows too little would otherwise narrow every later answer, and nothing would notice.
"""

import hashlib
import zlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import Any, ClassVar
from unicodedata import unidata_version

import numpy as np
from numpy.typing import NDArray

from structured.automata import AUTOMATON_ERRORS, DEAD, Automaton
from structured.errors import CacheWarning
from structured.errors.calling_line import warn
from structured.index.cache_folder import CacheFolder, usable_cache_folder
from structured.index.index import Index

Arrays = Mapping[str, NDArray[Any]]

_Numbers = NDArray[np.int32]

FORMAT = b"structured cache 3"
"""The format, part of the names of files."""

KEY_PACKAGES = ("regex", "vocabulary", "automata", "index")
"""The packages whose sources are part of a key, beside the pattern and the vocabulary."""


@cache
def _sources_digest() -> bytes:
    """Return a digest of the sources that decide what is kept, so that no release and no edit reads another's files."""
    digest = hashlib.sha256()
    package = Path(__file__).parents[2]
    for path in sorted(path for folder in KEY_PACKAGES for path in (package / folder).rglob("*.py")):
        with suppress(OSError):
            digest.update(path.read_bytes())
    return digest.digest()


def arrays_to_bytes(key: str, arrays: Arrays) -> bytes:
    """Return the content of the file of a key: a digest of all that follows it and of the key, and the arrays."""
    from safetensors.numpy import save

    packed = zlib.compress(save({name: np.asarray(array, order="C") for name, array in arrays.items()}), 1)
    return _content_digest(key, packed) + packed


def bytes_to_arrays(key: str, content: bytes) -> dict[str, NDArray[Any]]:
    """Return the arrays of the file of a key. Raises ValueError if it was damaged, or is the file of another key."""
    from safetensors import SafetensorError
    from safetensors.numpy import load

    digest, packed = content[:DIGEST_BYTES], content[DIGEST_BYTES:]
    if digest != _content_digest(key, packed):
        raise ValueError("The file was damaged: it is not what was written for its name.")
    reader = zlib.decompressobj()
    try:
        unpacked = reader.decompress(packed, MAX_UNPACKED_BYTES)
        if not reader.eof:
            raise ValueError("The file was damaged: it is cut off, or too large.")
        return load(unpacked)
    except (zlib.error, SafetensorError, KeyError) as error:  # KeyError: of numbers that NumPy does not have
        raise ValueError(f"The file was damaged: {error}") from error


def _content_digest(key: str, packed: bytes) -> bytes:
    return hashlib.sha256(key.encode() + packed).digest()


DIGEST_BYTES = 32
"""The length of the digest that a file begins with."""

MAX_UNPACKED_BYTES = 1 << 28
"""The most bytes of the arrays of one file."""

MAX_BYTES = 1 << 28
"""The most bytes of all files of masks together."""


@dataclass(frozen=True, slots=True)
class DiskCache(CacheFolder):
    """Files of arrays in one folder, by key. Those that were not read for longest go when all are too large."""

    suffix: ClassVar[str] = ".arrays"

    folder: Path
    max_bytes: int = MAX_BYTES

    def load(self, key: str) -> dict[str, NDArray[Any]] | None:
        """Return the arrays saved under a key; None if there are none, or damaged ones, which warn of themselves."""
        path = self.path(key)
        try:
            arrays = bytes_to_arrays(key, path.read_bytes()) if path.is_file() else None
        except OSError:
            return None
        except ValueError:
            self.reject(key)
            return None
        self.mark_as_read(path)
        return arrays

    def reject(self, key: str) -> None:
        """Remove the file of a key, which was damaged; warn with CacheWarning."""
        path = self.path(key)
        with suppress(OSError):
            path.unlink()
        warn(CacheWarning(f"{path} was damaged, so it is not used: what it held is computed again, and kept anew."))

    def save(self, key: str, arrays: Arrays) -> None:
        """Save arrays under a key, in place of what was there. A reader gets the old ones or the new ones."""
        content = arrays_to_bytes(key, arrays)
        if len(content) <= self.max_bytes:
            with suppress(OSError):
                self.write(key, lambda path: path.write_bytes(content))


def default_cache() -> DiskCache | None:
    """Return the cache in the user's folder; None where STRUCTURED_CACHE is "off", or where there is no home."""
    folder = usable_cache_folder()
    return None if folder is None else DiskCache(folder)


MAX_MASK_BYTES = 1 << 24
"""The most bytes of masks saved for one index (1,046 masks of Llama 3's vocabulary); further ones are not saved."""

MAX_WALK_SECONDS = 0.1
"""Spent on the tree before the first token; the masks of states that were not reached by then are made when needed."""


def save_index(cache: DiskCache, index: Index) -> None:
    """Save the masks that are known, and how their states are reached, if the automaton has a fingerprint."""
    key = _index_key(index)
    if key is None:
        return
    states, mask_rows, sufficient_tokens = index.known_masks()
    tree_states, parents, byte_before = _spanning_tree(index.automaton, states)
    node_of_state = np.full(len(index.automaton.table), -1, dtype=np.int32)
    node_of_state[tree_states] = np.arange(len(tree_states), dtype=np.int32)
    distinct_rows, mask_numbers = np.unique(mask_rows, return_inverse=True)
    distinct_rows = distinct_rows[: MAX_MASK_BYTES // (4 * index.table.rows.shape[1])]
    is_saved = (mask_numbers < len(distinct_rows)) & (node_of_state[states] >= 0)
    cache.save(
        key,
        {
            "parents": node_of_state[parents],
            "bytes": byte_before,
            "nodes": node_of_state[states[is_saved]],
            "distances": index.automaton.distances[states[is_saved]],
            "sufficient_tokens": sufficient_tokens[is_saved],
            "mask_numbers": mask_numbers[is_saved].astype(np.int32),
            "masks": index.table.rows[distinct_rows],
        },
    )


def load_index(cache: DiskCache, index: Index) -> None:
    """Teach a new index what another process has saved, if it has."""
    automaton = index.automaton
    key = _index_key(index)
    if key is None or (arrays := cache.load(key)) is None:
        return
    try:
        states = _walk_tree(automaton, arrays["parents"], arrays["bytes"])[arrays["nodes"]]
        if not arrays["masks"].any(axis=1).all():
            raise ValueError("some mask allows nothing")  # noqa: TRY301  as what else is wrong
        is_reached = (states != DEAD) & (automaton.distances[states] == arrays["distances"])
        numbers, tokens = arrays["mask_numbers"][is_reached], arrays["sufficient_tokens"][is_reached]
        index.learn(states[is_reached], arrays["masks"], numbers, tokens)
    except (LookupError, ValueError, TypeError, OverflowError):  # somebody else wrote the file
        cache.reject(key)


def _index_key(index: Index) -> str | None:
    """Return the key that an index is saved under; None if nothing of it shall be kept.

    The class of the automaton is part of it, since two programs may give the same fingerprint to different languages,
    and the version of Unicode, since the fingerprint of a grammar has only the names of classes of characters.
    """
    if index.fingerprint is None:
        return None
    kind = type(index.automaton)
    class_name = f"{kind.__module__}.{kind.__qualname__}"
    sources = _sources_digest(), unidata_version
    parts = FORMAT, sources, index.vocabulary.fingerprint, class_name, index.fingerprint
    return f"index-{hashlib.sha256(repr(parts).encode()).hexdigest()}"


def _spanning_tree(automaton: Automaton, states: _Numbers) -> tuple[_Numbers, _Numbers, NDArray[np.uint8]]:
    """Return the states on shortest ways from the start to some states, nearest first, as far as the table knows them.

    For all but the start, also the state before each, and the byte read there.
    """
    table = automaton.table
    parent_of, byte_before = np.full(len(table), DEAD, dtype=np.int32), np.zeros(len(table), dtype=np.uint8)
    is_met = np.zeros(len(table), dtype=np.bool_)
    level = np.array([automaton.start])
    levels = [level]
    while len(level):
        is_met[level] = True
        successors, first = np.unique(table[level], return_index=True)
        is_new = (successors > DEAD) & ~is_met[successors]
        row, byte = np.divmod(first[is_new], 256)
        parent_of[successors[is_new]], byte_before[successors[is_new]] = level[row], byte
        level = successors[is_new]
        levels.append(level)
    is_in_tree = np.zeros(len(table), dtype=np.bool_)
    is_in_tree[automaton.start] = True
    for state in states[is_met[states]].tolist():
        ancestor = state
        while not is_in_tree[ancestor]:
            is_in_tree[ancestor] = True
            ancestor = parent_of[ancestor]
    tree_states = np.concatenate(levels).astype(np.int32)
    tree_states = tree_states[is_in_tree[tree_states]]
    return tree_states, parent_of[tree_states[1:]], byte_before[tree_states[1:]]


def _walk_tree(automaton: Automaton, parents: _Numbers, byte_before: NDArray[np.uint8]) -> _Numbers:
    """Return the state at each node of a tree, the start first; DEAD where there is none, or the time was up."""
    end = perf_counter() + MAX_WALK_SECONDS
    states = [automaton.start]
    with suppress(*AUTOMATON_ERRORS):  # the text that comes to such a state will say what is wrong
        for parent, byte in zip(parents.tolist(), byte_before.tolist(), strict=True):
            if perf_counter() > end:
                break
            states.append(automaton.step(states[parent], byte))
    missing = len(parents) + 1 - len(states)
    return np.array([*states, *[DEAD] * missing], dtype=np.int32)
