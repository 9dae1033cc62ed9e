"""What the prompt says of a type: all that its author said of it, and nothing that Pydantic or Python made up."""

import dataclasses
import datetime as dt
from decimal import Decimal
from enum import Enum
from typing import Annotated

import pydantic
import pytest
from pydantic import BaseModel, Field, PastDate
from typing_extensions import TypedDict

from structured import JsonSchema
from structured.output_types.description import describe, describe_schema
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
    line = "{  // A line.\n    price: decimal (> 0, <= 6 digits, <= 2 decimal places)\n    at: time (>= 08:00:00)\n  }"
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
    assert describe_schema(schema) == "Answer  // A tree\nAnswer = [Answer, ...]"


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
