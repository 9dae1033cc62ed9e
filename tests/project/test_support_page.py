"""The page of what is supported says of types what is so: each is compiled and sampled, or refused."""

import re
import textwrap
from pathlib import Path
from random import Random
from typing import Any

import pytest
from random_json import automaton_of, check_texts

from structured.errors import SchemaError

PAGE = Path(__file__).parents[2] / "docs" / "support.md"

NAMES = """
import re
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum, Flag
from fractions import Fraction
from ipaddress import IPv4Address, IPv6Network
from pathlib import Path
from re import Pattern
from typing import Annotated, Any, Generic, Literal, NamedTuple, Never, Optional, TypeVar, Union
from uuid import UUID
from zoneinfo import ZoneInfo

from pydantic import *
from pydantic import UUID4, IPvAnyInterface, PostgresDsn, UrlConstraints
from typing_extensions import TypeAliasType, TypedDict

class Person(BaseModel):
    name: str

class Node(BaseModel):
    children: "list[Node]"

Item = TypeVar("Item")

class Box(BaseModel, Generic[Item]):
    held: Item

class Cat(BaseModel):
    kind: Literal["cat"]

class Dog(BaseModel):
    kind: Literal["dog"]

class Encoded(BaseModel, val_json_bytes="base64"):
    data: Base64Bytes

class Deep(BaseModel):
    name: str = Field(validation_alias=AliasPath("names", 0))

class Shared(BaseModel):
    first: int = Field(alias="name")
    second: str = Field(alias="name")

Names = TypeAliasType("Names", list[str])

class Short(BaseModel, str_max_length=2):
    first: Names
    second: Names

@dataclass
class Record:
    name: str

def chosen(value):
    return value["kind"]

Priority = Enum("Priority", {"LOW": "low", "HIGH": "high"})
Permission = Flag("Permission", {"READ": 1, "WRITE": 2})
Movie = TypedDict("Movie", {"title": str})
Point = NamedTuple("Point", [("x", int)])
"""


def names() -> dict[str, Any]:
    namespace: dict[str, Any] = {}
    exec(textwrap.dedent(NAMES), namespace)  # noqa: S102
    return namespace


def section() -> str:
    found = re.search(r"^## Types\n(.*?)^## ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[1]


def types_of(text: str) -> list[str]:
    """Return the code in the first column of a table, without what is in parentheses behind it."""
    cells = re.findall(r"^\| (`.+?) \|", text, flags=re.MULTILINE)
    return [code for cell in cells for code in re.findall(r"`([^`]+)`", re.sub(r" \((?:[^()`]|`[^`]*`)*\)", "", cell))]


SUPPORTED, REFUSED = map(types_of, section().split("Refused, each"))


@pytest.mark.thorough
@pytest.mark.parametrize("code", SUPPORTED)
def test_what_is_listed_as_written_is_written(code: str) -> None:
    """It is compiled, and what is drawn validates."""
    if "Email" in code or "NameEmail" in code:
        pytest.importorskip("email_validator", reason="Pydantic reads mail with the package email-validator.")
    check_texts(eval(code, names()), 20, Random(code))  # noqa: S307


@pytest.mark.parametrize("code", REFUSED)
def test_what_is_listed_as_refused_is_refused(code: str) -> None:
    """With an error that names a way out."""
    with pytest.raises(SchemaError) as caught:
        automaton_of(eval(code, names()))  # noqa: S307
    assert caught.value.remedy
