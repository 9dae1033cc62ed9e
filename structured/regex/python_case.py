"""Case-insensitive matching of `re`, determined by calling `re`.

The rules of `re` are its own: `(?i)k` matches the sign for kelvin, and `(?i)i` matches `İ` and `ı`. `re` applies them
to a class as a whole, and to ranges in it, by a table without a public name.
"""

import re
import sys
import warnings
from collections.abc import Iterable
from functools import cache, lru_cache

from structured.regex.character_sets import Range, complement, normalise

_BLOCK = 256
"""Characters that are tested together, since most have no case."""


@cache
def _cased() -> str:
    """Return the characters that may equal others except for case."""
    characters: set[str] = set()
    for first in range(0, sys.maxunicode + 1, _BLOCK):
        block = "".join(map(chr, range(first, first + _BLOCK)))
        if {block.lower(), block.upper(), block.title(), block.casefold()} == {block}:
            continue
        for character in block:
            forms = {character, character.lower(), character.upper(), character.title(), character.casefold()}
            if len(forms) > 1:
                characters.update("".join(forms))
    return "".join(sorted(characters))


@cache
def _cased_ranges() -> tuple[Range, ...]:
    return _ranges(_cased())


def _ranges(characters: Iterable[str]) -> tuple[Range, ...]:
    return normalise((ord(character), ord(character)) for character in characters)


@lru_cache(maxsize=4096)
def in_any_case(expression: str, plain: tuple[Range, ...], *, is_ascii: bool) -> tuple[Range, ...]:
    """Return the characters that a class or character matches in `re` in any case; `plain` are those without the flag.

    >>> [f"{low:X}" for low, _ in in_any_case("k", ((107, 107),), is_ascii=False)]  # U+212A is the sign of the kelvin
    ['4B', '6B', '212A']
    """
    flags = re.IGNORECASE | (re.ASCII if is_ascii else re.UNICODE)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        matches = re.compile(expression, flags).findall(_cased())
    return normalise([*_ranges(matches), *_without(plain, _cased_ranges())])


@lru_cache(maxsize=4096)
def equal_in_any_case(character: str, *, is_ascii: bool) -> tuple[Range, ...]:
    """Return the characters that a case-insensitive reference to a group matches if the group captured a character."""
    pair = re.compile(r"(.)\1", re.IGNORECASE | re.DOTALL | (re.ASCII if is_ascii else re.UNICODE))
    return _ranges([character, *(other for other in _cased() if pair.fullmatch(character + other))])


def _without(ranges: tuple[Range, ...], others: tuple[Range, ...]) -> tuple[Range, ...]:
    """Return the characters of some ranges that are outside others."""
    return complement([*complement(ranges), *others])
