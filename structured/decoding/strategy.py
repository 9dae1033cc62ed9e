"""Search strategies: the candidates for each answer, by samples, beams or particles, that to be taken first in front.

A text is written once, or searched for with beams, or sampled several times, each for itself or as particles. All
candidates come with log-probabilities of one kind, so whoever reads them need not know where they are from.
"""

import dataclasses
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from structured.automata import AUTOMATON_ERRORS
from structured.decoding.beam_search import beam_search
from structured.decoding.generate import as_completed
from structured.decoding.particles import sample_particles
from structured.decoding.requests import Generation, Request
from structured.decoding.sampling import Sampler
from structured.errors import OutOfMemoryError, StructuredError
from structured.errors.arguments import count, flag
from structured.models import LanguageModel

RETRY_TEMPERATURE = 0.7
"""Greedy decoding and beams would repeat a rejected answer, so later attempts are sampled at this temperature."""

_COUNT = count(1)


@dataclass(frozen=True, slots=True)
class Beams:
    """Beam search with `count` hypotheses, at temperature 0. The answer is the likeliest that validators accept."""

    count: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "count", _COUNT("The count of Beams", self.count))


@dataclass(frozen=True, slots=True)
class Samples:
    """`count` answers for each document, sampled each for itself at a temperature above 0.

    The answer is the likeliest that validators accept; with `vote`, each field has the value that most of them have
    (self-consistency, Wang et al., 2022).
    """

    count: int
    vote: bool = False

    def __post_init__(self) -> None:
        _check_sampled(self)


@dataclass(frozen=True, slots=True)
class Particles:
    """Sequential Monte Carlo with `count` texts for each document, at a temperature above 0.

    The answer follows the model's own distribution over texts, given that they are of the type; `Samples` follow that
    of their tokens. It is a random one that validators accept; with `vote`, each field has the value that most of them
    have.
    """

    count: int
    vote: bool = False

    def __post_init__(self) -> None:
        _check_sampled(self)


SearchMethod: TypeAlias = Beams | Samples | Particles


def _check_sampled(method: Samples | Particles) -> None:
    """Check the fields of a method, and keep them as Python's own numbers."""
    name = type(method).__name__
    object.__setattr__(method, "count", _COUNT(f"The count of {name}", method.count))
    object.__setattr__(method, "vote", flag(f"vote of {name}", method.vote))
    if method.vote and method.count == 1:
        raise ValueError(f"{name}(1, vote=True) is a vote of one. Take more of them, 5 say.")


@dataclass(frozen=True, slots=True)
class Search:
    """How an answer is looked for: by a method or, without one, greedily or as a single sample."""

    sampler: Sampler
    method: SearchMethod = Samples(1)

    def __post_init__(self) -> None:
        method, temperature = self.method, self.sampler.temperature
        if not self.is_of_several:
            return
        if isinstance(method, Beams):
            if temperature > 0:
                raise ValueError(
                    f"search is {method}, and temperature {temperature}; beam search does not sample. Leave the "
                    "temperature out, or take Samples."
                )
            return
        if temperature == 0 and isinstance(method, Samples):
            raise ValueError(
                f"search is {method}, and temperature 0, at which all of them are the same. Set a temperature, "
                "such as 0.7, or take Beams."
            )
        if temperature == 0:
            raise ValueError(
                f"search is {method}, and temperature 0, at which nothing is sampled. Set temperature=1: "
                "then particles follow the model's own distribution."
            )
        limits = [name for name in ("top_k", "top_p", "min_p") if name in self.sampler.chosen]
        if isinstance(method, Particles) and limits:
            raise ValueError(
                f"search is {method}, with {' and '.join(limits)}; particles follow the distribution of all "
                "that the model writes. Leave those out, or take Samples."
            )

    def __str__(self) -> str:
        method, temperature = self.method, self.sampler.temperature
        if isinstance(method, Beams) and self.is_of_several:
            return f"{method.count} beams"
        if temperature == 0:
            return "greedy"
        if not self.is_of_several:
            return f"one sample, at temperature {temperature:g}"
        names = {Samples: ("samples", "the likeliest that is valid"), Particles: ("particles", "one of the valid ones")}
        name, chosen = names[type(method)]
        chosen = "the vote of the valid ones" if self.is_vote else chosen
        return f"{method.count} {name}, {chosen}, at temperature {temperature:g}"

    @property
    def is_of_several(self) -> bool:
        """Whether there is more than one candidate for an answer."""
        return self.method.count > 1

    @property
    def is_sampled_often(self) -> bool:
        """Whether there are several candidates that are samples, of which most may agree."""
        return self.is_of_several and not isinstance(self.method, Beams)

    @property
    def is_vote(self) -> bool:
        """Whether the answer has for each field the value that most candidates have."""
        return not isinstance(self.method, Beams) and self.method.vote

    @property
    def samples(self) -> int:
        """How many texts are sampled for an answer, each for itself."""
        return self.method.count if isinstance(self.method, Samples) else 1

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
        if self.is_of_several and not isinstance(self.method, Samples):
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
                found = self._found(model, [request for _, request in batch], jump_forward)
            except (OutOfMemoryError, *AUTOMATON_ERRORS) as error:
                if len(batch) == 1:
                    yield places[0], error
                else:
                    size = len(batch) // 2
                    waiting.extendleft(reversed(batch))
            else:
                yield from zip(places, found, strict=True)

    def _found(self, model: LanguageModel, requests: Sequence[Request], jump_forward: bool) -> list[list[Generation]]:
        """Return what beams or particles find for each of some requests."""
        count = self.method.count
        if isinstance(self.method, Beams):
            return beam_search(model, requests, beams=count, jump_forward=jump_forward)
        return sample_particles(model, requests, self.sampler, particles=count, jump_forward=jump_forward)

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
