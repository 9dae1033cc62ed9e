"""The places of names and literals in the text of a grammar, for messages that point at them."""

import re
from collections.abc import Iterator
from typing import NamedTuple

_PIECE = re.compile(
    r"""
      (?P<comment> (?: // | \# ) [^\n]* )
    | (?P<literal> " (?: \\. | [^"\\\n] )* " i? | / (?!/) (?: \\. | [^/\\] )+ / [imslux]* )
    | (?P<definition>
          ^ [ \t]* (?: %(?:override|extend)[ \t]+ )? [!?]* _* [A-Za-z] \w* (?= [ \t]* (?: \{ | \.\s*-?\d | : ) )
      )
    | (?P<statement> ^ [ \t]* % \w+ )
    | (?P<name> _* [A-Za-z] \w* )
    | .
    """,
    re.VERBOSE | re.MULTILINE | re.DOTALL,
)

Place = tuple[int, int]
"""A line and a column, from 1."""


class Piece(NamedTuple):
    """A name or a literal of a grammar; `kind` is `definition`, `name`, `literal` or that of a statement."""

    kind: str
    text: str
    place: Place
    statement: str
    """The statement that it belongs to, such as `%import`; empty in a definition."""


class Places:
    """The names and literals of a grammar, in order."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.pieces = list(_pieces(text))

    def definition(self, name: str, *, number: int = 1) -> Place | None:
        """Return where a name is defined, declared or imported; with a number, for the second time, say."""
        found = [
            piece.place
            for piece in self.pieces
            if piece.text == name and (piece.kind == "definition" or piece.statement in ("%declare", "%import"))
        ]
        return found[number - 1] if len(found) >= number else None

    def use(self, name: str) -> Place | None:
        """Return where a name is used first."""
        return next((one.place for one in self.pieces if one.text == name and one.kind == "name"), None)

    def imported(self, name: str) -> Place | None:
        """Return where a name is imported."""
        found = (one.place for one in self.pieces if one.text == name and one.statement == "%import")
        return next(found, None)

    def of(self, text: str) -> Place | None:
        """Return the first place of some text; None for an empty text."""
        start = self.text.find(text) if text else -1
        before = self.text[: max(start, 0)]
        return None if start < 0 else (before.count("\n") + 1, start - before.rfind("\n"))

    def literal(self, text: str) -> Place | None:
        """Return the first place of a literal as it is written."""
        return next((one.place for one in self.pieces if one.text == text and one.kind == "literal"), None)

    @property
    def defined(self) -> set[str]:
        """The names that are defined."""
        return {piece.text for piece in self.pieces if piece.kind == "definition"}


def _pieces(text: str) -> Iterator[Piece]:
    line, line_start, read, statement, of_line = 1, 0, 0, "", 0
    for match in _PIECE.finditer(text):
        newlines = text.count("\n", read, match.start())
        if newlines:
            line, line_start = line + newlines, text.rfind("\n", read, match.start()) + 1
        read = match.start()
        kind = match.lastgroup
        if kind in ("definition", "statement"):
            statement, of_line = match.group().strip() if kind == "statement" else "", line
        elif line != of_line:
            statement = ""
        if kind in ("definition", "name", "literal"):
            shown = re.sub(r"^\s*(%\w+\s+)?[!?]*", "", match.group()) if kind == "definition" else match.group()
            column = match.end() - len(shown) - line_start + 1
            yield Piece(kind, shown, (line, column), statement)
