"""Effects of drugs in reports of cases, with patient and treatment: the training file of ZhaoyueSun/PHEE, MIT."""

import json
import random
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from training.generate import Sample
from training.sources.asking import Habits, Slot, fields, some

_SUBJECT = (
    Slot("description", "the words for the patient or patients", other_names=("patient", "who")),
    Slot("age", "as it is written", other_names=("patient_age",)),
    Slot("gender", "the word that tells it", other_names=("sex",)),
    Slot("population", "how many patients", other_names=("number_of_patients", "count")),
    Slot("race", "race or origin", other_names=("ethnicity",)),
    Slot("disorder", "what the patient suffers from besides", other_names=("condition", "other_disease")),
)
_TREATMENT = (
    Slot("drug", "drugs that were given", other_names=("drugs", "medication", "substances"), is_list=True),
    Slot("disorder", "what is treated", other_names=("indication", "treated_disease")),
    Slot("dosage", "how much was given", other_names=("dose", "amount")),
    Slot("route", "how it was given", other_names=("route_of_administration",)),
    Slot("freq", "how often it was given", other_names=("frequency",)),
    Slot("duration", "how long it was given", other_names=("length",)),
    Slot("time_elapsed", "how long after it the effect came", other_names=("onset", "time_to_effect")),
)
_KINDS = {"Adverse_event": "adverse", "Potential_therapeutic_event": "therapeutic"}
_PARTS = {"Subject": (_SUBJECT, ("patient", "subject")), "Treatment": (_TREATMENT, ("treatment", "therapy"))}


def samples(rng: random.Random, repository: Path, *, each: int = 2) -> Iterator[Sample]:
    """Yield so many samples for each sentence that reports one effect."""
    for line in (repository / "data/json/train.json").read_text(encoding="utf-8").splitlines():
        read = json.loads(line)
        events = [event for one in read["annotations"] for event in one["events"]]
        if len(events) == 1 and events[0]["event_type"] in _KINDS:
            for _ in range(each):
                sample = _sample(rng, read["context"], events[0])
                if sample is not None:
                    yield sample


def stated(document: str, argument: Mapping[str, Any] | None) -> list[str] | None:
    """Return the pieces of an argument in the order of the text; None where one is broken, or cut out of a word."""
    if argument is None:
        return []
    found: dict[int, str] = {}
    for pieces, starts in zip(argument["text"], argument["start"], strict=True):
        if len(pieces) != 1 or not re.match(rf"(?<!\w){re.escape(pieces[0])}(?!\w)", document[starts[0] :]):
            return None
        if starts[0] and document[starts[0] - 1].isalnum():
            return None
        found[starts[0]] = pieces[0].rstrip(",;:. ")
    return list(dict.fromkeys(found[start] for start in sorted(found)))


def _values(document: str, slots: tuple[Slot, ...], argument: Mapping[str, Any]) -> dict[str, list[str] | str | None]:
    """Return what an argument states of its parts, but for parts that are not clear."""
    values: dict[str, list[str] | str | None] = {}
    for slot in slots:
        inner = argument if slot.name == "description" else argument.get(slot.name.capitalize())
        found = stated(document, inner or None)
        if found is not None and (slot.is_list or len(found) < 2):
            values[slot.name] = found if slot.is_list else next(iter(found), None)
    return values


def _sample(rng: random.Random, document: str, event: Mapping[str, Any]) -> Sample | None:
    """Return a sample that asks for the effect and for the parts around it, each in an object or beside the others."""
    habits = Habits.drawn(rng)
    effect = stated(document, event.get("Effect"))
    properties: dict[str, Any] = {}
    answer: dict[str, Any] = {}
    if rng.random() < 0.35:
        kind = Slot("kind", "whether the effect is harmful or the wanted one", tuple(_KINDS.values()), ("event_type",))
        made = fields(rng, [kind], {"kind": _KINDS[event["event_type"]]}, habits=habits, required=1.0)
        properties, answer = made[0]["properties"], made[1]
    if effect is not None and rng.random() < 0.8:
        slot = Slot("effects", "what the treatment led to", other_names=("reactions", "outcomes"), is_list=True)
        made = fields(rng, [slot], {slot.name: effect}, habits=habits)
        properties, answer = properties | made[0]["properties"], answer | made[1]
    for name, (known, names) in _PARTS.items():
        values = _values(document, known, event.get(name, {}))
        slots = some(rng, [slot for slot in known if slot.name in values], values)
        if name == "Treatment" or event.get(name) or rng.random() < 0.5:
            schema, held = fields(rng, slots, values, habits=habits)
            whole = Slot(rng.choice(names))
            key = habits.name(rng, whole)
            is_missing = not event.get(name)
            properties[key] = {"anyOf": [schema, {"type": "null"}]} if is_missing or rng.random() < 0.5 else schema
            answer[key] = None if is_missing else held
    if len(properties) < 2 and not any(answer.values()):
        return None
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    if rng.random() < 0.5:
        schema["description"] = "An effect of a drug, as a report of a case tells it."
    return Sample("adverse effects", schema, document, answer, None)
