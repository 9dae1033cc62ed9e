"""Beam search under masks: for each request, its likeliest texts.

The score of a hypothesis is the sum of the log-probabilities of its tokens among the allowed ones, end token included.
This is the logarithm of the probability of sampling the text, so texts of all lengths can be compared. A score only
falls, so the search is over when no hypothesis exceeds the worst kept text. Dividing the score by the length was
rejected: the quotient is not a probability and may rise.
"""

import copy
import itertools
import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from structured.decoding.requests import Generation, Request
from structured.decoding.sampling import Sampler, TokenChoice, likeliest_places, log_softmax, share_of_all
from structured.decoding.text_in_progress import TextInProgress, write
from structured.index.masks import unpack
from structured.models import LanguageModel


def beam_search(
    model: LanguageModel, requests: Iterable[Request], *, beams: int = 4, jump_forward: bool = True
) -> list[list[Generation]]:
    """Return the finished hypotheses of each request: between one and `beams` different texts, best first.

    In each turn, every hypothesis is continued by its `beams` likeliest tokens, where all end tokens count as one. The
    best `beams` continuations go on; of two that spell the same text, only the likelier. A finished hypothesis is kept
    until `beams` better ones have finished. Nothing is sampled: the requests' random numbers are not used. One beam is
    greedy decoding.

    All hypotheses of all requests go through the model in one batch. With `jump_forward`, the model is not asked for
    forced tokens. A text is shortened if the budget removed a hypothesis with its score or a better one; the texts
    above the first shortened one are ranked as without a budget.

    Raises ValueError if a request has thinking before its answer, OutOfMemoryError if the
    batch exceeds the memory of the model's device, ModelError for other failures of the model, and PatternError or
    GrammarError if an automaton exceeds its limits.
    """
    requests = list(requests)
    if any(request.thinking is not None for request in requests):
        raise ValueError("A request has thinking, which beam search does not support. Use samples instead.")
    searches = [_Search(request, beams, jump_forward) for request in requests]
    write(model, searches)
    return [search.ranking() for search in searches]


class _Continuation(NamedTuple):
    """A hypothesis, by its row, and the token after it; None if the model has not read all of the hypothesis."""

    score: float
    log_probability: float
    """That of the token alone."""
    row: int
    token_id: int | None = None
    fits_budget: bool = True
    """Whether the budget allows the token."""
    legal_mass: float = 1.0


@dataclass(slots=True, eq=False)
class _Search:
    """The search for the texts of one request."""

    window: ClassVar[int] = 0
    request: Request
    beams: int
    jump_forward: bool
    live: list[TextInProgress] = field(default_factory=list)
    """The unfinished hypotheses, in the order of their rows."""
    ended: list[tuple[int, TextInProgress]] = field(default_factory=list)
    """The hypotheses that the last turn finished, each with the row of its parent."""
    finished: dict[bytes, Generation] = field(default_factory=dict)
    best_lost_score: float | None = None
    """The best score among the continuations that the budget removed."""

    def __post_init__(self) -> None:
        self.request = self.request.copy(self.request.generator)
        self._keep(TextInProgress(self.request, Sampler(), self.jump_forward))

    def ranking(self) -> list[Generation]:
        """Return the finished texts, best first."""
        ranked = sorted(self.finished.values(), key=lambda text: -text.log_probability)
        lost = self.best_lost_score
        return [replace(text, shortened=lost is not None and text.log_probability <= lost) for text in ranked]

    def expand(self, logits: NDArray[np.float32]) -> list[int]:
        """Replace the live hypotheses by their best continuations, and return the row of each one's parent.

        `logits` has shape (live, width). A hypothesis with pending tokens is its own continuation.
        """
        self.ended = []
        if all(parent.pending for parent in self.live):
            return list(range(len(self.live)))
        started = perf_counter()
        parents, self.live = self.live, []
        candidates = (_continuations(row, parent, logits[row], self.beams) for row, parent in enumerate(parents))
        continuations = sorted(itertools.chain(*candidates), key=lambda one: (-one.score, -one.log_probability))
        rows: list[int] = []
        taken: set[tuple[bytes, bool]] = set()
        for continuation in continuations:
            if len(taken) == self.beams or (continuation.score <= self._score_to_exceed() and (taken or self.finished)):
                break
            if not continuation.fits_budget:
                lost = self.best_lost_score
                self.best_lost_score = continuation.score if lost is None else max(lost, continuation.score)
                continue
            child = parents[continuation.row]
            if continuation.token_id is not None:
                child = copy.copy(child)
                child.extend(TokenChoice(continuation.token_id, continuation.log_probability, continuation.legal_mass))
            key = bytes(child.written), child.finished
            if key not in taken:
                taken.add(key)
                if self._keep(child):
                    rows.append(continuation.row)
                else:
                    self.ended.append((continuation.row, child))
        for child in self.live:
            child.seconds_in_guide += perf_counter() - started
        return rows

    def _score_to_exceed(self) -> float:
        """Return the score that a hypothesis must exceed: that of the worst of `beams` finished texts."""
        full = len(self.finished) == self.beams
        return min(text.log_probability for text in self.finished.values()) if full else -math.inf

    def _keep(self, hypothesis: TextInProgress) -> bool:
        """Add a hypothesis to the live or the finished ones, and tell whether it is live."""
        if hypothesis.error is not None:
            raise hypothesis.error
        if not hypothesis.finished:
            self.live.append(hypothesis)
            return True
        text = bytes(hypothesis.written)
        kept = self.finished.get(text)
        if kept is None or kept.log_probability < hypothesis.log_probability:
            hypothesis.end()
            self.finished[text] = hypothesis.generation()
        if len(self.finished) > self.beams:
            del self.finished[min(self.finished, key=lambda text: self.finished[text].log_probability)]
        return False


def _continuations(row: int, parent: TextInProgress, logits: NDArray[np.float32], beams: int) -> list[_Continuation]:
    """Return the continuations of a hypothesis by its likeliest tokens; `logits` has shape (width,)."""
    if parent.pending:
        return [_Continuation(parent.log_probability, 0.0, row)]
    guide = parent.guide
    count = beams + len(guide.index.vocabulary.end_token_ids) - 1
    logits = np.asarray(parent.penalised(logits[: guide.index.vocabulary.size]))  # models have more, rounded up
    unlimited, within_budget = guide.mask_without_budget(), guide.mask()
    allowed = np.flatnonzero(unpack(unlimited, len(logits)))
    if within_budget is not unlimited and not (unpack(within_budget, len(logits))[allowed]).any():
        allowed = np.flatnonzero(unpack(within_budget, len(logits)))  # a tight budget allows unusual tokens only
    log_probabilities, log_total = log_softmax(logits[allowed])
    best = int(np.argmax(log_probabilities))
    if parent.repeats(int(allowed[best])):
        out = unpack(guide.shortest_completion_mask(), len(logits))[allowed]
        if not out[best]:
            parent.repetition_places.append(len(parent.written))
        allowed, log_probabilities, within_budget = allowed[out], log_probabilities[out], unlimited
    chosen = likeliest_places(log_probabilities, count)
    fits_budget = np.ones(len(allowed), dtype=np.bool_)
    if within_budget is not unlimited:
        fits_budget = unpack(within_budget, len(logits))[allowed]
        fitting = np.flatnonzero(fits_budget)
        chosen = np.union1d(chosen, fitting[likeliest_places(log_probabilities[fitting], count)])
    legal_mass = share_of_all(log_total, logits)
    return [
        _Continuation(
            parent.log_probability + float(log_probabilities[place]),
            float(log_probabilities[place]),
            row,
            int(allowed[place]),
            bool(fits_budget[place]),
            legal_mass,
        )
        for place in chosen.tolist()
    ]
