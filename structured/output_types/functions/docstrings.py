"""Docstrings: what they say of a function and of its parameters, in the styles of Google, NumPy and reST."""

import inspect
from typing import Any, NamedTuple

from docstring_parser import ParseError, parse


class Docstring(NamedTuple):
    """What a docstring says, each in one line."""

    summary: str
    parameters: dict[str, str]

    @classmethod
    def of(cls, documented: Any) -> "Docstring":
        """Return what the docstring of a function says; a text in no known style is its summary.

        The summary is what stands before the first section.
        """
        written = inspect.getdoc(documented) or ""
        try:
            read = parse(written)
        except ParseError:
            return cls(_line(written), {})
        parameters = {one.arg_name.lstrip("*"): _line(one.description or "") for one in read.params}
        return cls(_line(read.description or ""), parameters)


def _line(text: str) -> str:
    return " ".join(text.split())
