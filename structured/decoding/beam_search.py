"""Beam search under masks: for each request, its likeliest texts.

A hypothesis is worth the sum of the log-probabilities of its tokens among those that the pattern allows, end token
included. That is the logarithm of the probability with which it would be sampled, so texts of all lengths compare as
they are, and since sums only fall, the search knows when it is over. Dividing by the length, as beam search without a
mask needs against texts that end too soon, was not taken: it ranks by what is no probability, and has no such end.
"""

import copy
import dataclasses
import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from time import perf_counter
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from structured.decoding.requests import Generation, Request
from structured.decoding.sampling import Sampler, TokenChoice, log_softmax, share_of_all
from structured.decoding.sequence import Sequence, write
from structured.index.guide import Guide, WrongMaskError
from structured.index.masks import unpack
from structured.models import LanguageModel

DEFAULT_BEAMS = 4


def beam_search(
    model: LanguageModel, requests: Iterable[Request], *, beams: int = DEFAULT_BEAMS, jump_forward: bool = True
) -> list[list[Generation]]:
    """Return for each request its finished hypotheses: at most `beams` different texts, at least one, best first.

    Each turn, every hypothesis is continued by its `beams` likeliest tokens, all end tokens being one, and the best
    `beams` of all that makes go on; of two that spell the same text, the likelier. Those that end are kept until so
    many better ones have ended.
    Nothing is sampled: the requests' random numbers are not touched. With one beam it is greedy decoding.

    All hypotheses of all requests go through the model in one batch. With `jump_forward`, tokens that are known are
    not asked for. A text is called shortened if the budget took away a hypothesis that was worth as much or more; down
    to the last that is not, the ranking is that of a budget without end.

    Raises ValueError if `beams` is less than 1 or a request has thinking before its answer, OutOfMemoryError if the
    batch is too much for the model's device, ModelError for what else the model raises, or returns, and PatternError or
    GrammarError if an automaton is too much.
    """
    if beams < 1:
        raise ValueError(f"beams is {beams}; it must be 1 or greater.")
    requests = list(requests)
    if any(request.thinking is not None for request in requests):
        raise ValueError("A request has thinking, and beam search cannot be combined with it. Use samples instead.")
    searches = [_Search(request, beams, jump_forward) for request in requests]
    write(model, searches)
    return [search.ranking() for search in searches]


class _Continuation(NamedTuple):
    """A hypothesis, by its row, and a token after it; None if its turn has not come."""

    score: float
    log_probability: float
    """Of the token alone."""
    row: int
    token_id: int | None = None
    fits: bool = True
    """Whether the budget allows it."""
    legal_mass: float = 1.0


@dataclass(slots=True, eq=False)
class _Search:
    """The search for the texts of one request."""

    window: ClassVar[int] = 0
    request: Request
    beams: int
    jump_forward: bool
    live: list[Sequence] = field(default_factory=list)
    """The hypotheses that go on."""
    ended: list[tuple[int, Sequence]] = field(default_factory=list)
    """Those that the last turn has finished, with the rows that they come from."""
    finished: dict[bytes, Generation] = field(default_factory=dict)
    lost: float | None = None
    """The best score of what would have gone on if the budget had allowed it."""

    def __post_init__(self) -> None:
        self.request = dataclasses.replace(self.request, guide=self.request.guide.copy())
        self._keep(Sequence(self.request, Sampler(), self.jump_forward))

    def ranking(self) -> list[Generation]:
        """Return the finished texts, best first."""
        found = sorted(self.finished.values(), key=lambda text: -text.log_probability)
        lost = self.lost
        return [
            dataclasses.replace(text, shortened=lost is not None and text.log_probability <= lost) for text in found
        ]

    def expand(self, logits: NDArray[np.float32]) -> list[int]:
        """Put the best continuations in place of the live hypotheses; return the row that each comes from.

        `logits` has shape (live, width). A hypothesis that is not read to its end is its own continuation.
        """
        self.ended = []
        if all(parent.pending for parent in self.live):
            return list(range(len(self.live)))
        started = perf_counter()
        parents, self.live = self.live, []
        continuations = sorted(self._continuations(parents, logits), key=lambda one: (-one.score, -one.log_probability))
        rows: list[int] = []
        taken: set[tuple[bytes, bool]] = set()
        for one in continuations:
            if len(taken) == self.beams or (one.score <= self._bar() and (taken or self.finished)):
                break
            if not one.fits:
                self.lost = one.score if self.lost is None else max(self.lost, one.score)
                continue
            child = _after(parents[one.row], one)
            key = bytes(child.text), child.finished
            if key not in taken:
                taken.add(key)
                if self._keep(child):
                    rows.append(one.row)
                else:
                    self.ended.append((one.row, child))
        for child in self.live:
            child.seconds_in_guide += perf_counter() - started
        return rows

    def _bar(self) -> float:
        """Return the score that a hypothesis must exceed: that of the worst finished text, if all are there."""
        full = len(self.finished) == self.beams
        return min(text.log_probability for text in self.finished.values()) if full else -math.inf

    def _keep(self, hypothesis: Sequence) -> bool:
        """Take up a hypothesis among the finished or the live, and tell whether it lives."""
        if hypothesis.error is not None:
            raise hypothesis.error
        if not hypothesis.finished:
            self.live.append(hypothesis)
            return True
        text = bytes(hypothesis.text)
        known = self.finished.get(text)
        if known is None or known.log_probability < hypothesis.log_probability:
            hypothesis.end()
            self.finished[text] = hypothesis.generation()
        if len(self.finished) > self.beams:
            del self.finished[min(self.finished, key=lambda text: self.finished[text].log_probability)]
        return False

    def _continuations(self, parents: list[Sequence], logits: NDArray[np.float32]) -> list[_Continuation]:
        found: list[_Continuation] = []
        for row, parent in enumerate(parents):
            if parent.pending:
                found.append(_Continuation(parent.log_probability, 0.0, row))
            else:
                found += _followers(row, parent, logits[row], self.beams)
        return found


def _after(parent: Sequence, one: _Continuation) -> Sequence:
    """Return what a hypothesis becomes by a continuation."""
    if one.token_id is None:
        return parent
    child = copy.copy(parent)
    child.extend(TokenChoice(one.token_id, one.log_probability, one.legal_mass))
    return child


def _followers(row: int, parent: Sequence, logits: NDArray[np.float32], beams: int) -> list[_Continuation]:
    """Return a hypothesis with each of its likeliest tokens after it; `logits` has shape (width,)."""
    guide = parent.guide
    count = beams + len(guide.index.vocabulary.end_token_ids) - 1
    logits = np.asarray(parent.penalised(logits[: guide.index.vocabulary.size]))  # models have more, rounded up
    ample, within = guide.ample_mask(), guide.mask()
    allowed = np.flatnonzero(unpack(ample, len(logits)))
    if within is not ample and not (unpack(within, len(logits))[allowed]).any():
        allowed = np.flatnonzero(unpack(within, len(logits)))  # other tokens than the usual ones, which are too many
    log_probabilities, log_total = log_softmax(logits[allowed])
    best = int(np.argmax(log_probabilities))
    if parent.repeats(int(allowed[best])):
        out = unpack(guide.way_out(), len(logits))[allowed]
        parent.repetitions += not out[best]
        allowed, log_probabilities, within = allowed[out], log_probabilities[out], ample
    chosen = _likeliest(log_probabilities, count)
    fits = np.ones(len(allowed), dtype=np.bool_)
    if within is not ample:
        fits = unpack(within, len(logits))[allowed]
        fitting = np.flatnonzero(fits)
        chosen = np.union1d(chosen, fitting[_likeliest(log_probabilities[fitting], count)])
    legal_mass = share_of_all(log_total, logits)
    if guide.index.states_learned and not all(_can_take(guide, int(allowed[place])) for place in chosen if fits[place]):
        return _followers(row, parent, logits, beams)  # under a mask that is right
    return [
        _Continuation(
            parent.log_probability + float(log_probabilities[place]),
            float(log_probabilities[place]),
            row,
            int(allowed[place]),
            bool(fits[place]),
            legal_mass,
        )
        for place in chosen.tolist()
    ]


def _can_take(guide: Guide, token_id: int) -> bool:
    """Tell whether a token of the mask can indeed follow; if not, the mask was learned, and is right from now on."""
    try:
        guide.copy().advance(token_id)
    except WrongMaskError:
        return False
    return True


def _likeliest(log_probabilities: NDArray[np.float64], count: int) -> NDArray[np.intp]:
    """Return the places of the `count` greatest, the first of those that are equal; in ascending order."""
    if count >= len(log_probabilities):
        return np.arange(len(log_probabilities))
    least = np.partition(log_probabilities, -count)[-count]
    above = np.flatnonzero(log_probabilities > least)
    equal = np.flatnonzero(log_probabilities == least)[: count - len(above)]
    return np.sort(np.concatenate([above, equal]))
