"""The printing of patterns as regular expressions, piece by piece: with shared nodes, a text may be very long.

Escaping for Python's `re` happens here and nowhere else. Each node returns its pieces.
"""

from collections.abc import Iterator

Pieces = tuple[object, ...]
"""Texts, and nodes that are not printed yet."""


class Composite:
    """A node with other nodes below it."""

    __slots__ = ()

    def pieces(self) -> Pieces:
        """Return the texts and nodes that its text consists of."""
        raise NotImplementedError

    def __str__(self) -> str:
        return "".join(_printed(self))


MAX_PRINTED = 200_000, 20_000_000
"""The most pieces and characters of a regular expression that is printed."""


def printed(pattern: object) -> str | None:
    """Return the text of a pattern; None if it is too long, as it may be where nodes are shared."""
    texts: list[str] = []
    pieces, characters = MAX_PRINTED
    for text in _printed(pattern):
        texts.append(text)
        characters -= len(text)
        if len(texts) > pieces or characters < 0:
            return None
    return "".join(texts)


def excerpt(pattern: object, most: int = 10_000) -> str:
    """Return the text of a pattern, cut after `most` characters: with shared nodes it may be very long.

    `literal("abc")`, `2` → `ab…`
    """
    texts, length = [], 0
    for text in _printed(pattern):
        texts.append(text[: most - length])
        length += len(text)
        if length > most:
            return "".join((*texts, "…"))
    return "".join(texts)


def _printed(pattern: object) -> Iterator[str]:
    left: list[object] = [pattern]
    while left:
        piece = left.pop()
        if isinstance(piece, Composite):
            left += piece.pieces()[::-1]
        else:
            yield str(piece)


def quantifier(minimum: int, maximum: int | None) -> str:
    """Return a quantifier: `0`, `None` → `*`."""
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
    """Return a range of characters as written inside brackets."""
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
