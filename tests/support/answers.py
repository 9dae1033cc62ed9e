"""The texts in answers, for the tests of training data."""

from typing import Any


def texts(answer: Any) -> list[str]:
    """Return the texts in an answer."""
    if isinstance(answer, dict):
        return [text for value in answer.values() for text in texts(value)]
    if isinstance(answer, list):
        return [text for value in answer for text in texts(value)]
    return [answer] if isinstance(answer, str) else []
