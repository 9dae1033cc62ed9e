"""Formats that are one number or a few bytes: identifiers, decimals, fractions, complex numbers, sizes.

The names are Pydantic's, but for `uuid`, which is the specification's too. What is given up: capital letters of no
meaning, underscores between digits, signs that say nothing, numbers that are not finite.
"""

from structured.json_schema.strings.formats.alphabets import DIGIT, HEX, NOT_ZERO
from structured.regex import Pattern, alternation, char_set, chars, concat, literal, optional, repeat, words


def _uuid(third: Pattern, fourth: Pattern) -> Pattern:
    """Return the identifiers of RFC 9562 §4 with these third and fourth groups."""
    dash = literal("-")
    return concat(repeat(HEX, 8, 8), dash, repeat(HEX, 4, 4), dash, third, dash, fourth, dash, repeat(HEX, 12, 12))


UUID = _uuid(repeat(HEX, 4, 4), repeat(HEX, 4, 4))
"""`2eb8aa08-aa98-41ea-b4aa-73b441d16380`, of any version."""


def uuid(version: int) -> Pattern:
    """Return the identifiers of a version, with the variant in which versions have a meaning (RFC 9562 §4.1, §4.2)."""
    return _uuid(concat(literal(str(version)), repeat(HEX, 3, 3)), concat(chars("89ABab"), repeat(HEX, 3, 3)))


_NATURAL = alternation(literal("0"), concat(NOT_ZERO, repeat(DIGIT, 0, None)))
_SIGN = optional(literal("-"))

DECIMAL = concat(
    _SIGN,
    _NATURAL,
    optional(concat(literal("."), repeat(DIGIT, 1, None))),
    optional(concat(literal("E"), chars("+-"), NOT_ZERO, repeat(DIGIT, 0, 2))),
)
"""What `str` writes for a finite `Decimal` whose exponent has three digits at most: `-12.50`, `1E+3`."""

FRACTION = concat(_SIGN, _NATURAL, optional(concat(literal("/"), NOT_ZERO, repeat(DIGIT, 0, None))))
"""What `str` writes for a `Fraction`, reduced or not: `-3/4`."""

_FLOAT = concat(
    alternation(literal("0"), concat(NOT_ZERO, repeat(DIGIT, 0, 308))),
    optional(concat(literal("."), repeat(DIGIT, 1, 400))),
)
"""The magnitude of any double without an exponent, as Pydantic writes it."""

_IMAGINARY = concat(_FLOAT, literal("j"))

COMPLEX = concat(_SIGN, alternation(_IMAGINARY, concat(_FLOAT, optional(concat(chars("+-"), _IMAGINARY)))))
"""What Pydantic reads for a finite `complex`: `1.5-2j`."""

_UNITS = tuple(
    prefix + unit
    for unit in ("B", "bit")
    for prefix in ("", *(letter + binary for letter in "KMGTPE" for binary in ("", "i")))
)

BYTE_SIZE = concat(
    repeat(DIGIT, 1, 18),
    optional(concat(literal("."), repeat(DIGIT, 1, 18))),
    optional(concat(optional(literal(" ")), words(_UNITS))),
)
"""What Pydantic's `ByteSize` reads, the units in their usual spelling: `1.5 GiB`."""


TEXT = repeat(char_set(negated=True), 0, None)
"""Any text: `bytes` are the bytes of its UTF-8."""

PATH = repeat(char_set((0, 0), negated=True), 0, None)
"""Any text without a zero byte, which no system allows in a path."""
