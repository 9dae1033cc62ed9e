"""Facts about people and organisations in sentences of the web and of biographies: diffbot/knowledge-net, CC BY-SA 4.0.

That is the licence of the data; that of its code is MIT. What is read is the table of the training part,
`human_readable-v10-notest.zip`: a sentence with the two ends of a fact in each row, or with none, where somebody looked
for a property and did not find it.
"""

import random
import re
import zipfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from html import unescape
from pathlib import Path

from training.generate import Sample
from training.sources.asking import Slot, listed, record


@dataclass(frozen=True, slots=True)
class End:
    """A mention of who or what a fact is about, with its place in an encyclopedia, if it has one."""

    text: str
    link: str


@dataclass(frozen=True, slots=True)
class Passage:
    """A sentence with its facts by property, those that were looked for in vain without any."""

    text: str
    facts: dict[str, list[tuple[End, End]]] = field(default_factory=lambda: defaultdict(list))


def samples(rng: random.Random, repository: Path, *, each: int = 2) -> Iterator[Sample]:
    """Yield up to so many samples for each sentence."""
    for passage in passages(repository / "human_readable-v10-notest.zip"):
        made = [*_records(rng, passage), *_lists(rng, passage)]
        yield from rng.sample(made, min(each, len(made)))


_ROW = re.compile(r"<tr><td.*?</tr>", re.DOTALL)
_CELL = re.compile(r"<td[^>]*>(.*?)</td>", re.DOTALL)
_LINK = re.compile(r'href="([^"]*)"')


def passages(archive: Path) -> Iterator[Passage]:
    """Yield the sentences of the table with all that it says of them."""
    with zipfile.ZipFile(archive) as opened:
        table = opened.read(f"{archive.stem}.html").decode()
    found: dict[tuple[str, ...], Passage] = {}
    unclear: list[tuple[Passage, str]] = []
    for row in _ROW.findall(table):
        cells = _CELL.findall(row)
        passage = found.setdefault(tuple(cells[1:4]), Passage(_plain(cells[9])))
        label = cells[8].strip()
        of_property = passage.facts[label]
        ends = [_end(cells[9], name) for name in ("subject", "object")]
        if ends[0] and ends[1]:
            of_property.append((ends[0], ends[1]))
        elif "<span" in cells[9]:
            unclear.append((passage, label))
    for passage, label in unclear:
        passage.facts.pop(label, None)
    return iter(found.values())


def _plain(marked: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", "", marked)).split())


def _end(marked: str, name: str) -> End | None:
    """Return an end of a fact; None where there is none, or one that is cut out of a word."""
    found = re.search(rf'<span id="{name}">(.*?)</span>', marked, re.DOTALL)
    if not found or marked[: found.start()][-1:].isalnum() or marked[found.end() :][:1].isalnum():
        return None
    link = _LINK.search(found[1])
    return End(_plain(found[1]), link[1] if link else "")


_PRONOUN = re.compile(
    r"(?i)(i|my|me|you|your|he|him|his|she|hers?|it|its|they|them|their|we|us|our|who|whose|whom|which|that|this|"
    r"mine|himself|herself|itself|themselves|(the|this|that|our|his|her|its|their|my|a|an) [a-z ]+)"
)

_PERSON = {
    "DATE_OF_BIRTH": Slot("date_of_birth", "when the person was born", other_names=("born", "birth_date", "birthday")),
    "DATE_OF_DEATH": Slot("date_of_death", "when the person died", other_names=("died", "death_date")),
    "PLACE_OF_BIRTH": Slot("place_of_birth", "where the person was born", other_names=("birthplace", "born_in")),
    "PLACE_OF_RESIDENCE": Slot(
        "residences", "where the person lives or lived", other_names=("lived_in", "places_of_residence"), is_list=True
    ),
    "NATIONALITY": Slot("nationality", "as it is written", other_names=("citizenship",)),
    "EMPLOYEE_OR_MEMBER_OF": Slot(
        "organisations", "where the person works or is a member", other_names=("employers", "member_of"), is_list=True
    ),
    "EDUCATED_AT": Slot(
        "schools", "schools and universities attended", other_names=("education", "educated_at"), is_list=True
    ),
    "POLITICAL_AFFILIATION": Slot("party", "political party", other_names=("political_party", "affiliation")),
    "CHILD_OF": Slot("parents", "names of the parents", other_names=("father_and_mother", "child_of"), is_list=True),
    "SPOUSE": Slot("spouses", "whom the person is or was married to", other_names=("married_to",), is_list=True),
}
_ORGANISATION = {
    "DATE_FOUNDED": Slot("founded", "when it was founded", other_names=("date_founded", "foundation", "established")),
    "HEADQUARTERS": Slot("headquarters", "where it has its seat", other_names=("seat", "based_in")),
    "SUBSIDIARY_OF": Slot("parent", "the company or organisation it belongs to", other_names=("parent_company",)),
    "FOUNDED_BY": Slot("founders", "who founded it", other_names=("founded_by",), is_list=True),
    "CEO": Slot("ceo", "who leads it", other_names=("chief_executive", "chief_executive_officer")),
}


_MOST = {"CHILD_OF": 2, "SPOUSE": 3}
"""More than these are names of one and the same."""


def _records(rng: random.Random, passage: Passage) -> Iterator[Sample]:
    """Yield a sample for each person or organisation with facts, of the properties that were looked for."""
    for kind, known in (("person", _PERSON), ("organisation", _ORGANISATION)):
        looked_for = {name: facts for name, facts in passage.facts.items() if name in known}
        subjects = list(dict.fromkeys(one for facts in looked_for.values() for one, _ in facts))
        names = [one.text for one in subjects if not _PRONOUN.fullmatch(one.text)]
        objects = {end.text for facts in looked_for.values() for _, end in facts}
        is_of_one = len(distinct(subjects)) <= 1 and not objects & set(names) and len(looked_for.get("SPOUSE", ())) < 2
        if not is_of_one and len(names) < len(subjects):
            continue
        for name in dict.fromkeys(names) or [""]:
            values: dict[str, str | list[str]] = {}
            slots = []
            for label, facts in looked_for.items():
                ends = [end for one, end in facts if is_of_one or one.text == name]
                found = sorted(distinct(ends), key=passage.text.find)
                found = [one for one in found if f"({one})" not in passage.text or len(found) == 1]
                slot = known[label]
                if (ends and not found) or len(found) > _MOST.get(label, 9 if slot.is_list else 1):
                    continue
                day = iso_day(found[0]) if found and "DATE" in label else None
                if day and rng.random() < 0.4:
                    slot, found = Slot(slot.name, slot.description, other_names=slot.other_names, kind="date"), [day]
                slots.append(slot)
                values |= {slot.name: found if slot.is_list else found[0]} if found else {}
            if values or (slots and not subjects and rng.random() < 0.06):
                is_named = bool(name) and (not is_of_one or kind == "organisation" or rng.random() < 0.6)
                about = f"What the text says of {name}." if is_named else f"The {kind} that the text is about."
                made = record(rng, "facts", passage.text, slots, values)
                yield Sample(made.kind, made.schema | {"description": about}, made.document, made.answer, None)


def distinct(ends: Sequence[End]) -> list[str]:
    """Return names of different things, in their order: no pronouns, and each thing by its longest or first name."""
    named = [end for end in dict.fromkeys(ends) if not _PRONOUN.fullmatch(end.text)]
    kept: list[End] = []
    for end in sorted(named, key=lambda end: -len(end.text)):
        if not any(_is_same(end, other) for other in kept):
            kept.append(end)
    return [end.text for end in sorted(kept, key=named.index)]


def _is_same(end: End, other: End) -> bool:
    if end.link and other.link:
        return end.link == other.link
    return set(end.text.lower().split()) <= set(other.text.lower().split())


def iso_day(text: str) -> str | None:
    """Return a date as ISO writes it, where a text gives day, month and year."""
    for form in ("%d %B %Y", "%B %d, %Y", "%d %b %Y", "%b %d, %Y", "%Y-%m-%d", "%B %d %Y"):
        try:
            return datetime.strptime(re.sub(r"(\d)(st|nd|rd|th)\b", r"\1", text), form).date().isoformat()  # noqa: DTZ007
        except ValueError:
            continue
    return None


_PAIRS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "CHILD_OF": (("child", "parent"),),
    "EMPLOYEE_OR_MEMBER_OF": (("person", "organisation"), ("name", "employer_or_club")),
    "EDUCATED_AT": (("person", "school"),),
    "FOUNDED_BY": (("organisation", "founder"), ("founded", "by")),
    "CEO": (("company", "ceo"),),
    "HEADQUARTERS": (("organisation", "headquarters"), ("company", "seat")),
    "SUBSIDIARY_OF": (("company", "parent"), ("subsidiary", "owner")),
    "POLITICAL_AFFILIATION": (("politician", "party"),),
}
_ABOUT = {
    "CHILD_OF": "Children with a parent of theirs.",
    "EMPLOYEE_OR_MEMBER_OF": "Who works for, or belongs to, which organisation.",
    "EDUCATED_AT": "Who went to which school.",
    "FOUNDED_BY": "What was founded by whom.",
    "CEO": "Companies with those who lead them.",
    "HEADQUARTERS": "Organisations with their seats.",
    "SUBSIDIARY_OF": "Companies with those they belong to.",
    "POLITICAL_AFFILIATION": "Who belongs to which party.",
}


def _lists(rng: random.Random, passage: Passage) -> Iterator[Sample]:
    """Yield a sample for each property of which the text names several facts, none of them twice."""
    for label, facts in passage.facts.items():
        pairs = list(dict.fromkeys((one.text, other.text) for one, other in facts))
        subjects, objects = ([fact[place] for fact in facts] for place in (0, 1))
        is_clear = all(len(distinct(ends)) == len(set(ends)) == len(pairs) for ends in (subjects, objects))
        if label not in _PAIRS or len(pairs) < 2 or not is_clear:
            continue
        first, second = rng.choice(_PAIRS[label])
        slots = [Slot(first), Slot(second)]
        items = [
            {first: one, second: other} for one, other in sorted(pairs, key=lambda pair: passage.text.find(pair[0]))
        ]
        several = (label.lower(), "facts", "pairs", "items")
        schema, answer = listed(rng, several, slots, items, about=_ABOUT[label], required=(first, second))
        yield Sample("facts", schema, passage.text, answer, None)
