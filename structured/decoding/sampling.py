"""Sampling: from logits and a mask to a token, by a masked softmax in compiled loops, and the same in NumPy.

Sampling runs on the host, one token at a time from one row. Each text has a generator of its own, so that it does not
depend on the batch.

The weight of a token is the exponential of its logit minus the greatest legal logit, in single precision, with an error
of a millionth. The exponential is written out, because a library's takes one logit at a time. Arrays of the
vocabulary's size are avoided, because after a forward pass fresh memory costs more than arithmetic. Until the loops
are compiled, NumPy does the same; run as Python, they would take a second for a large vocabulary.
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
"""The least and greatest exponents of weights, as powers of two: single precision holds them and their sum."""

SIXTH, FIFTH, FOURTH, THIRD, SECOND, FIRST = (np.float32(math.log(2) ** n / math.factorial(n)) for n in range(6, 0, -1))
"""The coefficients of the series of 2 ** x."""


def survey_arrays(logits: Logits, mask: Masks, sums: Sums) -> int:
    """Compute `survey` in NumPy, in memory of the vocabulary's size."""
    legal = unpack(mask, len(logits))
    allowed = logits[legal]
    if not len(allowed) or np.isnan(allowed).any() or np.isinf(allowed.max()):
        return -1
    token_id = int(np.flatnonzero(legal)[allowed.argmax()])
    weights = exponentials((logits - logits[token_id]) * LOG2_E)
    sums[:] = weights[legal].sum(dtype=np.float64), weights.sum(dtype=np.float64)
    return token_id


def weigh_arrays(logits: Logits, mask: Masks, best: Single, temperature: Single, weights: Weights) -> None:
    """Compute `weigh` in NumPy."""
    power = (logits - best) * (LOG2_E / temperature)
    weights[:] = np.where(unpack(mask, len(logits)) & (power > MIN_POWER), exponentials(power), np.float32(0.0))


def turned_arrays(weights: Weights, share: Double) -> int:
    """Compute `turned` in NumPy."""
    sums = np.cumsum(weights, dtype=np.float64)
    place = int(np.searchsorted(sums, share * sums[-1], side="right"))
    return place if place < len(weights) else int(np.max(np.flatnonzero(weights), initial=-1))


def exponentials(power: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return 2 ** power for each power; powers below MIN_POWER and NaN count as MIN_POWER."""
    weights: NDArray[np.float32] = np.exp2(np.minimum(np.fmax(power, MIN_POWER), MAX_POWER))
    return weights


@reassociating_loop
def exponential(power: Single) -> Single:
    """Return 2 ** power; a power below MIN_POWER and NaN count as MIN_POWER."""
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
    """Return the likeliest token of a mask, the first of equals; -1 if its logit is infinite or a legal one is NaN."""
    token_id, best = -1, np.float32(-np.inf)
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
                        token_id, best = 32 * word + bit, block[bit]
    return -1 if np.isinf(best) else token_id


@reassociating_loop
def sum_up(logits: Logits, mask: Masks, best: Single, sums: Sums) -> None:
    """Write the sum of the weights of the legal tokens, and that of all tokens, into `sums`."""
    sums[:] = 0.0
    words = len(logits) // 32
    for word in range(words):
        bits = word_of(mask, word)
        first = 32 * word
        legal = total = np.float32(0.0)
        for bit in range(32):  # a constant bound makes the loop twice as fast
            weight = exponential((logits[first + bit] - best) * LOG2_E)
            total += weight
            legal += weight if (bits >> np.int32(bit)) & np.int32(1) else np.float32(0.0)
        sums[0] += legal
        sums[1] += total
    bits = word_of(mask, words)
    for token_id in range(32 * words, len(logits)):
        weight = exponential((logits[token_id] - best) * LOG2_E)
        sums[1] += weight
        if (bits >> np.int32(token_id & 31)) & np.int32(1):
            sums[0] += weight


@entry_with_fallback(survey_arrays)
def survey(logits: Logits, mask: Masks, sums: Sums) -> int:
    """Return the likeliest token, as `likeliest` does, and write the sums of weights relative to it into `sums`."""
    token_id = likeliest(logits, mask)
    if token_id >= 0:
        sum_up(logits, mask, logits[token_id], sums)
    return token_id


@entry_with_fallback(weigh_arrays)
@reassociating_loop
def weigh(logits: Logits, mask: Masks, best: Single, temperature: Single, weights: Weights) -> None:
    """Write the weight of each token at a temperature into `weights`: 0 if it is not legal or its power too small."""
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
    """Return the sum of at most a few hundred weights."""
    total = np.float32(0.0)
    for place in range(len(weights)):
        total += weights[place]
    return float(total)


@entry_with_fallback(turned_arrays)
def turned(weights: Weights, share: Double) -> int:
    """Return the place where the running sum of weights exceeds a share of their total: a sample, if it is uniform."""
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
        sums = np.empty(2)
        token_id = survey(logits, mask, sums)
        if token_id < 0:
            return self._choose_unusual(logits, np.flatnonzero(unpack(mask, len(logits))), generator)
        legal, total = sums.tolist()
        log_ratio = 0.0  # to the likeliest token
        if self.temperature > 0:
            best = logits[token_id]
            weights = np.empty_like(logits)
            weigh(logits, mask, best, np.float32(self.temperature), weights)
            token_id = turned(self._truncated(weights), generator.random())
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
