"""Ten types, as people write them to extract something."""

from datetime import date, datetime, time
from decimal import Decimal
from enum import Enum
from typing import Annotated, Literal

from pydantic import BaseModel, Field


class Person(BaseModel):
    name: str
    age: int | None = Field(ge=0, le=130)
    occupation: str | None = Field(description="What they do for a living")
    city: str | None
    email: str | None


class Line(BaseModel):
    item: str
    quantity: int
    unit_price: Decimal = Field(description="Price of one")


class Invoice(BaseModel):
    """A bill for goods or services."""

    number: str
    vendor: str = Field(description="Who sends the invoice")
    issued: date
    due: date | None
    lines: list[Line] = Field(min_length=1, max_length=6)
    total: Decimal
    currency: Literal["EUR", "USD", "GBP", "CHF"]
    paid: bool


class Event(BaseModel):
    title: str
    day: date
    starts: time | None
    place: str
    speakers: list[str] = Field(max_length=5)
    free: bool = Field(description="Whether entry costs nothing")


class Category(Enum):
    BILLING = "billing"
    DELIVERY = "delivery"
    DEFECT = "defect"
    ACCOUNT = "account"


class Ticket(BaseModel):
    """What a customer writes about."""

    customer: str | None = Field(description="Name of the customer, without titles")
    product: str
    category: Category
    urgent: bool = Field(description="Whether the customer asks for a quick answer")
    order_number: str | None


class Product(BaseModel):
    name: str
    brand: str | None
    price: Decimal
    colours: list[str] = Field(max_length=5)
    in_stock: bool
    weight_grams: int | None


class Ingredient(BaseModel):
    name: str
    amount: str | None = Field(examples=["200 g", "2 tbsp", "3"])


class Recipe(BaseModel):
    title: str
    servings: int | None
    minutes: int | None = Field(description="Time in all")
    ingredients: list[Ingredient] = Field(max_length=6)


class JobAdvert(BaseModel):
    title: str = Field(title="Position")
    company: str
    city: str | None
    contract: Literal["full-time", "part-time", "internship", "temporary"]
    remote: bool
    salary_from: int | None = Field(description="Lowest salary a year")
    salary_to: int | None = Field(description="Highest salary a year")
    languages: list[str] = Field(max_length=5, description="Languages that are asked for")


class Result(BaseModel):
    test: str = Field(description="What was measured")
    value: float
    unit: str


class LabReport(BaseModel):
    patient: str
    taken: date = Field(description="When the sample was taken")
    fasting: bool | None = Field(description="Whether the patient had eaten nothing")
    results: list[Result] = Field(min_length=1, max_length=6)


class Home(BaseModel):
    """A property for sale."""

    address: str = Field(description="Street and number")
    kind: Literal["flat", "house", "studio", "land"]
    rooms: int | None
    area: Decimal = Field(description="Square metres")
    price: int
    balcony: bool
    available: date | None = Field(description="From when")


class Party(BaseModel):
    name: str
    city: str


class Shipment(BaseModel):
    tracking: str = Field(description="Tracking number")
    carrier: str
    picked_up: datetime
    sender: Party
    recipient: Party
    weight_kg: Annotated[float, Field(gt=0)]
    express: bool


TYPES: tuple[type[BaseModel], ...] = (
    Person,
    Invoice,
    Event,
    Ticket,
    Product,
    Recipe,
    JobAdvert,
    LabReport,
    Home,
    Shipment,
)
