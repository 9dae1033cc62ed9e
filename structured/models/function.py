"""Any Python function from token ids to logits, as a model."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from structured.errors import ModelError
from structured.models.protocol import Messages
from structured.vocabulary import Tokenizer, Vocabulary

LogitsFunction = Callable[[Sequence[int]], ArrayLike]
"""Takes the token ids of prompt and answer so far; returns the scores of the next token, shape (width,)."""


class FunctionModel:
    """A model made of a function and a tokenizer; it caches nothing and reads each text from its start every time."""

    has_chat_template = False

    def __init__(self, function: LogitsFunction, tokenizer: Tokenizer, *, context_length: int | None = None) -> None:
        self.function = function
        self.tokenizer = tokenizer
        self.name = getattr(function, "__name__", type(function).__name__)
        self.vocabulary = Vocabulary.from_tokenizer(tokenizer)
        self.context_length = context_length

    def __repr__(self) -> str:
        return f"FunctionModel({self.name}, {self.vocabulary!r})"

    def encode(self, prompt: str | Messages) -> list[int]:
        """Return the token ids of a plain prompt."""
        if not isinstance(prompt, str):
            raise ModelError(f"{self.name} has no chat template. Give it a plain prompt.")
        return list(self.tokenizer.encode(prompt))

    def begin(self, prompts: Sequence[Sequence[int]], *, shared: int = 0) -> "FunctionTexts":  # noqa: ARG002  nothing is cached
        """Read the prompts."""
        return FunctionTexts(self, [list(prompt) for prompt in prompts])


class FunctionTexts:
    """Texts of a `FunctionModel`; follows the `Texts` protocol."""

    scores = None
    is_ragged = True
    pass_cost = 0.0
    can_join = True

    def __init__(self, model: FunctionModel, texts: list[list[int]]) -> None:
        self._model = model
        self.texts = texts
        self.logits = self._compute()

    def append(self, token_ids: Sequence[Sequence[int] | None]) -> None:
        """Append tokens to each text; None drops the text."""
        pairs = zip(self.texts, token_ids, strict=True)
        self.texts = [[*text, *more] for text, more in pairs if more is not None]
        self.logits = self._compute()

    def select(self, rows: Sequence[int]) -> None:
        """Keep some of the texts, in this order."""
        self.texts = [list(self.texts[row]) for row in rows]
        self.logits = self.logits[list(rows)]

    def join(self, others: "FunctionTexts") -> None:
        """Take over the texts of another batch."""
        self.texts += others.texts
        self.logits = np.concatenate([self.logits, others.logits])

    def _compute(self) -> NDArray[np.float32]:
        size = self._model.vocabulary.size
        rows = [np.asarray(self._model.function(text), dtype=np.float32) for text in self.texts]
        for row in rows:
            if row.ndim != 1 or len(row) < size:
                raise ModelError(
                    f"{self._model.name} returned logits of shape {row.shape}; one number for each of the {size} "
                    "tokens is needed, shape (width,) with width at least that."
                )
        return np.stack(rows) if rows else np.empty((0, size), dtype=np.float32)
