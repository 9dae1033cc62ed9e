"""Steps of laboratories with their quantities: chaitanya2334/WLP-Dataset, and olivettigroup's materials syntheses.

What is asked for: all quantities in a list, each with its unit, with what it is of and with its kind; the quantities of
some kinds; the materials with their amounts; or, of a single step, what is done with what. Test files are not read.
"""

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from training.generate import Sample
from training.sources.asking import Slot, fields, listed, record
from training.sources.brat import Annotated, Span, annotated

LONGEST = 1_000
"""Characters of a document."""

MOST_ITEMS = 14

EACH = 2
"""How many samples some steps give."""

EMPTY_SHARE = 0.7
"""How many of the samples without an answer are left out."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """A quantity as it is printed; what is not annotated is None."""

    text: str
    start: int
    end: int
    kind: str
    unit: str | None
    of: str | None = None
    is_of_step: bool = False
    """Whether `of` is what is done, such as "incubate", and not a material."""
    property: str | None = None


@dataclass(frozen=True, slots=True)
class Steps:
    """A few sentences with what they state."""

    text: str
    quantities: tuple[Quantity, ...]
    named: Mapping[str, tuple[str, ...]]
    """Texts by what they are: `material`, `action`, `device`, `place`."""


def samples(rng: random.Random, repository: Path) -> Iterator[Sample]:
    """Yield samples of a repository, whichever of the two it is."""
    is_biology = (repository / "train").is_dir()
    unread = _unread(repository)
    paths = sorted(path for folder in _FOLDERS for path in repository.glob(f"{folder}/*.txt"))
    for path in paths:
        if path.stem in unread:
            continue
        source = annotated(path)
        quantities = list(_of_biology(source) if is_biology else _of_chemistry(source))
        for start, end in _windows(rng, source.text, lines_end=is_biology):
            steps = _steps(source, quantities, start, end, _NAMED_IN_BIOLOGY if is_biology else _NAMED_IN_CHEMISTRY)
            if steps:
                for way in rng.sample(_WAYS, EACH):
                    yield from _kept(rng, way(rng, steps))


_FOLDERS = ("train", "dev", "data")


def _unread(repository: Path) -> set[str]:
    """Return the names of the test files of the materials syntheses."""
    lists = repository.glob("ner-test-fnames.txt")
    return {Path(name).stem for path in lists for name in path.read_text(encoding="utf-8").split()}


def _kept(rng: random.Random, sample: Sample | None) -> Iterator[Sample]:
    if sample and (any(sample.answer.values()) or rng.random() >= EMPTY_SHARE):
        yield sample


_BIOLOGY = {
    "Amount": "amount",
    "Concentration": "concentration",
    "Time": "duration",
    "Temperature": "temperature",
    "Speed": "speed",
    "Size": "size",
    "pH": "ph",
}
_NAMED_IN_BIOLOGY = {"Reagent": "material", "Action": "action", "Device": "device", "Location": "place"}
_NAMED_IN_CHEMISTRY = {
    "Material": "material",
    "Nonrecipe-Material": "material",
    "Operation": "action",
    "Synthesis-Apparatus": "device",
}
_LEFT_OUT = re.compile(
    r"\d\s?(?:(?:mins?|minutes?|h|hrs?|hours?|s|secs?|seconds?|days?|weeks?|[mµμunk]?[lLgM]|rpm|mol|mmol|ng|cm|mm)\b"
    r"|%|[°ºo]\s?C\b|degC)"
)
"""What is a quantity although, now and then, nobody annotated it; such sentences are left out."""

_NUMERAL = re.compile(r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|half|an hour)\b", re.IGNORECASE)
_UNIT = re.compile(r"(?:[<>~≥≤±]|about|approximately|ca\.)?\s*\d[\d.,\s–-]*(?P<unit>[^\d\s.,()–-]\S*(?: [^\d\s()]+)?)")


def _of_biology(source: Annotated) -> Iterator[Quantity]:
    """Yield the quantities of a protocol: an amount is of a reagent, a time is of an action."""
    owners = {one.second: one for one in source.relations if one.name in ("Measure", "Setting")}
    for name, span in source.spans.items():
        if span.label in _BIOLOGY and _NUMERAL.search(span.text):
            owner = owners.get(name)
            of = source.spans[owner.first].text if owner else None
            is_of_step = owner is not None and owner.name == "Setting"
            kind = _BIOLOGY[span.label]
            yield Quantity(span.text, span.start, span.end, kind, _unit(span.text), of, is_of_step=is_of_step)


def _unit(text: str) -> str | None:
    """Return the unit of a quantity, if it is plainly what follows a number: "30 min" → "min"."""
    matched = _UNIT.fullmatch(text)
    return matched["unit"].rstrip(".") if matched and "/" not in text.split(maxsplit=1)[0] else None


_CHEMISTRY = {
    "Amount-Unit": "amount",
    "Condition-Unit": "condition",
    "Property-Unit": "property",
    "Apparatus-Unit": "property",
}
_OWNED = {"Amount_Of", "Condition_Of", "Property_Of", "Apparatus_Attr_Of"}


def _of_chemistry(source: Annotated) -> Iterator[Quantity]:
    """Yield the quantities of a synthesis: a number with the unit that follows it."""
    numbers: dict[str, list[Span]] = {}
    for one in source.relations:
        if one.name == "Number_Of":
            numbers.setdefault(one.second, []).append(source.spans[one.first])
    owners = {one.first: one.second for one in source.relations if one.name in _OWNED}
    types = {one.second: one.first for one in source.relations if one.name == "Type_Of"}
    for name, unit in source.spans.items():
        if unit.label not in _CHEMISTRY or name not in numbers:
            continue
        start = min(number.start for number in numbers[name])
        text = source.text[start : unit.end]
        if start >= unit.start or unit.start - max(number.end for number in numbers[name]) > 1 or len(text) > 30:
            continue
        owner = source.spans[owners[name]] if name in owners else None
        kind = _condition(unit.text) if unit.label == "Condition-Unit" else _CHEMISTRY[unit.label]
        yield Quantity(
            text,
            start,
            unit.end,
            kind,
            unit.text,
            owner.text if owner else None,
            is_of_step=owner is not None and owner.label == "Operation",
            property=source.spans[types[name]].text if name in types else None,
        )


def _condition(unit: str) -> str:
    """Return the kind of a condition by its unit: "h" → "duration"."""
    known = unit.replace(" ", "").lower().rstrip(".")
    return next((kind for kind, units in _CONDITIONS.items() if known in units), "condition")


_CONDITIONS = {
    "duration": "h hr hrs hour hours min mins minute minutes s sec seconds day days d week weeks".split(),
    "temperature": "degc °c ºc c k degk degf °f degreescelsius".split(),
    "speed": "rpm degc/min °c/min degcmin-1 °cmin-1 degcmin−1 ml/min mlmin-1 k/min".split(),
    "pressure": "mpa pa kpa gpa bar mbar torr atm psi".split(),
}


def _windows(rng: random.Random, text: str, *, lines_end: bool) -> Iterator[tuple[int, int]]:
    """Yield the borders of one to five sentences, or lines, that follow one another."""
    borders = r"\n+" if lines_end else r"\n+|(?<=[a-z\d)]\.) (?=[A-Z])"
    ends = [matched.end() for matched in re.finditer(borders, text)] + [len(text)]
    ends = ends if lines_end else ends[1:]  # the first lines of a synthesis are its DOI and its title
    place = 0
    while place < len(ends) - 1:
        last = min(place + rng.choice((1, 1, 2, 3, 4, 5)), len(ends) - 1)
        yield ends[place], ends[last]
        place = last


def _steps(
    source: Annotated, quantities: Sequence[Quantity], start: int, end: int, named_by: Mapping[str, str]
) -> Steps | None:
    """Return what is between two borders; None if it is too short or too long, or something crosses them."""
    text = source.text[start:end].strip()
    inside = [one for one in source.spans.values() if one.start < end and start < one.end]
    if not 25 <= len(text) <= LONGEST or any(one.start < start or one.end > end for one in inside):
        return None
    found = sorted((one for one in quantities if start <= one.start < end), key=lambda one: one.start)
    named: dict[str, list[str]] = {kind: [] for kind in named_by.values()}
    for one in sorted(inside, key=lambda one: one.start):
        if one.label in named_by:
            named[named_by[one.label]].append(one.text)
    if len(found) > MOST_ITEMS or any("\n" in one.text for one in inside):
        return None
    is_elsewhere = any(one.of is not None and one.of not in text for one in found)
    left_out = (start + matched.start() for matched in _LEFT_OUT.finditer(source.text[start:end]))
    if is_elsewhere or any(not any(one.start <= place < one.end for one in found) for place in left_out):
        return None
    return Steps(text, tuple(found), {kind: tuple(texts) for kind, texts in named.items()})


_QUANTITY = Slot("quantity", "number with its unit, as printed", other_names=("amount", "value", "measurement", "text"))
_UNIT_SLOT = Slot("unit", "unit alone", other_names=("unit_of_measure", "units"))
_OF = Slot("of", "the material or the step that it belongs to", other_names=("entity", "subject", "what", "applies_to"))
_KIND = Slot("kind", "what is measured", other_names=("type", "dimension"))
_NAME = Slot("property", "name of what is measured, if the text has one", other_names=("attribute", "parameter"))
_ALL = (
    "Every quantity with a unit, in the order of the text.",
    "The measured quantities of a protocol.",
    "Amounts, times, temperatures and the like, as printed.",
)


def _every(rng: random.Random, steps: Steps) -> Sample | None:
    """Ask for all quantities in a list."""
    if not steps.quantities:
        return None
    kinds = {one.kind for one in steps.quantities}
    others = [kind for kind in _PLURALS if kind not in kinds]
    offered = tuple(sorted(kinds | set(rng.sample(others, 2))))
    slots = [_QUANTITY]
    slots += [_UNIT_SLOT] if all(one.unit for one in steps.quantities) and rng.random() < 0.7 else []
    slots += [_OF] if rng.random() < 0.75 else []
    slots += [_NAME] if any(one.property for one in steps.quantities) and rng.random() < 0.7 else []
    if len(slots) < 3 and rng.random() < 0.4 and not kinds & {"condition", "property"}:
        slots.append(Slot("kind", _KIND.description, offered, _KIND.other_names))
    items = [
        {"quantity": one.text, "unit": one.unit, "of": one.of, "property": one.property, "kind": one.kind}
        for one in steps.quantities
    ]
    several = ("quantities", "measurements", "values", "amounts", "items")
    chosen = [{slot.name: item[slot.name] for slot in slots} for item in items]
    schema, answer = listed(rng, several, slots, chosen, about=rng.choice(_ALL), required=("quantity", "kind"))
    return Sample("protocols", schema, steps.text, answer, None)


_PLURALS = {
    "amount": "amounts",
    "concentration": "concentrations",
    "duration": "durations",
    "temperature": "temperatures",
    "speed": "speeds",
    "size": "sizes",
    "ph": "ph_values",
    "pressure": "pressures",
}
_NAMES = {
    "material": ("materials", "substances and samples that are used"),
    "action": ("actions", "verbs of what is done"),
    "device": ("devices", "machines and tools"),
    "place": ("containers", "where something is put"),
}


def _by_kind(rng: random.Random, steps: Steps) -> Sample | None:
    """Ask for the quantities of some kinds, each kind a list or, if there is one at most, a text."""
    found: dict[str, list[str]] = {}
    for one in steps.quantities:
        found.setdefault(one.kind, []).append(one.text)
    if found.keys() & {"condition", "property"}:
        return None
    known = sorted(found)
    asked = rng.sample(known, min(len(known), rng.randint(1, 3)))
    asked += rng.sample([kind for kind in _PLURALS if kind not in found], rng.randint(0 if asked else 1, 2))
    rng.shuffle(asked)
    are_lists = rng.random() < 0.4
    slots, values = [], dict[str, Any]()
    for kind in asked:
        texts = found.get(kind, [])
        is_list = are_lists or len(texts) > 1
        name = _PLURALS[kind] if is_list else kind
        values[name] = texts if is_list else next(iter(texts), None)
        slots.append(Slot(name, f"{kind} with its unit, as printed", is_list=is_list))
    schema, answer = fields(rng, slots, values)
    return Sample("protocols", schema, steps.text, answer, None)


def _named(rng: random.Random, steps: Steps) -> Sample | None:
    """Ask for what is used and done, in lists."""
    kinds = rng.sample(sorted(steps.named), rng.randint(1, 3))
    slots = [Slot(_NAMES[kind][0], _NAMES[kind][1], is_list=True) for kind in kinds]
    values = {_NAMES[kind][0]: list(dict.fromkeys(steps.named.get(kind, ()))) for kind in kinds}
    schema, answer = fields(rng, slots, values)
    return Sample("protocols", schema, steps.text, answer, None)


def _materials(rng: random.Random, steps: Steps) -> Sample | None:
    """Ask for the materials, each with its amount if it has one."""
    owned: dict[str, list[str]] = {}
    for one in steps.quantities:
        if one.of and not one.is_of_step and one.kind == "amount":
            owned.setdefault(one.of, []).append(one.text)
    names = list(dict.fromkeys(steps.named.get("material", ())))
    if not owned.keys() <= set(names) or any(len(texts) > 1 for texts in owned.values()) or not owned:
        return None
    slots = [
        Slot("material", "name, as printed", other_names=("reagent", "substance", "name", "ingredient")),
        Slot("amount", "with its unit, as printed", other_names=("quantity", "how_much")),
    ]
    items = [{"material": name, "amount": next(iter(owned.get(name, ())), None)} for name in names]
    several = ("materials", "reagents", "ingredients", "substances")
    about = "What is used, in the order of the text."
    schema, answer = listed(rng, several, slots, items, about=about, required=("material",))
    return Sample("protocols", schema, steps.text, answer, None)


def _single(rng: random.Random, steps: Steps) -> Sample | None:
    """Ask for the parts of a step: what is done, and at most one of everything else."""
    if len(steps.named.get("action", ())) != 1:
        return None
    found = {kind: list(texts) for kind, texts in steps.named.items() if kind != "material"}
    for kind in _PLURALS:
        found[kind] = [one.text for one in steps.quantities if one.kind == kind]
    single = {kind: next(iter(texts), None) for kind, texts in found.items() if len(texts) < 2}
    if sum(value is not None for value in single.values()) < 2:
        return None
    slots = [Slot(kind, _SAID.get(kind, "with its unit, as printed")) for kind in single if kind not in ("size", "ph")]
    return record(rng, "protocols", steps.text, slots, single, title="Step", about="A step in a laboratory.")


_SAID = {"action": "verb of what is done", "device": "machine or tool", "place": "container or place"}

_WAYS = (_every, _every, _every, _by_kind, _materials, _single, _named)
