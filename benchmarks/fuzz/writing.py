"""Answers under a guide: tokens taken by random logits of several tempers, some of which want what is not allowed.

Only the logits of allowed tokens are looked up, in one long row of normal numbers from a random place on: as random as
logits of their own, without as many random numbers as the vocabulary has tokens.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from structured.index.guide import Guide
from structured.index.masks import Mask, unpack
from structured.vocabulary import Vocabulary

Scores: TypeAlias = NDArray[np.float32]

_NOISE: Scores = np.random.default_rng(0).normal(size=1 << 19).astype(np.float32)
_SMALL = 2_048
"""Allowed tokens of a mask that are kept for the next time."""


class StuckError(Exception):
    """A guide that is not finished and allows no token."""


@dataclass
class Pen:
    """What writes: a vocabulary with what writers ask of it."""

    vocabulary: Vocabulary
    lengths: Scores = field(init=False)
    ends: NDArray[np.bool_] = field(init=False)
    quotes: NDArray[np.bool_] = field(init=False)
    _kept: dict[bytes, NDArray[np.intp]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        tokens = self.vocabulary.tokens
        self.lengths = np.array([len(token or b"") for token in tokens], dtype=np.float32)
        self.ends = np.zeros(len(tokens), dtype=np.bool_)
        self.ends[list(self.vocabulary.end_token_ids)] = True
        self.quotes = np.array([not set(token or b"").isdisjoint(b'"]}') for token in tokens], dtype=np.bool_)

    def allowed(self, mask: Mask) -> NDArray[np.intp]:
        """Return the tokens of a mask."""
        key = mask.tobytes() if mask.nbytes < _SMALL else None
        found = self._kept.get(key) if key is not None else None
        if found is None:
            found = np.flatnonzero(unpack(mask, self.vocabulary.size))
            if key is not None:
                self._kept[key] = found
        return found


Writer: TypeAlias = Callable[[Pen, NDArray[np.intp], random.Random], Scores]
"""The scores of allowed tokens, of which the highest is taken."""


def noise(allowed: NDArray[np.intp], rng: random.Random) -> Scores:
    """Return normal numbers for some tokens."""
    start = rng.randrange(1 << 18)
    places = allowed + start if allowed[-1] < 1 << 18 else (allowed + start) & ((1 << 19) - 1)
    found: Scores = _NOISE[places]
    return found


def tempered(temperature: float) -> Writer:
    """Return a writer with the same preferences all along, as sure of them as a temperature leaves it."""

    def scores(_: Pen, allowed: NDArray[np.intp], rng: random.Random) -> Scores:
        own = _NOISE[(allowed * 7919) & ((1 << 19) - 1)]
        found: Scores = own / np.float32(temperature) + noise(allowed, rng)
        return found

    return scores


def _long(pen: Pen, allowed: NDArray[np.intp], rng: random.Random) -> Scores:
    found: Scores = pen.lengths[allowed] + noise(allowed, rng)
    return found


def _short(pen: Pen, allowed: NDArray[np.intp], rng: random.Random) -> Scores:
    found: Scores = noise(allowed, rng) - pen.lengths[allowed]
    return found


def _endless(pen: Pen, allowed: NDArray[np.intp], rng: random.Random) -> Scores:
    """Never end, and close nothing, unless there is no other choice."""
    found: Scores = noise(allowed, rng) - 50 * pen.ends[allowed] - 20 * pen.quotes[allowed]
    return found


def _brief(pen: Pen, allowed: NDArray[np.intp], rng: random.Random) -> Scores:
    found: Scores = noise(allowed, rng) + 50 * pen.ends[allowed] + 2 * pen.quotes[allowed]
    return found


def _uniform(_: Pen, allowed: NDArray[np.intp], rng: random.Random) -> Scores:
    return noise(allowed, rng)


WRITERS: tuple[Writer, ...] = (
    _uniform,
    tempered(0.2),
    tempered(1.0),
    tempered(5.0),
    _long,
    _short,
    _endless,
    _brief,
)


def written(guide: Guide, pen: Pen, writer: Writer, rng: random.Random, *, forced: bool = False) -> bytes:
    """Write a text to its end, with `forced` by way of the tokens that are known to follow, too.

    Raises StuckError where no token is allowed, and ValueError where one that is allowed is not taken.
    """
    tokens, text = pen.vocabulary.tokens, bytearray()
    while not guide.finished:
        if forced and rng.random() < 0.5:
            for token_id in guide.take_forced():
                text += tokens[token_id] or b""
            if guide.finished:
                break
        allowed = pen.allowed(guide.mask())
        if not len(allowed):
            raise StuckError(f"{guide!r} after {bytes(text)!r}")
        token_id = int(allowed[int(np.argmax(writer(pen, allowed, rng)))]) if len(allowed) > 1 else int(allowed[0])
        guide.advance(token_id)
        if not pen.ends[token_id]:
            text += tokens[token_id] or b""
    return bytes(text)
