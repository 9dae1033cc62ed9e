"""Orders of coffee in a dialogue, with the drinks: `TM-4-2024` of google-research-datasets/Taskmaster, CC BY 4.0.

What is read are the calls that the waiter makes. An order that was changed later is left out, and so is one whose words
tell more than the calls. The calls say of a drink that it is decaf or iced, and never that it is not: these fields are
true, or not stated.
"""

import json
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from training.generate import Sample
from training.sources.asking import MAX_CHARACTERS, Slot, listed, record

_SLOTS = {
    "drink": Slot("drink", "what was ordered", other_names=("item", "name", "beverage")),
    "quantity": Slot("quantity", "how many", other_names=("count", "number"), kind="integer"),
    "milk": Slot("milk", "kind of milk, as it is written", other_names=("kind_of_milk", "milk_option")),
    "decaf": Slot("decaf", "whether it is without caffeine", other_names=("decaffeinated",), kind="boolean"),
    "iced": Slot("iced", "whether it is with ice", other_names=("cold",), kind="boolean"),
    "shots": Slot("shots", "", ("single", "double", "triple", "quadruple"), ("espresso_shots", "strength")),
}
_HINTS = {
    "milk": r"oat|almond|soy|coconut|non-?fat|skim|whole|2 ?%|2 percent|lactose\S*|cream|half",
    "decaf": r"decaf\w*|caffeine|regular",
    "iced": r"iced?|cold|hot",
    "shots": r"single|double|triple|quad\w*|shots?",
}
_SEVERAL = r"two|three|four|five|six|couple|[2-9]|\w*ccinos|\w*attes|\w*mericanos|coffees|mochas|cortados|drinks|teas"
_LEFT_OUT = {"update_order", "update_order_item", "remove_order_item", "cancel_order"}
_SPEAKERS = (("User", "Assistant"), ("Customer", "Barista"), ("customer", "agent"), ("Guest", "Waiter"))


def samples(rng: random.Random, repository: Path) -> Iterator[Sample]:
    """Yield a sample for each dialogue with an order that is clear, of all turns or of the guest's alone."""
    for path in sorted((repository / "TM-4-2024/data").glob("data_*.json")):
        for dialogue in json.loads(path.read_text(encoding="utf-8")):
            turns = [(turn["speaker"] == "user", " ".join(turn["text"].split())) for turn in dialogue["utterances"]]
            said = " ".join(text for is_user, text in turns if is_user)
            items = ordered(said, dialogue["utterances"])
            names = rng.choice(_SPEAKERS)
            document = "\n".join(f"{names[0] if is_user else names[1]}: {text}" for is_user, text in turns)
            document = said if rng.random() < 0.3 else document
            if items and len(document) <= MAX_CHARACTERS:
                yield _sample(rng, document, items)


def ordered(said: str, turns: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]] | None:
    """Return the drinks that the calls of a dialogue order; None where the guest's words do not say just these."""
    requests = []
    for turn in turns:
        marks = turn["annotations"]
        for call, request in pairwise(marks):
            if call["name"] == "api_call" and call["value"] in _LEFT_OUT:
                return None
            if call["name"] == "api_call" and call["value"] == "add_order_item":
                requests.append(request["value"])
    try:
        items = [_item(said, json.loads(request)) for request in requests]
    except (json.JSONDecodeError, KeyError, TypeError, ValueError):
        return None
    clear = [item for item in items if item is not None]
    stated = {name for item in clear for name in item}
    has_more = any(_found(hint, said) for name, hint in _HINTS.items() if name not in stated)
    is_one = all(item["quantity"] == 1 for item in clear)
    if len(clear) < len(items) or has_more or len({item["drink"] for item in clear}) < len(clear):
        return None
    return None if is_one and _found(_SEVERAL, re.sub(r"2 ?%", "", said)) else clear


def _found(pattern: str, text: str) -> str | None:
    found = re.search(rf"(?i)(?<!\w)(?:{pattern})(?!\w)", text)
    return found[0] if found else None


def _item(said: str, request: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return a drink of an order; None where the guest did not say it so, or where an option is written wrong."""
    letters = re.sub(r"[^a-z]", "", request["menu_item_id"].lower())
    drink = _found(r"[ -]?".join(map(re.escape, letters)), said)
    item: dict[str, Any] = {"drink": drink, "quantity": int(request["quantity"])}
    for one in request.get("attributes") or []:
        option = " ".join(one["option"].lower().split())
        match one["attribute_id"].strip():
            case "milk-options":
                kind = re.escape(option.removesuffix(" milk"))
                item["milk"] = _found(f"{kind} milk|{kind}", said)
            case "caffeine":
                item["decaf"] = _found("decaf\\w*", said) and option == "decaf"
            case "hot-or-iced":
                item["iced"] = _found("iced?|cold", said) and option == "iced"
            case "espresso-shots":
                item["shots"] = _found(re.escape(option), said) and option
            case _:
                return None
    is_counted = item["quantity"] == 1 or _found(_SEVERAL, said)
    is_plain = not request.get("notes") and not request.get("addons")
    return item if all(item.values()) and is_counted and is_plain else None


def _sample(rng: random.Random, document: str, items: Sequence[Mapping[str, Any]]) -> Sample:
    if len(items) == 1 and rng.random() < 0.6:
        return record(rng, "orders", document, list(_SLOTS.values()), items[0], title="Order", about="A drink.")
    stated = {name for item in items for name in item}
    kept = ["drink", *(name for name in _SLOTS if name != "drink" and rng.random() < (0.8 if name in stated else 0.3))]
    several, about = ("items", "drinks", "order"), "The drinks that were ordered."
    rows = [{name: item.get(name) for name in kept} for item in items]
    required = [name for name in ("drink", "quantity") if name in kept]
    schema, answer = listed(rng, several, [_SLOTS[name] for name in kept], rows, about=about, required=required)
    return Sample("orders", schema, document, answer, None)
