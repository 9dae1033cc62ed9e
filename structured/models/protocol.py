"""What the library asks of a model: a prefill, forward steps over a batch of texts, and a few facts.

These are base classes and not protocols, so that a model of one's own has two methods to write, `prefill` here and
`forward` and `select` of its batch, and inherits the rest: by default nothing is cached between calls, joined or rolled
back. What a pass is to read is decided in `structured.decoding`, from the costs that a model states.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
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
"""Scores of tokens. Tokens are sampled where the scores are: of an array on the host, of a tensor on its device."""


class DecodingBatch(ABC):
    """Texts that a model is writing, a row for each, with whatever it has cached of them."""

    is_ragged: bool = False
    """Whether each text may be given another number of tokens in a pass; if not, all are given as many."""
    can_join: bool = False
    """Whether other texts may join these; if not, they wait until all of these are finished."""

    @abstractmethod
    def forward(self, token_ids: Sequence[Sequence[int]], *, window: int = 0) -> Logits:
        """Append new tokens to each text, at least one, and return the scores of the token that comes next.

        The shape is (rows, width), width at least the vocabulary's size. Where the model can roll back, up to `window`
        of the last tokens of each text may be wrong: the scores before each of them are returned as well, those after
        all tokens last, shape (rows, window + 1, width). They may be overwritten by the next pass.

        Raises OutOfMemoryError. Whatever else it raises becomes the cause of a ModelError.
        """

    @abstractmethod
    def select(self, rows: Sequence[int]) -> None:
        """Keep some of the texts, in this order; one that is named twice, as beam search does, is duplicated."""

    def finish(self, row: int, token_ids: Sequence[int]) -> None:  # noqa: B027  most models need not know
        """Note that the text of a row is finished. These are its last tokens, not read yet, nor to be read.

        The row stays until `select` leaves it out. By default, nothing is done.
        """

    def pause(self, row: int, token_ids: Sequence[int]) -> None:  # noqa: B027  most models need not know
        """Note that an answer of a text that goes on is finished. These are its last tokens, not read yet.

        They may be read later, or others in their place. By default, nothing is done.
        """

    def join(self, other: Self) -> None:
        """Take over the texts of another batch, behind these; the other is used up. Only asked for if `can_join`."""
        raise NotImplementedError

    def rollback(self, counts: Sequence[int]) -> None:
        """Forget so many of the last tokens of each text, none beyond the window of the last pass.

        Only asked for if the model can.
        """
        raise NotImplementedError


class Model(ABC):
    """What writes answers: a language model in this process, or a server that has one."""

    name: str
    """What to call the model in messages."""
    context_length: int | None = None
    """The most tokens that prompt and answer may have together; None where there is no limit, or it is unknown."""
    has_chat_template: bool = False
    """Whether prompts are chat messages rather than plain text."""


class LanguageModel(Model):
    """A causal language model and its tokenizer."""

    vocabulary: Vocabulary
    """The bytes of its tokens."""
    can_roll_back: bool = False
    """Whether its batches can forget their last tokens, so that probable ones can be read ahead (speculation)."""
    can_read_on: bool = False
    """Whether `forward` may read the rest of a prompt: a long one then does not hold up others in a running batch."""
    pass_cost: float = 96.0
    """What a forward pass costs beside its tokens, counted in tokens: how many more are hardly noticed."""
    logits_cost: float = 0.0
    """What the logits of one more place cost, counted in tokens."""

    @abstractmethod
    def prefill(
        self, prompts: Sequence[Sequence[int]], *, shared: int = 0, window: int = 0
    ) -> tuple[DecodingBatch, Logits]:
        """Read one prompt or more, and return the batch and the scores of the first token of each answer.

        The first `shared` tokens are the same in all of them, and will be in more to come: a model may keep what it
        computes of them. `window` is as in `DecodingBatch.forward`, and so are the scores. Raises OutOfMemoryError
        where the prompts are too much for the device at once: they are tried in smaller batches then.
        """

    def encode(self, prompt: str | Messages) -> list[int]:
        """Return the token ids of a prompt: messages if the model has a chat template, plain text otherwise.

        By default plain text, as the vocabulary's tokenizer encodes it. Raises PromptError for a text that becomes more
        than text.
        """
        if not isinstance(prompt, str):
            raise ModelError(f"{self.name} has no chat template. Give it a plain prompt.")
        if self.vocabulary.encode is None:
            raise ModelError(f"The vocabulary of {self.name} encodes nothing. Give the model a method `encode`.")
        token_ids = list(self.vocabulary.encode(prompt))
        control_ids, usual = self._control_ids(token_ids), self._control_ids(self.vocabulary.encode("a"))
        if control_ids != usual:
            raise PromptError(
                f"The tokenizer of {self.name} makes control tokens of the text: "
                f"{sorted(set(control_ids) - set(usual)) or control_ids}, which have no bytes. Let it encode their "
                "spellings as text, or take them out of the text."
            )
        return token_ids

    def _control_ids(self, token_ids: Iterable[int]) -> list[int]:
        return [token_id for token_id in token_ids if self.vocabulary.tokens[token_id] is None]
