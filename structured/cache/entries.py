"""An index or a vocabulary enters; what a later process would have to find out again leaves, as arrays; and back.

Of an index its masks are kept, and the order in which its automaton made states. The automaton is not read back but
made again in that order: states get the same numbers, which takes a quarter of the time that the masks take, and then
no number of a file ever reaches a compiled loop that follows states. Of a vocabulary its tries are kept. Their numbers
do reach such loops, so that each is checked to lie inside of what it points into.
"""

from collections.abc import Mapping
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structured.automata import RegularAutomaton
from structured.cache.arrays import Arrays, key_of
from structured.cache.disk import DiskCache
from structured.errors import PatternError
from structured.index import Index
from structured.vocabulary import Layout, Trie, Vocabulary

MOST_EXPANSIONS = 1 << 14
"""Saved for one index, the first ones; a state whose number is not reached by them is found anew."""

MOST_MASK_BYTES = 1 << 24
"""Of the distinct masks saved for one index, the first ones: 1,046 over Llama 3's vocabulary."""

REPLAY_SECONDS = 0.1
"""Spent in making states before the first token; what the rest would have told is not used."""

LEAST_TOKENS = 4096
"""A smaller vocabulary is laid out more quickly than read."""


def save_index(cache: DiskCache, index: Index) -> None:
    """Save the masks that are known, and how their states came about; nothing if the automaton is not a regular one."""
    automaton = index.automaton
    if not isinstance(automaton, RegularAutomaton):
        return
    states, rows, farthest = index.known()
    used, masks = np.unique(rows, return_inverse=True)
    used = used[: MOST_MASK_BYTES // (4 * index.table.rows.shape[1])]
    kept = masks < len(used)
    cache.save(
        _index_key(index.vocabulary, automaton),
        {
            "expanded": np.array(automaton.expanded[:MOST_EXPANSIONS], dtype=np.int32),
            "states": states[kept],
            "distances": automaton.distances[states[kept]],
            "masks": masks[kept].astype(np.int32),
            "farthest": farthest[kept],
            "rows": index.table.rows[used],
        },
    )


def load_index(cache: DiskCache, index: Index) -> None:
    """Teach a new index what another process has saved, if it has."""
    automaton = index.automaton
    if not isinstance(automaton, RegularAutomaton):
        return
    arrays = cache.load(_index_key(index.vocabulary, automaton))
    if arrays is None or not _is_index(arrays, index.vocabulary):
        return
    _replay(automaton, arrays["expanded"])
    known = arrays["states"] < len(automaton)
    states = arrays["states"][known]
    if np.array_equal(automaton.distances[states], arrays["distances"][known]):
        index.learn(states, arrays["rows"], arrays["masks"][known], arrays["farthest"][known])


def load_layout(cache: DiskCache, vocabulary: Vocabulary) -> None:
    """Lay out a vocabulary as another process has, or for others to come."""
    if vocabulary.size < LEAST_TOKENS or vocabulary.is_laid_out:
        return
    key = key_of("vocabulary", vocabulary.fingerprint)
    arrays = cache.load(key)
    if arrays is not None and _is_layout(arrays, vocabulary.size):
        vocabulary.lay_out(Layout(_trie(arrays, "all"), _trie(arrays, "special"), arrays["plain_lengths"]))
    else:
        layout = vocabulary.layout
        tries = _trie_arrays(layout.trie, "all") | _trie_arrays(layout.special_trie, "special")
        cache.save(key, {**tries, "plain_lengths": layout.plain_lengths})


def _index_key(vocabulary: Vocabulary, automaton: RegularAutomaton) -> str:
    program = automaton.program
    arrays = (program.nodes, program.operands, program.text, np.array([program.root]))
    return key_of("index", vocabulary.fingerprint, *(array.tobytes() for array in arrays))


def _replay(automaton: RegularAutomaton, expanded: NDArray[np.int32]) -> None:
    """Make states in a given order; stop where it takes long, or where the order cannot be that of this automaton."""
    end = perf_counter() + REPLAY_SECONDS
    for state in expanded.tolist():
        if state >= len(automaton) or perf_counter() > end:
            return
        try:
            automaton.expand(state)
        except PatternError:  # the text that would need this state will say so
            return


def _is_index(arrays: Arrays, vocabulary: Vocabulary) -> bool:
    """Tell whether arrays are those of an index, each number inside of what it points into."""
    per_state = ("states", "distances", "masks", "farthest")
    kinds = dict.fromkeys(("expanded", *per_state), ("i4", 1)) | {"rows": ("i4", 2)}
    if not _have_kinds(arrays, kinds) or len({len(arrays[name]) for name in per_state}) > 1:
        return False
    rows, unused = arrays["rows"], vocabulary.size % 32
    return (
        all(_within(arrays[name], 0, None) for name in ("expanded", *per_state))
        and _within(arrays["masks"], 0, len(rows))
        and rows.shape[1] == -(-vocabulary.size // 32)
        and not (unused and (rows[:, -1].view(np.uint32) >> np.uint32(unused)).any())  # bits of no token
    )


def _is_layout(arrays: Arrays, size: int) -> bool:
    """Tell whether arrays are two tries of so many tokens and the lengths of those, as `_is_index` does."""
    kinds = {"plain_lengths": ("i4", 1)}
    for which in ("all", "special"):
        kinds |= {f"{which}_{name}": ("u1" if name == "byte" else "i4", 1) for name in _TRIE_ARRAYS}
    return (
        _have_kinds(arrays, kinds)
        and len(arrays["plain_lengths"]) == size
        and _within(arrays["plain_lengths"], 0, len(arrays["all_byte"]))
        and all(
            _is_trie({name: arrays[f"{which}_{name}"] for name in _TRIE_ARRAYS}, size) for which in ("all", "special")
        )
    )


def _is_trie(arrays: Arrays, size: int) -> bool:
    count = len(arrays["byte"])
    depth, subtree_end, token_start = arrays["depth"], arrays["subtree_end"], arrays["token_start"]
    return (
        len(depth) == len(subtree_end) == len(token_start) - 1 == count
        and _within(depth, 0, None)
        and bool((np.diff(depth, prepend=np.int32(-1)) <= 1).all())
        and bool((subtree_end > np.arange(count)).all())
        and _within(subtree_end, 0, count + 1)
        and bool((np.diff(token_start) >= 0).all())
        and _within(token_start, 0, len(arrays["token_ids"]) + 1)
        and _within(arrays["token_ids"], 0, size)
    )


_TRIE_ARRAYS = ("byte", "depth", "subtree_end", "token_start", "token_ids")


def _trie(arrays: Arrays, which: str) -> Trie:
    byte, depth, subtree_end, token_start, token_ids = (arrays[f"{which}_{name}"] for name in _TRIE_ARRAYS)
    return Trie(byte, depth, subtree_end, token_start, token_ids, int(depth.max(initial=-1)) + 1)


def _trie_arrays(trie: Trie, which: str) -> dict[str, NDArray[Any]]:
    return {f"{which}_{name}": getattr(trie, name) for name in _TRIE_ARRAYS}


def _have_kinds(arrays: Arrays, kinds: Mapping[str, tuple[str, int]]) -> bool:
    """Tell whether there are exactly the arrays named, each with its type and number of axes."""
    return {name: (f"{array.dtype.kind}{array.dtype.itemsize}", array.ndim) for name, array in arrays.items()} == kinds


def _within(array: NDArray[Any], least: int, end: int | None) -> bool:
    """Tell whether all numbers are at least `least` and, if there is an end, less than that."""
    return not array.size or bool(array.min() >= least and (end is None or array.max() < end))
