"""Scenes: what the facts of one document share, and the facts themselves.

A maker is a function from the scene to a fact. What one record must agree on (the currency, the marks in numbers, the
style of dates) is kept in the scene, so that makers stay independent of each other.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import accumulate
from typing import Any

from training.date_styles import DATE_STYLES
from training.splits import Entry, Split
from training.words import POOLS, Pools

Json = Any
Schema = dict[str, Any]

CURRENCIES = {
    "USD": ("$", "dollars"),
    "EUR": ("€", "euros"),
    "GBP": ("£", "pounds"),
    "JPY": ("¥", "yen"),
    "INR": ("₹", "rupees"),
    "CHF": ("CHF", "francs"),
    "SEK": ("SEK", "kronor"),
    "CAD": ("CAD", "Canadian dollars"),
    "PLN": ("PLN", "zloty"),
}
_CURRENCY_CODES = tuple(CURRENCIES)
_CURRENCY_WEIGHTS = tuple(accumulate((30, 26, 15, 3, 4, 8, 5, 5, 4)))
_MONEY_STYLES = {"sign": 46, "before": 14, "after": 15, "word": 9, "bare": 6, "spaced sign": 5, "sign after": 6}
_MARKS = {"english": 58, "plain": 16, "german": 13, "french": 8, "swiss": 5}

OPEN, CLOSE, JOINED = "\x02", "\x03", "\x01"
"""Marks around a value in a document while it is written, and in place of its spaces; nothing changes it inside."""


def kept(text: str) -> str:
    """Return a value with marks around it, so that neither typos nor line breaks nor a change of case touch it."""
    return f"{OPEN}{text.replace(' ', JOINED)}{CLOSE}"


def unmarked(text: str) -> str:
    """Return a document without the marks."""
    return text.replace(OPEN, "").replace(CLOSE, "").replace(JOINED, " ")


@dataclass(frozen=True, slots=True)
class Fact:
    """A value (for the answer), its text (for the document) and its schema.

    `sort` says in which sentences it may stand; `others` are further ways in which a type may ask for it; `items` are
    the texts of a list; `wordings` are predicates that state it without naming it; `rows` are inner records.
    """

    text: str
    value: Json
    schema: Schema
    sort: str
    others: tuple[tuple[Schema, Json, str], ...] = ()
    items: tuple[str, ...] = ()
    wordings: tuple[str, ...] = ()
    rows: tuple[tuple["Fact", ...], ...] = ()

    @property
    def shown(self) -> str:
        """The text with marks around it."""
        return self.text if self.items or self.rows else kept(self.text)


@dataclass(slots=True)
class Scene:
    """What the facts of one document share."""

    rng: random.Random
    split: Split
    pools: Pools
    currency: str
    money_style: str
    marks: str
    date_style: int
    today: date
    difficulty: float = 1.0  # 0 is easy, 1 is hard

    def pick(self, entries: Sequence[Entry]) -> Entry:
        """Return one entry."""
        return entries[int(self.rng.random() * len(entries))]

    def chance(self, probability: float) -> bool:
        """Return true with the probability given."""
        return self.rng.random() < probability

    def seldom(self, probability: float) -> bool:
        """Return true with the probability given, and less often where the scene is easy."""
        return self.rng.random() < probability * self.difficulty

    def weighted(self, table: Mapping[Entry, float]) -> Entry:
        """Return a key of a table, drawn by its weight."""
        return self.rng.choices(tuple(table), tuple(table.values()))[0]


Maker = Callable[[Scene], Fact]
STRING: Schema = {"type": "string"}


def new_scene(rng: random.Random, split: Split, difficulty: float = 1.0) -> Scene:
    """Return a scene with its styles chosen."""
    return Scene(
        rng=rng,
        split=split,
        pools=POOLS[split],
        currency=rng.choices(_CURRENCY_CODES, cum_weights=_CURRENCY_WEIGHTS)[0],
        money_style=rng.choices(tuple(_MONEY_STYLES), tuple(_MONEY_STYLES.values()))[0],
        marks=rng.choices(tuple(_MARKS), tuple(_MARKS.values()))[0],
        date_style=rng.randrange(len(DATE_STYLES[split])),
        today=date(2012, 1, 1) + timedelta(days=rng.randrange(6000)),
        difficulty=difficulty,
    )


def text_fact(text: str, sort: str = "text") -> Fact:
    """Return a fact whose value is its own text."""
    return Fact(text, text, STRING, sort)
