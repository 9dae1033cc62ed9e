"""Sequential Monte Carlo under masks: for each request, texts that follow the model's own distribution over its type.

Sampling under a mask follows the model's distribution over tokens, not over texts. A likely first token may lead to
unlikely ones, and the mask hides how unlikely these are: the text is then sampled as often as its first token. So
several texts, the particles, are sampled at once. The weight of a particle is the product of the probabilities that the
model gave to the allowed tokens. If few particles have most of the weight, copies of these replace the others (Willard
& Louf, "Efficient Guided Generation for Large Language Models", 2023, section 2; Lew et al., "Sequential Monte Carlo
Steering of Large Language Models using Probabilistic Programs", 2023).

Forced tokens and the end of the text count too. The probability of the allowed tokens does not depend on the sampled
token, so particles are weighed before they are continued, and copies differ at once.
"""

import copy
import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from structured.decoding.requests import Generation, Request
from structured.decoding.sampling import Sampler, log_softmax
from structured.decoding.text_in_progress import TextInProgress, write
from structured.index.masks import unpack
from structured.models import LanguageModel
from structured.models.checked_calls import called


def sample_particles(
    model: LanguageModel, requests: Iterable[Request], sampler: Sampler, *, particles: int, jump_forward: bool = True
) -> list[list[Generation]]:
    """Return `particles` texts of equal weight for each request, in random order.

    As the number of particles grows, the texts follow the model's own distribution at the sampler's temperature, end
    included, given that a text is of the type and fits the budget. Texts are sequences of tokens, those that masks and
    forced tokens leave possible. The changes of a request's repetition control count as the model's. Each text gets the
    logarithm of the estimated probability that the model writes any text of the type; the estimate is unbiased for any
    number of particles.

    In each turn, the weight of a particle is multiplied by the probability of the tokens allowed next, within the
    budget. If the effective sample size, (sum of weights)² / sum of squares, falls below half the number of particles,
    they are resampled systematically, and once more at the end. If the model rules out all allowed tokens of all
    particles, they go on with equal weights.

    With `jump_forward`, forced tokens are appended and read at once if the model returns the logits before each
    (`can_roll_back`); otherwise each takes a pass. In both cases they are weighed.

    The guides and random numbers of the requests are copied, not used up. Raises OutOfMemoryError if the batch exceeds
    the memory of the model's device, ModelError for other failures of the model, and PatternError or GrammarError if an
    automaton exceeds its limits.
    """
    jump_forward = jump_forward and called(model.name, lambda: model.can_roll_back)
    populations = [_Population(request, sampler, particles, jump_forward) for request in requests]
    write(model, populations)
    return [population.generations() for population in populations]


@dataclass(slots=True, eq=False)
class _Particle:
    text: TextInProgress
    log_weight: float = 0.0
    unweighed_tokens: list[int] = field(default_factory=list)
    """The forced tokens at the end of the text that are not in the weight yet."""
    log_allowed: float = 0.0
    """The log-probability of the tokens allowed next, which is already in the weight."""
    is_done: bool = False

    def fork(self) -> "_Particle":
        return replace(self, text=copy.copy(self.text), log_weight=0.0)

    def weigh(self, places: NDArray[np.float32], temperature: float) -> None:
        """Weigh the forced tokens that have been read, and the next token; `places` has shape (window + 1, width)."""
        text, vocabulary = self.text, self.text.guide.index.vocabulary
        for token_id, logits in zip(self.unweighed_tokens, places[-1 - len(self.unweighed_tokens) :], strict=False):
            self.log_weight += log_mass(logits, np.array([token_id]), temperature)
        if text.finished:
            self.log_weight += log_mass(places[-1], np.array([*vocabulary.end_token_ids]), temperature)
            self.is_done = True
        else:
            self.log_allowed = self._log_allowed(places[-1], temperature)
            self.log_weight += self.log_allowed

    def extend(self, logits: NDArray[np.float32]) -> None:
        """Append a sampled token and the forced tokens after it; `logits` has shape (width,)."""
        text, generator = self.text, self.text.request.generator
        before, sampled = len(text.token_ids), len(text.sampled)
        while True:
            unlimited, within_budget = text.guide.mask_without_budget(), text.guide.mask()
            scores = np.asarray(text.penalised(logits))
            text.take(text.sampler.choose(scores, unlimited, generator, subset=within_budget), scores)
            if text.error is not None:
                raise text.error
            if len(text.sampled) > sampled:
                break
            # The cached mask was wrong, and is corrected now.
            expected, self.log_allowed = self.log_allowed, self._log_allowed(logits, text.sampler.temperature)
            if expected > -math.inf:
                self.log_weight += self.log_allowed - expected
        self.unweighed_tokens = text.token_ids[before + 1 :]
        self.is_done = text.finished and not text.pending

    def _log_allowed(self, logits: NDArray[np.float32], temperature: float) -> float:
        scores = np.asarray(self.text.penalised(logits))
        return log_mass(scores, np.flatnonzero(unpack(self.text.guide.mask(), len(scores))), temperature)


@dataclass(slots=True, eq=False)
class _Population:
    """The particles of one request: one until the prompt has been read, then `size`."""

    request: Request
    sampler: Sampler
    size: int
    jump_forward: bool
    particles: list[_Particle] = field(init=False)
    ended: list[tuple[int, TextInProgress]] = field(default_factory=list)
    """The texts that the last turn finished, each with the row that it comes from."""
    generator: np.random.Generator = field(init=False)
    log_probability: float = 0.0
    """The log-probability of the language, as estimated up to the last resampling."""

    def __post_init__(self) -> None:
        self.generator = copy.deepcopy(self.request.generator)  # since a run that exceeds the memory is repeated
        self.request = self.request.copy(self.generator)
        text = TextInProgress(self.request, self.sampler, self.jump_forward)
        if text.error is not None:
            raise text.error
        self.particles = [_Particle(text, unweighed_tokens=text.token_ids.copy())]

    @property
    def live(self) -> list[TextInProgress]:
        return [particle.text for particle in self.particles if not particle.is_done]

    @property
    def window(self) -> int:
        return max(len(particle.unweighed_tokens) for particle in self.particles if not particle.is_done)

    def expand(self, logits: NDArray[np.float32]) -> list[int]:
        """Weigh the live particles, resample if that is due, and sample a token for each; return their rows."""
        started = perf_counter()
        size = self.request.guide.index.vocabulary.size  # models have more logits, to round their width up
        places = logits.reshape(len(logits), -1, logits.shape[-1])[:, :, :size]
        rows: list[int | None] = [None] * len(self.particles)
        live = [place for place, particle in enumerate(self.particles) if not particle.is_done]
        for number, place in enumerate(live):
            rows[place] = number
            self.particles[place].weigh(places[number], self.sampler.temperature)
        weights, best = self._weights()
        effective_size = 0.0 if best == -math.inf else float(weights.sum() ** 2 / (weights**2).sum())
        if len(self.particles) < self.size or effective_size < self.size / 2:
            rows = [rows[place] for place in self._resample()]
        kept: list[int] = []
        self.ended = []
        for particle, row in zip(self.particles, rows, strict=True):
            if row is None:
                continue
            if not particle.is_done:
                particle.extend(places[row, -1])
            if particle.is_done:
                particle.text.end()
                self.ended.append((row, particle.text))
            else:
                kept.append(row)
        for text in self.live:
            text.seconds_in_guide += perf_counter() - started
        return kept

    def generations(self) -> list[Generation]:
        """Return the finished texts, resampled to equal weights, in random order."""
        self._resample()
        order = self.generator.permutation(self.size)
        texts = [self.particles[place].text.generation() for place in order.tolist()]
        return [
            replace(text, diagnostics=replace(text.diagnostics, type_log_probability=self.log_probability))
            for text in texts
        ]

    def _weights(self) -> tuple[NDArray[np.float64], float]:
        """Return the weights divided by the greatest, and its logarithm; all 1 if the greatest is 0."""
        logs = np.array([particle.log_weight for particle in self.particles])
        best = float(logs.max())
        return (np.ones_like(logs) if best == -math.inf else np.exp(logs - best)), best

    def _resample(self) -> list[int]:
        """Replace the particles by `size` copies of equal weight; return the place that each is a copy of.

        Systematic resampling: one random number decides, and each particle gets `size` times its share of the weight as
        copies, rounded up or down (Kitagawa, "Monte Carlo Filter and Smoother for Non-Gaussian Nonlinear State Space
        Models", 1996).
        """
        weights, best = self._weights()
        self.log_probability += best + math.log(weights.mean())
        sums = np.cumsum(weights)
        thresholds = (np.arange(self.size) + self.generator.random()) / self.size * sums[-1]
        last = int(np.flatnonzero(weights)[-1])
        chosen: list[int] = np.minimum(np.searchsorted(sums, thresholds, side="right"), last).tolist()
        self.particles = [self.particles[place].fork() for place in chosen]
        return chosen


def log_mass(logits: NDArray[np.float32], token_ids: NDArray[np.integer], temperature: float) -> float:
    """Return the logarithm of the probability that the softmax of `logits / temperature` gives to some tokens.

    `logits` has shape (width,). NaN counts as probability 0. If no logit is finite, the greatest share all of it.
    Raises ModelError for tokens whose logits are NaN or +inf.
    """
    best = np.fmax.reduce(logits)
    if np.isinf(best):
        _, log_total = log_softmax(logits[token_ids])
        return 0.0 if log_total == best else -math.inf
    powers = (logits - best) / np.float32(temperature)
    _, log_total = log_softmax(powers[token_ids])
    return log_total - math.log(np.nansum(np.exp(powers), dtype=np.float64))
