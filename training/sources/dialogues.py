"""Dialogues about services with slots described in words: google-research-datasets/dstc8-schema-guided-dialogue.

A document is one turn of the user, or the dialogue up to it. What is asked for are slots of the service, by the names
and descriptions of the schema or of one of its five paraphrases (`sgd_x`).
"""

import json
import random
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from training.generate import Sample
from training.sources.asking import MAX_CHARACTERS, Slot, record

TURN_SHARE = 0.5
"""How many documents are one turn alone."""

EMPTY_SHARE = 0.8
"""How many of the documents that state nothing are left out."""


def samples(rng: random.Random, repository: Path) -> Iterator[Sample]:
    """Yield up to two samples for each dialogue of the training part."""
    schemas = _schemas(repository)
    for path in sorted((repository / "train").glob("dialogues_*.json")):
        for dialogue in json.loads(path.read_text(encoding="utf-8")):
            turns = dialogue["turns"]
            places = [place for place, turn in enumerate(turns) if turn["speaker"] == "USER"]
            for place in rng.sample(places, min(2, len(places))):
                sample = _sample(rng, turns[: place + 1], schemas)
                if sample is not None:
                    yield sample


def _schemas(repository: Path) -> dict[str, list[tuple[dict[str, Any], dict[str, str]]]]:
    """Return the ways to describe each service, each with its names of the slots by the original ones."""
    original = {one["service_name"]: one for one in json.loads((repository / "train/schema.json").read_text())}
    found = {name: [(one, {slot["name"]: slot["name"] for slot in one["slots"]})] for name, one in original.items()}
    for path in sorted(repository.glob("sgd_x/data/*/train/schema.json")):
        for one in json.loads(path.read_text()):
            name = one["service_name"].rstrip("0123456789")
            matching = next((known for known in original if one["service_name"][: len(known)] == known), name)
            if matching in original and len(one["slots"]) == len(original[matching]["slots"]):
                pairs = zip(original[matching]["slots"], one["slots"], strict=True)
                found[matching].append((one, {before["name"]: after["name"] for before, after in pairs}))
    return found


class _Frame(NamedTuple):
    """What a document states of the slots of a service: `free` are those that may be asked for."""

    document: str
    values: Mapping[str, str]
    free: set[str]


def _sample(rng: random.Random, turns: list[Any], schemas: Mapping[str, Any]) -> Sample | None:
    """Return a sample of the last turn, which is the user's, or of all; None where it states nothing that is known."""
    frame = rng.choice(turns[-1]["frames"])
    ways = schemas[frame["service"]]
    service = ways[0][0]
    said = _last_turn(turns[-1], frame, service) if rng.random() < TURN_SHARE else _dialogue(turns, frame, service)
    if len(said.document) > MAX_CHARACTERS or (not said.values and rng.random() < EMPTY_SHARE):
        return None
    described, names = rng.choice(ways)
    values = {names[slot]: value for slot, value in said.values.items() if slot in names}
    slots = [
        Slot(after["name"], after["description"], tuple(after["possible_values"]) if after["is_categorical"] else ())
        for before, after in zip(service["slots"], described["slots"], strict=True)
        if before["name"] in said.free
    ]
    slots = [slot for slot in slots if not slot.values or values.get(slot.name, slot.values[0]) in slot.values]
    if not slots:
        return None
    title, about = frame["service"].split("_")[0], described["description"]
    return record(rng, "sgd", said.document, slots, values, title=title, about=about)


def _last_turn(turn: Any, frame: Any, service: Any) -> _Frame:
    """Return what a turn alone says, of slots that may have any value."""
    document = turn["utterance"]
    spans = [one for one in frame["slots"] if "start" in one]
    values = {one["slot"]: document[one["start"] : one["exclusive_end"]] for one in spans}
    return _Frame(document, values, {slot["name"] for slot in service["slots"] if not slot["is_categorical"]})


def _dialogue(turns: list[Any], frame: Any, service: Any) -> _Frame:
    """Return what a dialogue says: of free slots the values that stand in it, and no slot of which none does."""
    document = "\n".join(f"{turn['speaker'].capitalize()}: {turn['utterance']}" for turn in turns)
    listed = {slot["name"]: slot["possible_values"] for slot in service["slots"] if slot["is_categorical"]}
    stated, text = frame["state"]["slot_values"], document.lower()
    values: dict[str, str] = {}
    for slot, found in stated.items():
        written = [one for one in found if one in listed.get(slot, ()) or one.lower() in text]
        values |= {slot: written[0]} if written else {}
    return _Frame(document, values, {slot["name"] for slot in service["slots"]} - (stated.keys() - values.keys()))
