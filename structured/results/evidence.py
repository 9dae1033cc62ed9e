"""Evidence: where a document states a value, how that is known, and how confident the model was of it.

The confidence in a value is the probability of the tokens that it is written with. Tokens that were known without
asking the model do not count; a value of which all are known, since the type or the document leaves no choice, has no
confidence. The probability of a sampled token is its share of the legal tokens, times what these had of all. Where the
type allows little else, the share alone would be near 1, however much the model preferred an illegal token.
"""

import math
from bisect import bisect_right
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import pairwise
from math import floor
from typing import Any, Literal, NamedTuple, Self

from structured.decoding.requests import Generation, SampledToken
from structured.json_schema.document.equality import identity
from structured.output_types.html import Html, code, coloured, joined, marked, table, verbatim
from structured.output_types.output_type import OutputType
from structured.output_types.paths import Steps, leaves, path_to_steps, steps_to_path
from structured.results.json_text import Leaf, json_leaves

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


def _is_span(span: object) -> bool:
    return (
        isinstance(span, tuple) and len(span) == 2 and all(type(end) is int for end in span) and 0 <= span[0] <= span[1]
    )


Band = Literal["good", "doubtful", "bad", "unknown"]
"""The colour of a confidence."""

BANDS: Mapping[Band, float] = {"good": 0.9, "doubtful": 0.6, "bad": 0.0}
"""The least confidence of each band, the best first."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """The evidence for one value.

    Attributes:
        span: Its start and end, in characters (code points) of the document as given. None if it stands
            nowhere.
        match: How that is known; see `Match`.
        confidence: Between 0 and 1: how sure the model was of it. None if the model was not asked, since the type and
            the document leave no other value.
        agreement: The share of the samples that say the same there; None where there was one.
        page: The page on which it starts, from 1; None if it stands nowhere, or the document has no pages.

    Raises:
        ValueError: One of these cannot be.
    """

    span: tuple[int, int] | None
    match: Match
    confidence: float | None = None
    agreement: float | None = None
    page: int | None = None

    def __post_init__(self) -> None:
        if self.match not in MATCH_WORDS:
            raise ValueError(f"{self.match!r} is no match; the matches are {', '.join(MATCH_WORDS)}")
        for name in ("confidence", "agreement"):
            share = getattr(self, name)
            if share is not None and not (isinstance(share, int | float) and 0 <= share <= 1):
                raise ValueError(f"{name} is {share!r}, not a number from 0 to 1")
        if self.span is not None and not _is_span(self.span):
            raise ValueError(f"span is {self.span!r}, not where a text starts and ends")
        if self.page is not None and not (type(self.page) is int and self.page > 0):
            raise ValueError(f"page is {self.page!r}, not the number of a page")

    def calibrated(self, probability: Callable[[float], float]) -> Self:
        """Return the evidence with the probability that a value of this confidence is right, in place of that."""
        return self if self.confidence is None else replace(self, confidence=probability(self.confidence))

    @property
    def is_unweighed(self) -> bool:
        """Whether the document stated one value that the type allows, so that the model was not asked."""
        return self.match == "grounded" and self.confidence is None

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


def on_pages(evidence: Mapping[str, Evidence], pages: Sequence[int]) -> Mapping[str, Evidence]:
    """Return the evidence for each value with its page."""
    if not pages:
        return evidence
    return {
        path: item if item.span is None else replace(item, page=page_of(pages, item.span[0]))
        for path, item in evidence.items()
    }


CONTEXT = 400
"""Characters around a highlight that a long document shows."""

MAX_CHARACTERS = 4000
"""A longer document is shown only near its highlights."""


def document_to_html(document: str, evidence: Mapping[str, Evidence]) -> Html:
    """Return a document with its values highlighted in the colours of their confidence.

    Where spans overlap, the shortest shows.
    """
    return verbatim(joined(*_pieces(document, evidence)))


def values_to_html(data: Any, missing: Sequence[str], evidence: Mapping[str, Evidence]) -> Html:
    """Return the table of the values that were stated, and of those that are missing."""
    values = {steps_to_path(steps): value for steps, value in leaves(data)}
    paths = [path for path in {**evidence, **values, **dict.fromkeys(missing)} if path in values or path in missing]
    rows = [(code(path or "(answer)"), _value(values.get(path)), *_trust(evidence.get(path))) for path in paths]
    return table(("field", "value", "confidence", "evidence"), rows)


def _value(value: object) -> Html:
    return coloured("missing", "unknown") if value is None else joined(value)


def _trust(evidence: Evidence | None) -> tuple[object, object]:
    """Return the confidence and the match of a value."""
    if evidence is None:
        return "", ""
    confidence = "" if evidence.confidence is None else f"{floor(evidence.confidence * 100 + 1e-9)}%"
    words = MATCH_WORDS[evidence.match]
    return coloured(confidence, evidence.band), coloured(words, "bad") if evidence.match == "none" else words


def _pieces(document: str, evidence: Mapping[str, Evidence]) -> Iterator[Html]:
    """Yield the pieces of a document, cut wherever a span starts or ends."""
    spans = [
        (*item.span, item.band) for item in evidence.values() if item.span is not None and item.span[0] < item.span[1]
    ]
    cuts = sorted({0, len(document), *(cut for start, end, _ in spans for cut in (start, end))})
    for start, end in pairwise(cuts):
        around = [(above - below, band) for below, above, band in spans if below <= start and end <= above]
        text = document[start:end]
        if around:
            yield marked(text, min(around)[1])
        else:
            yield joined(text if len(document) <= MAX_CHARACTERS else _shortened(text))


def _shortened(text: str) -> Html:
    """Return a long text without its middle, with the number of characters left out."""
    left_out = len(text) - 2 * CONTEXT
    if left_out <= 0:
        return joined(text)
    note = coloured(f" … {left_out:,} characters … ", "unknown")
    return joined(text[:CONTEXT], note, text[-CONTEXT:])


UNSUPPORTED = ("fuzzy", "none")
"""The matches of values that the document does not have."""

_MISSING = Evidence(None, "absent")


def without_unsupported(
    output_type: OutputType[Any], text: str, evidence: Mapping[str, Evidence]
) -> tuple[str, Mapping[str, Evidence]]:
    """Return an answer without its removable texts that have no support, and the evidence for what is left.

    An item of a list is left out, and any other text becomes null:

    `{"name": "Ana", "city": "Rome", "tags": ["x", "nurse"]}`, of which the document has only Ana and nurse,
    → `{"name": "Ana", "city": null, "tags": ["nurse"]}`
    """
    data = output_type.to_data(text)
    texts = {steps for steps, value in leaves(data) if isinstance(value, str)}
    weak = [path_to_steps(path) for path, match in evidence.items() if match.match in UNSUPPORTED]
    removed = {steps for steps in weak if steps in texts and output_type.is_removable(steps)}
    if not removed:
        return text, evidence
    places = dict(_places(data, removed, (), ()))
    moved = {
        steps_to_path(place): _MISSING if steps in removed else evidence[steps_to_path(steps)]
        for steps, place in places.items()
        if steps_to_path(steps) in evidence
    }
    return output_type.from_data(_without(data, removed, ())), moved


def _without(data: Any, removed: set[Steps], steps: Steps) -> Any:
    """Return the data at a place of an answer without the removed leaves."""
    match data:
        case dict():
            return {name: _without(inside, removed, (*steps, name)) for name, inside in data.items()}
        case list():
            kept = ((index, inside) for index, inside in enumerate(data) if (*steps, index) not in removed)
            return [_without(inside, removed, (*steps, index)) for index, inside in kept]
    return None if steps in removed else data


def _places(data: Any, removed: set[Steps], steps: Steps, place: Steps) -> Iterator[tuple[Steps, Steps]]:
    """Yield the place of each leaf that is kept, before and after the others are removed."""
    match data:
        case dict():
            for name, inside in data.items():
                yield from _places(inside, removed, (*steps, name), (*place, name))
        case list():
            kept = [index for index in range(len(data)) if (*steps, index) not in removed]
            for position, index in enumerate(kept):
                yield from _places(data[index], removed, (*steps, index), (*place, position))
        case _:
            yield steps, place


def confidences(text: str, leaves: Iterable[Leaf], tokens: Sequence[SampledToken]) -> Iterator[float | None]:
    """Yield the confidence in each leaf of an answer, in their order; None where the model was asked nothing."""
    for own in tokens_of_leaves(text, leaves, tokens):
        yield min(math.exp(sum(map(_log_probability, own))), 1.0) if own else None


def tokens_of_leaves(text: str, leaves: Iterable[Leaf], tokens: Sequence[SampledToken]) -> Iterator[list[SampledToken]]:
    """Yield the sampled tokens that each leaf of an answer is written with, in their order.

    To a string belongs its closing quote, to anything else the token behind it, which decides that it ends.
    """
    place, byte, first = 0, 0, 0
    for leaf in leaves:
        byte += len(text[place : leaf.start].encode())
        end = byte + len(text[leaf.start : leaf.end].encode())
        place, start, byte = leaf.end, byte, end
        end += not isinstance(leaf.value, str)
        while first < len(tokens) and tokens[first].end <= start and tokens[first].start < start:
            first += 1
        yield list(_within(tokens, first, end))


def _within(tokens: Sequence[SampledToken], first: int, end: int) -> Iterator[SampledToken]:
    """Yield the tokens from the first one that begin before a byte."""
    for position in range(first, len(tokens)):
        if tokens[position].start >= end:
            return
        yield tokens[position]


def _log_probability(token: SampledToken) -> float:
    return token.log_probability + math.log(max(token.legal_mass, 1e-300))


class Sureness(NamedTuple):
    """The confidence of a model in a value, and the agreement of its samples."""

    confidence: float | None
    agreement: float | None = None


Before = Mapping[str, Sureness]
"""The confidence in each leaf of an earlier answer, by their paths."""


@dataclass(frozen=True, slots=True)
class Kept:
    """The part of an earlier answer that a rewritten one keeps: all but some places."""

    before: Before
    places: frozenset[Steps]

    def is_open(self, steps: Steps) -> bool:
        """Tell whether a value was to be written again."""
        return any(steps[: len(place)] == place for place in self.places)

    def sureness(self, leaf: Leaf) -> Sureness | None:
        """Return the confidence in a leaf when it was written first; None if it was to be written again."""
        return None if self.is_open(leaf.steps) else self.before.get(leaf.path)


def sureness(output_type: OutputType[Any], generation: Generation, kept: Kept | None = None) -> Before:
    """Return the confidence of the model in each leaf of a generation, by the path.

    The confidence in a value that was kept is the earlier one, since nothing was sampled.
    """
    answer = answer_leaves(output_type, generation.text)
    sampled = map(Sureness, confidences(generation.text, answer, generation.diagnostics.tokens))
    return {leaf.path: (kept and kept.sureness(leaf)) or new for leaf, new in zip(answer, sampled, strict=True)}


def attribute(
    output_type: OutputType[Any],
    document: str,
    text: str,
    generations: Sequence[Generation],
    kept: Kept | None = None,
) -> dict[str, Evidence]:
    """Return the evidence for each leaf of an answer, by its path.

    The answer is one of the generations, or was voted on by them. The confidence in a leaf is that of the likeliest of
    them that has the same value there.
    """
    from structured.results.alignment import Value, align  # with a library that only evidence needs

    heard = [
        _voices(output_type, generation)
        for generation in sorted(generations, key=lambda generation: -generation.log_probability)
    ]
    typed = list(_typed_leaves(output_type, text))
    answer = [leaf for leaf, _, _ in typed]
    bases = [part.basis(steps, leaf.value) for leaf, part, steps in typed]
    values = [
        Value(leaf.steps, _exact(leaf, text), basis == "concluded", basis == "quoted")
        for leaf, basis in zip(answer, bases, strict=True)
    ]
    located: dict[str, Evidence] = {}
    for leaf, basis, place in zip(answer, bases, align(document, values), strict=True):
        is_stated = basis in {"quoted", "grounded"} and leaf.value is not None  # null says that nothing is
        match = "grounded" if is_stated else place.match
        sure = (kept and kept.sureness(leaf)) or _agreed(leaf, heard)
        located[leaf.path] = Evidence(place.span, match, *sure)
    return located


def _exact(leaf: Leaf, text: str) -> Any:
    """Return the value of a leaf, a number with all the digits that it is written with."""
    is_number = isinstance(leaf.value, int | float) and not isinstance(leaf.value, bool)
    return Decimal(text[leaf.start : leaf.end]) if is_number else leaf.value


_Voices = Mapping[str, tuple[Hashable, float | None]]
"""The leaves of a generation by their paths: the identity of each value, and the confidence in it."""


def _voices(output_type: OutputType[Any], generation: Generation) -> _Voices:
    answer = answer_leaves(output_type, generation.text)
    sure = confidences(generation.text, answer, generation.diagnostics.tokens)
    return {leaf.path: (identity(leaf.value), confidence) for leaf, confidence in zip(answer, sure, strict=True)}


def _agreed(leaf: Leaf, heard: Sequence[_Voices]) -> Sureness:
    """Return the confidence in a leaf of some generations, the likeliest first, and their agreement."""
    voices = [voice[leaf.path] for voice in heard if leaf.path in voice]
    alike = [confidence for value, confidence in voices if value == identity(leaf.value)]
    return Sureness(alike[0] if alike else None, len(alike) / len(heard) if len(heard) > 1 else None)


def answer_leaves(output_type: OutputType[Any], text: str) -> list[Leaf]:
    """Return the leaves of an answer; one that is not JSON, and has no pieces, is a leaf itself."""
    return [leaf for leaf, _, _ in _typed_leaves(output_type, text)]


def _typed_leaves(output_type: OutputType[Any], text: str) -> Iterator[tuple[Leaf, OutputType[Any], Steps]]:
    """Yield the leaves of an answer, each with the type of its piece, and its place in that."""
    pieces = output_type.pieces(text)
    if pieces is None:
        own_leaves = [Leaf((), text, 0, len(text))] if output_type.parts is None else json_leaves(text)
        yield from ((leaf, output_type, leaf.steps) for leaf in own_leaves)
        return
    for steps, part, start, end in pieces:
        for leaf, inner, own in _typed_leaves(part, text[start:end]):
            placed = Leaf((*steps, *leaf.steps), leaf.value, leaf.start + start, leaf.end + start)
            yield placed, inner, own
