r"""The keywords of strings enter; the pattern of a quoted JSON string (RFC 8259 §7) leaves.

A character may be written as itself or by an escape, and counts as one either way, as do the two `\u` escapes of a
surrogate pair. Lone surrogates are left out, although the grammar of RFC 8259 has them: Pydantic rejects them.
"""

from structured.pattern import Pattern, alternation, char_set, chars, concat, literal, repeat
from structured.pattern.nodes import UNESCAPED_RANGES
from structured.schema import formats
from structured.schema.place import Place, Subschema, Subschemas, counts

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


def _quoted(pattern: Pattern) -> Pattern:
    """Return a format of which no character needs an escape, as a JSON string."""
    return concat(literal('"'), pattern, literal('"'))


FORMATS = {name: _quoted(formats.PYDANTIC_FORMATS[name]) for name in ("date", "date-time")}
"""The formats of types."""

SPECIFIED_FORMATS = {
    name: _quoted(formats.SPECIFIED_FORMATS[name]) for name in ("date", "date-time", "time", "uuid", "ipv4")
}
"""The formats of schemas that are read by the specification."""

_ANY_STRING = concat(literal('"'), repeat(CHARACTER, 0, None), literal('"'))

UNSUPPORTED_FORMATS = frozenset(
    {
        *("duration", "email", "hostname", "idn-email", "idn-hostname", "ipv6", "iri", "iri-reference", "json-pointer"),
        *("regex", "relative-json-pointer", "uri", "uri-reference", "uri-template"),
    }
)
"""Those of JSON Schema validation §7.3 that are missing; any other is an annotation there."""


def string(parts: Subschemas, place: Place) -> Pattern:
    """Return any string of the right length, counted in characters (JSON Schema validation §6.3), or of the format."""
    named = [(part, part.schema["format"]) for part in parts if "format" in part.schema]
    if not place.is_type:
        named = [(part, name) for part, name in named if name in SPECIFIED_FORMATS or name in UNSUPPORTED_FORMATS]
    if named:
        return format_(parts, *named[0], {name for _, name in named})
    minimum, maximum = counts(parts, "minLength", "maxLength")
    if minimum == 0 and maximum is None:
        return _ANY_STRING
    return concat(literal('"'), repeat(CHARACTER, minimum, maximum), literal('"'))


def format_(parts: Subschemas, part: Subschema, name: str, names: set[str]) -> Pattern:
    """Return any string of the format (JSON Schema validation §7.3)."""
    known = FORMATS if part.place.is_type else SPECIFIED_FORMATS
    if name not in known or len(names) > 1:
        raise part.place.refusal(
            f"The format {name!r} is not supported yet",
            keyword="format",
            remedy="Use str, and check the format in a Pydantic validator: rejected answers are generated again.",
        )
    for other in parts:
        for keyword in ("minLength", "maxLength"):
            if keyword in other.schema:
                raise other.place.refusal(
                    f"A length beside the format {name!r} is not supported",
                    keyword=keyword,
                    remedy="Remove one of the two.",
                )
    return known[name]
