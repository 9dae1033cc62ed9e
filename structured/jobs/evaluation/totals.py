"""Scores: what became of documents, and the figures that follow from it.

What is kept are the outcomes; figures are computed of them when they are asked for, and are the same each time.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from structured.jobs.evaluation.figures import Figure, Measure, figures, of_counts, of_documents
from structured.jobs.evaluation.scores import Counts, DocumentScore


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


@dataclass(frozen=True)
class Scores:
    """What became of documents, and the figures that follow from it; see `Evaluation`.

    Attributes:
        type: The name of the type; empty if it is not known.
        model: The name of the model, likewise.
        documents: What became of each document, in the order of the gold.
        rules: The rule for texts, or those of fields: `compare` of `evaluate`.
        keys: The fields that items of lists are matched by.
        samples: The draws that intervals are made of.
        seed: The seed of the draws.
        seconds: How long all documents took together; None if the answers were there before.
        unmatched: The results that no gold belongs to, and that are left out.
    """

    type: str
    model: str
    documents: tuple[DocumentScore, ...]
    rules: str | Mapping[str, str] = "exact"
    keys: tuple[str, ...] = ()
    samples: int = 1000
    seed: int = 0
    seconds: float | None = None
    unmatched: int = 0

    @cached_property
    def figures(self) -> Mapping[str, Figure]:
        """The figures of the whole, each with its 95 % interval.

        - `exact`, `precision`, `recall`, `f1`: of all values, as of a field; see `FieldScore`.
        - `wrong_values`: The share of the values given that are wrong or invented: 1 − precision.
        - `documents`: The share of documents in which everything is right.
        - `wrong_but_valid`: The share of documents with an answer in which something is wrong, missing or invented.
        - `spans_equal`, `spans_overlap`: Of the right values whose place the gold knows, the share whose evidence has
          the same place, or one that overlaps it. Only if the gold has spans.
        - `calibration_error`: How far confidences are from the shares that are right; 0 is best. Only with evidence.
        - `seconds`, `prompt_tokens`, `sampled_tokens`, `forced_tokens`: The mean of a document. Only with evidence.
        """
        return self._figures(of_documents(self.documents))

    @cached_property
    def fields(self) -> Mapping[str, FieldScore]:
        """The figures of each field, by its path, in the order in which fields first appear.

        Lists that are empty everywhere have items in no field; see `lists`.
        """
        shown = {
            one.field
            for two in self.documents
            for one in two.values
            if one.outcome != "absent" or not one.field.endswith("[]")
        }
        return self._scores(
            counts_by_name(
                [[(one.field, one.outcome) for one in two.values if one.field in shown] for two in self.documents]
            )
        )

    @cached_property
    def lists(self) -> Mapping[str, FieldScore]:
        """The figures of the items of each list, by its path. An item is right if all in it is."""
        return self._scores(counts_by_name([one.items() for one in self.documents]))

    def worst(self, most: int | None = None) -> list[DocumentScore]:
        """Return the documents with anything not right, the worst first: those without an answer, then by score."""
        found = [one for one in self.documents if not one.is_right]
        found.sort(key=lambda one: (one.error is None, one.score, -sum(not value.is_right for value in one.values)))
        return found[:most]

    @property
    def failed(self) -> list[DocumentScore]:
        """The documents without an answer."""
        return [one for one in self.documents if one.error is not None]

    def _figures(self, measures: Mapping[str, Measure]) -> dict[str, Figure]:
        return figures(measures, len(self.documents), samples=self.samples, seed=self.seed)

    def _scores(self, counts: Mapping[str, Sequence[Counts]]) -> dict[str, FieldScore]:
        scores = {}
        for name, one in counts.items():
            total = Counts(*(sum(column) for column in zip(*one, strict=True)))
            scores[name] = FieldScore(total, **self._figures(of_counts(one)))
        return scores


def counts_by_name(documents: Sequence[Sequence[tuple[str, Any]]]) -> dict[str, list[Counts]]:
    """Return, by name, the counts of each document."""
    names = dict.fromkeys(name for outcomes in documents for name, _ in outcomes)
    empty = Counts()
    counts = {name: [empty] * len(documents) for name in names}
    for place, outcomes in enumerate(documents):
        found: dict[str, list[Any]] = {}
        for name, outcome in outcomes:
            found.setdefault(name, []).append(outcome)
        for name, some in found.items():
            counts[name][place] = Counts.of(some)
    return counts
