"""Sampling: from logits and a mask to a token, by a masked softmax.

Sampling runs on the host, one token at a time from one row. Each text has a generator of its own, so that it does not
depend on the batch.

The weight of a token is the exponential of its logit minus the greatest legal logit, in single precision. NumPy
computes the weights, since it has code for each processor; loops find the greatest legal logit and the sampled place.
The weights are in memory that each thread keeps, because after a forward pass fresh memory costs more than arithmetic.
"""

import functools
import math
import threading
from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from structured.errors import ModelError
from structured.errors.arguments import check_fields, count, number, or_none, whole
from structured.index.masks import Mask, allows, unpack
from structured.machine_code.notation import Masks, Singles, entry, loop

BLOCK = 256
"""Weights that are added up before the others are."""


@entry
def likeliest(logits: Singles, mask: Masks) -> int:
    """Return the likeliest token of a mask, the first of equals; -1 if a legal logit is NaN, or none is above -inf."""
    token_id = -1
    best: float = -1e300
    for word in range(min(len(mask), (len(logits) + 31) // 32)):
        if mask[word] == 0:
            continue
        for place in range(32 * word, min(32 * word + 32, len(logits))):
            if logits[place] <= best or (mask[word] >> (place & 31)) & 1 == 0:
                continue
            if not logits[place] > best:  # NaN
                return -1
            token_id, best = place, logits[place]
    return token_id


@loop
def sum_of_block(weights: Singles, first: int) -> float:
    """Return the sum of a block of weights; four sums at a time take a third of the time."""
    past = min(first + BLOCK, len(weights))
    sum_0: float = 0.0
    sum_1: float = 0.0
    sum_2: float = 0.0
    sum_3: float = 0.0
    place = first
    while place + 4 <= past:
        sum_0 += weights[place]
        sum_1 += weights[place + 1]
        sum_2 += weights[place + 2]
        sum_3 += weights[place + 3]
        place += 4
    while place < past:
        sum_0 += weights[place]
        place += 1
    return (sum_0 + sum_1) + (sum_2 + sum_3)


@loop
def place_in_block(weights: Singles, first: int, left: float) -> int:
    """Return the place where the running sum of a block exceeds a number, the last with a weight if none does."""
    last = -1
    for place in range(first, min(first + BLOCK, len(weights))):
        if weights[place] > 0:
            last = place
            if weights[place] > left:
                break
            left -= weights[place]
    return last


@entry
def turned(weights: Singles, share: float) -> int:
    """Return the place where the running sum of weights exceeds a share of their total: a sample, if it is uniform.

    That is -1 if all weights are 0.
    """
    total: float = 0.0
    last_block = -1  # with a weight above 0
    for first in range(0, len(weights), BLOCK):
        in_block: float = sum_of_block(weights, first)
        total += in_block
        if in_block > 0:
            last_block = first
    left: float = share * total
    for first in range(0, last_block + 1, BLOCK):
        in_block = sum_of_block(weights, first)
        if in_block > left or first == last_block:
            return place_in_block(weights, first, left)
        left -= in_block
    return -1


class _Memory(threading.local):
    """The array of each thread for weights."""

    weights = np.empty(0, dtype=np.float32)


_memory = _Memory()


def _array(size: int) -> NDArray[np.float32]:
    """Return an array of this thread, which the next call may return as well."""
    if len(_memory.weights) != size:
        _memory.weights = np.empty(size, dtype=np.float32)
    return _memory.weights


class Survey(NamedTuple):
    """The likeliest token of a mask, and sums of weights relative to it: of the legal tokens, and of all tokens."""

    token_id: int
    legal: float
    total: float


def survey(logits: NDArray[np.float32], mask: Mask) -> Survey | None:
    """Return the likeliest token, the first of equals, and sums of weights.

    None if the greatest legal logit is infinite, a legal one is NaN, or the others are NaN or too great for the sums.
    """
    token_id = int(logits.argmax())  # mostly legal, and found faster than in a loop
    if token_id >= 32 * len(mask) or not allows(mask, token_id):
        token_id = likeliest(logits, mask)
    if token_id < 0 or not math.isfinite(logits[token_id]):
        return None
    weights = _array(len(logits))
    with np.errstate(over="ignore", invalid="ignore"):
        np.exp(np.subtract(logits, logits[token_id], out=weights), out=weights)
        total = float(weights.sum())
        np.multiply(weights, unpack(mask, len(logits)), out=weights)
    return Survey(token_id, float(weights.sum()), total) if total < math.inf else None


def weigh(logits: NDArray[np.float32], mask: Mask, best: np.float32, temperature: float) -> NDArray[np.float32]:
    """Return the weight of each token at a temperature, 0 if it is not legal, in memory that is used again.

    Illegal tokens may be likelier than the best legal one, or NaN.
    """
    weights = _array(len(logits))
    with np.errstate(over="ignore"):
        np.divide(np.subtract(logits, best, out=weights), np.float32(temperature), out=weights)
    np.exp(np.fmin(weights, np.float32(0.0), out=weights), out=weights)
    return np.multiply(weights, unpack(mask, len(logits)), out=weights)


LOWEST_TEMPERATURE = 1e-30
"""The lowest temperature above 0: lower ones give the same tokens in single precision, and are raised to it."""

HIGHEST_TEMPERATURE = 1e30
"""The highest temperature: single precision has no numbers far above it."""

SAMPLING = {
    "temperature": number(
        lambda value: 0 <= value <= HIGHEST_TEMPERATURE, "0 (greedy) or a positive number up to 1e30"
    ),
    "seed": or_none(whole(0)),
    "top_k": or_none(count(1, "1 or greater, or None for all tokens")),
    "top_p": number(lambda value: 0 < value <= 1, "greater than 0 and at most 1"),
    "min_p": number(lambda value: 0 <= value <= 1, "between 0 and 1"),
}
"""The check of each field of a `Sampler`."""


class TokenChoice(NamedTuple):
    """A token, and its log-probability among the tokens of the mask, before temperature."""

    token_id: int
    log_probability: float
    legal_mass: float
    """The probability that the model gave to the tokens of the mask, before temperature."""
    is_replacement: bool = False
    """Whether a token outside the `subset` was sampled first, and this token replaced it."""
    alternatives: tuple[tuple[int, float], ...] = ()
    """The likeliest tokens of the mask with their log-probabilities, if they are asked for."""


@dataclass(frozen=True, slots=True)
class Sampler:
    """How tokens are sampled: greedily at temperature 0, else from the softmax of `logits / temperature`.

    Before a draw, three filters apply in order: the `top_k` likeliest tokens are kept, then the likeliest that together
    have the probability `top_p`, then those with at least `min_p` times the probability of the likeliest. Each filter
    counts allowed tokens only. With a seed the same text is sampled every time; without it, another each time.
    """

    temperature: float = 0.0
    seed: int | None = None
    top_k: int | None = None
    top_p: float = 1.0
    min_p: float = 0.0

    def __post_init__(self) -> None:
        check_fields(self, SAMPLING)
        if 0 < self.temperature < LOWEST_TEMPERATURE:
            object.__setattr__(self, "temperature", LOWEST_TEMPERATURE)

    @property
    def changed_fields(self) -> tuple[str, ...]:
        """The fields that differ from their defaults."""
        return tuple(option.name for option in fields(self) if getattr(self, option.name) != option.default)

    @property
    def unused_fields(self) -> tuple[str, ...]:
        """The fields that were set but have no effect, because temperature 0 takes the likeliest token."""
        return self.changed_fields if self.temperature == 0 else ()

    def generator(self, item: int, attempt: int) -> np.random.Generator:
        """Return the random numbers for one item of a batch and one attempt at it."""
        if self.temperature == 0:
            return _unused_generator()
        return np.random.default_rng(None if self.seed is None else [self.seed, item, attempt])

    def choose(
        self,
        logits: NDArray[np.float32],
        mask: Mask,
        generator: np.random.Generator,
        *,
        subset: Mask | None = None,
    ) -> TokenChoice:
        """Sample one token of the mask. `logits` has shape (width,).

        The width may exceed the vocabulary; logits beyond it count as those of illegal tokens.

        `subset`, a part of the mask, confines the choice: if the sampled token is outside, a token inside is sampled in
        its place. So each token has the probability that it has inside, and a choice inside does not change.

        Tokens with the logit -inf are sampled only if all allowed tokens have it; then all are equally likely. Raises
        ModelError if the logit of an allowed token is NaN, or the highest one is +inf.
        """
        choice = self._choose(np.ascontiguousarray(logits), mask, generator)
        return choice if subset is None or subset is mask else self.confined(choice, logits, subset, generator)

    def confined(
        self, choice: TokenChoice, logits: NDArray[np.float32], subset: Mask, generator: np.random.Generator
    ) -> TokenChoice:
        """Return the choice if its token is in a subset of the mask; else sample one of that."""
        if allows(subset, choice.token_id):
            return choice
        token_ids = np.flatnonzero(unpack(subset, len(logits)))
        token_id = token_ids[self._draw(log_softmax(logits[token_ids])[0], generator)]
        log_probability = choice.log_probability + float(logits[token_id]) - float(logits[choice.token_id])
        if not np.isfinite(log_probability):
            log_probability = choice.log_probability if logits[token_id] == logits[choice.token_id] else float("-inf")
        return TokenChoice(int(token_id), log_probability, choice.legal_mass, is_replacement=True)

    def _choose(self, logits: NDArray[np.float32], mask: Mask, generator: np.random.Generator) -> TokenChoice:
        """Sample one token of the mask."""
        found = survey(logits, mask)
        if found is None:
            return self._choose_unusual(logits, np.flatnonzero(unpack(mask, len(logits))), generator)
        token_id, legal, total = found
        log_ratio = 0.0  # to the likeliest token
        if self.temperature > 0:
            best = logits[token_id]
            token_id = turned(self._truncated(weigh(logits, mask, best, self.temperature)), generator.random())
            log_ratio = float(logits[token_id]) - float(best)
        return TokenChoice(token_id, log_ratio - math.log(legal), min(legal / total, 1.0))

    def _choose_unusual(
        self, logits: NDArray[np.float32], allowed: NDArray[np.int64], generator: np.random.Generator
    ) -> TokenChoice:
        """Sample one of some tokens whose scores may be infinite or NaN."""
        log_probabilities, log_total = log_softmax(logits[allowed])
        position = self._draw(log_probabilities, generator)
        mass = share_of_all(log_total, logits)
        return TokenChoice(int(allowed[position]), float(log_probabilities[position]), mass)

    def _draw(self, log_probabilities: NDArray[np.float64], generator: np.random.Generator) -> int:
        if self.temperature == 0:
            return int(np.argmax(log_probabilities))
        weights = np.exp(log_softmax(log_probabilities / self.temperature)[0]).astype(np.float32)
        return turned(self._truncated(weights), generator.random())

    def _truncated(self, weights: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the weights of tokens, with 0 for tokens that the filters exclude."""
        if self.top_k is not None and self.top_k < len(weights):
            weights = np.where(weights >= np.partition(weights, -self.top_k)[-self.top_k], weights, 0.0)
        if self.top_p < 1:
            total = weights.sum(dtype=np.float64)
            # The others have less than 1 - top_p together, so they need not be sorted.
            likely = np.flatnonzero(weights >= (1 - self.top_p) * total / len(weights))
            likely = likely[np.argsort(-weights[likely], kind="stable")]
            count = int(np.searchsorted(np.cumsum(weights[likely], dtype=np.float64), self.top_p * total)) + 1
            kept = np.zeros_like(weights)
            kept[likely[:count]] = weights[likely[:count]]
            weights = kept
        if self.min_p > 0:
            weights = np.where(weights >= self.min_p * weights.max(), weights, 0.0)
        return weights


@functools.cache
def _unused_generator() -> np.random.Generator:
    """Return a generator for greedy decoding; making one for each text would take as long as a token."""
    return np.random.default_rng(0)


def likeliest_tokens(logits: NDArray[np.float32], mask: Mask, count: int) -> tuple[tuple[int, float], ...]:
    """Return at most `count` tokens of a mask with their log-probabilities among its tokens, the likeliest first.

    Of equal tokens, the first comes first. Raises ModelError as `log_softmax` does.
    """
    allowed = np.flatnonzero(unpack(mask, len(logits)))
    log_probabilities, _ = log_softmax(logits[allowed])
    best = sorted(likeliest_places(log_probabilities, count).tolist(), key=lambda place: -log_probabilities[place])
    return tuple((int(allowed[place]), float(log_probabilities[place])) for place in best)


def likeliest_places(log_probabilities: NDArray[np.float64], count: int) -> NDArray[np.intp]:
    """Return the places of the `count` greatest values, in ascending order; of equal values, the first."""
    if count >= len(log_probabilities):
        return np.arange(len(log_probabilities))
    least = np.partition(log_probabilities, -count)[-count]
    above = np.flatnonzero(log_probabilities > least)
    equal = np.flatnonzero(log_probabilities == least)[: count - len(above)]
    return np.sort(np.concatenate([above, equal]))


def log_softmax(scores: NDArray[np.floating]) -> tuple[NDArray[np.float64], float]:
    """Return log-probabilities, and the logarithm of the sum of exponentials.

    If all scores are -inf, they share the probability. Raises ModelError for NaN and +inf, which a model returns when
    its numbers overflow: the likeliest token is then unknown.
    """
    best = float(scores.max())
    if not best < np.inf:
        raise ModelError(
            f"The model returned {'infinity' if best == np.inf else 'NaN'} as the logit of an allowed token. Load it "
            "in a wider dtype (dtype='float32'); a function must return numbers, or -inf for impossible tokens."
        )
    if np.isinf(best):
        relative = np.where(scores == best, 0.0, -np.inf)
        return relative - np.log((relative == 0.0).sum()), best
    shifted = scores.astype(np.float64) - best
    log_sum = float(np.log(np.exp(shifted).sum()))
    shifted -= log_sum
    return shifted, best + log_sum


def share_of_all(log_total: float, logits: NDArray[np.float32]) -> float:
    """Return the share of some tokens, given by `log_total`, in the probability of all; NaN logits count as 0."""
    best = float(np.fmax.reduce(logits))
    if np.isinf(best) or np.isinf(log_total):
        return 1.0 if log_total == best else 0.0
    log_all = best + np.log(np.nansum(np.exp(logits - np.float32(best)), dtype=np.float64))
    return min(float(np.exp(log_total - log_all)), 1.0)
