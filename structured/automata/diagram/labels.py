r"""Labels of arrows: regular expressions, written as a person would: `[0-9]`, `\.`, `[^"\\]`, `\d`."""

import re
import sys
from functools import cache

from structured.regex.character_sets import Range, complement, normalise
from structured.regex.printing import SPECIAL, escape, range_text

NAMED = (r"\w", r"\d", r"\s")
"""Classes of Python's `re` that stand for their characters, the largest first."""

MIN_NAMED = 5
"""Ranges of the smallest set in which such a class is looked for."""

_BRACES = frozenset(map(ord, "{}"))

_SHORT_ESCAPES = {r"\x09": r"\t", r"\x0a": r"\n", r"\x0d": r"\r"}
"""How people write some of the characters that `escape` spells by their numbers."""


def set_label(ranges: tuple[Range, ...]) -> str:
    r"""Return the regular expression of one character of some ranges, which neither overlap nor touch.

    >>> set_label(((0x30, 0x39),)), set_label(((0x2E, 0x2E),))
    ('[0-9]', '\\.')
    """
    if len(ranges) == 1 and ranges[0][0] == ranges[0][1]:
        return text_label(chr(ranges[0][0]))
    others = complement(ranges)
    if not others:
        return r"[\s\S]"
    inside, outside = _members(ranges), _members(others)
    if len(inside) <= len(outside) + 1:
        return inside if inside in NAMED else f"[{inside}]"
    return outside.upper() if outside in NAMED else f"[^{outside}]"


def text_label(text: str) -> str:
    r"""Return the regular expression of a text: its special characters escaped, and blanks at its ends in brackets.

    >>> text_label('{"price": ')
    '{"price":[ ]'
    """
    found = [_short(escape(ord(character), SPECIAL - _BRACES)) for character in text]
    for end in {0, len(text) - 1}:
        if text[end] == " ":
            found[end] = "[ ]"
    # A brace before a digit or a comma would be a repetition.
    return re.sub(r"\{(?=[0-9,])", r"\\{", "".join(found))


def shortened(label: str, most: int) -> str:
    """Return a label of at most so many characters, with the end left out."""
    return label if len(label) <= most else f"{label[: most - 1]}…"


def _members(ranges: tuple[Range, ...]) -> str:
    """Return what stands between brackets for some ranges."""
    names = []
    for name, named in _named().items() if len(ranges) >= MIN_NAMED else ():
        if not _without(named, ranges):
            names.append(name)
            ranges = _without(ranges, named)
    return "".join((*names, *(_short(range_text(low, high)) for low, high in ranges)))


def _short(escaped: str) -> str:
    r"""Return what one or two escaped characters are written as: `\x09-\x0a` → `\t-\n`."""
    for long, short in _SHORT_ESCAPES.items():
        escaped = escaped.replace(long, short)
    return escaped


def _without(ranges: tuple[Range, ...], others: tuple[Range, ...]) -> tuple[Range, ...]:
    """Return the characters of some ranges that are not in others."""
    return complement((*complement(ranges), *others))


@cache
def _named() -> dict[str, tuple[Range, ...]]:
    """Return the characters of the classes that have names."""
    every = "".join(map(chr, range(sys.maxunicode + 1)))
    return {
        name: normalise((match.start(), match.end() - 1) for match in re.finditer(f"{name}+", every)) for name in NAMED
    }
