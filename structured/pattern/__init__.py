"""Regular expressions as trees: built by `schema/`, printed for people, read by `automata/`."""

from structured.pattern.nodes import (
    EMPTY,
    Alternation,
    CharSet,
    Concat,
    Literal,
    Pattern,
    Repeat,
    alternation,
    char_set,
    chars,
    concat,
    literal,
    optional,
    repeat,
)

__all__ = [
    "EMPTY",
    "Alternation",
    "CharSet",
    "Concat",
    "Literal",
    "Pattern",
    "Repeat",
    "alternation",
    "char_set",
    "chars",
    "concat",
    "literal",
    "optional",
    "repeat",
]
