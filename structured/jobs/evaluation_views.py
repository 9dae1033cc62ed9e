"""Evaluations and trials as tables for a terminal."""

import re
from collections.abc import Mapping, Sequence

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from structured.jobs.figures import LEVEL, DocumentScore, FieldScore, Figure

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

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]+")


def one_line(text: str, most: int = 60) -> str:
    """Return a text as one line, shortened, without control characters."""
    line = _CONTROL.sub(" ", text.encode(errors="replace").decode())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def shown_figure(name: str, value: float | None) -> str:
    """Return a figure as text: a share as a percentage."""
    if value is None:
        return "–"
    if name == "seconds":
        return f"{value:,.2f}"
    return f"{value:,.1f}" if name.endswith("_tokens") else f"{value:.1%}"


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


def evaluation_tables(
    title: str,
    figures: Mapping[str, Figure],
    fields: Mapping[str, FieldScore],
    lists: Mapping[str, FieldScore],
    worst: Sequence[DocumentScore],
) -> RenderableType:
    """Return an evaluation as tables below each other."""
    parts: list[RenderableType] = [_line(title, 200), "", _figures(figures), "", _fields("field", fields)]
    if lists:
        parts += ["", _fields("items of", lists)]
    if worst:
        table = _table("worst documents", "right", "")
        table.columns[-1].justify = "left"
        for one in worst[:MAX_LISTED]:
            table.add_row(_line(one.id), f"{one.score:.0%}", _line(problems(one), 100))
        parts += ["", table]
    return Group(*parts)


def difference_tables(
    titles: Sequence[str],
    figures: Mapping[str, Figure],
    fields: Mapping[str, Figure],
    changed: Mapping[str, Sequence[tuple[DocumentScore, DocumentScore]]],
) -> RenderableType:
    """Return the differences between two evaluations as tables below each other, and the documents that changed."""
    parts: list[RenderableType] = [*map(_line, titles), "", _figures(figures, "this − other")]
    parts += ["", _figures(fields, "values right", "field")]
    for title, documents in changed.items():
        if documents:
            table = _table(f"{title} ({len(documents):,})", "other", "this")
            for ours, theirs in documents[:MAX_LISTED]:
                table.add_row(_line(ours.id), *(f"{one.score:.0%}" for one in (theirs, ours)))
            parts += ["", table]
    return Group(*parts)


def trial_tables(
    title: str, tables: Mapping[str, Sequence[tuple[str, int, Figure, Figure | None]]], notes: Mapping[str, str]
) -> RenderableType:
    """Return trials (name, documents, F1, difference) as tables, and notes about some; at most 80 characters wide."""
    parts: list[RenderableType] = [_line(title, 80)]
    for name, trials in tables.items():
        table = _table(name, "documents", "F1", "difference", f"{LEVEL}% interval")
        table.columns[0].width = 24
        for trial, documents, f1, change in trials:
            cells = ("", "") if change is None else (shown_figure("f1", change.value), shown_interval("f1", change))
            table.add_row(_line(trial), f"{documents:,}", shown_figure("f1", f1.value), *cells)
        parts += ["", table]
    return Group(*parts, *([""] if notes else []), *(_line(f"{name}: {note}", 80) for name, note in notes.items()))


def _figures(figures: Mapping[str, Figure], value: str = "", name: str = "") -> Table:
    table = _table(name, value, f"{LEVEL}% interval")
    for one, figure in figures.items():
        kind = "exact" if name else one
        label = named(one) if name else NAMES[one]
        table.add_row(label, shown_figure(kind, figure.value), shown_interval(kind, figure))
    return table


def _fields(name: str, fields: Mapping[str, FieldScore]) -> Table:
    interval = f"{LEVEL}% interval"
    table = _table(name, "right", interval, "precision", "recall", "F1", "wrong", "missing", "invented", "of")
    for field, score in fields.items():
        exact = shown_figure("exact", score.exact.value), shown_interval("exact", score.exact)
        shares = (shown_figure("exact", figure.value) for figure in (score.precision, score.recall, score.f1))
        counts = (score.counts.wrong, score.counts.missing, score.counts.invented, sum(score.counts))
        table.add_row(named(field), *exact, *shares, *(f"{number:,}" for number in counts))
    return table


def _table(*headings: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="bold")
    for place, heading in enumerate(headings):
        table.add_column(heading, justify="right" if place else "left", no_wrap=True, overflow="ellipsis")
    return table


def _line(text: str, most: int = 60) -> Text:
    """Return text that is no markup."""
    return Text(one_line(text, most))
