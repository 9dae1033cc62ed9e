"""What the prompt says of a type: all that its author said of it, and nothing that Pydantic or Python made up."""

import dataclasses
import datetime as dt
import json
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any

import pydantic
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field, PastDate
from typing_extensions import TypedDict

from structured import JsonSchema
from structured.automata.byte_automaton import accepts_text
from structured.output_types.described_types import DescribedType
from structured.output_types.description import describe
from structured.output_types.json_output import TASK
from structured.output_types.resolve import resolve_type


def sketch(output_type: object) -> str:
    return describe(resolve_type(output_type).root)


class Level(Enum):
    """How urgent it is."""

    LOW = "low"


class Described(BaseModel):
    """An order.

    As the shop has it.
    """

    unit_price: float
    number: str = Field(title="Order number", examples=["A-1", "A-2"], pattern="^A-[0-9]$")
    day: dt.date = Field(ge=dt.date(2020, 1, 1), description="when it came")
    seen: PastDate
    level: Level
    own: Level = Field(description="as they say")


@pytest.mark.parametrize(
    ("rule", "description"),
    [
        ({}, "[integer, any, ...]"),
        ({"items": False}, "[integer]"),
        ({"maxItems": 1}, "[integer] (<= 1 items)"),
        ({"unevaluatedItems": False}, "[integer]"),
        ({"unevaluatedItems": {"type": "string"}}, "[integer, string, ...]"),
    ],
)
def test_items_after_the_first_ones_are_described_where_they_are_allowed(rule: Any, description: str) -> None:
    schema = JsonSchema({"type": "array", "prefixItems": [{"type": "integer"}], **rule})
    assert sketch(schema) == description
    automaton = resolve_type(schema).automaton()
    assert accepts_text(automaton, '[1, "x"]') == ("..." in description)
    assert sketch(tuple[int, str]).startswith("[integer, string]")


def test_what_the_author_says_reaches_the_prompt() -> None:
    """Titles, examples, short patterns, bounds of dates and docstrings."""
    assert sketch(Described) == (
        "{  // An order. As the shop has it.\n"
        "  unit_price: number\n"
        '  number: string (/^A-[0-9]$/)  // Order number; e.g. "A-1", "A-2"\n'
        "  day: date (>= 2020-01-01)  // when it came\n"
        "  seen: date (in the past)\n"
        '  level: "low"  // How urgent it is.\n'
        '  own: "low"  // as they say\n'
        "}"
    )


Code = Annotated[str, Field(pattern="^[A-Z]{2}$", description="Two letters", examples=["AB"])]


class Nested(BaseModel):
    """A line."""

    price: Decimal = Field(gt=0, max_digits=6, decimal_places=2)
    at: dt.time = Field(ge=dt.time(8))


class Around(BaseModel):
    lines: list[Nested] = Field(description="All of them")
    best: Nested | None
    codes: list[Code] = Field(title="Countries")
    by_name: dict[str, Code]
    last: Code | None
    level: Level | None
    when: dt.datetime
    lasts: dt.timedelta
    either: Code | Annotated[int, Field(description="A number")]


def test_what_is_said_of_fields_inside_reaches_the_prompt() -> None:
    """Of nested fields, of items and of what may be null; bounds as well. Of branches nothing is said."""
    line = "{  // A line.\n    price: number (> 0, <= 6 digits, <= 2 decimal places)\n    at: time (>= 08:00:00)\n  }"
    assert sketch(Around) == (
        "{\n"
        f"  lines: [{line}, ...]  // All of them\n"
        f"  best: {line} | null\n"
        '  codes: [string (/^[A-Z]{2}$/), ...]  // Countries: Two letters; e.g. "AB"\n'
        '  by_name: {[string]: string (/^[A-Z]{2}$/)}  // Two letters; e.g. "AB"\n'
        '  last: string (/^[A-Z]{2}$/) | null  // Two letters; e.g. "AB"\n'
        '  level: "low" | null  // How urgent it is.\n'
        "  when: datetime\n"
        "  lasts: duration\n"
        "  either: string (/^[A-Z]{2}$/) | integer\n"
        "}"
    )


@pytest.mark.parametrize(
    ("output_type", "expected"),
    [
        (Code, 'string (/^[A-Z]{2}$/)  // Two letters; e.g. "AB"'),
        (list[Code], '[string (/^[A-Z]{2}$/), ...]  // Two letters; e.g. "AB"'),
        (Level, '"low"  // How urgent it is.'),
    ],
)
def test_what_is_said_of_the_type_itself_reaches_the_prompt(output_type: object, expected: str) -> None:
    assert sketch(output_type) == expected


def test_the_task_says_how_dates_and_times_are_written() -> None:
    """Once for each kind, wherever it stands; a chat model reads it. With an offset where there must be one."""
    assert resolve_type(Silent).describe().task == TASK
    assert resolve_type(Around).describe().task == (
        f"{TASK} Write datetimes as YYYY-MM-DDTHH:MM:SS, times as HH:MM:SS, durations as PnDTnHnMnS."
    )
    assert resolve_type(list[dt.date] | None).describe().task == f"{TASK} Write dates as YYYY-MM-DD."
    zoned = "Write datetimes as YYYY-MM-DDTHH:MM:SSZ."
    assert resolve_type(pydantic.AwareDatetime).describe().task == f"{TASK} {zoned}"
    schema = JsonSchema({"type": "string", "format": "date-time"})
    assert resolve_type(schema).describe().task == f"{TASK} {zoned}"


def test_what_is_said_of_a_type_that_contains_itself_is_said_once() -> None:
    schema = {"description": "A tree", "type": "array", "items": {"$ref": "#"}}
    assert DescribedType("Type", schema).describe().text == "Answer  // A tree\nAnswer = [Answer, ...]"


@dataclasses.dataclass
class Plain:
    first_name: str


@pydantic.dataclasses.dataclass
class Validated:
    first_name: str


class Silent(BaseModel):
    first_name: str


class Table(TypedDict):
    first_name: str


@pytest.mark.parametrize("output_type", [Plain, Validated, Silent, Table])
def test_what_is_generated_does_not_reach_the_prompt(output_type: object) -> None:
    """Titles made of names, docstrings that are signatures."""
    assert sketch(output_type) == "{\n  first_name: string\n}"


@dataclasses.dataclass
class Told:
    """Somebody."""

    first_name: str


@pydantic.dataclasses.dataclass
class ToldDataclass:
    """Somebody."""

    first_name: str


class ToldTable(TypedDict):
    """Somebody."""

    first_name: str


@pytest.mark.parametrize("output_type", [Told, ToldDataclass, ToldTable])
def test_the_docstring_of_any_class_with_fields_reaches_the_prompt(output_type: object) -> None:
    assert sketch(list[output_type]) == "[{  // Somebody.\n  first_name: string\n}, ...]"


def test_what_is_long_is_left_out() -> None:
    long = Annotated[str, Field(pattern="^" + "a" * 99, examples=["b" * 99])]
    assert sketch(pydantic.create_model("Long", text=(long, ...))) == "{\n  text: string\n}"


POINT = {
    "title": "Point",
    "description": "A place on a map",
    "type": "object",
    "properties": {"latitude": {"type": "number", "minimum": -90}, "longitude": {"type": "number"}},
    "required": ["latitude", "longitude"],
}


def test_a_part_of_a_schema_that_is_used_twice_is_described_once() -> None:
    """By name, whether it is referred to or written out twice; what is short is written out."""
    expected = (
        "{\n"
        "  start: Point\n"
        "  stops?: [Point, ...]\n"
        "  day: date\n"
        "  back?: date\n"
        "}\n"
        "Point = {  // A place on a map\n"
        "  latitude: number (>= -90)\n"
        "  longitude: number\n"
        "}"
    )
    day = {"type": "string", "format": "date"}
    for point, definitions in (({"$ref": "#/$defs/Point"}, {"Point": POINT}), (POINT, {})):
        stops = {"type": "array", "items": point}
        properties = {"start": point, "stops": stops, "day": day, "back": day}
        schema = {"type": "object", "properties": properties, "required": ["start", "day"], "$defs": definitions}
        assert sketch(JsonSchema(schema)) == expected


def test_what_is_said_of_a_named_part_is_said_once() -> None:
    """Where the name is explained; what is said of one use stays there."""
    code = {"title": "Country code", "description": "Two letters, as in ISO 3166", "type": "string", "examples": ["AT"]}
    schema = {
        "properties": {
            "from": {"$ref": "#/$defs/Code"},
            "to": {"description": "where it is sold", "allOf": [{"$ref": "#/$defs/Code"}]},
            "by": {"type": "array", "items": {"$ref": "#/$defs/Code"}},
        },
        "$defs": {"Code": code},
    }
    assert sketch(JsonSchema(schema)) == (
        "{\n"
        "  from?: Code\n"
        "  to?: Code  // where it is sold\n"
        "  by?: [Code, ...]\n"
        "}\n"
        'Code = string  // Country code: Two letters, as in ISO 3166; e.g. "AT"'
    )


def test_a_repeated_part_without_a_name_is_called_after_its_property() -> None:
    place = {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 3}
    line = {"type": "array", "items": place, "minItems": 4}
    schema = {"properties": {"outer": line, "inner": {"type": "array", "items": line}}, "required": ["outer"]}
    assert sketch(JsonSchema(schema)) == (
        "{\n  outer: Outer\n  inner?: [Outer, ...]\n}\n"
        "Outer = [[number, ...] (>= 2 items, <= 3 items), ...] (>= 4 items)"
    )


def test_a_long_name_of_a_definition_is_shortened() -> None:
    """To its last word; if two are the same then, they are numbered."""
    names = [f"com.example.schemas.logistics.v{version}.Point" for version in (1, 2)]
    other = {**POINT, "description": "A place in a warehouse"}
    start, goal = ({"$ref": f"#/$defs/{name}"} for name in names)
    properties = {"a": start, "b": start, "c": goal, "d": goal}
    described = sketch(JsonSchema({"properties": properties, "$defs": {names[0]: POINT, names[1]: other}}))
    assert described.startswith(
        "{\n  a?: Point\n  b?: Point\n  c?: Point2\n  d?: Point2\n}\nPoint = {  // A place on a map"
    )


def test_conditions_are_described() -> None:
    """What they add to an object; those that only forbid are left to the mask."""
    box = {"properties": {"height": {"type": "number"}}, "required": ["height"]}
    schema = {
        "type": "object",
        "properties": {"kind": {"enum": ["box", "bag"]}, "items": {"type": "array", "contains": {"const": "key"}}},
        "required": ["kind", "items"],
        "if": {"properties": {"kind": {"const": "box"}}, "required": ["kind"]},
        "then": box,
        "else": {"not": {"required": ["height"]}},
        "dependentSchemas": {"price": {"properties": {"currency": {"type": "string"}}}, "kind": {"not": {}}},
    }
    assert sketch(JsonSchema(schema)) == (
        "{\n"
        '  kind: "box" | "bag"\n'
        '  items: [any, ...] (one of them "key")\n'
        '} & if {\n  kind: "box"\n} then {\n  height: number\n} & if {price: any} then {\n  currency?: string\n}'
    )


def test_a_branch_that_allows_anything_hides_no_properties() -> None:
    schema = {"anyOf": [{"properties": {"name": {"type": "string"}}, "required": ["name"]}, {"not": {"type": "null"}}]}
    assert sketch(JsonSchema(schema)) == "{\n  name: string\n} | any"


NAMES = ("a", "b c", "kind", "items")
SIMPLE: list[dict[str, Any]] = [
    {"type": "string"},
    {"type": ["integer", "null"], "minimum": 3},
    {"enum": ["x", 1, None]},
    {"type": "string", "format": "date", "description": "when it came, as the letter has it"},
    *({"$ref": f"#/$defs/{name}"} for name in ("One", "Two", "Three")),
]


def _schemas() -> st.SearchStrategy[dict[str, Any]]:
    """Return schemas of every form that holds others; those of `$defs` may contain themselves and each other."""

    def larger(inner: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
        keywords = st.sampled_from(["anyOf", "oneOf", "allOf"])
        objects = st.builds(
            lambda properties, required, other: {
                "type": "object",
                "properties": properties,
                "required": required,
                **other,
            },
            st.dictionaries(st.sampled_from(NAMES), inner, min_size=1),
            st.lists(st.sampled_from(NAMES), unique=True, max_size=2),
            st.fixed_dictionaries(
                {}, optional={"if": inner, "then": inner, "else": inner, "dependentSchemas": st.builds(dict, a=inner)}
            ),
        )
        return st.one_of(
            objects,
            st.builds(lambda items: {"type": "array", "items": items}, inner),
            st.builds(lambda first: {"type": "array", "prefixItems": first}, st.lists(inner, min_size=1, max_size=2)),
            st.builds(lambda any_name: {"type": "object", "additionalProperties": any_name}, inner),
            st.builds(lambda keyword, parts: {keyword: parts}, keywords, st.lists(inner, min_size=1, max_size=3)),
        )

    parts = st.recursive(st.sampled_from(SIMPLE), larger, max_leaves=8)
    return st.builds(
        lambda root, one, two, three: {**root, "$defs": {"One": one, "Two": two, "Three": three}},
        *(parts for _ in range(4)),
    )


def _described_names(schema: dict[str, Any]) -> set[str]:
    """Return the names of the properties that a schema gives, wherever its references lead, apart from conditions."""
    names: set[str] = set()
    seen: set[int] = set()
    left: list[Any] = [schema]
    while left:
        part = left.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        names |= part.get("properties", {}).keys()
        if "$ref" in part:
            left.append(schema["$defs"][part["$ref"].rpartition("/")[2]])
        left += part.get("properties", {}).values()
        left += [part[keyword] for keyword in ("items", "additionalProperties") if keyword in part]
        left += [inner for keyword in ("anyOf", "oneOf", "allOf", "prefixItems") for inner in part.get(keyword, ())]
        left += [part[word] for word in ("then", "else") if "if" in part and word in part]
        left += part.get("dependentSchemas", {}).values()
    return names


@given(schema=_schemas())
@settings(deadline=None)
def test_the_description_of_any_schema_has_the_names_of_its_properties_and_is_short(schema: dict[str, Any]) -> None:
    """It ends, however the definitions refer to each other; without its indents it is little longer than the schema."""
    described = sketch(JsonSchema(schema))
    for name in _described_names(schema):
        assert (name if name.isalnum() else json.dumps(name)) + ":" in described.replace("?:", ":")
    text = "".join(line.strip() for line in described.splitlines())
    assert len(text) <= 2 * len(json.dumps(schema, separators=(",", ":")))


@given(schema=_schemas(), uses=st.integers(2, 5))
@settings(deadline=None)
def test_what_any_schema_says_often_is_described_once(schema: dict[str, Any], uses: int) -> None:
    """An object that stands at several places has its own property once."""
    definitions = schema.pop("$defs")
    place = {"type": "object", "properties": {"marked": {"const": "a value that is found again"}, "rest": schema}}
    properties = {f"p{number}": place for number in range(uses)}
    described = sketch(JsonSchema({"type": "object", "properties": properties, "$defs": definitions}))
    assert described.count("a value that is found again") == 1


def test_definitions_that_double_at_each_level_have_a_short_description() -> None:
    """Forty levels, each with two fields of the next: a trillion fields if they were written out."""
    levels = {f"L{at}": {"properties": {key: {"$ref": f"#/$defs/L{at + 1}"} for key in "ab"}} for at in range(40)}
    described = sketch(JsonSchema({"$ref": "#/$defs/L0", "$defs": {**levels, "L40": POINT}}))
    assert len(described) < 2_500


@pytest.mark.parametrize(
    ("schema", "described"),
    [
        ({"$ref": "#/$defs/S", "maxLength": 3}, "string (>= 1 characters) & string (<= 3 characters)"),
        ({"format": "date"}, "date"),
        ({"type": "integer", "allOf": [{"minimum": 3}], "maximum": 9}, "integer (<= 9) & number (>= 3)"),
        ({"type": "array", "contains": {"const": 1}}, "[any, ...] (one of them 1)"),
        (
            {"type": "array", "contains": {"const": 1}, "minContains": 2, "maxContains": 4},
            "[any, ...] (at least 2 and at most 4 of them 1)",
        ),
        ({"type": "array", "contains": {"const": 1}, "minContains": 0}, "[any, ...]"),
        (
            {"type": "array", "contains": {"const": 1}, "minContains": 0, "maxContains": 1},
            "[any, ...] (at most 1 of them 1)",
        ),
    ],
)
def test_rules_beside_others_are_described(schema: dict[str, Any], described: str) -> None:
    """Those beside a reference, in a branch of `allOf`, without a type, and the counts of `contains`."""
    assert sketch(JsonSchema({**schema, "$defs": {"S": {"type": "string", "minLength": 1}}})) == described


def test_alternatives_of_several_lines_have_parentheses_beside_others() -> None:
    """`a & (b | c)`, which is not `a & b | c`."""
    schema = {"properties": {"a": {}, "b": {}}, "oneOf": [{"required": ["a"]}, {"required": ["b"]}]}
    lines = sketch(JsonSchema(schema)).splitlines()
    assert [line for line in lines if line.startswith("}")] == ["} & ({", "} | {", "})"]


def test_a_definition_that_is_called_like_a_kind_of_values_has_a_capital() -> None:
    """`string` alone would be a text."""
    tree = {"type": "object", "properties": {"inside": {"$ref": "#/$defs/string"}}}
    described = sketch(JsonSchema({"$ref": "#/$defs/string", "$defs": {"string": tree}}))
    assert "inside?: String" in described


class Price(BaseModel):
    whole: float = Field(examples=[1234.0, 12.5])
    several: list[float] = Field(examples=[[1234.0, 12.5]])
    decimal: Decimal = Field(examples=[Decimal("1.50")])
    nullable: Decimal | None = Field(examples=[Decimal("1.50")])
    or_text: Decimal | str = Field(examples=[Decimal("1.50"), "on request"])


def test_examples_of_numbers_are_written_as_documents_and_answers_write_them():
    lines = resolve_type(Price).describe().text.splitlines()
    assert lines[1:-1] == [
        "  whole: number  // e.g. 1234, 12.5",
        "  several: [number, ...]  // e.g. [1234, 12.5]",
        "  decimal: number  // e.g. 1.50",
        "  nullable: number | null  // e.g. 1.50",
        '  or_text: number | string  // e.g. 1.50, "on request"',
    ]
