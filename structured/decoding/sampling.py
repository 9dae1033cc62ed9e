"""Sampling: from logits and a mask to a token, by a masked softmax in compiled loops, beside the same in NumPy.

Sampling is done on the host, one token at a time from one row, with a generator of its own for each text, so that a
text does not depend on what it was batched with.

A weight is the exponential of how far a logit is above the likeliest legal one, in single precision: right to a
millionth. The exponential is written out, for a library's is not computed for eight logits at a time; and no array of
the vocabulary's size is made where it need not be, for after a forward pass fresh memory costs more than arithmetic.
Until the loops are compiled, NumPy does the same: as Python they would take a second for a large vocabulary.
"""

import functools
import math
from dataclasses import dataclass, fields
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from structured.automata.loops.jit import Array, compiled_loop, entry_with_fallback, reassociating_loop
from structured.errors import ModelError
from structured.errors.arguments import check_fields, count, number, or_none, whole
from structured.index.masks import Mask, allows, unpack

Logits = Annotated[NDArray[np.float32], Array("float32", is_readonly=True)]
Masks = Annotated[NDArray[np.int32], Array("int32", is_readonly=True)]
Weights = Annotated[NDArray[np.float32], Array("float32")]
Sums = Annotated[NDArray[np.float64], Array("float64")]
Single = Annotated[np.float32, "float32"]
Double = Annotated[float, "float64"]
Word = Annotated[np.int32, "int32"]

LOG2_E = np.float32(math.log2(math.e))
MIN_POWER, MAX_POWER = np.float32(-126.0), np.float32(120.0)
"""The powers of two that weights are between: what single precision holds, and with room for a sum."""

SIXTH, FIFTH, FOURTH, THIRD, SECOND, FIRST = (np.float32(math.log(2) ** n / math.factorial(n)) for n in range(6, 0, -1))
"""The coefficients of the series of 2 ** x."""


def survey_arrays(logits: Logits, mask: Masks, found: Sums) -> int:
    """Do what `survey` does by NumPy, in memory of the vocabulary's size."""
    legal = unpack(mask, len(logits))
    allowed = logits[legal]
    if not len(allowed) or np.isnan(allowed).any() or np.isinf(allowed.max()):
        return -1
    token_id = int(np.flatnonzero(legal)[allowed.argmax()])
    weights = exponentials((logits - logits[token_id]) * LOG2_E)
    found[:] = weights[legal].sum(dtype=np.float64), weights.sum(dtype=np.float64)
    return token_id


def weigh_arrays(logits: Logits, mask: Masks, best: Single, temperature: Single, weights: Weights) -> None:
    """Do what `weigh` does by NumPy."""
    power = (logits - best) * (LOG2_E / temperature)
    weights[:] = np.where(unpack(mask, len(logits)) & (power > MIN_POWER), exponentials(power), np.float32(0.0))


def turned_arrays(weights: Weights, share: Double) -> int:
    """Do what `turned` does by NumPy."""
    sums = np.cumsum(weights, dtype=np.float64)
    place = int(np.searchsorted(sums, share * sums[-1], side="right"))
    return place if place < len(weights) else int(np.max(np.flatnonzero(weights), initial=-1))


def exponentials(power: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return 2 ** power for each of some powers; the least there is for less, and for NaN."""
    weights: NDArray[np.float32] = np.exp2(np.minimum(np.fmax(power, MIN_POWER), MAX_POWER))
    return weights


@reassociating_loop
def exponential(power: Single) -> Single:
    """Return 2 ** power; the least there is for less, and for NaN."""
    within = min(max(MIN_POWER, power), MAX_POWER)
    whole = np.floor(within + np.float32(0.5))
    x = within - whole  # between -0.5 and 0.5
    series = (((((SIXTH * x + FIFTH) * x + FOURTH) * x + THIRD) * x + SECOND) * x + FIRST) * x + np.float32(1.0)
    scale: np.float32 = np.int32((np.int32(whole) + np.int32(127)) << np.int32(23)).view(np.float32)
    return np.float32(series * scale)


@compiled_loop
def word_of(mask: Masks, word: int) -> Word:
    """Return 32 bits of a mask; beyond its end, nothing is legal."""
    return mask[word] if word < len(mask) else np.int32(0)


@compiled_loop
def likeliest(logits: Logits, mask: Masks) -> int:
    """Return the likeliest token of a mask, the first of several; -1 if its logit is infinite or one of them is NaN."""
    found, best = -1, np.float32(-np.inf)
    for word in range((len(logits) + 31) // 32):
        bits = word_of(mask, word)
        if bits == 0:
            continue
        block = logits[32 * word : 32 * word + 32]
        is_of_interest = False
        for bit in range(len(block)):
            is_of_interest |= not block[bit] <= best  # greater, or NaN
        if is_of_interest:
            for bit in range(len(block)):
                if (bits >> bit) & 1:
                    if np.isnan(block[bit]):
                        return -1
                    if block[bit] > best:
                        found, best = 32 * word + bit, block[bit]
    return -1 if np.isinf(best) else found


@reassociating_loop
def sum_up(logits: Logits, mask: Masks, best: Single, found: Sums) -> None:
    """Write down the sum of the weights of the legal tokens, and that of all."""
    found[:] = 0.0
    words = len(logits) // 32
    for word in range(words):
        bits = word_of(mask, word)
        first = 32 * word
        legal = total = np.float32(0.0)
        for bit in range(32):  # a number that the compiler knows: twice as fast as up to the end of a slice
            weight = exponential((logits[first + bit] - best) * LOG2_E)
            total += weight
            legal += weight if (bits >> np.int32(bit)) & np.int32(1) else np.float32(0.0)
        found[0] += legal
        found[1] += total
    bits = word_of(mask, words)
    for token_id in range(32 * words, len(logits)):
        weight = exponential((logits[token_id] - best) * LOG2_E)
        found[1] += weight
        if (bits >> np.int32(token_id & 31)) & np.int32(1):
            found[0] += weight


@entry_with_fallback(survey_arrays)
def survey(logits: Logits, mask: Masks, found: Sums) -> int:
    """Return the likeliest token, as `likeliest` does, and write down the sums of weights that it has."""
    token_id = likeliest(logits, mask)
    if token_id >= 0:
        sum_up(logits, mask, logits[token_id], found)
    return token_id


@entry_with_fallback(weigh_arrays, reassociates=True)
def weigh(logits: Logits, mask: Masks, best: Single, temperature: Single, weights: Weights) -> None:
    """Write down the weight of each token at a temperature: 0 if it is not legal, or less than the least there is."""
    scale = LOG2_E / temperature
    for word in range((len(logits) + 31) // 32):
        bits = word_of(mask, word)
        first = 32 * word
        for bit in range(min(32, len(logits) - first)):
            power = (logits[first + bit] - best) * scale
            is_drawn = (bits >> np.int32(bit)) & np.int32(1) and power > MIN_POWER
            weights[first + bit] = exponential(power) if is_drawn else np.float32(0.0)


@reassociating_loop
def total_of(weights: Weights) -> Double:
    """Return the sum of some weights, not more than a few hundred."""
    total = np.float32(0.0)
    for place in range(len(weights)):
        total += weights[place]
    return float(total)


@entry_with_fallback(turned_arrays)
def turned(weights: Weights, share: Double) -> int:
    """Return the place where the running sum of weights exceeds a share of all: a sample, if it is uniform."""
    total = 0.0
    for first in range(0, len(weights), 256):
        total += total_of(weights[first : first + 256])
    left = share * total
    last = -1
    for first in range(0, len(weights), 256):
        block = total_of(weights[first : first + 256])
        if block > left or first + 256 >= len(weights):
            for place in range(first, min(first + 256, len(weights))):
                if weights[place] > 0:
                    last = place
                    if weights[place] > left:
                        return place
                    left -= weights[place]
            if last >= 0:
                return last
        else:
            left -= block
    return last


LOWEST_TEMPERATURE = 1e-30
"""What any lower one is the same as, in single precision."""

HIGHEST_TEMPERATURE = 1e30
"""What is far above it has no number in single precision."""

SAMPLING = {
    "temperature": number(
        lambda value: 0 <= value <= HIGHEST_TEMPERATURE, "0 (greedy) or a positive number up to 1e30"
    ),
    "seed": or_none(whole(0)),
    "top_k": or_none(count(1, "1 or greater, or None for all tokens")),
    "top_p": number(lambda value: 0 < value <= 1, "greater than 0 and at most 1"),
    "min_p": number(lambda value: 0 <= value <= 1, "between 0 and 1"),
}
"""What each field of a `Sampler` must be."""


class TokenChoice(NamedTuple):
    """A token, and the logarithm of its probability among those of the mask, before temperature."""

    token_id: int
    log_probability: float
    legal_mass: float
    """The probability that the model gave to the tokens of the mask, before temperature."""
    steered: bool = False
    """Whether another token was sampled first, one outside the mask that it was confined to."""


@dataclass(frozen=True, slots=True)
class Sampler:
    """How tokens are sampled: greedily at temperature 0, else from the softmax of `logits / temperature`.

    Before a draw, all but the `top_k` likeliest tokens are left out, then those beyond the likeliest that together
    have the probability `top_p`, then those that are less likely than the likeliest by more than the factor `min_p`;
    each counts allowed tokens alone. With a seed the same text is sampled every time; without one, another each time.
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
    def chosen(self) -> tuple[str, ...]:
        """The fields that are not what they are by default."""
        return tuple(one.name for one in fields(self) if getattr(self, one.name) != one.default)

    @property
    def idle(self) -> tuple[str, ...]:
        """The fields that were set and have no effect, since at temperature 0 the likeliest token is taken."""
        return self.chosen if self.temperature == 0 else ()

    def generator(self, item: int, attempt: int) -> np.random.Generator:
        """Return the random numbers for one item of a batch and one attempt at it."""
        if self.temperature == 0:
            return _never_drawn_from()
        return np.random.default_rng(None if self.seed is None else [self.seed, item, attempt])

    def choose(
        self,
        logits: NDArray[np.float32],
        mask: Mask,
        generator: np.random.Generator,
        *,
        within: Mask | None = None,
    ) -> TokenChoice:
        """Sample one token of the mask. `logits` has shape (width,).

        The width may exceed the vocabulary; what is beyond counts as the model's wish for something illegal.

        `within`, a part of the mask, confines the choice: a token outside it is sampled again from inside, which gives
        each token the probability it has there. A choice that was inside anyway is the same as without confinement.

        Tokens that the model rules out with -inf are sampled only if it rules out every allowed one; then all are
        equal. Raises ModelError if a logit of an allowed token is NaN, or the highest one infinite.
        """
        choice = self._choose(np.ascontiguousarray(logits), mask, generator)
        return choice if within is None or within is mask else self.confined(choice, logits, within, generator)

    def confined(
        self, choice: TokenChoice, logits: NDArray[np.float32], within: Mask, generator: np.random.Generator
    ) -> TokenChoice:
        """Return a choice that was made if it is inside of a mask, or one that is sampled there."""
        if allows(within, choice.token_id):
            return choice
        inside = np.flatnonzero(unpack(within, len(logits)))
        drawn = inside[self._draw(log_softmax(logits[inside])[0], generator)]
        log_probability = choice.log_probability + float(logits[drawn]) - float(logits[choice.token_id])
        if not np.isfinite(log_probability):
            log_probability = choice.log_probability if logits[drawn] == logits[choice.token_id] else float("-inf")
        return TokenChoice(int(drawn), log_probability, choice.legal_mass, steered=True)

    def _choose(self, logits: NDArray[np.float32], mask: Mask, generator: np.random.Generator) -> TokenChoice:
        """Sample one token of the mask."""
        sums = np.empty(2)
        token_id = survey(logits, mask, sums)
        if token_id < 0:
            return self._choose_unusual(logits, np.flatnonzero(unpack(mask, len(logits))), generator)
        legal, total = sums.tolist()
        below = 0.0
        if self.temperature > 0:
            best = logits[token_id]
            weights = np.empty_like(logits)
            weigh(logits, mask, best, np.float32(self.temperature), weights)
            token_id = turned(self._kept(weights), generator.random())
            below = float(logits[token_id]) - float(best)
        return TokenChoice(token_id, below - math.log(legal), min(legal / total, 1.0))

    def _choose_unusual(
        self, logits: NDArray[np.float32], allowed: NDArray[np.int64], generator: np.random.Generator
    ) -> TokenChoice:
        """Sample one of some tokens, the scores of which may be infinite, or NaN."""
        log_probabilities, log_total = log_softmax(logits[allowed])
        position = self._draw(log_probabilities, generator)
        mass = share_of_all(log_total, logits)
        return TokenChoice(int(allowed[position]), float(log_probabilities[position]), mass)

    def _draw(self, log_probabilities: NDArray[np.float64], generator: np.random.Generator) -> int:
        if self.temperature == 0:
            return int(np.argmax(log_probabilities))
        weights = np.exp(log_softmax(log_probabilities / self.temperature)[0]).astype(np.float32)
        return turned(self._kept(weights), generator.random())

    def _kept(self, weights: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the weights of tokens, 0 for those left out."""
        if self.top_k is not None and self.top_k < len(weights):
            weights = np.where(weights >= np.partition(weights, -self.top_k)[-self.top_k], weights, 0.0)
        if self.top_p < 1:
            total = weights.sum(dtype=np.float64)
            # What is left out here has less than 1 - top_p together, so it need not be sorted.
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
def _never_drawn_from() -> np.random.Generator:
    """Return a generator for what draws nothing; one for each text would take as long as a token."""
    return np.random.default_rng(0)


def log_softmax(scores: NDArray[np.floating]) -> tuple[NDArray[np.float64], float]:
    """Return log-probabilities, and the logarithm of the sum that was divided by.

    Scores that are -inf, all of them, share the probability. Raises ModelError for NaN and +inf, which a model returns
    when numbers were too large for it: which token is the likeliest is then unknown.
    """
    best = float(scores.max())
    if not best < np.inf:
        raise ModelError(
            f"The model returned {'infinity' if best == np.inf else 'NaN'} as the logit of an allowed token. Load it "
            "in a wider dtype (dtype='float32'); a function must return numbers, or -inf for what is ruled out."
        )
    if np.isinf(best):
        found = np.where(scores == best, 0.0, -np.inf)
        return found - np.log((found == 0.0).sum()), best
    shifted = scores.astype(np.float64) - best
    log_sum = float(np.log(np.exp(shifted).sum()))
    shifted -= log_sum
    return shifted, best + log_sum


def share_of_all(log_total: float, logits: NDArray[np.float32]) -> float:
    """Return the part that some tokens have in the probability of all; logits that are NaN have none."""
    best = float(np.fmax.reduce(logits))
    if np.isinf(best) or np.isinf(log_total):
        return 1.0 if log_total == best else 0.0
    log_all = best + np.log(np.nansum(np.exp(logits - np.float32(best)), dtype=np.float64))
    return min(float(np.exp(log_total - log_all)), 1.0)
