"""Documents with orders, and a scripted model that reads what stands there: the answers are known, and cost little."""

import json
import random
import re
from collections.abc import Iterator
from typing import NamedTuple

from pydantic import BaseModel

from structured import Document
from structured.models.scripted import ScriptedModel

CUSTOMERS = ("Ana", "Bob", "Chen", "Dora", "Emil")
TOTALS = ("10.5", "20.0", "35.25", "99.0")
FILL = (
    "We thank you for the good work.",
    "Delivery by van as usual.",
    "The weather was fine, and nothing else has changed since then.",
    "See the attached terms, please.",
)
ORDER = re.compile(r"Order\s+(A-\d+)\s+came\s+from\s+(\w+)\s+for\s+([\d.]+)\s+euros")


class Order(BaseModel):
    """An order."""

    number: str
    customer: str
    total: float


class Long(NamedTuple):
    """A long document, and each order in it with the places of its three values."""

    text: str
    orders: list[tuple[tuple[str, str, str], tuple[tuple[int, int], ...]]]


def short_documents(count: int) -> Iterator[Document]:
    """Yield documents of some 130 characters with an order each."""
    for number in range(count):
        order = f"Order A-{1000 + number} came from {CUSTOMERS[number % 5]} for {number % 97}.5 euros."
        yield Document(f"{FILL[number % 4]} {order} {FILL[2]}", id=str(number))


def long_document(characters: int, kind: str = "plain", seed: int = 1) -> Long:
    """Return a document of so many characters about as many orders as 358 in 60,000 characters are.

    Kinds: "plain" has a number of its own for each order; in "repeating", three orders in a row have one number, and
    few customers and totals; in "wrapped", the lines of a paragraph end anywhere, within orders as well.
    """
    rng = random.Random(seed)
    count = max(characters * 358 // 60_000, 1)
    pieces: list[str] = []
    length = 0
    for number in range(count):
        shown = 1000 + (number // 3 if kind == "repeating" else number)
        said = f"Order A-{shown} came from {rng.choice(CUSTOMERS)} for {rng.choice(TOTALS)} euros. "
        wanted = (number + 1) * characters // count
        while length + len(said) < wanted - 80:
            said += rng.choice(FILL) + " "
        if kind == "wrapped":
            said = re.sub(" ", lambda _: rng.choice("     \n"), said)
        else:
            said = said[:-1] + rng.choice((" ", "\n", "\n\n"))
        pieces.append(said)
        length += len(said)
    text = "".join(pieces)
    found = [(match.groups(), tuple(match.span(group) for group in (1, 2, 3))) for match in ORDER.finditer(text)]
    return Long(text, found)  # type: ignore[arg-type]  # three groups each


def read_one(prompt: str) -> str:
    """Answer a prompt for one order."""
    number, customer, total = ORDER.findall(prompt)[-1]
    return json.dumps({"number": number, "customer": customer, "total": float(total)})


def read_all(prompt: str) -> str:
    """Answer a prompt for all orders of its text."""
    found = ORDER.findall(prompt[prompt.rindex("Text:\n") :])
    return json.dumps([{"number": number, "customer": name, "total": float(total)} for number, name, total in found])


def model_for_one() -> ScriptedModel:
    """Return the model that reads one order."""
    return ScriptedModel(read_one)


def model_for_all(context_length: int | None = None) -> ScriptedModel:
    """Return the model that reads all orders."""
    return ScriptedModel(read_all, context_length=context_length)
