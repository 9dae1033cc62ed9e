"""Whitespace styles: the patterns between the tokens of a JSON text.

RFC 8259 §2 allows any run of blanks around every token. A model that may write any run can write blanks until its
budget is spent, so the other styles are bounded: three write exactly what `json.dumps` writes, one leaves some freedom.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

from structured.errors.arguments import one_of
from structured.regex import EMPTY, Pattern, alternation, chars, concat, literal, optional, repeat

WhitespaceName = Literal["compact", "spaced", "indented", "flexible", "any"]
"""The names of the styles."""

DEFAULT_WHITESPACE: WhitespaceName = "spaced"


@dataclass(frozen=True)
class Whitespace:
    """The whitespace between JSON tokens.

    `inside_brackets` lies next to the brackets, and `before_separator` in front of each colon and comma. Where `indent`
    is not 0, each member is on a line of its own instead.
    """

    name: WhitespaceName
    inside_brackets: Pattern = EMPTY
    before_separator: Pattern = EMPTY
    after_comma: Pattern = EMPTY
    after_colon: Pattern = EMPTY
    indent: int = 0

    @cached_property
    def colon(self) -> Pattern:
        """The colon between a name and its value, with the whitespace around it."""
        return concat(self.before_separator, literal(":"), self.after_colon)

    @cached_property
    def _comma(self) -> Pattern:
        return concat(self.before_separator, literal(","), self.after_comma)

    def comma(self, depth: int) -> Pattern:
        """Return the comma between two members of a pair of brackets inside `depth` others, with its whitespace."""
        if not self.indent:
            return self._comma
        return concat(self.before_separator, literal(","), self._new_line(depth + 1))

    def in_brackets(self, brackets: str, members: Pattern | None, depth: int, *, may_be_empty: bool = False) -> Pattern:
        """Return members with their separators in brackets inside `depth` other pairs; None if there are no members."""
        opening, closing = map(literal, brackets)
        if members is None:
            return concat(opening, self.inside_brackets, closing)
        before = after = self.inside_brackets
        if self.indent:
            before, after = self._new_line(depth + 1), self._new_line(depth)
        filled = concat(before, members, after)
        if may_be_empty:
            filled = optional(filled) if self.inside_brackets == EMPTY else alternation(self.inside_brackets, filled)
        return concat(opening, filled, closing)

    def _new_line(self, depth: int) -> Pattern:
        return literal("\n" + " " * (self.indent * depth))


_ANY_BLANKS = repeat(chars(" \t\n\r"), 0, None)
_INDENTATION = alternation(repeat(literal(" "), 1, 16), repeat(literal("\t"), 1, 8))
_FEW_BLANKS = optional(alternation(literal(" "), concat(literal("\n"), optional(_INDENTATION))))

WHITESPACES: dict[WhitespaceName, Whitespace] = {
    "compact": Whitespace("compact"),
    "spaced": Whitespace("spaced", after_comma=literal(" "), after_colon=literal(" ")),
    "indented": Whitespace("indented", after_colon=literal(" "), indent=2),
    "flexible": Whitespace("flexible", _FEW_BLANKS, after_comma=_FEW_BLANKS, after_colon=optional(literal(" "))),
    "any": Whitespace("any", _ANY_BLANKS, _ANY_BLANKS, _ANY_BLANKS, _ANY_BLANKS),
}
"""`{"a":1,"b":[2]}`; `json.dumps(value)`; `json.dumps(value, indent=2)`; a few blanks where people put them; all blanks
that RFC 8259 has."""

check_whitespace = one_of(get_args(WhitespaceName))
"""Check the name of a whitespace style, after that of an argument. Raises TypeError or ValueError for any other."""


def read_whitespace(name: WhitespaceName) -> Whitespace:
    """Return the whitespace style of this name."""
    return WHITESPACES[check_whitespace("whitespace", name)]
