"""Answers: the text of one, read as the value that it means, or as a rejected attempt."""

from typing import TypeVar

from structured.errors import Attempt
from structured.output_types.output_type import OutputType

T = TypeVar("T")


def read_answer(output_type: OutputType[T], text: str) -> T | Attempt:
    """Return the value of an answer, or the attempt that it was if a validator raises anything."""
    try:
        return output_type.parse(text)
    except Exception as error:  # noqa: BLE001  validators are the user's own code
        return Attempt(text, error)
