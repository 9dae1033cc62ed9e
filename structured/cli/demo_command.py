"""`structured demo`: ten types extracted from ten documents."""

import inspect
import time
import warnings
from dataclasses import dataclass
from datetime import date, datetime
from enum import Enum
from typing import Annotated, Any, Literal

import typer
from pydantic import BaseModel, Field
from pydantic_core import to_json
from rich.console import Console, Group
from rich.panel import Panel
from rich.pretty import Pretty
from rich.rule import Rule
from rich.syntax import Syntax
from rich.table import Column, Table
from rich.text import Text

from structured.cli.model_commands import MODEL_HELP
from structured.errors import PackagedModelWarning
from structured.extraction.extractor import Extractor
from structured.models import load_model
from structured.output_types.resolve import resolve_type


class Person(BaseModel):
    name: str
    age: int
    occupation: str | None
    city: str | None


class LineItem(BaseModel):
    description: str
    quantity: int = Field(ge=1)
    unit_price: float


class Invoice(BaseModel):
    invoice_number: str
    vendor: str
    issue_date: date
    due_date: date | None
    items: list[LineItem]
    total: float
    paid: bool


class Priority(Enum):
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    URGENT = "urgent"


class Ticket(BaseModel):
    customer: str
    product: str
    priority: Priority
    order_number: str | None


class Flight(BaseModel):
    flight_number: str
    airline: str
    origin: str
    destination: str
    departure: datetime
    gate: str | None
    seat: str | None


class Medication(BaseModel):
    name: str
    dose: str


class MedicalNote(BaseModel):
    patient: str
    age: int
    diagnosis: str
    medications: list[Medication]
    allergies: list[str]
    follow_up: date | None


class JobPost(BaseModel):
    title: str
    company: str
    location: str
    salary: int | None
    remote: bool | None
    skills: list[str]


class BikeRental(BaseModel):
    customer: str
    shop: str
    rented_on: date
    days: int
    deposit: int
    price: int


class Weather(BaseModel):
    city: str
    highest: int
    lowest: int
    wind_direction: str
    wind_speed: int


@dataclass(frozen=True, slots=True)
class Showcase:
    """A document and the type that is extracted from it."""

    title: str
    document: str
    output_type: Any
    parts: tuple[type, ...] = ()
    """Other classes whose source is shown beside the document."""


SHOWCASES = (
    Showcase(
        "A short biography",
        "Marta Lindqvist, 34, works as a marine biologist in Bergen. Her brother Ole runs a bakery in Oslo.",
        Person,
    ),
    Showcase(
        "An invoice",
        "Hello,\n\nplease find invoice INV-2024-0117 from Northwind Paper, issued on March 3rd, 2024. It lists "
        "12 notebooks at $4.50 each and 2 desk lamps at $39.00 each. The total is $132.00, due on 2 April 2024. "
        "It has not been paid yet.\n\nKind regards,\nPaula Stern",
        Invoice,
        (LineItem,),
    ),
    Showcase(
        "A support ticket",
        "From: Daniel Osei\nSubject: Coffee machine leaks!\n\nHi, the BrewMaster started leaking this morning. This is "
        "urgent. The order number is BM-88213.\n\nDaniel Osei",
        Ticket,
        (Priority,),
    ),
    Showcase(
        "A flight confirmation",
        "Your booking is confirmed. Flight LH 1823 with Lufthansa from Munich to Porto departs on 14 June 2025 at 9:40 "
        "am from gate G21. Your seat is 14C. Boarding closes 20 minutes before departure.",
        Flight,
    ),
    Showcase(
        "A doctor's note",
        "Patient: Rosa Delgado, 58 years old. Diagnosed with hypertension. Prescribed lisinopril 10 mg and "
        "amlodipine 5 mg. Allergic to penicillin. Follow-up on 12 May 2025.",
        MedicalNote,
        (Medication,),
    ),
    Showcase(
        "A job advertisement",
        "Company: Halden Robotics\nJob: Firmware Engineer in Gothenburg, remote possible\n\nYou bring experience with "
        "C++, Rust and Linux. The salary is 72,000 EUR a year.",
        JobPost,
    ),
    Showcase(
        "Several people at once",
        "Ana is 31, a nurse from York. Her brother Jason is 25 and works as a cook in Leeds.",
        list[Person],
        (Person,),
    ),
    Showcase(
        "A bike rental",
        "Tom Okafor rented an electric bike from Canal Cycles on 14 June 2025 for three days. He left a deposit of "
        "150 EUR and paid 84 EUR.",
        BikeRental,
    ),
    Showcase(
        "The weather of a day",
        "On Tuesday the highest temperature in Turin was 17 degrees and the lowest was 6. The wind blew from the "
        "north-west at 22 km/h.",
        Weather,
    ),
    Showcase(
        "What kind of message is it?",
        "I was charged twice for my subscription this month. Please refund the second payment.",
        Literal["billing", "technical", "shipping", "other"],
    ),
)


def demo(
    model: Annotated[str | None, typer.Option("--model", "-m", help=MODEL_HELP)] = None,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print a line of JSON for each document.")] = False,
) -> None:
    """Extract ten types from ten documents."""
    console = Console()
    status = Console(stderr=True).status
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", PackagedModelWarning)
        with status("Loading the model …"):
            loaded = load_model(model)
        started = time.perf_counter()
        for showcase in SHOWCASES:
            with status(f"Reading: {showcase.title} …"):
                answer = Extractor[Any](showcase.output_type, model=loaded)(showcase.document)
            if as_json:
                record = {"id": showcase.title, "document": showcase.document, "value": answer}
                typer.echo(to_json(record, by_alias=True))
            else:
                console.print(_panels(showcase, answer, width=console.width))
    if as_json:
        return
    seconds = time.perf_counter() - started
    console.print(f"[bold]{len(SHOWCASES)} documents in {seconds:.1f} s[/bold] with {loaded.name}.")
    if caught:
        console.print(
            "It is small, and made to try the library with. Name another:\nstructured demo --model OWNER/NAME"
        )


def _panels(showcase: Showcase, answer: object, *, width: int) -> Group:
    """Return a document, its type and the extracted object, side by side where the terminal is wide enough."""
    document = Panel(Text(showcase.document), title="document", title_align="left", border_style="cyan")
    classes = filter(inspect.isclass, (showcase.output_type, *showcase.parts))
    source = "\n\n".join(inspect.getsource(shown).strip() for shown in classes)
    name = resolve_type(showcase.output_type).name
    type_panel = Panel(
        Syntax(source, "python", background_color="default", word_wrap=True) if source else Text(name),
        title=f"type: {name}",
        title_align="left",
        border_style="blue",
    )
    value = Panel(Pretty(answer), title="object", title_align="left", border_style="green")
    if width < 100:
        return Group(Rule(showcase.title, align="left"), document, type_panel, value)
    table = Table.grid(Column(ratio=1), Column(ratio=1), expand=True, padding=(0, 1))
    table.add_row(Group(document, value), type_panel)
    return Group(Rule(showcase.title, align="left"), table)
