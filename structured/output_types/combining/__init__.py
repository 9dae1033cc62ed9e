"""Output types made of others: texts of several in a row, of one of them, of one again and again, of two at once."""

from functools import partial

from structured.output_types.combining.in_sequence import Repeat, concatenation, template
from structured.output_types.combining.parts import Json
from structured.output_types.combining.set_operations import alternatives, restricted
from structured.output_types.combining.text import Text
from structured.output_types.output_type import define_operators

__all__ = ["Json", "Repeat", "Text", "template"]

define_operators(
    {
        "+": concatenation,
        "|": alternatives,
        "&": partial(restricted, is_included=True),
        "-": partial(restricted, is_included=False),
    }
)
