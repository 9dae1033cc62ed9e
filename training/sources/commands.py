"""Spoken commands with their slots: the training files of sonos/nlu-benchmark, `2017-06-custom-intent-engines`."""

import json
import random
from collections.abc import Iterator
from pathlib import Path

from training.generate import Sample
from training.sources.asking import Slot, record

FOLDER = "2017-06-custom-intent-engines"
ALL_SHARE = 0.15
"""How many samples ask for the slots of all intents that share a word with one, of which most are absent."""


def samples(rng: random.Random, repository: Path) -> Iterator[Sample]:
    """Yield a sample for each command that a training file has."""
    found = {path.parent.name: _commands(path) for path in sorted(repository.glob(f"{FOLDER}/*/train_*_full.json"))}
    slots = {intent: sorted({name for _, values in commands for name in values}) for intent, commands in found.items()}
    for intent, commands in found.items():
        for document, values in commands:
            asked = slots[intent]
            if rng.random() < ALL_SHARE:
                asked = sorted({*asked, *slots[rng.choice(list(slots))]})
            about = f"A spoken command: {intent}." if rng.random() < 0.5 else "What a person says to a voice assistant."
            fields = [Slot(name, other_names=_RENAMED.get(name, ())) for name in asked]
            yield record(rng, "snips", document, fields, values, title=intent, about=about)


def _commands(path: Path) -> list[tuple[str, dict[str, str]]]:
    """Return the texts of a file, each with its slots; those with a slot twice are left out."""
    (commands,) = json.loads(path.read_text(encoding="utf-8", errors="replace")).values()
    found = []
    for command in commands:
        named = [(part["entity"], part["text"].strip()) for part in command["data"] if "entity" in part]
        if len(dict(named)) == len(named):
            found.append(("".join(part["text"] for part in command["data"]).strip(), dict(named)))
    return found


_RENAMED = {
    "timeRange": ("time_range", "when", "time"),
    "object_type": ("kind", "kind_of_object"),
    "object_name": ("title", "name"),
    "party_size_number": ("party_size", "guests"),
    "served_dish": ("dish",),
    "condition_temperature": ("temperature",),
    "condition_description": ("weather", "condition"),
    "spatial_relation": ("nearness", "relation"),
    "playlist_owner": ("owner",),
    "music_item": ("item", "kind_of_music_item"),
    "rating_value": ("rating", "stars"),
    "best_rating": ("out_of",),
}
