"""What cannot be enforced exactly is refused with its place, its keyword and a way out; so is the unsatisfiable."""

import datetime as dt
import enum
from typing import Annotated, Literal

import annotated_types
import pydantic
import pytest
from agreement import check_agreement
from pydantic import AliasPath, BaseModel, Field

from structured.errors import SchemaError, UnsatisfiableError
from structured.json_schema.document.location import Reading
from structured.json_schema.schema_compiler import schema_to_pattern
from structured.output_types.json_schema import JsonSchema
from structured.output_types.regex import to_regex
from structured.output_types.resolve import resolve_type

DAY = dt.date(2024, 1, 1)


Refused = pydantic.ImportString


class Node(BaseModel):
    children: list[Refused]


class Plain(BaseModel):
    name: str


class Empty(BaseModel):
    size: Annotated[int, Field(ge=5, le=3)] = 4


class EmptyAndRefused(Empty):
    total: Refused = None


class Deep(BaseModel):
    name: str = Field(validation_alias=AliasPath("names", 0))


class Cat(BaseModel):
    kind: Literal["cat"]


class Dog(BaseModel):
    kind: Literal["dog"]


Days = enum.Enum("Days", {"first": DAY})
Numbers = enum.Enum("Numbers", {"one": 1})


def in_model(output_type):
    return pydantic.create_model("Order", total=(output_type, ...))


@pytest.mark.parametrize(
    ("output_type", "keyword"),
    [
        (Annotated[str, Field(pattern=r"\p{Han}")], "pattern"),
        (Annotated[float, Field(gt=float("inf"))], "gt"),
        (Annotated[float, Field(gt=float("nan"))], "exclusiveMinimum"),
        (Annotated[int | float, Field(ge=3)], "ge"),
        (Annotated[int | str, Field(ge=3)], "ge"),
        (Annotated[Literal[1, 5], Field(ge=3)], "ge"),
        (Annotated[Plain, Field(max_length=3)], "length"),
        (Annotated[pydantic.AnyUrl, pydantic.UrlConstraints(max_length=40)], "max_length"),
        (Annotated[set[int], Field(min_length=2)], "uniqueItems"),
        (Annotated[dict[str, int], Field(min_length=2)], "minProperties"),
        (set[Plain], "unhashable"),
        (set[tuple[list[int], ...]], "unhashable"),
        (pydantic.FilePath, "function"),
        (pydantic.NewPath, "function"),
        (pydantic.ImportString, "function"),
        (Annotated[int, pydantic.WithJsonSchema({"type": "string"})], "claimed"),
        (Literal[b"x"], "unreadable_values"),
        (Literal[Numbers.one], "unreadable_values"),
        (Literal[1, 2**70], "unreadable_values"),
        (Days, "unreadable_values"),
    ],
)
def test_unsupported_types_are_refused(output_type, keyword):
    """At the root and inside a model, with the keyword and a JSON Pointer to the schema that it stands in."""
    with pytest.raises(SchemaError) as caught:
        to_regex(output_type)
    assert caught.value.keyword == keyword
    with pytest.raises(SchemaError) as caught:
        to_regex(in_model(list[output_type]))
    assert caught.value.keyword == keyword
    schema = resolve_type(in_model(list[output_type])).schema
    for key in caught.value.schema_path.split("/")[1:]:
        schema = schema[key]
    assert keyword in schema


@pytest.mark.parametrize(
    ("output_type", "path"),
    [
        (in_model(Refused), "/properties/total"),
        (in_model(in_model(Refused)), "/$defs/Order/properties/total"),
        (in_model(dict[tuple[int, int], str]), "/properties/total/propertyNames"),
        (in_model(Deep), "/$defs/Deep/properties/name"),
        (in_model(list[Node]), "/$defs/Node/properties/children/items"),
        (pydantic.create_model("Odd", field=(Refused, Field(alias="a/b~c"))), "/properties/a~1b~0c"),
    ],
)
def test_refusals_tell_the_place(output_type, path):
    """The JSON Pointer leads through definitions, and escapes slashes and tildes."""
    with pytest.raises(SchemaError) as caught:
        to_regex(output_type)
    assert caught.value.schema_path == path


@pytest.mark.parametrize(
    ("schema", "keyword"),
    [
        ({"type": "object", "properties": {}, "minProperties": 1}, "minProperties"),
        ({"type": "object", "properties": {}, "required": ["a"]}, "required"),
        ({"type": "object"}, "type"),
        ({"type": "object", "properties": {}, "unknown": 1}, "unknown"),
        ({"type": "number", "format": "float"}, "format"),
        ({"type": "string", "format": "float"}, "format"),
        ({"type": "string", "maxLength": -1}, "maxLength"),
        ({"type": "string", "minLength": True}, "minLength"),
        (
            {"type": "string", "format": "base64", "decoded_min_length": 3, "decoded_max_length": 2},
            "decoded_max_length",
        ),
        ({"type": "integer", "minimum": "3"}, "minimum"),
        ({"type": "integer", "maximum": True}, "maximum"),
        ({"type": "text"}, "type"),
        ({"const": "\ud800"}, "const"),
        ({"const": float("nan")}, "const"),
        ({"type": "object", "properties": {"\ud800": {"type": "null"}}}, "properties"),
        ({"$ref": "#/definitions/a", "definitions": {}}, "$ref"),
        ({"$ref": "#/properties/a"}, "$ref"),
        ({"$ref": "other.json#/a"}, "$ref"),
        ({"$ref": "https://example.org/a"}, "$ref"),
        ({"$ref": "#/$defs/missing", "$defs": {}}, "$ref"),
        ({"type": "null", "discriminator": {}}, "discriminator"),
        ({"minimum": 3}, None),
    ],
)
def test_unknown_keywords_are_refused(schema, keyword):
    """Never ignored; a schema without a type allows anything, and is refused as that."""
    with pytest.raises(SchemaError) as caught:
        schema_to_pattern(schema)
    assert (caught.value.keyword, caught.value.schema_path) == (keyword, "")


@pytest.mark.parametrize(
    ("schema", "keyword"),
    [
        ({"type": "integer", "minimum": 3, "maximum": 2}, "maximum"),
        ({"type": "integer", "exclusiveMinimum": 3, "exclusiveMaximum": 4}, "exclusiveMaximum"),
        ({"type": "integer", "minimum": 0.1, "maximum": 0.9}, "maximum"),
        ({"type": "number", "minimum": 3, "maximum": 2}, "maximum"),
        ({"type": "number", "minimum": 1, "exclusiveMaximum": 1}, "exclusiveMaximum"),
        ({"type": "number", "exclusiveMinimum": 1.7976931348623157e308}, "exclusiveMinimum"),
        ({"type": "number", "exclusiveMinimum": 1.0, "exclusiveMaximum": 1.0000000000000002}, "exclusiveMaximum"),
        ({"type": "string", "minLength": 3, "maxLength": 2}, "minLength"),
        ({"type": "string", "format": "date", "maxLength": 3}, "pattern"),
        ({"type": "string", "format": "date", "ge": DAY, "lt": DAY}, "ge"),
        ({"type": "array", "items": {"type": "null"}, "minItems": 3, "maxItems": 2}, "minItems"),
        ({"type": "array", "items": {"type": "null"}, "contains": {"type": "string"}}, "contains"),
        ({"not": {}}, "not"),
        ({"enum": []}, "enum"),
        ({"enum": [1, "a"], "type": "boolean"}, "enum"),
        ({"const": True, "type": "integer"}, "const"),
        ({"anyOf": []}, "anyOf"),
    ],
)
def test_the_unsatisfiable_is_refused(schema, keyword):
    """A schema that no text satisfies has no pattern, and says so."""
    with pytest.raises(SchemaError, match=r"^Unsatisfiable: ") as caught:
        schema_to_pattern(schema)
    assert caught.value.keyword == keyword


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        (
            {"type": "string", "allOf": [{"minLength": 1}, {"minLength": 5}, {"maxLength": 3}]},
            "no value has at least 5 and at most 3 characters (at #/allOf/1, keyword 'minLength')",
        ),
        (
            {"type": "array", "items": {}, "minItems": 1, "allOf": [{"minItems": 1 << 31}]},
            "no value has 2,147,483,648 items (at #/allOf/0, keyword 'minItems')",
        ),
    ],
)
def test_limits_without_a_length_between_them_are_named_with_their_unit_and_place(schema, message):
    """The first schema with a lower limit was named, whatever its limit, and items were called a length or a text."""
    with pytest.raises(UnsatisfiableError) as caught:
        schema_to_pattern(schema, reading=Reading.SPECIFICATION)
    assert str(caught.value) == f"Unsatisfiable: {message}. Let some value be valid."


@pytest.mark.parametrize(
    ("output_type", "message"),
    [
        (
            in_model(Refused),
            (
                "No format says what import_string accepts (at #/properties/total, keyword 'function'). "
                "Use str or a type without that check: whether it holds is known only when it is run."
            ),
        ),
        (
            in_model(Annotated[int, annotated_types.Interval(ge=5, lt=5)]),
            (
                "Unsatisfiable: no integer is at least 5 and less than 5 (at #/properties/total, "
                "keyword 'exclusiveMaximum'). Let some value be valid."
            ),
        ),
        (
            Annotated[set[int], Field(min_length=2)],
            (
                "A set of at least 2 items is supported if its items have at most 10 values. "
                "Use list in place of set, and remove what is repeated in a Pydantic validator."
            ),
        ),
        (
            Annotated[set[bool], Field(min_length=3)],
            "Unsatisfiable: too few items can be different. Let some value be valid.",
        ),
        (
            JsonSchema({"type": "array", "items": {"type": "string"}, "uniqueItems": True, "contains": {"const": "a"}}),
            (
                "'uniqueItems' is not supported for arrays that have to contain certain items ('contains', or 'not' "
                "with 'items') (keyword 'uniqueItems'). "
                "Remove one of the two rules, and check it in your program."
            ),
        ),
        (
            JsonSchema({"properties": {"tags": {"type": "array", "uniqueItems": True, "minItems": 5000}}}),
            (
                "'uniqueItems' is not supported for at least 5,000 items (at #/properties/tags, "
                "keyword 'uniqueItems'). Require at most 1,024; or remove 'uniqueItems', and remove what is "
                "repeated in your program."
            ),
        ),
        (
            JsonSchema({"properties": {"tags": {"disallow": "string"}}}),
            (
                "'disallow' is not supported here yet (at #/properties/tags, keyword 'disallow'). Remove it, and check "
                "the rule in your program."
            ),
        ),
    ],
)
def test_messages_say_what_where_and_what_to_do(output_type, message):
    """Whole messages."""
    with pytest.raises(SchemaError) as caught:
        to_regex(output_type)
    assert str(caught.value) == message


def test_what_only_missing_properties_satisfy_is_not_called_unsatisfiable():
    """A type without extra properties was said to need some, also where its other properties are refused."""
    problem = "no integer is at least 5 and at most 3, unless optional properties are left out"
    with pytest.raises(SchemaError) as caught:
        to_regex(Empty)
    assert str(caught.value) == (
        f"{problem} (at #/properties/size, keyword 'maximum'). Allow that, with "
        'layout=JsonLayout(optional_properties="omittable"), or let some value be valid.'
    )
    assert not isinstance(caught.value, UnsatisfiableError)
    with pytest.raises(SchemaError) as caught:
        to_regex(EmptyAndRefused)
    assert str(caught.value) == (
        f"{problem}; but then: No format says what import_string accepts (at #/properties/total, keyword 'function'). "
        "Use str or a type without that check: whether it holds is known only when it is run."
    )


def refusal_cases():
    """Return the types and schemas of the tests above."""
    for name, test in globals().items():
        for mark in getattr(test, "pytestmark", []) if name.startswith("test_") else []:
            for case, *_ in mark.args[1]:
                if not isinstance(case, list | str | JsonSchema):
                    yield case


@pytest.mark.thorough
@pytest.mark.parametrize("output_type", list(refusal_cases()), ids=lambda case: str(case)[:80])
def test_every_refusal_is_that_of_the_compiler(output_type):
    """With the same keyword, path and remedy; at the root and inside a model."""
    check_agreement(output_type)
    if isinstance(output_type, dict):
        check_agreement({"type": "object", "properties": {"total": {"type": "array", "items": output_type}}})
    else:
        check_agreement(in_model(list[output_type]))


@pytest.mark.parametrize("pattern", ["", "^", "^(?:ab)?", "x*$"])
def test_no_string_is_left_where_a_pattern_found_in_all_is_denied(pattern: str) -> None:
    """What is found in any text leaves none, whatever else is said."""
    for more in ({}, {"pattern": "^x"}, {"minLength": 1}):
        with pytest.raises(UnsatisfiableError):
            schema_to_pattern({"type": "string", "not": {"pattern": pattern}} | more, reading=Reading.SPECIFICATION)
