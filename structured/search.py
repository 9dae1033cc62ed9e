"""Requests enter; for each, candidates for its answer leave, likeliest first.

A text is written once, or searched for with beams, or drawn several times. All candidates come with log-probabilities
of one kind, so whoever reads them need not know where they are from.
"""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from structured.beams import beam_search
from structured.decoding import Generation, Request, generate
from structured.models import LanguageModel
from structured.sampling import Sampler

Choose = Literal["likeliest", "vote"]

RETRY_TEMPERATURE = 0.7
"""Greedy decoding and beams would repeat a rejected answer, so later attempts are drawn at this temperature."""


@dataclass(frozen=True, slots=True)
class Search:
    """How an answer is looked for: greedily or drawn once, by `beams`, or among several drawn `samples`.

    Of the samples, the likeliest that is valid is chosen, or what most of them say; of the beams, the first.
    """

    sampler: Sampler
    beams: int = 1
    samples: int = 1
    choose: Choose = "likeliest"

    def __post_init__(self) -> None:
        for name, value in (("beams", self.beams), ("samples", self.samples)):
            if value < 1:
                raise ValueError(f"{name} is {value}; it must be 1 or greater.")
        if self.choose not in get_args(Choose):
            raise ValueError(f"choose is {self.choose!r}; it must be one of {', '.join(map(repr, get_args(Choose)))}.")
        temperature = self.sampler.temperature
        if self.beams > 1 and self.samples > 1:
            raise ValueError(
                f"beams is {self.beams} and samples {self.samples}; an answer is searched for, or drawn several times, "
                "and not both. Leave one of them out."
            )
        if self.beams > 1 and temperature > 0:
            raise ValueError(
                f"beams is {self.beams} and temperature {temperature}; a search draws nothing. Leave the temperature "
                "out, or take samples in place of beams."
            )
        if self.samples > 1 and temperature == 0:
            raise ValueError(
                f"samples is {self.samples} and temperature 0, at which all of them are the same. Set a temperature, "
                "such as 0.7, or take beams in place of samples."
            )
        if self.choose == "vote" and self.samples == 1:
            raise ValueError("choose is 'vote', and there is one sample only. Set samples, to 5 say.")

    @property
    def is_of_several(self) -> bool:
        """Whether there is more than one candidate for an answer."""
        return max(self.beams, self.samples) > 1

    @property
    def again(self) -> "Search":
        """How to look for an answer when that was of no avail: where nothing is drawn, by drawing."""
        if self.sampler.temperature > 0:
            return self
        return Search(dataclasses.replace(self.sampler, temperature=RETRY_TEMPERATURE))

    def candidates(
        self,
        model: LanguageModel,
        requests: Sequence[Request],
        *,
        batch_size: int,
        force: bool,
        batch_tokens: int | None = None,
    ) -> list[list[Generation]]:
        """Return the candidates of each request, likeliest first; `batch_size` texts go through the model at a time.

        Beams of one request go together, however many. Candidates do not depend on the batch, and with more samples
        there are the same as with fewer, and others. Raises OutOfMemoryError.
        """
        if self.beams > 1:
            size = max(batch_size // self.beams, 1)
            batches = [requests[first : first + size] for first in range(0, len(requests), size)]
            return [found for batch in batches for found in beam_search(model, batch, beams=self.beams, force=force)]
        asked = [one for request in requests for one in repeated(request, self.samples)]
        drawn = generate(model, asked, self.sampler, batch_size=batch_size, batch_tokens=batch_tokens, force=force)
        groups = [drawn[first : first + self.samples] for first in range(0, len(drawn), self.samples)]
        return [sorted(group, key=lambda one: -one.log_probability) for group in groups]


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
