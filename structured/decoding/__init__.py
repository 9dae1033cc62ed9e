"""Decoding: sampling texts from a model under masks."""

from typing import TYPE_CHECKING, Any

from structured.decoding.requests import Generation

if TYPE_CHECKING:
    from structured.decoding.state_diagram import inspect_automaton

__all__ = ["Generation", "inspect_automaton"]


def __getattr__(name: str) -> Any:
    if name != "inspect_automaton":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from structured.decoding.state_diagram import inspect_automaton

    return inspect_automaton
