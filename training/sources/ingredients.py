"""Lines of recipes in their parts: quantity, unit, name and remarks, the training data of strangetom/ingredient-parser.

Its tables have words in the singular and fractions as `#1$2`. What they say is looked up in the line; a line where it
is not found, or found twice, is left out. A document is one line, or the list of a recipe.
"""

import csv
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from training.generate import Sample
from training.sources.asking import Slot, listed, record

LISTED_SHARE = 0.4
"""How many documents are lists."""

SHORT_SHARE = 0.35
"""How many of the lines are kept that have a quantity, a unit and a name alone."""

_COLUMNS = ("name", "quantity", "unit", "size", "preparation", "comment", "purpose")
_FRACTIONS = {
    "½": "1/2",
    "⅓": "1/3",
    "⅔": "2/3",
    "¼": "1/4",
    "¾": "3/4",
    "⅛": "1/8",
    "⅜": "3/8",
    "⅝": "5/8",
    "⅞": "7/8",
}


def samples(rng: random.Random, repository: Path) -> Iterator[Sample]:
    """Yield samples of all tables."""
    lines = []
    for path in sorted(repository.glob("train/data/*/*.csv")):
        with path.open(encoding="utf-8", newline="") as table:
            for row in csv.DictReader(table):
                line = " ".join(row["input"].split())
                parts = found(line, row) if row["name"] else None
                if parts and (parts.keys() - {"name", "quantity", "unit"} or rng.random() < SHORT_SHARE):
                    lines.append((line, parts))
    rng.shuffle(lines)
    while lines:
        count = rng.randint(2, 8) if rng.random() < LISTED_SHARE else 1
        some_of_them, lines = lines[:count], lines[count:]
        yield _list(rng, some_of_them) if len(some_of_them) > 1 else _line(rng, *some_of_them[0])


def found(line: str, row: Mapping[str, str]) -> dict[str, str] | None:
    """Return the parts of a line as it has them, or None.

    >>> found("2 tbsps oil, warmed", {"name": "oil", "quantity": "2", "unit": "tbsp", "preparation": "warmed"})
    {'name': 'oil', 'quantity': '2', 'unit': 'tbsps', 'preparation': 'warmed'}
    """
    parts: dict[str, str] = {}
    taken: list[tuple[int, int]] = []
    for column in _COLUMNS:
        said = row.get(column) or ""
        if not said:
            continue
        places = [place.span() for place in _pattern(column, said).finditer(line)]
        places = [place for place in places if not any(place[0] < end and start < place[1] for start, end in taken)]
        if len(places) != 1 and not (column in ("quantity", "unit") and places):
            return None
        start, end = places[0]
        taken.append((start, end))
        parts[column] = line[start:end]
    if parts.get("comment") in ("of", "and") or re.search(r" \d+(?![\d/])", parts.get("quantity", "")):
        return None
    is_first = "quantity" not in parts or line.startswith(parts["quantity"])
    rest = "".join(
        " " if any(start <= place < end for start, end in taken) else mark for place, mark in enumerate(line)
    )
    return parts if is_first and not re.search(r"\w{3}|\d", _EMPTY.sub("", rest)) else None


_EMPTY = re.compile(r"\b(?:and|for|the|from|about|with|plus|into|such|approx|size|sized)\b")
"""Words that may belong to no part."""


def _pattern(column: str, said: str) -> re.Pattern[str]:
    """Return what finds a part of a line: its words, each of which may be in the plural."""
    if column == "quantity":
        plain = re.sub(r"(\d*)#(\d+)\$(\d+)", _fraction, said.strip())
        return re.compile(rf"(?<![\d/.½¼¾⅓⅔]){plain if plain != said.strip() else re.escape(plain)}(?![\d/.½¼¾⅓⅔])")
    words = [re.escape(word) + "(?:e?s)?" for word in re.findall(r"[^\s,]+", said)]
    return re.compile(
        rf"(?<!\w){'[,]? '.join(words)}(?!\w)" if column != "unit" else rf"(?<![a-zA-Z]){' '.join(words)}\b\.?"
    )


def _fraction(matched: re.Match[str]) -> str:
    whole, over, under = matched.groups()
    sign = next((sign for sign, fraction in _FRACTIONS.items() if fraction == f"{over}/{under}"), "½")
    return (rf"{whole}[ -]?" if whole else "") + f"(?:{sign}|{over}/{under})"


_SLOTS = (
    Slot("name", "what is needed, without quantity and remarks", other_names=("ingredient", "item", "food", "product")),
    Slot("quantity", "number, as printed", other_names=("amount", "number", "qty", "how_many")),
    Slot("unit", "unit of the quantity, as printed", other_names=("measure", "unit_of_measure", "uom")),
    Slot("size", "such as large or small", other_names=("size_word",)),
    Slot("preparation", "what is done to it before", other_names=("prep", "prepared", "state")),
    Slot("comment", "any other remark", other_names=("note", "remark", "notes")),
    Slot("purpose", "what it is for, if that is said", other_names=("used_for", "use")),
)


def _line(rng: random.Random, line: str, parts: Mapping[str, str]) -> Sample:
    document = rng.choice(("{}", "{}", "{}", "{}", "- {}", "You need {}.", "* {}")).format(line)
    about = "A line of the ingredients of a recipe."
    return record(rng, "ingredients", document, _SLOTS, parts, title="Ingredient", about=about)


def _list(rng: random.Random, lines: Sequence[tuple[str, Mapping[str, Any]]]) -> Sample:
    mark = rng.choice(("", "", "- ", "* ", "• "))
    document = rng.choice(("", "", "Ingredients\n", "You need:\n")) + "\n".join(f"{mark}{line}" for line, _ in lines)
    slots = [
        _SLOTS[0],
        *rng.sample(_SLOTS[1:3], rng.randint(1, 2)),
        *rng.sample(_SLOTS[3:], rng.choice((0, 0, 1, 1, 2))),
    ]
    items = [{slot.name: parts.get(slot.name) for slot in slots} for _, parts in lines]
    several = ("ingredients", "items", "shopping_list", "lines")
    about = rng.choice(("The ingredients, in their order.", "One for each line of the recipe."))
    schema, answer = listed(rng, several, slots, items, about=about, required=("name",))
    return Sample("ingredients", schema, document, answer, None)
