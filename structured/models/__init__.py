"""Anything that can be a model enters; a `LanguageModel` leaves.

A hub id or folder, a loaded `(model, tokenizer)` of transformers, a `(function, tokenizer)`, or any object that follows
the `LanguageModel` protocol. With none named, the environment variable STRUCTURED_MODEL decides; without that the
demonstration model of the package answers, and says so once.
"""

import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from structured.errors import DemonstrationWarning, ModelError, warn
from structured.models.function import FunctionModel, LogitsFunction
from structured.models.protocol import LanguageModel, Texts

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    from structured.vocabulary import Tokenizer

__all__ = ["DEMONSTRATION", "FunctionModel", "LanguageModel", "ModelSource", "Texts", "load_model"]

DEMONSTRATION = Path(__file__).parent / "demonstration"
"""The folder of the small model that ships with the package."""

ModelSource: TypeAlias = (
    "str | Path | LanguageModel | tuple[PreTrainedModel, PreTrainedTokenizerBase] | tuple[LogitsFunction, Tokenizer]"
)


def load_model(
    source: "ModelSource | None" = None,
    *,
    device_map: str | dict[str, Any] | None = None,
    dtype: str = "auto",
    cuda_graphs: bool = False,
) -> LanguageModel:
    """Return the model that `source` names or is.

    `source` is a Hugging Face hub id or a local folder; a loaded `(model, tokenizer)` of transformers; a
    `(function, tokenizer)`, where the function takes token ids and returns logits of shape (width,) and the tokenizer
    follows `structured.vocabulary.Tokenizer`; or a `LanguageModel`, which is returned as it is. None stands for the
    environment variable STRUCTURED_MODEL and, where that is not set, for the demonstration model of the package.

    `device_map` (for accelerate; default: the GPU if there is one), `dtype` (default: that of the checkpoint) and
    `cuda_graphs` (records passes on one GPU and replays them; for models all layers of which attend) apply to models
    loaded by name. The same name is loaded once in a process.

    Raises ModelError if there is no such model, or if it is to be recorded and cannot be, VocabularyError if its
    tokenizer cannot be read.
    """
    if source is None:
        source = os.environ.get("STRUCTURED_MODEL") or _demonstration()
    if isinstance(source, str | Path):
        if isinstance(device_map, dict):
            return _load_by_name(str(source), device_map=device_map, dtype=dtype, cuda_graphs=cuda_graphs)
        return _load_once(str(source), device_map, dtype, cuda_graphs)
    if isinstance(source, LanguageModel):
        return source
    if isinstance(source, tuple) and len(source) == 2:
        return _from_pair(*source)
    raise ModelError(
        f"{source!r} is not a model. Pass a hub id, a folder, (model, tokenizer), (function, tokenizer) or an object "
        "that follows structured.models.LanguageModel."
    )


def _from_pair(model: Any, tokenizer: Any) -> LanguageModel:
    if hasattr(tokenizer, "tokens") and callable(model):
        return FunctionModel(model, tokenizer)
    if hasattr(tokenizer, "backend_tokenizer") and hasattr(model, "generation_config"):
        from structured.models.hugging_face import HuggingFaceModel

        return HuggingFaceModel(model, tokenizer)
    raise ModelError(
        f"({type(model).__name__}, {type(tokenizer).__name__}) is no model and its tokenizer. The tokenizer must be a "
        "fast one of transformers, with its model, or have `tokens`, `end_token_ids` and `encode`, with a function."
    )


@cache
def _demonstration() -> Path:
    """Return the packaged model; being cached, it warns once in a process."""
    warn(
        "No model was named, so the small demonstration model of the package answers. It is made to try the library "
        "with; for real work pass model='…' or set STRUCTURED_MODEL.",
        DemonstrationWarning,
    )
    return DEMONSTRATION


@cache
def _load_once(name: str, device_map: str | None, dtype: str, cuda_graphs: bool) -> LanguageModel:
    return _load_by_name(name, device_map=device_map, dtype=dtype, cuda_graphs=cuda_graphs)


def _load_by_name(
    name: str, *, device_map: str | dict[str, Any] | None, dtype: str, cuda_graphs: bool
) -> LanguageModel:
    from structured.models.hugging_face import load

    is_demonstration = name == str(DEMONSTRATION)
    if is_demonstration and dtype == "auto":
        dtype = "float32"  # sums of bfloat16 differ from processor to processor, and with them close answers
    return load(name, device_map=device_map, dtype=dtype, cuda_graphs=cuda_graphs, progress=not is_demonstration)
