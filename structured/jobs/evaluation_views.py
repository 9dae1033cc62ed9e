"""Evaluations and trials as tables for a terminal."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from rich import box
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from structured.jobs.figures import INTERVAL_PER_CENT, DocumentScore, FieldScore, Figure

FIGURE_LABELS: Mapping[str, str] = {
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

INTERVAL = f"{INTERVAL_PER_CENT}% interval"

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


def _cells(name: str, figure: Figure | None) -> tuple[str, str]:
    """Return a figure and its interval as text; nothing for what there is not."""
    if figure is None:
        return "", ""
    interval = "" if figure.low is None else f"{shown_figure(name, figure.low)} to {shown_figure(name, figure.high)}"
    return shown_figure(name, figure.value), interval


def field_label(field: str) -> str:
    """Return the path of a field; `(answer)` for the answer itself."""
    return one_line(field) or "(answer)"


def problems(document: DocumentScore) -> str:
    """Return the problems of a document, in a few words: `wrong: name; missing: age`."""
    if document.error is not None:
        return document.error
    fields_by_outcome: dict[str, list[str]] = {}
    for one in document.values:
        if not one.is_right:
            fields_by_outcome.setdefault(one.outcome, []).append(field_label(one.field))
    return "; ".join(f"{outcome}: {', '.join(dict.fromkeys(fields))}" for outcome, fields in fields_by_outcome.items())


MAX_LISTED_DOCUMENTS = 10
"""Documents that a table lists."""


def stacked(*parts: RenderableType) -> RenderableType:
    """Return parts below each other, with an empty line between two of them."""
    return Group(*[line for part in parts for line in ("", part)][1:])


def worst_documents(documents: Sequence[DocumentScore]) -> Table:
    """Return a table of documents with their problems."""
    listed = documents[:MAX_LISTED_DOCUMENTS]
    rows = [(line(one.id), f"{one.score:.0%}", line(problems(one), 100)) for one in listed]
    shown = table(("worst documents", "right", ""), rows)
    shown.columns[-1].justify = "left"
    return shown


def changed_documents(title: str, documents: Sequence[tuple[DocumentScore, DocumentScore]]) -> Table:
    """Return a table of documents with their scores in two evaluations."""
    listed = documents[:MAX_LISTED_DOCUMENTS]
    rows = [(line(ours.id), f"{theirs.score:.0%}", f"{ours.score:.0%}") for ours, theirs in listed]
    return table((f"{title} ({len(documents):,})", "other", "this"), rows)


def trials_table(name: str, trials: Sequence[tuple[str, int, Figure, Figure | None]]) -> Table:
    """Return a table of trials (name, documents, F1, difference), at most 80 characters wide."""
    rows = [
        (line(trial), f"{documents:,}", _cells("f1", f1)[0], *_cells("f1", change))
        for trial, documents, f1, change in trials
    ]
    shown = table((name, "documents", "F1", "difference", INTERVAL), rows)
    shown.columns[0].width = 24
    return shown


def figures_table(figures: Mapping[str, Figure], value: str = "", name: str = "") -> Table:
    """Return a table of figures; with a `name` of their kind, they are those of fields."""
    rows = [
        (field_label(one), *_cells("exact", figure)) if name else (FIGURE_LABELS[one], *_cells(one, figure))
        for one, figure in figures.items()
    ]
    return table((name, value, INTERVAL), rows)


@dataclass(frozen=True, slots=True)
class FieldsTable:
    """A table of the scores of fields; two of them, of shares and of counts, where one is too wide."""

    name: str
    fields: Mapping[str, FieldScore]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        whole = self._table({**_SHARES, **_COUNTS})
        is_too_wide = console.measure(whole, options=options.update(max_width=1_000)).maximum > options.max_width
        yield from (self._table(_SHARES), "", self._table(_COUNTS)) if is_too_wide else (whole,)

    def _table(self, columns: Mapping[str, Callable[[FieldScore], str]]) -> Table:
        rows = [(field_label(name), *(cell(score) for cell in columns.values())) for name, score in self.fields.items()]
        return table((self.name, *columns), rows)


_SHARES: Mapping[str, Callable[[FieldScore], str]] = {
    "right": lambda score: _cells("exact", score.exact)[0],
    INTERVAL: lambda score: _cells("exact", score.exact)[1],
    "precision": lambda score: shown_figure("precision", score.precision.value),
    "recall": lambda score: shown_figure("recall", score.recall.value),
    "F1": lambda score: shown_figure("f1", score.f1.value),
}
_COUNTS: Mapping[str, Callable[[FieldScore], str]] = {
    "wrong": lambda score: f"{score.counts.wrong:,}",
    "missing": lambda score: f"{score.counts.missing:,}",
    "invented": lambda score: f"{score.counts.invented:,}",
    "of": lambda score: f"{sum(score.counts):,}",
}
"""The columns of a table of fields: the headings, and the cells."""


def table(headings: Iterable[str], rows: Iterable[Sequence[str | Text]]) -> Table:
    """Return a table whose first column alone is on the left."""
    shown = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="bold")
    for place, heading in enumerate(headings):
        shown.add_column(heading, justify="right" if place else "left", no_wrap=True, overflow="ellipsis")
    for row in rows:
        shown.add_row(*row)
    return shown


def line(text: str, most: int = 60) -> Text:
    """Return text that is no markup."""
    return Text(one_line(text, most))
