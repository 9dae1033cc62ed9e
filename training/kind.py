"""Kinds of record as text: a line for the kind, and a line for each of its fields.

    parcel, package; thing; parcels
    *tracking number, ~tracking | code @@########, TRK-###### | travels under {v}
    sender, shipper, ~from | person | was sent by {v}; comes from {v} | who sent it
    insured, covered | flag | yes: is insured / no: travels without cover
    !deliver delivered delivered delivery courier | by on in
    = {sender} sent a parcel to {recipient}

A field has the words for it (`~` before those that only a form or an identifier uses, `*` before the field that the
record is called by, `^` before who may be the writer of the document), a role, predicates in the third person, and what
it means. A line with `!` is an event, which gives fields for who, when and where; one with `=` a clause that tells
several fields at once. A predicate with `+` stands behind the name of the record. Rejected: sentences written out, of
which a model learns the words and not the way.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache

from training.composites import COMPOSITES
from training.dates import day, moment, time_of_day
from training.lists import several
from training.names import (
    cause,
    code,
    email,
    errand,
    fault,
    one_of,
    organisation,
    person,
    phone,
    place,
    pooled,
    product,
    site,
    street,
    url,
    work,
)
from training.phrases import ROLE_PHRASES, cut
from training.quantities import decimal, integer, money, score, year
from training.scene import STRING, Fact, Maker, Scene, Schema
from training.splits import NO_TEXTS, Parted
from training.words import by_comma

_TOO_LITTLE = frozenset(
    "act for with in at until when where was good bad from to by on up about what who kind days no every units against "
    "released placed made seat dated cost max min off ends begins issued valued shown given".split()
)


@dataclass(frozen=True, slots=True)
class Field:
    """What a record has: the words for it, the maker of its values, and how sentences state it."""

    key: str
    words: Parted  # noun phrases, which a sentence and a form and an identifier may use
    labels: Parted  # these, and those that only forms and identifiers use
    make: Maker
    sort: str
    predicates: Parted
    posts: Parted = NO_TEXTS  # what may stand behind the name of the record: "from {v}"
    role: Parted = NO_TEXTS  # phrases of all fields that are called so
    gloss: str = ""
    event: str = ""
    slot: str = ""
    writes: bool = False  # whether it may be who writes the document

    def label(self, scene: Scene, *, form: bool = False) -> str:
        """Return what a text calls the field."""
        return scene.pick((self.labels if form or not self.words.entries else self.words).some(scene.split))

    def names(self, scene: Scene) -> tuple[str, ...]:
        """Return what a type may call the field: no preposition or adverb alone tells enough."""
        listed = self.labels.some(scene.split)
        return tuple(filter(self.tells, listed)) or tuple(filter(self.tells, self.labels.entries)) or listed

    def tells(self, label: str) -> bool:
        """Return whether a label alone tells what is meant: neither "for" does nor "repaired", be it when or where."""
        return label not in _TOO_LITTLE and not (self.event and self.slot != "by" and " " not in label)


Stated = tuple[Field, Fact]
"""A field, and the fact that one record has for it."""

Record = list[Stated]
"""What one record has, in order."""


@dataclass(frozen=True, slots=True)
class Event:
    """A verb in its forms: inspect, inspected, inspected, inspection, inspector."""

    base: str
    past: str
    participle: str
    noun: str
    agent: str
    preposition: str = "in"


@dataclass(frozen=True, slots=True)
class Kind:
    """A sort of record: what it is called, and its fields by key."""

    name: str
    nouns: tuple[str, ...]
    subject: str  # "thing", "person", "company", "event" or "work"
    plurals: tuple[str, ...]
    fields: Mapping[str, Field]
    lead: str = ""
    events: Mapping[str, Event] | None = None
    naming: tuple[str, ...] = ()
    openings: Parted = NO_TEXTS


def several_kinds(text: str, attributes: Mapping[str, str]) -> dict[str, Kind]:
    """Return the kinds that a text describes, one a paragraph, by name."""
    parsed = (parse_kind(block, attributes) for block in text.strip().split("\n\n"))
    return {kind.name: kind for kind in parsed}


def parse_kind(block: str, attributes: Mapping[str, str]) -> Kind:
    """Return the kind that a paragraph describes; `@weight` stands for the line of that attribute."""
    head, *lines = (line.strip() for line in block.strip().splitlines())
    nouns, subject, plurals, naming = (*(by_comma(cell) for cell in head.split(";")), ())[:4]
    fields: dict[str, Field] = {}
    events: dict[str, Event] = {}
    lead = ""
    openings = []
    for line in lines:
        if line.startswith("@"):
            for name in line[1:].replace("@", "").split():
                one = parse_field(attributes[name])
                fields[one.key] = one
        elif line.startswith("="):
            openings.append(line[1:].strip())
        elif line.startswith("!"):
            event, made = parse_event(line[1:])
            events[event.base] = event
            fields.update(made)
        else:
            one = parse_field(line.lstrip("*"))
            fields[one.key] = one
            lead = one.key if line.startswith("*") else lead
    return Kind(nouns[0], nouns, subject[0], plurals, fields, lead, events, naming, Parted(tuple(openings)))


@cache
def parse_field(line: str) -> Field:
    """Return the field that a line describes."""
    cells = [cell.strip() for cell in line.split("|")]
    words, role, predicates, gloss = (*cells, "", "")[:4]
    listed = by_comma(words.lstrip("^"))
    make, sort = role_maker(role, predicates)
    pieces = () if sort in ("flag", "choice") else cut(predicates)
    role_of = next(((sort, one) for one in listed if (sort, one) in ROLE_PHRASES), ("", ""))
    return Field(
        key=listed[0].strip("~"),
        words=Parted(tuple(one for one in listed if not one.startswith("~") and " in " not in one)),
        labels=Parted(tuple(one.strip("~") for one in listed)),
        make=make,
        sort=sort,
        predicates=Parted(tuple(piece for piece in pieces if not piece.startswith("+"))),
        posts=Parted(tuple(piece[1:].strip() for piece in pieces if piece.startswith("+"))),
        gloss=gloss or (f"whether it {pieces_of_yes(predicates)}" if sort == "flag" else ""),
        writes=words.startswith("^"),
        role=Parted(ROLE_PHRASES.get(role_of, ())),
    )


def pieces_of_yes(predicates: str) -> str:
    """Return the first predicate of a flag that is true: `yes: is paid; is settled / no: is open` → "is paid"."""
    return predicates.partition("yes: ")[2].split(" / ")[0].split(";")[0].strip()


_SLOTS = {
    "by": person,
    "by_org": organisation,
    "on": day(-900, 600),
    "at": moment(-500, 500),
    "in": place,
    "site": site,
}


def parse_event(line: str) -> tuple[Event, dict[str, Field]]:
    """Return an event and its fields: who did it, when and where."""
    verb, slots = (cell.split() for cell in line.split("|"))
    event = Event(*(word.replace("_", " ") for word in verb))
    return event, {one.key: one for one in (event_field(event, slot) for slot in slots)}


def event_field(event: Event, slot: str) -> Field:
    """Return the field of an event for its agent (by), its day (on), its moment (at) or its place (in)."""
    participle, noun = event.participle, event.noun
    match slot:
        case "by" | "by_org":
            listed: tuple[str, ...] = (event.agent, f"~{participle} by")
            gloss, sort = f"who {event.past} it", "agent"
        case "on" | "at":
            listed, sort = (f"{noun} date", f"date of {noun}", f"~{participle} on", f"~{participle}"), "date"
            gloss = f"when it was {participle}"
        case _:
            listed, sort = (f"place of {noun}", f"{noun} location", f"~{participle} {event.preposition}"), "place"
            gloss = f"where it was {participle}"
    return Field(
        key=f"{event.base} {slot}",
        words=Parted(tuple(one for one in listed if not one.startswith("~"))),
        labels=Parted(tuple(one.strip("~") for one in listed)),
        make=_SLOTS[slot],
        sort=sort,
        predicates=NO_TEXTS,
        gloss=gloss,
        event=event.base,
        slot=slot.removesuffix("_org"),
    )


_PLAIN_ROLES: dict[str, tuple[Maker, str]] = {
    "person": (person, "agent"), "org": (organisation, "agent"), "place": (place, "place"), "site": (site, "place"),
    "street": (street, "place"), "email": (email, "code"), "url": (url, "code"), "phone": (phone, "code"),
    "product": (product, "text"), "work": (work, "text"), "score": (score, "text"), "time": (time_of_day, "time"),
    "fault": (fault, "text"), "errand": (errand, "text"), "cause": (cause, "text"), **COMPOSITES,
}  # fmt: skip


@cache
def role_maker(role: str, predicates: str = "") -> tuple[Maker, str]:
    """Return the maker that a role describes, and the sort of its facts."""
    if role in _PLAIN_ROLES:
        return _PLAIN_ROLES[role]
    name, _, rest = role.partition(" ")
    if name in ("flag", "choice"):
        return choice(predicates, boolean=name == "flag"), name
    make, sort = _ROLES[name]
    return make(rest), sort


def _ranged(make: Callable[..., Maker], *kinds: type) -> Callable[[str], Maker]:
    """Return what reads the bounds of a role: "0.2 90 1 kg, kilograms" → 0.2, 90, 1 and the units."""

    def read(text: str) -> Maker:
        words = text.split()
        bounds = [kind(word) for kind, word in zip(kinds, words, strict=False)]
        units = " ".join(words[len(kinds) :])
        return make(*bounds, units) if units else make(*bounds)

    return read


def _list_maker(text: str) -> Maker:
    bounds, _, role = text.partition(" ")
    low, high = map(int, bounds.split("-"))
    return several(role_maker(role)[0], low, high)


def _rows_maker(text: str) -> Maker:
    name, bounds = text.split()
    low, high = map(int, bounds.split("-"))
    return rows(ROWS[name], low, high)


_ROLES: dict[str, tuple[Callable[[str], Maker], str]] = {
    "pool": (pooled, "text"),
    "of": (one_of, "text"),
    "code": (lambda text: code(by_comma(text)), "code"),
    "int": (_ranged(integer, int, int), "number"),
    "span": (_ranged(integer, int, int), "number"),
    "num": (_ranged(decimal, float, float, int), "number"),
    "year": (_ranged(year, int, int), "year"),
    "money": (_ranged(money, float, float), "money"),
    "date": (_ranged(day, int, int), "date"),
    "moment": (_ranged(moment, int, int), "date"),
    "list": (_list_maker, "list"),
    "rows": (_rows_maker, "rows"),
}


def choice(text: str, *, boolean: bool) -> Maker:
    """Return a maker of options, each with the predicates that imply it: `paid: has been paid; is settled / ...`."""
    options = {}
    for piece in cut(text, " / "):
        name, _, wordings = piece.partition(": ")
        options[name.strip()] = Parted(cut(wordings))

    def make(scene: Scene) -> Fact:
        name = scene.pick(tuple(options))
        wordings = options[name].some(scene.split)
        if boolean:
            shown = scene.pick(
                ("yes", "y", "true", "✓", "Yes", "TRUE") if name == "yes" else ("no", "n", "false", "✗", "No", "FALSE")
            )
            return Fact(shown, name == "yes", {"type": "boolean"}, "flag", wordings=wordings)
        wording = scene.pick(wordings)
        plain = re.match(r"(?:is|was|has been) ([a-z -]{3,24})$", wording)
        shown = plain[1] if plain and scene.chance(0.6) else name.replace("_", scene.pick(("_", " ", "-")))
        schema: Schema = {"enum": list(options), "type": "string"}
        return Fact(shown, name, schema, "choice", wordings=wordings)

    return make


@dataclass(frozen=True, slots=True)
class Rows:
    """The records inside a record, such as the lines of an invoice, and how one is written in running text."""

    name: str
    fields: tuple[Field, ...]
    templates: Parted


def rows(inner: Rows, low: int, high: int) -> Maker:
    """Return a maker of a list of objects."""

    def make(scene: Scene) -> Fact:
        drawn = tuple(
            tuple(replace(one.make(scene), others=()) for one in inner.fields)
            for _ in range(scene.rng.randint(low, high))
        )
        template = scene.pick(inner.templates.some(scene.split))
        items = tuple(template.format(*(fact.shown for fact in facts)) for facts in drawn)
        mark = ", " if "," not in template and scene.chance(0.6) else "; "
        last = scene.pick((mark, " and ", f"{mark}and "))
        text = f"{mark.join(items[:-1])}{last}{items[-1]}" if len(items) > 1 else items[0]
        return Fact(text, inner, STRING, "rows", items=items, rows=drawn)

    return make


ROWS: dict[str, Rows] = {}


def add_rows(text: str) -> None:
    """Enter the inner records that a text describes: a name and templates, then a line for each field."""
    for block in text.strip().split("\n\n"):
        head, *lines = block.strip().splitlines()
        name, templates = head.split(":", 1)
        ROWS[name.strip()] = Rows(name.strip(), tuple(map(parse_field, lines)), Parted(cut(templates, ";;")))
