"""Samples from texts with answers: which of the known fields are asked for, by which names, and in which shape."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from training.generate import Sample

MAX_CHARACTERS = 1_800
"""Of a document; a longer one would take a whole batch."""

_NULL = {"type": "null"}


@dataclass(frozen=True, slots=True)
class Slot:
    """What may be asked of a document: a value, or a list of them."""

    name: str
    description: str = ""
    values: tuple[str, ...] = ()
    """What the value must be one of, if it must."""
    other_names: tuple[str, ...] = ()
    is_list: bool = False
    kind: str = "string"
    """The type of a value in JSON, or `date`."""

    def schema(self) -> dict[str, Any]:
        """Return the schema of one value."""
        if self.values:
            return {"enum": list(self.values)}
        return {"type": "string", "format": "date"} if self.kind == "date" else {"type": self.kind}


@dataclass(frozen=True, slots=True)
class Habits:
    """How fields are named and described in one sample, so that a type looks as if one person had written it."""

    style: str
    is_described: bool
    is_renamed: bool

    @classmethod
    def drawn(cls, rng: random.Random) -> "Habits":
        """Return habits, drawn at random."""
        style = rng.choices(("as it is", "snake", "camel", "title", "upper"), (60, 15, 12, 8, 5))[0]
        return cls(style, rng.random() < 0.55, rng.random() < 0.5)

    def name(self, rng: random.Random, slot: Slot) -> str:
        """Return the name of a field."""
        name = rng.choice(slot.other_names) if self.is_renamed and slot.other_names else slot.name
        words = name.replace("-", " ").replace("_", " ").split()
        match self.style:
            case "snake":
                return "_".join(word.lower() for word in words)
            case "camel":
                return words[0].lower() + "".join(word.capitalize() for word in words[1:])
            case "title":
                return " ".join(word.capitalize() for word in words)
            case "upper":
                return "_".join(word.upper() for word in words)
        return name


def fields(
    rng: random.Random,
    slots: Sequence[Slot],
    values: Mapping[str, Any],
    *,
    required: float = 0.1,
    habits: Habits | None = None,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the schema of an object with some fields, and the object.

    A value that is not there is null, and may be null; of those that are there, a share of `required` may not. The
    habits are drawn unless they are given.
    """
    habits = habits or Habits.drawn(rng)
    properties: dict[str, Any] = {}
    answer: dict[str, Any] = {}
    for slot in slots:
        name = habits.name(rng, slot)
        if name in properties:
            continue
        value = values.get(slot.name)
        kind = slot.schema()
        if slot.is_list:
            kind = {"type": "array", "items": kind}
            value = list(value or [])
        elif value is None or rng.random() >= required:
            kind = {"anyOf": [kind, _NULL]}
        if habits.is_described and slot.description:
            kind["description"] = slot.description
        properties[name], answer[name] = kind, value
    return {"type": "object", "properties": properties, "required": list(properties)}, answer


def listed(
    rng: random.Random,
    several: Sequence[str],
    slots: Sequence[Slot],
    items: Sequence[Mapping[str, Any]],
    *,
    about: str,
    required: Sequence[str],
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the schema of a list of objects, which `about` describes, and the list; `several` are names for it.

    What is not `required` may be null in any item.
    """
    habits = Habits.drawn(rng)
    names = {slot.name: habits.name(rng, slot) for slot in slots}
    properties: dict[str, Any] = {}
    for slot in slots:
        kind = slot.schema()
        kind = kind if slot.name in required else {"anyOf": [kind, _NULL]}
        properties[names[slot.name]] = kind | ({"description": slot.description} if habits.is_described else {})
    item = {"type": "object", "properties": properties, "required": list(properties)}
    array = {"type": "array", "items": item, "description": about}
    found = [{names[slot]: value for slot, value in one.items()} for one in items]
    name = rng.choice(several)
    return {"type": "object", "properties": {name: array}, "required": [name]}, {name: found}


def some(rng: random.Random, slots: Sequence[Slot], stated: Mapping[str, Any], *, all_share: float = 0.5) -> list[Slot]:
    """Return the slots that a sample asks for: often all; else some, those more often that the text states."""
    if rng.random() < all_share:
        return list(slots)
    chosen = [slot for slot in slots if rng.random() < (0.7 if stated.get(slot.name) else 0.35)]
    chosen = chosen or [rng.choice(slots)]
    if rng.random() < 0.5:
        rng.shuffle(chosen)
    return chosen


def record(
    rng: random.Random,
    source: str,
    document: str,
    slots: Sequence[Slot],
    values: Mapping[str, Any],
    *,
    title: str = "",
    about: str = "",
) -> Sample:
    """Return a sample that asks for a record; `about` says what it is, now and then."""
    schema, answer = fields(rng, some(rng, slots, values), values)
    if about and rng.random() < 0.6:
        schema["description"] = about
    if title and rng.random() < 0.7:
        schema["title"] = title
    return Sample(source, schema, document, answer, None)
