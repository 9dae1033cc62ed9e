"""Figures with their intervals, by the bootstrap over documents.

Documents are drawn with replacement, as many as there are, and each figure is computed of each draw; the interval has
the middle 95 % of them (Efron, "Bootstrap Methods: Another Look at the Jackknife", 1979). Values of one document stand
and fall together, so documents are drawn and not values. Two runs are drawn together.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from structured.jobs.evaluation.scores import Counts, DocumentScore
from structured.results.calibration import expected_calibration_error

Array = NDArray[np.float64]

Measure = Callable[[Array], Array]
"""A figure: from the number of times that each document was drawn (draws × documents) to its value in each draw."""

LEVEL = 95
"""The per cent of the draws that an interval holds."""

CHUNK = 100
"""Draws at a time."""


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
    rng = np.random.default_rng(seed)
    for start in range(0, samples, CHUNK):
        rows = [
            np.bincount(rng.integers(documents, size=documents), minlength=documents)
            for _ in range(min(CHUNK, samples - start))
        ]
        yield np.array(rows, float)


def _figure(value: float, drawn: Array) -> Figure:
    known = drawn[~np.isnan(drawn)]
    if np.isnan(value) or not len(known):
        return Figure(None)
    tail = (100 - LEVEL) / 2
    low, high = np.percentile(known, [tail, 100 - tail])
    return Figure(value, min(value, float(low)), max(value, float(high)))


def of_counts(counts: Sequence[Counts]) -> dict[str, Measure]:
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


def of_documents(documents: Sequence[DocumentScore]) -> dict[str, Measure]:
    """Return the figures of whole documents: their values, spans, confidences, and what they cost."""
    counts = [one.counts for one in documents]
    given = np.array([one.right + one.wrong + one.invented for one in counts], float)
    measures = of_counts(counts)
    measures["wrong_values"] = _share(given - [one.right for one in counts], given)
    measures["documents"] = _mean([one.is_right for one in documents])
    measures["wrong_but_valid"] = _mean([one.error is None and not one.is_right for one in documents])
    spans = [_spans(one) for one in documents]
    if any(known for known, _, _ in spans):
        known, equal, overlapping = np.array(spans, float).T
        measures |= {"spans_equal": _share(equal, known), "spans_overlap": _share(overlapping, known)}
    sure = [
        (value.confidence, value.is_right, place)
        for place, one in enumerate(documents)
        for value in one.values
        if value.confidence is not None
    ]
    if sure:
        confidences, right, places = (np.array(column) for column in zip(*sorted(sure), strict=True))
        measures["calibration_error"] = partial(_calibration_errors, confidences, right, places)
    costs: dict[str, list[float | None]] = {"seconds": [one.seconds for one in documents]}
    for name in ("prompt_tokens", "sampled_tokens", "forced_tokens"):
        costs[name] = [None if one.usage is None else getattr(one.usage, name) for one in documents]
    for name, known_costs in costs.items():
        if any(cost is not None for cost in known_costs):
            measures[name] = _mean(known_costs)
    return measures


def _spans(document: DocumentScore) -> tuple[int, int, int]:
    """Return how many right values have a span in the gold, the same in the answer, and one that overlaps it."""
    known = equal = overlapping = 0
    for value in document.values:
        ours, theirs = value.expected_span, value.given_span
        if value.outcome == "right" and ours is not None:
            known += 1
            equal += ours == theirs
            overlapping += theirs is not None and (ours == theirs or max(ours[0], theirs[0]) < min(ours[1], theirs[1]))
    return known, equal, overlapping


def _mean(values: Sequence[float | None]) -> Measure:
    known = np.array([value is not None for value in values], float)
    return _share(np.array([value or 0 for value in values], float), known)


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
