"""Layouts of a vocabulary: its tokens as tries and arrays, as compiled loops read them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from structured.regex.character_sets import UNESCAPED_RANGES
from structured.regex.utf8 import byte_sequences
from structured.vocabulary.trie import Trie


def _plain_sequences() -> NDArray[np.int32]:
    sequences = byte_sequences(UNESCAPED_RANGES)
    padded = [[*sequence, *[(-1, -1)] * (4 - len(sequence))] for sequence in sequences]
    return np.array(padded, dtype=np.int32)


PLAIN_SEQUENCES = _plain_sequences()
"""The characters that a JSON string may hold unescaped, as ranges of bytes, shape (sequences, 4, 2), padded with -1."""


_NEVER_INSIDE = re.compile(rb'[\x00-\x1f"]')
"""What is never in a JSON string."""

_NO_PLAIN = re.compile(rb"[\x00-\x1f\\]")
"""What is no plain character, quotes aside."""


@dataclass(frozen=True, eq=False, slots=True)
class TokenLayout:
    """A vocabulary as compiled loops read it.

    Tokens are *plain* that may come anywhere in a JSON string: whole characters, none of them special. `plain_lengths`
    tells how many characters each token has, 0 if it is not plain, shape (size,). `special_trie` has those that are not
    plain.
    """

    trie: Trie
    special_trie: Trie
    plain_lengths: NDArray[np.int32]

    @classmethod
    def from_tokens(cls, tokens: Sequence[bytes | None]) -> "TokenLayout":
        """Lay out some tokens."""
        lengths = _plain_lengths(tokens, *_spelled(tokens))
        special = [None if length else token for token, length in zip(tokens, lengths.tolist(), strict=True)]
        return cls(Trie.from_tokens(tokens), Trie.from_tokens(special), lengths)

    def holds(self, tokens: Sequence[bytes | None]) -> bool:
        """Tell whether it is of some tokens, without laying them out."""
        text, ends = _spelled(tokens)
        if not np.array_equal(self.plain_lengths, _plain_lengths(tokens, text, ends)):
            return False
        spelled = np.diff(ends, prepend=0) > 0
        special = np.flatnonzero(spelled & (self.plain_lengths == 0))
        return self.trie.holds(np.flatnonzero(spelled), text, ends) and self.special_trie.holds(special, text, ends)


@dataclass(frozen=True, eq=False, slots=True)
class StringTries:
    """The tokens that may be in a JSON string or end one, but for the plain ones."""

    inside: Trie
    """Those without a quote and without control characters: half a character, or a backslash."""
    quoted: Trie
    """Those with a quote."""
    ending: Trie
    """The same without the plain characters before the first quote: `abc",` is where `",` would be."""
    longest: int
    """The most bytes of any of them before its first quote."""

    @classmethod
    def from_tokens(cls, tokens: Mapping[int, bytes]) -> "StringTries":
        """Lay out those of some tokens; none is plain."""
        inside = {token_id: token for token_id, token in tokens.items() if not _NEVER_INSIDE.search(token)}
        quoted = {token_id: token for token_id, token in tokens.items() if b'"' in token}
        ending = {token_id: _ending(token) for token_id, token in quoted.items()}
        longest = max((len(token.partition(b'"')[0]) for token in (inside | quoted).values()), default=0)
        return cls(
            Trie.from_items(inside.items()), Trie.from_items(quoted.items()), Trie.from_items(ending.items()), longest
        )


def _ending(token: bytes) -> bytes:
    """Return a token from its first quote on, if what comes before consists of plain characters; else all of it."""
    before, quote, after = token.partition(b'"')
    is_plain = not _NO_PLAIN.search(before) and before.decode(errors="ignore").encode() == before
    return quote + after if is_plain else token


def _spelled(tokens: Sequence[bytes | None]) -> tuple[NDArray[np.uint8], NDArray[np.int32]]:
    """Return the bytes of all tokens, one behind the other, and where each token ends, shape (size,)."""
    spelled = [token or b"" for token in tokens]
    ends = np.cumsum(np.fromiter(map(len, spelled), dtype=np.int32, count=len(spelled)), dtype=np.int32)
    return np.frombuffer(b"".join(spelled), dtype=np.uint8), ends


def _plain_lengths(
    tokens: Sequence[bytes | None], text: NDArray[np.uint8], ends: NDArray[np.int32]
) -> NDArray[np.int32]:
    """Return the characters of each token if a JSON string may hold all of them unescaped (RFC 8259 §7), else 0."""

    def count(chosen: NDArray[np.bool_]) -> NDArray[np.int32]:
        """Return how many of the bytes of each token are among those chosen."""
        sums = np.concatenate([[0], np.cumsum(chosen, dtype=np.int32)])
        return np.diff(sums[ends], prepend=np.int32(0)).astype(np.int32)

    escaped = count((text < 0x20) | (text == ord('"')) | (text == ord("\\")))
    lengths = np.where(escaped > 0, np.int32(0), count(text & 0xC0 != 0x80))  # a character has one byte that begins it
    beyond_ascii = np.flatnonzero((lengths > 0) & (count(text >= 0x80) > 0)).tolist()
    lines = b"\n".join(tokens[token_id] or b"" for token_id in beyond_ascii).decode(errors="replace").split("\n")
    for token_id, line in zip(beyond_ascii, lines, strict=True) if beyond_ascii else ():
        if "\ufffd" in line and line.encode() != tokens[token_id]:  # half a character, and not the one for such
            lengths[token_id] = 0
    return lengths
