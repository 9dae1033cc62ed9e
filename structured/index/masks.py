"""A table of masks: one matrix, in which every distinct mask is a row.

A row is never moved, changed or given away as long as its table lives, so its number can be kept anywhere: by a state,
in a file, on a GPU. Memory is bounded by taking no more rows past a limit, not by dropping old ones: a mask without a
row is computed anew when it is next needed, which is cheap, while a number that suddenly means another mask would be
a wrong answer. Masks that a token budget has reduced get no rows, since there may be one for each state and budget.
"""

from collections.abc import Iterable
from threading import Lock

import numpy as np
from numpy.typing import NDArray

Mask = NDArray[np.int32]
"""One bit for each token, 32 to a word: token `t` is bit `t % 32` of word `t // 32`; shape (ceil(size / 32),)."""

NO_ROW = -1
"""The row of a mask that is not in the table."""

MAX_BYTES = 1 << 28
"""Of one table: 16,743 rows for Llama 3's vocabulary."""

MAX_ROWS = 1 << 16


def words_of(size: int) -> int:
    """Return how many words a mask of so many tokens has."""
    return -(-size // 32)


def empty_mask(size: int) -> NDArray[np.uint32]:
    """Return the mask of no token, to be filled."""
    return np.zeros(words_of(size), dtype=np.uint32)


def mask_of(token_ids: Iterable[int], size: int) -> Mask:
    """Return the mask of some tokens."""
    allowed = np.zeros(32 * words_of(size), dtype=np.bool_)
    allowed[list(token_ids)] = True
    return np.packbits(allowed, bitorder="little").view(np.int32)


class MaskTable:
    """The distinct masks over one vocabulary of `size` tokens; indexes over the same vocabulary may share it."""

    def __init__(self, size: int, *, max_bytes: int = MAX_BYTES) -> None:
        words = words_of(size)
        # Memory is given by the operating system when a row is first written to, so the rest costs nothing.
        self._matrix = np.empty((min(max_bytes // (4 * words), MAX_ROWS), words), dtype=np.int32)
        self._weights = np.random.default_rng(0).integers(1 << 31, size=words, dtype=np.int32)  # of a hash code
        self._masks: list[Mask] = []
        self._rows_by_hash: dict[int, list[int]] = {}
        self._rows_by_id: dict[int, int] = {}
        self._lock = Lock()
        self.copies: dict[str, object] = {}
        """The copies of the table on devices, by their names."""

    def __repr__(self) -> str:
        return f"MaskTable({len(self._masks)} rows of {self._matrix.shape[1]} words)"

    def __len__(self) -> int:
        return len(self._masks)

    def __getitem__(self, row: int) -> Mask:
        return self._masks[row]

    @property
    def rows(self) -> NDArray[np.int32]:
        """All rows, shape (rows, words). More may follow; these stay what they are."""
        return self._matrix[: len(self._masks)]

    @property
    def is_full(self) -> bool:
        """Whether new masks get no row any more."""
        return len(self._masks) == len(self._matrix)

    def intern(self, mask: Mask) -> Mask:
        """Return the row that equals a mask, always the same array; in a full table, perhaps the mask itself."""
        key = int(mask @ self._weights)
        with self._lock:
            candidates = self._rows_by_hash.setdefault(key, [])
            for row in candidates:
                if self._masks[row].tobytes() == mask.tobytes():
                    return self._masks[row]
            if self.is_full:
                return mask
            row = len(self._masks)
            self._matrix[row] = mask
            kept: Mask = self._matrix[row]
            kept.flags.writeable = False
            candidates.append(row)
            self._rows_by_id[id(kept)] = row
            self._masks.append(kept)
            return kept

    def row_of(self, mask: Mask) -> int:
        """Return the number of a row that `intern` has returned, NO_ROW for any other array, an equal one as well."""
        return self._rows_by_id.get(id(mask), NO_ROW)


def allows(mask: Mask, token_id: int) -> bool:
    """Tell whether a token is in a mask."""
    return bool(mask[token_id >> 5] >> (token_id & 31) & 1)


def unpack(mask: Mask, size: int) -> NDArray[np.bool_]:
    """Return a mask as booleans, cut or padded with False to `size` tokens; shape (size,)."""
    return np.unpackbits(mask.view(np.uint8), count=size, bitorder="little").view(np.bool_)
