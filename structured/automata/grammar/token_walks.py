"""What the tokens of a vocabulary do in a state of the lexer, found once for all stacks of the parser.

A token either stays within one token of the grammar, or it goes past its end, and then the rest of it has to be read
from there: below a node of the trie, in the state of the lexer that the parser puts it in. What is done there is found
once as well.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from structured.automata.grammar.exits import Exit
from structured.automata.grammar.lexer import Lexer, Token
from structured.automata.protocol import DEAD
from structured.vocabulary.trie import Trie

if TYPE_CHECKING:
    from structured.automata.loops.token_walks import WalkArrays

_Numbers = NDArray[np.int32]


FEW_CHILDREN = 16
"""Nodes of a trie with fewer children, taken together, are walked each time."""

FEW_NODES = -1
"""In place of the number of a set of nodes, where it has few children."""


class TokenWalk(NamedTuple):
    """What a loop reads of a walk; and where tokens of the vocabulary go on behind one of the grammar.

    `beyond` are the tokens of the grammar, by their place in the arrays, the nodes of the trie, and the number of that
    set of nodes.
    """

    arrays: "WalkArrays"
    beyond: tuple[tuple[int, _Numbers, int], ...]


def token_walk(  # noqa: PLR0913, PLR0917  what is walked, and what is known of it
    trie: Trie,
    lexer: Lexer,
    nodes: _Numbers,
    arrivals: _Numbers,
    exits_of: Callable[[int], tuple[Sequence[Exit], bool]],
    number_of: Callable[[_Numbers], int],
) -> TokenWalk:
    """Return the walk that met some arrivals of the lexer at some nodes of a trie.

    `number_of` returns the number of a set of nodes.
    """
    from structured.automata.loops.token_walks import WalkArrays

    order = np.argsort(arrivals, kind="stable")
    met, starts = np.unique(arrivals[order], return_index=True)
    ending: dict[Token, list[_Numbers]] = {}
    within: dict[int, list[_Numbers]] = {}
    for arrival, here in zip(met.tolist(), np.split(nodes[order], starts)[1:], strict=True):
        target, tokens = lexer.arrivals[arrival]
        if target != DEAD:
            within.setdefault(target, []).append(here)
        for token in tokens:
            ending.setdefault(token, []).append(here)
    after = [np.concatenate(parts) for parts in ending.values()]
    token_ids = [trie.token_ids[_ranges(trie.token_start, np.concatenate(parts))] for parts in within.values()]
    targets = [target for target, ids in zip(within, token_ids, strict=True) if len(ids)]
    groups = [*(trie.token_ids[_ranges(trie.token_start, one)] for one in after), *filter(len, token_ids)]
    numbers = {token: number for number, token in enumerate(ending)}
    exits = [exits_of(target) for target in targets]
    ways = [
        (numbers.setdefault(Token(terminal, rest), len(numbers)), width)
        for ways_out, _ in exits
        for terminal, rest, width in ways_out
    ]
    without = [np.zeros(0, dtype=np.int32)] * (len(numbers) - len(ending))
    first_word, words, bits = _bits([*groups[: len(ending)], *without, *groups[len(ending) :]])
    arrays = WalkArrays(
        tokens=_rows(list(numbers)),
        targets=np.array(targets, dtype=np.int32),
        first_exit=_starts([len(ways_out) for ways_out, _ in exits]),
        exits=_rows(ways),
        is_complete=np.array([is_complete for _, is_complete in exits], dtype=np.int32),
        first_word=first_word,
        words=words,
        bits=bits,
    )
    beyond: list[tuple[int, _Numbers, int]] = []
    for token, one in enumerate(after):
        children = trie.first[one + 1] - trie.first[one]
        going_on = one[children > 0]
        if len(going_on):
            beyond.append((token, going_on, FEW_NODES if children.sum() < FEW_CHILDREN else number_of(going_on)))
    return TokenWalk(arrays, tuple(beyond))


def _bits(groups: Sequence[_Numbers]) -> tuple[_Numbers, _Numbers, NDArray[np.uint32]]:
    """Return the words of a mask, and their bits, of each group of tokens, one after the other; where each begins."""
    sizes = np.array([len(group) for group in groups], dtype=np.int64)
    token_ids = np.concatenate([np.zeros(0, dtype=np.int32), *groups])
    keys = np.repeat(np.arange(len(groups)), sizes) << 32 | token_ids >> 5
    order = np.argsort(keys, kind="stable")
    keys, token_ids = keys[order], token_ids[order]
    starts = np.flatnonzero(np.diff(keys, prepend=-1))
    each = np.uint32(1) << (token_ids & 31).astype(np.uint32)
    bits = np.bitwise_or.reduceat(each, starts) if len(starts) else np.zeros(0, dtype=np.uint32)
    first = np.searchsorted(keys[starts] >> 32, np.arange(len(groups) + 1)).astype(np.int32)
    return first, (keys[starts] & 0xFFFFFFFF).astype(np.int32), bits


def _starts(counts: Sequence[int]) -> _Numbers:
    return np.concatenate([[0], np.cumsum(np.array(counts, dtype=np.int64))]).astype(np.int32)


def _rows(rows: Sequence[tuple[int, ...]]) -> _Numbers:
    return np.array(rows, dtype=np.int32).reshape(-1, 2)


def _ranges(starts: _Numbers, members: _Numbers) -> NDArray[np.int64]:
    """Return all numbers from `starts[i]` up to `starts[i + 1]`, for each member i."""
    counts = (starts[members + 1] - starts[members]).astype(np.int64)
    ends = np.cumsum(counts)
    numbers: NDArray[np.int64] = np.arange(counts.sum()) + np.repeat(starts[members] - (ends - counts), counts)
    return numbers
