"""UTF-8 encodings of a set of characters, in as few sequences of byte ranges as possible.

The encoding is that of RFC 3629: no surrogates, nothing above U+10FFFF, shortest forms only.
"""

from collections.abc import Iterator
from functools import lru_cache

from structured.regex.character_sets import Range

ByteRange = tuple[int, int]
"""Bytes, both ends included."""

_LENGTH_LIMITS = (0x7F, 0x7FF, 0xFFFF, 0x10FFFF)


@lru_cache(maxsize=256)
def byte_sequences(ranges: tuple[Range, ...]) -> tuple[tuple[ByteRange, ...], ...]:
    """Return sequences of byte ranges that together match exactly the encodings of the characters in some ranges.

    `((0x41, 0x43), (0xE9, 0xE9))` → `(((0x41, 0x43),), ((0xC3, 0xC3), (0xA9, 0xA9)))`
    """
    return tuple(sequence for low, high in ranges for sequence in _split(low, high))


def _split(low: int, high: int) -> Iterator[tuple[ByteRange, ...]]:
    """Split a range where the encoding gets longer, then where its trailing bytes stop being free."""
    for limit in _LENGTH_LIMITS:
        if low <= limit < high:
            yield from _split(low, limit)
            yield from _split(limit + 1, high)
            return
    for trailing in (1, 2, 3):
        block = (1 << 6 * trailing) - 1
        if low & ~block != high & ~block and high > 0x7F:
            if low & block:
                yield from _split(low, low | block)
                yield from _split((low | block) + 1, high)
                return
            if high & block != block:
                yield from _split(low, (high & ~block) - 1)
                yield from _split(high & ~block, high)
                return
    yield tuple(zip(chr(low).encode(), chr(high).encode(), strict=True))
