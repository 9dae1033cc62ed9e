"""Samples of measurements in scientific papers: the corpus of lfoppiano/grobid-quantities, read by `tei`.

What is asked for: all measurements in a list, each as a text or as an object of several shapes; the units alone; or the
measurements of some kinds, by kind. The evaluation files are not read, nor those that a machine annotated.
"""

import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from training.generate import Sample
from training.sources.asking import Habits, Slot, fields, listed
from training.sources.tei import Measurement, Paragraph, paragraphs

SHORTEST, LONGEST = 60, 1_500
"""Characters of a paragraph."""

MOST_ITEMS = 15
"""Measurements of a paragraph; more are a table in disguise."""

EACH = 5
"""How many samples a paragraph gives, for there are few."""

EMPTY_SHARE = 0.6
"""How many of the samples without measurements are left out."""

_FOREIGN = re.compile(r"\b(?:der|und|eine[rs]?|les|dans|une)\b")
"""Words of German and French, in which patents are too, without annotations."""


def samples(rng: random.Random, repository: Path) -> Iterator[Sample]:
    """Yield some samples for each paragraph of fitting length."""
    folder = repository / "resources/dataset"
    for path in sorted(folder.glob("quantities/corpus/*.xml")):
        yield from _asked(rng, path, (_texts, _units, _by_kind, _by_kind, _numbers, _numbers, _ranges, _whole, _whole))
    for path in sorted(folder.glob("quantifiedObject/corpus/staging/*.xml")):
        yield from _asked(rng, path, (_subjects,))


Ask = Callable[[random.Random, Paragraph], "tuple[dict[str, Any], dict[str, Any]] | None"]
"""What asks for the measurements of a paragraph: its schema with the answer; None if it does not fit the paragraph."""


def _asked(rng: random.Random, path: Path, ways: Sequence[Ask]) -> Iterator[Sample]:
    for paragraph in paragraphs(path):
        is_fit = SHORTEST <= len(paragraph.text) <= LONGEST and len(paragraph.measurements) <= MOST_ITEMS
        if not is_fit or _FOREIGN.search(paragraph.text):
            continue
        for way in rng.sample(ways, len(ways))[: EACH if paragraph.measurements else 2]:
            asked = way(rng, paragraph)
            if asked and (any(asked[1].values()) or rng.random() >= EMPTY_SHARE):
                schema, answer = asked
                if rng.random() < 0.3:
                    schema["description"] = rng.choice(("What a paper states.", "Measurements in a scientific text."))
                yield Sample("quantities", schema, paragraph.text, answer, None)


COUNTS_SHARE = 0.3
"""How many samples ask for counts and other numbers without a unit too, which papers are full of."""

_ALL = (
    "All measurements and counts in the text, in their order.",
    "Every quantity that the text states, with its unit if it has one; no dates.",
    "Numbers with their units, and counts, as printed.",
)

_WITH_UNITS = (
    "All measurements that have a unit, in their order.",
    "Every quantity with a unit, such as a length or a percentage; no counts and no dates.",
    "Numbers with their units, as printed; numbers without a unit are left out.",
)


def _scope(rng: random.Random, paragraph: Paragraph) -> tuple[list[Measurement], str]:
    """Return the measurements to ask for, with what they are: all, or those with a unit."""
    if rng.random() < COUNTS_SHARE:
        return list(paragraph.measurements), rng.choice(_ALL)
    return [one for one in paragraph.measurements if one.unit], rng.choice(_WITH_UNITS)


_SEVERAL = ("quantities", "measurements", "values", "amounts")


def _texts(rng: random.Random, paragraph: Paragraph) -> tuple[dict[str, Any], Any]:
    """Ask for a list of texts."""
    measurements, about = _scope(rng, paragraph)
    name = rng.choice(_SEVERAL)
    slot = Slot(name, about, is_list=True)
    habits = replace(Habits.drawn(rng), is_described=True)
    return fields(rng, [slot], {name: [one.text for one in measurements]}, habits=habits)


def _units(rng: random.Random, paragraph: Paragraph) -> tuple[dict[str, Any], Any]:
    """Ask for each unit once."""
    units = list(dict.fromkeys(one.unit for one in paragraph.measurements if one.unit))
    slot = Slot("units", "each unit of measurement once, as printed", other_names=("units_of_measure",), is_list=True)
    return fields(rng, [slot], {"units": units})


def _by_kind(rng: random.Random, paragraph: Paragraph) -> tuple[dict[str, Any], Any]:
    """Ask for some kinds: each is one text or a list, but a list if there are several."""
    found: dict[str, list[str]] = {}
    for one in paragraph.measurements:
        if one.kind:
            found.setdefault(one.kind, []).append(one.text)
    stated = rng.sample(sorted(found), min(len(found), rng.randint(1, 4)))
    others = [kind for kind in _KINDS if kind not in found]
    asked = stated + rng.sample(others, rng.randint(0 if stated else 1, 3))
    rng.shuffle(asked)
    are_lists = rng.random() < 0.4
    slots, values = [], dict[str, Any]()
    for kind in asked:
        texts = found.get(kind, [])
        is_list = are_lists or len(texts) > 1
        noun, plural = _KINDS.get(kind, (kind, f"{kind}s"))
        name = (plural if is_list else noun).replace(" ", "_")
        values[name] = texts if is_list else next(iter(texts), None)
        slots.append(Slot(name, f"{noun}, with its unit, as printed", is_list=is_list))
    return fields(rng, slots, values)


_KINDS = {
    "fraction": ("percentage", "percentages"),
    "time": ("duration", "durations"),
    "length": ("length", "lengths"),
    "temperature": ("temperature", "temperatures"),
    "frequency": ("frequency", "frequencies"),
    "pressure": ("pressure", "pressures"),
    "concentration": ("concentration", "concentrations"),
    "velocity": ("speed", "speeds"),
    "volume": ("volume", "volumes"),
    "angle": ("angle", "angles"),
    "mass": ("mass", "masses"),
    "density": ("density", "densities"),
    "power": ("power", "powers"),
    "energy": ("energy", "energies"),
    "acidity": ("ph", "ph_values"),
}
"""Kinds of measurements, as singular and plural."""


def _listed(
    rng: random.Random, slots: Sequence[Slot], items: Sequence[dict[str, Any]], about: str
) -> tuple[dict[str, Any], Any]:
    """Return the schema of a list of measurements with the answer; their numbers are never null."""
    return listed(rng, (*_SEVERAL, "items"), slots, items, about=about, required=("number", "quantity"))


_UNIT = Slot("unit", "unit of measurement, as printed", other_names=("unit_of_measure", "units"))
_NUMBER = Slot("number", "the number or range, without the unit", other_names=("value", "amount", "magnitude"))
_QUANTITY = Slot("quantity", "number and unit, as printed", other_names=("measurement", "text", "amount", "value"))


def _numbers(rng: random.Random, paragraph: Paragraph) -> tuple[dict[str, Any], Any] | None:
    """Ask for numbers with their units apart, where they are."""
    measurements, about = _scope(rng, paragraph)
    if any(one.number is None for one in measurements):
        return None
    items = [{"number": one.number, "unit": one.unit} for one in measurements]
    return _listed(rng, (_NUMBER, _UNIT), items, about)


def _whole(rng: random.Random, paragraph: Paragraph) -> tuple[dict[str, Any], Any]:
    """Ask for each measurement as it is printed, with its unit again, and now and then with its kind."""
    measurements, about = _scope(rng, paragraph)
    items = [{"quantity": one.text, "unit": one.unit, "kind": _noun(one)} for one in measurements]
    slots = [_QUANTITY, _UNIT]
    if rng.random() < 0.4:
        kinds = {noun for noun, _ in rng.sample(list(_KINDS.values()), 5)} | {
            noun for one in measurements if (noun := _noun(one))
        }
        slots.append(Slot("kind", "what kind of measurement it is", tuple(sorted(kinds)), ("type", "dimension")))
    return _listed(rng, slots, [{slot.name: item[slot.name] for slot in slots} for item in items], about)


def _noun(measurement: Measurement) -> str | None:
    """Return the word for the kind of a measurement."""
    kind = measurement.kind
    return _KINDS[kind][0] if kind in _KINDS else kind


def _ranges(rng: random.Random, paragraph: Paragraph) -> tuple[dict[str, Any], Any] | None:
    """Ask for the ends of ranges, in a paragraph that has some."""
    measurements, about = _scope(rng, paragraph)
    if not any(one.least or one.most for one in measurements):
        return None
    slots = (
        _QUANTITY,
        Slot("minimum", "lower end of a range", other_names=("min", "at_least", "from")),
        Slot("maximum", "upper end of a range", other_names=("max", "at_most", "to")),
        _UNIT,
    )
    items = [
        {"quantity": one.text, "minimum": one.least, "maximum": one.most, "unit": one.unit} for one in measurements
    ]
    return _listed(rng, slots, items, about)


def _subjects(rng: random.Random, paragraph: Paragraph) -> tuple[dict[str, Any], Any]:
    """Ask for each measurement with the name of what is measured."""
    subject = Slot("what", "what is measured or counted", other_names=("measured", "object", "subject", "property"))
    items = [{"what": one.subject, "quantity": one.text} for one in paragraph.measurements]
    slots = rng.sample([subject, _QUANTITY], 2)
    return _listed(rng, slots, [{slot.name: one[slot.name] for slot in slots} for one in items], rng.choice(_ALL))
