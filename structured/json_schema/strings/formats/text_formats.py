r"""Formats of one value as text: identifiers, numbers, encoded bytes, JSON pointers, JSON, regular expressions.

The names are Pydantic's; `uuid`, the pointers and `regex` are the specification's too. Left out are capital letters
that mean nothing, underscores between digits, signs that change nothing, and numbers that are not finite.

**Bytes** (RFC 4648) are base 64, six bits a character, canonical and padded, or hexadecimal digits. Canonical means
that the bits left over by the padding are zero. The pattern fixes the number of bytes: three of them are four
characters, and the padding says whether the last group holds one, two or three.

**JSON pointers** (RFC 6901 §3, §5) and relative ones (draft-handrews-relative-json-pointer-01 §3). The later draft
allows an index to be moved (`0+1#`); that is left out, since the earlier drafts of JSON Schema do not have it.

**JSON**, for Pydantic's `Json`, is the grammar of RFC 8259, nested up to `JSON_DEPTH` deep. Pydantic's parser stops at
some depth, so the pattern does too: each depth is a definition of its own, which refers to the next. Numbers have at
most 18 digits before the point, and exponents end where those of doubles do. A space may follow a comma and a colon. In
strings, characters that must be escaped are, in the spelling of `json.dumps`; all others are written as they are.

**Regular expressions** are those that both ECMA-262 §22.2.1 with its flag `u` and Python's `re` read, and in the same
way: a schema's regular expressions are ECMAScript's, and Pydantic's are Python's. They have characters, escapes,
classes, groups, quantifiers, alternatives and assertions. Groups are nested up to `GROUP_DEPTH` deep, since Python's
parser is recursive. Left out is what only one of the two has (`\cA`, `[]`, `(?<name>x)`, `(?P<name>x)`), what depends
on the whole expression (references back), what `re` restricts (looking behind), and ranges except those of digits and
of letters, because the ends of a range must be in order.
"""

from collections.abc import Callable
from functools import lru_cache
from string import ascii_lowercase, ascii_uppercase, digits

from structured.json_schema.numbers.ranges import integer_range
from structured.json_schema.strings.formats.alphabets import HEX, regex
from structured.regex import Pattern, Reference, alternation, char_set, chars, concat, literal, optional, repeat, words
from structured.regex.character_sets import PLAIN_ESCAPES, UNESCAPED_RANGES
from structured.regex.syntax import ANY_CHARACTER

_FOUR = f"{HEX}{{4}}"

UUID = regex(f"{HEX}{{8}}-{_FOUR}-{_FOUR}-{_FOUR}-{HEX}{{12}}")
"""`2eb8aa08-aa98-41ea-b4aa-73b441d16380`, of any version."""


def uuid(version: int) -> Pattern:
    """Return the identifiers of a version, with the variant that defines versions (RFC 9562 §4.1, §4.2)."""
    return regex(f"{HEX}{{8}}-{_FOUR}-{version}{HEX}{{3}}-[89ABab]{HEX}{{3}}-{HEX}{{12}}")


FRACTION = regex(r"-?(?:0|[1-9]\d*)(?:/[1-9]\d*)?")
"""Texts that `str` writes for a `Fraction`, also if it is not reduced: `-3/4`."""

_FLOAT = r"(?:0|[1-9]\d{0,308})(?:\.\d{1,400})?"
"""The magnitude of any double, without an exponent."""

COMPLEX = regex(rf"-?(?:{_FLOAT}j|{_FLOAT}(?:[+\-]{_FLOAT}j)?)")
"""Texts that Pydantic reads for a finite `complex`: `1.5-2j`."""

BYTE_SIZE = regex(r"\d{1,18}(?:\.\d{1,18})?(?: ?(?:[KMGTPE]i?)?(?:B|bit))?")
"""Texts that Pydantic's `ByteSize` reads, with units in their usual spelling: `1.5 GiB`."""

TEXT = repeat(ANY_CHARACTER, 0, None)
"""Any text; `bytes` are its UTF-8."""

PATH = regex(r"[^\0]*")
"""Any text without a null character, which no system allows in a path."""

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
_LAST = {"base64": "+/", "base64url": "-_"}
"""The two last letters of the alphabets of RFC 4648 §4 and §5."""


@lru_cache(maxsize=256)
def base64_text(name: str, fewest: int = 0, most: int | None = None, *, is_ascii: bool = False) -> Pattern:
    """Return base 64 of `fewest` to `most` bytes, in one of the two alphabets; the same node every time.

    With `is_ascii`, the first bit of each byte is zero. `base64_text("base64", 1, 2)` →
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
    """Return the characters of three bytes, and those of the last zero, one or two bytes."""
    alphabet = _LETTERS + _LAST[name]

    def sextets(holds: Callable[[int], bool]) -> Pattern:
        return chars("".join(letter for value, letter in enumerate(alphabet) if holds(value)))

    begins = 0b1 if is_ascii else 0  # a bit that begins a byte, which ASCII does not use
    first, second = sextets(lambda value: not value & begins << 5), sextets(lambda value: not value & begins << 3)
    third, fourth = sextets(lambda value: not value & begins << 1), sextets(lambda _: True)
    one_byte = concat(first, sextets(lambda value: not value & (0b1111 | begins << 3)), literal("=="))
    two_bytes = concat(first, second, sextets(lambda value: not value & 0b11), literal("="))
    return concat(first, second, third, fourth), [literal(""), one_byte, two_bytes]


_POINTER = "(?:/(?:[^~]|~[01])*)?"

JSON_POINTER = regex(_POINTER)
"""`/foo/bar~0/baz~1`"""

RELATIVE_JSON_POINTER = regex(rf"(?:0|[1-9]\d*)(?:#|{_POINTER})")
"""`2/0/baz`, `1#`"""


JSON_DEPTH = 16

_CHARACTER = alternation(char_set(*UNESCAPED_RANGES), words(PLAIN_ESCAPES))
_STRING = concat(literal('"'), repeat(_CHARACTER, 0, None), literal('"'))
_MAGNITUDE = (
    rf"(?:0|[1-9]\d{{0,17}})(?:\.\d{{1,20}})?(?:[Ee](?:\+?(?:{integer_range(0, 290)})|-\d{{1,3}}))?"
    rf"|[1-9](?:\.\d{{1,20}})?[Ee]\+?(?:{integer_range(291, 308)})"
)
_SCALAR = alternation(words(["null", "true", "false"]), regex(f"-?(?:{_MAGNITUDE})"), _STRING)


def _several(item: Pattern, opening: str, closing: str) -> Pattern:
    """Return any number of items in brackets, with commas between them."""
    items = optional(concat(item, repeat(concat(regex(", ?"), item), 0, None)))
    return concat(literal(opening), items, literal(closing))


def json_text() -> Pattern:
    """Return any value of limited depth: `{"a": [1, null]}`."""
    definitions: dict[str, Pattern] = {}
    for depth in range(JSON_DEPTH):
        value = Reference(f"json_{depth + 1}", definitions)
        array = _several(value, "[", "]")
        object_ = _several(concat(_STRING, regex(": ?"), value), "{", "}")
        definitions[f"json_{depth}"] = alternation(_SCALAR, array, object_)
    definitions[f"json_{JSON_DEPTH}"] = alternation(_SCALAR, words(["[]", "{}"]))
    return definitions["json_0"]


GROUP_DEPTH = 5

_ESCAPE = (
    r"\\(?:[DdSsWwfnrtv^$\\.*+?()[\]{}|/]|x[0-9A-Fa-f]{2}"
    "|u(?:[0-9A-CE-Fa-ce-f][0-9A-Fa-f]{3}|[Dd][0-7][0-9A-Fa-f]{2}))"
)
_ALPHABETS = (ascii_lowercase, ascii_uppercase, digits)
_RANGES = "|".join(f"{first}-[{first}-{alphabet[-1]}]" for alphabet in _ALPHABETS for first in alphabet)
_MEMBER = rf"(?:[^\\[\]\-^&~|]|\\-|{_ESCAPE}|{_RANGES})"
"""`re` warns of doubled characters that may come to mean set operations."""

_COUNT = f"(?:{integer_range(0, 999)})"
_ORDERED = "|".join(f"{least},(?:{integer_range(least, 99)})" for least in range(10))
_QUANTIFIER = rf"(?:(?:[*+?]|\{{(?:{_COUNT}|{_COUNT},|{_ORDERED})\}})\??)"
_TERM = rf"(?:[^\^$\\.*+?()[\]{{}}|]|\.|{_ESCAPE}|\[\^?{_MEMBER}+\]){_QUANTIFIER}?"
_ASSERTION = words(["^", "$", "\\b", "\\B"])


def _choice(*terms: Pattern) -> Pattern:
    """Return any number of terms in sequence, with `|` among them."""
    return repeat(alternation(*terms, literal("|")), 0, None)


def regular_expression() -> Pattern:
    r"""Return the expressions of limited depth, built from the innermost out: `^[A-Z]{2,3}-(?:\d+|x)$`."""
    term = regex(_TERM)
    innermost = _choice(term, _ASSERTION)
    ahead = concat(regex(r"\(\?[=!]"), innermost, literal(")"))
    expression, closing = innermost, regex(rf"\){_QUANTIFIER}?")
    for _ in range(GROUP_DEPTH):
        group = concat(regex(r"\((?:\?:)?"), expression, closing)
        expression = _choice(term, _ASSERTION, ahead, group)
    return expression
