"""Tokens enter, as byte strings; a trie of them leaves, its nodes in depth-first order in a few arrays."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False, slots=True)
class Trie:
    """The tokens as a trie, its nodes (less the root) in depth-first order, children by byte.

    All arrays but `token_ids` have one entry a node. The tokens that end at node `i` are
    `token_ids[token_start[i]:token_start[i + 1]]`; more than one where different ids have the same bytes.
    """

    byte: NDArray[np.uint8]
    depth: NDArray[np.int32]
    """0 for a token's first byte."""
    subtree_end: NDArray[np.int32]
    """The node after the last one of the subtree."""
    token_start: NDArray[np.int32]
    token_ids: NDArray[np.int32]
    height: int
    """The number of bytes of the longest token."""

    @classmethod
    def from_tokens(cls, tokens: Sequence[bytes | None]) -> "Trie":
        """Lay out the tokens that have bytes; the others are left out."""
        order = sorted((token, token_id) for token_id, token in enumerate(tokens) if token)
        byte: list[int] = []
        depth: list[int] = []
        subtree_end: list[int] = []
        token_start: list[int] = []
        path: list[int] = []
        previous = b""
        for position, (token, _) in enumerate(order):
            shared = _common_prefix(previous, token)
            for node in path[shared:]:
                subtree_end[node] = len(byte)
            del path[shared:]
            for level in range(shared, len(token)):
                path.append(len(byte))
                byte.append(token[level])
                depth.append(level)
                subtree_end.append(0)
                token_start.append(position)
            previous = token
        for node in path:
            subtree_end[node] = len(byte)
        return cls(
            np.array(byte, dtype=np.uint8),
            np.array(depth, dtype=np.int32),
            np.array(subtree_end, dtype=np.int32),
            # Nodes and sorted tokens are in the same order, so the tokens of a node reach up to those of the next; an
            # inner node was made for the same token as its first child, and holds none.
            np.array([*token_start, len(order)], dtype=np.int32),
            np.array([token_id for _, token_id in order], dtype=np.int32),
            max(depth, default=-1) + 1,
        )


def _common_prefix(left: bytes, right: bytes) -> int:
    length = min(len(left), len(right))
    for i in range(length):
        if left[i] != right[i]:
            return i
    return length
