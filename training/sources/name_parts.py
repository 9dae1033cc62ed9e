"""Names of people and companies with their parts: `name_data/labeled` of datamade/probablepeople.

A document is a name, or a line that holds one. Left out are names of two people, names with a part in two places, and
persons of one word, of which nobody can tell whether it is the given name.
"""

import random
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree as ET

from training.generate import Sample
from training.sources.asking import Slot, record

EACH = 2
"""How many samples a name gives, for there are few."""

BARE_SHARE = 0.4
"""How many documents are a name alone."""

WHOLE_SHARE = 0.4
"""How many of the companies whose name has one part are kept."""


class _Kind(NamedTuple):
    """How names of a kind are read: the slot of each label, and the lines in which such a name may stand."""

    title: str
    about: str
    slots: tuple[Slot, ...]
    slot_by_label: Mapping[str, str]
    lines: tuple[str, ...]


_PERSON = _Kind(
    "PersonName",
    "The parts of a person's name.",
    (
        Slot(
            "prefix", "form of address or title before the name, such as Mr. or Dr.", other_names=("title", "honorific")
        ),
        Slot("given_name", "first name, or its initial", other_names=("first_name", "first", "given")),
        Slot("middle_name", "middle name, or its initial", other_names=("middle",)),
        Slot("surname", "family name", other_names=("last_name", "family_name", "last")),
        Slot("suffix", "what follows the name, such as Jr. or MD", other_names=("name_suffix", "postfix")),
        Slot("nickname", "what the person is also called", other_names=("nick_name", "known_as")),
    ),
    {
        "PrefixMarital": "prefix",
        "PrefixOther": "prefix",
        "GivenName": "given_name",
        "FirstInitial": "given_name",
        "MiddleName": "middle_name",
        "MiddleInitial": "middle_name",
        "Surname": "surname",
        "LastInitial": "surname",
        "SuffixGenerational": "suffix",
        "SuffixOther": "suffix",
        "Nickname": "nickname",
    },
    (
        "Bill to: {}",
        "Attn: {}",
        "Name: {}",
        "Signed, {}",
        "Passenger: {}",
        "Contact person: {}, phone on request",
        "The parcel for {} has arrived.",
        "Please call {} back before noon.",
        "The form was filled in by {} yesterday.",
        "I met {} at the fair, who asked for our catalogue.",
        "Reserved for {}, table 4, seven o'clock.",
        "1 ticket, row 12, seat 3\nHolder: {}\nPaid by card",
    ),
)

_COMPANY = _Kind(
    "CompanyName",
    "The parts of the name of a company or an organization.",
    (
        Slot("name", "name without the legal form, branch and committee", other_names=("company_name", "organization")),
        Slot("legal_form", "legal form, such as Inc. or LLC", other_names=("legal_type", "company_type")),
        Slot("branch", "branch or district, with its number or place", other_names=("division", "local_branch")),
        Slot("committee", "kind of committee or fund", other_names=("committee_type",)),
        Slot("abbreviation", "short form of the name", other_names=("short_name", "acronym")),
    ),
    {
        "CorporationName": "name",
        "CorporationNameOrganization": "name",
        "CorporationNameAndCompany": "name",
        "CorporationLegalType": "legal_form",
        "CorporationNameBranchType": "branch",
        "CorporationNameBranchIdentifier": "branch",
        "CorporationCommitteeType": "committee",
        "ShortForm": "abbreviation",
    },
    (
        "Bill to: {}",
        "Payee: {}",
        "Supplier: {}",
        "Received from {} on account",
        "The invoice of {} is still open.",
        "We have written to {} about the delivery.",
        "Shipper: {}\nGoods: 3 boxes\nPaid",
    ),
)


def samples(rng: random.Random, repository: Path) -> Iterator[Sample]:
    """Yield some samples for each name whose parts are clear."""
    folder = repository / "name_data/labeled"
    for file, kind in (("person_labeled.xml", _PERSON), ("company_labeled.xml", _COMPANY)):
        for name in ET.parse(folder / file).getroot().iter("Name"):  # noqa: S314 - a cloned repository that was looked at
            text, parts = _parts(name, kind.slot_by_label)
            if parts is None or (kind is _PERSON and len(text.split()) < 2):
                continue
            if len(parts) > 1 or (kind is _COMPANY and rng.random() < WHOLE_SHARE):
                for _ in range(EACH):
                    line = "{}" if rng.random() < BARE_SHARE else rng.choice(kind.lines)
                    about = kind.about if line == "{}" else f"{kind.about[:-1]} in a line of text."
                    yield record(rng, "names", line.format(text), kind.slots, parts, title=kind.title, about=about)


def _parts(name: ET.Element, slot_by_label: Mapping[str, str]) -> tuple[str, dict[str, str] | None]:
    """Return a name with its parts by slots; no parts where a label is unknown or a part stands in two places."""
    tokens = [(slot_by_label.get(part.tag), " ".join((part.text or "").split())) for part in name]
    text = " ".join(token for _, token in tokens)
    runs: list[tuple[str | None, list[str]]] = []
    for slot, token in tokens:
        if runs and runs[-1][0] == slot:
            runs[-1][1].append(token)
        else:
            runs.append((slot, [token]))
    parts = {slot: _bare(" ".join(run)) for slot, run in runs if slot}
    return text, parts if len(parts) == len(runs) and all(parts.values()) else None


def _bare(part: str) -> str:
    """Return a part without the signs around it: `"Bob",` → `Bob`, but `Jr.` stays."""
    return part.strip(" ,;()\"'“”")
