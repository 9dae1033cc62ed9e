"""Regular expressions as syntax trees: built by `json_schema/`, printed for people, read by `automata/`."""

from structured.regex.printing import excerpt, printed
from structured.regex.restriction import without_bytes
from structured.regex.right_linear import right_linear
from structured.regex.syntax import (
    EMPTY,
    Alternation,
    CharSet,
    Concat,
    Literal,
    Members,
    Pattern,
    Quotation,
    Reference,
    Repeat,
    Scan,
    Unlike,
    Words,
    alternation,
    char_set,
    chars,
    concat,
    literal,
    optional,
    repeat,
    words,
)
from structured.regex.traversal import nodes_of, productive_nodes

__all__ = [
    "EMPTY",
    "Alternation",
    "CharSet",
    "Concat",
    "Literal",
    "Members",
    "Pattern",
    "Quotation",
    "Reference",
    "Repeat",
    "Scan",
    "Unlike",
    "Words",
    "alternation",
    "char_set",
    "chars",
    "concat",
    "excerpt",
    "literal",
    "nodes_of",
    "optional",
    "printed",
    "productive_nodes",
    "repeat",
    "right_linear",
    "without_bytes",
    "words",
]
