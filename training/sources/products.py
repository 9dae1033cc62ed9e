"""Laptops and televisions, a sentence each with all it says of them: training files of shawnwun/RNNLG, Apache 2.0."""

import json
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from training.generate import Sample
from training.sources.asking import Slot, listed, record

_NUMBER = {
    "memory": Slot("memory_gb", "memory in gigabytes", other_names=("ram_gb",), kind="integer"),
    "battery": Slot("battery_hours", "how many hours it lasts", other_names=("hours_of_battery",), kind="number"),
    "dimension": Slot("size_inches", "size in inches", other_names=("dimension_in_inches",), kind="number"),
    "weight": Slot("weight_kg", "weight in kilograms", other_names=("kilograms",), kind="number"),
    "price": Slot("price_dollars", "price in dollars", other_names=("dollars", "cost_usd"), kind="number"),
    "powerconsumption": Slot("power_watts", "power in watts", other_names=("watts",), kind="number"),
    "screensize": Slot("screen_inches", "size of the screen in inches", other_names=("inches",), kind="integer"),
    "hdmiport": Slot("hdmi_ports", "number of HDMI ports", other_names=("hdmi",), kind="integer"),
}
_TEXT = {
    "name": Slot("name", "name of the product", other_names=("product", "model")),
    "memory": Slot("memory", other_names=("ram",)),
    "driverange": Slot("drive_range", "size of the hard drive", ("small", "medium", "large"), ("drive_size",)),
    "platform": Slot("platform", "operating system", other_names=("operating_system", "os")),
    "dimension": Slot("dimension", "size", other_names=("size",)),
    "batteryrating": Slot("battery_rating", "", ("standard", "good", "exceptional"), ("battery_quality",)),
    "family": Slot("family", "product family", other_names=("series", "product_family")),
    "drive": Slot("drive", "capacity of the hard drive", other_names=("hard_drive", "storage")),
    "design": Slot("design", other_names=("look", "appearance")),
    "utility": Slot("utility", "what it is for", other_names=("use", "purpose")),
    "pricerange": Slot("price_range", "", ("cheap", "budget", "moderate", "expensive"), ("price_class",)),
    "processor": Slot("processor", other_names=("cpu",)),
    "battery": Slot("battery", "how long the battery lasts", other_names=("battery_life",)),
    "weightrange": Slot("weight_range", "", ("light weight", "mid weight", "heavy"), ("weight_class",)),
    "warranty": Slot("warranty", other_names=("guarantee",)),
    "price": Slot("price", other_names=("cost",)),
    "weight": Slot("weight", other_names=("mass",)),
    "isforbusinesscomputing": Slot(
        "business", "whether it is for business", other_names=("for_business",), kind="boolean"
    ),
    "ecorating": Slot("eco_rating", other_names=("energy_class",)),
    "hasusbport": Slot("has_usb", "whether it has USB ports", other_names=("usb", "usb_ports"), kind="boolean"),
    "screensizerange": Slot("screen_class", "size of the screen", ("small", "medium", "large"), ("screen_size_range",)),
    "powerconsumption": Slot("power_consumption", other_names=("power",)),
    "resolution": Slot("resolution", other_names=("definition",)),
    "color": Slot("color", other_names=("colour", "colours")),
    "screensize": Slot("screen_size", other_names=("screen",)),
    "hdmiport": Slot("hdmi_ports", "number of HDMI ports", other_names=("hdmi",)),
    "accessories": Slot("accessories", "what comes with it", other_names=("included",)),
    "audio": Slot("audio", other_names=("sound",)),
}
_BY_DOMAIN = {
    "laptop": ("name memory driverange platform dimension batteryrating family drive design utility pricerange "
               "processor battery weightrange warranty price weight isforbusinesscomputing").split(),
    "tv": ("name ecorating hasusbport pricerange screensizerange price powerconsumption resolution color hdmiport "
           "family screensize accessories audio").split(),
}  # fmt: skip
_NO = re.compile(r"\b(?:no|not|non|without|lack\w*|isn't|doesn't|don't|home|personal|general|nor)\b|n't|non-")
_CUES = {"isforbusinesscomputing": "business", "hasusbport": "usb"}


def samples(rng: random.Random, repository: Path) -> Iterator[Sample]:
    """Yield a sample for each sentence about one product, and for some of them and others together."""
    for domain, labels in _BY_DOMAIN.items():
        lines = (repository / f"data/original/{domain}/train.json").read_text(encoding="utf-8").splitlines()
        read = json.loads("\n".join(line for line in lines if not line.startswith("#")))
        known = [one for said, *texts in read for one in _clear(domain, said, texts[0])]
        about = f"A {'television' if domain == 'tv' else domain} that is for sale."
        for text, values in known:
            others = rng.sample(known, min(len(known), rng.randint(1, 3))) if rng.random() < 0.3 else []
            if others and len({one["name"] for _, one in others} | {values["name"]}) == len(others) + 1:
                yield _several(rng, [(text, values), *others], labels)
            else:
                yield _one(rng, text, values, labels, about)


def _clear(domain: str, said: str, text: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield a text with its values if it is of one product, and states all of them."""
    act, _, rest = said.partition("(")
    pairs = [pair.partition("=")[::2] for pair in rest.rstrip(")").split(";")]
    values = {name: value.strip("'\"") for name, value in pairs if name != "type"}
    if act not in ("inform", "recommend", "inform_only_match") or "name" not in values or len(values) < 2:
        return
    text = tidy(text)
    is_known = len(values) == len(pairs) - any(name == "type" for name, _ in pairs) and values.keys() <= {
        *_BY_DOMAIN[domain]
    }
    if is_known and all(is_stated(name, value, text) for name, value in values.items()):
        yield text, {name: tidy(value) for name, value in values.items()}


def tidy(text: str) -> str:
    """Return a text without the spaces of its tokens: `port -s , too` → `ports, too`."""
    text = re.sub(r"\binch -s\b", "inches", text)
    text = re.sub(r" -(s|ly|er)\b", r"\1", " ".join(text.split()))
    return re.sub(r" ([,.?!])", r"\1", re.sub(r"\b(\d+)(?=(?:gb|tb|kg)\b)", r"\1 ", text))


def is_stated(name: str, value: str, text: str) -> bool:
    """Tell whether a text says that a product has a value."""
    if name in _CUES:
        cue, found = _CUES[name], text.find(_CUES[name])
        near = text[max(0, found - 45) : found + 25]
        return cue in text and (value == "false") == bool(_NO.search(near)) and value in ("true", "false")
    return value not in ("dontcare", "none", "") and bool(
        re.search(rf"(?<![\w.]){re.escape(tidy(value))}(?:e?s)?(?![\w+])", text)
    )


def _slots(rng: random.Random, labels: Sequence[str], values: Sequence[Mapping[str, str]]) -> dict[str, Slot]:
    """Return slots for all that is stated, and for some that is not; quantities are texts or numbers."""
    stated = {name for one in values for name in one}
    absent = [name for name in labels if name not in stated]
    chosen = [*stated, *rng.sample(absent, rng.randint(0, min(4, len(absent))))]
    is_number = rng.random() < 0.6
    slots = {name: _NUMBER[name] if is_number and name in _NUMBER else _TEXT[name] for name in labels if name in chosen}
    return {
        name: replace(slot, values=()) if slot.values and rng.random() < 0.4 else slot for name, slot in slots.items()
    }


def _value(slot: Slot, value: str) -> Any:
    match slot.kind:
        case "boolean":
            return value == "true"
        case "integer":
            return int(float(value.split(maxsplit=1)[0]))
        case "number":
            written = value.split(maxsplit=1)[0]
            return float(written) if "." in written else int(written)
    return value


def _one(rng: random.Random, text: str, values: Mapping[str, str], labels: Sequence[str], about: str) -> Sample:
    slots = _slots(rng, labels, [values])
    found = {slot.name: _value(slot, values[name]) for name, slot in slots.items() if name in values}
    return record(rng, "products", text, list(slots.values()), found, title="Product", about=about)


def _several(rng: random.Random, of_each: Sequence[tuple[str, Mapping[str, str]]], labels: Sequence[str]) -> Sample:
    """Return a sample of several texts, one after the other, with the list of what they are about."""
    slots = _slots(rng, labels, [values for _, values in of_each])
    items = [
        {slot.name: _value(slot, values[name]) if name in values else None for name, slot in slots.items()}
        for _, values in of_each
    ]
    about = "The products in the order of the text."
    several = ("products", "items", "offers", "models")
    schema, answer = listed(rng, several, list(slots.values()), items, about=about, required=("name",))
    return Sample("products", schema, rng.choice((" ", "\n")).join(text for text, _ in of_each), answer, None)
