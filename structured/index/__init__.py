"""The index: for each state of an automaton the tokens that may follow, as a mask over the vocabulary.

`Vocabulary`, `Guide` and `compile` are for those who sample tokens in a loop of their own. They know neither models nor
output types.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from structured.index.compilation import compile  # noqa: A004  as in `re`
    from structured.index.guide import Guide
    from structured.vocabulary import Vocabulary

__all__ = ["Guide", "Vocabulary", "compile"]

_MODULES = {
    "Guide": "structured.index.guide",
    "Vocabulary": "structured.vocabulary",
    "compile": "structured.index.compilation",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)
