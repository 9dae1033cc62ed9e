"""Calls of a model: what it raises and what it returns, checked where they come in.

A model may be anybody's, and a score that stands in the wrong row or column is a wrong answer, not a crash. So whatever
calls a model calls it through here. What is as it should be costs a look at its type and shape.
"""

import inspect
import sys
from collections.abc import Callable, Sequence
from typing import Any, TypeGuard, TypeVar

import numpy as np
from numpy.typing import NDArray

from structured.errors import ModelError, StructuredError
from structured.errors.values import described, message
from structured.models.protocol import DecodingBatch, LanguageModel, Logits, Messages

T = TypeVar("T")


def called(name: str, run: Callable[[], T], when: str = "") -> T:
    """Return what a model's own code returns. What it raises becomes the cause of a ModelError that names the model."""
    try:
        return run()
    except StructuredError:
        raise
    except Exception as error:
        raise ModelError(f"{name} raised {type(error).__name__}{when}: {message(error)}") from error


def encode(model: LanguageModel, prompt: str | Messages) -> list[int]:
    """Return the token ids of a prompt, at least one. Raises ModelError where these are not tokens of the model."""
    given = called(model.name, lambda: model.encode(prompt))
    try:
        token_ids = np.asarray(given)
    except Exception:  # noqa: BLE001  what stands in for an array has code of its own
        token_ids = np.asarray(None)
    if token_ids.ndim != 1 or not len(token_ids) or token_ids.dtype.kind not in "iu":
        raise ModelError(f"{model.name} encodes a prompt as {described(given)}. A list of token ids is needed.")
    if token_ids.min() < 0 or token_ids.max() >= model.vocabulary.size:
        raise ModelError(
            f"{model.name} encodes a prompt with the token ids {token_ids.min()} to {token_ids.max()}, and its "
            f"vocabulary has those from 0 to {model.vocabulary.size - 1}. Give it the vocabulary of its tokenizer."
        )
    found: list[int] = token_ids.tolist()
    return found


def prefill(
    model: LanguageModel, prompts: Sequence[Sequence[int]], *, shared: int = 0, window: int = 0
) -> tuple[DecodingBatch, Logits]:
    """Let a model read prompts; see `LanguageModel.prefill`. Raises ModelError, also for what is no batch or logits."""
    given: Any = called(model.name, lambda: model.prefill(prompts, shared=shared, window=window))
    if not (isinstance(given, tuple) and len(given) == 2 and isinstance(given[0], DecodingBatch)):
        raise ModelError(
            f"The prefill of {model.name} returned {described(given)}. A pair is needed: a DecodingBatch, and logits."
        )
    batch, logits = given
    return batch, checked_logits(model, logits, len(prompts), window)


def forward(
    model: LanguageModel, batch: DecodingBatch, token_ids: Sequence[Sequence[int]], *, window: int = 0
) -> Logits:
    """Let a model read on; see `DecodingBatch.forward`. Raises ModelError, also for what are no logits."""
    logits = called(model.name, lambda: batch.forward(token_ids, window=window))
    return checked_logits(model, logits, len(token_ids), window)


def checked_logits(model: LanguageModel, given: object, rows: int, window: int) -> Logits:
    """Return the logits of some texts: an array in single precision, or a tensor of floats.

    Raises ModelError unless there are numbers for each of `rows` texts, each place of a window, and each token.
    """
    places = (rows, window + 1) if window else (rows,)
    width = model.vocabulary.size
    logits = given if _is_as_wanted(given) else numbers(given, model.name, _wanted(places, width))
    *shape, scores = logits.shape or (0,)
    if tuple(shape) != places or scores < width:
        raise ModelError(f"{model.name} returned logits of shape {tuple(logits.shape)}. {_wanted(places, width)}")
    return logits


def numbers(given: object, name: str, wanted: str) -> NDArray[np.float32]:
    """Return a list, an array or a tensor in single precision; what is too large for it becomes infinite.

    Raises ModelError, with what is wanted, for what holds no floats or integers.
    """
    if inspect.iscoroutine(given):
        given.close()
    try:
        array = np.asarray(_on_host(given))
        with np.errstate(over="ignore", invalid="ignore"):
            found: NDArray[np.float32] | None = array.astype(np.float32) if _holds_numbers(array.dtype) else None
    except Exception as error:
        problem = f"{name} returned {described(given)}, which cannot be read: {message(error)}"
        raise ModelError(f"{problem}. {wanted}") from error
    if found is None:
        raise ModelError(f"{name} returned {described(given)}, of dtype {array.dtype}. {wanted}")
    return found


def _is_as_wanted(given: object) -> TypeGuard[Logits]:
    """Tell whether scores may stay as and where they are: an array in single precision, or a plain tensor of floats."""
    if isinstance(given, np.ndarray):
        return bool(given.dtype == np.float32)
    torch = sys.modules.get("torch")
    return (
        torch is not None
        and isinstance(given, torch.Tensor)
        and given.is_floating_point()
        and not given.requires_grad
        and given.layout == torch.strided
        and not given.is_meta
    )


def _on_host(given: object) -> object:
    """Return a tensor of torch as an array, whatever its device, width and gradient; anything else as it is."""
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(given, torch.Tensor):
        return given
    tensor = given.detach().cpu()
    return (tensor.float() if tensor.is_floating_point() else tensor).numpy()


def _wanted(shape: tuple[int, ...], width: int) -> str:
    named = ", ".join(map(str, shape))
    return (
        f"Logits of shape ({named}, width) are needed, width at least {width}, the size of the vocabulary: a NumPy "
        "array or a torch tensor of floats."
    )


def _holds_numbers(dtype: np.dtype[Any]) -> bool:
    """Tell whether there are floats or integers in an array; narrow floats of other libraries are of no NumPy kind."""
    return dtype.kind in "fiu" or "float" in dtype.name
