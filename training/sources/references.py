"""References to printed works in their parts: inukshuk/anystyle, and the citations of kermitt2/grobid.

A document is one reference, in a line or broken over several, or a list of them.
"""

import random
import re
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path
from xml.etree import ElementTree as ET

from training.generate import Sample
from training.sources.asking import Slot, listed, record
from training.sources.marked import Marked, bare, elements, is_latin, local_name, marked

LONGEST = 420
"""Characters of a reference; a longer one is several in one."""

LISTED_SHARE = 0.15
"""How many of the documents are lists."""

_TEI = "grobid-trainer/resources/dataset/citation/corpus"


def samples(rng: random.Random, repository: Path) -> Iterator[Sample]:
    """Yield samples of the references of a repository, whichever of the two it is."""
    works = list(_of_tei(repository) if (repository / _TEI).is_dir() else _of_anystyle(repository))
    rng.shuffle(works)
    while works:
        count = rng.randint(2, 4) if rng.random() < LISTED_SHARE else 1
        some_of_them, works = works[:count], works[count:]
        yield _listed(rng, some_of_them) if len(some_of_them) > 1 else _single(rng, some_of_them[0])


def _of_tei(repository: Path) -> Iterator[Marked]:
    for path in sorted((repository / _TEI).glob("*.xml")):
        for element in elements(path, "bibl"):
            work = marked(element, _label)
            if work and _is_fit(work):
                yield work


def _label(element: ET.Element) -> str | None:
    """Return the name of a part of a reference in TEI."""
    name, kind = (
        local_name(element),
        next((element.get(key) for key in ("level", "type", "unit") if element.get(key)), ""),
    )
    return _TEI_LABELS.get(f"{name} {kind}".strip()) or (
        None if name in ("bibl", "lb", "hi") else f"other {name} {kind}"
    )


_TEI_LABELS = {
    "author": "authors",
    "editor": "editors",
    "date": "date",
    "title a": "title",
    "title j": "journal",
    "title m": "book",
    "biblScope volume": "volume",
    "biblScope vol": "volume",
    "biblScope issue": "issue",
    "biblScope pp": "pages",
    "biblScope page": "pages",
    "publisher": "publisher",
    "pubPlace": "place",
    "idno DOI": "doi",
    "ptr web": "url",
    "note report": "kind",
}
_ANYSTYLE_LABELS = {
    "author": "authors",
    "editor": "editors",
    "date": "date",
    "title": "title",
    "journal": "journal",
    "container-title": "book",
    "pages": "pages",
    "publisher": "publisher",
    "location": "place",
    "doi": "doi",
    "url": "url",
}
"""Its volumes hold issues too, and its editors words around their names: neither is asked for."""


def _of_anystyle(repository: Path) -> Iterator[Marked]:
    for name in ("core", "gold", "good"):
        for path in repository.glob(f"res/parser/{name}.xml"):
            for element in elements(path, "sequence"):
                work = marked(element, _anystyle_label)
                if work and _is_fit(work):
                    yield work


def _anystyle_label(element: ET.Element) -> str | None:
    name = local_name(element)
    return None if name == "sequence" else _ANYSTYLE_LABELS.get(name, f"other {name}")


def _is_fit(work: Marked) -> bool:
    """Say whether a reference is a whole one, in Latin letters, with parts that are in its text."""
    known = {part.label for part in work.parts if not part.label.startswith("other")}
    is_whole = len(known) > 2 and known & {"title", "journal", "book", "publisher"} and 30 < len(work.text) <= LONGEST
    return (
        is_latin(work.text) and bool(is_whole) and all(part.text in " ".join(work.text.split()) for part in work.parts)
    )


_SLOTS = (
    Slot("authors", "names of the authors, as printed", other_names=("author", "written_by", "creators")),
    Slot("title", "title of the work", other_names=("name", "article_title", "headline")),
    Slot("journal", "name of the journal", other_names=("periodical", "published_in")),
    Slot("book", "title of the book or of the proceedings it is in", other_names=("container", "proceedings")),
    Slot("date", "date or year, as printed", other_names=("year", "published", "publication_date")),
    Slot("volume", "number of the volume", other_names=("vol", "volume_number")),
    Slot("issue", "number of the issue", other_names=("number", "issue_number")),
    Slot("pages", "pages, as printed", other_names=("page_range", "page")),
    Slot("publisher", "publishing house", other_names=("publishing_house", "press")),
    Slot("place", "where it was published", other_names=("city", "location", "publication_place")),
    Slot("editors", "names of the editors, as printed", other_names=("edited_by", "editor")),
    Slot("doi", "digital object identifier", other_names=("identifier",)),
    Slot("url", "address on the web", other_names=("link", "web_address")),
)


_BEFORE = re.compile(r"^(?:In:? |pp?\.? ?|[Pp]ages? )(?=[A-Z“\d])")
"""What is before a part and not of it: "In Proceedings", "pp. 3-5"."""


def _values(work: Marked) -> dict[str, str]:
    """Return what a reference states in one place each; the title of a book that is not in another is its title."""
    values = {name: bare(_BEFORE.sub("", part)) for name, part in work.single().items()}
    if "pages" in values:
        values["pages"] = values["pages"].removesuffix(" p")
    labels = {part.label for part in work.parts}
    if "book" in values and "title" not in labels and "journal" not in labels:
        values["title"] = values.pop("book")
    return values


def _askable(works: Sequence[Marked]) -> list[Slot]:
    """Return the slots that have one right value in each reference."""
    is_tei = any(part.label in ("volume", "issue") for work in works for part in work.parts)
    unclear = {part.label for work in works for part in work.parts if part.label not in _values(work)} - {"book"}
    untold = set() if is_tei else {"volume", "issue", "editors"}
    others = {part.label for work in works for part in work.parts if part.label.startswith("other")}
    unclear |= {"doi", "url"} if any("idno" in label or "ptr" in label for label in others) else set()
    return [slot for slot in _SLOTS if slot.name not in unclear | untold]


def _written(rng: random.Random, work: Marked) -> str:
    """Return a reference as a document has it: in a line, or broken as a printer or a machine would."""
    text = " ".join(work.text.split())
    return (
        textwrap.fill(text, rng.randint(38, 90), break_on_hyphens=False, break_long_words=False)
        if rng.random() < 0.3
        else text
    )


def _single(rng: random.Random, work: Marked) -> Sample:
    slots, values = _askable([work]), _values(work)
    before = rng.choice(("", "", "", "", "1. ", "[7] ", "- ", "See "))
    document = before + _written(rng, work)
    return record(rng, "references", document, slots, values, title="Reference", about="A reference to a printed work.")


def _listed(rng: random.Random, works: Sequence[Marked]) -> Sample:
    slots = _askable(works)
    chosen = rng.sample(slots, min(len(slots), rng.randint(1, 4)))
    items = [{slot.name: _values(work).get(slot.name) for slot in chosen} for work in works]
    several = ("references", "works", "citations", "entries")
    about = rng.choice(("All references, in their order.", "One for each reference."))
    schema, answer = listed(rng, several, chosen, items, about=about, required=())
    marks = rng.choice((("", "", "", ""), ("1. ", "2. ", "3. ", "4. "), ("[1] ", "[2] ", "[3] ", "[4] ")))
    document = "\n".join(f"{mark}{' '.join(work.text.split())}" for mark, work in zip(marks, works, strict=False))
    return Sample("references", schema, document, answer, None)
