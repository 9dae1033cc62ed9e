"""Evaluations for people: tables for a terminal, and a page."""

import base64
import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import quote

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from structured.errors.values import counted
from structured.jobs.figures import LEVEL, DocumentScore, FieldScore, Figure, Scores, ValueScore
from structured.output_types.html import Html, html, joined
from structured.results.normalisation import is_cut

NAMES: Mapping[str, str] = {
    "exact": "values right",
    "precision": "precision",
    "recall": "recall",
    "f1": "F1",
    "wrong_values": "given values wrong",
    "documents": "documents all right",
    "wrong_but_valid": "documents wrong but valid",
    "flagged_wrong": "flagged values wrong",
    "spans_equal": "spans equal",
    "spans_overlap": "spans overlapping",
    "calibration_error": "calibration error",
    "seconds": "seconds a document",
    "prompt_tokens": "prompt tokens a document",
    "sampled_tokens": "sampled tokens a document",
    "forced_tokens": "forced tokens a document",
}
"""Figures, for people."""

SHARES = frozenset({*NAMES} - {"seconds", "prompt_tokens", "sampled_tokens", "forced_tokens"})
"""Those of them that are shown as percentages."""

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]+")


def summary(evaluation: Scores) -> str:
    """Return the evaluation in one line: `Person by packaged: 24 documents, 1 failed`."""
    of = " by ".join(filter(None, (evaluation.type, evaluation.model))) or "Answers"
    facts = [counted(len(evaluation.documents), "document")]
    if evaluation.failed:
        facts.append(f"{len(evaluation.failed):,} failed")
    if evaluation.unmatched:
        facts.append(f"{counted(evaluation.unmatched, 'result')} without gold left out")
    if evaluation.seconds is not None:
        facts.append(f"{evaluation.seconds:.1f} s")
    return f"{of}: {', '.join(facts)}"


def one_line(text: str, most: int = 60) -> str:
    """Return a text as one line, shortened, without control characters."""
    line = _CONTROL.sub(" ", text.encode(errors="replace").decode())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def shown_figure(name: str, value: float | None) -> str:
    """Return a figure as text: a share as a percentage."""
    if value is None:
        return "–"
    return f"{value:.1%}" if name in SHARES else f"{value:,.2f}" if name == "seconds" else f"{value:,.1f}"


def shown_interval(name: str, figure: Figure) -> str:
    """Return the interval of a figure as text; nothing if it has none."""
    if figure.low is None or figure.high is None:
        return ""
    return f"{shown_figure(name, figure.low)} to {shown_figure(name, figure.high)}"


def named(field: str) -> str:
    """Return the path of a field; `(answer)` for the answer itself."""
    return one_line(field) or "(answer)"


def problems(document: DocumentScore) -> str:
    """Return the problems of a document, in a few words: `wrong: name; missing: age`."""
    if document.error is not None:
        return document.error
    found: dict[str, list[str]] = {}
    for one in document.values:
        if not one.is_right:
            found.setdefault(one.outcome, []).append(named(one.field))
    return "; ".join(f"{outcome}: {', '.join(dict.fromkeys(fields))}" for outcome, fields in found.items())


MAX_LISTED = 10
"""Documents that a table lists."""


def evaluation_tables(evaluation: Scores) -> RenderableType:
    """Return an evaluation as tables below each other."""
    parts: list[RenderableType] = [
        _line(summary(evaluation), 200),
        "",
        _figures(evaluation.figures, f"{LEVEL}% interval"),
    ]
    parts += ["", _fields("field", evaluation.fields)]
    if evaluation.lists:
        parts += ["", _fields("items of", evaluation.lists)]
    worst = evaluation.worst(MAX_LISTED)
    if worst:
        parts += ["", _documents(worst)]
    return Group(*parts)


def difference_tables(
    this: Scores,
    other: Scores,
    figures: Mapping[str, Figure],
    fields: Mapping[str, Figure],
    changed: Mapping[str, Sequence[tuple[DocumentScore, DocumentScore]]],
) -> RenderableType:
    """Return the differences between two evaluations as tables below each other, and the documents that changed."""
    parts: list[RenderableType] = [
        _line(f"This: {summary(this)}"),
        _line(f"Other: {summary(other)}"),
        "",
        _figures(figures, f"{LEVEL}% interval", "this − other"),
        "",
        _figures(fields, f"{LEVEL}% interval", "values right", "field"),
    ]
    for title, documents in changed.items():
        if documents:
            table = _table(f"{title} ({len(documents):,})", "other", "this")
            for ours, theirs in documents[:MAX_LISTED]:
                table.add_row(_line(ours.id), *(f"{one.score:.0%}" for one in (theirs, ours)))
            parts += ["", table]
    return Group(*parts)


MAX_NAME = 24
"""Characters of the name of a trial in a table that is to fit into 80."""

TrialRow: TypeAlias = tuple[str, int, Figure, Figure | None]
"""The name of a trial, its number of documents, its F1, and the difference to that of the plain call."""


def trial_tables(title: str, tables: Mapping[str, Iterable[TrialRow]], notes: Mapping[str, str]) -> RenderableType:
    """Return trials as tables below each other, and notes about some of them; none is wider than 80 characters."""
    parts: list[RenderableType] = [_line(title, 80)]
    for name, rows in tables.items():
        table = _table(name, "documents", "F1", "difference", f"{LEVEL}% interval")
        table.columns[0].width = MAX_NAME
        for trial, documents, f1, difference in rows:
            change = difference or Figure(None)
            cells = ("", "") if difference is None else (shown_figure("f1", change.value), shown_interval("f1", change))
            table.add_row(_line(trial), f"{documents:,}", shown_figure("f1", f1.value), *cells)
        parts += ["", table]
    return Group(*parts, *([""] if notes else []), *(_line(f"{name}: {note}", 80) for name, note in notes.items()))


def _figures(figures: Mapping[str, Figure], interval: str, value: str = "", name: str = "") -> Table:
    table = _table(name, value, interval)
    for one, figure in figures.items():
        kind = "exact" if name else one
        label = named(one) if name else NAMES[one]
        table.add_row(label, shown_figure(kind, figure.value), shown_interval(kind, figure))
    return table


_HEADINGS = ("right", f"{LEVEL}% interval", "precision", "recall", "F1", "wrong", "missing", "invented", "of")


def _fields(name: str, fields: Mapping[str, FieldScore]) -> Table:
    table = _table(name, *_HEADINGS)
    for row in _field_rows(fields):
        table.add_row(*row)
    return table


def _field_rows(fields: Mapping[str, FieldScore]) -> Iterator[tuple[str, ...]]:
    """Yield the cells of each field below its name and `_HEADINGS`."""
    for field, score in fields.items():
        exact = shown_figure("exact", score.exact.value), shown_interval("exact", score.exact)
        shares = (shown_figure("exact", figure.value) for figure in (score.precision, score.recall, score.f1))
        counts = (score.counts.wrong, score.counts.missing, score.counts.invented, sum(score.counts))
        yield named(field), *exact, *shares, *(f"{number:,}" for number in counts)


def _documents(documents: Iterable[DocumentScore]) -> Table:
    table = _table("worst documents", "right", "")
    table.columns[-1].justify = "left"
    for one in documents:
        table.add_row(_line(one.id), f"{one.score:.0%}", _line(problems(one), 100))
    return table


def _table(*headings: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="bold")
    for place, heading in enumerate(headings):
        table.add_column(heading, justify="right" if place else "left", no_wrap=True, overflow="ellipsis")
    return table


def _line(text: str, most: int = 60) -> Text:
    """Return text that is no markup."""
    return Text(one_line(text, most))


MAX_DOCUMENTS = 500
"""Documents that a page shows, the worst ones."""

MAX_CHARACTERS = 2000
"""Characters that are shown of a value."""

_UNSEEN = re.compile("[\u202a-\u202e\u2066-\u2069\x00-\x08\x0b-\x1f\x7f-\x9f]")


def to_page(evaluation: Scores, title: str, page: Path, review: Path | None) -> str:
    """Return the page as HTML; `page` is where it will be, and `review` where the review page is."""
    style = (Path(__file__).parent / "page" / "evaluation.css").read_text(encoding="utf-8")
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


def _body(evaluation: Scores, title: str, review: str | None) -> Iterator[Html]:
    yield _element("h1", _safe(title))
    yield _element("p", _safe(summary(evaluation)))
    yield _element("div", *(_figure(*one) for one in evaluation.figures.items()), kind="figures")
    yield _element("h2", "Fields")
    yield _grid(("field", *_HEADINGS), _field_rows(evaluation.fields))
    if evaluation.lists:
        yield _element("h2", "Items of lists")
        yield _grid(("list", *_HEADINGS), _field_rows(evaluation.lists))
    worst = evaluation.worst()
    yield _element("h2", f"Documents that are not all right: {len(worst):,} of {len(evaluation.documents):,}")
    if len(worst) > MAX_DOCUMENTS:
        yield _element("p", f"The {MAX_DOCUMENTS:,} worst are shown.")
    for one in worst[:MAX_DOCUMENTS]:
        yield _document(one, review)


def _figure(name: str, figure: Figure) -> Html:
    label, value, interval = NAMES[name], shown_figure(name, figure.value), shown_interval(name, figure)
    return _element("div", _element("span", label), _element("b", value), _element("small", interval), kind="figure")


def _document(document: DocumentScore, review: str | None) -> Html:
    address = f"{review}#document-{document.anchor}"
    link = Html("") if review is None else Html(f'<a href="{html(address)}">review</a>')
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
    """Return the expected and the given value, with their difference highlighted."""
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
    """Return a text without characters that reorder their neighbours, or that HTML does not allow."""
    return _UNSEEN.sub("\ufffd", text)


def _address(page: Path, review: Path | None) -> str | None:
    """Return how a page links to another: relatively, where that is possible."""
    if review is None:
        return None
    return quote(Path(os.path.relpath(review.resolve(), page.resolve().parent)).as_posix())


def _grid(headings: tuple[str, ...], rows: Iterator[tuple[str, ...]]) -> Html:
    head = _element("tr", *(_element("th", heading) for heading in headings))
    body = [_element("tr", *(_element("td", cell) for cell in row)) for row in rows]
    return _element("div", Html(f"<table>{head}{''.join(body)}</table>"), kind="wide")


def _element(name: str, *parts: object, kind: str = "") -> Html:
    """Return an element of some parts, with a class if it has one."""
    return Html(f"<{name}{f' class={kind!r}' if kind else ''}>{joined(*parts)}</{name}>")
