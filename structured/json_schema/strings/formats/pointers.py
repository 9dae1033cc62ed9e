"""JSON pointers (RFC 6901 §3, §5) and relative ones (draft-handrews-relative-json-pointer-01 §3).

The later draft lets an index be moved (`0+1#`); that is given up, since the earlier drafts of JSON Schema have it not.
"""

from structured.json_schema.strings.formats.alphabets import DIGIT, NOT_ZERO
from structured.regex import alternation, char_set, chars, concat, literal, optional, repeat

_CHARACTER = alternation(char_set((ord("~"), ord("~")), negated=True), concat(literal("~"), chars("01")))

JSON_POINTER = optional(concat(literal("/"), repeat(_CHARACTER, 0, None)))
"""`/foo/bar~0/baz~1`"""

RELATIVE_JSON_POINTER = concat(
    alternation(literal("0"), concat(NOT_ZERO, repeat(DIGIT, 0, None))), alternation(literal("#"), JSON_POINTER)
)
"""`2/0/baz`, `1#`"""
