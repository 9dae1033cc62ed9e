"""The dialects of regular expressions: those of JSON Schema, of Pydantic and of Python."""

from collections.abc import Callable
from dataclasses import dataclass

from structured.regex import character_classes as characters
from structured.regex.character_sets import Range

Ranges = tuple[Range, ...]


@dataclass(frozen=True, slots=True)
class Dialect:
    r"""A dialect of regular expressions.

    `classes` are the sets of `\d`, `\w` and `\s`; they may or may not contain the characters of `uncertain`. A dot does
    not match `line_ends`. In a dialect that `is_lenient`, an escaped letter without a meaning is the letter itself.
    """

    name: str
    classes: Callable[[str], Ranges]
    uncertain: Callable[[], Ranges]
    line_ends: Ranges
    is_lenient: bool
    end_of_text: str


ASCII_CLASSES: dict[str, Ranges] = {"d": characters.DIGITS, "w": characters.WORD, "s": characters.POSIX["space"]}
"""The classes under the flag `a`."""


def _ecma_class(name: str) -> Ranges:
    return {"d": characters.DIGITS, "w": characters.WORD, "s": characters.ECMA_SPACE}[name]


def _rust_class(name: str) -> Ranges:
    if name == "s":
        return characters.UNICODE_SPACE
    return characters.unicode_digits() if name == "d" else characters.rust_word()


def _python_class(name: str) -> Ranges:
    if name == "s":
        return characters.python_space()
    return characters.unicode_digits() if name == "d" else characters.python_word()


ECMA = Dialect("ECMA 262", _ecma_class, lambda: (), characters.ECMA_LINE_ENDS, True, "")

RUST = Dialect("Rust", _rust_class, characters.unassigned, characters.LINE_FEED, False, "z")

PYTHON = Dialect("Python", _python_class, lambda: (), characters.LINE_FEED, False, "Z")
