"""Refusal of unsupported keywords that restrict values.

The description of a type is refused for any unknown keyword, since it may be a rule that Pydantic enforces; a schema
that is read by the specification only for keywords of the specification.
"""

from structured.json_schema.document.location import ANNOTATIONS, InternalSchema, Subschema
from structured.json_schema.document.references import REFERENCES
from structured.json_schema.keyword_types import ASSERTIONS, HIDDEN, INTERNAL, UNSUPPORTED
from structured.json_schema.logic.choices import CHOICES

STRUCTURE = frozenset({"$defs", *REFERENCES, "allOf", "const", "definitions", "else", "enum", "then", "type", *CHOICES})
"""Keywords that are handled before the type of a value is known."""

IN_A_VALIDATOR = "Remove it, or check the rule in a Pydantic validator: an answer that it rejects is generated again."
IN_A_PROGRAM = "Remove it, and check the rule in your program."

PROBLEMS = {
    "ambiguous_aliases": "The same name may be read for two fields: {value}",
    "chain": "A step of a chain is of the kind {value!r}",
    "claimed": "The JSON Schema that the author gives contradicts what Pydantic validates",
    "configured_alias": "Whether the configuration of a model holds for {value} depends on Pydantic",
    "discriminator_function": "The schema does not show how the branch is chosen: {value}",
    "extras_keys": "The names of additional members are of the kind {value!r}",
    "format": "The format {value!r} is not supported here yet",
    "function": "No format says what {value} accepts",
    "length": "The length is that of a value that is no longer the text",
    "no_json": "No JSON value is {value}",
    "unhashable": "An item of the kind {value!r} may be what no set can hold",
    "unreadable_values": "Pydantic does not find these values in JSON: {value}",
}
"""The problem of a refused keyword; braces hold the keyword and its value."""

REMEDIES = {
    "additionalProperties": "Use a model with named fields, or a list of models in place of the dictionary.",
    "ambiguous_aliases": "Give each field an alias of its own.",
    "chain": "Use one type, and check the rest in a Pydantic validator.",
    "claimed": "Remove it, or give a JSON Schema that only adds rules.",
    "configured_alias": "Write out the type, or state the rule in Annotated in place of the configuration.",
    "discriminator_function": "Name a field as the discriminator, or use a plain union.",
    "extras_keys": "Use str for them.",
    "format": "Use str or float, and convert it in a Pydantic validator.",
    "function": "Use str or a type without that check: whether it holds is known only when it is run.",
    "length": "Use str, bytes or a collection, or check the length in a Pydantic validator.",
    "no_json": "Remove it, or use a type of JSON, such as str, and convert it in a Pydantic validator.",
    "prefixItems": "Use a model with named fields in place of the tuple.",
    "unhashable": "Use list in place of set, or items that have a hash: frozen models, tuples, plain values.",
    "uniqueItems": "Use list in place of set, and remove what is repeated in a Pydantic validator.",
    "unreadable_values": "Use strings or small integers.",
    "validation_alias": "Give the field an alias that is a plain name.",
}
"""The remedy for a refused keyword, where there is a better one than `IN_A_VALIDATOR`."""


MARKERS = frozenset({"no_json"})
"""Keywords that no user wrote, which an error does not name."""


def check_keywords(part: Subschema, types: frozenset[str]) -> None:
    """Refuse a keyword that restricts values and is not supported."""
    schema, location = part.schema, part.location
    for keyword in schema:
        if keyword in ANNOTATIONS or keyword in STRUCTURE:
            continue
        applies = ASSERTIONS.get(keyword) if keyword not in INTERNAL or isinstance(schema, InternalSchema) else None
        if location.is_type:
            applies = applies or HIDDEN.get(keyword)
            is_known = not types.isdisjoint(applies) if applies else keyword == "discriminator" and "oneOf" in schema
        else:
            is_known = keyword not in UNSUPPORTED or types.isdisjoint(UNSUPPORTED[keyword])
        if not is_known:
            problem = PROBLEMS.get(keyword, "{keyword!r} is not supported here yet")
            raise location.refusal(
                problem.format(keyword=keyword, value=schema[keyword]),
                keyword=None if keyword in MARKERS else keyword,
                remedy=REMEDIES.get(keyword, IN_A_VALIDATOR) if location.is_type else IN_A_PROGRAM,
            )
