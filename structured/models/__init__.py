"""Language models: checkpoints, loaded models and functions under one small protocol."""

from structured.models.function import FunctionModel
from structured.models.load import DEMONSTRATION, ModelSource, load_model
from structured.models.protocol import DecodingBatch, LanguageModel, Logits

__all__ = [
    "DEMONSTRATION",
    "DecodingBatch",
    "FunctionModel",
    "LanguageModel",
    "Logits",
    "ModelSource",
    "load_model",
]
