"""Scores of documents: the outcomes of their values."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any, NamedTuple, Self

from structured.results.comparison import Outcome, Pair
from structured.results.evidence import Evidence
from structured.results.result import Usage

Span = tuple[int, int]

MAX_BEGINNING = 120
"""Characters of the first line of a document that are kept as its title."""


class Counts(NamedTuple):
    """The numbers of values by outcome; see `Outcome`."""

    right: int = 0
    absent: int = 0
    wrong: int = 0
    missing: int = 0
    invented: int = 0

    @classmethod
    def of(cls, outcomes: Iterable[Outcome]) -> Self:
        """Count outcomes."""
        return cls(**Counter[str](outcomes))

    @property
    def is_perfect(self) -> bool:
        """Whether nothing is wrong, missing or invented."""
        return not (self.wrong or self.missing or self.invented)


@dataclass(frozen=True, slots=True)
class ValueScore:
    """A value that was expected with that which was given, or one of them alone.

    Attributes:
        field: The path of its field: `lines[].price`.
        outcome: `right`, `absent`, `wrong`, `missing` or `invented`.
        expected: What was expected, as plain JSON; None if nothing was.
        given: What was given, likewise.
        expected_path: Where it was expected: `lines[2].price`. None if that is nowhere.
        given_path: Where it was given, likewise.
        confidence: How sure the model was of it; None where it was not asked.
        expected_span: Where the document states it, by the gold; None if that is not known.
        given_span: Where it does so by the evidence.
        items: The items of lists that it is in, the outermost first: the path of the list, and a number that tells the
            items of the document apart.
    """

    field: str
    outcome: Outcome
    expected: Any = None
    given: Any = None
    expected_path: str | None = None
    given_path: str | None = None
    confidence: float | None = None
    expected_span: Span | None = None
    given_span: Span | None = None
    items: tuple[tuple[str, int], ...] = ()

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
    """

    id: str
    anchor: str
    beginning: str
    values: tuple[ValueScore, ...]
    error: str | None = None
    seconds: float | None = None
    usage: Usage | None = None

    @property
    def counts(self) -> Counts:
        """The numbers of values by outcome."""
        return Counts.of(one.outcome for one in self.values)

    @property
    def is_right(self) -> bool:
        """Whether there is an answer, and nothing in it is wrong, missing or invented."""
        return self.error is None and self.counts.is_perfect

    @property
    def score(self) -> float:
        """The share of values that are right; 0 without an answer, and 1 if there is nothing to say."""
        if self.error is not None or not self.values:
            return float(self.error is None)
        return sum(one.is_right for one in self.values) / len(self.values)

    def items(self) -> list[tuple[str, Outcome]]:
        """Return the outcome of each item of a list, with the path of the list.

        An item is right if all in it is.
        """
        outcomes: dict[tuple[str, int], set[Outcome]] = {}
        for one in self.values:
            for item in one.items:
                outcomes.setdefault(item, set()).add(one.outcome)
        return [(name, _together(found)) for (name, _), found in outcomes.items()]


def _together(outcomes: set[Outcome]) -> Outcome:
    """Return the outcome of an item from those of its values."""
    stated = outcomes - {"absent"}
    if len(stated) == 1:
        (only,) = stated
        return only
    return "wrong" if stated else "absent"


def compared_values(
    pairs: Iterable[Pair], spans: Mapping[str, Span], evidence: Mapping[str, Evidence]
) -> list[ValueScore]:
    """Return the scores of pairs of values, with the spans of the gold and the evidence of the answer."""
    found = []
    for pair in pairs:
        known = evidence.get(pair.given_path) if pair.given_path is not None else None
        found.append(
            ValueScore(
                **{one.name: getattr(pair, one.name) for one in fields(pair)},
                confidence=None if known is None else known.confidence,
                expected_span=spans.get(pair.expected_path) if pair.expected_path is not None else None,
                given_span=None if known is None else known.span,
            )
        )
    return found


def beginning_of(document: str) -> str:
    """Return the first line of a document, shortened."""
    return (document[:2000].lstrip().splitlines() or [""])[0][:MAX_BEGINNING]
