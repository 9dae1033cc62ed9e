"""Forking: texts of which several are continuations of one, a row of a decoding batch for each.

Beam search and particles differ in which texts go on each turn, and how often. What the model has to do for that is the
same: it reads what was appended, keeps the rows that go on, and copies those that fork.
"""

from collections.abc import Iterable
from functools import partial
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from structured.decoding.device_masks import to_host
from structured.decoding.requests import Request
from structured.decoding.sequence import Sequence, timed_in_model
from structured.models import DecodingBatch, LanguageModel, Logits
from structured.models import checked_calls as calls


class Forking(Protocol):
    """The texts of one request."""

    request: Request
    ended: list[tuple[int, Sequence]]
    """Those that the last turn has finished, with the rows that they come from."""

    @property
    def live(self) -> list[Sequence]:
        """Those that go on, in the order of their rows."""

    @property
    def window(self) -> int:
        """How many of the last tokens to be read want scores, those before each of them."""

    def expand(self, logits: NDArray[np.float32]) -> list[int]:
        """Continue the live texts, and return the row that each of those that go on now comes from.

        `logits` has shape (live, width), or (live, window + 1, width), the window being the widest of the batch.
        """


def write(model: LanguageModel, requested: Iterable[Forking]) -> None:
    """Finish the texts of some requests, all in one batch: its rows are the live ones, one request behind the other."""
    texts = [one for one in requested if one.live]
    if not texts:
        return
    shared = min(one.request.shared for one in texts)
    live = [text for one in texts for text in one.live]
    window = max(one.window for one in texts)
    prompts = [text.read_all() for text in live]
    batch, logits = timed_in_model(live, lambda: calls.prefill(model, prompts, shared=shared, window=window))
    while True:
        rows: list[int] = []
        first, scores = 0, to_host(logits)
        for one in texts:
            after = first + len(one.live)
            rows += [first + row for row in one.expand(scores[first:after])]
            for row, text in one.ended:
                calls.called(model.name, partial(batch.finish, first + row, text.pending))
            first = after
        texts = [one for one in texts if one.live]
        if not texts:
            return
        if rows != list(range(first)):
            calls.called(model.name, partial(batch.select, rows))
        logits = _forward(model, batch, texts)


def _forward(model: LanguageModel, batch: DecodingBatch, texts: list[Forking]) -> Logits:
    """Let the model read what it has not; where it must read as much of each text, as much as all have."""
    live = [text for one in texts for text in one.live]
    window = max(one.window for one in texts)
    counts = [len(text.pending) for text in live]
    new = [text.read(max(counts) if batch.is_ragged else min(counts)) for text in live]
    return timed_in_model(live, lambda: calls.forward(model, batch, new, window=window))
