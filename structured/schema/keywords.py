"""A JSON Schema (draft 2020-12) enters; the pattern of the JSON texts that may be generated leaves.

One function for each keyword or type, named as the specification names it, in the tables `FORMS` and `TYPES`. Whatever
the pattern matches is valid, and a keyword that no table holds is refused, never ignored. What is valid and yet not
matched was given up on purpose: every property is written, in the order of the schema, so that nothing is silently
missing; each value has one spelling; numbers have bounded digits. A definition is inlined unless it contains itself.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from structured.errors import SchemaError
from structured.pattern import (
    EMPTY,
    Pattern,
    Reference,
    alternation,
    concat,
    is_productive,
    literal,
    optional,
    repeat,
    words,
)
from structured.schema.numbers import BOUNDS, integer, number
from structured.schema.place import Place, Schema
from structured.schema.strings import string
from structured.schema.whitespace import DEFAULT_WHITESPACE, read_whitespace

ANNOTATIONS = frozenset(
    {"$comment", "default", "deprecated", "description", "examples", "readOnly", "title", "writeOnly"}
)
"""Keywords that allow and forbid nothing (JSON Schema validation §9)."""

IN_A_VALIDATOR = "Remove it, or check the rule in a Pydantic validator: an answer that it rejects is generated again."
REMEDIES = {
    "additionalProperties": "Use a model with named fields, or a list of models in place of the dictionary.",
    "format": "Use str or float, and convert it in a Pydantic validator.",
    "prefixItems": "Use a model with named fields in place of the tuple.",
    "tz_constraint": "Use datetime, and check the time zone in a Pydantic validator.",
    "uniqueItems": "Use list in place of set, and remove what is repeated in a Pydantic validator.",
    "unreadable_values": "Use strings or small integers: Pydantic does not find these values in JSON.",
    "validation_alias": "Give the field an alias that is a plain name.",
}
"""What to do about a keyword that is refused, where there is something better than `IN_A_VALIDATOR`."""


class Rule(NamedTuple):
    """How a keyword becomes a pattern, and which keywords may stand beside it, besides annotations."""

    compile: Callable[[Schema, Place], Pattern]
    beside: frozenset[str] = frozenset()


def schema_to_pattern(schema: Schema, whitespace: str = DEFAULT_WHITESPACE) -> Pattern:
    r"""Return the pattern of the JSON texts of a JSON Schema, with the whitespace of the style of that name.

    `{"type": "array", "items": {"type": "boolean"}, "maxItems": 2}` → `\[(?:(?:true|false)(?:, (?:true|false))?)?\]`

    Raises `SchemaError` where a keyword cannot be honoured exactly, or where nothing is valid.
    """
    place = Place(read_whitespace(whitespace), schema.get("$defs", {}), {}, [])
    pattern = _any_schema({keyword: value for keyword, value in schema.items() if keyword != "$defs"}, place)
    for reference in place.references:
        if not is_productive(reference):
            inside = place.in_definition(reference.name)
            raise inside.unsatisfiable(f"{reference.name} has to contain itself, without end", keyword="$ref")
    return pattern


def _any_schema(schema: object, place: Place) -> Pattern:
    """Return the pattern of a schema, by the rule of the keyword or type that tells what it is."""
    if not isinstance(schema, Mapping):
        raise _any_value(place)
    form = next((keyword for keyword in FORMS if keyword in schema), "type")
    rule = FORMS[form] if form in FORMS else _type_rule(schema, place)
    for keyword in schema:
        if keyword not in ANNOTATIONS | rule.beside | {form}:
            raise _unsupported(keyword, schema, place)
    return rule.compile(schema, place)


def _type_rule(schema: Schema, place: Place) -> Rule:
    """Return the rule of the schema's `type` (validation §6.1.1)."""
    if "type" not in schema:
        strangers = schema.keys() - ANNOTATIONS.union(*(rule.beside for rule in TYPES.values()))
        raise _unsupported(min(strangers), schema, place) if strangers else _any_value(place)
    name = schema["type"]
    if not isinstance(name, str) or name not in TYPES:
        raise place.refusal(
            f"The type {name!r} is not supported", keyword="type", remedy=f"Use one of {', '.join(TYPES)}."
        )
    return TYPES[name]


def _any_value(place: Place) -> SchemaError:
    return place.refusal("A value of any type is not supported yet", remedy="Say what type it has.")


def _unsupported(keyword: str, schema: Schema, place: Place) -> SchemaError:
    shown = f"The format {schema[keyword]!r}" if keyword == "format" else repr(keyword)
    return place.refusal(
        f"{shown} is not supported here yet", keyword=keyword, remedy=REMEDIES.get(keyword, IN_A_VALIDATOR)
    )


def ref(schema: Schema, place: Place) -> Pattern:
    """Return the pattern of a definition, built once for each depth that makes a difference (core §8.2.3.1).

    Inside itself it is a reference by name.
    """
    name = place.definition_name(schema["$ref"])
    if name in place.open_names:
        if place.whitespace.indent:
            raise place.refusal(
                f"{name} contains itself, and indented text needs to know how deep it is",
                keyword="$ref",
                remedy='Choose another whitespace: "spaced", "compact" or "flexible".',
            )
        place.references.append(Reference(name, place.patterns))
        return place.references[-1]
    key = f"{name} at {place.depth}" if place.whitespace.indent else name
    if key not in place.patterns:
        place.patterns[key] = _any_schema(place.definitions[name], place.in_definition(name))
    return place.patterns[key]


def any_of(schema: Schema, place: Place) -> Pattern:
    """Return what any branch allows (core §10.2.1.2)."""
    return _any_branch("anyOf", schema, place)


def one_of(schema: Schema, place: Place) -> Pattern:
    """Return what any branch allows, once a discriminator tells that no two allow the same (core §10.2.1.3)."""
    if not isinstance(schema.get("discriminator"), Mapping):
        raise place.refusal(
            "The branches may overlap",
            keyword="oneOf",
            remedy="Name the field that tells them apart: Field(discriminator=...). Or use a plain union.",
        )
    pattern = _any_branch("oneOf", schema, place)
    name = schema["discriminator"].get("propertyName")
    tags = [tag for i, branch in enumerate(schema["oneOf"]) for tag in _tags(branch, name, place.at("oneOf", i))]
    if len(set(tags)) < len(tags):
        raise place.refusal(
            f"Two branches have the same {name!r}", keyword="oneOf", remedy="Give each branch values of its own."
        )
    return pattern


def _any_branch(keyword: str, schema: Schema, place: Place) -> Pattern:
    if not schema[keyword]:
        raise place.unsatisfiable("there is no branch", keyword=keyword)
    return alternation(*(_any_schema(branch, place.at(keyword, i)) for i, branch in enumerate(schema[keyword])))


def _tags(schema: Schema, name: str, place: Place) -> list[str]:
    """Return the values, as JSON texts, that the property of this name has in a branch of a discriminated union."""
    if "$ref" in schema:
        definition = place.definition_name(schema["$ref"])
        return _tags(place.definitions[definition], name, place.in_definition(definition))
    if "oneOf" in schema:
        return [tag for i, branch in enumerate(schema["oneOf"]) for tag in _tags(branch, name, place.at("oneOf", i))]
    tag = schema.get("properties", {}).get(name, {})
    if "$ref" in tag:
        tag = place.definitions[place.definition_name(tag["$ref"])]
    values = [tag["const"]] if "const" in tag else tag.get("enum", [])
    if not values:
        raise place.refusal(
            f"The discriminator {name!r} has no fixed value here", keyword="oneOf", remedy="Make it a Literal."
        )
    return [place.spelling(value, keyword="oneOf").text for value in values]


def const(schema: Schema, place: Place) -> Pattern:
    """Return the one value (validation §6.1.3)."""
    return _values("const", [schema["const"]], schema, place)


def enum(schema: Schema, place: Place) -> Pattern:
    """Return any of the values (validation §6.1.2)."""
    return _values("enum", schema["enum"], schema, place)


def _values(keyword: str, values: list[object], schema: Schema, place: Place) -> Pattern:
    allowed = [value for value in values if "type" not in schema or _has_type(value, schema["type"])]
    if not allowed:
        raise place.unsatisfiable("there is no value of the type", keyword=keyword)
    return words(place.spelling(value, keyword=keyword).text for value in allowed)


def _has_type(value: object, name: object) -> bool:
    if isinstance(value, bool):
        return name == "boolean"
    return isinstance(value, PYTHON_TYPES.get(str(name), ()))


def null(_schema: Schema, _place: Place) -> Pattern:
    """Return `null`."""
    return literal("null")


def boolean(_schema: Schema, _place: Place) -> Pattern:
    """Return `true` or `false`."""
    return words(("true", "false"))


def array(schema: Schema, place: Place) -> Pattern:
    """Return the arrays of the right length (validation §6.4) whose items are all of the schema `items`."""
    minimum, maximum = place.counts(schema, "minItems", "maxItems")
    empty = concat(literal("["), place.whitespace.edge, literal("]"))
    if maximum == 0:
        return empty
    item = _any_schema(schema.get("items", {}), place.inside("items"))
    more = repeat(
        concat(place.whitespace.comma(place.depth), item),
        max(minimum - 1, 0),
        None if maximum is None else maximum - 1,
    )
    filled = concat(place.whitespace.opening(place.depth), item, more, place.whitespace.closing(place.depth))
    if minimum == 0:
        edge = place.whitespace.edge
        filled = optional(filled) if edge == EMPTY else alternation(edge, filled)
    return concat(literal("["), filled, literal("]"))


def object_(schema: Schema, place: Place) -> Pattern:
    """Return the objects with every property (core §10.3.2.1), in the order of the schema, and with no others."""
    properties = schema.get("properties", {})
    if schema.get("additionalProperties", "properties" not in schema) is not False:
        raise _unsupported("additionalProperties", schema, place)
    missing = sorted(set(schema.get("required", ())) - properties.keys())
    if missing:
        raise place.refusal(
            f"The required {missing[0]!r} is not among the properties", keyword="required", remedy="Add it there."
        )
    if not properties:
        return concat(literal("{"), place.whitespace.edge, literal("}"))
    members: list[Pattern] = []
    for name, value in properties.items():
        members.append(place.whitespace.comma(place.depth) if members else place.whitespace.opening(place.depth))
        members.append(place.spelling(name, keyword="properties"))
        members.append(place.whitespace.colon)
        members.append(_any_schema(value, place.inside("properties", name)))
    return concat(literal("{"), *members, place.whitespace.closing(place.depth), literal("}"))


FORMS = {
    "$ref": Rule(ref),
    "anyOf": Rule(any_of),
    "oneOf": Rule(one_of, frozenset({"discriminator"})),
    "const": Rule(const, frozenset({"type"})),
    "enum": Rule(enum, frozenset({"type"})),
}
"""The keywords that tell what a schema is, in place of its `type`."""

TYPES = {
    "array": Rule(array, frozenset({"items", "maxItems", "minItems"})),
    "boolean": Rule(boolean),
    "integer": Rule(integer, BOUNDS),
    "null": Rule(null),
    "number": Rule(number, BOUNDS),
    "object": Rule(object_, frozenset({"additionalProperties", "properties", "required"})),
    "string": Rule(string, frozenset({"format", "maxLength", "minLength"})),
}

PYTHON_TYPES: dict[str, type | tuple[type, ...]] = {
    "integer": int,
    "null": type(None),
    "number": (int, float),
    "string": str,
}
"""What Python reads the plain values of each type as; `bool` is told apart before, since it is an `int`."""
