"""The printing of patterns as regular expressions, piece by piece: one that shares nodes may have a very long text.

Escaping for Python's `re` happens here and nowhere else. The nodes say what their pieces are.
"""

from collections.abc import Iterator

Pieces = tuple[object, ...]
"""Texts, and nodes that are still to be printed."""


class Composite:
    """A node that is made of others."""

    __slots__ = ()

    def pieces(self) -> Pieces:
        """Return what is printed."""
        raise NotImplementedError

    def __str__(self) -> str:
        return "".join(_printed(self))


MAX_PRINTED = 200_000, 20_000_000
"""Pieces and characters of the longest regular expression that is printed."""


def printed(pattern: object) -> str | None:
    """Return the text of a pattern; None if it is too long, as it can be where nodes are shared."""
    found: list[str] = []
    pieces, characters = MAX_PRINTED
    for text in _printed(pattern):
        found.append(text)
        characters -= len(text)
        if len(found) > pieces or characters < 0:
            return None
    return "".join(found)


def excerpt(pattern: object, most: int = 10_000) -> str:
    """Return the text of a pattern up to so many characters; one that shares nodes may have very many.

    `literal("abc")`, `2` → `ab…`
    """
    found, length = [], 0
    for text in _printed(pattern):
        found.append(text[: most - length])
        length += len(text)
        if length > most:
            return "".join((*found, "…"))
    return "".join(found)


def _printed(pattern: object) -> Iterator[str]:
    """Yield the text of a pattern piece by piece."""
    left: list[object] = [pattern]
    while left:
        piece = left.pop()
        if isinstance(piece, Composite):
            left += piece.pieces()[::-1]
        else:
            yield str(piece)


def quantifier(minimum: int, maximum: int | None) -> str:
    """Return how counts are written: `0`, `None` → `*`."""
    match (minimum, maximum):
        case (0, None):
            return "*"
        case (1, None):
            return "+"
        case (0, 1):
            return "?"
        case (_, None):
            return f"{{{minimum},}}"
        case _:
            return f"{{{minimum}}}" if minimum == maximum else f"{{{minimum},{maximum}}}"


SPECIAL = frozenset(map(ord, r"\.^$*+?{}[]|()"))

_SPECIAL_IN_SET = frozenset(map(ord, r"\]^-[&~|"))


def range_text(low: int, high: int) -> str:
    """Return how a range of characters is written inside brackets."""
    first, last = escape(low, _SPECIAL_IN_SET), escape(high, _SPECIAL_IN_SET)
    if low == high:
        return first
    return f"{first}{last}" if high == low + 1 else f"{first}-{last}"


def escape(code_point: int, special: frozenset[int] = SPECIAL) -> str:
    """Return the character as `re` reads it: as itself where that is safe to print, otherwise escaped."""
    if code_point in special:
        return f"\\{chr(code_point)}"
    if 0x20 <= code_point < 0x7F or (code_point >= 0xA0 and chr(code_point).isprintable()):
        return chr(code_point)
    if code_point < 0x100:
        return f"\\x{code_point:02x}"
    return f"\\u{code_point:04x}" if code_point < 0x10000 else f"\\U{code_point:08x}"
