"""The interface of models: a prefill, forward steps over a batch of texts, and a few facts.

These are base classes and not protocols. A model of the user's own implements `prefill`, and its batch `forward` and
`select`; by default nothing is cached between calls, joined or rolled back. `structured.decoding` decides what a pass
reads, from the costs that a model states.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Self, TypeAlias, Union

import numpy as np
from numpy.typing import NDArray

from structured.errors import ModelError, PromptError
from structured.vocabulary import Vocabulary

if TYPE_CHECKING:
    import torch

Messages = Sequence[Mapping[str, str]]
"""Chat turns: `role` ("user" or "assistant"; of the first, "system" as well) and `content`."""

Logits: TypeAlias = Union[NDArray[np.float32], "torch.Tensor"]
"""Scores of tokens. Tokens are sampled from an array on the host, from a tensor on its device."""

MIN_SHARED = 16
"""Tokens that prompts have to begin with in common for their cache to be worth keeping."""


class DecodingBatch(ABC):
    """Texts that a model is writing, a row for each, with their cache."""

    is_ragged: bool = False
    """Whether the texts may get different numbers of tokens in a pass."""
    can_join: bool = False
    """Whether other texts may join these; if not, they wait until all of these are finished."""

    @abstractmethod
    def forward(self, token_ids: Sequence[Sequence[int]], *, window: int = 0) -> Logits:
        """Append new tokens to each text, at least one, and return the scores of the next token.

        The shape is (rows, width), width at least the vocabulary's size. Where the model can roll back, up to `window`
        of the last tokens of each text may be wrong: then the scores before each of them are returned as well, shape
        (rows, window + 1, width), with those after all tokens last. The next pass may overwrite them.

        Raises OutOfMemoryError. Any other error becomes the cause of a ModelError.
        """

    @abstractmethod
    def select(self, rows: Sequence[int]) -> None:
        """Keep some of the texts, in this order; a text listed twice, as by beam search, is duplicated."""

    def finish(self, row: int, token_ids: Sequence[int]) -> None:  # noqa: B027  most models need not know
        """Note that the text of a row is finished, with its last tokens, which will not be read.

        The row stays until `select` leaves it out. By default, nothing happens.
        """

    def pause(self, row: int, token_ids: Sequence[int]) -> None:  # noqa: B027  most models need not know
        """Note that an answer is finished in a text that continues, with its last tokens, which are not read yet.

        They may be read later, or others in their place. By default, nothing happens.
        """

    def join(self, other: Self) -> None:
        """Append the texts of another batch, which is used up. Only called if `can_join`."""
        raise NotImplementedError

    def rollback(self, counts: Sequence[int]) -> None:
        """Forget the last tokens of each text, this many, none beyond the window of the last pass.

        Only called if the model can roll back.
        """
        raise NotImplementedError


class Model(ABC):
    """A language model in this process, or behind a server."""

    name: str
    """The name of the model in messages."""
    context_length: int | None = None
    """The maximum of tokens in prompt and answer together; None if unlimited or unknown."""
    has_chat_template: bool = False
    """Whether prompts are chat messages rather than plain text."""


class LanguageModel(Model):
    """A causal language model and its tokenizer."""

    vocabulary: Vocabulary
    """The bytes of its tokens."""
    can_roll_back: bool = False
    """Whether its batches can forget their last tokens, so that probable ones can be read ahead (speculation)."""
    can_read_on: bool = False
    """Whether `forward` may read the rest of a prompt, so that a long prompt does not hold up a running batch."""
    pass_cost: float = 96.0
    """The fixed cost of a forward pass, in tokens: so many more are hardly noticed."""
    logits_cost: float = 0.0
    """The cost of the logits of one more place, in tokens."""
    takes_threads: bool = False
    """Whether `threads` may be set."""
    threads: int | None = None
    """The threads of the CPU that a pass computes with; None if the engine decides."""

    @abstractmethod
    def prefill(
        self, prompts: Sequence[Sequence[int]], *, shared: int = 0, window: int = 0
    ) -> tuple[DecodingBatch, Logits]:
        """Read one prompt or more, and return the batch and the scores of the first token of each answer.

        The first `shared` tokens are the same in all of them, and in later prompts: a model may keep their cache.
        `window` and the scores are as in `DecodingBatch.forward`. Raises OutOfMemoryError where the prompts are too
        much for the device at once: then smaller batches are tried.
        """

    def encode(self, prompt: str | Messages) -> list[int]:
        """Return the token ids of a prompt: messages if the model has a chat template, plain text otherwise.

        By default plain text, as the vocabulary's tokenizer encodes it. Raises PromptError for a text with control
        tokens.
        """
        if not isinstance(prompt, str):
            raise ModelError(f"{self.name} has no chat template. Give it a plain prompt.")
        if self.vocabulary.encode is None:
            raise ModelError(f"The vocabulary of {self.name} encodes nothing. Give the model a method `encode`.")
        token_ids = list(self.vocabulary.encode(prompt))
        control_ids, expected = (
            [token_id for token_id in encoded if self.vocabulary.tokens[token_id] is None]
            for encoded in (token_ids, self.vocabulary.encode("a"))
        )
        if control_ids != expected:
            raise PromptError(
                f"The tokenizer of {self.name} makes control tokens of the text: "
                f"{sorted(set(control_ids) - set(expected)) or control_ids}, which have no bytes. Let it encode their "
                "spellings as text, or take them out of the text."
            )
        return token_ids


class WrappedModel(LanguageModel):
    """A model in place of another one, with its facts and its tokenizer."""

    def __init__(self, model: LanguageModel) -> None:
        self.model = model
        for name in (*Model.__annotations__, *LanguageModel.__annotations__):
            setattr(self, name, getattr(model, name))

    def prefill(
        self, prompts: Sequence[Sequence[int]], *, shared: int = 0, window: int = 0
    ) -> tuple[DecodingBatch, Logits]:
        """Read prompts, as the model does."""
        return self.model.prefill(prompts, shared=shared, window=window)

    def encode(self, prompt: str | Messages) -> list[int]:
        """Return the token ids of a prompt, as the model encodes it."""
        return self.model.encode(prompt)
