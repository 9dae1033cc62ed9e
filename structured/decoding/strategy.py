"""Search strategies: the candidates for each answer, by samples, beams or particles, that to be taken first in front.

A text is written once, or searched for with beams, or sampled several times, each for itself or as particles. All
candidates come with log-probabilities of one kind, so whoever reads them need not know where they are from.
"""

import dataclasses
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from structured.automata import AUTOMATON_ERRORS
from structured.decoding.beam_search import beam_search
from structured.decoding.generate import as_completed
from structured.decoding.particles import sample_particles
from structured.decoding.requests import Generation, Request
from structured.decoding.sampling import Sampler
from structured.errors import OutOfMemoryError, StructuredError
from structured.errors.arguments import check_fields, count, one_of
from structured.models import LanguageModel

Choose = Literal["likeliest", "vote"]

_CHOSEN: dict[Choose, str] = {"likeliest": "likeliest that is valid", "vote": "vote of the valid ones"}
SEARCH = {"beams": count(1), "samples": count(1), "particles": count(1), "choose": one_of(get_args(Choose))}
"""What each field of a `Search` must be, besides its sampler."""

RETRY_TEMPERATURE = 0.7
"""Greedy decoding and beams would repeat a rejected answer, so later attempts are sampled at this temperature."""


@dataclass(frozen=True, slots=True)
class Search:
    """How an answer is looked for: greedily or sampled once, by `beams`, or among several `samples` or `particles`.

    Of the samples, the likeliest that is valid is chosen, or what most of them say; of the beams, the first; of the
    particles, which are in random order, the first as well, or what most of them say.
    """

    sampler: Sampler
    beams: int = 1
    samples: int = 1
    particles: int = 1
    choose: Choose = "likeliest"

    def __post_init__(self) -> None:
        check_fields(self, SEARCH)
        temperature = self.sampler.temperature
        several = [f"{name} is {number}" for name, number in self._numbers.items() if number > 1]
        if len(several) > 1:
            raise ValueError(
                f"{' and '.join(several)}; an answer is searched for by beams, or is one of several samples or of "
                "several particles. Leave all but one of them out."
            )
        if self.beams > 1 and temperature > 0:
            raise ValueError(
                f"beams is {self.beams} and temperature {temperature}; beam search does not sample. Leave the "
                "temperature out, or take samples in place of beams."
            )
        if self.samples > 1 and temperature == 0:
            raise ValueError(
                f"samples is {self.samples} and temperature 0, at which all of them are the same. Set a temperature, "
                "such as 0.7, or take beams in place of samples."
            )
        if self.particles > 1 and temperature == 0:
            raise ValueError(
                f"particles is {self.particles} and temperature 0, at which nothing is sampled. Set temperature=1: "
                "then they follow the model's own distribution."
            )
        limits = [name for name in ("top_k", "top_p", "min_p") if name in self.sampler.chosen]
        if self.particles > 1 and limits:
            raise ValueError(
                f"particles is {self.particles}, with {' and '.join(limits)}; particles follow the distribution of all "
                "that the model writes. Leave those out, or take samples in place of particles."
            )
        if self.choose == "vote" and not self.is_sampled_often:
            raise ValueError("choose is 'vote', and there is one sample only. Set samples, to 5 say.")

    def __str__(self) -> str:
        if self.beams > 1:
            return f"{self.beams} beams"
        temperature = self.sampler.temperature
        if temperature == 0:
            return "greedy"
        if self.particles > 1:
            chosen = "the vote of the valid ones" if self.choose == "vote" else "one of the valid ones"
            return f"{self.particles} particles, {chosen}, at temperature {temperature:g}"
        what = "one sample" if self.samples == 1 else f"{self.samples} samples, the {_CHOSEN[self.choose]}"
        return f"{what}, at temperature {temperature:g}"

    @property
    def is_of_several(self) -> bool:
        """Whether there is more than one candidate for an answer."""
        return max(self._numbers.values()) > 1

    @property
    def is_sampled_often(self) -> bool:
        """Whether there are several candidates that are samples, of which most may agree."""
        return max(self.samples, self.particles) > 1

    @property
    def _numbers(self) -> dict[str, int]:
        return {"beams": self.beams, "samples": self.samples, "particles": self.particles}

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
        together = max(self.beams, self.particles)
        if together > 1:
            return self._searched(model, requests, max(batch_size // together, 1), batch_tokens, jump_forward)
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
        if self.beams > 1:
            return beam_search(model, requests, beams=self.beams, jump_forward=jump_forward)
        return sample_particles(model, requests, self.sampler, particles=self.particles, jump_forward=jump_forward)

    def _most_tokens(self, request: Request) -> int:
        """Return how many tokens the texts of a request may have together, prompts included."""
        thinking = 0 if request.thinking is None else request.thinking.tokens_left
        return max(self.beams, self.particles) * (len(request.prompt) + thinking + request.guide.tokens_left)


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
