"""People, dates and schools of articles: `dev_revised.json` of tonytan48/Re-DocRED, MIT, which `passages` reads, too.

Its relations are those of DocRED, looked through again, and still lack some of what is stated. Here all fields of a
record may be asked for, and a table is to be whole, so only what lacks least is read: relations of people, but for
employers (wrong too often), and tables of dates and schools. Relations of works and organisations lack more: `passages`
asks for those that are annotated, and for few others. Those of countries mostly follow from knowledge of the world.
"""

import json
import random
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from training.generate import Sample
from training.sources.asking import MAX_CHARACTERS, Slot, fields, listed
from training.sources.facts import End, distinct, iso_day
from training.sources.names import joined

RECORDS, TABLES = 10, 5
"""Samples of an article, at most."""


def _slot(name: str, others: str, about: str, *, is_list: bool = False) -> Slot:
    return Slot(name, about, other_names=tuple(others.split()), is_list=is_list)


_PERSON = {
    "P569": _slot("date_of_birth", "born birth_date", "when the person was born"),
    "P570": _slot("date_of_death", "died death_date", "when the person died"),
    "P19": _slot("birthplaces", "born_in places_of_birth", "where the person was born", is_list=True),
    "P20": _slot("places_of_death", "died_in", "where the person died", is_list=True),
    "P69": _slot("schools", "educated_at education", "schools and universities attended", is_list=True),
    "P102": _slot("parties", "political_party", "political parties of the person", is_list=True),
    "P26": _slot("spouses", "married_to", "whom the person is or was married to", is_list=True),
    "P40": _slot("children", "sons_and_daughters", "children of the person", is_list=True),
    "P22": _slot("father", "fathers_name", "father of the person"),
    "P25": _slot("mother", "mothers_name", "mother of the person"),
    "P3373": _slot("siblings", "brothers_and_sisters", "brothers and sisters", is_list=True),
    "P166": _slot("awards", "prizes honours", "awards received", is_list=True),
    "P54": _slot("teams", "clubs sports_teams", "sports teams that the person was a member of", is_list=True),
    "P800": _slot("works", "notable_works", "works by the person", is_list=True),
}
_TELLING = {"P569", "P570", "P19", "P69", "P800", "P54", "P166", "P22", "P25"}
"""Relations of which a record needs one."""

_TABLES: Mapping[str, tuple[str, tuple[str, str]]] = {
    "P569": ("People with the dates of their birth.", ("person", "born")),
    "P570": ("People with the dates of their death.", ("person", "died")),
    "P577": ("Works with the dates they came out.", ("work", "date")),
    "P69": ("People with the schools they went to.", ("person", "school")),
}


@dataclass(frozen=True, slots=True)
class Article:
    """A text with its names, each by a kind, and which of them are related how, by the numbers of the names."""

    text: str
    names: tuple[str, ...]
    kinds: tuple[str, ...]
    related: Mapping[str, Sequence[tuple[int, int]]]


def articles(path: Path) -> Iterator[Article]:
    """Yield the articles of a file, but for long ones and those with a name that the text does not write."""
    for read in json.loads(path.read_text(encoding="utf-8")):
        text = written([token for sentence in read["sents"] for token in sentence])
        names, is_clear = [], True
        for mentions in read["vertexSet"]:
            first = min(mentions, key=lambda one: (one["sent_id"], one["pos"][0]))
            name = written(read["sents"][first["sent_id"]][slice(*first["pos"])])
            is_clear = is_clear and bool(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text))
            names.append(name)
        related = defaultdict(list)
        for label in read["labels"]:
            related[label["r"]].append((label["h"], label["t"]))
        if is_clear and len(text) <= MAX_CHARACTERS:
            yield Article(text, tuple(names), tuple(one[0]["type"] for one in read["vertexSet"]), related)


def written(tokens: Sequence[str]) -> str:
    """Return tokens as a text: marks of quotation stand by what they quote."""
    text = joined([token.strip() for token in tokens if token.strip()], is_spaced=False)
    text = re.sub(r'(?<!\S)" (.*?) "(?!\w)', r'"\1"', text)
    text = re.sub(r"(?<=\w) (?=['’](?:s|t|d|m|ll|re|ve)?(?!\w))", "", text)
    return re.sub(r"(?<=[^\W\d]) - (?=[^\W\d])", "-", text)


def samples(rng: random.Random, repository: Path) -> Iterator[Sample]:
    """Yield some samples for each article."""
    for article in articles(repository / "data/dev_revised.json"):
        made = list(_records(rng, article))
        yield from rng.sample(made, min(RECORDS, len(made)))
        tables = list(_tables(rng, article))
        yield from rng.sample(tables, min(TABLES, len(tables)))


def _in_order(article: Article, numbers: Sequence[int]) -> list[str]:
    """Return the names of numbers, in the order of the text."""
    return sorted(dict.fromkeys(article.names[one] for one in numbers), key=article.text.find)


def _records(rng: random.Random, article: Article) -> Iterator[Sample]:
    """Yield a record of each person of whom the text states two fields or more."""
    for number, name in enumerate(article.names):
        found = {
            relation: _in_order(article, [tail for head, tail in article.related.get(relation, ()) if head == number])
            for relation in _PERSON
        }
        stated = {relation for relation, values in found.items() if values}
        if article.kinds[number] == "PER" and len(stated) > 1 and stated & _TELLING:
            yield _record(rng, article, name, found)


def _record(rng: random.Random, article: Article, name: str, found: Mapping[str, Sequence[str]]) -> Sample:
    slots, values = [], dict[str, Any]()
    for relation, slot in _PERSON.items():
        several = list(found[relation])
        if len(several) > 1 and not slot.is_list:
            continue
        day = iso_day(several[0]) if several and not slot.is_list else None
        if day and rng.random() < 0.4:
            slot, several = Slot(slot.name, slot.description, other_names=slot.other_names, kind="date"), [day]  # noqa: PLW2901
        slots.append(slot)
        if several:
            values[slot.name] = several if slot.is_list else several[0]
    asked = [slot for slot in slots if rng.random() < (0.85 if slot.name in values else 0.2)]
    schema, answer = fields(rng, asked or slots[:3], values)
    return Sample("articles", schema | {"description": f"What the text says of {name}."}, article.text, answer, None)


def _tables(rng: random.Random, article: Article) -> Iterator[Sample]:
    """Yield a list of pairs for each relation of a few that holds more than once."""
    for relation, (about, (first, second)) in _TABLES.items():
        numbers = article.related.get(relation, ())
        pairs = list(dict.fromkeys((article.names[head], article.names[tail]) for head, tail in numbers))
        is_clear = all(
            len(distinct([End(name.replace("-", " "), "") for name in column])) == len(set(column))
            for column in zip(*pairs, strict=True)
        )
        if 2 <= len(pairs) <= 12 and is_clear:
            pairs.sort(key=lambda pair: [article.text.find(name) for name in pair])
            items = [{first: one, second: other} for one, other in pairs]
            slots = [Slot(first), Slot(second)]
            several = ("pairs", "items", "facts", f"{second}s")
            schema, answer = listed(rng, several, slots, items, about=about, required=(first, second))
            yield Sample("articles", schema, article.text, answer, None)
