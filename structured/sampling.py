"""Logits and a mask enter; a token leaves.

Sampling is done in NumPy, on the host, one token at a time from one row, with a generator of its own for each text, so
that a text does not depend on what it was batched with.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from structured.errors import ModelError
from structured.masks import Mask, TokenSet, allows, unpack

MANY_TOKENS = 1 << 13
"""Beyond so many, single precision is precise enough: a millionth."""


class Choice(NamedTuple):
    """A token, and the logarithm of its probability among those of the mask, before temperature."""

    token_id: int
    log_probability: float
    legal_mass: float
    """The probability that the model gave to the tokens of the mask, before temperature."""
    steered: bool = False
    """Whether another token was drawn first, one not among those it was confined to."""


@dataclass(frozen=True, slots=True)
class Sampler:
    """How tokens are drawn: greedily at temperature 0, else from the softmax of `logits / temperature`.

    Before a draw, all but the `top_k` likeliest tokens are left out, then those beyond the likeliest that together
    have the probability `top_p`, then those that are less likely than the likeliest by more than the factor `min_p`;
    each counts allowed tokens alone. With a seed the same text is drawn every time; without one, another each time.
    """

    temperature: float = 0.0
    seed: int | None = None
    top_k: int | None = None
    top_p: float = 1.0
    min_p: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.temperature < float("inf"):
            raise ValueError(f"temperature is {self.temperature}; it must be 0 (greedy) or a positive finite number.")
        if self.seed is not None and self.seed < 0:
            raise ValueError(f"seed is {self.seed}; it must be 0 or greater.")
        if self.top_k is not None and self.top_k < 1:
            raise ValueError(f"top_k is {self.top_k}; it must be 1 or greater, or None for all tokens.")
        if not 0 < self.top_p <= 1:
            raise ValueError(f"top_p is {self.top_p}; it must be greater than 0 and at most 1.")
        if not 0 <= self.min_p <= 1:
            raise ValueError(f"min_p is {self.min_p}; it must be between 0 and 1.")

    def generator(self, item: int, attempt: int) -> np.random.Generator:
        """Return the random numbers for one item of a batch and one attempt at it."""
        return np.random.default_rng(None if self.seed is None else [self.seed, item, attempt])

    def choose(
        self,
        logits: NDArray[np.float32],
        mask: Mask,
        generator: np.random.Generator,
        *,
        within: Mask | None = None,
    ) -> Choice:
        """Draw one token of the mask. `logits` has shape (width,).

        The width may exceed the vocabulary; what is beyond counts as the model's wish for something illegal.

        `within`, a part of the mask, confines the draw: a token outside it is drawn anew from inside, which gives each
        token the probability it has there. A draw that was inside anyway is the same as if it had not been confined.

        Tokens that the model rules out with -inf are drawn only if it rules out every allowed one; then all are equal.
        Raises ModelError if a logit of an allowed token is NaN.
        """
        if self.temperature == 0 and len(logits) < MANY_TOKENS:
            choice = _likeliest(logits, mask)
            if choice is not None:
                return choice if within is None or within is mask else self.confined(choice, logits, within, generator)
        found = TokenSet.of(mask, len(logits))
        if found.is_complement and len(logits) >= MANY_TOKENS:
            choice = self._choose_but_for(logits, found.token_ids, generator)
        else:
            allowed = np.flatnonzero(unpack(mask, len(logits))) if found.is_complement else found.token_ids
            choice = self._choose_among(logits, allowed, generator)
        if within is None or within is mask:
            return choice
        return self.confined(choice, logits, within, generator)

    def confined(
        self, choice: Choice, logits: NDArray[np.float32], within: Mask, generator: np.random.Generator
    ) -> Choice:
        """Return a choice that was made if it is inside of a mask, or one that is drawn there."""
        if allows(within, choice.token_id):
            return choice
        inside = np.flatnonzero(unpack(within, len(logits)))
        drawn = inside[self._draw(log_softmax(logits[inside])[0], generator)]
        log_probability = choice.log_probability + float(logits[drawn]) - float(logits[choice.token_id])
        if not np.isfinite(log_probability):
            log_probability = choice.log_probability if logits[drawn] == logits[choice.token_id] else float("-inf")
        return Choice(int(drawn), log_probability, choice.legal_mass, steered=True)

    def _choose_among(
        self, logits: NDArray[np.float32], allowed: NDArray[np.int64], generator: np.random.Generator
    ) -> Choice:
        """Draw one of some tokens."""
        log_probabilities, log_total = log_softmax(logits[allowed])
        position = self._draw(log_probabilities, generator)
        mass = 1.0 if len(allowed) == len(logits) else share_of_all(log_total, logits)
        return Choice(int(allowed[position]), float(log_probabilities[position]), mass)

    def _choose_but_for(
        self, logits: NDArray[np.float32], forbidden: NDArray[np.int64], generator: np.random.Generator
    ) -> Choice:
        """Draw any token but some, in single precision: there are many."""
        scores = logits.copy()
        scores[forbidden] = -np.inf
        likeliest = int(np.argmax(scores))
        best = float(scores[likeliest])
        if not np.isfinite(best):
            return self._choose_among(logits, np.flatnonzero(~np.isin(np.arange(len(logits)), forbidden)), generator)
        weights = np.exp(scores - scores[likeliest])
        total = float(weights.sum())
        token_id = likeliest
        if self.temperature > 0:
            if self.temperature != 1:
                weights = np.exp((scores - scores[likeliest]) / np.float32(self.temperature))
            token_id = self._turned(weights, generator)
        log_total = float(np.log(total))
        others = np.exp(np.minimum(logits[forbidden].astype(np.float64) - best, 700.0))
        mass = total / (total + float(np.nansum(others)))
        return Choice(token_id, float(scores[token_id]) - best - log_total, mass)

    def _draw(self, log_probabilities: NDArray[np.float64], generator: np.random.Generator) -> int:
        if self.temperature == 0:
            return int(np.argmax(log_probabilities))
        return self._turned(np.exp(log_softmax(log_probabilities / self.temperature)[0]), generator)

    def _turned(self, weights: NDArray[np.floating], generator: np.random.Generator) -> int:
        """Draw by the distribution function turned round: one random number, however many tokens there are."""
        sums = np.cumsum(self._kept(weights), dtype=np.float64)
        place = int(np.searchsorted(sums, generator.random() * sums[-1], side="right"))
        return place if place < len(sums) else int(np.searchsorted(sums, sums[-1]))

    def _kept(self, weights: NDArray[np.floating]) -> NDArray[np.floating]:
        """Return the weights of tokens, 0 for those left out."""
        if self.top_k is not None and self.top_k < len(weights):
            weights = np.where(weights >= np.partition(weights, -self.top_k)[-self.top_k], weights, 0.0)
        if self.top_p < 1:
            order = np.argsort(-weights, kind="stable")
            sums = np.cumsum(weights[order])
            count = int(np.searchsorted(sums, self.top_p * sums[-1])) + 1
            weights[order[count:]] = 0.0
        if self.min_p > 0:
            weights = np.where(weights >= self.min_p * weights.max(), weights, 0.0)
        return weights


def _likeliest(logits: NDArray[np.float32], mask: Mask) -> Choice | None:
    """Return the likeliest token of a mask by one compiled loop; None where a logit is infinite or NaN."""
    from structured.kernels import weigh

    found = np.empty(2)
    token_id = weigh(np.ascontiguousarray(logits), mask, found)
    return None if token_id < 0 else Choice(int(token_id), -float(found[0]), float(found[1]))


def log_softmax(scores: NDArray[np.floating]) -> tuple[NDArray[np.float64], float]:
    """Return log-probabilities, and the logarithm of the sum that was divided by.

    An infinite best score shares all of the probability among those that have it. Raises ModelError for NaN.
    """
    best = float(scores.max())
    if best != best:  # noqa: PLR0124  NaN
        raise ModelError(
            "The model returned NaN as the logit of an allowed token. Load it in a wider dtype (dtype='float32')."
        )
    if np.isinf(best):
        found = np.where(scores == best, 0.0, -np.inf)
        return found - np.log((found == 0.0).sum()), best
    shifted = scores.astype(np.float64) - best
    log_sum = float(np.log(np.exp(shifted).sum()))
    shifted -= log_sum
    return shifted, best + log_sum


def share_of_all(log_total: float, logits: NDArray[np.float32]) -> float:
    """Return the part that some tokens have in the probability of all, given the logarithm of the sum of theirs.

    Logits that are NaN have no part.
    """
    best = float(np.fmax.reduce(logits))
    if np.isinf(best) or np.isinf(log_total):
        return 1.0 if log_total == best else 0.0
    log_all = best + np.log(np.nansum(np.exp(logits - np.float32(best)), dtype=np.float64))
    return min(float(np.exp(log_total - log_all)), 1.0)
