"""A trie of tokens, as byte strings, in a few arrays.

The children of a node lie side by side, so that a walk which skips most of them reads them in one go. The nodes in
depth-first order, each with the end of its subtree, was rejected: skipping a subtree there is a jump to unread memory,
and on a cold cache a walk consists of such jumps.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structured.machine_code.growing_arrays import viewed, zeros
from structured.machine_code.notation import Bytes, Ints, Text, compiled_class, loop, rare_loop, walk_entry
from structured.regex.character_sets import UNESCAPED_RANGES, byte_sequences


@compiled_class
class TrieArrays:
    """The arrays of a trie as loops read them."""

    byte: Bytes
    first: Ints
    token_start: Ints
    token_ids: Ints
    height: int
    mask_words: int
    """The words of a mask that has a bit for each token."""

    def __init__(self, byte: Any, first: Any, token_start: Any, token_ids: Any, height: int) -> None:
        self.byte = viewed(byte)
        self.first = viewed(first)
        self.token_start = viewed(token_start)
        self.token_ids = viewed(token_ids)
        self.height = height
        self.mask_words = int(token_ids.max(initial=-1) >> 5) + 1

    def __reduce__(self) -> Any:
        arrays = (
            np.asarray(self.byte),
            np.asarray(self.first),
            np.asarray(self.token_start),
            np.asarray(self.token_ids),
        )
        return TrieArrays, (*arrays, self.height)


@rare_loop
def refuse_mask(words: int) -> None:
    """Raise ValueError, because a mask is too short."""
    raise ValueError(f"A mask of {words} words is too short for the tokens of the trie.")


@loop
def check_mask(trie: TrieArrays, words: int) -> None:
    """Raise ValueError if a mask of so many words is too short for the tokens of a trie."""
    if words < trie.mask_words:
        refuse_mask(words)


FEW = 32
"""The most tokens that are sorted by insertion, which is faster for few."""


@compiled_class
class TrieLayout:
    """The trie of some tokens in the making.

    `order` are the tokens, those below a node side by side, from `low` up to `high`; `ending` those that have ended.
    `starts` and `lengths` are where their bytes are, as in `TokenBytes`.
    """

    node_count: int
    starts: Ints
    lengths: Ints
    order: Ints
    ending: Ints
    scratch: Ints
    counts: Ints
    byte: Text
    first: Ints
    token_start: Ints
    low: Ints
    high: Ints

    def __init__(self, starts: Any, lengths: Any) -> None:
        count, room = len(lengths), int(lengths.sum()) + 2
        self.node_count = 1
        self.starts = viewed(starts)
        self.lengths = viewed(lengths)
        self.order = viewed(np.arange(count, dtype=np.int32))
        self.ending = zeros(count)
        self.scratch = zeros(count)
        self.counts = zeros(257)
        self.byte = viewed(np.zeros(room, dtype=np.uint8))
        self.first = zeros(room)
        self.token_start = zeros(room)
        self.low = zeros(room)
        self.high = zeros(room)
        self.high[0] = count

    def result(self) -> tuple[Any, Any, Any, Any]:
        """Return the arrays of the trie; its tokens by their places in `starts`."""
        count = self.node_count
        first, token_start = np.asarray(self.first)[: count + 1], np.asarray(self.token_start)[: count + 1]
        return np.asarray(self.byte)[:count].copy(), first.copy(), token_start.copy(), np.asarray(self.ending)


@loop
def key_of(text: Bytes, layout: TrieLayout, token: int, depth: int) -> int:
    """Return one more than the byte of a token at a depth, 0 where it ends."""
    return 0 if layout.lengths[token] == depth else 1 + text[layout.starts[token] + depth]


@loop
def sort_few(text: Bytes, layout: TrieLayout, low: int, high: int, depth: int) -> None:
    """Sort the tokens at some places by their bytes at a depth, ended ones first; equal ones stay in order."""
    for place in range(low + 1, high):
        token = layout.order[place]
        key = key_of(text, layout, token, depth)
        target = place
        while target > low and key_of(text, layout, layout.order[target - 1], depth) > key:
            layout.order[target] = layout.order[target - 1]
            target -= 1
        layout.order[target] = token


@loop
def sort_many(text: Bytes, layout: TrieLayout, low: int, high: int, depth: int) -> None:
    """Sort as `sort_few`, by counting."""
    for key in range(257):
        layout.counts[key] = 0
    for place in range(low, high):
        layout.counts[key_of(text, layout, layout.order[place], depth)] += 1
    target = low
    for key in range(257):
        count = layout.counts[key]
        layout.counts[key] = target
        target += count
    for place in range(low, high):
        layout.scratch[place] = layout.order[place]
    for place in range(low, high):
        key = key_of(text, layout, layout.scratch[place], depth)
        layout.order[layout.counts[key]] = layout.scratch[place]
        layout.counts[key] += 1


@walk_entry
def lay_out(text: Bytes, layout: TrieLayout) -> None:
    """Make the nodes of a trie, each after all that are nearer to the root."""
    node, depth, level_past, ended = 0, 0, 1, 0
    while node < layout.node_count:
        if node == level_past:
            depth, level_past = depth + 1, layout.node_count
        place, high = layout.low[node], layout.high[node]
        if high - place > FEW:
            sort_many(text, layout, place, high, depth)
        elif high - place > 1:
            sort_few(text, layout, place, high, depth)
        layout.token_start[node], layout.first[node] = ended, layout.node_count
        last_key = 0
        while place < high:
            key = key_of(text, layout, layout.order[place], depth)
            if key == 0:
                layout.ending[ended] = layout.order[place]
                ended += 1
            elif key != last_key:
                layout.byte[layout.node_count], layout.low[layout.node_count] = key - 1, place
                layout.node_count += 1
                last_key = key
            place += 1
            if key > 0:
                layout.high[layout.node_count - 1] = place
        node += 1
    layout.token_start[node], layout.first[node] = ended, node


@dataclass(frozen=True, eq=False, slots=True)
class TokenBytes:
    """The bytes of tokens side by side: those of token `i` are `text[starts[i] : starts[i] + lengths[i]]`."""

    text: NDArray[np.uint8]
    starts: NDArray[np.int32]
    lengths: NDArray[np.int32]
    """0 for a token without bytes."""

    @classmethod
    def of(cls, tokens: Sequence[bytes | None]) -> "TokenBytes":
        """Put the bytes of tokens side by side."""
        spelled = [token or b"" for token in tokens]
        lengths = np.fromiter(map(len, spelled), dtype=np.int32, count=len(spelled))
        text = np.frombuffer(b"".join(spelled), dtype=np.uint8)
        return cls(text, np.cumsum(lengths, dtype=np.int32) - lengths, lengths)

    def counts(self, is_counted: NDArray[np.bool_]) -> NDArray[np.int32]:
        """Return how many bytes of each token are counted, by a flag for each byte of `text`."""
        sums = np.zeros(len(self.text) + 1, dtype=np.int32)
        np.cumsum(is_counted, out=sums[1:])
        counts: NDArray[np.int32] = sums[self.starts + self.lengths] - sums[self.starts]
        return counts


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
        return cls.of(TokenBytes.of(tokens))

    @classmethod
    def of(cls, tokens: TokenBytes, is_included: NDArray[np.bool_] | None = None) -> "Trie":
        """Lay out the tokens that have bytes, or those of them that are included, a flag for each."""
        has_bytes = tokens.lengths > 0
        token_ids = np.flatnonzero(has_bytes if is_included is None else has_bytes & is_included).astype(np.int32)
        layout = TrieLayout(tokens.starts[token_ids], tokens.lengths[token_ids])
        lay_out(tokens.text, layout)
        byte, first, token_start, order = layout.result()
        height = int(tokens.lengths[token_ids].max(initial=0))
        return cls(byte, first, token_start, token_ids[order], height)

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
    def of(cls, tokens: TokenBytes, is_unescaped: NDArray[np.bool_]) -> "StringTries":
        """Lay out tokens but for the unescaped ones, a flag for each; see `unescaped_lengths`."""
        is_other = (tokens.lengths > 0) & ~is_unescaped
        has_quote = is_other & (tokens.counts(tokens.text == QUOTE) > 0)
        has_no_quote = is_other & (tokens.counts((tokens.text < FIRST_UNESCAPED) | (tokens.text == QUOTE)) == 0)
        starts, before_quote = tokens.starts.copy(), np.where(has_no_quote, tokens.lengths, np.int32(0))
        for token_id in np.flatnonzero(has_quote).tolist():
            start, length = int(tokens.starts[token_id]), int(tokens.lengths[token_id])
            before, _, _ = tokens.text[start : start + length].tobytes().partition(b'"')
            before_quote[token_id] = len(before)
            if _is_unescaped(before):
                starts[token_id] += len(before)
        from_quote = TokenBytes(tokens.text, starts, tokens.lengths - (starts - tokens.starts))
        return cls(
            Trie.of(tokens, has_no_quote),
            Trie.of(tokens, has_quote),
            Trie.of(from_quote, has_quote),
            int(before_quote.max(initial=0)),
        )


QUOTE, BACKSLASH, FIRST_UNESCAPED = ord('"'), ord("\\"), 0x20
"""Bytes of JSON strings; those below the last must be escaped."""


def _is_unescaped(text: bytes) -> bool:
    """Tell whether a text without quotes is of unescaped characters alone."""
    return not re.search(rb"[\x00-\x1f\\]", text) and text.decode(errors="ignore").encode() == text


def unescaped_lengths(tokens: TokenBytes) -> NDArray[np.int32]:
    """Return the characters of each token if a JSON string may contain all of them unescaped (RFC 8259 §7), else 0."""
    text = tokens.text
    escaped = tokens.counts((text < FIRST_UNESCAPED) | (text == QUOTE) | (text == BACKSLASH))
    lengths = np.where(escaped > 0, np.int32(0), tokens.counts(text & 0xC0 != 0x80))  # one byte begins each character
    content = text.tobytes()
    for token_id in np.flatnonzero((lengths > 0) & (tokens.counts(text >= 0x80) > 0)).tolist():
        start = int(tokens.starts[token_id])
        spelled = content[start : start + int(tokens.lengths[token_id])]
        if spelled.decode(errors="ignore").encode() != spelled:  # half a character
            lengths[token_id] = 0
    return lengths
