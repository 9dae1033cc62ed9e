"""Logits and a mask enter; a token leaves.

Sampling is done in NumPy, on the host, in float64: one token at a time from one row, with a generator of its own for
each text, so that a text does not depend on what it was batched with.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from structured.errors import ModelError
from structured.masks import Mask, unpack


class Choice(NamedTuple):
    """A token, and the logarithm of its probability among those of the mask, before temperature."""

    token_id: int
    log_probability: float
    steered: bool = False
    """Whether another token was drawn first, one not among those it was confined to."""


@dataclass(frozen=True, slots=True)
class Sampler:
    """How tokens are drawn: greedily at temperature 0, else from the softmax of `logits / temperature`.

    With a seed the same text is drawn every time; without one, another each time.
    """

    temperature: float = 0.0
    seed: int | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.temperature < float("inf"):
            raise ValueError(f"temperature is {self.temperature}; it must be 0 (greedy) or a positive finite number.")
        if self.seed is not None and self.seed < 0:
            raise ValueError(f"seed is {self.seed}; it must be 0 or greater.")

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
        """Draw one token of the mask. `logits` has shape (width,); the width may exceed the vocabulary.

        `within`, a part of the mask, confines the draw: a token outside it is drawn anew from inside, which gives each
        token the probability it has there. A draw that was inside anyway is the same as if it had not been confined.

        Tokens that the model rules out with -inf are drawn only if it rules out every allowed one; then all are equal.
        Raises ModelError if a logit of an allowed token is NaN.
        """
        allowed = np.flatnonzero(unpack(mask, len(logits)))
        scores = logits[allowed].astype(np.float64)
        if np.isnan(scores).any():
            raise ModelError(
                "The model returned NaN as the logit of an allowed token. Load it in a wider dtype (dtype='float32')."
            )
        log_probabilities = _log_softmax(scores)
        position = self._draw(log_probabilities, generator)
        steered = False
        if within is not None and within is not mask:
            inside = np.flatnonzero(unpack(within, len(logits))[allowed])
            steered = position not in inside
            if steered:
                position = int(inside[self._draw(_log_softmax(scores[inside]), generator)])
        return Choice(int(allowed[position]), float(log_probabilities[position]), steered)

    def _draw(self, log_probabilities: NDArray[np.float64], generator: np.random.Generator) -> int:
        if self.temperature == 0:
            return int(np.argmax(log_probabilities))
        # Gumbel-max: the argmax of scores with Gumbel noise is a draw from their softmax.
        scaled = _log_softmax(log_probabilities / self.temperature)
        return int(np.argmax(scaled + generator.gumbel(size=len(scaled))))


def _log_softmax(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return log-probabilities; an infinite best score shares all of the probability among those that have it."""
    best = scores.max()
    if np.isinf(best):
        scores, best = np.where(scores == best, 0.0, -np.inf), np.float64(0.0)
    shifted = scores - best
    return np.asarray(shifted - np.log(np.exp(shifted).sum()))
