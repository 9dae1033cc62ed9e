"""The cost of a token at the beginning of a long answer and at its end, beside what the model takes.

The model is a function that looks its logits up, so that nothing but the loop is left; what it takes is not counted.
"""

import itertools
import statistics
from collections.abc import Iterator, Sequence
from time import process_time
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from benchmarks.documents import Item
from structured.decoding.generate import compile_type, generate
from structured.decoding.requests import Request
from structured.decoding.sampling import Sampler
from structured.index.guide import Guide
from structured.models import FunctionModel
from structured.models.function import FunctionBatch
from structured.output_types.resolve import resolve_type
from structured.vocabulary import Vocabulary

EARLY, LATE, AROUND = 100, 4000, 90
"""Tokens that are compared, each with so many around it."""

ROWS = 64
"""Rows of logits that are taken in turn."""


class TimedModel(FunctionModel):
    """A model of random logits, and a clock of when texts were given to it and when they came back."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        rows = np.random.default_rng(0).normal(size=(ROWS, vocabulary.size)).astype(np.float32)
        closing = [token_id for token_id, token in enumerate(vocabulary.tokens) if token and b"]" in token]
        rows[:, closing] = -30.0  # the array goes on until its budget ends
        tokenizer = cast("Any", vocabulary)  # it has the tokens; nothing is encoded
        super().__init__(lambda token_ids: rows[len(token_ids) % ROWS], tokenizer)
        self.events: list[tuple[int, float, float]] = []
        """After so many tokens: when the model was asked, and when it had answered."""

    def prefill(
        self, prompts: Sequence[Sequence[int]], *, shared: int = 0, window: int = 0
    ) -> "tuple[TimedBatch, Any]":
        """Read the prompts."""
        del shared, window
        batch = TimedBatch(self, [[] for _ in prompts])
        return batch, batch.forward(prompts)


class TimedBatch(FunctionBatch):
    """Texts that note when tokens are appended."""

    def forward(self, token_ids: Sequence[Sequence[int]], *, window: int = 0) -> NDArray[np.float32]:
        """Append tokens, and note when."""
        started = process_time()
        logits = super().forward(token_ids, window=window)
        model: Any = self.model
        model.events.append((len(self.texts[0]), started, process_time()))
        return logits


def flat_cost(tokenizer: str) -> str:
    """Return the table for the vocabulary of a tokenizer, a folder or hub id."""
    from transformers import AutoTokenizer

    return flat_cost_of(Vocabulary.from_transformers(AutoTokenizer.from_pretrained(tokenizer)))


def flat_cost_of(vocabulary: Vocabulary, *, early: int = EARLY, late: int = LATE, repeats: int = 5) -> str:
    """Return the table for a vocabulary; the first of all runs, which makes the masks, does not count."""
    lines = [f"| | µs at token {early} | µs at token {late} | ratio | aim |", "|---" * 5 + "|"]
    for title, force in (("nothing forced", False), ("forced runs", True)):
        pairs = [measure(vocabulary, force=force, places=(early, late)) for _ in range(repeats + 1)][1:]
        before, after = (statistics.median(times) * 1e6 for times in zip(*pairs, strict=True))
        lines.append(f"| {title} | {before:.1f} | {after:.1f} | {after / before:.2f} × | ≤ 1.1 × |")
    return "\n".join(lines)


def measure(vocabulary: Vocabulary, *, force: bool, places: Sequence[int]) -> list[float]:
    """Return the seconds outside the model for each token around some places of one long answer."""
    model = TimedModel(vocabulary)
    index = compile_type(resolve_type(list[Item]), vocabulary)
    guide = Guide(index, max_tokens=max(places) + 4 * AROUND)
    generate(model, [Request([0], guide, np.random.default_rng(0))], Sampler(), jump_forward=force)
    return [_mean(list(_around(model.events, place))) for place in places]


def _around(events: Sequence[tuple[int, float, float]], place: int) -> Iterator[tuple[int, float]]:
    """Yield how many tokens were new, and the seconds that they took outside the model, near a place."""
    for (count, _, answered), (later, asked, _) in itertools.pairwise(events):
        if abs(count - place) <= AROUND:
            yield later - count, asked - answered


def _mean(steps: Sequence[tuple[int, float]]) -> float:
    """Return the seconds for each token, without the slowest tenth of the steps, which waited for something else."""
    kept = sorted(steps, key=lambda step: step[1] / step[0])[: max(len(steps) * 9 // 10, 1)]
    return sum(seconds for _, seconds in kept) / sum(count for count, _ in kept)
