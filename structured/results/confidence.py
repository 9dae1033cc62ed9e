"""The confidence in each value of an answer: the probability of the tokens that it is written with.

Tokens that were known without asking the model say nothing; a value of which all are known, since the type or the
document leaves no choice, has no confidence. That of a sampled token is what the model itself gave it: its share of the
allowed tokens, times what these had of all. Where the type allows little else, the share alone would be near 1 however
much the model would rather have written something else.
"""

import math
from collections.abc import Iterable, Iterator, Sequence

from structured.decoding.requests import SampledToken
from structured.results.leaves import Leaf


def confidences(text: str, leaves: Iterable[Leaf], tokens: Sequence[SampledToken]) -> Iterator[float | None]:
    """Yield the confidence in each leaf of an answer, in their order; None where the model was asked nothing."""
    for own in tokens_of_leaves(text, leaves, tokens):
        yield min(math.exp(sum(map(_log_probability, own))), 1.0) if own else None


def tokens_of_leaves(text: str, leaves: Iterable[Leaf], tokens: Sequence[SampledToken]) -> Iterator[list[SampledToken]]:
    """Yield the sampled tokens that each leaf of an answer is written with, in their order.

    To a string belongs its closing quote, to anything else the token behind it, which decides that it ends.
    """
    place, byte, first = 0, 0, 0
    for leaf in leaves:
        byte += len(text[place : leaf.start].encode())
        end = byte + len(text[leaf.start : leaf.end].encode())
        place, start, byte = leaf.end, byte, end
        end += not isinstance(leaf.value, str)
        while first < len(tokens) and tokens[first].end <= start and tokens[first].start < start:
            first += 1
        yield list(_within(tokens, first, end))


def _within(tokens: Sequence[SampledToken], first: int, end: int) -> Iterator[SampledToken]:
    """Yield the tokens from the first one that begin before a byte."""
    for position in range(first, len(tokens)):
        if tokens[position].start >= end:
            return
        yield tokens[position]


def _log_probability(token: SampledToken) -> float:
    return token.log_probability + math.log(max(token.legal_mass, 1e-300))
