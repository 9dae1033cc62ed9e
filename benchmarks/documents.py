"""What the end-to-end benchmark extracts: four types, and as many documents of each as are wanted, made by rule.

Strings, lists and numbers are bounded, so that a model with random weights writes texts of like lengths under every
engine; and nothing may be added to an object, since some engines would.
"""

import random
from collections.abc import Callable
from datetime import date
from enum import Enum
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Line = Annotated[str, Field(max_length=24)]
"""A short text."""

Count = Annotated[int, Field(ge=0, le=999)]


class Strict(BaseModel):
    """What has the listed members and no others."""

    model_config = ConfigDict(extra="forbid")


class Person(Strict):
    """Who somebody is."""

    name: Line
    age: Count
    occupation: Line | None
    city: Line | None


class Item(Strict):
    """A line of an invoice."""

    description: Line
    quantity: Count


class Invoice(Strict):
    """What is to be paid."""

    number: Line
    vendor: Line
    issue_date: date
    due_date: date | None
    items: Annotated[list[Item], Field(max_length=3)]
    currency: Literal["EUR", "USD", "GBP"]
    total: Count
    paid: bool


class Priority(Enum):
    """How much it matters."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


class Ticket(Strict):
    """What a customer complains about."""

    customer: Line
    product: Line
    priority: Priority
    order_number: Line | None


class Event(Strict):
    """Where to go, and when."""

    title: Line
    day: date
    place: Line
    speakers: Annotated[list[Line], Field(max_length=3)]
    online: bool


GIVEN = ("Marta", "Jason", "Ana", "Ole", "Rosa", "Daniel", "Ines", "Kofi", "Lena", "Paul")
FAMILY = ("Lindqvist", "Osei", "Delgado", "Brandt", "Stern", "Moreau", "Novak", "Haddad")
CITIES = ("Bergen", "Oslo", "York", "Leeds", "Porto", "Gothenburg", "Lyon", "Graz")
JOBS = ("nurse", "marine biologist", "teacher", "carpenter", "pilot", "baker")
COMPANIES = ("Northwind Paper", "Halden Robotics", "Brightwater Foods", "Castle Tools")
GOODS = ("notebooks", "desk lamps", "chairs", "pencils", "mugs", "cables")
TOPICS = ("Rust in Practice", "Gardening at Night", "Modern Printing", "Bread and Time")


def _name(rng: random.Random) -> str:
    return f"{rng.choice(GIVEN)} {rng.choice(FAMILY)}"


def _day(rng: random.Random) -> str:
    return date(2024, rng.randint(1, 12), rng.randint(1, 28)).strftime("%d %B %Y").lstrip("0")


def _person(rng: random.Random) -> str:
    return f"{_name(rng)}, {rng.randint(18, 90)}, works as a {rng.choice(JOBS)} in {rng.choice(CITIES)}."


def _invoice(rng: random.Random) -> str:
    items = " and ".join(f"{rng.randint(2, 40)} {goods}" for goods in rng.sample(GOODS, 2))
    return (
        f"Please find invoice INV-{rng.randint(1000, 9999)} from {rng.choice(COMPANIES)}, issued on {_day(rng)}. It "
        f"lists {items}. The total is {rng.randint(20, 900)} {rng.choice(('EUR', 'USD', 'GBP'))}, due on {_day(rng)}. "
        f"It has {rng.choice(('', 'not '))}been paid."
    )


def _ticket(rng: random.Random) -> str:
    return (
        f"From: {_name(rng)}\n\nHi, the {rng.choice(GOODS)} that I ordered have not come. This is of "
        f"{rng.choice(('low', 'medium', 'high'))} priority. The order number is BM-{rng.randint(10000, 99999)}."
    )


def _event(rng: random.Random) -> str:
    return (
        f"{rng.choice(TOPICS)}: an evening with {_name(rng)} and {_name(rng)}, on {_day(rng)} in {rng.choice(CITIES)}. "
        f"{rng.choice(('It is streamed online.', 'Please come in person.'))}"
    )


KINDS: dict[str, tuple[type[BaseModel], Callable[[random.Random], str]]] = {
    "Person": (Person, _person),
    "Invoice": (Invoice, _invoice),
    "Ticket": (Ticket, _ticket),
    "Event": (Event, _event),
}
"""Each type, and how a document for it is made."""


def documents(kind: str, count: int) -> list[str]:
    """Return documents of a kind, the same every time."""
    _, make = KINDS[kind]
    rng = random.Random(kind)
    return [make(rng) for _ in range(count)]


def json_schema(kind: str) -> dict[str, Any]:
    """Return the JSON Schema that engines are given."""
    return KINDS[kind][0].model_json_schema()


def is_valid(kind: str, text: str) -> bool:
    """Tell whether Pydantic accepts a text."""
    try:
        KINDS[kind][0].model_validate_json(text)
    except ValueError:
        return False
    return True


INSTRUCTION = (
    "You are given one text, and you fill in one form about it. Copy names, numbers and dates as they stand there. Do "
    "not guess: where the text says nothing about a field that may be null, write null. Write dates as year, month and "
    "day, and leave out greetings, signatures and anything that was not asked for. "
)
"""Repeated until it is as long as an instruction is to be."""
