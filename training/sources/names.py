"""Names in sentences, labelled token by token in the columns of CoNLL: `B-person`, `I-person`, `O`."""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from training.generate import Sample
from training.sources.asking import Habits, Slot, fields, some

LIST_SHARE, ONE_SHARE = 0.12, 0.14
"""How many samples ask for one list of names with their kinds, and for the names of one kind alone."""


@dataclass(frozen=True, slots=True)
class Labels:
    """The kinds of names in a source, by the labels that it has for them."""

    source: str
    slots: Mapping[str, Slot]
    about: str = ""
    glue: frozenset[str] = frozenset()
    """Tokens that stand without spaces around them; a text of a source that has some is not spaced."""


def kinds(**described: str) -> dict[str, Slot]:
    """Return slots by their labels; each is said as `other names; description`, both of which may be empty."""
    found = {}
    for label, said in described.items():
        names, _, description = said.partition(";")
        found[label] = Slot(label, description.strip(), other_names=tuple(names.split()), is_list=True)
    return found


def sentences(path: Path, *, column: int = -1, word: int = 0) -> Iterator[tuple[list[str], list[str]]]:
    """Yield the tokens and labels of each sentence of a file; where words are not first, `#` begins a comment."""
    tokens: list[str] = []
    labels: list[str] = []
    for line in [*path.read_text(encoding="utf-8", errors="replace").splitlines(), ""]:
        if word and line.startswith("#"):
            continue
        parts = line.split()
        if len(parts) < 2 or parts[0] == "-DOCSTART-":
            if tokens:
                yield tokens, labels
            tokens, labels = [], []
        else:
            tokens.append(parts[word])
            labels.append(parts[column])
    if tokens:
        yield tokens, labels


def mentions(labels: Sequence[str]) -> list[tuple[str, int, int]]:
    """Return the label, first token and last one of each name; `I-` after another label begins one, too."""
    found: list[tuple[str, int, int]] = []
    for place, label in enumerate(labels):
        mark, _, kind = label.partition("-")
        if mark == "I" and found and found[-1][0] == kind and found[-1][2] == place - 1:
            found[-1] = (kind, found[-1][1], place)
        elif kind:
            found.append((kind, place, place))
    return found


_NO_SPACE_BEFORE = frozenset({",", ".", ";", ":", "!", "?", ")", "]", "'s", "'", "n't", "%", "''", "'re", "'ve"})
_NO_SPACE_AFTER = frozenset({"(", "[", "$", "``", "#", "@"})


def joined(tokens: Sequence[str], *, is_spaced: bool, glue: frozenset[str] = frozenset()) -> str:
    """Return tokens as a text: with a space between any two, or as they were written, about."""
    no_space_before, no_space_after = _NO_SPACE_BEFORE | glue, _NO_SPACE_AFTER | glue
    text = ""
    for before, token in zip(["", *tokens], tokens, strict=False):
        is_decimal = bool(glue) and before == "." and text[-2:-1].isdigit() and token[:1].isdigit()
        is_close = not is_spaced and (token in no_space_before or before in no_space_after or is_decimal)
        text += token if not text or is_close else f" {token}"
    return text


def samples(
    rng: random.Random, path: Path, labels: Labels, *, group: int = 1, column: int = -1, word: int = 0
) -> Iterator[Sample]:
    """Yield a sample for each sentence of a file, or for `group` of them together, at most."""
    waiting = list(sentences(path, column=column, word=word))
    while waiting:
        count = rng.randint(1, group)
        some_of_them, waiting = waiting[:count], waiting[count:]
        is_spaced = not labels.glue and rng.random() < 0.6
        parts = [joined(tokens, is_spaced=is_spaced, glue=labels.glue) for tokens, _ in some_of_them]
        found = [
            (label, joined(tokens[first : last + 1], is_spaced=is_spaced, glue=labels.glue))
            for tokens, marks in some_of_them
            for label, first, last in mentions(marks)
            if label in labels.slots
        ]
        if len(" ".join(parts)) < 15 or (not found and rng.random() < 0.6):
            continue
        yield sample(rng, " ".join(parts), found, labels)


def sample(rng: random.Random, document: str, found: list[tuple[str, str]], labels: Labels) -> Sample:
    """Return a sample that asks for the names in a document, which are given by label and text."""
    values: dict[str, list[str]] = {slot.name: [] for slot in labels.slots.values()}
    for label, name in found:
        of_kind = values[labels.slots[label].name]
        if name not in of_kind:
            of_kind.append(name)
    slots = list(dict.fromkeys(labels.slots.values()))
    roll = rng.random()
    if roll < LIST_SHARE:
        return _listed(rng, document, found, labels)
    if roll < LIST_SHARE + ONE_SHARE:
        stated = [slot for slot in slots if values[slot.name]]
        slots = [rng.choice(stated if stated and rng.random() < 0.8 else slots)]
    schema, answer = fields(rng, some(rng, slots, values, all_share=0.6), values)
    if labels.about and rng.random() < 0.5:
        schema["description"] = labels.about
    return Sample(labels.source, schema, document, answer, None)


def _listed(rng: random.Random, document: str, found: list[tuple[str, str]], labels: Labels) -> Sample:
    """Return a sample that asks for all names in one list, each with its kind."""
    habits = Habits.drawn(rng)
    names = {slot: habits.name(rng, slot) for slot in dict.fromkeys(labels.slots.values())}
    text, kind = rng.choice((("name", "kind"), ("text", "label"), ("mention", "type"), ("entity", "category")))
    item = {
        "type": "object",
        "properties": {text: {"type": "string"}, kind: {"enum": list(dict.fromkeys(names.values()))}},
        "required": [text, kind],
    }
    listed = [{text: name, kind: names[labels.slots[label]]} for label, name in dict.fromkeys(found)]
    several = rng.choice(("entities", "mentions", "names"))
    schema = {"type": "object", "properties": {several: {"type": "array", "items": item}}, "required": [several]}
    return Sample(labels.source, schema, document, {several: listed}, None)
