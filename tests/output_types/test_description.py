"""What the prompt says of a type: all that its author said of it, and nothing that Pydantic or Python made up."""

import dataclasses
import datetime as dt
from enum import Enum
from typing import Annotated

import pydantic
import pytest
from pydantic import BaseModel, Field, PastDate
from typing_extensions import TypedDict

from structured.output_types.description import describe
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
