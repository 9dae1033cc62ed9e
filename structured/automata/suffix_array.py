"""The suffix array of a text: where its suffixes begin, in the order of their bytes.

Built by prefix doubling (Manber & Myers, "Suffix arrays: a new method for on-line string searches", 1993), in which
only what is still equal is sorted again (Larsson & Sadakane, "Faster suffix sorting", 2007); tripling, where three
ranks fit in an integer. Each round is a few calls of NumPy, so it needs no compiled code. A suffix automaton has twice
as many states, each with its successors in a table, and can only be built byte by byte.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

_FIRST = 8
"""Bytes that the first round compares: as many as an integer holds."""


def suffix_array(text: NDArray[np.uint8]) -> NDArray[np.int32]:
    """Return where the suffixes of a text without zero bytes begin, sorted.

    `banana` → `[5, 3, 1, 0, 4, 2]`
    """
    size = len(text)
    padded = np.concatenate([text, np.zeros(_FIRST, dtype=np.uint8)])
    first = np.zeros(size, dtype=np.uint64)
    for offset in range(_FIRST):
        first = first << np.uint64(8) | padded[offset : offset + size]
    order = np.argsort(first)
    rank = np.zeros(size + 1, dtype=np.int32)  # behind the end of the text: 0
    times = 3 if (size + 1) ** 3 < 1 << 63 else 2
    slots = _rank(rank, order, np.arange(size), first[order])
    compared = _FIRST
    while len(slots):
        places = order[slots]
        keys = rank[places].astype(np.int64)
        for ahead in range(1, times):
            keys = keys * (size + 1) + rank[np.minimum(places + ahead * compared, size)]
        sorting = np.argsort(keys)
        order[slots] = places[sorting]
        slots = _rank(rank, order, slots, keys[sorting])
        compared *= times
    return order.astype(np.int32)


def _rank(
    rank: NDArray[np.int32], order: NDArray[np.intp], slots: NDArray[np.intp], keys: NDArray[np.integer[Any]]
) -> NDArray[np.intp]:
    """Give the suffixes in some slots, sorted by their keys, the number of the first slot with the same key, from 1 on.

    Returns the slots whose suffixes are not told apart yet.
    """
    is_first = np.concatenate([[True], keys[1:] != keys[:-1]]) if len(keys) else np.zeros(0, dtype=np.bool_)
    rank[order[slots]] = slots[np.maximum.accumulate(np.where(is_first, np.arange(len(slots)), 0))] + 1
    is_alone = is_first & np.concatenate([is_first[1:], [True]])
    left: NDArray[np.intp] = slots[~is_alone]
    return left
