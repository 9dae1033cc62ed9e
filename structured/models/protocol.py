"""What the library asks of a model: a vocabulary, prompts as token ids, logits for texts that grow token by token."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from structured.vocabulary import Vocabulary

if TYPE_CHECKING:
    import torch

Messages = Sequence[Mapping[str, str]]
"""Chat turns: `role` ("user" or "assistant") and `content`."""


class Texts(Protocol):
    """A batch of texts that a model is writing, with whatever the model has cached of them."""

    def logits(self, back: int = 0) -> NDArray[np.float32]:
        """Return the scores of the next token after all but the last `back` tokens of each text.

        The shape is (texts, width), width at least the vocabulary's size. `back` is at most what was guessed.
        """
        ...

    def scores(self, back: int = 0) -> "torch.Tensor | None":
        """Return the same as a tensor on the model's device, if tokens are to be drawn there; None if on the host."""
        ...

    @property
    def is_ragged(self) -> bool:
        """Whether each text may be given another number of tokens; if not, all are given as many."""
        ...

    @property
    def pass_cost(self) -> float:
        """What a forward pass costs beside its tokens, counted in tokens."""
        ...

    @property
    def can_join(self) -> bool:
        """Whether other texts may join these."""
        ...

    def append(self, token_ids: Sequence[Sequence[int] | None], *, guessed: int = 0) -> None:
        """Append tokens to each text and compute the next logits; a text given None leaves the batch.

        Up to `guessed` of the last tokens of each text may be wrong: logits are kept for before each of them as well.
        """
        ...

    def take_back(self, counts: Sequence[int]) -> None:
        """Forget so many of the last tokens of each text, no more than were guessed; the logits stay what they are."""
        ...

    def select(self, rows: Sequence[int]) -> None:
        """Keep some of the texts, in this order; one that is named twice goes on as two."""
        ...

    def join(self, others: Self) -> None:
        """Take over the texts of another batch, behind these; the others are used up."""
        ...


@runtime_checkable
class LanguageModel(Protocol):
    """A causal language model and its tokenizer."""

    @property
    def name(self) -> str:
        """What to call the model in messages."""
        ...

    @property
    def vocabulary(self) -> Vocabulary:
        """The bytes of its tokens."""
        ...

    @property
    def context_length(self) -> int | None:
        """The most tokens that prompt and answer may have together; None where there is no limit."""
        ...

    @property
    def has_chat_template(self) -> bool:
        """Whether prompts are chat messages rather than plain text."""
        ...

    def encode(self, prompt: str | Messages) -> list[int]:
        """Return the token ids of a prompt: messages if the model has a chat template, plain text otherwise."""
        ...

    def begin(self, prompts: Sequence[Sequence[int]], *, shared: int = 0, guessed: int = 0) -> Texts:
        """Read one prompt or more, and stand before the first token of each answer.

        The first `shared` tokens are the same in all of them, and will be in more to come. Up to `guessed` of the last
        may be wrong, as with `append`. Raises OutOfMemoryError, as `append` does, where the prompts are too much for
        the device at once.
        """
        ...

    def most_guesses(self, texts: int) -> int:
        """Return how many tokens of each of some texts may be guessed; 0 if none can be taken back."""
        ...

    def pays(self, guesses: Sequence[int], share: float) -> bool:
        """Tell whether it is worth the logits to guess so many tokens of each of some texts.

        Of late, guesses were right for this share of the texts.
        """
        ...
