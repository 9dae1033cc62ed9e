"""Evaluations as tables for a terminal: figures with their intervals, fields, lists, and the worst documents."""

from collections.abc import Iterable, Mapping, Sequence
from io import StringIO

from rich import box
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from structured.jobs.evaluation.figures import LEVEL, Figure
from structured.jobs.evaluation.labels import NAMES, named, one_line, problems, shown_figure, shown_interval, summary
from structured.jobs.evaluation.scores import DocumentScore
from structured.jobs.evaluation.totals import FieldScore, Scores

MAX_WORST = 10
"""Documents that a table lists."""

WIDTH = 160
"""Characters of a line, at most, where there is no terminal."""


def as_text(table: RenderableType) -> str:
    """Return a table as plain text."""
    file = StringIO()
    Console(file=file, width=WIDTH, color_system=None, legacy_windows=False).print(table)
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines())


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
    worst = evaluation.worst(MAX_WORST)
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
            for ours, theirs in documents[:MAX_WORST]:
                table.add_row(_line(ours.id), *(f"{one.score:.0%}" for one in (theirs, ours)))
            parts += ["", table]
    return Group(*parts)


def _figures(figures: Mapping[str, Figure], interval: str, value: str = "", name: str = "") -> Table:
    table = _table(name, value, interval)
    for one, figure in figures.items():
        kind = "exact" if name else one
        label = named(one) if name else NAMES[one]
        table.add_row(label, shown_figure(kind, figure.value), shown_interval(kind, figure))
    return table


def _fields(name: str, fields: Mapping[str, FieldScore]) -> Table:
    table = _table(
        name, "right", f"{LEVEL}% interval", "precision", "recall", "F1", "wrong", "missing", "invented", "of"
    )
    for field, one in fields.items():
        shares = [shown_figure("exact", figure.value) for figure in (one.precision, one.recall, one.f1)]
        counts = one.counts
        table.add_row(
            named(field),
            shown_figure("exact", one.exact.value),
            shown_interval("exact", one.exact),
            *shares,
            *(f"{number:,}" for number in (counts.wrong, counts.missing, counts.invented, sum(counts))),
        )
    return table


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
