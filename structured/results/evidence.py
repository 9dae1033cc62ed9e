"""Evidence: where a document states a value, how that is known, and how confident the model was of it.

A confidence orders values; it is no probability of being right. A calibration makes one of it: isotonic regression
(Zadrozny and Elkan, "Transforming Classifier Scores into Accurate Multiclass Probability Estimates", 2002) learns from
values whose truth is known the probability that never falls as the confidence grows, and assumes no more.
"""

import json
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from math import floor
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from structured.errors.values import message
from structured.output_types.html import Html, code, coloured, concatenated, highlighted, table, verbatim
from structured.output_types.output_type import OutputType
from structured.output_types.paths import Steps, leaves, path_to_steps, steps_to_path

Match = Literal["grounded", "exact", "normalised", "fuzzy", "concluded", "absent", "none"]
"""How a value was found in the document.

grounded: The document states it by construction: nothing else could be written.
exact: Found as it is.
normalised: Found in another form: other case, white space, dashes or quotes; another form of a number or a date.
fuzzy: Found nearly: inside a word, or by edit distance.
concluded: A boolean, or one of the values of an enum, that the document does not spell: a conclusion.
absent: Null; nothing is said.
none: The document does not support it.
"""

MATCH_WORDS: Mapping[Match, str] = {
    "grounded": "taken from the text",
    "exact": "stated in the text",
    "normalised": "stated in another form",
    "fuzzy": "similar words in the text",
    "concluded": "concluded, not spelled out",
    "absent": "not stated",
    "none": "no support in the text",
}
"""The matches, for people."""

Band = Literal["good", "doubtful", "bad", "unknown"]
"""The colour of a confidence."""

BANDS: Mapping[Band, float] = {"good": 0.9, "doubtful": 0.6, "bad": 0.0}
"""The least confidence of each band, the best first."""


class Box(NamedTuple):
    """A rectangle on a page, which counts from 1, from its top left corner: in points of a PDF, or pixels."""

    page: int
    left: float
    top: float
    right: float
    bottom: float

    def continues(self, other: "Box") -> bool:
        """Tell whether this box is to the right of another one, in the same line."""
        middle = (self.top + self.bottom) / 2
        return self.page == other.page and other.top < middle < other.bottom and other.left <= self.left

    def around(self, other: "Box") -> "Box":
        """Return the box around this and another one of the page."""
        return Box(self.page, *map(min, self[1:3], other[1:3]), *map(max, self[3:], other[3:]))


@dataclass(frozen=True, slots=True)
class PageLayout:
    """The places of a document's words on the pages of its file.

    Attributes:
        words: Where each word starts and ends in the text, and its box, in the order of the text.
        source: The SHA-256 of the file.
    """

    words: Sequence[tuple[int, int, Box]]
    source: str

    def boxes(self, span: tuple[int, int]) -> tuple[Box, ...]:
        """Return the boxes of the words that a span has a part of, one for each line of them."""
        lines: list[Box] = []
        first = bisect_right(self.words, span[0], key=lambda word: word[1])
        for _, _, box in self.words[first : bisect_left(self.words, span[1], key=lambda word: word[0])]:
            if lines and box.continues(lines[-1]):
                lines[-1] = lines[-1].around(box)
            else:
                lines.append(box)
        return tuple(lines)


@dataclass(frozen=True, slots=True)
class Evidence:
    """The evidence for one value.

    Attributes:
        span: Its start and end, in characters (code points) of the document as given. None if it is not found.
        match: How that is known; see `Match`.
        confidence: Between 0 and 1: how sure the model was of it. None if the model was not asked, since the type and
            the document leave no other value.
        agreement: The share of the samples that say the same there; None where there was one.
        page: The page on which it starts, from 1; None if it is not found, or the document has no pages.
        boxes: Where it stands on the pages of a PDF or a picture, line by line.

    Raises:
        ValueError: One of these cannot be.
    """

    span: tuple[int, int] | None
    match: Match
    confidence: float | None = None
    agreement: float | None = None
    page: int | None = None
    boxes: tuple[Box, ...] = ()

    def __post_init__(self) -> None:
        if self.match not in MATCH_WORDS:
            raise ValueError(f"{self.match!r} is no match; the matches are {', '.join(MATCH_WORDS)}")
        for name in ("confidence", "agreement"):
            share = getattr(self, name)
            if share is not None and not (isinstance(share, int | float) and 0 <= share <= 1):
                raise ValueError(f"{name} is {share!r}, not a number from 0 to 1")
        is_span = isinstance(self.span, tuple) and [*map(type, self.span)] == [int, int]
        if self.span is not None and not (is_span and 0 <= self.span[0] <= self.span[1]):
            raise ValueError(f"span is {self.span!r}, not where a text starts and ends")
        if self.page is not None and not (type(self.page) is int and self.page > 0):
            raise ValueError(f"page is {self.page!r}, not the number of a page")

    def calibrated(self, probability: Callable[[float], float]) -> Self:
        """Return the evidence with the probability that a value of this confidence is right, in place of that."""
        return self if self.confidence is None else replace(self, confidence=probability(self.confidence))

    @property
    def trust(self) -> float | None:
        """The confidence, or 0 where a grounded value was the only one that the document states: none was chosen."""
        return 0.0 if self.match == "grounded" and self.confidence is None else self.confidence

    @property
    def band(self) -> Band:
        """How the confidence is coloured: `good` from 0.9, `doubtful` from 0.6, `bad` below, or `unknown`."""
        if self.confidence is None:
            return "unknown"
        return next((band for band, least in BANDS.items() if self.confidence >= least), "bad")


def page_of(pages: Sequence[int], offset: int) -> int | None:
    """Return the number of the page, from 1, that holds an offset; None if there are no pages.

    >>> page_of((0, 5, 7), 4), page_of((0, 5, 7), 5), page_of((), 5)
    (1, 2, None)
    """
    return bisect_right(pages, offset) if pages else None


def on_pages(
    evidence: Mapping[str, Evidence], pages: Sequence[int], layout: PageLayout | None
) -> Mapping[str, Evidence]:
    """Return the evidence for each value with its page, and its boxes there."""
    if not pages:
        return evidence
    boxes: Callable[[tuple[int, int]], tuple[Box, ...]] = (lambda _: ()) if layout is None else layout.boxes
    return {
        path: item if item.span is None else replace(item, page=page_of(pages, item.span[0]), boxes=boxes(item.span))
        for path, item in evidence.items()
    }


MAX_CHARACTERS, CONTEXT = 4000, 400
"""A longer document is shown only near its highlights: so many characters around each."""


def document_to_html(document: str, evidence: Mapping[str, Evidence]) -> Html:
    """Return a document with its values highlighted in the colours of their confidence.

    It is cut wherever a span starts or ends. Where spans overlap, the shortest shows.
    """
    spans = [
        (*item.span, item.band) for item in evidence.values() if item.span is not None and item.span[0] < item.span[1]
    ]
    cuts = sorted({0, len(document), *(cut for start, end, _ in spans for cut in (start, end))})
    pieces = []
    for start, end in pairwise(cuts):
        covering = [(last - first, band) for first, last, band in spans if first <= start and end <= last]
        text = document[start:end]
        left_out = len(text) - 2 * CONTEXT
        if covering:
            pieces.append(highlighted(text, min(covering)[1]))
        elif len(document) <= MAX_CHARACTERS or left_out <= 0:
            pieces.append(concatenated(text))
        else:
            note = coloured(f" … {left_out:,} characters … ", "unknown")
            pieces.append(concatenated(text[:CONTEXT], note, text[-CONTEXT:]))
    return verbatim(concatenated(*pieces))


def values_to_html(data: Any, missing: Sequence[str], evidence: Mapping[str, Evidence]) -> Html:
    """Return the table of the values that were stated, and of those that are missing."""
    values = {steps_to_path(steps): value for steps, value in leaves(data)}
    paths = [path for path in {**evidence, **values, **dict.fromkeys(missing)} if path in values or path in missing]
    shown = {path: coloured("missing", "unknown") if path in missing else values[path] for path in paths}
    rows = [(code(path or "(answer)"), shown[path], *_evidence_cells(evidence.get(path))) for path in paths]
    return table(("field", "value", "confidence", "evidence"), rows)


def _evidence_cells(evidence: Evidence | None) -> tuple[object, object]:
    if evidence is None:
        return "", ""
    confidence = "" if evidence.confidence is None else f"{floor(evidence.confidence * 100 + 1e-9)}%"
    words = MATCH_WORDS[evidence.match]
    return coloured(confidence, evidence.band), coloured(words, "bad") if evidence.match == "none" else words


def without_unsupported(
    output_type: OutputType[Any], text: str, evidence: Mapping[str, Evidence]
) -> tuple[str, Mapping[str, Evidence]]:
    """Return an answer without its removable texts that have no support, and the evidence for what is left.

    An item of a list is left out, and any other text becomes null, which keeps the confidence of the text:

    `{"name": "Ana", "city": "Rome", "tags": ["x", "nurse"]}`, of which the document has only Ana and nurse,
    → `{"name": "Ana", "city": null, "tags": ["nurse"]}`
    """
    data = output_type.to_data(text)
    texts = {steps for steps, value in leaves(data) if isinstance(value, str)}
    unsupported = {path_to_steps(path) for path, item in evidence.items() if item.match in {"fuzzy", "none"}}
    removed = {steps for steps in texts & unsupported if output_type.is_removable(steps)}
    return without_values_at(output_type, text, data, removed, evidence)


def without_values_at(
    output_type: OutputType[Any], text: str, data: Any, removed: set[Steps], evidence: Mapping[str, Evidence]
) -> tuple[str, Mapping[str, Evidence]]:
    """Return an answer without the values at some places, and the evidence for what is left, at its new places.

    An item that can be left out of its list is, and any other value becomes null.
    """
    if not removed:
        return text, evidence
    places_evidence: dict[str, Evidence] = {}

    def remaining(data: Any, steps: Steps, place: Steps) -> Any:
        if isinstance(data, dict):
            return {name: remaining(inside, (*steps, name), (*place, name)) for name, inside in data.items()}
        if isinstance(data, list):
            removals = {other for other in removed if other[:-1] == steps and output_type.is_item(other)}
            items = [(index, item) for index, item in enumerate(data) if (*steps, index) not in removals]
            return [remaining(item, (*steps, index), (*place, at)) for at, (index, item) in enumerate(items)]
        if (support := evidence.get(steps_to_path(steps))) is not None:
            evidence_of_null = replace(support, span=None, match="absent", page=None) if steps in removed else support
            places_evidence[steps_to_path(place)] = evidence_of_null
        return None if steps in removed else data

    return output_type.from_data(remaining(data, (), ())), places_evidence


MIN_VALUES = 20
"""Values that a calibration is learned from, at least."""

DECIMALS = 12
"""Decimals of a confidence that count: of two that are nearer than 1e-15, scikit-learn forgets one."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """A function from confidences to probabilities: linear between its points, and level beyond them.

    Attributes:
        confidences: Where its points are: numbers from 0 to 1, each greater than the one before.
        probabilities: Its values there: numbers from 0 to 1, none less than the one before.

    Raises:
        ValueError: The points are no such function.
    """

    confidences: tuple[float, ...]
    probabilities: tuple[float, ...]

    def __post_init__(self) -> None:
        if not 0 < len(self.confidences) == len(self.probabilities):
            raise ValueError(
                f"A calibration has a probability for each confidence, and at least one: these are "
                f"{len(self.confidences)} confidences and {len(self.probabilities)} probabilities."
            )
        _check_fractions("confidences", self.confidences)
        _check_fractions("probabilities", self.probabilities)
        if any(first >= other for first, other in pairwise(self.confidences)):
            raise ValueError("The confidences of a calibration must grow from each point to the next.")
        if any(first > other for first, other in pairwise(self.probabilities)):
            raise ValueError("The probabilities of a calibration must not fall as the confidence grows.")

    @classmethod
    def fit(cls, confidences: Sequence[float], right: Sequence[bool]) -> Self:
        """Learn a calibration from values whose truth is known, by isotonic regression.

        Parameters:
            confidences: That of each value, from 0 to 1.
            right: Whether each value is right.

        Raises:
            ValueError: There are fewer than 20 values, or not as many of both, or a confidence is not from 0 to 1.
            ImportError: scikit-learn is not installed.
        """
        if len(confidences) != len(right) or len(right) < MIN_VALUES:
            raise ValueError(
                f"A calibration is learned from at least {MIN_VALUES} values, each with a confidence and whether it is "
                f"right: these are {len(confidences)} confidences, and {len(right)} that are known to be right or not."
            )
        _check_fractions("confidences", confidences)
        try:
            from sklearn.isotonic import IsotonicRegression
        except ImportError as error:
            raise ImportError(
                "Learning a calibration needs scikit-learn: pip install 'structured-extraction[calibration]'. Applying "
                "one does not."
            ) from error
        rounded = np.round(np.asarray(confidences, float), DECIMALS)
        learned = IsotonicRegression(y_min=0, y_max=1).fit(rounded, np.asarray(right, float))
        return cls(tuple(learned.X_thresholds_.tolist()), tuple(learned.y_thresholds_.tolist()))

    def apply(self, confidence: float) -> float:
        """Return the probability that a value with this confidence is right. Raises ValueError if it is not in 0…1."""
        _check_fractions("confidences", (confidence,))
        return float(np.interp(round(confidence, DECIMALS), self.confidences, self.probabilities))

    def save(self, path: str | Path) -> None:
        """Write the calibration to a file, as JSON."""
        Path(path).write_text(json.dumps(asdict(self)) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Return the calibration that `save` wrote. Raises OSError for no file, ValueError for what is none."""
        try:
            match json.loads(Path(path).read_text(encoding="utf-8")):
                case {"confidences": list(confidences), "probabilities": list(probabilities), **rest} if not rest:
                    return cls(tuple(confidences), tuple(probabilities))
            problem = 'it is not a JSON object with the lists "confidences" and "probabilities"'
        except ValueError as error:
            problem = message(error).rstrip(".")
        raise ValueError(f"{path} is no calibration: {problem}. Write one by Calibration.save.")


def expected_calibration_error(
    confidences: Sequence[float] | NDArray[np.float64], right: Sequence[bool] | NDArray[np.bool_], *, bins: int = 10
) -> float:
    """Return how far confidences are from the shares that are right, on average, in bins of as many values each.

    0 is best. Naeini, Cooper and Hauskrecht, "Obtaining Well Calibrated Probabilities Using Bayesian Binning" (2015).
    """
    order = np.argsort(confidences, kind="stable")
    differences = np.asarray(confidences, float)[order] - np.asarray(right, float)[order]
    return float(sum(abs(part.sum()) for part in np.array_split(differences, bins)) / len(differences))


def _check_fractions(name: str, values: Sequence[float]) -> None:
    for value in values:
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            raise ValueError(f"The {name} of a calibration are numbers from 0 to 1, and one is {value!r}.")
