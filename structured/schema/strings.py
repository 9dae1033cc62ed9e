r"""The keywords of strings enter; the pattern of a quoted JSON string (RFC 8259 §7) leaves.

A character may be written as itself or by an escape, and counts as one either way, as do the two `\u` escapes of a
surrogate pair. Lone surrogates are left out, although the grammar of RFC 8259 has them: Pydantic rejects them.
"""

from structured.pattern import Pattern, alternation, char_set, chars, concat, literal, repeat
from structured.pattern.nodes import UNESCAPED_RANGES
from structured.schema.dates import DATE, DATE_TIME
from structured.schema.place import Place, Schema

_HEX = chars("0123456789ABCDEFabcdef")
UNESCAPED = char_set(*UNESCAPED_RANGES)
_NOT_SURROGATE = alternation(
    concat(chars("0123456789ABCEFabcef"), repeat(_HEX, 3, 3)),
    concat(chars("Dd"), chars("01234567"), repeat(_HEX, 2, 2)),
)
_SURROGATE_PAIR = concat(
    chars("Dd"), chars("89ABab"), repeat(_HEX, 2, 2), literal("\\u"), chars("Dd"), chars("CDEFcdef"), repeat(_HEX, 2, 2)
)

CHARACTER = alternation(
    UNESCAPED,
    concat(
        literal("\\"),
        alternation(chars('"\\/bfnrt'), concat(literal("u"), alternation(_NOT_SURROGATE, _SURROGATE_PAIR))),
    ),
)
"""One character of a string: the same node in every string, so that an automaton sees that it is the same."""

FORMATS = {"date": DATE, "date-time": DATE_TIME}


def string(schema: Schema, place: Place) -> Pattern:
    """Return any string of the right length, counted in characters (JSON Schema validation §6.3), or of the format."""
    if "format" in schema:
        return format_(schema, place)
    minimum, maximum = place.counts(schema, "minLength", "maxLength")
    return concat(literal('"'), repeat(CHARACTER, minimum, maximum), literal('"'))


def format_(schema: Schema, place: Place) -> Pattern:
    """Return any string of the format (JSON Schema validation §7.3)."""
    name = schema["format"]
    if name not in FORMATS:
        raise place.refusal(
            f"The format {name!r} is not supported yet",
            keyword="format",
            remedy="Use str, and check the format in a Pydantic validator: rejected answers are generated again.",
        )
    for keyword in ("minLength", "maxLength"):
        if keyword in schema:
            raise place.refusal(
                f"A length beside the format {name!r} is not supported",
                keyword=keyword,
                remedy="Remove one of the two.",
            )
    return FORMATS[name]
