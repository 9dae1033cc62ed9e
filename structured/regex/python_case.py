"""What `re` takes for equal but for the case: `re` is asked.

Its rules are its own: `(?i)k` matches the sign for kelvin, and `(?i)i` matches `İ` and `ı`. They are applied to a class
as a whole, and to ranges in it, by a table that has no public name.
"""

import re
import sys
import warnings
from collections.abc import Iterable
from functools import cache, lru_cache

from structured.regex.character_sets import Range, complement, normalise

_BLOCK = 256
"""Characters that are looked at together, since most have no case."""


@cache
def _cased() -> str:
    """Return the characters that may equal another one but for the case; case tells nothing of the others."""
    found: set[str] = set()
    for first in range(0, sys.maxunicode + 1, _BLOCK):
        block = "".join(map(chr, range(first, first + _BLOCK)))
        if {block.lower(), block.upper(), block.title(), block.casefold()} == {block}:
            continue
        for character in block:
            forms = {character, character.lower(), character.upper(), character.title(), character.casefold()}
            if len(forms) > 1:
                found.update("".join(forms))
    return "".join(sorted(found))


@cache
def _cased_ranges() -> tuple[Range, ...]:
    return _ranges(_cased())


def _ranges(characters: Iterable[str]) -> tuple[Range, ...]:
    return normalise((ord(character), ord(character)) for character in characters)


@lru_cache(maxsize=4096)
def in_any_case(expression: str, plain: tuple[Range, ...], *, is_ascii: bool) -> tuple[Range, ...]:
    """Return the characters that `re` finds by a class or a character in any case; `plain` are those without the flag.

    >>> [f"{low:X}" for low, _ in in_any_case("k", ((107, 107),), is_ascii=False)]  # U+212A is the sign of the kelvin
    ['4B', '6B', '212A']
    """
    flags = re.IGNORECASE | (re.ASCII if is_ascii else re.UNICODE)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = re.compile(expression, flags).findall(_cased())
    return normalise([*_ranges(found), *_without(plain, _cased_ranges())])


@lru_cache(maxsize=4096)
def equal_in_any_case(character: str, *, is_ascii: bool) -> tuple[Range, ...]:
    """Return the characters that a reference to a group finds in any case, where the group has one."""
    pair = re.compile(r"(.)\1", re.IGNORECASE | re.DOTALL | (re.ASCII if is_ascii else re.UNICODE))
    return _ranges([character, *(other for other in _cased() if pair.fullmatch(character + other))])


def _without(ranges: tuple[Range, ...], others: tuple[Range, ...]) -> tuple[Range, ...]:
    """Return the characters of some ranges that lie in none of the others."""
    return complement([*complement(ranges), *others])
