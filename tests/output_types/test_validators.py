"""The functions that check a finished answer are named in the schema, and take nothing away from the pattern."""

import dataclasses
from typing import Annotated, Any, Literal

import annotated_types
import pytest
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    Field,
    PlainValidator,
    PrivateAttr,
    WrapValidator,
    field_validator,
    model_validator,
)

from structured.json_schema.document.location import Compilation, Location, Reading, Subschema
from structured.json_schema.schema_compiler import part_to_pattern, schema_to_pattern
from structured.json_schema.whitespace import read_whitespace
from structured.output_types.regex import to_regex
from structured.output_types.resolve import resolve_type


def even(value):
    return value


def wrapping(value, handler):
    return handler(value)


class Adult(BaseModel):
    name: str
    age: int

    @field_validator("age")
    @classmethod
    def of_age(cls, age):
        return age

    @model_validator(mode="after")
    def named(self):
        return self


class Late(BaseModel):
    age: int

    def model_post_init(self, _context):
        pass


class Private(BaseModel):
    age: int
    _seen: bool = PrivateAttr(default=False)


class LatePrivate(Late):
    _seen: bool = PrivateAttr(default=False)


class Made(BaseModel):
    age: int

    def __init__(self, **values):
        super().__init__(**values)


@dataclasses.dataclass
class Point:
    x: int

    def __post_init__(self):
        pass


@pytest.mark.parametrize(
    ("output_type", "names"),
    [
        (int, None),
        (Annotated[int, AfterValidator(even)], ["even"]),
        (Annotated[int, BeforeValidator(even)], ["even"]),
        (Annotated[int, WrapValidator(wrapping)], ["wrapping"]),
        (Annotated[int, PlainValidator(even, json_schema_input_type=int)], ["even"]),
        (Annotated[int, AfterValidator(even), AfterValidator(lambda value: value)], ["even", "<lambda>"]),
        (Annotated[str, annotated_types.Predicate(str.islower)], ["Predicate"]),
        (Adult, ["Adult.named"]),
        (Late, ["Late.model_post_init"]),
        (Private, None),
        (LatePrivate, ["LatePrivate.model_post_init"]),
        (Made, ["Made.__init__"]),
        (Point, ["Point.__post_init__"]),
    ],
)
def test_validators_are_named(output_type, names):
    """Those of a value, and of the model that it is."""
    assert resolve_type(output_type).schema.get("validators") == names


def test_validators_are_named_where_they_stand():
    """At the field, beside a reference, and in a branch."""
    assert resolve_type(Adult).schema["properties"]["age"]["validators"] == ["Adult.of_age"]
    both = resolve_type(list[Annotated[Adult, AfterValidator(even)]]).schema
    assert both["items"] == {"$ref": "#/$defs/Adult", "validators": ["even"]}
    assert both["$defs"]["Adult"]["validators"] == ["Adult.named"]
    optional: Any = Annotated[int | str, AfterValidator(even)] | None
    assert resolve_type(optional).schema["anyOf"][0]["validators"] == ["even"]


@pytest.mark.parametrize("plain", [int, int | str, Literal["a", 1], list[int], Annotated[str, Field(max_length=3)]])
def test_validators_leave_the_pattern_as_it_is(plain):
    """They are run on the finished answer, and the mask knows nothing of them."""
    checked = Annotated[plain, AfterValidator(even)]
    assert to_regex(checked) == to_regex(plain)
    assert to_regex(checked | None) == to_regex(plain | None)


def test_a_part_of_a_schema_has_a_pattern_of_its_own():
    """References are followed from the root, and places are told from there."""
    schema = resolve_type(list[Adult]).schema
    root = Subschema(schema, Location(Compilation(schema, read_whitespace("spaced"), Reading.TYPE)))
    assert str(part_to_pattern(root.subschema("items"))) == to_regex(Adult)
    age = root.subschema("$defs", "Adult", "properties", "age")
    assert part_to_pattern(age) == schema_to_pattern(resolve_type(int).schema)
