"""Search strategies: the candidates for each answer, made by samples, beams or particles, the best first.

A text is written once, searched for with beams, or sampled several times, independently or as particles. The
log-probabilities of all candidates have the same meaning, so their readers need not know the method.
"""

import dataclasses
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from structured.decoding.beam_search import beam_search
from structured.decoding.generate import as_completed
from structured.decoding.particles import sample_particles
from structured.decoding.requests import Generation, Request
from structured.decoding.sampling import Sampler
from structured.decoding.text_in_progress import WRITING
from structured.errors import StructuredError, concerns_all, error_of_one
from structured.errors.arguments import count, flag, says_its_arguments
from structured.models import LanguageModel

RETRY_TEMPERATURE = 0.7
"""Greedy decoding and beams would repeat a rejected answer, so later attempts are sampled at this temperature."""


@says_its_arguments
@dataclass(frozen=True, slots=True)
class Beams:
    """Beam search with `count` hypotheses, at temperature 0. The answer is the likeliest that validators accept."""

    EXAMPLE: ClassVar[str] = "Beams(4)"
    vote: ClassVar[bool] = False
    count: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "count", count(1)("The count of Beams", self.count))

    def check(self, sampler: Sampler) -> None:
        """Raise ValueError for a sampler with a temperature."""
        if sampler.temperature > 0:
            problem = f"search is {self}, and temperature {sampler.temperature}; beam search does not sample"
            raise ValueError(f"{problem}. Leave the temperature out, or use Samples.")


@dataclass(frozen=True, slots=True)
class _Sampled:
    """Candidates that are sampled."""

    count: int
    vote: bool = False

    def __post_init__(self) -> None:
        name = type(self).__name__
        object.__setattr__(self, "count", count(1)(f"The count of {name}", self.count))
        object.__setattr__(self, "vote", flag(f"vote of {name}", self.vote))
        if self.vote and self.count == 1:
            problem = f"{name}(1, vote=True) is a vote of one candidate"
            raise ValueError(f"{problem}. Use more, such as {name}(5, vote=True).")


@says_its_arguments
@dataclass(frozen=True, slots=True)
class Samples(_Sampled):
    """`count` answers for each document, sampled independently at a temperature above 0.

    The answer is the likeliest that validators accept; with `vote`, each field gets the value that most of these have
    (self-consistency, Wang et al., 2022).
    """

    EXAMPLE: ClassVar[str] = "Samples(5)"

    def check(self, sampler: Sampler) -> None:
        """Raise ValueError for a sampler without a temperature."""
        if sampler.temperature == 0:
            problem = f"search is {self}, and temperature 0, at which all samples are the same"
            raise ValueError(f"{problem}. Set a temperature, such as 0.7, or use Beams.")


@says_its_arguments
@dataclass(frozen=True, slots=True)
class Particles(_Sampled):
    """Sequential Monte Carlo with `count` texts for each document, at a temperature above 0.

    The particles follow the model's own distribution over texts, given that they are of the type; `Samples` follow its
    distribution over tokens. The answer is a random particle that validators accept; with `vote`, each field gets the
    value that most of these have.
    """

    EXAMPLE: ClassVar[str] = "Particles(16)"

    def check(self, sampler: Sampler) -> None:
        """Raise ValueError for a sampler without a temperature, and for one with `top_k`, `top_p` or `min_p`."""
        if sampler.temperature == 0:
            problem = f"search is {self}, and temperature 0, at which nothing is sampled"
            raise ValueError(f"{problem}. Set temperature=1: then particles follow the model's own distribution.")
        limits = [name for name in ("top_k", "top_p", "min_p") if name in sampler.changed_fields]
        if limits:
            raise ValueError(
                f"search is {self}, with {' and '.join(limits)}; particles follow the distribution of all "
                "texts of the model. Leave those options out, or use Samples."
            )


SearchMethod: TypeAlias = Beams | Samples | Particles
"""A way to make several candidates for an answer."""


@dataclass(frozen=True, slots=True)
class Search:
    """The search for an answer: a method with several candidates, greedy decoding, or a single sample."""

    sampler: Sampler
    method: SearchMethod = Samples(1)

    def __post_init__(self) -> None:
        if self.is_of_several:
            self.method.check(self.sampler)

    def __str__(self) -> str:
        method, temperature = self.method, self.sampler.temperature
        if not self.is_of_several:
            return "greedy" if temperature == 0 else f"one sample, at temperature {temperature:g}"
        if isinstance(method, Beams):
            return f"{method.count} beams"
        choice = "one of the valid ones" if isinstance(method, Particles) else "the likeliest that is valid"
        choice = "the vote of the valid ones" if method.vote else choice
        return f"{method.count} {type(method).__name__.lower()}, {choice}, at temperature {temperature:g}"

    @property
    def is_of_several(self) -> bool:
        """Whether there is more than one candidate for an answer."""
        return self.method.count > 1

    @property
    def is_joint(self) -> bool:
        """Whether there are several candidates whose texts depend on each other."""
        return self.is_of_several and not isinstance(self.method, Samples)

    @property
    def samples(self) -> int:
        """How many texts are sampled independently for an answer."""
        return self.method.count if isinstance(self.method, Samples) else 1

    @property
    def for_retries(self) -> "Search":
        """The search for retries, which samples if the first attempt was greedy."""
        if self.sampler.temperature > 0:
            return self
        return Search(dataclasses.replace(self.sampler, temperature=RETRY_TEMPERATURE))

    def candidates(
        self,
        model: LanguageModel,
        requests: Sequence[Request],
        *,
        batch_size: int,
        jump_forward: bool,
        batch_tokens: int | None = None,
    ) -> Iterator[tuple[int, list[Generation] | StructuredError]]:
        """Yield the candidates of each request, with its place, as soon as all of them are finished.

        Particles are in random order, other candidates likeliest first.

        At most `batch_size` texts go through the model at a time, with at most `batch_tokens` tokens, prompts and whole
        budgets counted. The beams or particles of one request are never separated. If a text or search of a request
        alone exceeds the memory of the model's device, or raises anything but a ModelError, the error is yielded in
        place of its candidates.

        Candidates do not depend on the batch. More samples contain the same texts as fewer samples.
        """
        if self.is_joint:
            size = max(batch_size // self.method.count, 1)
            yield from self._searched(model, requests, size, batch_tokens, jump_forward)
            return
        asked = [copy for request in requests for copy in repeated(request, self.samples)]
        completed = as_completed(
            model, asked, self.sampler, batch_size=batch_size, batch_tokens=batch_tokens, jump_forward=jump_forward
        )
        yield from grouped(completed, self.samples)

    def _searched(
        self, model: LanguageModel, requests: Sequence[Request], size: int, batch_tokens: int | None, jump_forward: bool
    ) -> Iterator[tuple[int, list[Generation] | StructuredError]]:
        """Yield the candidates of each request, `size` requests at a time, and half as many after an error."""
        waiting = deque(enumerate(requests))
        while waiting:
            batch = [waiting.popleft()]
            tokens = self._most_tokens(batch[0][1])
            while waiting and len(batch) < size:
                tokens += self._most_tokens(waiting[0][1])
                if batch_tokens is not None and tokens > batch_tokens:
                    break
                batch.append(waiting.popleft())
            places = [place for place, _ in batch]
            try:
                candidates = self._searched_together(model, [request for _, request in batch], jump_forward)
            except Exception as error:
                if concerns_all(error):
                    raise
                if len(batch) == 1:
                    yield places[0], error_of_one(error, WRITING)
                else:
                    size = len(batch) // 2
                    waiting.extendleft(reversed(batch))
            else:
                yield from zip(places, candidates, strict=True)

    def _searched_together(
        self, model: LanguageModel, requests: Sequence[Request], jump_forward: bool
    ) -> list[list[Generation]]:
        """Return the beams or particles of each request, all in one batch."""
        if isinstance(self.method, Beams):
            return beam_search(model, requests, beams=self.method.count, jump_forward=jump_forward)
        particles = self.method.count
        return sample_particles(model, requests, self.sampler, particles=particles, jump_forward=jump_forward)

    def _most_tokens(self, request: Request) -> int:
        """Return the most tokens that the texts of a request may have together, prompts included."""
        thinking = 0 if request.thinking is None else request.thinking.tokens_left
        return self.method.count * (len(request.prompt) + thinking + request.guide.tokens_left)


def grouped(
    completed: Iterable[tuple[int, Generation | StructuredError]], size: int
) -> Iterator[tuple[int, list[Generation] | StructuredError]]:
    """Yield each `size` texts in a row, likeliest first, or the first error among them, once all of them have come."""
    groups: defaultdict[int, list[Generation | StructuredError]] = defaultdict(list)
    for place, found in completed:
        number = place // size
        groups[number].append(found)
        if len(groups[number]) == size:
            group = groups.pop(number)
            texts = [text for text in group if isinstance(text, Generation)]
            texts.sort(key=lambda text: (-text.log_probability, text.token_ids, text.text))
            yield number, next((text for text in group if isinstance(text, StructuredError)), texts)


def repeated(request: Request, count: int) -> list[Request]:
    """Return `count` copies of a request, each with random numbers of its own; the first has the request's."""
    return [request.copy(generator) for generator in (request.generator, *request.generator.spawn(count - 1))]
