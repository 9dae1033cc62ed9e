"""The field of a request to vLLM that holds its constraint."""

from structured.errors import StructuredError
from structured.errors.values import shown
from structured.output_types.described_types import REMEDY, text_to_type

KEY = "structured"
"""The name under which a request holds its constraint."""


def fault_of(text: object) -> str | None:
    """Return why a text is no constraint; None if it is one."""
    if not isinstance(text, str):
        return f"The constraint is {shown(text)}. {REMEDY}"
    try:
        text_to_type(text)
    except StructuredError as error:
        return str(error)
    return None
