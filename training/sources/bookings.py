"""What guests and customers say, with spans and intents: PolyAI-LDN/task-specific-datasets.

Three of its parts are read: `restaurant8k` and `dstc8` (training files; an utterance, and what was asked for before
it), and `nlupp` (utterances to a bank and to a hotel, with several intents each).
"""

import json
import random
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from training.generate import Sample
from training.sources.asking import Habits, Slot, fields, record, some

EMPTY_SHARE = 0.85
"""How many of the utterances that state nothing are left out."""

LONG_ENOUGH = 40
"""Characters of an utterance that may stand without what was asked for before it; "7" may not."""

OTHER_INTENTS = 8
"""The most intents that a sample offers beside those of the utterance."""


def samples(rng: random.Random, repository: Path) -> Iterator[Sample]:
    """Yield the samples of all three parts."""
    yield from spans(rng, repository)
    yield from intents(rng, repository)


class _Service(NamedTuple):
    title: str
    about: str
    slots: tuple[Slot, ...]


def _service(title: str, about: str, **described: str) -> _Service:
    """Return a service with its slots, each said as `other names; description`."""
    slots = []
    for name, said in described.items():
        names, _, description = said.partition(";")
        slots.append(Slot(name, description.strip(), other_names=tuple(names.split())))
    return _Service(title, about, tuple(slots))


_SERVICES = {
    "restaurant8k": _service(
        "Reservation",
        "What a guest says to book a table.",
        date="day; the day of the reservation, as said",
        time="hour; the time of the reservation, as said",
        people="party_size guests; how many people will come, as said",
        first_name="given_name; first name of the guest",
        last_name="surname family_name; last name of the guest",
    ),
    "dstc8/Buses_1": _service(
        "BusTrip",
        "What a customer says to book a bus.",
        from_location="origin departure; where the bus leaves",
        to_location="destination; where the bus goes",
        leaving_date="departure_date date; the day of the journey",
    ),
    "dstc8/Events_1": _service(
        "EventSearch",
        "What a customer says to find an event.",
        city_of_event="city; where the event takes place",
        date="day; when the event takes place",
        event_name="event; name of the event",
        subcategory="kind genre; the kind of sport or music",
    ),
    "dstc8/Homes_1": _service(
        "HomeSearch",
        "What a customer says to find a home.",
        area="city location; where the home is",
        visit_date="viewing_date date; the day to visit it",
    ),
    "dstc8/RentalCars_1": _service(
        "CarRental",
        "What a customer says to rent a car.",
        pickup_date="start_date; the day when the car is picked up",
        pickup_time="time; the time of day when the car is picked up",
        pickup_city="city pickup_location; where the car is picked up",
        dropoff_date="return_date end_date; the day when the car is brought back",
    ),
}


def spans(rng: random.Random, repository: Path) -> Iterator[Sample]:
    """Yield a sample for each utterance of the largest training files, of which the others are parts."""
    for folder, service in _SERVICES.items():
        for path in repository.glob(f"span_extraction/{folder}/train_0.json"):
            for row in json.loads(path.read_text(encoding="utf-8")):
                if row.get("labels") or rng.random() >= EMPTY_SHARE:
                    yield _booking(rng, folder.partition("/")[0], service, row)


def _booking(rng: random.Random, source: str, service: _Service, row: Mapping[str, Any]) -> Sample:
    document = row["userInput"]["text"]
    labels = {label["slot"]: label["valueSpan"] for label in row.get("labels", ())}
    values = {slot: document[span.get("startIndex", 0) : span["endIndex"]].strip() for slot, span in labels.items()}
    sample = record(rng, source, document.strip(), service.slots, values, title=service.title, about=service.about)
    asked = row.get("context", {}).get("requestedSlots", [])
    if asked and (len(document) < LONG_ENOUGH or rng.random() < 0.5):
        words = " and ".join(slot.replace("_", " ") for slot in asked)
        said = (f"The {words} had been asked for.", f"This is the answer to the question about the {words}.")
        return replace(sample, instructions=rng.choice(said))
    return sample


_DOMAINS = {"banking": ("BankRequest", "a customer of a bank"), "hotels": ("HotelRequest", "a guest of a hotel")}


def intents(rng: random.Random, repository: Path) -> Iterator[Sample]:
    """Yield two samples for each utterance to a bank or hotel, with its intents, its slots or both."""
    ontology_path = repository / "nlupp/data/ontology.json"
    if not ontology_path.is_file():
        return
    ontology = json.loads(ontology_path.read_text(encoding="utf-8"))
    for domain in _DOMAINS:
        known = {kind: _of_domain(ontology[kind], domain) for kind in ("intents", "slots")}
        for path in sorted(repository.glob(f"nlupp/data/{domain}/fold*.json")):
            for row in json.loads(path.read_text(encoding="utf-8")):
                for _ in range(2):
                    yield _request(rng, domain, known, row)


def _of_domain(described: Mapping[str, Any], domain: str) -> dict[str, str]:
    """Return the descriptions of the intents or slots that a domain has."""
    return {name: one["description"] for name, one in described.items() if {"general", domain} & {*one["domain"]}}


def _request(rng: random.Random, domain: str, known: Mapping[str, Mapping[str, str]], row: Mapping[str, Any]) -> Sample:
    title, who = _DOMAINS[domain]
    stated = row.get("slots", {})
    values: dict[str, Any] = {name: stated[name]["text"] for name in stated}
    slots = [Slot(name, question) for name, question in known["slots"].items()]
    slots = some(rng, slots, values, all_share=0.25)
    if rng.random() < (0.5 if stated else 0.95):
        slot = _intents(rng, known["intents"], row.get("intents", []))
        values[slot.name] = [name for name in slot.values if name in row.get("intents", [])]
        slots = [slot, *(slots if stated and rng.random() < 0.7 else ())]
    schema, answer = fields(rng, slots, values, habits=replace(Habits.drawn(rng), is_renamed=True))
    if rng.random() < 0.5:
        schema |= {"title": title, "description": f"What {who} says."}
    return Sample(f"nlupp {domain}", schema, row["text"], answer, None)


def _intents(rng: random.Random, known: Mapping[str, str], stated: list[str]) -> Slot:
    """Return a list of intents, among which are those of the utterance, described now and then."""
    others = [name for name in known if name not in stated]
    offered = [name for name in stated if name in known] + rng.sample(
        others, min(len(others), rng.randint(2, OTHER_INTENTS))
    )
    rng.shuffle(offered)
    description = "All that the utterance is about."
    if rng.random() < 0.5:
        meanings = (f"{name}: {known[name].removeprefix('is the intent ').rstrip('?')}" for name in offered)
        description += " " + "; ".join(meanings)
    names = ("intents", "topics", "labels", "requests")
    return Slot("intents", description, tuple(offered), other_names=names, is_list=True)
