"""Bytes as text (RFC 4648): base 64, six bits a character, canonical and padded; and hexadecimal digits.

Canonical means that the bits which the padding leaves over are zero. How long the bytes are is written into the
pattern: three of them are four characters, and the padding tells of the last group whether it holds one, two or three.
"""

from collections.abc import Callable
from functools import lru_cache

from structured.json_schema.strings.formats.alphabets import HEX
from structured.regex import Pattern, alternation, chars, concat, literal, repeat

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
_LAST = {"base64": "+/", "base64url": "-_"}
"""The two last letters of the alphabets of RFC 4648 §4 and §5."""


@lru_cache(maxsize=256)
def base64_text(name: str, fewest: int = 0, most: int | None = None, *, is_ascii: bool = False) -> Pattern:
    """Return base 64 of `fewest` to `most` bytes, in one of the two alphabets; the same node every time.

    Where it `is_ascii`, the first bit of each byte is zero. `base64_text("base64", 1, 2)` →
    `[A-Za-z0-9+/](?:[AQgw]==|[A-Za-z0-9+/][AEIMQUYcgkosw048]=)`, but that the options are not factored
    """
    group, endings = _groups(name, is_ascii=is_ascii)
    first, after = divmod(fewest, 3)
    if most is None:
        more = concat(group, repeat(group, 0, None), alternation(*endings))
        return concat(repeat(group, first, first), alternation(*endings[after:], more))
    last, before = divmod(most, 3)
    groups = repeat(group, first, first)
    if first == last:
        return concat(groups, alternation(*endings[after : before + 1]))
    options = [*endings[after:], concat(repeat(group, last - first, last - first), alternation(*endings[: before + 1]))]
    if last - first > 1:
        options.append(concat(group, repeat(group, 0, last - first - 2), alternation(*endings)))
    return concat(groups, alternation(*options))


def hex_text(fewest: int = 0, most: int | None = None, *, is_ascii: bool = False) -> Pattern:
    """Return two hexadecimal digits (RFC 4648 §8) for each of `fewest` to `most` bytes."""
    return repeat(concat(chars("01234567") if is_ascii else HEX, HEX), fewest, most)


@lru_cache(maxsize=4)
def _groups(name: str, *, is_ascii: bool) -> tuple[Pattern, list[Pattern]]:
    """Return the characters of three bytes, and those of the none, one or two that are left at the end."""
    alphabet = _LETTERS + _LAST[name]

    def sextets(holds: Callable[[int], bool]) -> Pattern:
        return chars("".join(letter for value, letter in enumerate(alphabet) if holds(value)))

    begins = 0b1 if is_ascii else 0  # a bit that begins a byte, which ASCII does not use
    first, second = sextets(lambda value: not value & begins << 5), sextets(lambda value: not value & begins << 3)
    third, fourth = sextets(lambda value: not value & begins << 1), sextets(lambda _: True)
    one = concat(first, sextets(lambda value: not value & (0b1111 | begins << 3)), literal("=="))
    two = concat(first, second, sextets(lambda value: not value & 0b11), literal("="))
    return concat(first, second, third, fourth), [literal(""), one, two]
