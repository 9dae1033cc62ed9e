"""Internationalized names of hosts: U-labels as RFC 5890 to 5893 define them, over scripts in wide use.

What may stand in a label is the derived property PVALID of RFC 5892 §3, the context of some characters (its appendix
A), the Bidi rule (RFC 5893 §2), normalization form C, and a length: the A-label, in Punycode, has at most 63 octets.
The pattern writes a part of these labels and no others:

- Latin, Greek, Cyrillic, Armenian, Hebrew, Arabic, Devanagari, Thai, kana, Han and Hangul. Marks that change their
  order or melt into a letter under normalization are left out, with them the tones of Thai.
- At most a fifth as many characters as the A-label has room for octets after `xn--`, that is 11: Punycode takes no
  more than five for each, on the average of so few characters of the Basic Multilingual Plane.
- A context at most once in a label: `l·l`, `͵α`, `א׳`, a virama and a joiner, and katakana's middle dot near kana or
  Han. Joiners between letters that are written together, which `unicodedata` does not tell, are left out.
- A-labels themselves, and all labels with hyphens in the third and fourth place, are left out, as in `hosts`.
"""

import unicodedata

from structured.json_schema.strings.formats.alphabets import DIGIT, LETTER, LOWER, both
from structured.json_schema.strings.formats.hosts import LONGEST_NAME, label, names
from structured.regex import CharSet, Pattern, alternation, char_set, chars, concat, literal, optional, repeat

DOTS = chars(".。．｡")
"""What separates labels, by RFC 3490 §3.1."""


def _is_valid(code_point: int) -> bool:
    """Tell whether a code point is a letter that neither NFKC nor case folding changes (RFC 5892 §2.1, §2.2)."""
    character = chr(code_point)
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", character).casefold())
    return folded == character and unicodedata.category(character) in {"Ll", "Lo"}


_EUROPEAN = both(chars("ßς"), char_set(*((point, point) for point in range(0x80, 0x588) if _is_valid(point))))
"""Letters of Latin, Greek, Cyrillic and Armenian; the first two are exceptions of RFC 5892 §2.6."""

_GREEK = char_set((0x3B1, 0x3C9))
_DEVANAGARI = char_set((0x904, 0x939))
_KANA_OR_HAN = char_set((0x3007, 0x3007), (0x3041, 0x3096), (0x30A1, 0x30FA), (0x3400, 0x4DB5), (0x4E00, 0x9FEF))
_FIRST = both(
    *(LOWER, DIGIT, _EUROPEAN, _DEVANAGARI, _KANA_OR_HAN),
    *(char_set((0x6F0, 0x6F9)), char_set((0xE01, 0xE30), (0xE32, 0xE32), (0xE40, 0xE46))),
    *(char_set((0xF0B, 0xF0B)), char_set((0x3005, 0x3005), (0x30FC, 0x30FC)), char_set((0xAC00, 0xD7A3))),
)
_OTHER = both(_FIRST, char_set((0x900, 0x903), (0x93E, 0x94D)))
_HEBREW = char_set((0x5D0, 0x5EA))
_RIGHT_TO_LEFT = both(_HEBREW, char_set((0x620, 0x63F), (0x641, 0x64A), (0x6FD, 0x6FE)))
_EUROPEAN_NUMBER = both(DIGIT, char_set((0x6F0, 0x6F9)))
_ARABIC_NUMBER = char_set((0x660, 0x669))
_MIDDLE_DOT = chars("・")

_CONTEXTS = (
    literal("l·l"),
    concat(literal("͵"), _GREEK),
    concat(_DEVANAGARI, literal("\u094d"), chars("\u200c\u200d"), _DEVANAGARI),
)
"""RFC 5892 appendix A.1 to A.4: what has to stand beside a character for it to be valid."""


def _left_to_right_label(octets: int) -> Pattern:
    """Return labels of letters that are written from left to right, in ASCII or beyond."""
    beyond = [_around(context, octets) for context in _CONTEXTS]
    beyond.append(_around(_KANA_OR_HAN, octets, first=both(_FIRST, _MIDDLE_DOT), other=both(_OTHER, _MIDDLE_DOT)))
    return alternation(label(octets), *_words(_FIRST, _OTHER, octets), *(one for one in beyond if one))


def _label_beside_right_to_left(octets: int) -> Pattern:
    """Return the labels that may stand in a name with letters that are written from right to left (RFC 5893 §2)."""
    european, arabic = both(_RIGHT_TO_LEFT, _EUROPEAN_NUMBER), both(_RIGHT_TO_LEFT, _ARABIC_NUMBER)
    punctuated = _around(concat(_HEBREW, chars("׳״")), octets, first=_RIGHT_TO_LEFT, other=european)
    return alternation(
        label(octets, first=LETTER),
        *_words(_RIGHT_TO_LEFT, european, octets),
        *_words(_RIGHT_TO_LEFT, arabic, octets),
        *([punctuated] if punctuated else []),
    )


def _words(first: CharSet, other: CharSet, octets: int) -> list[Pattern]:
    """Return words of these characters, without hyphens and, where there is room, with some that do not touch."""
    bare, hyphenated = (octets - 4) // 5, (octets - 5) // 6
    options = [concat(first, repeat(other, 0, bare - 1))] if bare > 0 else []
    if hyphenated > 1:
        options.append(concat(first, repeat(concat(optional(literal("-")), other), 1, hyphenated - 1)))
    return options


def _around(middle: Pattern, octets: int, *, first: CharSet = _FIRST, other: CharSet = _OTHER) -> Pattern | None:
    """Return words without hyphens around what takes up to four characters, or None where there is no room."""
    side = ((octets - 4) // 5 - 4) // 2
    if side < 1:
        return None
    return concat(optional(concat(first, repeat(other, 0, side - 1))), middle, repeat(other, 0, side))


def international_names(octets: int, *, dot: Pattern = DOTS) -> Pattern:
    """Return the names of which the form in ASCII has at most so many octets."""
    return alternation(
        names(octets, label=_left_to_right_label, dot=dot), names(octets, label=_label_beside_right_to_left, dot=dot)
    )


IDN_HOSTNAME = international_names(LONGEST_NAME)
"""`münchen.example`, `실례.테스트`"""
