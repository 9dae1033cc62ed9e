"""Addresses of mail: RFC 5321 §4.1.2, RFC 6531 §3.3 beyond ASCII, and what Pydantic's `EmailStr` accepts.

Before the `@` stand at most 64 octets (RFC 5321 §4.5.3.1.1), and an address has at most 254. How many dots there may be
depends on how many other characters there are, so the local part is of several sorts, as a name of a host is: few long
words, or at most half as many other characters as there is room for, with or without a dot before each. Beyond ASCII,
where a character takes up to four octets, there are as few characters as surely fit.

Pydantic hands addresses to the package `email-validator` (2.x). It wants a name with a dot, at its end a top-level
domain of letters that is not reserved for special use, and reads neither a quoted local part nor an address in
brackets. Domains beyond ASCII are given up there.
"""

from structured.json_schema.strings.formats.addresses import IPV4, ipv6
from structured.json_schema.strings.formats.alphabets import LETTER, LETTER_OR_DIGIT, both, less, words_but
from structured.json_schema.strings.formats.hosts import names, parents
from structured.json_schema.strings.formats.international import international_names
from structured.regex import CharSet, Pattern, alternation, char_set, chars, concat, literal, optional, repeat
from structured.regex.character_sets import Range

LONGEST_ADDRESS = 254
LONGEST_LOCAL_PART = 64
LONGEST_DOMAIN = LONGEST_ADDRESS - 1 - LONGEST_LOCAL_PART
LONGEST_TOP_LEVEL_DOMAIN = 24

SPECIAL_DOMAINS = ("alt", "arpa", "invalid", "local", "localhost", "onion", "test")
"""Of the registry of special-use domain names (RFC 6761 §5) those that stand at the top and have no mail."""

_WIDTHS: tuple[tuple[int, tuple[Range, ...]], ...] = (
    (1, ()),
    (2, ((0x80, 0x7FF),)),
    (3, ((0x80, 0xFFFF),)),
    (4, ((0x80, 0x10FFFF),)),
)
"""How many octets a character takes at most, and which characters beyond ASCII take no more."""

_WORD = both(LETTER_OR_DIGIT, chars("!#$%&'*+-/=?^_`{|}~"))
_PRINTABLE = char_set((0x20, 0x7E))
_AT = literal("@")


def _dotted(character: CharSet, longest: int) -> Pattern:
    """Return words with dots between them, at most so many characters in all."""
    options = [concat(character, repeat(concat(optional(literal(".")), character), 0, longest // 2 - 1))]
    for count in (1, 2, 3, 4):
        word = repeat(character, 1, (longest + 1) // count - 1)
        options.append(concat(repeat(concat(word, literal(".")), 0, count - 1), word))
    return alternation(*options)


def _quoted(character: CharSet, longest: int) -> Pattern:
    """Return a text in quotes, at most so many characters in all, each of which may be escaped."""
    unescaped = less(both(_PRINTABLE, character), '"\\')
    either = alternation(unescaped, concat(literal("\\"), _PRINTABLE))
    inside = alternation(repeat(either, 0, longest // 2 - 1), repeat(unescaped, 0, longest - 2))
    return concat(literal('"'), inside, literal('"'))


def _local_part(width: int, foreign: tuple[Range, ...]) -> Pattern:
    """Return local parts whose characters take so many octets at most."""
    character = both(_WORD, char_set(*foreign)) if foreign else _WORD
    longest = LONGEST_LOCAL_PART // width
    return alternation(_dotted(character, longest), _quoted(character, longest))


_ADDRESS = concat(literal("["), alternation(IPV4, concat(literal("IPv6:"), ipv6(fewest_elided=2))), literal("]"))
_DOMAIN = names(LONGEST_DOMAIN)

EMAIL = concat(_local_part(*_WIDTHS[0]), _AT, alternation(_DOMAIN, _ADDRESS))
"""RFC 5321: `ana.diaz@example.com`, `"Ana Diaz"@[192.168.0.1]`."""

IDN_EMAIL = concat(
    alternation(*(_local_part(*width) for width in _WIDTHS)),
    _AT,
    alternation(international_names(LONGEST_DOMAIN, dot=literal(".")), _ADDRESS),
)
"""RFC 6531: `aña@españa.example`."""


_TOP_LEVEL_DOMAIN = words_but(SPECIAL_DOMAINS, LETTER, LETTER, LONGEST_TOP_LEVEL_DOMAIN)

DELIVERABLE_EMAIL = concat(
    _dotted(_WORD, LONGEST_LOCAL_PART),
    _AT,
    parents(LONGEST_DOMAIN - LONGEST_TOP_LEVEL_DOMAIN, fewest=1),
    _TOP_LEVEL_DOMAIN,
)
"""What `email-validator` accepts where it is not told otherwise: `ana.diaz@example.com`."""

_ALPHABETS = char_set(
    *((0xC0, 0xD6), (0xD8, 0xF6), (0xF8, 0x2C1), (0x388, 0x38A), (0x38E, 0x3A1), (0x3A3, 0x3F5), (0x400, 0x481)),
    *((0x48A, 0x52F), (0x5D0, 0x5EA), (0x620, 0x64A), (0x904, 0x939), (0xE01, 0xE30), (0x3041, 0x3096)),
    *((0x30A1, 0x30FA), (0x4E00, 0x9FEF), (0xAC00, 0xD7A3)),
)
"""Ranges in which every character is a letter to `re`."""

_NAME_PART = repeat(both(_WORD, chars("."), _ALPHABETS), 1, 32)

NAME_EMAIL = alternation(
    DELIVERABLE_EMAIL,
    concat(
        alternation(
            concat(_NAME_PART, repeat(concat(literal(" "), _NAME_PART), 0, 7)),
            concat(literal('"'), repeat(less(_PRINTABLE, '"'), 1, 256), literal('"')),
        ),
        literal(" <"),
        DELIVERABLE_EMAIL,
        literal(">"),
    ),
)
"""What Pydantic's `NameEmail` reads: `Ana Díaz <ana.diaz@example.com>`; other characters in a name want quotes."""
