"""An evaluation as HTML: a page with the worst documents first, and a card for notebooks.

The page has no script and fetches nothing. All that documents, answers and types say is escaped, and its content
security policy allows no more than its own style sheet.
"""

import base64
import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from structured.jobs.evaluation.figures import LEVEL, Figure
from structured.jobs.evaluation.labels import NAMES, named, problems, shown_figure, shown_interval, summary
from structured.jobs.evaluation.scores import DocumentScore, ValueScore
from structured.jobs.evaluation.totals import FieldScore, Scores
from structured.output_types.html import Html, card, html, joined, table
from structured.results.normalisation import is_cut

MAX_DOCUMENTS = 500
"""Documents that a page shows, the worst ones."""

MAX_CHARACTERS = 2000
"""Characters that are shown of a value."""

MAX_WORST = 5
"""Documents that a card names."""

_UNSEEN = re.compile("[\u202a-\u202e\u2066-\u2069\x00-\x08\x0b-\x1f\x7f-\x9f]")


def to_page(evaluation: Scores, title: str, page: Path, review: Path | None) -> str:
    """Return the page as HTML; `page` is where it will be, and `review` where the review page is."""
    style = Path(__file__).with_name("page.css").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    return joined(
        Html('<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'),
        Html('<meta name="viewport" content="width=device-width, initial-scale=1">\n'),
        Html(f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'),
        _element("title", _safe(title)),
        Html(f"\n<style>{style}</style>\n</head>\n<body>\n"),
        *_body(evaluation, title, _address(page, review)),
        Html("</body>\n</html>\n"),
    )


def to_card(evaluation: Scores) -> Html:
    """Return an evaluation as HTML for a notebook."""
    figures = table(("", "", f"{LEVEL}% interval"), [_cells(*one) for one in evaluation.figures.items()])
    fields = table(("field", *_HEADINGS), _rows(evaluation.fields))
    worst = [(_safe(one.id), f"{one.score:.0%}", _safe(problems(one))) for one in evaluation.worst(MAX_WORST)]
    parts = [figures, fields, *([table(("worst documents", "right", ""), worst)] if worst else [])]
    return card("Evaluation", _safe(summary(evaluation)), *parts)


_HEADINGS = ("right", f"{LEVEL}% interval", "precision", "recall", "F1", "wrong", "missing", "invented", "of")


def _body(evaluation: Scores, title: str, review: str | None) -> Iterator[Html]:
    yield _element("h1", _safe(title))
    yield _element("p", _safe(summary(evaluation)))
    yield _element("div", *(_figure(*one) for one in evaluation.figures.items()), kind="figures")
    yield _element("h2", "Fields")
    yield _grid(("field", *_HEADINGS), _rows(evaluation.fields))
    if evaluation.lists:
        yield _element("h2", "Items of lists")
        yield _grid(("list", *_HEADINGS), _rows(evaluation.lists))
    worst = evaluation.worst()
    yield _element("h2", f"Documents that are not all right: {len(worst):,} of {len(evaluation.documents):,}")
    if len(worst) > MAX_DOCUMENTS:
        yield _element("p", f"The {MAX_DOCUMENTS:,} worst are shown.")
    for one in worst[:MAX_DOCUMENTS]:
        yield _document(one, review)


def _figure(name: str, figure: Figure) -> Html:
    label, value, interval = _cells(name, figure)
    return _element("div", _element("span", label), _element("b", value), _element("small", interval), kind="figure")


def _cells(name: str, figure: Figure) -> tuple[str, str, str]:
    return NAMES[name], shown_figure(name, figure.value), shown_interval(name, figure)


def _rows(fields: Mapping[str, FieldScore]) -> Iterator[tuple[str, ...]]:
    for field, one in fields.items():
        shares = [shown_figure("exact", figure.value) for figure in (one.precision, one.recall, one.f1)]
        counts = (one.counts.wrong, one.counts.missing, one.counts.invented, sum(one.counts))
        exact = shown_figure("exact", one.exact.value), shown_interval("exact", one.exact)
        yield _safe(named(field)), *exact, *shares, *(f"{number:,}" for number in counts)


def _document(document: DocumentScore, review: str | None) -> Html:
    link = _link(f"{review}#document-{document.anchor}") if review is not None else Html("")
    facts = [_element("span", f"{document.score:.0%} right"), _element("span", _safe(document.id)), link]
    head = _element("header", _element("h3", _safe(document.beginning) or "Empty document"), *facts)
    parts = [head] if document.error is None else [head, _element("p", _safe(document.error), kind="error")]
    values = [one for one in document.values if not one.is_right]
    rows = [
        _element("tr", *(_element("td", cell) for cell in _names(one)), *map(_cell, ("expected", "given"), _sides(one)))
        for one in values
    ]
    headings = _element("tr", *(_element("th", name) for name in ("field", "", "expected", "given")))
    shown = _element("div", Html(f'<table class="values">{headings}{"".join(rows)}</table>'), kind="wide")
    return _element("article", *parts, *([shown] if rows else []))


def _names(value: ValueScore) -> tuple[str, str]:
    path = value.expected_path if value.expected_path is not None else value.given_path
    return _safe(value.field if path is None else path) or "(answer)", value.outcome


def _cell(kind: str, text: Html) -> Html:
    return _element("td", text, kind=kind)


def _sides(value: ValueScore) -> tuple[Html, Html]:
    """Return what was expected and what was given, with what tells them apart highlighted."""
    if value.outcome != "wrong":
        return _whole(value.expected), _whole(value.given)
    ours, theirs = _text(value.expected), _text(value.given)
    start = _shared(ours, theirs)
    end = _shared(ours[start:][::-1], theirs[start:][::-1])
    while start and (is_cut(ours, start) or is_cut(theirs, start)):
        start -= 1
    while end and (is_cut(ours, len(ours) - end) or is_cut(theirs, len(theirs) - end)):
        end -= 1
    return _highlighted(ours, start, end), _highlighted(theirs, start, end)


def _shared(one: str, other: str) -> int:
    """Return how many characters two texts begin with that are the same."""
    pairs = zip(one, other, strict=False)
    return next((place for place, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def _highlighted(text: str, start: int, end: int) -> Html:
    middle = text[start : len(text) - end]
    mark = _element("mark", middle) if middle else Html("")
    return joined(_safe(text[:start]), mark, _safe(text[len(text) - end :]))


def _whole(value: Any) -> Html:
    if value is None:
        return Html('<span class="nothing">nothing</span>')
    return _element("mark", _text(value))


def _text(value: Any) -> str:
    """Return a value as text, shortened."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return _safe(text if len(text) <= MAX_CHARACTERS else f"{text[:MAX_CHARACTERS]}…")


def _safe(text: str) -> str:
    """Return text without the characters that reorder what stands beside them, or that no page can hold."""
    return _UNSEEN.sub("\ufffd", text)


def _address(page: Path, review: Path | None) -> str | None:
    """Return how a page links to another: relatively, where that is possible."""
    if review is None:
        return None
    return quote(Path(os.path.relpath(review.resolve(), page.resolve().parent)).as_posix())


def _link(address: str) -> Html:
    return Html(f'<a href="{html(address)}">review</a>')


def _grid(headings: tuple[str, ...], rows: Iterator[tuple[str, ...]]) -> Html:
    head = _element("tr", *(_element("th", heading) for heading in headings))
    body = [_element("tr", *(_element("td", cell) for cell in row)) for row in rows]
    return _element("div", Html(f"<table>{head}{''.join(body)}</table>"), kind="wide")


def _element(name: str, *parts: object, kind: str = "") -> Html:
    """Return an element of some parts, with a class if it has one."""
    return Html(f"<{name}{f' class={kind!r}' if kind else ''}>{joined(*parts)}</{name}>")
