"""Tuning: right answers choose the options of a call.

A candidate is a change to the plain call: other instructions, examples from the gold, `grounded` or `allow_missing`.
Candidates race by successive halving (Jamieson and Talwalkar 2016): the better half of them goes on to more documents.
The best of many is partly so by chance, so that it has to win again on documents that the race has not seen.
"""

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from math import inf
from typing import TYPE_CHECKING, Any

from structured.errors import StructuredError
from structured.errors.arguments import count, text, whole
from structured.errors.calling_line import without_warnings
from structured.errors.values import counted
from structured.extraction.extractor import Extractor
from structured.jobs.evaluate import evaluate
from structured.jobs.evaluation import Evaluation
from structured.jobs.figures import Figure
from structured.jobs.gold import Gold, GoldLike, read_gold
from structured.output_types.html import as_text
from structured.output_types.output_type import OutputType
from structured.output_types.paths import end_values, steps_to_field
from structured.output_types.resolve import TypeLike
from structured.results.comparison import Compare

if TYPE_CHECKING:
    from rich.console import RenderableType

    from structured.models.load import ModelSource

INSTRUCTIONS = (
    "Extract only what the text states. Do not guess.",
    "Copy each value as the text writes it, without any words around it.",
    "Read the whole text first. Then fill in every value that it states, wherever it is.",
)
"""The instructions that are tried, unless the caller has others."""

MIN_GOLD = 20
"""Documents that are needed: half of them confirm."""

ROUNDS = 3
"""Rounds of the race."""


@dataclass(frozen=True)
class Trial:
    """A candidate with its answers.

    Attributes:
        name: What tables call it: `plain`, `instructions 2`, `grounded + two examples, draw 1`.
        options: The options that it changes; none in the plain call.
        evaluation: Its answers beside the right ones.
        difference: Its F1 − that of the plain call on the same documents; None for the plain call.
    """

    name: str
    options: Mapping[str, Any]
    evaluation: Evaluation
    difference: Figure | None = None

    @property
    def f1(self) -> Figure:
        """Its F1."""
        return self.evaluation.figure("f1")

    @property
    def gain(self) -> float:
        """The difference as a number, to compare candidates by; −∞ if there is none."""
        return -inf if self.difference is None or self.difference.value is None else self.difference.value

    @property
    def is_better(self) -> bool:
        """Whether its F1 is higher than that of the plain call by more than chance."""
        return self.difference is not None and self.difference.low is not None and self.difference.low > 0


@dataclass(frozen=True)
class Tuning:
    """The options that right answers chose; `tune` makes it.

    Attributes:
        options: Those that `tune` was given, the model among them, and those of the best candidate if it is better.
        tried: The plain call and the candidates on the documents that choose, those first that came furthest.
        before: The plain call on the documents that confirm.
        best: The best candidate on them; the plain call if no candidate was better on the documents that choose.
        answers: The number of answers that the model was asked for.
    """

    options: Mapping[str, Any]
    tried: tuple[Trial, ...]
    before: Trial
    best: Trial
    answers: int

    @property
    def after(self) -> Trial:
        """The chosen options on the documents that confirm: the best candidate if it is better, or the plain call."""
        return self.best if self.best.is_better else self.before

    def __repr__(self) -> str:
        return f"Tuning({self.after.name}, {counted(self.answers, 'answer')})"

    def __str__(self) -> str:
        return as_text(self.__rich__())

    def __rich__(self) -> "RenderableType":
        from rich.console import Group

        from structured.jobs.evaluation_views import line, stacked, trials_table

        evaluation = self.before.evaluation
        chosen = f"{self.after.name} chosen" if self.best.is_better else "plain options kept"
        title = f"{evaluation.type} by {evaluation.model}: {chosen}, {counted(self.answers, 'answer')}"
        confirmed = [self.before] if self.best is self.before else [self.before, self.best]
        rows = (
            [(one.name, len(one.evaluation.documents), one.f1, one.difference) for one in trials]
            for trials in (self.tried, confirmed)
        )
        tables = map(trials_table, ("chosen by", "confirmed by"), rows)
        wordings = {one.name: one.options["instructions"] for one in self.tried if [*one.options] == ["instructions"]}
        notes = [Group(*(line(f"{name}: {words}", 80) for name, words in wordings.items()))] if wordings else []
        return stacked(line(title, 80), *tables, *notes)


def tune(  # noqa: PLR0913  the gold, the budget and the rules
    output_type: TypeLike[Any],
    gold: GoldLike,
    *,
    model: "ModelSource | None" = None,
    documents: int = 200,
    instructions: str | Sequence[str] | None = None,
    compare: Compare = "exact",
    keys: Sequence[str] | None = None,
    seed: int = 0,
    progress: bool | None = None,
    **options: Any,
) -> Tuning:
    """Choose options of `extract` by documents with right answers.

        tuning = tune(Invoice, "gold.jsonl", model="smollm2")
        print(tuning)
        extract(Invoice, text, **tuning.options)

    Candidates are instructions, one or two examples from the gold, `grounded=True`, `allow_missing=True`, and together
    those that help. A part of the gold chooses the best of them, and the other part confirms it: it is taken if the
    95 % interval of its difference in F1 to the plain call, on the same documents, is above 0. Otherwise the plain
    options are returned. No candidate is judged on a document that is an example.

    If `allow_missing` is chosen, a document that does not state a required field raises a `MissingError`. Where that
    is not wanted, pass `allow_missing=None`.

    Parameters:
        output_type: As for `extract`.
        gold: As for `evaluate`; 20 documents at least.
        model: As for `extract`.
        documents: The most answers that the model is asked for in all. Half of them confirm, or fewer.
        instructions: The instructions that are tried, in place of the library's. A single text is not varied.
        compare: As for `evaluate`.
        keys: As for `evaluate`.
        seed: The seed of the split, of the choice of examples, and of answers that are sampled.
        progress: As for `extract_batch`.
        options: Other `Options`, for all calls. Candidates do not vary them.

    Raises:
        ValueError: The gold or the budget is too small, the gold states no value or is wrong as for `evaluate`, or no
            option is left to vary.
        ModelError: The model failed. A note of the error says what was tried, and so does that of a KeyboardInterrupt.
    """
    count(1)("documents", documents)
    fixed = {**options, "instructions": instructions} if isinstance(instructions, str) else options
    seeded = {"seed": whole(0)("seed", seed)} if options.get("retries") != 0 or options.get("temperature") else {}
    rules = {"compare": compare, "keys": keys, "progress": progress}
    race = _Race(output_type, {**fixed, **seeded, "model": model}, rules)
    choosing, confirming = _split(list(read_gold(gold, race.output_type)), documents, random.Random(seed))
    examples = {} if "examples" in fixed else _examples(choosing, race.output_type)
    wordings = INSTRUCTIONS if instructions is None or isinstance(instructions, str) else instructions
    judged = [one for place, one in enumerate(choosing) if place not in examples]
    try:
        with without_warnings():  # those of each candidate in each round
            for name, changes in _candidates(wordings, list(examples.values())):
                if not changes.keys() & fixed.keys():
                    race.add_candidate(name, changes)
            race.check_number_of_answers(documents)
            best = race.winner(judged, documents - 2 * len(confirming))
            tried = race.tried()
            for name in dict.fromkeys((PLAIN, best)):
                del race.trials[name]
                race.ask(name, confirming)
    except (KeyboardInterrupt, StructuredError) as error:
        error.add_note(f"Tuning ended after {counted(race.answers, 'answer')}. {race}")
        raise
    chosen = {} if model is None else {"model": model}
    chosen |= race.options[best] if race.trials[best].is_better else {}
    return Tuning({**fixed, **chosen}, tried, race.trials[PLAIN], race.trials[best], race.answers)


def _split(gold: Sequence[Gold], documents: int, rng: random.Random) -> tuple[list[Gold], list[Gold]]:
    """Return the documents that choose and those that confirm; a text that occurs again is left out."""
    distinct: dict[str, Gold] = {}
    for one in gold:
        distinct.setdefault(one.text, one)
    golds = list(distinct.values())
    if len(golds) < MIN_GOLD:
        raise ValueError(
            f"The gold has {counted(len(golds), 'different document')}. Tuning needs {MIN_GOLD} at least: half of them "
            "choose, and half confirm."
        )
    if not any(map(_has_value, golds)):
        raise ValueError("No document of the gold states a value. Pass right answers that have values.")
    rng.shuffle(golds)
    confirming = min(len(golds) // 2, documents // 4)
    return golds[confirming:], golds[:confirming]


def _has_value(gold: Gold) -> bool:
    """Tell whether a right answer has a value that counts."""
    return any(
        value is not None and value not in ([], {}) and gold.counts(steps_to_field(steps))
        for steps, value in end_values(gold.data)
    )


def _examples(gold: Sequence[Gold], output_type: OutputType[Any]) -> dict[int, tuple[str, Any]]:
    """Return four documents at most whose right answers are whole, with their values, by their places.

    No candidate is judged on them.
    """
    examples: dict[int, tuple[str, Any]] = {}
    for place, one in enumerate(gold):
        document = one.document.text
        if len(examples) == min(4, len(gold) // 3):
            break
        if isinstance(document, str) and document.strip() and one.reviewed_fields is None and _has_value(one):
            with suppress(Exception):  # a required field is missing, or a validator rejects the value
                value = output_type.parse(output_type.from_data(one.data))
                output_type.write(value)
                examples[place] = (document, value)
    return examples


def _candidates(texts: Iterable[str], examples: Sequence[tuple[str, Any]]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the names of candidates, and the options that they change."""
    for number, instructions in enumerate(texts, 1):
        yield f"instructions {number}", {"instructions": text(f"instructions[{number - 1}]", instructions)}
    for number, example in enumerate(examples[:2], 1):
        yield f"one example, draw {number}", {"examples": [example]}
    for number, two in enumerate(list(pairwise(examples))[::2], 1):
        yield f"two examples, draw {number}", {"examples": [*two]}
    yield "grounded", {"grounded": True}
    yield "allow_missing", {"allow_missing": True}


PLAIN = "plain"
"""The name of the plain call."""


class _Race:
    """Candidates beside the plain call, by their names, and the answers that they cost."""

    def __init__(self, output_type: TypeLike[Any], options: Mapping[str, Any], rules: Mapping[str, Any]) -> None:
        plain = Extractor[Any](output_type, **options)
        self.output_type = plain.output_type
        self.options: dict[str, Mapping[str, Any]] = {PLAIN: {}}
        self.trials: dict[str, Trial] = {}
        self.answers = 0
        self._extractors = {PLAIN: plain}
        self._extractor = partial(Extractor[Any], output_type, **{**options, "model": plain.model})
        self._rules = rules

    def add_candidate(self, name: str, options: Mapping[str, Any]) -> list[str]:
        """Return a new candidate; none if the type does not allow it."""
        try:
            self._extractors[name] = self._extractor(**options)
        except StructuredError:
            return []
        self.options[name] = options
        return [name]

    def asked(self, name: str) -> int:
        """Return the number of documents that a candidate was asked about."""
        return len(self.trials[name].evaluation.documents) if name in self.trials else 0

    def rank(self, name: str) -> tuple[int, float]:
        """Return how far a candidate came."""
        return self.asked(name), self.trials[name].gain if name in self.trials else -inf

    def check_number_of_answers(self, documents: int) -> None:
        """Raise ValueError if there is no candidate, or if so many answers are too few for those there are."""
        candidates = len(self.options) - 1
        if not candidates:
            raise ValueError("No option is left to vary. Pass several instructions, or fix fewer options.")
        needed = 2 * max(MIN_GOLD, ROUNDS * (candidates + 1))
        if documents < needed:
            raise ValueError(
                f"documents is {documents:,}; {counted(candidates, 'candidate')} need {needed:,} answers at "
                "least. Raise it, or pass fewer instructions."
            )

    def ask(self, name: str, gold: Sequence[Gold]) -> None:
        """Ask a candidate about more documents, which the plain call was asked about before."""
        if not gold:
            return
        evaluation, difference = evaluate(self._extractors[name], gold, **self._rules), None
        self.answers += len(gold)
        if name in self.trials:
            documents = (*self.trials[name].evaluation.documents, *evaluation.documents)
            evaluation = replace(evaluation, documents=documents)
        if name != PLAIN and PLAIN in self.trials:
            plain = self.trials[PLAIN].evaluation
            plain_part = replace(plain, documents=plain.documents[: len(evaluation.documents)])
            difference = evaluation.compare(plain_part).figure("f1")
        self.trials[name] = Trial(name, self.options[name], evaluation, difference)

    def winner(self, gold: Sequence[Gold], answers: int) -> str:
        """Return the best candidate by successive halving; the plain call if none is better."""
        racing = [name for name in self.options if name != PLAIN]
        for rounds in range(ROUNDS, 0, -1):
            names = [PLAIN, *racing]
            target = ((answers - self.answers) // rounds + sum(map(self.asked, names))) // len(names)
            for name in names:
                self.ask(name, gold[self.asked(name) : target])
            racing = sorted(racing, key=self.rank, reverse=True)[: (len(racing) + 1) // 2]
            if rounds > 1 and (answers - self.answers) // (rounds - 1) >= self.asked(PLAIN):
                racing += self._add_joint_candidate(racing)
        best = max(racing, key=self.rank)
        return best if best in self.trials and self.trials[best].gain > 0 else PLAIN

    def _add_joint_candidate(self, racing: Sequence[str]) -> list[str]:
        """Return the candidate of all changes that help, if it is new; of those to one option, the best."""
        names: list[str] = []
        options: dict[str, Any] = {}
        for name in racing:
            helps = name in self.trials and self.trials[name].gain > 0
            if helps and self.options[name].keys().isdisjoint(options):
                names += name.split(" + ")
                options |= self.options[name]
        joint = " + ".join(sorted(names))
        return [] if not joint or joint in self.options else self.add_candidate(joint, options)

    def tried(self) -> tuple[Trial, ...]:
        """Return the plain call, and the candidates that were asked, those first that came furthest."""
        candidates = [name for name in self.trials if name != PLAIN]
        names = [PLAIN] * (PLAIN in self.trials) + sorted(candidates, key=self.rank, reverse=True)
        return tuple(self.trials[name] for name in names)

    def __str__(self) -> str:
        """Return how far the candidates came, in a sentence."""
        gains = [f"{one.name} {one.gain:+.1%}" for one in self.tried() if one.options]
        return f"Differences in F1 so far: {', '.join(gains) or 'none'}."
