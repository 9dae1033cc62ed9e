"""Any Python function from token ids to logits, as a model."""

import inspect
import itertools
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from structured.errors import ModelError, PromptError, StructuredError
from structured.errors.values import described
from structured.models.protocol import Messages
from structured.vocabulary import Tokenizer, Vocabulary

LogitsFunction = Callable[[Sequence[int]], ArrayLike]
"""Takes the token ids of prompt and answer so far; returns the scores of the next token, shape (width,).

They may be a list, an array or a tensor of torch, of floats or integers; those beyond the vocabulary do not count.
"""


class FunctionModel:
    """A model made of a function and a tokenizer; it caches nothing and reads each text from its start every time."""

    has_chat_template = False

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

    def encode(self, prompt: str | Messages) -> list[int]:
        """Return the token ids of a plain prompt. Raises PromptError for a text that becomes more than text."""
        if not isinstance(prompt, str):
            raise ModelError(f"{self.name} has no chat template. Give it a plain prompt.")
        assert self.vocabulary.encode is not None, "it is that of the tokenizer"
        token_ids = list(self.vocabulary.encode(prompt))
        control_ids, usual = self._control_ids(token_ids), self._control_ids(self.vocabulary.encode("a"))
        if control_ids != usual:
            raise PromptError(
                f"{type(self.tokenizer).__name__}.encode makes control tokens of the text: "
                f"{sorted(set(control_ids) - set(usual)) or control_ids}, which have no bytes. Let it encode their "
                "spellings as text, or take them out of the text."
            )
        return token_ids

    def _control_ids(self, token_ids: Iterable[int]) -> list[int]:
        return [token_id for token_id in token_ids if self.vocabulary.tokens[token_id] is None]

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

    def begin(
        self,
        prompts: Sequence[Sequence[int]],
        *,
        shared: int = 0,  # noqa: ARG002  nothing is cached
        guessed: int = 0,
    ) -> "FunctionTexts":
        """Read the prompts."""
        return FunctionTexts(self, [list(prompt) for prompt in prompts], guessed=guessed)

    def most_guesses(self, texts: int) -> int:  # noqa: ARG002  however many
        """Return none: the function is called for each token, guessed or not."""
        return 0

    def pays(self, guesses: Sequence[int], share: float) -> bool:  # noqa: ARG002  whatever they are
        """Tell that what may be guessed is."""
        return True


class FunctionTexts:
    """Texts of a `FunctionModel`; follows the `Texts` protocol."""

    is_ragged = True
    pass_cost = 0.0
    can_join = True

    def __init__(self, model: FunctionModel, texts: list[list[int]], *, guessed: int = 0) -> None:
        self._model = model
        self.texts = texts
        self._logits = [self._compute(back) for back in range(guessed + 1)]

    def logits(self, back: int = 0) -> NDArray[np.float32]:
        """Return what the function returned for each text, without its last `back` tokens."""
        return self._logits[back]

    def scores(self, back: int = 0) -> None:
        """Return nothing: tokens are drawn on the host."""

    def append(self, token_ids: Sequence[Sequence[int] | None], *, guessed: int = 0) -> None:
        """Append tokens to each text; None drops the text."""
        pairs = zip(self.texts, token_ids, strict=True)
        self.texts = [[*text, *more] for text, more in pairs if more is not None]
        self._logits = [self._compute(back) for back in range(guessed + 1)]

    def take_back(self, counts: Sequence[int]) -> None:
        """Forget the last tokens of each text."""
        self.texts = [text[: len(text) - count] for text, count in zip(self.texts, counts, strict=True)]

    def select(self, rows: Sequence[int]) -> None:
        """Keep some of the texts, in this order."""
        self.texts = [list(self.texts[row]) for row in rows]
        self._logits = [logits[list(rows)] for logits in self._logits]

    def join(self, others: "FunctionTexts") -> None:
        """Take over the texts of another batch."""
        self.texts += others.texts
        pairs = itertools.zip_longest(self._logits, others._logits)  # noqa: SLF001  of the same class
        self._logits = [
            np.concatenate([self.logits() if mine is None else mine, others.logits() if theirs is None else theirs])
            for mine, theirs in pairs
        ]

    def _compute(self, back: int) -> NDArray[np.float32]:
        rows = [self._model.scores(text[: len(text) - back]) for text in self.texts]
        return np.stack(rows) if rows else np.empty((0, self._model.vocabulary.size), dtype=np.float32)


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
