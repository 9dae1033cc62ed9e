"""Evidence on documents with gold answers: right fields, right spans, and what a confidence is worth.

`python -m benchmarks.evidence --model smollm2 --out answers.jsonl` answers the documents in each way, keeps what it
has, and prints the tables of `docs/evidence.md`. A value that stands in its document once, in one of the forms that
people write it in, has a span that is certain; spans are judged by these values, where they are right.

Figures are those of the split that nothing was chosen by. Confidence is chosen and calibrated on the other one.
"""

import argparse
import itertools
import json
import math
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import date, datetime, time
from decimal import Decimal
from enum import Enum
from functools import reduce
from operator import or_
from pathlib import Path
from statistics import fmean
from time import process_time
from types import UnionType
from typing import Any, Literal, NamedTuple, TypeVar, cast, get_args, get_origin

import numpy as np
from pydantic import BaseModel, TypeAdapter, ValidationError, create_model

from benchmarks.gold import Record, Split, is_same, leaves, records
from benchmarks.gold.types import TYPES
from structured import Extractor, Grounded, Result, classify, load_model
from structured.decoding.requests import Generation
from structured.errors import ModelError, StructuredWarning
from structured.extraction import events
from structured.models import LanguageModel
from structured.output_types.paths import Steps
from structured.results.attribution import tokens_of_leaves, typed_leaves
from structured.results.evidence import Calibration, expected_calibration_error

T = TypeVar("T")

MAX_TOKENS = 256
EXAMPLES = 2
"""Documents of each type, the first of those to tune on, that a prompt may show with their answers."""


class Way(NamedTuple):
    """A way to answer: which values the document has to state, and what else the model is told or allowed."""

    grounded: Literal["text", "all"] | None
    absent: bool = False
    examples: bool = False


def with_grounded_text(kind: Any) -> Any:
    """Return a type in which every string is `Grounded`, also as an item of a list, which no path names."""
    if kind is str:
        return Grounded[str]
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        members = {name: (with_grounded_text(one.annotation), one) for name, one in kind.model_fields.items()}
        return create_model(kind.__name__, __doc__=kind.__doc__, **cast("dict[str, Any]", members))
    origin, inner = get_origin(kind), get_args(kind)
    if origin is list:
        return list[with_grounded_text(inner[0])]  # type: ignore[misc]  # made at run time
    if origin is UnionType:
        return reduce(or_, map(with_grounded_text, inner))
    return kind


WAYS = {
    "free": Way(None),
    "text grounded": Way("text"),
    "all grounded": Way("all"),
    "all grounded, or absent": Way("all", absent=True),
    "free, two examples": Way(None, examples=True),
    "all grounded, two examples": Way("all", examples=True),
}


@dataclass
class Value:
    """One value of an answer.

    Attributes:
        path: Where it stands in the answer.
        right: Whether it is that of the right answer.
        match: How its span was found.
        span: Where the document states it, by the evidence.
        certain: Where the document states the right value, if it does so once.
        confidence: That of the evidence; None if the model was not asked.
        tokens: The log-probability and the legal mass of each token that it was sampled with; none of an answer from
            which unsupported values were removed, whose tokens are no longer those of its text.
    """

    path: str
    right: bool
    match: str
    span: Sequence[int] | None
    certain: Sequence[int] | None
    confidence: float | None
    tokens: list[tuple[float, float]]


@dataclass
class Answer:
    """What became of one document. Without an answer, `error` is the kind of the error, and there are no values."""

    model: str
    way: str
    split: Split
    position: int
    output_type: str
    right: int
    fields: int
    seconds: float
    error: str | None = None
    sampled_tokens: int = 0
    values: list[Value] = field(default_factory=list)


def answer(model: LanguageModel, way: str, split: Split, output_type: type[BaseModel], count: int) -> list[Answer]:
    """Answer the documents of one type among the first so many of a split; none of those that are shown as examples."""
    how, examples = WAYS[way], shown_examples(output_type)
    chosen = [
        (position, record)
        for position, record in enumerate(records(split)[:count])
        if type(record.value) is output_type and record not in examples
    ]
    written: dict[int, list[Generation]] = {}

    def keep(event: events.Event) -> None:
        if isinstance(event, events.AttemptWritten):
            written.setdefault(event.position, []).extend(event.generations)

    extractor = Extractor[Any](
        with_grounded_text(output_type) if how.grounded == "text" else output_type,
        model=model,
        allow_missing=True if how.absent else None,
        grounded=True if how.grounded == "all" else None,
        examples=examples if how.examples else (),
        max_tokens=MAX_TOKENS,
        observe=keep,
    )
    started = process_time()
    documents = [record.document for _, record in chosen]
    results: dict[int, Result[Any]] = {}
    with suppress(ModelError):  # the documents that it leaves unfinished count as failed
        results.update((result.position, result) for result in extractor.results(documents, progress=False))
    seconds = (process_time() - started) / max(len(chosen), 1)
    answers = []
    for place, (position, record) in enumerate(chosen):
        result = results.get(place)
        wanted = dict(leaves(record.value.model_dump()))
        one = Answer(model.name, way, split, position, output_type.__name__, 0, len(wanted), seconds)
        if result is None or result.text is None:
            one.error = ModelError.__name__ if result is None else type(result.error).__name__
        else:
            generation = next((one for one in written[place] if one.text == result.text), None)
            given = dict(leaves(json.loads(result.text)))
            one.right = sum(is_right(wanted, path, value) for path, value in given.items())
            one.fields = len(wanted.keys() | given.keys())
            one.sampled_tokens = result.usage.sampled_tokens
            one.values = list(_values(extractor, record, wanted, result, generation))
        answers.append(one)
    return answers


def shown_examples(output_type: type[BaseModel]) -> list[Record]:
    """Return the documents of a type that prompts may show with their answers."""
    return [record for record in records("tune") if type(record.value) is output_type][:EXAMPLES]


def is_right(wanted: dict[Steps, Any], path: Steps, value: Any) -> bool:
    """Tell whether a JSON value is that of the right answer at its path, read as what stands there."""
    if path not in wanted:
        return False
    expected = wanted[path]
    if expected is None or value is None or isinstance(expected, list):
        return bool(expected == value)
    try:
        return is_same(expected, TypeAdapter(type(expected)).validate_python(value))
    except ValidationError:
        return False


def _values(
    extractor: Extractor[Any],
    record: Record,
    wanted: dict[Steps, Any],
    result: Result[Any],
    generation: Generation | None,
) -> Iterator[Value]:
    text = result.text or ""
    found = [leaf for leaf, _, _ in typed_leaves(extractor.output_type, text)]
    sampled = () if generation is None else generation.diagnostics.tokens
    for leaf, tokens in zip(found, tokens_of_leaves(text, found, sampled), strict=True):
        evidence = result.evidence[leaf.path]
        yield Value(
            leaf.path,
            is_right(wanted, leaf.steps, leaf.value),
            evidence.match,
            evidence.span,
            certain_span(record.document, wanted.get(leaf.steps)),
            evidence.confidence,
            [(token.log_probability, token.legal_mass) for token in tokens],
        )


DATES = (
    *("{0:%Y}-{0:%m}-{0:%d}", "{0:%d}.{0:%m}.{0:%Y}", "{0.day}.{0.month}.{0:%Y}", "{0:%d}/{0:%m}/{0:%Y}"),
    *("{0.day}/{0.month}/{0:%Y}", "{0:%m}/{0:%d}/{0:%Y}", "{0.month}/{0.day}/{0:%Y}"),
    *("{0.day} {0:%B} {0:%Y}", "{0.day}. {0:%B} {0:%Y}", "{0.day} {0:%b} {0:%Y}", "{0:%d} {0:%b} {0:%Y}"),
    *("{0:%B} {0.day}, {0:%Y}", "{0:%b} {0.day}, {0:%Y}", "{0:%B} {0.day} {0:%Y}"),
)
"""Forms that people write a date in."""

WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
"""Numbers that people write in words."""


def spellings(value: Any) -> set[str]:
    """Return the forms that a document may state a value in; none of conclusions and of what takes several places."""
    if isinstance(value, str):
        return {value}
    if isinstance(value, bool | Enum | datetime) or value is None:
        return set()
    if isinstance(value, int | float | Decimal):
        exact = Decimal(str(value)) if isinstance(value, float) else Decimal(value)
        plain = {str(exact), f"{exact.normalize():f}", f"{exact:.2f}"} if exact == round(exact, 2) else {str(exact)}
        grouped = {f"{Decimal(one):,}" for one in plain}
        swapped = {one.translate(str.maketrans(",.", ".,")) for one in plain | grouped}
        spaced = {one.replace(",", mark) for one in grouped for mark in (" ", "'", "’")}
        words = {WORDS[int(exact)]} if exact == int(exact) and 0 <= exact < len(WORDS) else set()
        return plain | grouped | swapped | spaced | words
    if isinstance(value, date):
        return {form.format(value) for form in DATES}
    if isinstance(value, time):
        return {f"{value:%H:%M}", f"{value:%H.%M}", f"{value.hour}:{value:%M}"}
    return set()


def certain_span(document: str, value: Any) -> tuple[int, int] | None:
    """Return where a document states a value, if it does so once, on word boundaries and in any case."""
    forms = "|".join(re.escape(one) for one in sorted(spellings(value), key=len, reverse=True))
    if not forms:
        return None
    found = list(re.finditer(rf"(?<![\w.,])(?:{forms})(?![\w]|[.,]\d)", document, re.IGNORECASE))
    return found[0].span() if len(found) == 1 else None


@dataclass
class Choice:
    """What `classify` said of one field of one document, asked as a question of its own."""

    model: str
    split: Split
    path: str
    right: bool
    confidence: float
    legal_mass: float


def questions(output_type: type[BaseModel]) -> Iterator[tuple[str, Any, str]]:
    """Yield the fields of a type that are conclusions: their names, a type of their values, and what to ask."""
    for name, member in output_type.model_fields.items():
        asked = member.description or name.replace("_", " ")
        for kind in (member.annotation, *get_args(member.annotation)):
            if kind is bool or get_origin(kind) is Literal:
                yield name, kind, asked
            elif isinstance(kind, type) and issubclass(kind, Enum):
                yield name, Literal[tuple(one.value for one in kind)], asked


def choose(model: LanguageModel, split: Split, count: int) -> Iterator[Choice]:
    """Classify the documents of a split by each field that is a conclusion, and not null."""
    for record in records(split)[:count]:
        for name, kind, asked in questions(type(record.value)):
            wanted = getattr(record.value, name)
            wanted = wanted.value if isinstance(wanted, Enum) else wanted
            if wanted is not None:
                found = classify(kind, record.document, model=model, instructions=asked)
                path = f"{type(record.value).__name__}.{name}"
                yield Choice(model.name, split, path, found.value == wanted, found.confidence, found.legal_mass)


Confidence = Callable[[Sequence[tuple[float, float]]], float]


def _combined(combine: Callable[[Sequence[float]], float], *, masses: bool) -> Confidence:
    def confidence(tokens: Sequence[tuple[float, float]]) -> float:
        logs = [share + masses * math.log(max(mass, 1e-300)) for share, mass in tokens]
        return math.exp(combine(logs)) if logs else 1.0

    return confidence


CANDIDATES: dict[str, Confidence] = {
    f"{name}{' × legal masses' if masses else ''}": _combined(combine, masses=masses)
    for masses in (False, True)
    for name, combine in (("product of shares", sum), ("geometric mean", fmean), ("least token", min))
}
"""Ways to make a confidence of a value's tokens: of their shares among the allowed, alone or times the legal masses."""


def area_under_curve(confidences: Sequence[float], right: Sequence[bool]) -> float:
    """Return how often a right value has a higher confidence than a wrong one; ties count half (AUROC)."""
    truth = np.asarray(right, bool)
    above, below = np.asarray(confidences)[truth], np.sort(np.asarray(confidences)[~truth])
    if not len(above) or not len(below):
        return math.nan
    ranks = np.searchsorted(below, above, "left") + np.searchsorted(below, above, "right")
    return float(ranks.sum() / (2 * len(above) * len(below)))


def field_table(answers: Sequence[Answer]) -> Iterator[str]:
    """Yield, for each way, right fields, what they cost, values without support, and spans."""
    yield (
        "| | documents | right fields | failed | s a document | sampled tokens a document | "
        "values not in the document | right spans |"
    )
    yield "|---" * 8 + "|"
    for way, some in by_way(answers, "held_out").items():
        right, fields = sum(one.right for one in some), sum(one.fields for one in some)
        values = [value for one in some for value in one.values]
        certain = [value for value in values if value.right and value.certain]
        hits = sum(value.span is not None and [*value.span] == [*(value.certain or ())] for value in certain)
        yield (
            f"| {way} | {len(some)} | {right} of {fields} ({right / fields:.1%}) | "
            f"{sum(one.error is not None for one in some)} | {fmean(one.seconds for one in some):.2f} | "
            f"{fmean(one.sampled_tokens for one in some):.1f} | {sum(value.match == 'none' for value in values)} of "
            f"{len(values)} | {hits} of {len(certain)} |"
        )


def confidence_table(answers: Sequence[Answer]) -> Iterator[str]:
    """Yield how each candidate separates right values from wrong ones, and its calibration error."""
    ways = [way for way in by_way(answers, "tune") if not WAYS[way].examples and not WAYS[way].absent]
    yield "| | " + " | ".join(f"{way}: AUROC | ECE" for way in ways) + " |"
    yield "|---" * (1 + 2 * len(ways)) + "|"
    for name, confidence in CANDIDATES.items():
        cells = []
        for way in ways:
            values = [value for value in _asked_for(answers, way, "tune") if value.tokens]
            given, right = [confidence(value.tokens) for value in values], [value.right for value in values]
            cells += [f"{area_under_curve(given, right):.3f}", f"{expected_calibration_error(given, right):.3f}"]
        yield f"| {name} | {' | '.join(cells)} |"


def calibration_table(answers: Sequence[Answer]) -> Iterator[str]:
    """Yield the error of confidences as they are, and once calibrated on the split that is not measured."""
    yield "| | values | right | AUROC | ECE | calibrated |"
    yield "|---" * 6 + "|"
    for way in by_way(answers, "tune"):
        tune, held_out = (_asked_for(answers, way, split) for split in ("tune", "held_out"))
        if held_out:
            calibration = Calibration.fit([one.confidence or 0 for one in tune], [one.right for one in tune])
            given, right = [one.confidence or 0 for one in held_out], [one.right for one in held_out]
            errors = [expected_calibration_error(one, right) for one in (given, list(map(calibration.apply, given)))]
            yield (
                f"| {way} | {len(right)} | {fmean(right):.1%} | {area_under_curve(given, right):.3f} | "
                f"{errors[0]:.3f} | {errors[1]:.3f} |"
            )


def choice_table(choices: Sequence[Choice]) -> Iterator[str]:
    """Yield how often `classify` is right, by field and over all, and how far its probabilities are from that."""
    held_out = [one for one in choices if one.split == "held_out"]
    yield "| field | right | AUROC | ECE |"
    yield "|---" * 4 + "|"
    for path, some in [("all", held_out), *groups(held_out, lambda one: one.path)]:
        given, right = [one.confidence for one in some], [one.right for one in some]
        figures = (f"{area_under_curve(given, right):.3f}", f"{expected_calibration_error(given, right):.3f}")
        shown = figures if path == "all" else ("", "")
        yield f"| {path} | {sum(right)} of {len(right)} ({fmean(right):.0%}) | {' | '.join(shown)} |"


def groups(items: Iterable[T], key: Callable[[T], str]) -> Iterator[tuple[str, list[T]]]:
    """Yield items by a key, in the order in which the keys first appear."""
    found: dict[str, list[T]] = {}
    for item in items:
        found.setdefault(key(item), []).append(item)
    yield from found.items()


def by_way(answers: Iterable[Answer], split: Split) -> dict[str, list[Answer]]:
    """Return the answers of a split by the way in which they were given, the ways in their order."""
    found = dict(groups((one for one in answers if one.split == split), lambda one: one.way))
    return {way: found[way] for way in WAYS if way in found}


def _values_of(answers: Iterable[Answer], way: str, split: Split) -> list[Value]:
    return [value for one in answers if (one.way, one.split) == (way, split) for value in one.values]


def _asked_for(answers: Iterable[Answer], way: str, split: Split) -> list[Value]:
    return [value for value in _values_of(answers, way, split) if value.confidence is not None]


def known(path: Path | None, model: str) -> tuple[list[Answer], list[Choice]]:
    """Return what a file has of a model, one answer or choice a line."""
    answers, choices = list[Answer](), list[Choice]()
    if path is not None and path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            if record["model"] == model and "way" in record:
                answers.append(Answer(**{**record, "values": [Value(**value) for value in record["values"]]}))
            elif record["model"] == model:
                choices.append(Choice(**record))
    return answers, choices


def _keep(path: Path | None, some: Sequence[Answer | Choice]) -> None:
    if path is not None:
        with path.open("a", encoding="utf-8") as file:
            file.writelines(json.dumps(asdict(one)) + "\n" for one in some)


def main() -> None:
    """Ask for what is not in the file yet, type after type, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", help="as load_model takes it; by default the model of the package")
    parser.add_argument("--documents", type=int, default=100, help="at most, of each split")
    parser.add_argument("--ways", nargs="*", choices=WAYS, default=list(WAYS))
    parser.add_argument("--splits", nargs="+", choices=["held_out", "tune"], default=["held_out", "tune"])
    parser.add_argument("--out", type=Path, help="a file of answers, one a line; what it has is not asked again")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", StructuredWarning)
    model = load_model(arguments.model)
    answers, choices = known(arguments.out, model.name)
    for split, way, output_type in itertools.product(arguments.splits, arguments.ways, TYPES):
        wanted = way, split, output_type.__name__
        if not any((one.way, one.split, one.output_type) == wanted for one in answers):
            some = answer(model, way, split, output_type, arguments.documents)
            _keep(arguments.out, some)
            answers += some
    for split in arguments.splits:
        if not any(one.split == split for one in choices):
            chosen = list(choose(model, split, arguments.documents))
            _keep(arguments.out, chosen)
            choices += chosen
    for table in (field_table(answers), confidence_table(answers), calibration_table(answers), choice_table(choices)):
        print("\n".join(table), end="\n\n")


if __name__ == "__main__":
    main()
