"""Measure the packaged model on what it has never seen, and write its model card: `python -m training.evaluate`.

Any other model that the library loads can be measured with `--model`; a chat model is asked through its chat template.
Answers are generated as the library generates them: under the mask of each sample's schema, greedily. Beside composed
documents there are sixty that were written by hand, of ten kinds that training knows and ten that it does not, messages
to sort, and fourteen short documents. None is in training; averages of weights were compared by them.
"""

import argparse
import itertools
import json
import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from structured import Extractor
from structured.automata import RegularAutomaton
from structured.decoding.generate import generate
from structured.decoding.requests import Generation, Request
from structured.decoding.sampling import Sampler
from structured.errors import NotStatedError
from structured.index.guide import Guide
from structured.index.index import Index
from structured.json_schema.schema_compiler import schema_to_pattern
from structured.json_schema.whitespace import DEFAULT_WHITESPACE, WhitespaceName
from structured.models import PACKAGED_MODEL, LanguageModel, load_model
from structured.output_types.json_schema import JsonSchema
from structured.output_types.paths import Steps
from structured.output_types.resolve import resolve_json
from structured.results.comparison import Comparison
from training.examples import chat_and_answer, prompt_and_answer
from training.generate import Sample, samples

MAX_TOKENS = 512
BATCH_SIZE = 16
RESULTS = "<!-- results -->"
"""Stands before and behind the results in the model card."""


def _is_same(comparison: Comparison, expected: object, given: object, path: Steps) -> bool:
    place = comparison.root
    for step in path:
        place = place.below(step)
    return place.normal_form(expected) == place.normal_form(given)


@dataclass(slots=True)
class Score:
    """Fields and whole objects, right and in all."""

    fields_right: int = 0
    fields: int = 0
    objects_right: int = 0
    objects: int = 0

    def add(self, comparison: Comparison, expected: object, answer: object) -> None:
        """Count one object. A field is a leaf of the JSON value; one that is missing or too many is wrong."""
        wanted, given = dict(_leaves(expected)), dict(_leaves(answer))
        right = sum(path in given and _is_same(comparison, value, given[path], path) for path, value in wanted.items())
        self.fields_right += right
        self.fields += len(wanted.keys() | given.keys())
        self.objects_right += right == len(wanted) == len(given)
        self.objects += 1

    def row(self, name: str) -> str:
        """Return a row of a Markdown table."""
        fields = f"{self.fields_right / self.fields:.1%}"
        objects = f"{self.objects_right / self.objects:.1%}"
        return f"| {name} | {self.objects} | {self.fields} | {fields} | {objects} |"


@dataclass(slots=True)
class Report:
    """The scores of one split: all together, and by kind of record."""

    total: Score = field(default_factory=Score)
    kinds: dict[str, Score] = field(default_factory=lambda: defaultdict(Score))
    failures: list[dict[str, object]] = field(default_factory=list)
    tokens: int = 0

    def add(self, sample: Sample, answer: object, *, tokens: int = 0) -> None:
        """Count the answer to one sample, of so many tokens."""
        self.tokens += tokens
        comparison = Comparison(resolve_json(JsonSchema(sample.schema)).root)
        self.total.add(comparison, sample.answer, answer)
        self.kinds[sample.kind].add(comparison, sample.answer, answer)
        if answer != sample.answer:
            self.failures.append({"document": sample.document, "expected": sample.answer, "answer": answer})


def handwritten(_seed: int) -> Iterator[Sample]:
    """Return the documents that were written by hand."""
    for one in _lines("handwritten.jsonl"):
        kind = "known kinds" if one["known"] else "unseen kinds"
        yield Sample(kind, one["schema"], one["document"], one["answer"], None)


def messages(_seed: int) -> Iterator[Sample]:
    """Return the messages to sort that were written by hand."""
    for one in _lines("messages.jsonl"):
        yield Sample(one["kind"], one["schema"], one["document"], one["answer"], None)


def short(_seed: int) -> Iterator[Sample]:
    """Return short documents as people try first, each with a type of its own."""
    for one in _lines("short.jsonl"):
        yield Sample("short", one["schema"], one["document"], one["answer"], None)


def _lines(name: str) -> Iterator[dict[str, Any]]:
    with (Path(__file__).parent / name).open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


class Part(NamedTuple):
    """Samples that a model is measured on, by a seed, which is another than that of the training."""

    title: str
    samples: Callable[[int], Iterator[Sample]]


PARTS: Mapping[str, Part] = {
    "train": Part("New samples in the training's own phrasings", partial(samples, split="train")),
    "phrasings": Part("Unseen phrasings, layouts, names, companies and places", partial(samples, split="phrasings")),
    "kinds": Part("Unseen kinds of record", partial(samples, split="kinds")),
    "handwritten": Part("Sixty documents written by hand", handwritten),
    "messages": Part("Messages to sort, written by hand", messages),
    "short": Part("Short documents, written by hand", short),
}


def main() -> None:
    """Evaluate each split and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default=str(PACKAGED_MODEL))
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--count", type=int, default=1000, help="samples of each part, at most")
    parser.add_argument("--seed", type=int, default=1_000_003, help="a seed other than that of the training")
    parser.add_argument(
        "--call", choices=("free", "grounded"), help="ask as `extract` does, with `grounded` or without"
    )
    parser.add_argument("--failures", type=Path, help="write the wrong answers to this file, as JSON lines")
    parser.add_argument("--card", type=Path, help="put the results into this model card")
    arguments = parser.parse_args()
    model = load_model(arguments.model)
    measure: Callable[[LanguageModel, Iterable[Sample]], Report] = evaluate
    if arguments.call is not None:
        measure = partial(evaluate_call, grounded=arguments.call == "grounded")
    reports = {
        name: measure(model, itertools.islice(part.samples(arguments.seed), arguments.count))
        for name, part in PARTS.items()
        if name in arguments.parts
    }
    print("\n\n".join(f"### {PARTS[name].title}\n\n{table(report)}" for name, report in reports.items()))
    if arguments.card:
        card(arguments.card, summary(reports))
    if arguments.failures:
        with arguments.failures.open("w", encoding="utf-8") as file:
            for name, report in reports.items():
                for failure in report.failures:
                    file.write(json.dumps({"part": name, **failure}, ensure_ascii=False) + "\n")


def evaluate(
    model: LanguageModel, wanted: Iterable[Sample], *, whitespace: WhitespaceName = DEFAULT_WHITESPACE
) -> Report:
    """Return the scores of a model on samples."""
    report = Report()
    stream, rng = iter(wanted), random.Random(1)
    while chunk := list(itertools.islice(stream, BATCH_SIZE)):
        for sample, generation in zip(chunk, _answers(model, chunk, rng, whitespace), strict=True):
            report.add(sample, json.loads(generation.text), tokens=len(generation.token_ids))
    return report


def evaluate_call(model: LanguageModel, wanted: Iterable[Sample], *, grounded: bool) -> Report:
    """Return the scores of a model that is asked as `extract` asks, document by document.

    With `grounded`, only what a document states is written; a document that does not state what has to be there is
    asked without.
    """
    report = Report()
    for sample in wanted:
        ask = partial(Extractor, JsonSchema(sample.schema), model=model, max_tokens=MAX_TOKENS)
        try:
            answer = ask(grounded=True if grounded else None)(sample.document)
        except NotStatedError:
            answer = ask()(sample.document)
        report.add(sample, answer)
    return report


def table(report: Report) -> str:
    """Return the scores as a Markdown table."""
    head = "| kind | objects | fields | fields right | objects all right |\n|---|---|---|---|---|"
    rows = [score.row(kind) for kind, score in sorted(report.kinds.items())]
    return "\n".join([head, *rows, report.total.row("**all**")])


def summary(reports: Mapping[str, Report]) -> str:
    """Return a Markdown table with a row for each part, and two for the documents written by hand."""
    rows = ["| | objects | fields | fields right | objects all right |\n|---|---|---|---|---|"]
    for name, report in reports.items():
        title = PARTS[name].title
        if name == "handwritten":
            rows += [score.row(f"{title}, {kind}") for kind, score in sorted(report.kinds.items())]
        else:
            rows.append(report.total.row(title))
    return "\n".join(rows)


def card(path: Path, results: str) -> None:
    """Put the table between the two marks of the model card."""
    before, _, after = path.read_text(encoding="utf-8").split(RESULTS)
    path.write_text(f"{before}{RESULTS}\n{results}\n{RESULTS}{after}", encoding="utf-8")


def _answers(
    model: LanguageModel, chunk: list[Sample], rng: random.Random, whitespace: WhitespaceName
) -> list[Generation]:
    """Return the answer to each sample; null, where prompt and answer do not fit into the context of the model."""
    sampler = Sampler()
    requests: dict[int, Request] = {}
    for place, sample in enumerate(chunk):
        asked, _ = chat_and_answer(sample, rng) if model.has_chat_template else prompt_and_answer(sample, rng)
        prompt = model.encode(asked)
        room = MAX_TOKENS if model.context_length is None else min(MAX_TOKENS, model.context_length - len(prompt))
        index = Index(RegularAutomaton(schema_to_pattern(sample.schema, whitespace)), model.vocabulary)
        if room > 0 and index.fits(index.automaton.start, room):
            requests[place] = Request(prompt, Guide(index, max_tokens=room), sampler.generator(place, 0))
    found = generate(model, list(requests.values()), sampler, batch_size=BATCH_SIZE) if requests else []
    answers = dict(zip(requests, found, strict=True))
    return [answers.get(place, Generation("null", (), 0.0, shortened=True)) for place in range(len(chunk))]


def _leaves(value: object, steps: Steps = ()) -> Iterator[tuple[Steps, object]]:
    """`{"a": [1, null]}` → `("a", 0), 1` and `("a", 1), None`; an empty list or object is a leaf."""
    if not value or not isinstance(value, dict | list):
        yield steps, value
        return
    for step, inner in value.items() if isinstance(value, dict) else enumerate(value):
        yield from _leaves(inner, (*steps, step))


if __name__ == "__main__":
    main()
