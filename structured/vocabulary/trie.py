"""A trie of tokens, as byte strings, in a few arrays.

The children of a node lie side by side, so that a walk which skips most of them reads them in one go. The nodes in
depth-first order, each with the end of its subtree, was rejected: skipping a subtree there is a jump to unread memory,
and on a cold cache a walk consists of such jumps.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structured.machine_code.growing_arrays import viewed
from structured.machine_code.notation import Bytes, Ints, compiled_class
from structured.regex.character_sets import UNESCAPED_RANGES, byte_sequences


@compiled_class
class TrieArrays:
    """The arrays of a trie as loops read them."""

    byte: Bytes
    first: Ints
    token_start: Ints
    token_ids: Ints
    height: int

    def __init__(self, byte: Any, first: Any, token_start: Any, token_ids: Any, height: int) -> None:
        self.byte = viewed(byte)
        self.first = viewed(first)
        self.token_start = viewed(token_start)
        self.token_ids = viewed(token_ids)
        self.height = height

    def __reduce__(self) -> Any:
        arrays = (
            np.asarray(self.byte),
            np.asarray(self.first),
            np.asarray(self.token_start),
            np.asarray(self.token_ids),
        )
        return TrieArrays, (*arrays, self.height)


@dataclass(frozen=True, eq=False, slots=True)
class Trie:
    """The tokens as a trie, its nodes in breadth-first order, children by byte; node 0 is the root.

    The children of node `i` are the nodes from `first[i]` up to, not including, `first[i + 1]`, and the tokens that end
    at it are `token_ids[token_start[i]:token_start[i + 1]]`; more than one where different ids have the same bytes.
    """

    byte: NDArray[np.uint8]
    first: NDArray[np.int32]
    token_start: NDArray[np.int32]
    token_ids: NDArray[np.int32]
    height: int
    """The number of bytes of the longest token."""
    arrays: TrieArrays = field(init=False, repr=False)
    """The same for loops."""

    def __post_init__(self) -> None:
        arrays = TrieArrays(self.byte, self.first, self.token_start, self.token_ids, self.height)
        object.__setattr__(self, "arrays", arrays)

    @classmethod
    def from_tokens(cls, tokens: Sequence[bytes | None]) -> "Trie":
        """Lay out the tokens that have bytes."""
        return cls.from_items((token_id, token) for token_id, token in enumerate(tokens) if token)

    @classmethod
    def from_items(cls, items: Iterable[tuple[int, bytes]]) -> "Trie":
        """Lay out ids, each with the bytes that lead to it, at least one."""
        ordered = sorted((token, token_id) for token_id, token in items)
        spelled = [token for token, _ in ordered]
        text = np.frombuffer(b"".join(spelled), dtype=np.uint8)
        lengths = np.array([*map(len, spelled)], dtype=np.int64)
        starts = np.cumsum(lengths) - lengths
        nodes = np.zeros(len(ordered), dtype=np.int64)  # of the bytes that have been read of each token
        bytes_read, parents = [np.zeros(1, dtype=np.uint8)], [np.zeros(0, dtype=np.int64)]
        size, height = 1, 0
        longer = np.arange(len(ordered))
        while len(longer):  # tokens with the same beginning are side by side, and have one node
            byte, parent = text[starts[longer] + height], nodes[longer]
            is_new = np.append(True, (np.diff(byte) != 0) | (np.diff(parent) != 0))
            nodes[longer] = size - 1 + np.cumsum(is_new)
            bytes_read.append(byte[is_new])
            parents.append(parent[is_new])
            size += int(is_new.sum())
            height += 1
            longer = longer[lengths[longer] > height]
        children = np.bincount(np.concatenate(parents), minlength=size)
        by_end = np.argsort(nodes, kind="stable")
        return cls(
            np.concatenate(bytes_read),
            np.concatenate([[1], 1 + np.cumsum(children)]).astype(np.int32),
            np.searchsorted(nodes[by_end], np.arange(size + 1)).astype(np.int32),
            np.array([token_id for _, token_id in ordered], dtype=np.int32)[by_end],
            height,
        )

    def with_lengths(self, longer_than: int, max_bytes: int) -> "Trie":
        """Return the trie of the tokens that have more than `longer_than` bytes, and at most `max_bytes`."""
        level_starts, end = [0], 1  # of each depth, and the end of the last
        while level_starts[-1] < end:  # the children of a level are the next
            level_starts.append(end)
            end = int(self.first[end])
        depth = np.repeat(np.arange(len(level_starts) - 1), np.diff(level_starts))
        is_kept = (np.diff(self.token_start) > 0) & (depth > longer_than) & (depth <= max_bytes)
        is_kept_token = np.repeat(is_kept, np.diff(self.token_start))
        counts = np.where(is_kept, np.diff(self.token_start), 0)
        nodes = np.arange(len(self.byte), dtype=np.int32)
        parents = np.concatenate([nodes[:1], np.repeat(nodes, np.diff(self.first))])
        for start, end in reversed(list(pairwise(level_starts[1:]))):
            is_kept[parents[start:end][is_kept[start:end]]] = True
        is_kept[0] = True
        new_number = np.cumsum(is_kept) - 1
        children = np.bincount(new_number[parents[1:][is_kept[1:]]], minlength=int(is_kept.sum()))
        return Trie(
            self.byte[is_kept],
            np.concatenate([[1], 1 + np.cumsum(children)]).astype(np.int32),
            np.concatenate([[0], np.cumsum(counts[is_kept])]).astype(np.int32),
            self.token_ids[is_kept_token],
            int(depth[is_kept].max()),
        )

    def child(self, node: int, byte: int) -> int:
        """Return the child of a node by a byte, -1 if it has none."""
        first, end = int(self.first[node]), int(self.first[node + 1])
        if first == end:
            return -1
        place = first + int(self.byte[first:end].searchsorted(byte))
        return place if place < end and self.byte[place] == byte else -1

    def tokens_at(self, node: int) -> list[int]:
        """Return the tokens that end at a node."""
        token_ids: list[int] = self.token_ids[self.token_start[node] : self.token_start[node + 1]].tolist()
        return token_ids

    def nodes_along(self, text: bytes) -> list[int]:
        """Return the nodes along a text, from the root on, as far as tokens go."""
        nodes = [0]
        for byte in text:
            node = self.child(nodes[-1], byte)
            if node < 0:
                break
            nodes.append(node)
        return nodes

    def prefix_tokens(self, text: bytes) -> tuple[int, ...]:
        """Return the tokens that a text begins with, the shortest first."""
        return tuple(token_id for node in self.nodes_along(text) for token_id in self.tokens_at(node))

    def tokens_along(self, text: bytes) -> list[int]:
        """Return the tokens that a text begins with, and those that begin with the whole text.

        `ab` → `a`, `ab`, `abc`
        """
        token_ids = [*self.prefix_tokens(text)]
        *before, node = self.nodes_along(text)
        if len(before) < len(text):
            return token_ids
        first, end = int(self.first[node]), int(self.first[node + 1])
        while first < end:  # the descendants of a node lie side by side, level by level
            token_ids += self.token_ids[self.token_start[first] : self.token_start[end]].tolist()
            first, end = int(self.first[first]), int(self.first[end])
        return token_ids


UNESCAPED_SEQUENCES = np.array(
    [[*sequence, *[(-1, -1)] * (4 - len(sequence))] for sequence in byte_sequences(UNESCAPED_RANGES)], dtype=np.int32
)
"""The characters that JSON strings contain unescaped, as ranges of bytes, shape (sequences, 4, 2), padded with -1."""


@dataclass(frozen=True, eq=False, slots=True)
class StringTries:
    """The tokens that may be in a JSON string or end one, except those of unescaped characters alone."""

    without_quote: Trie
    """The tokens without a quote or control characters: half a character, or a backslash."""
    with_quote: Trie
    """The tokens with a quote."""
    from_quote: Trie
    """The same without the unescaped characters before the first quote: `abc",` is at the place of `",`."""
    max_bytes_before_quote: int
    """The most bytes of a token before its first quote."""

    @classmethod
    def from_tokens(cls, tokens: Mapping[int, bytes]) -> "StringTries":
        """Lay out tokens, none of them of unescaped characters alone."""
        without_quote = {number: token for number, token in tokens.items() if not re.search(rb'[\x00-\x1f"]', token)}
        with_quote = {number: token for number, token in tokens.items() if b'"' in token}
        from_quote = {number: _from_quote(token) for number, token in with_quote.items()}
        before_quote = [token.partition(b'"')[0] for token in (without_quote | with_quote).values()]
        return cls(
            Trie.from_items(without_quote.items()),
            Trie.from_items(with_quote.items()),
            Trie.from_items(from_quote.items()),
            max(map(len, before_quote), default=0),
        )


def _from_quote(token: bytes) -> bytes:
    """Return a token from its first quote on, if only unescaped characters come before; else all of it."""
    before, quote, after = token.partition(b'"')
    is_unescaped = not re.search(rb"[\x00-\x1f\\]", before) and before.decode(errors="ignore").encode() == before
    return quote + after if is_unescaped else token


def unescaped_lengths(tokens: Sequence[bytes | None]) -> NDArray[np.int32]:
    """Return the characters of each token if a JSON string may contain all of them unescaped (RFC 8259 §7), else 0."""
    spelled = [token or b"" for token in tokens]
    text = np.frombuffer(b"".join(spelled), dtype=np.uint8)
    ends = np.cumsum(np.fromiter(map(len, spelled), dtype=np.int32, count=len(spelled)), dtype=np.int32)

    def count(chosen: NDArray[np.bool_]) -> NDArray[np.int32]:
        """Return the number of chosen bytes in each token."""
        sums = np.concatenate([[0], np.cumsum(chosen, dtype=np.int32)])
        return np.diff(sums[ends], prepend=np.int32(0)).astype(np.int32)

    escaped = count((text < 0x20) | (text == ord('"')) | (text == ord("\\")))
    lengths = np.where(escaped > 0, np.int32(0), count(text & 0xC0 != 0x80))  # one byte begins each character
    beyond_ascii = np.flatnonzero((lengths > 0) & (count(text >= 0x80) > 0)).tolist()
    lines = b"\n".join(spelled[token_id] for token_id in beyond_ascii).decode(errors="replace").split("\n")
    for token_id, line in zip(beyond_ascii, lines, strict=True) if beyond_ascii else ():
        if "\ufffd" in line and line.encode() != spelled[token_id]:  # half a character
            lengths[token_id] = 0
    return lengths
