r"""Character classes: the code points of each class in a dialect, and case-insensitive matching of `re`.

Dialects differ most in `\d`, `\w`, `\s` and `.`: ECMA 262 §22.2.2.9 has ASCII digits and words, Rust's `regex` (its
documentation, "Perl character classes") and Python's `re` have those of Unicode. The rules of `re` for cases are its
own, by a table without a public name: `(?i)k` matches the sign for kelvin. So they are determined by calling `re`.
"""

import re
import sys
import unicodedata
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np

from structured.regex.character_sets import Range, complement, normalise

_BLOCK = 256
"""Characters that are tested together, since most have no case."""


@cache
def _cased() -> str:
    """Return the characters that may equal others except for case."""
    characters: set[str] = set()
    all_characters = np.arange(sys.maxunicode + 1, dtype="<u4").tobytes().decode("utf-32-le", "surrogatepass")
    for first in range(0, len(all_characters), _BLOCK):
        block = all_characters[first : first + _BLOCK]
        if block.lower() == block.upper() == block.title() == block.casefold() == block:
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
    return normalise([*_ranges(matches), *complement([*complement(plain), *_cased_ranges()])])


DIGITS: tuple[Range, ...] = ((0x30, 0x39),)
WORD: tuple[Range, ...] = ((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A))
_BLANKS = [(0x2000, 0x200A), *((code, code) for code in (0x20, 0xA0, 0x1680, 0x202F, 0x205F, 0x3000))]
"""The category Zs: separators of words."""

ECMA_SPACE = normalise([*_BLANKS, (0x09, 0x0D), (0x2028, 0x2029), (0xFEFF, 0xFEFF)])
"""WhiteSpace and LineTerminator (ECMA 262 §12.2, §12.3)."""

UNICODE_SPACE = normalise([*_BLANKS, (0x09, 0x0D), (0x85, 0x85), (0x2028, 0x2029)])
"""The property White_Space."""

ECMA_LINE_ENDS: tuple[Range, ...] = ((0x0A, 0x0A), (0x0D, 0x0D), (0x2028, 0x2029))
LINE_FEED: tuple[Range, ...] = ((0x0A, 0x0A),)

POSIX: dict[str, tuple[Range, ...]] = {
    "alnum": ((0x30, 0x39), (0x41, 0x5A), (0x61, 0x7A)),
    "alpha": ((0x41, 0x5A), (0x61, 0x7A)),
    "ascii": ((0x00, 0x7F),),
    "blank": ((0x09, 0x09), (0x20, 0x20)),
    "cntrl": ((0x00, 0x1F), (0x7F, 0x7F)),
    "digit": DIGITS,
    "graph": ((0x21, 0x7E),),
    "lower": ((0x61, 0x7A),),
    "print": ((0x20, 0x7E),),
    "punct": ((0x21, 0x2F), (0x3A, 0x40), (0x5B, 0x60), (0x7B, 0x7E)),
    "space": ((0x09, 0x0D), (0x20, 0x20)),
    "upper": ((0x41, 0x5A),),
    "word": WORD,
    "xdigit": ((0x30, 0x39), (0x41, 0x46), (0x61, 0x66)),
}
"""The classes that Rust writes as `[:name:]`."""

_CATEGORIES = {
    "letter": "L", "cased_letter": "LC", "uppercase_letter": "Lu", "lowercase_letter": "Ll", "titlecase_letter": "Lt",
    "modifier_letter": "Lm", "other_letter": "Lo", "mark": "M", "combining_mark": "M", "nonspacing_mark": "Mn",
    "spacing_mark": "Mc", "enclosing_mark": "Me", "number": "N", "decimal_number": "Nd", "digit": "Nd",
    "letter_number": "Nl", "other_number": "No", "punctuation": "P", "punct": "P", "connector_punctuation": "Pc",
    "dash_punctuation": "Pd", "open_punctuation": "Ps", "close_punctuation": "Pe", "initial_punctuation": "Pi",
    "final_punctuation": "Pf", "other_punctuation": "Po", "symbol": "S", "math_symbol": "Sm", "currency_symbol": "Sc",
    "modifier_symbol": "Sk", "other_symbol": "So", "separator": "Z", "space_separator": "Zs", "line_separator": "Zl",
    "paragraph_separator": "Zp", "other": "C", "control": "Cc", "format": "Cf", "private_use": "Co", "unassigned": "Cn",
}  # fmt: skip


@cache
def _ranges_by_category() -> dict[str, tuple[Range, ...]]:
    """Return the code points of every general category of two letters."""
    by_category: dict[str, list[Range]] = {}
    start, before = 0, unicodedata.category("\0")
    for code_point in range(1, sys.maxunicode + 2):
        here = unicodedata.category(chr(code_point)) if code_point <= sys.maxunicode else ""
        if here != before:
            by_category.setdefault(before, []).append((start, code_point - 1))
            start, before = code_point, here
    return {name: normalise(ranges) for name, ranges in by_category.items()}


@cache
def category(name: str) -> tuple[Range, ...] | None:
    """Return the code points of a general category of Unicode, by its short or long name; None if there is none.

    `"Lu"`, `"Uppercase_Letter"`, `"gc=Lu"` → `((65, 90), …)`
    """
    plain = name.partition("=")[2] if name.partition("=")[0] in ("gc", "General_Category") else name
    short = _CATEGORIES.get(plain.lower().replace(" ", "_"), plain)
    if short in ("Any", "ASCII"):
        return normalise([(0, sys.maxunicode if short == "Any" else 0x7F)])
    categories = _ranges_by_category()
    names = ["Lu", "Ll", "Lt"] if short == "LC" else [name for name in categories if short in (name, name[0])]
    return normalise(piece for name in names for piece in categories[name]) if names else None


@cache
def unicode_digits() -> tuple[Range, ...]:
    r"""Return the characters of `\d` in Rust and Python: Decimal_Number."""
    return category("Nd") or ()


@cache
def python_word() -> tuple[Range, ...]:
    r"""Return the characters of `\w` in Python: letters and numbers by `str.isalnum`, and the underscore."""
    return _matched_by_re(r"\w+")


@cache
def rust_word() -> tuple[Range, ...]:
    r"""Return the characters of `\w` in Rust (UTS 18, annex C): Alphabetic, Mark, Nd, Connector, Join_Control."""
    names = ("L", "M", "Nd", "Nl", "Pc")
    return normalise([*(piece for name in names for piece in category(name) or ()), *_CIRCLED, (0x200C, 0x200D)])


_CIRCLED: tuple[Range, ...] = ((0x24B6, 0x24E9), (0x1F130, 0x1F149), (0x1F150, 0x1F169), (0x1F170, 0x1F189))
"""The symbols that are Alphabetic: letters in circles and squares."""


@cache
def unassigned() -> tuple[Range, ...]:
    """Return the characters that a newer version of Unicode than Python's may define."""
    return category("Cn") or ()


@cache
def python_space() -> tuple[Range, ...]:
    r"""Return the characters of `\s` in Python: `str.isspace`."""
    return _matched_by_re(r"\s+")


def _matched_by_re(expression: str) -> tuple[Range, ...]:
    """Return the characters that an expression, a class with `+`, matches."""
    every = "".join(map(chr, range(sys.maxunicode + 1)))
    return normalise((match.start(), match.end() - 1) for match in re.finditer(expression, every))


@cache
def _cases() -> list[list[int]]:
    """Return the characters that are equal except for case, by case folding, as Rust compares them."""
    alike: dict[str, list[int]] = {}
    for character in _cased():
        alike.setdefault(character.casefold(), []).append(ord(character))
    return [points for points in alike.values() if len(points) > 1]


def without_case(ranges: tuple[Range, ...]) -> tuple[Range, ...]:
    """Return the characters together with their other cases: `[a-c]` → `[A-Ca-c]`."""
    found = [points for points in _cases() if any(low <= point <= high for point in points for low, high in ranges)]
    return normalise([*ranges, *((point, point) for points in found for point in points)])


Ranges = tuple[Range, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Dialect:
    r"""A dialect of regular expressions.

    `classes` are the sets of `\d`, `\w` and `\s`; they may or may not contain the characters of `uncertain`. A dot does
    not match `line_ends`. In a dialect that `is_lenient`, an escaped letter without a meaning is the letter itself.
    """

    name: str
    classes: Mapping[str, Callable[[], Ranges]]
    uncertain: Callable[[], Ranges]
    line_ends: Ranges
    is_lenient: bool
    end_of_text: str


ASCII_CLASSES: dict[str, Ranges] = {"d": DIGITS, "w": WORD, "s": POSIX["space"]}
"""The classes under the flag `a`."""


_ECMA: dict[str, Callable[[], Ranges]] = {"d": lambda: DIGITS, "w": lambda: WORD, "s": lambda: ECMA_SPACE}
ECMA = Dialect("ECMA 262", _ECMA, lambda: (), ECMA_LINE_ENDS, True, "")

_RUST: dict[str, Callable[[], Ranges]] = {"d": unicode_digits, "w": rust_word, "s": lambda: UNICODE_SPACE}
RUST = Dialect("Rust", _RUST, unassigned, LINE_FEED, False, "z")

_PYTHON: dict[str, Callable[[], Ranges]] = {"d": unicode_digits, "w": python_word, "s": python_space}
PYTHON = Dialect("Python", _PYTHON, lambda: (), LINE_FEED, False, "Z")
