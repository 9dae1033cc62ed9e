"""Search strategies: the candidates for each answer, by samples, beams or particles, that to be taken first in front.

A text is written once, or searched for with beams, or sampled several times, each for itself or as particles. All
candidates come with log-probabilities of one kind, so whoever reads them need not know where they are from.
"""

import dataclasses
from abc import ABC, abstractmethod
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from structured.automata import AUTOMATON_ERRORS
from structured.decoding.beam_search import beam_search
from structured.decoding.generate import as_completed
from structured.decoding.particles import sample_particles
from structured.decoding.requests import Generation, Request
from structured.decoding.sampling import Sampler
from structured.errors import OutOfMemoryError, StructuredError
from structured.errors.arguments import count, flag, says_its_arguments
from structured.models import LanguageModel

RETRY_TEMPERATURE = 0.7
"""Greedy decoding and beams would repeat a rejected answer, so later attempts are sampled at this temperature."""


class SearchMethod(ABC):
    """How the candidates for an answer are made: how many, with which samplers, and by which search."""

    EXAMPLE: ClassVar[str]
    """How it is written."""
    is_of_samples: ClassVar[bool] = True
    """Whether the candidates are samples: the share of them that agree is a sign of how right they are."""
    takes_thinking: ClassVar[bool] = True
    """Whether a text of its own may come before the answer."""
    needs_logits: ClassVar[bool] = True
    """Whether the texts depend on each other, so that it takes the scores of a model that runs here."""

    count: int
    """How many candidates there are."""
    vote: bool
    """Whether the answer has for each field the value that most of them have."""

    @abstractmethod
    def check(self, sampler: Sampler) -> None:
        """Raise ValueError for a sampler that several candidates cannot have."""

    @abstractmethod
    def label(self, temperature: float) -> str:
        """Return what it does, for people."""

    def candidates_of(
        self, model: LanguageModel, requests: Sequence[Request], sampler: Sampler, *, jump_forward: bool
    ) -> list[list[Generation]]:
        """Return the candidates for each of some requests, if their texts depend on each other."""
        raise NotImplementedError


@says_its_arguments
@dataclass(frozen=True, slots=True)
class Beams(SearchMethod):
    """Beam search with `count` hypotheses, at temperature 0. The answer is the likeliest that validators accept."""

    EXAMPLE = "Beams(4)"
    is_of_samples = takes_thinking = vote = False
    count: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "count", count(1)("The count of Beams", self.count))

    def check(self, sampler: Sampler) -> None:
        """Raise ValueError for a sampler with a temperature."""
        if sampler.temperature > 0:
            raise ValueError(
                f"search is {self}, and temperature {sampler.temperature}; beam search does not sample. Leave the "
                "temperature out, or take Samples."
            )

    def label(self, temperature: float) -> str:  # noqa: ARG002  there is none
        """Return what it does."""
        return f"{self.count} beams"

    def candidates_of(
        self,
        model: LanguageModel,
        requests: Sequence[Request],
        sampler: Sampler,  # noqa: ARG002  nothing is sampled
        *,
        jump_forward: bool,
    ) -> list[list[Generation]]:
        """Return the hypotheses for each request, the likeliest first."""
        return beam_search(model, requests, beams=self.count, jump_forward=jump_forward)


@dataclass(frozen=True, slots=True)
class _Sampled(SearchMethod):
    """Candidates that are sampled."""

    count: int
    vote: bool = False

    def __post_init__(self) -> None:
        name = type(self).__name__
        object.__setattr__(self, "count", count(1)(f"The count of {name}", self.count))
        object.__setattr__(self, "vote", flag(f"vote of {name}", self.vote))
        if self.vote and self.count == 1:
            raise ValueError(f"{name}(1, vote=True) is a vote of one. Take more of them, 5 say.")

    def _label(self, temperature: float, choice: str) -> str:
        choice = "the vote of the valid ones" if self.vote else choice
        return f"{self.count} {type(self).__name__.lower()}, {choice}, at temperature {temperature:g}"


@says_its_arguments
@dataclass(frozen=True, slots=True)
class Samples(_Sampled):
    """`count` answers for each document, sampled each for itself at a temperature above 0.

    The answer is the likeliest that validators accept; with `vote`, each field has the value that most of them have
    (self-consistency, Wang et al., 2022).
    """

    EXAMPLE = "Samples(5)"
    needs_logits = False

    def check(self, sampler: Sampler) -> None:
        """Raise ValueError for a sampler without a temperature."""
        if sampler.temperature == 0:
            raise ValueError(
                f"search is {self}, and temperature 0, at which all of them are the same. Set a temperature, "
                "such as 0.7, or take Beams."
            )

    def label(self, temperature: float) -> str:
        """Return what it does."""
        return self._label(temperature, "the likeliest that is valid")


@says_its_arguments
@dataclass(frozen=True, slots=True)
class Particles(_Sampled):
    """Sequential Monte Carlo with `count` texts for each document, at a temperature above 0.

    The answer follows the model's own distribution over texts, given that they are of the type; `Samples` follow that
    of their tokens. It is a random one that validators accept; with `vote`, each field has the value that most of them
    have.
    """

    EXAMPLE = "Particles(16)"

    def check(self, sampler: Sampler) -> None:
        """Raise ValueError for a sampler without a temperature, and for one that leaves tokens out."""
        if sampler.temperature == 0:
            raise ValueError(
                f"search is {self}, and temperature 0, at which nothing is sampled. Set temperature=1: "
                "then particles follow the model's own distribution."
            )
        limits = [name for name in ("top_k", "top_p", "min_p") if name in sampler.chosen]
        if limits:
            raise ValueError(
                f"search is {self}, with {' and '.join(limits)}; particles follow the distribution of all "
                "that the model writes. Leave those out, or take Samples."
            )

    def label(self, temperature: float) -> str:
        """Return what it does."""
        return self._label(temperature, "one of the valid ones")

    def candidates_of(
        self, model: LanguageModel, requests: Sequence[Request], sampler: Sampler, *, jump_forward: bool
    ) -> list[list[Generation]]:
        """Return the particles of each request, in random order."""
        return sample_particles(model, requests, sampler, particles=self.count, jump_forward=jump_forward)


METHODS: tuple[type[SearchMethod], ...] = (Beams, Samples, Particles)


@dataclass(frozen=True, slots=True)
class Search:
    """How an answer is looked for: by a method or, without one, greedily or as a single sample."""

    sampler: Sampler
    method: SearchMethod = Samples(1)

    def __post_init__(self) -> None:
        if self.is_of_several:
            self.method.check(self.sampler)

    def __str__(self) -> str:
        temperature = self.sampler.temperature
        if self.is_of_several:
            return self.method.label(temperature)
        return "greedy" if temperature == 0 else f"one sample, at temperature {temperature:g}"

    @property
    def is_of_several(self) -> bool:
        """Whether there is more than one candidate for an answer."""
        return self.method.count > 1

    @property
    def is_sampled_often(self) -> bool:
        """Whether there are several candidates, and they are samples."""
        return self.is_of_several and self.method.is_of_samples

    @property
    def is_joint(self) -> bool:
        """Whether there are several candidates whose texts depend on each other."""
        return self.is_of_several and self.method.needs_logits

    @property
    def samples(self) -> int:
        """How many texts are sampled for an answer, each for itself."""
        return 1 if self.method.needs_logits else self.method.count

    @property
    def for_retries(self) -> "Search":
        """The search for retries: sampled where the first was greedy."""
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

        Particles are in random order, others likeliest first.

        `batch_size` texts go through the model at a time, and of these at most as many as may have `batch_tokens`
        tokens together, prompts and whole budgets counted. Beams or particles of one request go together, however many.
        For a request one text of which, or one search, is alone too much for the model's device, or the automaton of
        which raises an error of `AUTOMATON_ERRORS`, that error is yielded.

        Candidates do not depend on the batch, and with more samples there are the same as with fewer, and others.
        """
        if self.is_joint:
            size = max(batch_size // self.method.count, 1)
            return self._searched(model, requests, size, batch_tokens, jump_forward)
        asked = requests
        if self.samples > 1:
            asked = [one for request in requests for one in repeated(request, self.samples)]
        drawn = as_completed(
            model, asked, self.sampler, batch_size=batch_size, batch_tokens=batch_tokens, jump_forward=jump_forward
        )
        return self._grouped(drawn)

    def _grouped(
        self, drawn: Iterator[tuple[int, Generation | StructuredError]]
    ) -> Iterator[tuple[int, list[Generation] | StructuredError]]:
        """Yield the samples of each request together."""
        groups: defaultdict[int, list[Generation | StructuredError]] = defaultdict(list)
        for place, text in drawn:
            group = groups[place // self.samples]
            group.append(text)
            if len(group) == self.samples:
                del groups[place // self.samples]
                yield place // self.samples, by_likelihood(group)

    def _searched(
        self, model: LanguageModel, requests: Sequence[Request], size: int, batch_tokens: int | None, jump_forward: bool
    ) -> Iterator[tuple[int, list[Generation] | StructuredError]]:
        """Yield what is found for each request, `size` requests at a time, half of them where that fails."""
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
                found = self.method.candidates_of(
                    model, [request for _, request in batch], self.sampler, jump_forward=jump_forward
                )
            except (OutOfMemoryError, *AUTOMATON_ERRORS) as error:
                if len(batch) == 1:
                    yield places[0], error
                else:
                    size = len(batch) // 2
                    waiting.extendleft(reversed(batch))
            else:
                yield from zip(places, found, strict=True)

    def _most_tokens(self, request: Request) -> int:
        """Return how many tokens the texts of a request may have together, prompts included."""
        thinking = 0 if request.thinking is None else request.thinking.tokens_left
        return self.method.count * (len(request.prompt) + thinking + request.guide.tokens_left)


def by_likelihood(group: Sequence[Generation | StructuredError]) -> list[Generation] | StructuredError:
    """Return the texts of a group, the likeliest first, or the error of one that has failed."""
    errors = [one for one in group if isinstance(one, StructuredError)]
    texts = [one for one in group if isinstance(one, Generation)]
    return errors[0] if errors else sorted(texts, key=lambda one: (-one.log_probability, one.token_ids, one.text))


def repeated(request: Request, count: int) -> list[Request]:
    """Return a request that many times, each with random numbers of its own; the first has those of the request."""
    return [
        dataclasses.replace(
            request,
            guide=request.guide.copy(),
            generator=generator,
            thinking=None if request.thinking is None else request.thinking.copy(),
        )
        for generator in (request.generator, *request.generator.spawn(count - 1))
    ]
