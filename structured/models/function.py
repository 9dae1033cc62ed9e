"""Any Python function from token ids to logits, as a model."""

import inspect
import sys
from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from structured.errors import ModelError, StructuredError
from structured.errors.values import described
from structured.models.protocol import DecodingBatch, LanguageModel
from structured.vocabulary import Tokenizer, Vocabulary

LogitsFunction = Callable[[Sequence[int]], ArrayLike]
"""Takes the token ids of prompt and answer so far; returns the scores of the next token, shape (width,).

They may be a list, an array or a tensor of torch, of floats or integers; those beyond the vocabulary do not count.
"""


class FunctionModel(LanguageModel):
    """A model made of a function and a tokenizer; it caches nothing and reads each text from its start every time.

    Nothing is proposed ahead: the function would be called for each token, proposed or not.
    """

    def __init__(self, function: LogitsFunction, tokenizer: Tokenizer, *, context_length: int | None = None) -> None:
        if not callable(function) or inspect.iscoroutinefunction(function):
            raise ModelError(
                f"{described(function)} is no function of a model. Pass one, without async, that takes a list of token "
                "ids and returns a score for each token."
            )
        self.function = function
        self.tokenizer = tokenizer
        self.name = getattr(function, "__name__", type(function).__name__)
        self.vocabulary = Vocabulary.from_tokenizer(tokenizer)
        self.context_length = context_length

    def __repr__(self) -> str:
        return f"FunctionModel({self.name}, {self.vocabulary!r})"

    def scores(self, token_ids: list[int]) -> NDArray[np.float32]:
        """Return what the function says of the next token, shape (size of the vocabulary,).

        Raises ModelError if the function raises something, or returns anything but a number for each token.
        """
        size = self.vocabulary.size
        try:
            given = self.function(token_ids)
        except StructuredError:
            raise
        except Exception as error:
            raise ModelError(
                f"{self.name} raised {type(error).__name__} after {len(token_ids)} tokens: {error}"
            ) from error
        scores = self._numbers(given)
        if scores.ndim != 1 or len(scores) < size:
            raise ModelError(
                f"{self.name} returned logits of shape {scores.shape}; one number for each of the {size} tokens is "
                "needed, shape (width,) with width at least that."
            )
        return scores[:size]

    def _numbers(self, given: object) -> NDArray[np.float32]:
        """Return a list, an array or a tensor in single precision; what is too large for it becomes infinite."""
        wanted = (
            f"One number for each of the {self.vocabulary.size} tokens is needed: a list, a NumPy array or a torch "
            "tensor of floats or integers, shape (width,)."
        )
        if inspect.iscoroutine(given):
            given.close()
        try:
            array = np.asarray(_on_host(given))
            with np.errstate(over="ignore", invalid="ignore"):
                numbers = array.astype(np.float32) if _holds_numbers(array.dtype) else None
        except Exception as error:
            problem = f"{self.name} returned {described(given)}, which cannot be read: {error}"
            raise ModelError(f"{problem}. {wanted}") from error
        if numbers is None:
            raise ModelError(f"{self.name} returned {described(given)}, of dtype {array.dtype}. {wanted}")
        return numbers

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
        """Append tokens to each text, and return what the function says of each."""
        self.texts = [[*text, *new] for text, new in zip(self.texts, token_ids, strict=True)]
        if window == 0:
            return np.stack([self.model.scores(text) for text in self.texts])
        lengths = range(-window, 1)
        scores = [[self.model.scores(text[: len(text) + length]) for length in lengths] for text in self.texts]
        return np.array(scores)

    def select(self, rows: Sequence[int]) -> None:
        """Keep some of the texts, in this order."""
        self.texts = [self.texts[row] for row in rows]

    def join(self, other: Self) -> None:
        """Take over the texts of another batch."""
        self.texts += other.texts

    def rollback(self, counts: Sequence[int]) -> None:
        """Forget the last tokens of each text."""
        self.texts = [text[: len(text) - count] for text, count in zip(self.texts, counts, strict=True)]


def _holds_numbers(dtype: np.dtype[Any]) -> bool:
    """Tell whether there are floats or integers in an array; narrow floats of other libraries are of no NumPy kind."""
    return dtype.kind in "fiu" or "float" in dtype.name


def _on_host(given: object) -> object:
    """Return a tensor of torch as an array, whatever its device, width and gradient; anything else as it is."""
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(given, torch.Tensor):
        return given
    tensor = given.detach().cpu()
    return (tensor.float() if tensor.is_floating_point() else tensor).numpy()
