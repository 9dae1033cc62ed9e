"""Language models: checkpoints, GGUF files, loaded models and functions under one small protocol."""

from typing import TYPE_CHECKING, Any

from structured.models.function import FunctionModel
from structured.models.load import PACKAGED_MODEL, ModelSource, find_model, load_model
from structured.models.protocol import DecodingBatch, LanguageModel, Logits, Model
from structured.models.scripted import ByteTokenizer, ScriptedModel

if TYPE_CHECKING:
    from structured.models.remote_model import connect

__all__ = [
    "PACKAGED_MODEL",
    "ByteTokenizer",
    "DecodingBatch",
    "FunctionModel",
    "LanguageModel",
    "Logits",
    "Model",
    "ModelSource",
    "ScriptedModel",
    "connect",
    "find_model",
    "load_model",
]


def __getattr__(name: str) -> Any:
    if name != "connect":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from structured.models.remote_model import connect  # with an HTTP client

    return connect
