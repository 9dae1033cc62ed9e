"""Requests for texts, with the thinking before an answer, and the finished texts with their figures.

A reasoning model writes freely, then a marker such as `</think>`, then its answer. The free part has a pattern and a
budget of its own: when its tokens run out, the mask allows only the marker.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
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
    """Return the index of all texts that end with the first occurrence of a marker."""
    name = f"The marker {marker!r} of the thinking"
    return Index(RegularAutomaton(ending_with(marker)), vocabulary, name=name)


def ending_with(marker: str) -> Pattern:
    """Return the pattern of the texts that end with a marker at its first occurrence.

    A state is the number of the marker's characters read last, as in Knuth, Morris & Pratt ("Fast pattern matching in
    strings", 1977). Another character leads back to the longest beginning of the marker that the text still ends with.
    """

    def arcs(read: int) -> Iterator[tuple[Pattern, int]]:
        if read < len(marker):
            targets = {character: _longest_beginning(marker, marker[:read] + character) for character in marker}
            yield from ((literal(character), target) for character, target in targets.items())
            yield char_set(*((ord(character), ord(character)) for character in targets), negated=True), 0

    pattern = right_linear(0, arcs, len(marker).__eq__)
    assert pattern is not None
    return pattern


def _longest_beginning(marker: str, text: str) -> int:
    """Return the length of the longest beginning of a marker that a text ends with."""
    return next(size for size in range(min(len(marker), len(text)), -1, -1) if text.endswith(marker[:size]))


@dataclass(frozen=True, slots=True)
class Request:
    """One text to be written: the tokens of its prompt, its guide, which is used up, and its random numbers.

    Other requests, now and later, probably have the same first `shared` tokens in their prompts. `thinking` is the
    guide of a text before the answer, and is used up too. If the prompt was healed, the first `prefix_length` bytes
    of the text belong to the prompt.
    """

    prompt: Sequence[int]
    guide: Guide
    generator: np.random.Generator
    shared: int = 0
    thinking: Guide | None = None
    prefix_length: int = 0
    repetition: Repetition | None = None
    """The repetition control; None for none."""
    removed_tokens: int = 0
    """How many tokens were removed from a healed prompt, which the first tokens of the text replace."""
    alternatives: int = 0
    """How many of the likeliest allowed tokens are recorded for each sampled token."""

    def copy(self, generator: np.random.Generator) -> "Request":
        """Return the same request with guides of its own and other random numbers."""
        thinking = None if self.thinking is None else self.thinking.copy()
        return replace(self, guide=self.guide.copy(), thinking=thinking, generator=generator)


class SampledToken(NamedTuple):
    """A token that was sampled, and not forced.

    Attributes:
        start: The byte of the answer at which the token begins; negative in the thinking and in the prompt.
        end: The byte before which it ends; equal to `start` for the end token.
        log_probability: Its log-probability among the allowed tokens.
        legal_mass: The probability that the model gave to all allowed tokens. If it is small, the model would have
            written something else.
        alternatives: The likeliest allowed tokens with their log-probabilities, the likeliest first, if the request
            asks for them.
    """

    start: int
    end: int
    log_probability: float
    legal_mass: float
    alternatives: tuple[tuple[int, float], ...] = ()

    def moved(self, count: int) -> "SampledToken":
        """Return the token `count` bytes further on."""
        return self._replace(start=self.start + count, end=self.end + count)


@dataclass(frozen=True, slots=True)
class Diagnostics:
    """The figures of how a text was written."""

    forced: int = 0
    """How many tokens were appended without asking the model."""
    passes: int = 0
    """How many forward passes the text took part in."""
    repetitions: int = 0
    """How often a string or list was closed because it repeated itself."""
    tokens: tuple[SampledToken, ...] = field(default=(), repr=False)
    """The sampled tokens, end token included."""
    seconds: float = 0.0
    """The seconds from the first pass to the last token."""
    seconds_in_model: float = 0.0
    """The seconds in forward passes. A pass of a batch counts in full for each of its texts."""
    seconds_in_guide: float = 0.0
    """The seconds for masks, sampling, speculation and forced tokens, counted likewise. Sampling waits for the GPU, so
    most of the GPU's time is counted here."""

    taken_back: int = 0
    """How many tokens of a healed prompt the first tokens of the text replace."""

    repetition_places: tuple[int, ...] = ()
    """The bytes of the answer at which a string or list was closed since it repeated itself; negative in the thinking.
    A server names none."""

    type_log_probability: float | None = None
    """With particles, the logarithm of the estimated probability that the model without a mask writes any text of the
    type, end included, and the end of a healed prompt before it. None without particles."""

    @property
    def sampled(self) -> int:
        """How many tokens were sampled, the end token included."""
        return len(self.tokens)

    @property
    def legal_masses(self) -> tuple[float, ...]:
        """For each sampled token, the probability that the model gave to all allowed tokens."""
        return tuple(token.legal_mass for token in self.tokens)


class ServerReport(NamedTuple):
    """The report of a server on a text that it wrote.

    Attributes:
        prompt_tokens: The number of tokens of the prompt; 0 if the server does not say.
        tokens: The number of tokens of the answer, likewise.
        fault: Why the text is not an answer: it was cut off, or the model refused. None if there is no fault.
    """

    prompt_tokens: int = 0
    tokens: int = 0
    fault: str | None = None


@dataclass(frozen=True, slots=True)
class Generation:
    """A finished text, as an `AttemptWritten` has it for `observe`, and a `Stream` keeps it.

    Attributes:
        text: The answer.
        token_ids: Its tokens, those of the reasoning included; empty if a server wrote it.
        log_probability: The log-probability of the sampled tokens among the allowed ones, end token included.
        shortened: Whether the token budget excluded a token that the model had sampled. If not, an unlimited budget
            would have given the same text.
        thinking: The reasoning before the answer, if any.
        diagnostics: The figures of how the text was written: tokens, passes, seconds.
        served: The report of the server, or the tokens that a merged answer cost; None for a text written here.
    """

    text: str
    token_ids: tuple[int, ...]
    log_probability: float
    shortened: bool
    thinking: str = ""
    diagnostics: Diagnostics = field(default=Diagnostics(), compare=False)
    served: ServerReport | None = field(default=None, compare=False)

    @property
    def written_tokens(self) -> int:
        """How many tokens it has, without those that replace the prompt's; never more than its budget."""
        if self.served is not None:
            return self.served.tokens
        return max(len(self.token_ids) - self.diagnostics.taken_back, 0)

    @property
    def sampled_tokens(self) -> int:
        """How many of its tokens were sampled, end token included; all tokens of a server's text."""
        return self.diagnostics.sampled if self.served is None else self.served.tokens
