"""What is asked of a server, and what it answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from structured.models.protocol import Messages
from structured.output_types.remote_constraints import Constraint


@dataclass(frozen=True, slots=True)
class ServerRequest:
    """One text to be written by a server."""

    messages: Messages
    constraint: Constraint | None
    """What the server has to enforce; None for nothing."""
    max_tokens: int
    sampling: Mapping[str, float]
    """`temperature`, and what was chosen of `top_p`, `top_k`, `min_p`, `seed` and `stop_repetition`."""
    logprobs: bool = False
    """Whether the probability of each token is wanted."""


class ServedToken(NamedTuple):
    """A token of an answer, with its log-probability as the server tells it."""

    start: int
    """The byte of the text that it begins at."""
    end: int
    log_probability: float


@dataclass(frozen=True, slots=True)
class ServerAnswer:
    """The text that a server wrote."""

    text: str
    fault: str | None = None
    """Why it is no answer: it was cut off, or the model refused."""
    prompt_tokens: int = 0
    """The tokens of the prompt, as the server counts them; 0 if it does not say."""
    written_tokens: int = 0
    """Those of the answer, likewise."""
    tokens: Sequence[ServedToken] = ()
    """Empty if their probabilities were not asked for, or are not told."""
    shortened: bool = False
    """Whether the server brought it to its end where the tokens ran out: it is valid, and may be incomplete."""
    repetitive: bool = False
    """Whether the server ended what repeated itself: likewise."""
