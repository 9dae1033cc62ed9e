"""Checked calls of a model: the facts that it states, the values that it returns, and the errors that it raises.

A model may be anybody's, and a score in the wrong row or column is a wrong answer, not a crash. So every call of a
model goes through here. A value of the right kind costs a look at its type and shape.
"""

import inspect
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeGuard, TypeVar

import numpy as np
from numpy.typing import NDArray

from structured.errors import ModelError, StructuredError
from structured.errors.arguments import Check, count, number, or_none, text
from structured.errors.values import described, message
from structured.models.protocol import DecodingBatch, LanguageModel, Logits, Messages
from structured.vocabulary import Vocabulary

T = TypeVar("T")

RUST = "pyo3_runtime"
"""The module of a panic of Rust, as of a tokenizer: a BaseException, though it interrupts nothing."""

_COST = number(lambda value: 0 <= value < float("inf"), "0 or greater, and finite")
_FACTS: dict[str, Check[Any]] = {
    "name": text,
    "context_length": or_none(count(1, "1 or greater, or None where there is no limit")),
    "pass_cost": _COST,
    "logits_cost": _COST,
}
"""The facts that a model of the user's own states, beside its vocabulary."""


def checked_model(model: LanguageModel) -> LanguageModel:
    """Return a model of the user's own. Raises ModelError unless the facts that it states are of the right kind."""
    lacks = [f"`{name}`" for name in ("name", "vocabulary") if not has(model, name)]
    if lacks:
        raise ModelError(f"{described(model)} lacks {' and '.join(lacks)}. Set them when it is made.")
    try:
        vocabulary = model.vocabulary
    except Exception as error:
        raise ModelError(f"The `vocabulary` of {described(model)} raises {type(error).__name__}: {error}") from error
    if not isinstance(vocabulary, Vocabulary):
        problem = f"The `vocabulary` of {described(model)} is {described(vocabulary)}"
        raise ModelError(f"{problem}. It must be a structured.vocabulary.Vocabulary.")
    for name, check in _FACTS.items():
        fact = called(described(model), partial(getattr, model, name), f" for its `{name}`")
        try:
            check(f"The `{name}` of {described(model)}", fact)
        except (TypeError, ValueError) as error:
            raise ModelError(str(error)) from error
    return model


def has(source: object, name: str) -> bool:
    """Tell whether an object has an attribute, even one that raises an error."""
    try:
        return hasattr(source, name)
    except Exception:  # noqa: BLE001  it is raised again when the attribute is read
        return True


def called(name: str, run: Callable[[], T], when: str = "") -> T:
    """Run a model's own code. Whatever it raises becomes the cause of a ModelError that names the model."""
    try:
        return run()
    except StructuredError:
        raise
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__module__ != RUST:
            raise
        raise ModelError(f"{name} raised {type(error).__name__}{when}: {message(error)}") from error


def encode(model: LanguageModel, prompt: str | Messages) -> list[int]:
    """Return the token ids of a prompt, at least one. Raises ModelError unless they are tokens of the model."""
    encoded = called(model.name, lambda: model.encode(prompt))
    try:
        token_ids = np.asarray(encoded)
    except Exception:  # noqa: BLE001  an array-like has code of its own
        token_ids = np.asarray(None)
    if token_ids.ndim != 1 or not len(token_ids) or token_ids.dtype.kind not in "iu":
        raise ModelError(f"{model.name} encodes a prompt as {described(encoded)}. A list of token ids is needed.")
    if token_ids.min() < 0 or token_ids.max() >= model.vocabulary.size:
        raise ModelError(
            f"{model.name} encodes a prompt with the token ids {token_ids.min()} to {token_ids.max()}, and its "
            f"vocabulary has those from 0 to {model.vocabulary.size - 1}. Give it the vocabulary of its tokenizer."
        )
    ids: list[int] = token_ids.tolist()
    return ids


def prefill(
    model: LanguageModel, prompts: Sequence[Sequence[int]], *, shared: int = 0, window: int = 0
) -> tuple[DecodingBatch, Logits]:
    """Let a model read prompts; see `LanguageModel.prefill`. Raises ModelError, also for other values."""
    pair: Any = called(model.name, lambda: model.prefill(prompts, shared=shared, window=window))
    if not (isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[0], DecodingBatch)):
        problem = f"The prefill of {model.name} returned {described(pair)}"
        raise ModelError(f"{problem}. A pair is needed: a DecodingBatch, and logits.")
    batch, logits = pair
    return batch, checked_logits(model, logits, len(prompts), window)


def is_ragged(model: LanguageModel, batch: DecodingBatch) -> bool:
    """Tell whether the texts of a batch may get different numbers of tokens. Raises ModelError."""
    return called(model.name, lambda: batch.is_ragged)


def can_join(model: LanguageModel, batch: DecodingBatch) -> bool:
    """Tell whether other texts may join a batch. Raises ModelError."""
    return called(model.name, lambda: batch.can_join)


def forward(
    model: LanguageModel, batch: DecodingBatch, token_ids: Sequence[Sequence[int]], *, window: int = 0
) -> Logits:
    """Let a model read on; see `DecodingBatch.forward`. Raises ModelError, also unless it returns logits."""
    logits = called(model.name, lambda: batch.forward(token_ids, window=window))
    return checked_logits(model, logits, len(token_ids), window)


def checked_logits(model: LanguageModel, scores: object, rows: int, window: int) -> Logits:
    """Return the logits of `rows` texts, as single floats or a tensor. Raises ModelError for another shape or kind."""
    places = (rows, window + 1) if window else (rows,)
    width = model.vocabulary.size
    logits = scores if _is_usable(scores) else numbers(scores, model.name, _requirement(places, width))
    *shape, columns = logits.shape or (0,)
    if tuple(shape) != places or columns < width:
        raise ModelError(f"{model.name} returned logits of shape {tuple(logits.shape)}. {_requirement(places, width)}")
    return logits


def numbers(scores: object, name: str, requirement: str) -> NDArray[np.float32]:
    """Return numbers in single precision, too large ones as infinity. Raises ModelError, with the requirement."""
    if inspect.iscoroutine(scores):
        scores.close()
    torch, readable = sys.modules.get("torch"), scores
    try:
        if torch is not None and isinstance(scores, torch.Tensor):  # whatever its device, width and gradient
            tensor = scores.detach().cpu()
            readable = (tensor.float() if tensor.is_floating_point() else tensor).numpy()
        array = np.asarray(readable)
        if array.dtype.kind in "fiu" or "float" in array.dtype.name:
            with np.errstate(over="ignore", invalid="ignore"):
                return array.astype(np.float32)
    except Exception as error:
        problem = f"{name} returned {described(scores)}, which cannot be read: {message(error)}"
        raise ModelError(f"{problem}. {requirement}") from error
    raise ModelError(f"{name} returned {described(scores)}, of dtype {array.dtype}. {requirement}")


def _is_usable(scores: object) -> TypeGuard[Logits]:
    """Tell whether scores can be used as they are: an array in single precision, or a plain tensor of floats."""
    if isinstance(scores, np.ndarray):
        return bool(scores.dtype == np.float32)
    torch = sys.modules.get("torch")
    return (
        torch is not None
        and isinstance(scores, torch.Tensor)
        and scores.is_floating_point()
        and not scores.requires_grad
        and scores.layout == torch.strided
        and not scores.is_meta
    )


def _requirement(shape: tuple[int, ...], width: int) -> str:
    sizes = ", ".join(map(str, shape))
    return (
        f"Logits of shape ({sizes}, width) are needed, width at least {width}, the size of the vocabulary: a NumPy "
        "array or a torch tensor of floats."
    )
