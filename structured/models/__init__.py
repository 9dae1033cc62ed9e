"""Language models: checkpoints, GGUF files, loaded models and functions under one small protocol."""

from structured.models.function import FunctionModel
from structured.models.load import PACKAGED_MODEL, ModelSource, find_model, load_model
from structured.models.protocol import DecodingBatch, LanguageModel, Logits, Model
from structured.models.remote_model import connect
from structured.models.scripted import ByteTokenizer, ScriptedModel

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
