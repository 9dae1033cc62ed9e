"""Names of hosts (RFC 1123 §2.1, RFC 952) as a pattern.

A label has 1 to 63 letters, digits and hyphens, no hyphen at its ends. One with hyphens in the third and fourth place
is reserved (RFC 5890 §2.3.1), and of those only the valid A-labels are names; whether Punycode is valid is no question
that a pattern answers, so all of them are given up: `xn--bcher-kva.example` is never generated.

A whole name has at most 253 characters. How long each of many labels may be depends on all the others, so a name is one
of several sorts: few long labels, or many short ones. `SORTS` says how many labels a name of each sort may have; a name
of many labels with a very long one among them is given up.
"""

from collections.abc import Callable

from structured.json_schema.strings.formats.alphabets import LETTER_OR_DIGIT, both
from structured.regex import EMPTY, CharSet, Pattern, alternation, chars, concat, literal, optional, repeat

LONGEST_NAME = 253
LONGEST_LABEL = 63
SORTS = (3, 4, 6, 10, 16, 32)

_HYPHEN = literal("-")
_DOT = literal(".")


def label(longest: int, *, first: CharSet = LETTER_OR_DIGIT, other: CharSet = LETTER_OR_DIGIT) -> Pattern:
    """Return the labels of at most so many characters, four or more; hyphens may stand between the `other` ones."""
    inner = both(other, chars("-"))

    def ending(length: int) -> Pattern:
        return optional(concat(repeat(inner, 0, length - 1), other)) if length else EMPTY

    return alternation(
        concat(first, optional(other)),
        concat(first, inner, other, ending(longest - 3)),
        concat(first, inner, _HYPHEN, other, ending(longest - 4)),
    )


def names(longest: int, *, label: Callable[[int], Pattern] = label, dot: Pattern = _DOT) -> Pattern:
    """Return the names of at most so many characters."""
    return alternation(
        *(concat(repeat(concat(part, dot), 0, count - 1), part) for count, part in _sorts(longest, label))
    )


def parents(longest: int, *, fewest: int, label: Callable[[int], Pattern] = label) -> Pattern:
    """Return `fewest` labels or more with a dot after each, at most so many characters: what a last label follows."""
    return alternation(*(repeat(concat(part, _DOT), fewest, count) for count, part in _sorts(longest - 1, label)))


def _sorts(longest: int, label: Callable[[int], Pattern]) -> list[tuple[int, Pattern]]:
    """Return how many labels a name of each sort may have, and each of its labels."""
    return [(count, label(min(LONGEST_LABEL, (longest + 1) // count - 1))) for count in SORTS]


HOSTNAME = names(LONGEST_NAME)
"""`www.example.com`"""
