r"""Regular expressions: those that ECMA-262 §22.2.1 with its flag `u`, and Python's `re`, read without a complaint.

A schema's regular expressions are ECMAScript's, and Pydantic's are Python's. What is generated is in both languages
and has the same outline in both: characters, escapes, classes, groups, quantifiers, alternatives, assertions. Groups
are nested up to `DEPTH` deep, since Python's parser is recursive. Given up is what only one has: `\cA`, `[]`,
`(?<name>x)` and `(?P<name>x)`; what depends on the whole expression: references back; what `re` restricts: looking
behind; and ranges but of digits and letters, because the ends of a range must be in order.
"""

from string import ascii_lowercase, ascii_uppercase, digits

from structured.json_schema.numbers import integer_range
from structured.json_schema.strings.formats.alphabets import HEX, less
from structured.regex import Pattern, alternation, char_set, chars, concat, literal, optional, repeat, words

DEPTH = 5

_ESCAPE = concat(
    literal("\\"),
    alternation(
        chars("DdSsWwfnrtv^$\\.*+?()[]{}|/"),
        concat(literal("x"), repeat(HEX, 2, 2)),
        concat(
            literal("u"),
            alternation(
                concat(chars("0123456789ABCEFabcef"), repeat(HEX, 3, 3)),
                concat(chars("Dd"), chars("01234567"), repeat(HEX, 2, 2)),
            ),
        ),
    ),
)
_ANY = char_set(negated=True)
_ASSERTION = words(["^", "$", "\\b", "\\B"])


def _ordered(alphabet: str) -> Pattern:
    """Return the ranges whose ends are two of these characters in order: `abc` → `a-[abc]|b-[bc]|c-c`."""
    return alternation(*(concat(literal(f"{first}-"), chars(alphabet[index:])) for index, first in enumerate(alphabet)))


_MEMBER = alternation(
    less(_ANY, "\\[]-^&~|"),  # of which `re` warns that some, doubled, may one day mean sets
    concat(literal("\\"), literal("-")),
    _ESCAPE,
    *(_ordered(alphabet) for alphabet in (ascii_lowercase, ascii_uppercase, digits)),
)
_CLASS = concat(literal("["), optional(literal("^")), repeat(_MEMBER, 1, None), literal("]"))
_COUNTS = alternation(
    integer_range(0, 999),
    concat(integer_range(0, 999), literal(",")),
    *(concat(literal(f"{least},"), integer_range(least, 99)) for least in range(10)),
)
_QUANTIFIER = concat(
    alternation(chars("*+?"), concat(literal("{"), _COUNTS, literal("}"))),
    optional(literal("?")),
)
_ATOM = alternation(less(_ANY, "^$\\.*+?()[]{}|"), literal("."), _ESCAPE, _CLASS)


def _choice(*terms: Pattern) -> Pattern:
    """Return any number of terms one after the other, and `|` among them."""
    return repeat(alternation(*terms, literal("|")), 0, None)


def _expression() -> Pattern:
    """Return the expressions of limited depth, from the innermost out."""
    term = concat(_ATOM, optional(_QUANTIFIER))
    innermost = _choice(term, _ASSERTION)
    ahead = concat(literal("(?"), chars("=!"), innermost, literal(")"))
    expression = innermost
    for _ in range(DEPTH):
        group = concat(literal("("), optional(literal("?:")), expression, literal(")"), optional(_QUANTIFIER))
        expression = _choice(term, _ASSERTION, ahead, group)
    return expression


REGEX = _expression()
r"""`^[A-Z]{2,3}-(?:\d+|x)$`"""
