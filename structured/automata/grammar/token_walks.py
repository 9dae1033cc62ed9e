"""What the tokens of a vocabulary do in a state of the lexer, found once for all stacks of the parser.

A token either stays within one token of the grammar, or it goes past its end, and then the rest of it has to be read
from there. Inside a JSON string nearly all tokens stay, so that for another stack only those with a quote are walked.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from structured.automata.grammar.lexer import Lexer, Token
from structured.vocabulary.trie import Trie

_Numbers = NDArray[np.int32]


class Beyond(NamedTuple):
    """Where one token of the grammar may end: the words of a mask that the tokens there are in, and their bits.

    `nodes` are those where other tokens go on.
    """

    token: Token
    words: _Numbers
    bits: NDArray[np.uint32]
    nodes: _Numbers


class TokenWalk(NamedTuple):
    """The tokens that stay within one of the grammar, as a mask; the states of the lexer after them; all others."""

    mask: NDArray[np.uint32]
    targets: _Numbers
    beyond: tuple[Beyond, ...]


def beyond_each(trie: Trie, lexer: Lexer, nodes: _Numbers, arrivals: _Numbers) -> Iterator[Beyond]:
    """Yield what goes on behind each token of the grammar that may end at some nodes of a trie."""
    ending: dict[Token, list[_Numbers]] = {}
    for arrival in np.unique(arrivals).tolist():
        for token in lexer.arrivals[arrival].tokens:
            ending.setdefault(token, []).append(nodes[arrivals == arrival])
    for token, parts in ending.items():
        found: _Numbers = np.concatenate(parts)
        here: _Numbers = trie.token_ids[_ranges(trie.token_start, found)]
        words, places = np.unique(here >> 5, return_inverse=True)
        bits = np.zeros(len(words), dtype=np.uint32)
        np.bitwise_or.at(bits, places, np.uint32(1) << (here & 31).astype(np.uint32))
        yield Beyond(token, words, bits, found[trie.first[found] < trie.first[found + 1]])


def _ranges(starts: _Numbers, members: _Numbers) -> NDArray[np.int64]:
    """Return all numbers from `starts[i]` up to `starts[i + 1]`, for each member i."""
    counts = (starts[members + 1] - starts[members]).astype(np.int64)
    ends = np.cumsum(counts)
    numbers: NDArray[np.int64] = np.arange(counts.sum()) + np.repeat(starts[members] - (ends - counts), counts)
    return numbers
