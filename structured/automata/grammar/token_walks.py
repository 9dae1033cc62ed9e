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
    found: NDArray[np.int32],
    exits_of: Callable[[int], tuple[Sequence[Exit], bool]],
    number_of: Callable[[_Numbers], int],
) -> TokenWalk:
    """Return the walk that met some arrivals of the lexer at some nodes of a trie: rows `node, arrival`.

    `number_of` returns the number of a set of nodes.
    """
    from structured.automata.loops.token_walks import WalkArrays

    times = np.bincount(found[:, 1])
    ending: dict[Token, int] = {}
    within: dict[int, int] = {}
    token_groups: list[tuple[int, ...]] = [()] * len(times)
    targets_met = np.full(len(times), DEAD, dtype=np.int32)
    for arrival in np.flatnonzero(times).tolist():
        target, tokens = lexer.arrivals[arrival]
        token_groups[arrival] = tuple(ending.setdefault(token, len(ending)) for token in tokens)
        if target != DEAD:
            targets_met[arrival] = within.setdefault(target, len(within))
    of_target = [() if target == DEAD else (len(ending) + target,) for target in targets_met.tolist()]
    groups_of = [here + more for here, more in zip(token_groups, of_target, strict=True)]
    sorted_found = _sorted(trie, found, times, groups_of, len(ending) + len(within))
    counts = np.diff(sorted_found.first_word)
    numbers = dict(ending)
    targets = [target for target, group in within.items() if counts[len(ending) + group]]
    exits = [exits_of(target) for target in targets]
    ways = [
        (numbers.setdefault(Token(terminal, rest), len(numbers)), width)
        for ways_out, _ in exits
        for terminal, rest, width in ways_out
    ]
    of_targets = counts[len(ending) :]
    words_of = [*counts[: len(ending)].tolist(), *[0] * (len(numbers) - len(ending)), *of_targets[of_targets > 0].tolist()]
    arrays = WalkArrays(
        tokens=_rows(list(numbers)),
        targets=np.array(targets, dtype=np.int32),
        first_exit=_starts([len(ways_out) for ways_out, _ in exits]),
        exits=_rows(ways),
        is_complete=np.array([is_complete for _, is_complete in exits], dtype=np.int32),
        first_word=_starts(words_of),
        words=sorted_found.words,
        bits=sorted_found.bits,
    )
    beyond: list[tuple[int, _Numbers, int]] = []
    for token in range(len(ending)):
        here = sorted_found.nodes[sorted_found.starts[token] : sorted_found.starts[token + 1]]
        children = trie.first[here + 1] - trie.first[here]
        going_on = here[children > 0]
        if len(going_on):
            beyond.append((token, going_on, FEW_NODES if children.sum() < FEW_CHILDREN else number_of(going_on)))
    return TokenWalk(arrays, tuple(beyond))


class _Sorted(NamedTuple):
    """The nodes of each group, and the words of a mask of the tokens there; where those of each begin."""

    nodes: _Numbers
    starts: _Numbers
    words: _Numbers
    bits: NDArray[np.uint32]
    first_word: _Numbers


def _sorted(
    trie: Trie, found: _Numbers, times: NDArray[np.intp], groups_of: Sequence[tuple[int, ...]], count: int
) -> _Sorted:
    """Return what was found by group; `times` says how often each arrival was met, `groups_of` the groups of each."""
    from structured.automata.loops.machine import TrieArrays
    from structured.automata.loops.token_walks import sort_found

    sizes = np.array([len(groups) for groups in groups_of], dtype=np.int64)
    groups = np.array([group for groups in groups_of for group in groups], dtype=np.int32)
    in_group = np.bincount(groups, weights=np.repeat(times, sizes), minlength=count).astype(np.int64)
    tokens = trie.token_start[found[:, 0] + 1] - trie.token_start[found[:, 0]]
    room = int((tokens * sizes[found[:, 1]]).sum())
    result = _Sorted(
        nodes=np.zeros(int(in_group.sum()), dtype=np.int32),
        starts=np.cumsum(np.append(in_group, 0)).astype(np.int32),
        words=np.zeros(room, dtype=np.int32),
        bits=np.zeros(room, dtype=np.uint32),
        first_word=np.zeros(count + 1, dtype=np.int32),
    )
    arrays = TrieArrays(trie.byte, trie.first, trie.token_start, trie.token_ids)
    place_of_word = np.zeros(int(trie.token_ids.max(initial=0) >> 5) + 1, dtype=np.int32)
    nodes, starts, words, bits, first_word = result
    sort_found(arrays, found, _starts(sizes), groups, nodes, starts, words, bits, first_word, place_of_word)
    used = int(first_word[count])
    return result._replace(words=words[:used].copy(), bits=bits[:used].copy())


def _starts(counts: Sequence[int] | NDArray[np.int64]) -> _Numbers:
    return np.concatenate([[0], np.cumsum(np.array(counts, dtype=np.int64))]).astype(np.int32)


def _rows(rows: Sequence[tuple[int, ...]]) -> _Numbers:
    return np.array(rows, dtype=np.int32).reshape(-1, 2)
