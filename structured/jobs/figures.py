"""Scores of documents, the outcomes of their values, and figures with intervals by the bootstrap over documents."""

from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from structured.output_types.stated_numbers import Span
from structured.results.comparison import Outcome, Pair
from structured.results.evidence import Evidence, Match, expected_calibration_error
from structured.results.result import Usage


class Counts(NamedTuple):
    """The numbers of values by outcome; see `Outcome`."""

    right: int = 0
    absent: int = 0
    wrong: int = 0
    missing: int = 0
    invented: int = 0


@dataclass(frozen=True, slots=True)
class ValueScore(Pair):
    """A pair of values (`field`, `outcome`, `expected`, `given`, their paths and `items`), with the evidence for it.

    Attributes:
        confidence: How sure the model was of it; None where it was not asked.
        expected_span: Where the document states it, by the gold; None if that is not known.
        given_span: Where it does so by the evidence.
        is_flagged: Whether it did not pass a `Check`.
        match: How the document supports it; None where nothing is given.
    """

    confidence: float | None = None
    expected_span: Span | None = None
    given_span: Span | None = None
    is_flagged: bool = False
    match: Match | None = None

    @property
    def trust(self) -> float | None:
        """Its confidence, as thresholds count it; see `Evidence.trust`."""
        return None if self.match is None else Evidence(None, self.match, self.confidence).trust

    @property
    def is_right(self) -> bool:
        """Whether the value is right, or rightly absent."""
        return self.outcome in {"right", "absent"}


@dataclass(frozen=True, slots=True)
class DocumentScore:
    """The score of one document.

    Attributes:
        id: What the gold calls it; else its digest, as on the review page.
        anchor: Its id on the review page.
        beginning: Its first line, shortened.
        values: The score of each value.
        error: Why there is no answer: the kind of the error and what it says. Then every value expected is missing.
        seconds: How long the answer took; documents of a batch are written together. None if that is not known.
        usage: The tokens that the answer cost; None if that is not known.
        confidence: That of its least certain value; None without a result.
    """

    id: str
    anchor: str
    beginning: str
    values: tuple[ValueScore, ...]
    error: str | None = None
    seconds: float | None = None
    usage: Usage | None = None
    confidence: float | None = None

    @property
    def counts(self) -> Counts:
        """The numbers of values by outcome."""
        return Counts(**Counter[str](one.outcome for one in self.values))

    @property
    def is_right(self) -> bool:
        """Whether there is an answer, and nothing in it is wrong, missing or invented."""
        return self.error is None and all(one.is_right for one in self.values)

    @property
    def score(self) -> float:
        """The share of values that are right; 0 without an answer, and 1 if there is nothing to say."""
        if self.error is not None or not self.values:
            return float(self.error is None)
        return sum(one.is_right for one in self.values) / len(self.values)

    def items(self) -> list[tuple[str, Outcome]]:
        """Return the outcome of each item of a list, with the path of the list. An item is right if all in it is."""
        outcomes: dict[tuple[str, int], set[Outcome]] = {}
        for one in self.values:
            for item in one.items:
                outcomes.setdefault(item, set()).add(one.outcome)
        return [
            (name, "wrong" if len(found - {"absent"}) > 1 else next(iter(found - {"absent"}), "absent"))
            for (name, _), found in outcomes.items()
        ]


def compared_values(
    pairs: Iterable[Pair], spans: Mapping[str, Span], evidence: Mapping[str, Evidence], flagged: Container[str | None]
) -> list[ValueScore]:
    """Return the scores of pairs of values, with the spans of the gold, the evidence and the flags of the answer."""
    scores = []
    for pair in pairs:
        score = ValueScore(
            **{one.name: getattr(pair, one.name) for one in fields(pair)},
            expected_span=spans.get(pair.expected_path) if pair.expected_path is not None else None,
            is_flagged=pair.given_path in flagged,
        )
        support = evidence.get(pair.given_path) if pair.given_path is not None else None
        if support is not None:
            score = replace(score, confidence=support.confidence, given_span=support.span, match=support.match)
        scores.append(score)
    return scores


Array = NDArray[np.float64]

Measure = Callable[[Array], Array]
"""A figure: from the number of times that each document was drawn (draws × documents) to its value in each draw."""

INTERVAL_PER_CENT = 95
"""The per cent of the draws that an interval holds."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure, and the interval that it lies in.

    Attributes:
        value: The figure; None if it is not defined, as a precision without an answer.
        low: The lower end of its 95 % interval; None if there is none.
        high: The upper end.
    """

    value: float | None
    low: float | None = None
    high: float | None = None


def figures(measures: Mapping[str, Measure], documents: int, *, samples: int, seed: int) -> dict[str, Figure]:
    """Return each figure of so many documents with its interval.

    Where a draw is skewed, as that of a calibration error is, the interval is widened up to the figure.
    """
    drawn: dict[str, list[Array]] = {name: [] for name in measures}
    for draws in _draws(documents, samples, seed):
        for name, measure in measures.items():
            drawn[name].append(measure(draws))
    once = np.ones((1, documents))
    return {name: _figure(float(measure(once)[0]), np.concatenate(drawn[name])) for name, measure in measures.items()}


def _draws(documents: int, samples: int, seed: int) -> Iterator[Array]:
    """Yield how often each document was drawn, for a hundred draws at a time."""
    rng = np.random.default_rng(seed)
    for start in range(0, samples, 100):
        rows = [
            np.bincount(rng.integers(documents, size=documents), minlength=documents)
            for _ in range(min(100, samples - start))
        ]
        yield np.array(rows, float)


def _figure(value: float, drawn: Array) -> Figure:
    defined = drawn[~np.isnan(drawn)]
    if np.isnan(value) or not len(defined):
        return Figure(None)
    tail = (100 - INTERVAL_PER_CENT) / 2
    low, high = np.percentile(defined, [tail, 100 - tail])
    return Figure(value, min(value, float(low)), max(value, float(high)))


def count_measures(counts: Sequence[Counts]) -> dict[str, Measure]:
    """Return the figures of the outcomes in each document."""
    table = np.array(counts, float).reshape(-1, len(Counts._fields))
    right, absent, wrong, missing, invented = table.T
    twice = 2 * right
    return {
        "exact": _share(right + absent, table.sum(axis=1)),
        "precision": _share(right, right + wrong + invented),
        "recall": _share(right, right + wrong + missing),
        "f1": _share(twice, twice + 2 * wrong + invented + missing),
    }


def document_measures(documents: Sequence[DocumentScore]) -> dict[str, Measure]:
    """Return the figures of whole documents: their values, spans, confidences and costs."""
    counts = [one.counts for one in documents]
    answered = np.array([one.right + one.wrong + one.invented for one in counts], float)
    measures = count_measures(counts)
    measures["wrong_values"] = _share(answered - [one.right for one in counts], answered)
    measures["documents"] = _mean([one.is_right for one in documents])
    measures["wrong_but_valid"] = _mean([one.error is None and not one.is_right for one in documents])
    wrong_flags = [[not value.is_right for value in one.values if value.is_flagged] for one in documents]
    if any(wrong_flags):
        measures["flagged_wrong"] = _share(*(np.array([*map(count, wrong_flags)], float) for count in (sum, len)))
    spans = [_spans(one) for one in documents]
    if any(known for known, _, _ in spans):
        known, equal, overlapping = np.array(spans, float).T
        measures |= {"spans_equal": _share(equal, known), "spans_overlap": _share(overlapping, known)}
    confident_values = [
        (value.confidence, value.is_right, place)
        for place, one in enumerate(documents)
        for value in one.values
        if value.confidence is not None
    ]
    if confident_values:
        confidences, right, places = (np.array(column) for column in zip(*sorted(confident_values), strict=True))
        measures["calibration_error"] = partial(_calibration_errors, confidences, right, places)
    for name in ("seconds", "prompt_tokens", "sampled_tokens", "forced_tokens"):
        costs = [getattr(one if name == "seconds" else one.usage, name, None) for one in documents]
        if any(cost is not None for cost in costs):
            measures[name] = _mean(costs)
    return measures


def _spans(document: DocumentScore) -> tuple[int, int, int]:
    """Return how many right values have a span in the gold, the same in the answer, and one that overlaps it."""
    stated_spans = equal = overlapping = 0
    for value in document.values:
        ours, theirs = value.expected_span, value.given_span
        if value.outcome == "right" and ours is not None:
            stated_spans += 1
            equal += ours == theirs
            overlapping += theirs is not None and (ours == theirs or max(ours[0], theirs[0]) < min(ours[1], theirs[1]))
    return stated_spans, equal, overlapping


def _mean(values: Sequence[float | None]) -> Measure:
    is_defined = np.array([value is not None for value in values], float)
    return _share(np.array([value or 0 for value in values], float), is_defined)


def _share(parts: Array, wholes: Array) -> Measure:
    def measure(draws: Array) -> Array:
        whole = draws @ wholes
        shares: Array = np.divide(draws @ parts, whole, out=np.full(len(draws), np.nan), where=whole > 0)
        return shares

    return measure


def _calibration_errors(confidences: Array, right: NDArray[np.bool_], places: NDArray[np.int_], draws: Array) -> Array:
    errors = np.full(len(draws), np.nan)
    for row, drawn in enumerate(draws[:, places].astype(int)):
        if drawn.any():
            errors[row] = expected_calibration_error(np.repeat(confidences, drawn), np.repeat(right, drawn))
    return errors


def difference(one: Mapping[str, Measure], other: Mapping[str, Measure]) -> dict[str, Measure]:
    """Return the differences of the figures that both have: one − other."""

    def minus(name: str, draws: Array) -> Array:
        return one[name](draws) - other[name](draws)

    return {name: partial(minus, name) for name in one if name in other}


@dataclass(frozen=True, slots=True)
class FieldScore:
    """The figures of one field, or of the items of one list.

    Attributes:
        counts: How many values had which outcome: `right`, `absent`, `wrong`, `missing`, `invented`.
        exact: The share of values that are right: the one that was expected, or none where none was.
        precision: The share of the values given that are right.
        recall: The share of the values expected that are right.
        f1: The harmonic mean of both.
    """

    counts: Counts
    exact: Figure
    precision: Figure
    recall: Figure
    f1: Figure


def counts_by_name(documents: Sequence[Iterable[tuple[str, Outcome]]]) -> dict[str, list[Counts]]:
    """Return, by name, the counts of each document."""
    outcome_counts: dict[str, dict[int, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    for place, outcomes in enumerate(documents):
        for name, outcome in outcomes:
            outcome_counts[name][place][outcome] += 1
    return {name: [Counts(**by_place[at]) for at in range(len(documents))] for name, by_place in outcome_counts.items()}


def counts_by_field(documents: Sequence[DocumentScore]) -> dict[str, list[Counts]]:
    """Return, by the path of each field, the counts of each document."""
    return counts_by_name([[(value.field, value.outcome) for value in one.values] for one in documents])
