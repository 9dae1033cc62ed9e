"""Uniform resource identifiers: RFC 3986 appendix A, RFC 3987 §2.2 for characters beyond ASCII, RFC 6570 for templates.

The pattern is the grammar. Only two things are given up: the characters that set a direction of writing, which RFC 3987
§4.1 forbids although its grammar has them, and the operators that RFC 6570 §2.2 reserves for extensions.
"""

from structured.json_schema.strings.formats.addresses import IPV6
from structured.json_schema.strings.formats.alphabets import DIGIT, HEX, LETTER, LETTER_OR_DIGIT, NOT_ZERO, both, less
from structured.regex import CharSet, Pattern, alternation, char_set, chars, concat, literal, optional, repeat
from structured.regex.character_sets import Range

PERCENT_ENCODED = concat(literal("%"), HEX, HEX)
UNRESERVED = both(LETTER_OR_DIGIT, chars("-._~"))
SUB_DELIMITERS = chars("!$&'()*+,;=")

_DIRECTIONS = "\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
_PLANES: tuple[Range, ...] = tuple((0x10000 * plane, 0x10000 * plane + 0xFFFD) for plane in range(1, 14))
_FOREIGN = less(char_set((0xA0, 0xD7FF), (0xF900, 0xFDCF), (0xFDF0, 0xFFEF), *_PLANES, (0xE1000, 0xEFFFD)), _DIRECTIONS)
_PRIVATE = char_set((0xE000, 0xF8FF), (0xF0000, 0xFFFFD), (0x100000, 0x10FFFD))

_FUTURE_ADDRESS = concat(
    chars("Vv"), repeat(HEX, 1, None), literal("."), repeat(both(UNRESERVED, SUB_DELIMITERS, chars(":")), 1, None)
)
_ADDRESS = concat(literal("["), alternation(IPV6, _FUTURE_ADDRESS), literal("]"))
_PORT = optional(concat(literal(":"), repeat(DIGIT, 0, None)))
_SCHEME = concat(LETTER, repeat(both(LETTER_OR_DIGIT, chars("+-.")), 0, None), literal(":"))


def _encoded(characters: CharSet) -> Pattern:
    """Return one of the characters, or any byte percent-encoded."""
    return alternation(characters, PERCENT_ENCODED)


def _identifier(unreserved: CharSet, private: CharSet | None = None) -> tuple[Pattern, Pattern]:
    """Return the identifiers over these characters, with a scheme and relative to one.

    Private characters stand in a query alone.
    """
    in_host = both(unreserved, SUB_DELIMITERS)
    in_path = both(in_host, chars(":@"))
    in_fragment = both(in_path, chars("/?"))
    in_query = both(in_fragment, private) if private else in_fragment

    user = concat(repeat(_encoded(both(in_host, chars(":"))), 0, None), literal("@"))
    host = alternation(_ADDRESS, repeat(_encoded(in_host), 0, None))
    segments = repeat(_encoded(both(in_path, chars("/"))), 0, None)
    path = optional(concat(literal("/"), segments))
    located = concat(literal("//"), optional(user), host, _PORT, path)
    absolute = concat(literal("/"), optional(concat(_encoded(in_path), segments)))
    rootless = concat(_encoded(in_path), segments)
    relative = concat(repeat(_encoded(less(in_path, ":")), 1, None), path)

    query = optional(concat(literal("?"), repeat(_encoded(in_query), 0, None)))
    fragment = optional(concat(literal("#"), repeat(_encoded(in_fragment), 0, None)))
    whole = concat(_SCHEME, optional(alternation(located, absolute, rootless)), query, fragment)
    return whole, alternation(whole, concat(optional(alternation(located, absolute, relative)), query, fragment))


URI, URI_REFERENCE = _identifier(UNRESERVED)
"""RFC 3986: `https://example.com/a?b#c`; a reference may lack the scheme: `../a`."""

IRI, IRI_REFERENCE = _identifier(both(UNRESERVED, _FOREIGN), _PRIVATE)
"""RFC 3987: `https://example.com/ä?b#c`."""

_PLAIN = both(less(char_set((0x21, 0x7E)), '"%<>\\^`{|}'), _FOREIGN, _PRIVATE)
_NAME_CHARACTER = _encoded(both(LETTER_OR_DIGIT, chars("_")))
_NAME = concat(_NAME_CHARACTER, repeat(concat(optional(literal(".")), _NAME_CHARACTER), 0, None))
_MODIFIER = optional(alternation(literal("*"), concat(literal(":"), NOT_ZERO, repeat(DIGIT, 0, 3))))
_VARIABLE = concat(_NAME, _MODIFIER)
_EXPRESSION = concat(
    literal("{"), optional(chars("+#./;?&")), _VARIABLE, repeat(concat(literal(","), _VARIABLE), 0, None), literal("}")
)

URI_TEMPLATE = repeat(alternation(_PLAIN, PERCENT_ENCODED, _EXPRESSION), 0, None)
"""RFC 6570 §2, an apostrophe allowed as its erratum 6937 has it: `https://example.com/{user}{?page,size*}`."""
