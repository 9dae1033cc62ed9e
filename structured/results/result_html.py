"""An extraction as HTML, for notebooks: the document with its values highlighted, and the table of the values."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from math import floor
from typing import Any

from structured.output_types.html import Html, code, coloured, joined, marked, table, verbatim
from structured.output_types.paths import leaves, steps_to_path
from structured.results.evidence import MATCH_WORDS, Evidence

CONTEXT = 400
"""Characters around a highlight that a long document shows."""

MAX_CHARACTERS = 4000
"""A document that is longer than this shows what is near its highlights."""


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
    spans = [(*one.span, one.band) for one in evidence.values() if one.span is not None and one.span[0] < one.span[1]]
    cuts = sorted({0, len(document), *(cut for start, end, _ in spans for cut in (start, end))})
    for start, end in pairwise(cuts):
        around = [(above - below, band) for below, above, band in spans if below <= start and end <= above]
        text = document[start:end]
        if around:
            yield marked(text, min(around)[1])
        else:
            yield joined(text if len(document) <= MAX_CHARACTERS else _shortened(text))


def _shortened(text: str) -> Html:
    """Return a text without its middle, and how much that is, if it is long."""
    left_out = len(text) - 2 * CONTEXT
    if left_out <= 0:
        return joined(text)
    note = coloured(f" … {left_out:,} characters … ", "unknown")
    return joined(text[:CONTEXT], note, text[-CONTEXT:])
