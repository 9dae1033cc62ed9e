"""Sets of characters: sorted ranges of code points, those that a JSON string escapes, and their encodings in UTF-8.

The encoding is that of RFC 3629: no surrogates, nothing above U+10FFFF, shortest forms only.
"""

import json
from collections.abc import Iterable, Iterator
from functools import lru_cache

Range = tuple[int, int]
"""Code points, both ends included."""

MAX_CODE_POINT = 0x10FFFF

_SURROGATES: Range = (0xD800, 0xDFFF)


def normalise(ranges: Iterable[Range]) -> tuple[Range, ...]:
    """Return the same code points, less the surrogates, as sorted ranges that neither overlap nor touch."""
    merged: list[Range] = []
    for low, high in sorted(ranges):
        if low > high:
            continue
        if merged and low <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(merged[-1][1], high))
        else:
            merged.append((low, high))
    if merged and merged[0][0] <= _SURROGATES[1] and _SURROGATES[0] <= merged[-1][1]:
        below = [(low, min(high, _SURROGATES[0] - 1)) for low, high in merged]
        above = [(max(low, _SURROGATES[1] + 1), high) for low, high in merged]
        return tuple((low, high) for low, high in below + above if low <= high)
    return tuple(merged)


def complement(ranges: Iterable[Range]) -> tuple[Range, ...]:
    """Return the characters outside the ranges."""
    gaps: list[Range] = []
    low = 0
    for start, end in normalise(ranges):
        gaps.append((low, start - 1))
        low = end + 1
    gaps.append((low, MAX_CODE_POINT))
    return normalise(gaps)


UNESCAPED_RANGES: tuple[Range, ...] = ((0x20, 0x21), (0x23, 0x5B), (0x5D, 0xD7FF), (0xE000, 0x10FFFF))
"""The characters that a JSON string does not escape (RFC 8259 §7), less the surrogates."""

PLAIN_ESCAPES = tuple(json.dumps(character)[1:-1] for character in ('"', "\\", *map(chr, range(0x20))))
"""The spellings of the other characters by `json.dumps`: the short escapes, and `\\u00` with small digits."""


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
