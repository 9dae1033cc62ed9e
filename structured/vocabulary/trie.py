"""A trie of tokens, as byte strings, in a few arrays.

The children of a node lie side by side, so that a walk which skips most of them reads them in one go. The nodes in
depth-first order, each with the end of its subtree, was rejected: skipping a subtree there is a jump to memory that has
not been looked at, and on a cold cache a walk consists of such jumps.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray


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

    @classmethod
    def from_tokens(cls, tokens: Sequence[bytes | None]) -> "Trie":
        """Lay out the tokens that have bytes; the others are left out."""
        return cls.from_items((token_id, token) for token_id, token in enumerate(tokens) if token)

    @classmethod
    def from_items(cls, tokens: Iterable[tuple[int, bytes]]) -> "Trie":
        """Lay out some ids, each with bytes that lead to it, at least one."""
        order = sorted((token, token_id) for token_id, token in tokens)
        byte, depth, parent, ends = [0], [0], [0], []
        path = [0]
        previous = b""
        for token, _ in order:  # nodes are made in depth-first order
            del path[_common_prefix(previous, token) + 1 :]
            for level in range(len(path) - 1, len(token)):
                parent.append(path[-1])
                path.append(len(byte))
                byte.append(token[level])
                depth.append(level + 1)
            ends.append(path[-1])
            previous = token
        breadth_first = np.argsort(np.array(depth), kind="stable")
        place = np.empty_like(breadth_first)
        place[breadth_first] = np.arange(len(place))
        children = np.bincount(place[parent[1:]], minlength=len(place))
        ends_at = place[ends] if ends else np.zeros(0, dtype=np.int64)
        by_end = np.argsort(ends_at, kind="stable")
        return cls(
            np.array(byte, dtype=np.uint8)[breadth_first],
            np.concatenate([[1], 1 + np.cumsum(children)]).astype(np.int32),
            np.searchsorted(ends_at[by_end], np.arange(len(place) + 1)).astype(np.int32),
            np.array([token_id for _, token_id in order], dtype=np.int32)[by_end],
            max(depth),
        )

    def between(self, shorter: int, longest: int) -> "Trie":
        """Return the trie of the tokens that have more than `shorter` bytes, and at most `longest`."""
        starts = self.levels()
        depth = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        kept = (np.diff(self.token_start) > 0) & (depth > shorter) & (depth <= longest)
        tokens = np.repeat(kept, np.diff(self.token_start))
        counts = np.where(kept, np.diff(self.token_start), 0)
        parents = self._parents()
        for start, end in reversed(list(pairwise(starts[1:]))):
            kept[parents[start:end][kept[start:end]]] = True
        kept[0] = True
        place = np.cumsum(kept) - 1
        children = np.bincount(place[parents[1:][kept[1:]]], minlength=int(kept.sum()))
        return Trie(
            self.byte[kept],
            np.concatenate([[1], 1 + np.cumsum(children)]).astype(np.int32),
            np.concatenate([[0], np.cumsum(counts[kept])]).astype(np.int32),
            self.token_ids[tokens],
            int(depth[kept].max()),
        )

    def levels(self) -> list[int]:
        """Return where the nodes of each depth begin, and where the last ones end."""
        starts, end = [0], 1
        while starts[-1] < end:  # the nodes of each level lie between those of the last and the next
            starts.append(end)
            end = int(self.first[end])
        return starts

    def _parents(self) -> NDArray[np.int32]:
        """Return the parent of each node, and the root for itself."""
        nodes = np.arange(len(self.byte), dtype=np.int32)
        return np.concatenate([nodes[:1], np.repeat(nodes, np.diff(self.first))])

    def child(self, node: int, byte: int) -> int:
        """Return the child of a node by a byte, -1 if it has none."""
        first, end = int(self.first[node]), int(self.first[node + 1])
        if first == end:
            return -1
        place = first + int(self.byte[first:end].searchsorted(byte))
        return place if place < end and self.byte[place] == byte else -1

    def ending_at(self, node: int) -> list[int]:
        """Return the tokens that end at a node."""
        found: list[int] = self.token_ids[self.token_start[node] : self.token_start[node + 1]].tolist()
        return found

    def along(self, text: bytes) -> list[int]:
        """Return the tokens that a text begins with, and those that begin with the whole text."""
        found: list[int] = []
        node = 0
        for byte in text:
            node = self.child(node, byte)
            if node < 0:
                return found
            found += self.ending_at(node)
        first, end = int(self.first[node]), int(self.first[node + 1])
        while first < end:  # what is below a node lies side by side, level by level
            found += self.token_ids[self.token_start[first] : self.token_start[end]].tolist()
            first, end = int(self.first[first]), int(self.first[end])
        return found

    def holds(self, token_ids: NDArray[np.intp], text: NDArray[np.uint8], ends: NDArray[np.int32]) -> bool:
        """Tell whether it is a trie of some tokens: each ends at one node, and the path from the root there spells it.

        `token_ids` are in order. The bytes of token `i` are `text[ends[i - 1]:ends[i]]`. All paths are climbed at once,
        from their ends, which is much quicker than to lay out the tokens.
        """
        if not np.array_equal(np.sort(self.token_ids), token_ids):
            return False
        parents = self._parents()
        node = np.repeat(np.arange(len(self.byte), dtype=np.int32), np.diff(self.token_start))
        last = ends[self.token_ids]
        left = np.diff(ends, prepend=np.int32(0))[self.token_ids]
        while len(node):
            inside = left > 0
            if not np.array_equal(node > 0, inside):
                return False
            if not inside.all():
                node, left, last = node[inside], left[inside], last[inside]
            left, last = left - 1, last - 1
            if (self.byte[node] != text[last]).any():
                return False
            node = parents[node]
        return True


def _common_prefix(left: bytes, right: bytes) -> int:
    length = min(len(left), len(right))
    for i in range(length):
        if left[i] != right[i]:
            return i
    return length
