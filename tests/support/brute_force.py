"""What the index and the loop find, by the obvious way: one token after the other, one text after the other."""

from collections.abc import Iterator
from functools import cache

import numpy as np
from numpy.typing import NDArray

from structured.automata import DEAD
from structured.index.index import Index
from structured.index.masks import unpack
from structured.models import FunctionModel


def brute_successors(index: Index, state: int) -> NDArray[np.int32]:
    """Return the state after each token by stepping over the bytes of each, one token after the other."""
    step = cache(index.automaton.step)
    successors = np.full(index.vocabulary.size, DEAD, dtype=np.int32)
    for token_id, token in enumerate(index.vocabulary.tokens):
        successor = state if token else DEAD
        for byte in token or b"":
            successor = step(successor, byte)
            if successor == DEAD:
                break
        successors[token_id] = successor
    return successors


def brute_mask(index: Index, state: int, allowed: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the allowed tokens and, where the text may end, the end tokens."""
    expected = allowed.copy()
    if index.automaton.accepts(state):
        expected[list(index.vocabulary.end_token_ids)] = True
    return expected


def masked_distribution(model: FunctionModel, index: Index, prompt: list[int]) -> Iterator[tuple[str, float]]:
    """Yield every text with its probability: the masked softmax multiplied along it, up to its end."""
    open_ends = [(index.automaton.start, b"", prompt, 1.0)]
    while open_ends:
        state, text, token_ids, share = open_ends.pop()
        if index.is_final(state):
            yield text.decode(), share
            continue
        legal = unpack(index.canonical_mask(state), index.vocabulary.size)
        weights = np.exp(np.asarray(model.function(token_ids), dtype=np.float64)) * legal
        for token_id in np.flatnonzero(legal).tolist():
            part = share * weights[token_id] / weights.sum()
            if token_id in index.vocabulary.end_token_ids:
                yield text.decode(), part
            else:
                after = text + (index.vocabulary.tokens[token_id] or b"")
                open_ends.append((index.step(state, token_id), after, [*token_ids, token_id], part))
