"""Offices of American politicians: openstates/people and unitedstates/congress-legislators, both CC0.

An address is asked for in its parts, alone or in a line; an office as a card, a letterhead or a row of a directory.
Addresses that `us_addresses` has doubts about are asked for as a whole only.
"""

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from training.generate import Sample
from training.sources import us_addresses
from training.sources.asking import Habits, Slot, fields, listed, record, some
from training.sources.us_addresses import Parts

MOST_OF_A_HOUSE = 5
"""How often one house may be in an address; a capitol has hundreds of rooms."""

BARE_SHARE = 0.55
"""How many documents of an address are the address alone."""

CONTACT_SHARE = 0.6
"""How many of the offices are asked for beside their addresses."""

LISTED_SHARE = 0.2
"""How many documents of an office are a directory of several."""


@dataclass(frozen=True, slots=True)
class Office:
    """An office as it is published; what is not is None."""

    name: str
    title: str | None
    address: str
    parts: Parts | None
    phone: str | None
    fax: str | None
    email: str | None
    website: str | None


def samples(rng: random.Random, repository: Path) -> Iterator[Sample]:
    """Yield a sample for each address that can be taken apart, and one for each office."""
    offices = list(_of_congress(repository) if (repository / _CONGRESS).is_file() else _of_states(repository))
    rng.shuffle(offices)
    houses: Counter[tuple[str | None, ...]] = Counter()
    seen: set[str] = set()
    for office in offices:
        if office.address in seen:
            continue
        seen.add(office.address)
        parts = office.parts or {}
        house = parts.get("number"), parts.get("street"), parts.get("po_box", parts.get("city"))
        houses[house] += 1
        if houses[house] > MOST_OF_A_HOUSE:
            continue
        if office.parts:
            yield _address(rng, office)
        if (office.phone or office.email) and rng.random() < CONTACT_SHARE:
            others = rng.sample(offices, rng.randint(1, 4)) if rng.random() < LISTED_SHARE and len(offices) > 4 else []
            yield _directory(rng, [office, *others]) if others else _card(rng, office)


_CONGRESS = "legislators-district-offices.yaml"

_TITLES = {"lower": "Representative", "upper": "Senator", "mayor": "Mayor", "governor": "Governor"}


def _of_states(repository: Path) -> Iterator[Office]:
    """Yield the offices of members of parliaments, governments and councils of cities."""
    for path in sorted(repository.glob("data/*/*/*.yml")):
        written = path.read_text(encoding="utf-8")
        person = _yaml(written) if "  address:" in written else {}
        for place in person.get("offices", ()):
            if place.get("address"):
                yield _office(
                    person["name"],
                    _TITLES.get(person.get("roles", [{}])[0].get("type")),
                    " ".join(place["address"].replace(";", "; ").split()),
                    place | {"email": person.get("email")},
                )


def _of_congress(repository: Path) -> Iterator[Office]:
    """Yield the district offices of members of the Congress, whose addresses are published in parts."""
    members = _yaml((repository / "legislators-current.yaml").read_text(encoding="utf-8"))
    names = {member["id"]["bioguide"]: member["name"].get("official_full") for member in members}
    for member in _yaml((repository / _CONGRESS).read_text(encoding="utf-8")):
        for place in member["offices"]:
            name = names.get(member["id"]["bioguide"])
            if name and place.keys() >= {"address", "city", "state", "zip"}:
                before = [place.get(part) for part in ("building", "address", "suite")]
                line = ", ".join(str(part) for part in before if part)
                yield _office(name, None, f"{line}, {place['city']}, {place['state']} {place['zip']}", place)


def _office(name: str, title: str | None, address: str, place: Mapping[str, Any]) -> Office:
    phone, fax = place.get("voice") or place.get("phone"), place.get("fax")
    parts = us_addresses.parts(address)
    mail = place.get("email")
    is_mail = mail is not None and "@" in mail
    fax = fax if fax != phone else None
    return Office(name, title, address, parts, phone, fax, mail if is_mail else None, None if is_mail else mail)


def _yaml(text: str) -> Any:
    import yaml

    return yaml.load(text, yaml.CSafeLoader)


_PARTS = (
    Slot("number", "house number", other_names=("house_number", "street_number", "address_number")),
    Slot(
        "direction", "compass point in front of the street", other_names=("pre_direction", "predirectional", "prefix")
    ),
    Slot("street", "name of the street", other_names=("street_name", "road", "road_name")),
    Slot("street_type", "such as Street, Ave. or Rd", other_names=("street_suffix", "suffix", "road_type")),
    Slot("unit_type", "such as Suite, Apt or Room", other_names=("occupancy_type", "secondary_unit_type")),
    Slot("unit", "number or letter of the suite, room or apartment", other_names=("unit_number", "suite_number")),
    Slot("city", "city or town", other_names=("place", "town", "city_name")),
    Slot("state", "state, as written", other_names=("state_code", "region", "province")),
    Slot("zip_code", "postal code", other_names=("zip", "postal_code", "postcode")),
)
_MORE_PARTS = (
    Slot("post_direction", "compass point behind the street", other_names=("postdirectional", "direction_suffix")),
    Slot("building", "name of the building", other_names=("building_name", "house_name")),
    Slot("po_box", "post office box, as printed", other_names=("post_office_box", "box")),
)
_COARSE = (
    Slot("street_address", "number and street, as printed", other_names=("street", "address_line_1", "line1")),
    Slot("unit", "suite, room or floor, as printed", other_names=("address_line_2", "line2", "suite")),
    Slot("building", "name of the building", other_names=("building_name", "premises")),
    Slot("po_box", "post office box, as printed", other_names=("post_office_box",)),
    *_PARTS[6:],
)
_STREET = ("number", "direction", "street", "street_type", "post_direction")
_UNIT = ("unit_type", "unit")
_ABOUT = (
    "A mailing address, as typed.",
    "An address, taken apart.",
    "The parts of a mailing address; null for what is missing.",
)
_LINES = (
    "Ship to: {}",
    "Deliver to {} before noon.",
    "Address: {}",
    "The office is at {}.",
    "Location: {}\nParking behind the house",
    "{name}\n{}",
    "{name}, {}",
    "Please send it to {name}, {}",
    "{}\nTel. {phone}",
    "We met at {} and left at five.",
)


def _address(rng: random.Random, office: Office) -> Sample:
    """Return a sample that asks for the parts of an address, of which the document may leave some out."""
    assert office.parts is not None
    parts = _restyled(rng, _shortened(rng, office.parts))
    text = _separator(rng).join(_lines(rng, parts))
    line = "{}" if rng.random() < BARE_SHARE else rng.choice(_LINES)
    if office.phone is None and "phone" in line:
        line = "{}"
    document = line.format(text, name=office.name, phone=office.phone)
    if rng.random() < 0.72:
        more = list(_MORE_PARTS) if rng.random() < 0.4 else []
        return record(rng, "addresses", document, [*_PARTS, *more], parts, title="Address", about=rng.choice(_ABOUT))
    return record(rng, "addresses", document, _COARSE, coarse(parts), title="Address", about=rng.choice(_ABOUT))


def coarse(parts: Parts) -> Parts:
    """Return an address whose street is one part, and whose unit is one."""
    street = " ".join(parts[part] for part in _STREET if part in parts)
    unit = " ".join(_in_order([parts[part] for part in _UNIT if part in parts]))
    rest = {name: part for name, part in parts.items() if name not in (*_STREET, *_UNIT)}
    return rest | ({"street_address": street} if street else {}) | ({"unit": unit} if unit else {})


def _in_order(unit: list[str]) -> list[str]:
    """Return the type and the number of a unit in the order in which they are written: "3rd Floor", "Suite 3"."""
    is_turned = len(unit) == 2 and us_addresses.bare(unit[0]) in ("floor", "fl") and not unit[1][-1].isdigit()
    return unit[::-1] if is_turned else unit


def _shortened(rng: random.Random, parts: Parts) -> Parts:
    """Return an address without its end, now and then: people leave out what the reader knows."""
    left_out: set[str] = set()
    if "street" in parts:
        left_out = set(
            rng.choices(
                (
                    (),
                    ("zip_code",),
                    ("state", "zip_code"),
                    ("state",),
                    ("city", "state", "zip_code"),
                    ("city", "state"),
                ),
                (46, 12, 8, 6, 23, 5),
            )[0]
        )
        left_out |= {"building"} if rng.random() < 0.6 else set()
        left_out |= {"street_type", "post_direction"} if rng.random() < 0.07 else set()
    return {name: part for name, part in parts.items() if name not in left_out}


def _restyled(rng: random.Random, parts: Parts) -> Parts:
    """Return an address in other letters, now and then: in capitals, in small letters, or without full stops."""
    change = rng.choices(
        (str, str.upper, str.lower, lambda part: part.replace(".", ""), lambda part: part.replace(".", "").upper()),
        (52, 12, 5, 15, 16),
    )[0]
    return {name: change(part) for name, part in parts.items()}


def _separator(rng: random.Random) -> str:
    return rng.choices((", ", " ", "\n", ",\n", "; "), (45, 27, 15, 8, 5))[0]


def _lines(rng: random.Random, parts: Parts) -> list[str]:
    """Return an address as the lines of an envelope."""
    whole = coarse(parts)
    street, unit = whole.get("street_address"), whole.get("unit")
    if street and unit and rng.random() < 0.6:
        street, unit = f"{street}{rng.choice((' ', ' ', ', '))}{unit}", None
    end = ", ".join(filter(None, (whole.get("city"), whole.get("state")))) if rng.random() < 0.75 else ""
    end = end or " ".join(filter(None, (whole.get("city"), whole.get("state"))))
    end = " ".join(filter(None, (end, whole.get("zip_code"))))
    lines = [whole.get("building"), street, unit, whole.get("po_box"), end]
    if (unit and not street) or rng.random() < 0.1:
        lines = [whole.get("building"), unit, street, whole.get("po_box"), end]
    return [line for line in lines if line]


_CONTACT = (
    Slot("name", "name of the person, without a title", other_names=("person", "full_name", "contact", "contact_name")),
    Slot("title", "title before the name", other_names=("honorific", "form_of_address")),
    Slot(
        "address",
        "its lines in one, with spaces between them",
        other_names=("postal_address", "mailing_address", "location"),
    ),
    Slot("phone", "as printed", other_names=("phone_number", "telephone", "tel", "voice")),
    Slot("fax", "as printed", other_names=("fax_number",)),
    Slot("email", "e-mail address", other_names=("e_mail", "email_address", "mail")),
    Slot("website", "address on the web", other_names=("url", "homepage")),
    Slot("opening_hours", "when it is open", other_names=("hours",)),
)
_PLACE = _PARTS[6:]
_LABELS = {
    "phone": ("Phone: {}", "Tel: {}", "Tel. {}", "TEL {}", "Ph. {}", "T {}", "{}", "Call {}"),
    "fax": ("Fax: {}", "FAX {}", "Fax. {}", "F {}"),
    "email": ("Email: {}", "E-mail: {}", "{}", "{}", "Mail: {}"),
    "website": ("{}", "Web: {}", "{}"),
}
_NOISE = (
    "----------------",
    "CONTACT",
    "Contact information",
    "Page 1 of 1",
    "District office",
    "* * *",
    "Thank you",
    "Please keep for your records",
    "Official use only",
    "No. 4",
    "COPY",
    "Office",
)


def _values(rng: random.Random, office: Office) -> tuple[dict[str, Any], list[str]]:
    """Return what a document says of an office, with the lines of its address."""
    address = office.address.replace("; ", ", ")
    values: dict[str, Any] = {"name": office.name, "phone": office.phone, "fax": office.fax, "email": office.email}
    values |= {"website": office.website, "title": office.title if rng.random() < 0.5 else None}
    for left_out, share in (("fax", 0.3), ("email", 0.5), ("website", 0.3), ("phone", 0.15)):
        if rng.random() < share and (values["phone"] or values["email"]):
            values[left_out] = None
    if office.parts:
        lines = _lines(rng, office.parts)
        mark = rng.choice(("", "", ","))
        lines = [*(f"{line}{mark}" for line in lines[:-1]), lines[-1]]
        values |= {slot.name: office.parts.get(slot.name) for slot in _PLACE}
    else:
        lines = [address]
    return values, lines


def _card(rng: random.Random, office: Office) -> Sample:
    """Return a sample of one office: a card, a letterhead as a machine reads it, a row or a sentence."""
    values, lines = _values(rng, office)
    is_upper = rng.random() < 0.3
    is_line = rng.random() < 0.3
    separator = rng.choice((", ", " | ", " - ", "; ", " ")) if is_line else "\n"
    values["address"] = ", ".join(line.rstrip(",") for line in lines) if is_line else " ".join(lines)
    said = f"{values['title']} {office.name}" if values["title"] else office.name
    shown = [said, *([values["address"]] if is_line else lines)]
    shown += [rng.choice(_LABELS[kind]).format(values[kind]) for kind in _LABELS if values[kind]]
    if is_line and values["phone"] and rng.random() < 0.3:
        document = rng.choice(_SENTENCES).format(who=said, where=values["address"], phone=values["phone"])
        values |= {"fax": None, "email": None, "website": None}
    else:
        for _ in range(0 if is_line else rng.choice((0, 0, 1, 2, 3))):
            shown.insert(rng.choice((0, 1, len(shown))), rng.choice(_NOISE))
        document = separator.join(shown)
    if is_upper:
        document = document.upper()
        values = {name: value.upper() if isinstance(value, str) else value for name, value in values.items()}
    if office.parts and rng.random() < 0.35:
        return _nested(rng, document, values)
    slots = [*_CONTACT, *_PLACE] if office.parts and rng.random() < 0.4 else list(_CONTACT)
    return record(rng, "offices", document, slots, values, title="Contact", about="An office and how to reach it.")


_SENTENCES = (
    "You can reach {who} at {phone} or write to {where}.",
    "{who} has an office at {where}; the number is {phone}.",
    "Write to {who}, {where}, or call {phone} on weekdays.",
    "For an appointment with {who} call {phone}. The office is at {where}.",
)


def _nested(rng: random.Random, document: str, values: Mapping[str, Any]) -> Sample:
    """Return a sample that asks for the address as an object in the record."""
    habits = Habits.drawn(rng)
    around = [slot for slot in some(rng, _CONTACT, values) if slot.name != "address"] or [_CONTACT[0]]
    schema, answer = fields(rng, around, values, habits=habits)
    place, inside = fields(rng, _PLACE, values, habits=habits)
    name = rng.choice(("address", "location", "place"))
    schema["properties"][name], answer[name] = place, inside
    schema["required"].append(name)
    return Sample("offices", schema, document, answer, None)


def _directory(rng: random.Random, offices: Sequence[Office]) -> Sample:
    """Return a sample of several offices in a list."""
    slots = [slot for slot in _CONTACT[:6] if slot.name != "title"]
    slots = [slots[0], *rng.sample(slots[1:], rng.randint(1, 4))]
    texts, items = [], []
    separator = rng.choice((", ", " | ", "\n", " - ", "; "))
    for office in offices:
        values, lines = _values(rng, replace(office, title=None))
        values["address"] = ", ".join(line.rstrip(",") for line in lines)
        reached = ((kind, values[kind]) for kind in _LABELS if values[kind])
        said = [
            office.name,
            values["address"],
            *(f"fax {where}" if kind == "fax" else where for kind, where in reached),
        ]
        texts.append(separator.join(said))
        items.append({slot.name: values[slot.name] for slot in slots})
    several = ("offices", "contacts", "entries", "people")
    about = rng.choice(("All offices, in their order.", "One for each person."))
    schema, answer = listed(rng, several, slots, items, about=about, required=("name", "address"))
    document = ("\n\n" if separator == "\n" else "\n").join(texts)
    return Sample("offices", schema, document, answer, None)
