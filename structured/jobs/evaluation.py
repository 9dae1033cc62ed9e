"""An evaluation: figures and outcomes, how they differ from those of another run, the thresholds that they certify.

A threshold is certified by "Learn then Test" (Angelopoulos, Bates, Candès, Jordan and Lei, 2021): for each confidence
of a fixed grid, test that too much of what it accepts is wrong, and keep the lowest for which that is rejected. The
tests go from high to low, and take what error is allowed from three places of the grid; what a rejection used is passed
on, and what a test that fails has is lost (the fallback procedure: Wiens, 2003). This takes nothing for granted of how
right and wrong values depend on the confidence, as small models are most sure of some that are wrong. A conformal
threshold would bound the share of all values that are accepted and wrong, not the share of those accepted.

The values of one document depend on each other, so a document counts once: its loss is the share of its accepted values
that are wrong. Among documents that are accepted in part, losses are independent numbers from 0 to 1 of the same mean,
which a Hoeffding–Bentkus bound tests (Bates et al., "Distribution-Free, Risk-Controlling Prediction Sets", 2021); where
a document has one value at most, the exact binomial test does (Clopper and Pearson, 1934).
"""

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from math import ceil, e, exp, inf, lgamma, log, log1p
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np
from pydantic import TypeAdapter

from structured.errors.values import counted, message_in_one_line, shown
from structured.extraction.records import differences
from structured.jobs.figures import (
    Counts,
    DocumentScore,
    FieldScore,
    Figure,
    Measure,
    count_measures,
    counts_by_field,
    counts_by_name,
    difference,
    document_measures,
    figures,
)
from structured.output_types.html import as_text
from structured.results.result import Provenance, Result

if TYPE_CHECKING:
    from rich.console import RenderableType

T = TypeVar("T")


@dataclass(frozen=True)
class Evaluation:
    """Answers beside the right ones; `evaluate` makes it.

    Attributes:
        type: The name of the type; empty if it is not known.
        model: The name of the model, likewise.
        documents: The score of each document, in the order of the gold.
        rules: The rule for texts, or those of fields: `compare` of `evaluate`.
        keys: The fields that items of lists are matched by.
        samples: The draws that intervals are made of.
        seed: The seed of the draws.
        seconds: How long all documents took together; None if the answers were there before.
        unmatched: The results that no gold belongs to, and that are left out.
        provenance: What decided the answers; None if that is not known, or not the same for all.
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
    provenance: Provenance | None = None

    @cached_property
    def figures(self) -> Mapping[str, Figure]:
        """The figures of the whole, each with its 95 % interval.

        - `exact`, `precision`, `recall`, `f1`: of all values, as of a field; see `FieldScore`.
        - `wrong_values`: The share of the values given that are wrong or invented: 1 − precision.
        - `documents`: The share of documents in which everything is right.
        - `wrong_but_valid`: The share of documents with an answer in which something is wrong, missing or invented.
        - `flagged_wrong`: The share of the values that a `Check` flagged that are wrong or invented. Only if there are
          such values; flags of objects and lists do not count.
        - `spans_equal`, `spans_overlap`: Of the right values whose place the gold knows, the share whose evidence has
          the same place, or one that overlaps it. Only if the gold has spans.
        - `calibration_error`: How far confidences are from the shares that are right; 0 is best. Only with evidence.
        - `seconds`, `prompt_tokens`, `sampled_tokens`, `forced_tokens`: The mean of a document. Only with evidence.
        """
        return self._figures(document_measures(self.documents))

    def figure(self, name: str) -> Figure:
        """Return one of the figures, without computing the others. Raises ValueError for an unknown name."""
        return self._figures({name: _measure(self.documents, name)})[name]

    @cached_property
    def fields(self) -> Mapping[str, FieldScore]:
        """The figures of each field, by its path, in the order in which fields first appear.

        Lists that are empty everywhere have items in no field; see `lists`.
        """
        by_field = counts_by_field(self.documents)
        empty = {name for name, counts in by_field.items() if all(sum(one) == one.absent for one in counts)}
        return self._scores({name: by_field[name] for name in by_field if name not in empty or name[-2:] != "[]"})

    @cached_property
    def lists(self) -> Mapping[str, FieldScore]:
        """The figures of the items of each list, by its path. An item is right if all in it is."""
        return self._scores(counts_by_name([one.items() for one in self.documents]))

    def worst(self, most: int | None = None) -> list[DocumentScore]:
        """Return the documents with anything not right, the worst first: those without an answer, then by score."""
        wrong = [one for one in self.documents if not one.is_right]
        wrong.sort(key=lambda one: (one.error is None, one.score, -sum(not value.is_right for value in one.values)))
        return wrong[:most]

    @property
    def failed(self) -> list[DocumentScore]:
        """The documents without an answer."""
        return [one for one in self.documents if one.error is not None]

    @property
    def summary(self) -> str:
        """The evaluation in one line: `Person by packaged: 24 documents, 1 failed`."""
        title = " by ".join(filter(None, (self.type, self.model))) or "Answers"
        facts = [counted(len(self.documents), "document")]
        if self.failed:
            facts.append(f"{len(self.failed):,} failed")
        if self.unmatched:
            facts.append(f"{counted(self.unmatched, 'result')} without gold left out")
        if self.seconds is not None:
            facts.append(f"{self.seconds:.1f} s")
        return f"{title}: {', '.join(facts)}"

    def _figures(self, measures: Mapping[str, Measure]) -> dict[str, Figure]:
        return figures(measures, len(self.documents), samples=self.samples, seed=self.seed)

    def _scores(self, counts: Mapping[str, Sequence[Counts]]) -> dict[str, FieldScore]:
        return {
            name: FieldScore(Counts(*map(sum, zip(*one, strict=True))), **self._figures(count_measures(one)))
            for name, one in counts.items()
        }

    def compare(self, other: "Evaluation") -> "Difference":
        """Return how this differs from the evaluation of another run on the same gold.

        Raises ValueError if that has other documents, or was compared by other rules.
        """
        if not isinstance(other, Evaluation):
            raise TypeError("An Evaluation is compared with another one; Evaluation.from_json reads what was written.")
        if (self.rules, self.keys) != (other.rules, other.keys):
            raise ValueError("The evaluations were made with different rules. Pass the same compare and keys to both.")
        mine, theirs = ({one.anchor: one for one in two.documents} for two in (self, other))
        if mine.keys() != theirs.keys():
            odd = next(iter(mine.keys() ^ theirs.keys()))
            raise ValueError(
                f"The evaluations are of different documents: {(mine.get(odd) or theirs[odd]).id!r} is in one of them "
                "alone. Evaluate both on the same gold."
            )
        return Difference(self, replace(other, documents=tuple(theirs[one.anchor] for one in self.documents)))

    def thresholds(self, risk: float = 0.05, confidence: float = 0.9) -> "Thresholds":
        """Return the lowest confidences from which on answers may be accepted without a look.

        Each threshold has a promise of its own. If documents are drawn as those of the gold were, then with the stated
        confidence over the draw of the gold, the share of what it accepts that is wrong is at most the risk. A result
        is wrong if any of its values is, or one is missing. Of a field, the share is that of the values in a document,
        on average over documents; items that a list lacks do not count there. Documents that failed count nowhere.

        Parameters:
            risk: The share of accepted values that may be wrong, above 0 and below 1.
            confidence: How sure each promise is, likewise. For all of k thresholds at once to hold with 0.9, pass
                1 - 0.1 / k.

        Raises:
            ValueError: A number is out of bounds, or no value has a confidence, as those of plain answers.
        """
        for name, share in (("risk", risk), ("confidence", confidence)):
            if not (isinstance(share, int | float) and 0 < share < 1):
                raise ValueError(f"{name} is {share!r}; it must be above 0 and below 1, such as 0.05 for 5 %.")
        losses: dict[str, dict[int, list[Loss]]] = defaultdict(lambda: defaultdict(list))
        for place, document in enumerate(self.documents):
            for value in document.values:
                if value.trust is not None:
                    losses[value.field][place].append((value.trust, float(not value.is_right)))
        if not losses:
            raise ValueError(
                "No value has a confidence. Evaluate an extractor, or its results, some of which have values."
            )
        whole = [[(one.confidence, float(one.score < 1))] for one in self.documents if one.confidence is not None]
        results = certify(whole, risk, 1 - confidence, is_single=True)
        fields = {
            name: certify([*by_document.values()], risk, 1 - confidence, is_single="[" not in name and "*" not in name)
            for name, by_document in losses.items()
        }
        return Thresholds(risk, confidence, results, fields, self.provenance)

    def to_json(self) -> str:
        """Return the evaluation as one JSON object: its figures for readers, and the scores behind them."""
        written = asdict(self) | {"figures": {name: asdict(one) for name, one in self.figures.items()}}
        for name, scores in (("fields", self.fields), ("lists", self.lists)):
            written[name] = {field: {**asdict(one), "counts": one.counts._asdict()} for field, one in scores.items()}
        return json.dumps(written, ensure_ascii=False)

    @classmethod
    def from_json(cls, written: str) -> Self:
        """Return the evaluation that `to_json` wrote. Raises ValueError if it is none."""
        try:
            return TypeAdapter(cls).validate_python(json.loads(written))
        except (ValueError, RecursionError) as error:
            fault = message_in_one_line(error)
            raise ValueError(f"This is no evaluation as to_json or `eval --json` writes it: {fault}.") from error

    def __repr__(self) -> str:
        return f"Evaluation({self.type or 'of results'}, {counted(len(self.documents), 'document')})"

    def __str__(self) -> str:
        return as_text(self.__rich__())

    def __rich__(self) -> "RenderableType":
        from structured.jobs.evaluation_views import FieldsTable, figures_table, line, stacked, worst_documents

        lists = [FieldsTable("items of", self.lists)] if self.lists else []
        worst = [worst_documents(self.worst())] if self.worst() else []
        figures = figures_table(self.figures), FieldsTable("field", self.fields)
        return stacked(line(self.summary, 200), *figures, *lists, *worst)


def _measure(documents: Sequence[DocumentScore], name: str) -> Measure:
    measures = document_measures(documents)
    if name not in measures:
        raise ValueError(f"There is no figure {name!r} of these documents; there are {', '.join(measures)}.")
    return measures[name]


@dataclass(frozen=True)
class Difference:
    """How an evaluation differs from another one on the same gold: this − other.

    Intervals are those of the differences, with the same documents drawn in both. Where one does not contain 0, the
    difference is hardly one of chance.

    Attributes:
        this: The evaluation that was asked.
        other: The other, its documents in the same order.
    """

    this: Evaluation
    other: Evaluation

    @cached_property
    def figures(self) -> Mapping[str, Figure]:
        """The difference of each figure that both have."""
        return self._figures(document_measures)

    def figure(self, name: str) -> Figure:
        """Return the difference of one figure, without computing the others. Raises ValueError for an unknown name."""
        return self._figures(lambda documents: {name: _measure(documents, name)})[name]

    @cached_property
    def fields(self) -> Mapping[str, Figure]:
        """The difference in the share of exact values, of each field that both have."""
        return self._figures(
            lambda documents: {name: count_measures(one)["exact"] for name, one in counts_by_field(documents).items()}
        )

    @cached_property
    def better(self) -> list[tuple[DocumentScore, DocumentScore]]:
        """The documents on which this has a higher score, as it is here and as it is in the other; the most first."""
        return self._changed(1)

    @cached_property
    def worse(self) -> list[tuple[DocumentScore, DocumentScore]]:
        """The documents on which this has a lower score, likewise."""
        return self._changed(-1)

    def _changed(self, sign: int) -> list[tuple[DocumentScore, DocumentScore]]:
        pairs = zip(self.this.documents, self.other.documents, strict=True)
        changed = [(ours, theirs) for ours, theirs in pairs if sign * (ours.score - theirs.score) > 0]
        return sorted(changed, key=lambda pair: -abs(pair[0].score - pair[1].score))

    def _figures(self, measures: Callable[[Sequence[DocumentScore]], Mapping[str, Measure]]) -> dict[str, Figure]:
        ours, theirs = (measures(one.documents) for one in (self.this, self.other))
        this = self.this
        return figures(difference(ours, theirs), len(this.documents), samples=this.samples, seed=this.seed)

    def __repr__(self) -> str:
        return f"Difference({len(self.better)} better, {len(self.worse)} worse)"

    def __str__(self) -> str:
        return as_text(self.__rich__())

    def __rich__(self) -> "RenderableType":
        from rich.console import Group

        from structured.jobs.evaluation_views import changed_documents, figures_table, line, stacked

        titles = Group(line(f"This: {self.this.summary}"), line(f"Other: {self.other.summary}"))
        figures = figures_table(self.figures, "this − other"), figures_table(self.fields, "values right", "field")
        changed = {"better": self.better, "worse": self.worse}
        return stacked(titles, *figures, *(changed_documents(*one) for one in changed.items() if one[1]))


Loss = tuple[float, float]
"""The confidence of a value, or of a result, and the share of it that is wrong."""

START_CONFIDENCES = (0.99, 0.5, 0.0)
"""The confidences that a sequence of tests starts from, with an equal share of the error that is allowed."""

TESTED_CONFIDENCES = (0.99, 0.98, 0.95, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05, 0.0)
"""The confidences that are tested, fixed before any document is seen."""

IGNORED = frozenset({"seed"})
"""Options on which no promise depends: another seed is another draw."""


@dataclass(frozen=True, slots=True)
class Threshold:
    """The lowest certified confidence, and what the documents with right answers say of it.

    Attributes:
        least: The confidence from which on values may be accepted; None if none is certified.
        documents: The documents that have such values.
        accepted: Those of them with a value that is accepted.
        wrong: The share of the accepted values of a document that are wrong, on average.
        needed: The documents that have to be accepted, at least, if nothing in them is wrong.
    """

    least: float | None
    documents: int
    accepted: int
    wrong: float
    needed: int

    def __str__(self) -> str:
        if self.least is not None:
            accepted = f"{self.accepted:,} of {self.documents:,} documents"
            return f"from {self.least:g} on: {self.wrong:.1%} wrong in {accepted}"
        if self.documents < self.needed:
            lack = f"at least {self.needed:,} labelled documents without an error would be needed"
        else:
            most = TESTED_CONFIDENCES[0]
            lack = f"with each one tried, up to {most}, too much of what is accepted is wrong, or too little is"
        return f"not certifiable with n = {self.documents:,}: {lack}"


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The confidences from which on answers may be accepted without a look; `Evaluation.thresholds` makes them.

    Attributes:
        risk: The share of the accepted results, or of the accepted values of a field, that may be wrong.
        confidence: How sure the promise of each threshold is.
        results: The threshold for the confidence of a whole result: that of its least certain value.
        fields: The threshold for the values of each field, by its path.
        provenance: What decided the answers of the evaluation; None if that is not known.
    """

    risk: float
    confidence: float
    results: Threshold
    fields: Mapping[str, Threshold]
    provenance: Provenance | None = None

    def lacking(self, result: Result[Any]) -> dict[str, float]:
        """Return the confidences below the threshold for results, by the paths of values; none if it is accepted.

        The path is `""` if the result has no values to be sure of, or is an error. Without a threshold, all are below.

        Raises:
            TypeError: This is no result.
            ValueError: The type, the model, the prompt or the options are not those of the evaluation.
        """
        if not isinstance(result, Result):
            raise TypeError(f"A result is {shown(result)}. Pass results, such as those of extract_results, not values.")
        if self.provenance is not None and result.provenance is not None:
            changed = differences(asdict(self.provenance), result.provenance, ignored=IGNORED)
            if changed:
                raise ValueError(
                    f"The thresholds promise nothing of the result {result.id!r}: since their evaluation, this has "
                    f"changed: {'; '.join(changed)}. Evaluate what you use now, and take the thresholds of that."
                )
        least = inf if self.results.least is None else self.results.least
        trusts = {path: evidence.trust for path, evidence in result.evidence.items()}
        too_low = {path: trust for path, trust in trusts.items() if trust is not None and trust < least}
        is_accepted = result.error is None and result.confidence >= least
        return {} if is_accepted else too_low or {"": result.confidence}

    def route(self, results: Iterable[Result[T]]) -> tuple[list[Result[T]], list[Result[T]]]:
        """Return the results that are accepted as a whole, and those for a person; `lacking` says why, and raises."""
        accepted: list[Result[T]] = []
        review: list[Result[T]] = []
        for result in [results] if isinstance(results, Result) else results:
            (review if self.lacking(result) else accepted).append(result)
        return accepted, review

    def __str__(self) -> str:
        certainty = f"with a certainty of {self.confidence:.1%}"
        promise = f"at most {self.risk:.1%} of accepted results or values are wrong, {certainty}"
        rows = {"results": self.results, **self.fields}
        return "\n".join((promise, *(f"{name or '(answer)'}: {threshold}" for name, threshold in rows.items())))


def certify(documents: Sequence[Sequence[Loss]], risk: float, error: float, *, is_single: bool) -> Threshold:
    """Return the lowest confidence at which the mean loss of documents is at most the risk, but for an error.

    Parameters:
        documents: The losses of the values of each.
        risk: The mean of the losses that is allowed, of documents with a value that is accepted.
        error: The probability of a threshold at which the mean is greater.
        is_single: Whether each document has one value at most, which is right or wrong.
    """
    answered = [losses for losses in documents if losses]
    places = np.array([place for place, losses in enumerate(answered) for _ in losses], int)
    trusts, wrong = np.array([pair for losses in answered for pair in losses], float).reshape(-1, 2).T
    start_error = error / len(START_CONFIDENCES)
    needed = ceil(log(start_error) / log1p(-risk))
    threshold = Threshold(None, len(answered), 0, 0.0, needed)
    error_left = 0.0
    for least in TESTED_CONFIDENCES:
        error_left += start_error if least in START_CONFIDENCES else 0
        accepted = trusts >= least
        numbers = np.bincount(places[accepted], minlength=len(answered))
        losses = np.bincount(places[accepted], wrong[accepted], len(answered))[numbers > 0] / numbers[numbers > 0]
        if p_value(len(losses), losses.sum(), risk, is_single=is_single) <= error_left:
            threshold = Threshold(least, len(answered), len(losses), float(losses.mean()), needed)
        else:
            error_left = 0.0
    return threshold


def p_value(count: int, total: float, risk: float, *, is_single: bool) -> float:
    """Return how probable a sum of losses as small as this is, at most, if their mean is expected above the risk."""
    if total >= count * risk:
        return 1.0
    tail = sum(
        exp(lgamma(count + 1) - lgamma(k + 1) - lgamma(count - k + 1) + k * log(risk) + (count - k) * log1p(-risk))
        for k in range(ceil(total - 1e-9) + 1)
    )
    if is_single:
        return tail
    mean = total / count
    divergence = (mean * log(mean / risk) if mean else 0.0) + (1 - mean) * log((1 - mean) / (1 - risk))
    return min(exp(-count * divergence), e * tail)
