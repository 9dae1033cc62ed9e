"""The printed heads of papers and what is in them: the training data of kermitt2/grobid, but for its citations.

First pages as a machine read them, line by line; affiliations with their addresses; acknowledgements; names of authors.
"""

import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

from training.generate import Sample
from training.sources.asking import Slot, listed, record, some
from training.sources.marked import Labels, Marked, elements, is_latin, local_name, marked

FOLDER = "grobid-trainer/resources/dataset"

LONGEST = 1_700
"""Characters of a document."""

HEADS, AFFILIATIONS = 3, 1
"""How many samples a first page and an affiliation give."""


def samples(rng: random.Random, repository: Path) -> Iterator[Sample]:
    """Yield the samples of all four kinds."""
    folder = repository / FOLDER
    for read in (_heads, _affiliations, _thanks, _names):
        yield from read(rng, folder)


_HEAD_LABELS = {
    "docTitle": "title",
    "docAuthor": "authors",
    "affiliation": "affiliations",
    "address": "addresses",
    "date": "date",
    "email": "emails",
    "phone": "phone",
    "idno": "number",
    "reference": "reference",
    "note submission": "history",
    "note copyright": "copyright",
}
_HEAD = (
    Slot("title", "title of the paper, its lines in one", other_names=("headline", "name", "paper_title")),
    Slot("authors", "names of the authors, as printed", other_names=("author", "by", "written_by")),
    Slot("address", "postal address or place, its lines in one", other_names=("location", "place", "where")),
    Slot("affiliation", "where the author works, without the address", other_names=("institution", "organisation")),
    Slot("date", "date of the paper, as printed", other_names=("published", "day")),
    Slot("email", "e-mail address", other_names=("mail", "e_mail", "contact")),
    Slot("phone", "telephone or fax number, as printed", other_names=("telephone", "tel")),
    Slot("number", "DOI, arXiv or report number, as printed", other_names=("identifier", "document_number", "id")),
    Slot("history", "when it was received and accepted, as printed", other_names=("received", "submission")),
    Slot("copyright", "line of the copyright", other_names=("rights", "copyright_notice")),
    Slot("affiliations", "where the authors work, without addresses", other_names=("institutions",), is_list=True),
    Slot("addresses", "postal addresses or places, each in one line", other_names=("locations",), is_list=True),
    Slot("emails", "e-mail addresses", other_names=("contacts", "mails"), is_list=True),
)
_HINTS = {
    "title": "",
    "authors": "",
    "address": "",
    "addresses": "",
    "affiliation": "",
    "affiliations": "",
    "date": r"\b(?:19|20)\d\d\b",
    "email": "@",
    "emails": "@",
    "phone": r"(?i)\btel|fax|phone|\+\d",
    "number": r"(?i)doi|arxiv|report|/\d",
    "history": "[Rr]eceived|[Aa]ccept",
    "copyright": "©|opyright|reserved",
}
"""What makes one doubt that something is missing, though nobody annotated it: it is not asked for then."""

_SINGULARS = {"affiliations": "affiliation", "addresses": "address", "emails": "email"}


def _heads(rng: random.Random, folder: Path) -> Iterator[Sample]:
    for path in sorted(folder.glob("header/corpus/tei/*.xml")):
        for element in elements(path, "front"):
            head = marked(
                _without_abstract(element), _labels(_HEAD_LABELS, around=("front", "byline", "titlePart", "div"))
            )
            if head and 80 < len(head.text) <= LONGEST and is_latin(head.text):
                for _ in range(HEADS):
                    yield _head(rng, head)


def _without_abstract(front: ET.Element) -> ET.Element:
    """Return a first page up to its abstract: more would be too long."""
    for place, child in enumerate(front):
        if child.get("type") == "abstract":
            for rest in list(front)[place:]:
                front.remove(rest)
            break
    return front


def _head(rng: random.Random, head: Marked) -> Sample:
    values: dict[str, Any] = dict(head.single())
    for several, one in _SINGULARS.items():
        mark = _MARK if several == "affiliations" else _NO_MARK
        found = list(dict.fromkeys(mark.sub("", one) for one in head.several(several)))
        values[several] = found
        values |= {one: found[0]} if len(found) == 1 else {}
    unclear = {part.label for part in head.parts if len(head.several(part.label)) > 1}
    slots = [slot for slot in _HEAD if slot.name not in unclear - set(_SINGULARS)]
    slots = [slot for slot in slots if len(head.several(_plural(slot.name))) < 2]
    slots = [slot for slot in slots if values.get(slot.name) or not re.search(_HINTS[slot.name], head.text)]
    are_lists = rng.random() < 0.3
    left_out = set(_SINGULARS.values()) if are_lists else set(_SINGULARS)
    slots = [slot for slot in slots if slot.name not in left_out]
    return record(rng, "first pages", head.text, slots, values, title="Paper", about="The head of a printed paper.")


_MARK = re.compile(r"^(?:\d{1,2}|[*†‡§¶]|[a-h]) (?=\S)")
"""The mark that leads from an author to an affiliation."""

_NO_MARK = re.compile(r"^[*†‡§¶] (?=\S)")
"""A number before an address is that of the house."""


def _plural(name: str) -> str:
    """Return the label that a slot for one value is read from; "" for any other slot."""
    return next((several for several, one in _SINGULARS.items() if one == name), "")


_PLACE_LABELS = {
    "orgName department": "department",
    "orgName institution": "institution",
    "orgName laboratory": "laboratory",
    "addrLine": "street",
    "settlement": "city",
    "region": "region",
    "region state": "region",
    "postCode": "postal_code",
    "postBox": "po_box",
    "country": "country",
}
_PLACE = (
    Slot("department", "department or faculty", other_names=("division", "faculty", "school")),
    Slot("laboratory", "laboratory or group", other_names=("lab", "group", "research_group")),
    Slot("institution", "university, company or institute", other_names=("organisation", "organization", "company")),
    Slot("street", "street with its number, or another line above the city", other_names=("address_line", "line")),
    Slot("po_box", "post office box", other_names=("post_office_box", "box")),
    Slot("city", "city or town", other_names=("town", "settlement", "place")),
    Slot("region", "state, province or region", other_names=("state", "province")),
    Slot("postal_code", "postal code, as printed", other_names=("postcode", "zip", "zip_code")),
    Slot("country", "country, as printed", other_names=("nation", "land")),
)


def _affiliations(rng: random.Random, folder: Path) -> Iterator[Sample]:
    found: list[Marked] = []
    for path in sorted(folder.glob("affiliation-address/corpus/*.xml")):
        for element in elements(path, "affiliation"):
            place = marked(element, _labels(_PLACE_LABELS, around=("affiliation", "address", "marker")))
            if place and 25 < len(place.text) < 400 and is_latin(place.text) and _is_unmarked(element):
                found.append(place)
    for place in found:
        slots = [slot for slot in _PLACE if len(place.several(slot.name)) < 2]
        if len(slots) > 5 and len(place.parts) > 1:
            for _ in range(AFFILIATIONS):
                about = "An organization with its address."
                yield record(rng, "affiliations", _relined(rng, place.text), slots, place.single(), about=about)
        if rng.random() < 0.12:
            yield _places(rng, [place, *rng.sample(found, min(len(found), rng.randint(1, 3)))])


def _is_unmarked(element: ET.Element) -> bool:
    return all(local_name(part) != "marker" or not (part.text or "").strip() for part in element)


def _relined(rng: random.Random, text: str) -> str:
    """Return a text with its lines, in one line, or with a line for each of its parts between commas."""
    roll = rng.random()
    if roll < 0.45:
        return " ".join(text.split())
    return text if roll < 0.75 else " ".join(text.split()).replace(", ", ",\n")


def _places(rng: random.Random, places: Sequence[Marked]) -> Sample:
    """Return a sample of several affiliations in a list."""
    unclear = {slot.name for slot in _PLACE for place in places if len(place.several(slot.name)) > 1}
    slots = [slot for slot in _PLACE if slot.name not in unclear] or [_PLACE[-1]]
    chosen = rng.sample(slots, min(len(slots), rng.randint(1, 4)))
    items = [{slot.name: place.single().get(slot.name) for slot in chosen} for place in places]
    several = ("affiliations", "organizations", "institutions", "places")
    schema, answer = listed(rng, several, chosen, items, about="One for each line.", required=())
    document = "\n".join(" ".join(place.text.split()) for place in places)
    return Sample("affiliations", schema, document, answer, None)


_THANKS_LABELS = {
    "funder": "funders",
    "grantNumber": "grant_numbers",
    "individual": "people",
    "institution": "institutions",
    "institution infrastructure": "institutions",
    "projectName": "projects",
    "programName": "programs",
    "grantName": "grants",
}
_THANKS = (
    Slot("funders", "who gave the money", other_names=("sponsors", "funding_agencies"), is_list=True),
    Slot("grant_numbers", "numbers of grants and contracts", other_names=("grants", "award_numbers"), is_list=True),
    Slot("people", "names of people", other_names=("individuals", "persons", "thanked"), is_list=True),
    Slot("institutions", "other institutions", other_names=("organizations",), is_list=True),
    Slot("projects", "names of projects", other_names=("project_names",), is_list=True),
    Slot("programs", "names of funding programs", other_names=("programmes",), is_list=True),
)


def _thanks(rng: random.Random, folder: Path) -> Iterator[Sample]:
    label = _labels(_THANKS_LABELS, around=("acknowledgment", "funding"))
    for path in sorted(folder.glob("funding-acknowledgement/corpus/*.xml")):
        for element in (*elements(path, "acknowledgment"), *elements(path, "funding")):
            thanks = marked(element, label)
            if thanks and 40 < len(thanks.text) < 900 and is_latin(thanks.text):
                values = {slot.name: list(dict.fromkeys(thanks.several(slot.name))) for slot in _THANKS}
                if any(values.values()) or rng.random() < 0.25:
                    about = "What an acknowledgement names."
                    yield record(rng, "thanks", " ".join(thanks.text.split()), _THANKS, values, about=about)


_NAME_LABELS = {"forename": "given_name", "middlename": "middle_name", "surname": "surname", "suffix": "suffix"}
_NAME = (
    Slot("given_name", "first name, or its initial", other_names=("first_name", "forename", "given")),
    Slot("middle_name", "further names or initials", other_names=("middle", "initials")),
    Slot("surname", "family name", other_names=("last_name", "family_name", "family")),
)


def _names(rng: random.Random, folder: Path) -> Iterator[Sample]:
    """Yield a sample of the authors of each paper, in a list."""
    for path in sorted(folder.glob("name/header/corpus/*.xml")):
        for element in elements(path, "author"):
            label = _labels({"persName": "person"}, around=_ANY)
            whole = marked(element, label)
            people = [
                marked(one, _labels(_NAME_LABELS, around=_ANY)) for one in element if local_name(one) == "persName"
            ]
            names = [one.single() for one in people if one]
            if not whole or len(names) != len(people) or not 0 < len(names) < 9 or not is_latin(whole.text):
                continue
            if any("surname" not in name or "given_name" not in name for name in names):
                continue
            slots = [_NAME[2], *some(rng, [_NAME[0], _NAME[1]], {"given_name": True})]
            items = [{slot.name: name.get(slot.name) for slot in slots} for name in names]
            several = ("authors", "people", "names", "persons")
            schema, answer = listed(
                rng, several, slots, items, about="All people, in their order.", required=("surname", "given_name")
            )
            yield Sample("authors", schema, whole.text, answer, None)


_ANY = ("author", "persName", "marker", "roleName", "suffix", "title", "affiliation", "forename", "surname", "lb")


def _labels(labels: dict[str, str], around: Sequence[str]) -> Labels:
    """Return what names the parts of a text; an element that is neither known nor `around` them is another part."""

    def label(element: ET.Element) -> str | None:
        name = local_name(element)
        found = labels.get(f"{name} {element.get('type') or ''}".strip()) or labels.get(name if name == "idno" else "")
        return found or (None if name in around or name == "lb" or not name else "other")

    return label
