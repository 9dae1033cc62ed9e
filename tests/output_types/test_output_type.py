"""What is a type, what is not, and what is known of one."""

import dataclasses
import datetime as dt
import enum
import re
import warnings
from typing import Annotated, Any, Literal, NoReturn, Optional, Union

import pytest
from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError, WithJsonSchema

from structured import JsonLayout, JsonSchema
from structured.errors import SchemaError
from structured.json_schema.document.drafts import SchemaDraft
from structured.json_schema.schema_compiler import schema_to_pattern
from structured.output_types.output_type import OutputType
from structured.output_types.regex import to_regex
from structured.output_types.resolve import resolve_type
from structured.regex import Alternation

TYPES = "a BaseModel, a dataclass, a TypedDict, an Enum, a Literal, or a plain type such as list[int]"
UNDEFINED = list["Undefined"]  # noqa: F821


class Person(BaseModel):
    name: str
    age: int


class Color(enum.Enum):
    RED = "red"
    ANY = None
    TWO = 2


@dataclasses.dataclass
class Point:
    x: int
    drawn: bool = dataclasses.field(init=False, default=False)


class Arbitrary:
    pass


def test_a_type_is_read_once_and_validates():
    """The name, Pydantic's schema and Pydantic's validator."""
    output_type = resolve_type(list[Person])
    assert isinstance(output_type, OutputType)
    assert repr(output_type) == "PythonType(name='list[Person]')"
    assert output_type.schema["items"] == {"$ref": "#/$defs/Person"}
    assert output_type.parse('[{"name": "Ana", "age": 31}]') == [Person(name="Ana", age=31)]
    with pytest.raises(ValidationError):
        output_type.parse("[1]")


@pytest.mark.parametrize(
    ("output_type", "name"),
    [
        (Person, "Person"),
        (int, "int"),
        (None, "None"),
        (Person | None, "Person | None"),
        (Optional[list[int]], "list[int] | None"),  # noqa: UP045
        (Union[int, str], "int | str"),  # noqa: UP007
        (Literal["a.b", 1], "Literal['a.b', 1]"),
        (Annotated[int, Field(ge=0)], "int"),
        (tuple[Person, ...], "tuple[Person, ...]"),
        (dict[str, list[Color]], "dict[str, list[Color]]"),
    ],
)
def test_names_are_as_written(output_type, name):
    """Without modules, and without what Annotated adds."""
    assert resolve_type(output_type).name == name


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (3, f"3 is a value, not a type. Pass {TYPES}."),
        ([int], "[<class 'int'>] is a value, not a type. For a list of them, pass list[int]."),
        (
            {"a": int, "b": list[str] | None},
            (
                "{'a': <class 'int'>, 'b': list[str] | None} is a value, not a type. "
                "Pass pydantic.create_model('Name', a=int, b=list[str] | None)."
            ),
        ),
        (
            {"first name": str},
            "{'first name': <class 'str'>} is a value, not a type. Pass pydantic.create_model('Name', **fields).",
        ),
        (
            {"type": "integer"},
            "{'type': 'integer'} is a value, not a type. If it is a JSON Schema, pass JsonSchema(...) of it.",
        ),
        (Color.RED, f"<Color.RED: 'red'> is a value, not a type. Pass {TYPES}."),
        (Person(name="Ana", age=31), "Person(name='Ana', age=31) is a value, not a type. Pass its type, Person."),
        ("An", "'An' is a string, not a type. Pass the type itself, without quotes; or Choice(['An']) for that text."),
        ("Ana is 31.", "'Ana is 31.' is a string, not a type. Pass the type itself, without quotes, before the text."),
        ([1], "[1] is a value, not a type. If these are choices, pass Choice(...) of them."),
        (["x", "y"], "['x', 'y'] is a value, not a type. If these are choices, pass Choice(...) of them."),
        (
            Arbitrary,
            (
                f"Pydantic cannot describe Arbitrary: Unable to generate pydantic-core schema for {Arbitrary}. "
                f"Use {TYPES}, and define each type before it is used."
            ),
        ),
    ],
)
def test_what_is_not_a_type_is_told(value, message):
    """Whole messages."""
    with pytest.raises(SchemaError) as caught:
        resolve_type(value)
    assert str(caught.value) == message


@pytest.mark.parametrize("output_type", [NoReturn, UNDEFINED, Annotated[int, Field(ge=0.5)], Arbitrary(), ...])
def test_no_error_of_pydantic_comes_through(output_type):
    """Whatever goes wrong is a SchemaError, with Pydantic's error as its cause."""
    with pytest.raises(SchemaError) as caught:
        resolve_type(output_type)
    assert caught.value.__cause__ is not None


def test_any_has_no_pattern():
    """Pydantic describes Any, but as nothing at all."""
    with pytest.raises(SchemaError):
        to_regex(Any)


@pytest.mark.parametrize(
    ("output_type", "matching", "others"),
    [
        (bool, ["true", "false"], ["True", "1"]),
        (int, ["0", "-12"], ["-0", "007", "true", "1.0"]),
        (Color, ['"red"', "null", "2"], ['"RED"', "2.0", '"null"']),
        (Literal["é", 1, True], ['"é"', "1", "true"], [r'"\u00e9"', "1.0"]),
        (Person, ['{"name": "Ana", "age": 31}'], ['{"age": 31, "name": "Ana"}', '{"name": "Ana"}', "{}"]),
        (Point, ['{"x": 1}'], ['{"x": 1, "drawn": true}']),
        (list[dt.date], ["[]", '["2024-02-29"]'], ['["2023-02-29"]', "[null]"]),
        (Annotated[list[int], Field(min_length=1, max_length=2)], ["[1]", "[1, 2]"], ["[]", "[1, 2, 3]", "[1,2]"]),
        (Annotated[list[int], Field(max_length=0)], ["[]"], ["[1]"]),
        (Annotated[list[int], Field(min_length=3)], ["[1, 2, 3]", "[1, 2, 3, 4]"], ["[1, 2]"]),
        (int | str | None, ["1", '"1"', "null"], ["true"]),
        (tuple[()], ["[]"], ["[1]"]),
    ],
)
def test_the_regular_expression_of_a_type(output_type, matching, others):
    """Examples of what is written and what is not."""
    pattern = re.compile(to_regex(output_type))
    assert [text for text in [*matching, *others] if pattern.fullmatch(text)] == matching


def test_nothing_hides_behind_defaults():
    """Every property is written, whether required or not, under the name that Pydantic reads."""

    class Report(BaseModel):
        model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{}]})
        title: str | None = Field(default=None, description="What it is called", deprecated=True)
        pages: int = Field(default=1, ge=1, le=9, validation_alias=AliasChoices("page count", "pages"))
        made_by: Literal["us"] = Field(default="us", alias="madeBy", examples=["us"])

    pattern = to_regex(Report, layout=JsonLayout("compact"))
    assert re.fullmatch(pattern, '{"title":null,"page count":3,"madeBy":"us"}')
    assert not re.fullmatch(pattern, '{"title":null,"page count":3}')
    assert not re.fullmatch(pattern, '{"title":null,"page count":0,"madeBy":"us"}')


def test_defaults_that_are_no_json_are_no_concern():
    """Pydantic's warning about them is kept back: the default is not written anyway."""

    class Report(BaseModel):
        title: str = Field(default=object())

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert resolve_type(Report).name == "Report"


def test_a_definition_is_built_once():
    """Each use of a definition is the same node; where lines are indented, each use at the same depth."""
    schema = {
        "$defs": {"Size": {"anyOf": [{"type": "integer"}, {"type": "null"}]}},
        "type": "object",
        "properties": {"width": {"$ref": "#/$defs/Size"}, "height": {"$ref": "#/$defs/Size"}},
    }
    for whitespace in ("spaced", "indented"):
        pattern = schema_to_pattern(schema, whitespace)
        width, height = (part for part in pattern.parts if isinstance(part, Alternation))
        assert width is height


def test_unions_are_linear():
    """A field more adds as much to the printed pattern as the field before it, optional or not."""

    def length(fields):
        properties = {f"field{i}": {"anyOf": [{"type": "boolean"}, {"type": "null"}]} for i in range(fields)}
        return len(to_regex(Annotated[Any, WithJsonSchema({"type": "object", "properties": properties})]))

    assert length(9) - length(8) == length(8) - length(7)


def test_a_pattern_that_pydantic_refuses_is_told_with_its_reason():
    """The reason stands in the last line of Pydantic's message."""
    with pytest.raises(SchemaError, match=r"Error building \"str\" validator: error: look-around, .* is not supported"):
        resolve_type(Annotated[str, Field(pattern=r"(?=a)\w+")])


def test_the_digest_tells_all_that_changes_what_is_written():
    """The order of the properties too, in which answers and prompts have them."""
    number, text = {"type": "integer"}, {"type": "string"}
    schemas = [{"type": "object", "properties": dict(pair)} for pair in ((("a", number), ("b", text)),) * 2]
    schemas[1]["properties"] = dict(reversed(schemas[1]["properties"].items()))
    sources = [
        *map(JsonSchema, schemas),
        JsonSchema(schemas[0], key_order="any"),
        JsonSchema(schemas[0], assert_formats=True),
        JsonSchema(schemas[0], draft=SchemaDraft.DRAFT_7),
        JsonSchema(schemas[0], documents={"https://example.org/other": {}}),
    ]
    for missing in (None, True):
        digests = {resolve_type(source, missing).digest for source in sources}
        assert len(digests) == len(sources)
        again = JsonSchema(dict(schemas[0]))
        assert resolve_type(again, missing).digest == resolve_type(sources[0], missing).digest
