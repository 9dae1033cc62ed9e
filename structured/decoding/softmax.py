"""The masked softmax: the likeliest token, the weights of all, and samples of them, as loops and by NumPy.

A weight is the exponential of how far a logit is above the likeliest legal one, in single precision: right to a
millionth. The exponential is written out, for a library's is not computed for eight logits at a time; and no array of
the vocabulary's size is made where it need not be, for after a forward pass fresh memory costs more than arithmetic.
Until the loops are compiled, NumPy does the same: as Python they would take a second for a large vocabulary.
"""

import math
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from structured.automata.loops.jit import Array, compiled_loop, entry_with_fallback, reassociating_loop
from structured.index.masks import unpack

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
    """Return the place where the running sum of the weights goes beyond a share, from 0 to 1, of the whole.

    With a uniform share that is a sample: the inverse of the distribution function.
    """
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
