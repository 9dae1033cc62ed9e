"""Language models: checkpoints, loaded models and functions under one small protocol."""

from structured.models.function import FunctionModel
from structured.models.load import DEMONSTRATION, ModelSource, load_model
from structured.models.protocol import LanguageModel, Texts

__all__ = ["DEMONSTRATION", "FunctionModel", "LanguageModel", "ModelSource", "Texts", "load_model"]
