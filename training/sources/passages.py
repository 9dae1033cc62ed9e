"""Passages of Wikipedia with their names, and what they say of one: `dev_revised.json` of tonytan48/Re-DocRED, MIT.

Its names and relations are those of DocRED, looked through again. Asked for are all names of a kind, but for counts, of
which only some are annotated; and what is said of a person, a work or an organization. The relations still lack some of
what is stated, most of all of works and organizations. So a record asks for what is annotated, and for two fields at
most that are not; `encyclopedia`, which reads the same file, asks for whole records of people alone. Left out are
employers (wrong too often) and relations that are seldom stated in words, such as to be a part of.
"""

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from training.generate import Sample
from training.sources.asking import MAX_CHARACTERS, Slot, record
from training.sources.names import Labels, joined, kinds, sample

NAMES_EACH, SUBJECTS_EACH = 7, 5
"""How many samples a passage gives: of the names in some of its sentences, and of what it says of a name."""

MOST_SENTENCES = 4

_NAMES = dict(
    zip(
        ("PER", "ORG", "LOC", "TIME", "MISC"),
        kinds(
            people="persons person_names; names of people",
            organizations="organisations organization_names; companies, bands, clubs, parties, schools and the like",
            places="locations place_names; places, and words for who or what is from one, such as French",
            dates="times dates_and_times; days, years and other times, as printed",
            other_names="works_and_events titles_and_events; works, events, products, awards and other names",
        ).values(),
        strict=True,
    )
)

_THINGS: Mapping[str, Sequence[tuple[str, str, str]]] = {
    "person": (
        ("P569", "birth_date", "date_of_birth born; when they were born"),
        ("P570", "death_date", "date_of_death died; when they died"),
        ("P19", "birth_place", "place_of_birth; where they were born"),
        ("P20", "death_place", "place_of_death; where they died"),
        ("P27", "nationality", "country citizenship; country or nationality, as printed"),
        ("P69", "schools", "educated_at universities; where they studied"),
        ("P54", "teams", "clubs; teams that they played for"),
        ("P102", "party", "political_party; political party"),
        ("P26", "spouse", "married_to husband_or_wife; whom they married"),
        ("P40", "children", "sons_and_daughters; their children"),
        ("P22", "father", "; their father"),
        ("P3373", "siblings", "brothers_and_sisters; their brothers and sisters"),
        ("P166", "awards", "prizes honours; awards that they received"),
        ("P607", "wars", "conflicts battles; wars and battles that they took part in"),
        ("P463", "bands_and_groups", "member_of groups; bands and other groups that they belong to"),
    ),
    "work": (
        ("P175", "performer", "artist performed_by; who performs it"),
        ("P264", "record_label", "label; company that released it"),
        ("P577", "release_date", "published date_of_release; when it came out, as printed"),
        ("P136", "genre", "kind_of_music style; genre"),
        ("P161", "cast", "actors starring; who plays in it"),
        ("P57", "director", "directed_by; who directed it"),
        ("P50", "author", "written_by writer; who wrote it"),
        ("P58", "screenwriter", "screenplay_by; who wrote the screenplay"),
        ("P86", "composer", "music_by; who wrote the music"),
        ("P162", "producer", "produced_by; who produced it"),
        ("P178", "developer", "developed_by; who developed it"),
        ("P123", "publisher", "published_by; who published it"),
        ("P400", "platforms", "systems; platforms that it runs on"),
        ("P449", "broadcaster", "network channel; channel that it was first shown on"),
        ("P674", "characters", "roles; persons in the story"),
        ("P495", "country", "country_of_origin; where it is from, as printed"),
    ),
    "organization": (
        ("P571", "founded", "founding_date established; when it was founded"),
        ("P112", "founders", "founded_by; who founded it"),
        ("P159", "headquarters", "head_office seat; where it has its seat"),
        ("P740", "formed_in", "place_of_formation; where it was formed"),
        ("P749", "parent", "parent_company; the organization that it belongs to"),
        ("P355", "subsidiaries", "daughters; organizations that belong to it"),
        ("P264", "record_label", "label; company that releases its records"),
        ("P576", "dissolved", "end_date closed; when it was closed"),
        ("P118", "league", "competition; league that it plays in"),
        ("P488", "chair", "chairperson president; who chairs it"),
        ("P136", "genre", "kind_of_music; genre"),
    ),
}
"""Relations that are asked for together: identifier, name, and further names with a description."""

_MANY = frozenset({"P69", "P54", "P40", "P3373", "P166", "P607", "P463", "P161", "P400", "P674", "P112", "P355"})
"""Relations that are asked for as lists."""

_NATIONALITY = "P27"
"""The relation of which the first name is taken: "Malaysian", and not "Malaysia" too."""

_OF = {"person": "PER", "work": "MISC", "organization": "ORG"}


@dataclass(frozen=True, slots=True)
class _Name:
    """A name with its kind, and the places where it is printed: sentence, first word, and the one after the last."""

    kind: str
    places: tuple[tuple[int, int, int], ...]


def samples(rng: random.Random, repository: Path) -> Iterator[Sample]:
    """Yield some samples of each passage."""
    for passage in json.loads((repository / "data/dev_revised.json").read_text(encoding="utf-8")):
        sentences: list[list[str]] = passage["sents"]
        names = [
            _Name(mentions[0]["type"], tuple((one["sent_id"], *one["pos"]) for one in mentions))
            for mentions in passage["vertexSet"]
        ]
        for _ in range(NAMES_EACH):
            yield _named(rng, sentences, names)
        relations: dict[int, dict[str, list[int]]] = {}
        for one in passage["labels"]:
            relations.setdefault(one["h"], {}).setdefault(one["r"], []).append(one["t"])
        yield from _subjects(rng, sentences, names, relations)


def _named(rng: random.Random, sentences: Sequence[list[str]], names: Sequence[_Name]) -> Sample:
    """Ask for the names in some sentences that follow each other."""
    start = rng.randrange(len(sentences))
    chosen = range(start, min(len(sentences), start + rng.randint(1, MOST_SENTENCES)))
    is_spaced = rng.random() < 0.3
    found = [
        (place, name.kind) for name in names for place in name.places if place[0] in chosen and name.kind in _NAMES
    ]
    document = " ".join(joined(sentences[number], is_spaced=is_spaced) for number in chosen)
    mentions = [(kind, _text(sentences, place, is_spaced=is_spaced)) for place, kind in sorted(found)]
    mentions = [(kind, text) for kind, text in mentions if text in document]
    labels = Labels("passages", _NAMES, "Names in a passage of an encyclopedia.")
    return sample(rng, document[:MAX_CHARACTERS], mentions, labels)


def _text(sentences: Sequence[list[str]], place: tuple[int, int, int], *, is_spaced: bool) -> str:
    number, first, end = place
    return joined(sentences[number][first:end], is_spaced=is_spaced)


def _subjects(
    rng: random.Random,
    sentences: Sequence[list[str]],
    names: Sequence[_Name],
    relations: Mapping[int, Mapping[str, list[int]]],
) -> Iterator[Sample]:
    """Ask for what the whole passage says of the names of which it says the most."""
    is_spaced = rng.random() < 0.3
    document = " ".join(joined(sentence, is_spaced=is_spaced) for sentence in sentences)

    def text(number: int) -> str:
        return _text(sentences, min(names[number].places), is_spaced=is_spaced)

    subjects: list[tuple[str, int, dict[str, Any]]] = []
    for number, stated in relations.items():
        for thing in (thing for thing, kind in _OF.items() if kind == names[number].kind):
            found: dict[str, Any] = {}
            for relation, name, _ in _THINGS[thing]:
                others = sorted(stated.get(relation, ()), key=lambda one: names[one].places)
                texts = list(dict.fromkeys(map(text, others)))
                texts = texts[:1] if relation == _NATIONALITY else texts
                if texts and all(one in document for one in texts):
                    found[name] = texts if relation in _MANY or len(texts) > 1 else texts[0]
            if len(found) > 1:
                subjects.append((thing, number, found))
    subjects.sort(key=lambda one: -len(one[2]))
    for thing, number, found in (subjects[:3] * SUBJECTS_EACH)[:SUBJECTS_EACH]:
        slots = [_slot(name, said, is_list=relation in _MANY) for relation, name, said in _THINGS[thing]]
        slots = [replace(slot, is_list=slot.is_list or isinstance(found.get(slot.name), list)) for slot in slots]
        absent = [slot.name for slot in slots if slot.name not in found]
        names_asked = {*found, *rng.sample(absent, rng.randint(0, 2))}
        asked_slots = [slot for slot in slots if slot.name in names_asked]
        about = rng.choice(("What the text says of {}.", "Facts about {}.", "The {thing} {}, as the text tells of it."))
        one = record(rng, "passages", document, asked_slots, found)
        one.schema["description"] = about.format(text(number), thing=thing)
        yield one


def _slot(name: str, said: str, *, is_list: bool) -> Slot:
    others, _, description = said.partition(";")
    return Slot(name, description.strip(), other_names=tuple(others.split()), is_list=is_list)
