"""Any Python function from token ids to logits, as a model."""

import inspect
from collections.abc import Callable, Sequence
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from structured.errors import ModelError
from structured.errors.values import described
from structured.models.checked_calls import called, numbers
from structured.models.protocol import DecodingBatch, LanguageModel
from structured.vocabulary import Tokenizer, Vocabulary

LogitsFunction = Callable[[Sequence[int]], ArrayLike]
"""Takes the token ids of prompt and answer so far; returns the scores of the next token, shape (width,).

They may be a list, an array or a tensor of torch, of floats or integers; those beyond the vocabulary do not count.
"""


class FunctionModel(LanguageModel):
    """A model made of a function and a tokenizer. It caches nothing, and reads each text from its start every time.

    Speculation would save nothing: the function is called for each token, proposed or not.
    """

    def __init__(self, function: LogitsFunction, tokenizer: Tokenizer, *, context_length: int | None = None) -> None:
        if not callable(function) or inspect.iscoroutinefunction(function):
            raise ModelError(
                f"{described(function)} is not a function that can be a model. Pass one, without async, that takes a "
                "list of token ids and returns a score for each token."
            )
        self.function = function
        self.tokenizer = tokenizer
        self.name = getattr(function, "__name__", type(function).__name__)
        self.vocabulary = Vocabulary.from_tokenizer(tokenizer)
        self.context_length = context_length

    def __repr__(self) -> str:
        return f"FunctionModel({self.name}, {self.vocabulary!r})"

    def scores(self, token_ids: list[int]) -> NDArray[np.float32]:
        """Return the scores of the next token, shape (size of the vocabulary,). Raises ModelError."""
        size = self.vocabulary.size
        returned = called(self.name, lambda: self.function(token_ids), f" after {len(token_ids)} tokens")
        requirement = (
            f"One number for each of the {size} tokens is needed: a list, a NumPy array or a torch tensor of floats or "
            "integers, shape (width,) with width at least that."
        )
        scores = numbers(returned, self.name, requirement)
        if scores.ndim != 1 or len(scores) < size:
            raise ModelError(f"{self.name} returned logits of shape {scores.shape}. {requirement}")
        return scores[:size]

    def prefill(
        self,
        prompts: Sequence[Sequence[int]],
        *,
        shared: int = 0,  # noqa: ARG002  nothing is cached
        window: int = 0,
    ) -> "tuple[FunctionBatch, NDArray[np.float32]]":
        """Read the prompts."""
        batch = FunctionBatch(self, [[] for _ in prompts])
        return batch, batch.forward(prompts, window=window)


class FunctionBatch(DecodingBatch):
    """Texts of a `FunctionModel`."""

    is_ragged = True
    can_join = True

    def __init__(self, model: FunctionModel, texts: list[list[int]]) -> None:
        self.model = model
        self.texts = texts

    def forward(self, token_ids: Sequence[Sequence[int]], *, window: int = 0) -> NDArray[np.float32]:
        """Append tokens to each text, and return the scores that the function gives each."""
        self.texts = [[*text, *new] for text, new in zip(self.texts, token_ids, strict=True)]
        lengths = range(-window, 1)
        scores = [[self.model.scores(text[: len(text) + length]) for length in lengths] for text in self.texts]
        return np.array(scores) if window else np.array(scores)[:, 0]

    def select(self, rows: Sequence[int]) -> None:
        """Keep some of the texts, in this order."""
        self.texts = [self.texts[row] for row in rows]

    def join(self, other: Self) -> None:
        """Take over the texts of another batch."""
        self.texts += other.texts

    def rollback(self, counts: Sequence[int]) -> None:
        """Forget the last tokens of each text."""
        self.texts = [text[: len(text) - count] for text, count in zip(self.texts, counts, strict=True)]
