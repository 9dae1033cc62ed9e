"""Thresholds on documents of strangers: is what they promise kept? `python -m benchmarks.thresholds FOLDER --out FILE`.

The folder is that of `benchmarks.public`. Of each set, a half of the documents calibrates, and the other half tests:
how many fields have a threshold, how many of the tested values those accept, and how many of these are wrong. Before it
stands how well the confidence, and it with the kind of match, tell right values from wrong ones.

With `--out`, scores of documents are kept in a file, and what it has is not asked again; `--read` prints its tables.
"""

import argparse
import json
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import groupby, islice
from operator import attrgetter, itemgetter
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from pydantic import TypeAdapter

from benchmarks.evidence import area_under_curve
from benchmarks.public import AT_ONCE, Document, TypeOf, read_documents, read_types
from structured import Extractor, evaluate, load_model
from structured.errors import StructuredWarning
from structured.jobs import Evaluation
from structured.jobs.figures import DocumentScore, ValueScore
from structured.models import LanguageModel

RISKS = (0.05, 0.1, 0.2)
CONFIDENCE = 0.9

Scored = TypeAdapter(DocumentScore)


class Line(NamedTuple):
    """The score of a document, as a line of the file has it; its id is that of the document."""

    model: str
    set: str
    score: DocumentScore


def scored(model: LanguageModel, types: Mapping[str, TypeOf], documents: Iterable[Document]) -> Iterator[Line]:
    """Yield the scores of documents, some at once."""
    for (name, kind), of_kind in groupby(sorted(documents, key=attrgetter("set", "type")), attrgetter("set", "type")):
        extractor = Extractor(types[kind], model=model)
        while some := list(islice(of_kind, AT_ONCE)):
            evaluation = evaluate(extractor, [(one.text, one.gold) for one in some], compare="folded", progress=False)
            for one, score in zip(some, evaluation.documents, strict=True):
                yield Line(model.name, name, replace(score, id=one.id))


def read_lines(path: Path | None) -> list[Line]:
    """Return the scores that a file has."""
    if path is None or not path.exists():
        return []
    records = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return [Line(one["model"], one["set"], Scored.validate_python(one["score"])) for one in records]


def values_of(documents: Iterable[DocumentScore]) -> list[ValueScore]:
    """Return the values that were given with a confidence."""
    return [value for document in documents for value in document.values if value.trust is not None]


SUPPORT = {"none": 0.0, "fuzzy": 0.5, "concluded": 0.5}
"""The support of a value by its kind of match; of the others it is 1."""

MEASURES: Mapping[str, Callable[[ValueScore], float]] = {
    "confidence": lambda value: value.trust or 0.0,
    "confidence + match": lambda value: (value.trust or 0.0) + SUPPORT.get(str(value.match), 1.0),
    "confidence × match": lambda value: (value.trust or 0.0) * (1 + SUPPORT.get(str(value.match), 1.0)),
}
"""What may tell right values from wrong ones."""


def measure_table(sets: Mapping[str, Sequence[DocumentScore]]) -> Iterator[str]:
    """Yield a table: for each set, how probable it is that a right value has the greater measure than a wrong one."""
    yield f"| set | values | right | {' | '.join(MEASURES)} |"
    yield "|---" * (3 + len(MEASURES)) + "|"
    for name, documents in sets.items():
        values = values_of(documents)
        right = [value.is_right for value in values]
        areas = [area_under_curve(list(map(measure, values)), right) for measure in MEASURES.values()]
        yield f"| {name} | {len(values):,} | {fmean(right):.0%} | {' | '.join(f'{one:.3f}' for one in areas)} |"


def threshold_table(sets: Mapping[str, Sequence[DocumentScore]]) -> Iterator[str]:
    """Yield a table: for each set and risk, what thresholds of one half accept of the other, and how much is wrong."""
    yield "| set | risk | fields with a threshold | values accepted | wrong of these | results accepted | wrong |"
    yield "|---" * 7 + "|"
    for name, documents in sets.items():
        half = len(documents) // 2
        for risk in RISKS:
            found = Evaluation("", "", tuple(documents[:half])).thresholds(risk, CONFIDENCE)
            certain = {field: one.least for field, one in found.fields.items() if one.least is not None}
            values = values_of(documents[half:])
            accepted = [not value.is_right for value in values if (value.trust or 0) >= certain.get(value.field, 2)]
            least = 2 if found.results.least is None else found.results.least
            whole = [one for one in documents[half:] if one.confidence is not None]
            passed = [1 - one.score for one in whole if (one.confidence or 0) >= (least)]
            shares = [_share(accepted, len(values)), _share(passed, len(whole))]
            fields = f"{len(certain)} of {len(found.fields)}"
            yield f"| {name} | {risk:.0%} | {fields} | {' | '.join(shares)} |"


def _share(wrong: Sequence[float], count: int) -> str:
    return f"{len(wrong)} of {count} | {fmean(wrong):.1%}" if wrong else f"0 of {count} | –"


def ask(arguments: argparse.Namespace, documents: Sequence[Document]) -> list[Line]:
    """Return all scores, those of the file and new ones, which are written to it."""
    model = load_model(arguments.model, adapter=arguments.adapter)
    lines = [line for line in read_lines(arguments.out) if line.model == model.name]
    known = {(line.set, line.score.id) for line in lines}
    new = [one for one in documents if (one.set, one.id) not in known]
    for line in scored(model, read_types(arguments.folder), new):
        lines.append(line)
        if arguments.out:
            with arguments.out.open("a", encoding="utf-8") as file:
                record: dict[str, Any] = {"model": line.model, "set": line.set, "score": asdict(line.score)}
                file.write(json.dumps(record) + "\n")
    return lines


def main() -> None:
    """Score what is not in the file yet, and print the tables of each model."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="the documents: files *.jsonl and the module types.py")
    parser.add_argument("--model", default="packaged", help="as load_model takes it; default: the packaged model")
    parser.add_argument("--adapter", type=Path, help="a LoRA adapter for the model: a GGUF file, or a folder of PEFT")
    parser.add_argument("--count", type=int, default=150, help="documents of each set; default: 150")
    parser.add_argument("--sets", default="", help="names of sets, with commas between them; default: all")
    parser.add_argument("--out", type=Path, help="a file of scores, one a line; what it has is not asked again")
    parser.add_argument("--read", type=Path, help="ask nothing: print the tables of what --out has written")
    arguments = parser.parse_args()
    documents = read_documents(arguments.folder, [name for name in arguments.sets.split(",") if name], arguments.count)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StructuredWarning)
        lines = read_lines(arguments.read) if arguments.read else ask(arguments, documents)
    place = {(one.set, one.id): number for number, one in enumerate(documents)}  # the halves are drawn at random
    lines = [line for line in lines if (line.set, line.score.id) in place]
    lines.sort(key=lambda line: (line.model, line.set, place[line.set, line.score.id]))
    for model, of_model in groupby(lines, itemgetter(0)):
        sets = {name: [line.score for line in some] for name, some in groupby(of_model, itemgetter(1))}
        for table in (measure_table, threshold_table):
            print(f"\n{model}\n")
            print("\n".join(table(sets)), flush=True)


if __name__ == "__main__":
    main()
