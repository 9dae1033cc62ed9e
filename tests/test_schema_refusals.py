"""What cannot be honoured exactly is refused with its place, its keyword and a way out; so is the unsatisfiable."""

import datetime as dt
import decimal
import enum
from typing import Annotated, Literal, NamedTuple

import annotated_types
import pydantic
import pytest
from pydantic import AliasPath, BaseModel, ConfigDict, Discriminator, Field, StringConstraints, Tag

from structured.errors import SchemaError
from structured.schema import read_type, schema_to_pattern, to_regex

DAY = dt.date(2024, 1, 1)


class Node(BaseModel):
    children: list[bytes]


class Plain(BaseModel):
    name: str


class Kept(BaseModel, extra="allow"):
    name: str


class Point(NamedTuple):
    x: int


class Stripped(BaseModel):
    model_config = ConfigDict(str_strip_whitespace=True)
    name: str = Field(min_length=1)


class Deep(BaseModel):
    name: str = Field(validation_alias=AliasPath("names", 0))


class Cat(BaseModel):
    kind: Literal["cat"]


class Dog(BaseModel):
    kind: Literal["dog"]


Guessed = Annotated[Annotated[Cat, Tag("a")] | Annotated[Dog, Tag("b")], Discriminator(lambda _: "a")]
Days = enum.Enum("Days", {"first": DAY})
Numbers = enum.Enum("Numbers", {"one": 1})


def in_model(output_type):
    return pydantic.create_model("Order", total=(output_type, ...))


@pytest.mark.parametrize(
    ("output_type", "keyword"),
    [
        (Annotated[str, Field(pattern="a+")], "pattern"),
        (Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)], "strip_whitespace"),
        (Annotated[str, StringConstraints(ascii_only=True)], "ascii_only"),
        (Annotated[float, Field(gt=float("inf"))], "gt"),
        (Annotated[float, Field(gt=float("nan"))], "exclusiveMinimum"),
        (Annotated[int | float, Field(ge=3)], "ge"),
        (Annotated[Literal[1, 5], Field(ge=3)], "ge"),
        (Annotated[Plain, Field(max_length=3)], "maxLength"),
        (Annotated[dt.date, Field(ge=DAY)], "ge"),
        (Annotated[dt.datetime, Field(lt=dt.datetime(2024, 1, 1))], "lt"),  # noqa: DTZ001
        (pydantic.PastDate, "now_op"),
        (pydantic.FutureDatetime, "now_op"),
        (pydantic.AwareDatetime, "tz_constraint"),
        (pydantic.NaiveDatetime, "tz_constraint"),
        (dt.time, "format"),
        (dt.timedelta, "format"),
        (bytes, "format"),
        (complex, "format"),
        (pydantic.AnyUrl, "format"),
        (pydantic.UUID4, "format"),
        (pydantic.Json, "contentMediaType"),
        (set[int], "uniqueItems"),
        (frozenset[int], "uniqueItems"),
        (dict[str, int], "additionalProperties"),
        (dict, "additionalProperties"),
        (Kept, "additionalProperties"),
        (Guessed, "oneOf"),
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
    schema = read_type(in_model(list[output_type])).schema
    for key in caught.value.schema_path.split("/")[1:]:
        schema = schema[key]
    assert keyword in schema


@pytest.mark.parametrize(
    ("output_type", "path"),
    [
        (in_model(bytes), "/properties/total"),
        (in_model(in_model(bytes)), "/$defs/Order/properties/total"),
        (in_model(Annotated[decimal.Decimal, Field(gt=0, lt=0)]), "/properties/total"),
        (in_model(Stripped), "/$defs/Stripped/properties/name"),
        (in_model(Deep), "/$defs/Deep/properties/name"),
        (in_model(list[Node]), "/$defs/Node/properties/children/items"),
        (pydantic.create_model("Odd", field=(bytes, Field(alias="a/b~c"))), "/properties/a~1b~0c"),
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
        ({"not": {}}, "not"),
        ({"type": "string", "if": {}}, "if"),
        ({"type": "array", "contains": {}, "items": {"type": "null"}}, "contains"),
        ({"type": "object", "properties": {}, "patternProperties": {}}, "patternProperties"),
        ({"type": "object", "properties": {}, "minProperties": 1}, "minProperties"),
        ({"type": "object", "properties": {}, "required": ["a"]}, "required"),
        ({"type": "object"}, "additionalProperties"),
        ({"type": "number", "format": "float"}, "format"),
        ({"type": "string", "format": "date", "maxLength": 3}, "maxLength"),
        ({"type": "string", "maxLength": -1}, "maxLength"),
        ({"type": "string", "minLength": True}, "minLength"),
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
        ({"type": "array", "items": {"type": "null"}, "minItems": 3, "maxItems": 2}, "minItems"),
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
    ("output_type", "message"),
    [
        (
            in_model(Annotated[str, Field(pattern="a+")]),
            (
                "'pattern' is not supported here yet (at #/properties/total, keyword 'pattern'). "
                "Remove it, or check the rule in a Pydantic validator: an answer that it rejects is generated again."
            ),
        ),
        (
            in_model(Annotated[int, annotated_types.Interval(ge=5, lt=5)]),
            (
                "Unsatisfiable: no integer is at least 5 and less than 5 (at #/properties/total, "
                "keyword 'exclusiveMaximum'). Allow at least one value."
            ),
        ),
        (
            set[int],
            (
                "'uniqueItems' is not supported here yet (keyword 'uniqueItems'). "
                "Use list in place of set, and remove what is repeated in a Pydantic validator."
            ),
        ),
    ],
)
def test_messages_say_what_where_and_what_to_do(output_type, message):
    """Whole messages."""
    with pytest.raises(SchemaError) as caught:
        to_regex(output_type)
    assert str(caught.value) == message


@pytest.mark.parametrize("tags", [["a", "a"], [["a", "b"], ["c", "a"]]])
def test_discriminators_must_tell_branches_apart(tags):
    """One value in two branches leaves both possible."""
    branches = [
        {"type": "object", "properties": {"kind": {"enum": tag if isinstance(tag, list) else [tag]}}} for tag in tags
    ]
    with pytest.raises(SchemaError, match="Two branches have the same 'kind'"):
        schema_to_pattern({"oneOf": branches, "discriminator": {"propertyName": "kind"}})


def test_discriminators_must_have_values():
    """A branch whose discriminator may be anything is not told apart."""
    schema = {
        "oneOf": [{"type": "object", "properties": {"kind": {"type": "string"}}}],
        "discriminator": {"propertyName": "kind"},
    }
    with pytest.raises(SchemaError, match="no fixed value here") as caught:
        schema_to_pattern(schema)
    assert caught.value.schema_path == "/oneOf/0"
