"""The answers of vLLM, read as values."""

from functools import lru_cache
from typing import Any, TypeVar, overload

from structured.errors import Attempt, GenerationError, ModelError
from structured.output_types.json_schema import JsonSchemaType
from structured.output_types.output_type import OutputType
from structured.output_types.remote_constraints import AnswerCheck
from structured.output_types.resolve import resolve_type
from structured.results.result import read_answer

T = TypeVar("T")

MAX_SHOWN = 200
"""Characters of a text that an error shows."""


@overload
def read(output_type: type[T], text: str) -> T: ...
@overload
def read(output_type: OutputType[T], text: str) -> T: ...
@overload
def read(output_type: object, text: str) -> Any: ...
def read(output_type: object, text: str) -> Any:
    """Return the value of an answer.

    Parameters:
        output_type: The type that the constraint was made of.
        text: What the engine wrote, without the prompt.

    Raises:
        GenerationError: A validator of the type rejects it.
        ModelError: It is no text of the type, which the engine was not told, or could not keep to.
    """
    resolved = resolve_type(output_type)
    fault = _check(resolved).fault(text)
    if fault is not None:
        raise ModelError(
            f"The engine wrote {text[:MAX_SHOWN]!r}, which is no answer. {fault} See that the request has the "
            "constraint of this type, and in the engine's log whether it had to end the answer: max_tokens may be too "
            "small."
        )
    value = read_answer(resolved, text)
    if isinstance(value, Attempt):
        raise GenerationError([value])
    return value


@lru_cache(maxsize=64)
def _check(output_type: OutputType[Any]) -> AnswerCheck:
    """Return what tells the texts of a type from others, so that what validators reject is told from those.

    A JSON Schema has no validators, and rejects by itself.
    """
    return AnswerCheck(output_type, left_to_parse=(JsonSchemaType,))
