"""The requests that decoding answers, with the thinking before an answer, and the finished texts with their figures.

Models that reason write freely, then a marker such as `</think>`, then their answer. The free part is a text like any
other, with a pattern and a budget of its own: when the tokens run out, the mask allows only the marker.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from structured.automata import RegularAutomaton
from structured.decoding.repetition import Repetition
from structured.errors.arguments import check_fields, count, says_its_arguments, text
from structured.index.guide import Guide
from structured.index.index import Index
from structured.regex import Pattern, char_set, literal, right_linear
from structured.vocabulary import Vocabulary


@says_its_arguments
@dataclass(frozen=True, slots=True)
class Thinking:
    """The reasoning that a model may write before its answer: free text that ends with a marker.

    Parameters:
        marker: The text that ends the reasoning.
        max_tokens: The most tokens of the reasoning, marker included. When they run out, the mask forces the marker.
    """

    marker: str = "</think>"
    max_tokens: int = 2048

    def __post_init__(self) -> None:
        check_fields(self, {"marker": text, "max_tokens": count(1)})
        if not self.marker:
            raise ValueError("marker is empty; it must be the text that ends the thinking, such as '</think>'.")


@lru_cache(maxsize=8)
def thinking_index(marker: str, vocabulary: Vocabulary) -> Index:
    """Return the index of all texts that end with a marker, which is in them nowhere else."""
    name = f"The marker {marker!r} of the thinking"
    return Index(RegularAutomaton(ending_with(marker)), vocabulary, name=name)


def ending_with(marker: str) -> Pattern:
    """Return the pattern of the texts that end with a marker at its first occurrence.

    A state is the number of its characters that have just been read, as in Knuth, Morris & Pratt ("Fast pattern
    matching in strings", 1977); a character that does not go on leads back to the longest beginning that does.
    """

    def arcs(read: int) -> Iterator[tuple[Pattern, int]]:
        if read < len(marker):
            targets = {character: _longest_beginning(marker, marker[:read] + character) for character in marker}
            yield from ((literal(character), target) for character, target in targets.items())
            yield char_set(*((ord(character), ord(character)) for character in targets), negated=True), 0

    found = right_linear(0, arcs, len(marker).__eq__)
    assert found is not None
    return found


def _longest_beginning(marker: str, text: str) -> int:
    """Return the length of the longest beginning of a marker that a text ends with."""
    return next(size for size in range(min(len(marker), len(text)), -1, -1) if text.endswith(marker[:size]))


@dataclass(frozen=True, slots=True)
class Request:
    """One text to be written: the prompt's tokens, the guide, which is used up, and the random numbers.

    The first `shared` tokens of the prompt are likely those of other requests too, now and later. With `thinking`, a
    guide that is used up as well, a text of its own comes before. The first `begun` bytes of the text belong to the
    prompt, which was healed.
    """

    prompt: Sequence[int]
    guide: Guide
    generator: np.random.Generator
    shared: int = 0
    thinking: Guide | None = None
    begun: int = 0
    repetition: Repetition | None = None
    """What is done about repetition; None for nothing."""
    taken_back: int = 0
    """In the place of how many tokens of the prompt, which was healed, the first ones of the text stand."""


class SampledToken(NamedTuple):
    """A token that the model was asked for.

    Attributes:
        start: The byte of the answer that it begins at; negative before the answer, in thinking or in the prompt.
        end: The byte that it ends before; that of `start` for the end token.
        log_probability: Its log-probability among the allowed tokens.
        legal_mass: The probability that the model had put on allowed tokens. Where it is small, the model would have
            written something else.
    """

    start: int
    end: int
    log_probability: float
    legal_mass: float

    def moved(self, count: int) -> "SampledToken":
        """Return the token so many bytes further on."""
        return self._replace(start=self.start + count, end=self.end + count)


@dataclass(frozen=True, slots=True)
class Diagnostics:
    """How a text came about."""

    forced: int = 0
    """How many of its tokens were appended without asking the model."""
    passes: int = 0
    """How many forward passes it took part in."""
    repetitions: int = 0
    """How often a string or a list that repeated itself was closed."""
    tokens: tuple[SampledToken, ...] = field(default=(), repr=False)
    """Those that were sampled, the end token included."""
    seconds: float = 0.0
    """From the first pass to the last token."""
    seconds_in_model: float = 0.0
    """Of these, in forward passes. The passes of a batch count in full for each of its texts."""
    seconds_in_guide: float = 0.0
    """Of these, for masks, sampling, speculation and forced tokens; counted likewise. A GPU is waited for when tokens
    are sampled, so most of its time is counted here."""

    taken_back: int = 0
    """In the place of how many tokens of the prompt, which was healed, the first ones stand."""

    type_log_probability: float | None = None
    """With particles, the logarithm of the estimated probability that the model, left alone, writes any text of the
    type, end included; where the prompt was healed, it writes the prompt's end anew first. None without particles."""

    @property
    def sampled(self) -> int:
        """How many tokens were sampled, the end token included."""
        return len(self.tokens)

    @property
    def legal_masses(self) -> tuple[float, ...]:
        """For each sampled token, the probability that the model had put on allowed tokens."""
        return tuple(token.legal_mass for token in self.tokens)


class Served(NamedTuple):
    """What a server says of a text that it wrote.

    Attributes:
        prompt_tokens: The tokens of the prompt; 0 if it does not say.
        tokens: Those of the answer, likewise.
        fault: Why it is no answer, whatever validators say: it was cut off, or the model refused. None if it may be.
    """

    prompt_tokens: int = 0
    tokens: int = 0
    fault: str | None = None


@dataclass(frozen=True, slots=True)
class Generation:
    """A finished text, as an `AttemptWritten` has it for `observe`, and a `Stream` keeps it.

    Attributes:
        text: The answer.
        token_ids: Its tokens, those of the reasoning included; empty if a server wrote it, which tells none.
        log_probability: That of the sampled tokens among the allowed ones, end token included.
        shortened: Whether the token budget kept the model from a token that it would have written. If not, an unlimited
            budget would have given the same text.
        thinking: The reasoning before the answer, if any.
        diagnostics: How the text came about: tokens, passes, seconds.
        served: What the server says of it; None for a model that runs here.
    """

    text: str
    token_ids: tuple[int, ...]
    log_probability: float
    shortened: bool
    thinking: str = ""
    diagnostics: Diagnostics = field(default=Diagnostics(), compare=False)
    served: Served | None = field(default=None, compare=False)

    @property
    def written_tokens(self) -> int:
        """How many tokens it has, those in the place of the prompt's not counted: never more than its budget."""
        if self.served is not None:
            return self.served.tokens
        return max(len(self.token_ids) - self.diagnostics.taken_back, 0)

    @property
    def sampled_tokens(self) -> int:
        """How many of them the model was asked for, the end token included; of a server's, all."""
        return self.diagnostics.sampled if self.served is None else self.served.tokens
