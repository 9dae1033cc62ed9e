"""Servers with models: what each is sent, over which connection, and how its answers are read."""

from structured.integrations.model_servers.connection import Connection
from structured.integrations.model_servers.forms import (
    LlamaCppForm,
    OllamaForm,
    OpenAIForm,
    SglangForm,
    StructuredForm,
    VllmForm,
)
from structured.models.server_form import ServerForm

__all__ = ["FORMS", "Connection"]

FORMS: dict[str, ServerForm] = {
    "llamacpp": LlamaCppForm(),
    "ollama": OllamaForm(),
    "openai": OpenAIForm(),
    "sglang": SglangForm(),
    "structured": StructuredForm(),
    "vllm": VllmForm(),
}
"""The form of each kind of server, by the scheme of its addresses."""
