"""JSON inside a string, for Pydantic's `Json`: the grammar of RFC 8259, nested up to `DEPTH` deep.

Pydantic's parser stops at some depth, so the pattern does too: each depth is a definition of its own, which refers to
the next. Numbers have at most 18 digits before the point, and exponents end where those of doubles do. A space may
stand after a comma and after a colon. In strings, characters that must be escaped are, in the spelling of `json.dumps`;
the others stand for themselves.
"""

from structured.json_schema.numbers import integer_range
from structured.json_schema.strings.formats.alphabets import DIGIT, NOT_ZERO
from structured.regex import Pattern, Reference, alternation, char_set, chars, concat, literal, optional, repeat, words
from structured.regex.character_sets import PLAIN_ESCAPES, UNESCAPED_RANGES

DEPTH = 16

_SPACE = optional(literal(" "))
_COMMA = concat(literal(","), _SPACE)
_STRING = concat(
    literal('"'), repeat(alternation(char_set(*UNESCAPED_RANGES), words(PLAIN_ESCAPES)), 0, None), literal('"')
)
_PLACES = optional(concat(literal("."), repeat(DIGIT, 1, 20)))
_EXPONENT = alternation(
    concat(optional(literal("+")), integer_range(0, 290)), concat(literal("-"), repeat(DIGIT, 1, 3))
)
_MAGNITUDE = alternation(
    concat(
        alternation(literal("0"), concat(NOT_ZERO, repeat(DIGIT, 0, 17))),
        _PLACES,
        optional(concat(chars("Ee"), _EXPONENT)),
    ),
    concat(NOT_ZERO, _PLACES, chars("Ee"), optional(literal("+")), integer_range(291, 308)),
)
_NUMBER = concat(optional(literal("-")), _MAGNITUDE)
_SCALAR = alternation(words(["null", "true", "false"]), _NUMBER, _STRING)


def _several(item: Pattern, opening: str, closing: str) -> Pattern:
    """Return any number of the items in brackets, with commas between them."""
    items = optional(concat(item, repeat(concat(_COMMA, item), 0, None)))
    return concat(literal(opening), items, literal(closing))


def _json_text() -> Pattern:
    """Return any value of limited depth."""
    definitions: dict[str, Pattern] = {}
    for depth in range(DEPTH):
        value = Reference(f"json_{depth + 1}", definitions)
        array = _several(value, "[", "]")
        object_ = _several(concat(_STRING, literal(":"), _SPACE, value), "{", "}")
        definitions[f"json_{depth}"] = alternation(_SCALAR, array, object_)
    definitions[f"json_{DEPTH}"] = alternation(_SCALAR, words(["[]", "{}"]))
    return definitions["json_0"]


JSON_TEXT = _json_text()
"""`{"a": [1, null]}`"""
