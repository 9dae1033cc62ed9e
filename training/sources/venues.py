"""Restaurants, pubs and coffee shops in a sentence or two: `devset.csv` of tuetschek/e2e-dataset, CC BY-SA 4.0.

People wrote the texts. One is kept only where it states every value in the words of the data, and where no word in it
hints at a part that the data does not have.
"""

import csv
import random
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from training.generate import Sample
from training.sources.asking import Slot, listed, record

_SLOTS = {
    "name": Slot("name", "name of the place", other_names=("venue", "place")),
    "eatType": Slot("type", "kind of place", ("restaurant", "pub", "coffee shop"), ("kind_of_place", "venue_type")),
    "food": Slot("food", "kind of food", other_names=("cuisine", "kind_of_food")),
    "priceRange": Slot("price_range", "as it is written", other_names=("prices", "price")),
    "customer rating": Slot("rating", "customer rating, as it is written", other_names=("customer_rating", "review")),
    "area": Slot("area", "", ("riverside", "city centre"), ("location", "part_of_town")),
    "familyFriendly": Slot(
        "family_friendly", "whether children are welcome", other_names=("for_children",), kind="boolean"
    ),
    "near": Slot("near", "what it is close to", other_names=("close_to", "landmark")),
}
_STARS = Slot("stars", "customer rating out of 5", other_names=("rating_out_of_5",), kind="integer")
_HINTS = {
    "eatType": r"restaurants?|pubs?|coffee|caf[eé]s?|shop|bar|diner",
    "food": r"Italian|French|Chinese|English|British|Indian|Japanese|fast food|sushi|pasta|wine|cheese|spaghetti|fish",
    "priceRange": r"cheap\w*|pric\w+|£|\w*expensive|moderate\w*|cost\w*|budget|affordable|pounds|\d\d|low-cost",
    "customer rating": r"rat\w+|stars?|out of|review\w*|recommend\w*|high\w*|low\w*|average|poor\w*|quality|five",
    "area": r"rivers?|riverside|city|centre|center|town|central",
    "familyFriendly": r"child\w*|kids?|famil\w+|adults?",
    "near": r"near\w*|close|next|beside|opposite|by the|across|around|vicinity",
}
_NO = r"no|not|non|\w*n't|adults?|never|un\w*friendly|without"


def samples(rng: random.Random, repository: Path) -> Iterator[Sample]:
    """Yield a sample for each text that states just what the data says, and for some of them and others together."""
    with (repository / "devset.csv").open(encoding="utf-8", newline="") as opened:
        read = [(row["ref"], dict(re.findall(r"([\w ]+)\[(.*?)\]", row["mr"]))) for row in csv.DictReader(opened)]
    known = [(text, values) for text, said in read if (values := stated(text, _named(said))) is not None]
    for text, values in known:
        others = rng.sample(known, min(len(known), rng.randint(1, 3))) if rng.random() < 0.3 else []
        if others and len({one["name"] for _, one in others} | {values["name"]}) == len(others) + 1:
            yield _several(rng, [(text, values), *others])
        else:
            yield _one(rng, text, values)


def _named(said: Mapping[str, str]) -> dict[str, str]:
    return {name.strip(): value for name, value in said.items()}


def stated(text: str, said: Mapping[str, str]) -> dict[str, str] | None:
    """Return the values as a text writes them; None where it has not all of them, or more."""
    names = "|".join(re.escape(said[name]) for name in ("name", "near") if name in said)
    rest = re.sub(names, "", text) if names else text
    values: dict[str, str] = {}
    for name, slot in _SLOTS.items():
        if name not in said:
            if _found(_HINTS.get(name, "(?!)"), rest):
                return None
        elif name == "familyFriendly":
            if not _found(_HINTS[name], rest) or bool(_found(_NO, rest)) == (said[name] == "yes"):
                return None
            values[name] = said[name]
        else:
            found = _found(re.escape(said[name]), text if name in ("name", "near") else rest)
            if not found:
                return None
            values[name] = said[name] if slot.values else found
    return values


def _found(pattern: str, text: str) -> str | None:
    found = re.search(rf"(?i)(?<![\w£])(?:{pattern})(?!\w)", text)
    return found[0] if found else None


def _asked(rng: random.Random, *of_each: Mapping[str, str]) -> dict[str, Slot]:
    """Return the slots by their labels; a rating of so many out of five may be a number."""
    ratings = [one["customer rating"] for one in of_each if "customer rating" in one]
    is_number = all(" out of 5" in rating for rating in ratings) and bool(ratings) and rng.random() < 0.5
    return _SLOTS | ({"customer rating": _STARS} if is_number else {})


def _value(slot: Slot, value: str) -> Any:
    match slot.kind:
        case "boolean":
            return value == "yes"
        case "integer":
            return int(value.split(maxsplit=1)[0])
    return value


def _one(rng: random.Random, text: str, values: Mapping[str, str]) -> Sample:
    slots = _asked(rng, values)
    found = {slots[name].name: _value(slots[name], value) for name, value in values.items()}
    return record(rng, "venues", text, list(slots.values()), found, title="Venue", about="A place to eat or drink.")


def _several(rng: random.Random, of_each: list[tuple[str, dict[str, str]]]) -> Sample:
    """Return a sample of several texts, one after the other, with the list of what they are about."""
    slots = _asked(rng, *(values for _, values in of_each))
    kept = ["name", *rng.sample([name for name in slots if name != "name"], rng.randint(2, len(slots) - 1))]
    items = [
        {slots[name].name: _value(slots[name], one[name]) if name in one else None for name in kept}
        for _, one in of_each
    ]
    several, about = ("venues", "places", "restaurants"), "The places in the order of the text."
    schema, answer = listed(rng, several, [slots[name] for name in kept], items, about=about, required=("name",))
    return Sample("venues", schema, rng.choice((" ", "\n")).join(text for text, _ in of_each), answer, None)
