"""The view of a report on a type: tables and notes for terminals, which notebooks show as text."""

from collections.abc import Iterator, Sequence

from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from structured.errors.values import counted
from structured.output_types.type_report import FieldReport, Report, shown_cost

_STATUS_STYLES = {"enforced": "green", "checked": "yellow", "refused": "bold red"}

LONGEST_KIND = 120
"""The most characters of a field's kind that are shown."""


def report_parts(report: Report) -> Iterator[RenderableType]:
    """Yield the parts of a report, one below the other."""
    statuses = [field.status for field in report.fields]
    counts = [f"{statuses.count(status)} {status}" for status in _STATUS_STYLES if status in statuses]
    title = Text.assemble((report.name, "bold"), (f"  {counted(len(statuses), 'field')}: {', '.join(counts)}", "dim"))
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 2, 0, 0), show_edge=False, pad_edge=False, header_style="dim")
    for heading in ("field", "kind", "status"):
        table.add_column(heading, overflow="fold")
    for field in report.fields:
        table.add_row(_shown_path(field.path), _printable(field.shown_kind), _shown_status(field))
    yield from (title, Text(), table)
    refused = [(field.path, error) for field in report.fields for error in field.refusals]
    if refused:
        yield from (Text(), Text("Refused", style="bold red"))
    for path, error in refused:
        yield _note(error.problem + ".", [path], error.remedy, style="red")
    if report.hazards:
        yield from (Text(), Text("Hazards", style="bold yellow"))
    for hazard in report.hazards:
        yield _note(hazard.problem, hazard.paths, hazard.remedy, style="yellow")
    yield from (Text(), _shown_cost(report))


def _shown_path(path: str) -> Text:
    return Text(path) if path else Text("(answer)", style="italic")


def _shown_status(field: FieldReport) -> Text:
    shown = Text(field.status, style=_STATUS_STYLES[field.status])
    notes = [f"by {', '.join(field.validators)}"] if field.validators else []
    notes += [f"(as {', '.join(path or 'the answer' for path in field.same_as)})"] if field.same_as else []
    return Text.assemble(shown, (f" {' '.join(notes)}" if notes else "", "dim"))


def _note(problem: str, paths: Sequence[str], remedy: str, *, style: str) -> Table:
    """Return a paragraph: the problem, its places, and the remedy."""
    where = Text(", ").join(map(_shown_path, paths))
    where.stylize("bold")
    grid = Table.grid(padding=(0, 1))
    lines = Text("\n").join([where, Text(problem), Text(f"→ {remedy}", style="dim")])
    grid.add_row(Text(" •", style=style), lines)
    return grid


def _shown_cost(report: Report) -> Text:
    if report.cost is None:
        refused = sum(field.status == "refused" for field in report.fields)
        return Text(
            f"{counted(refused, 'field')} of {len(report.fields)} refused: nothing can be extracted.", style="red"
        )
    return Text.assemble(("Cost  ", "bold"), str(_printable(shown_cost(report), None)))


def _printable(kind: str, most: int | None = LONGEST_KIND) -> Text:
    """Return a kind, shortened, with characters escaped that no terminal can show."""
    short = kind if most is None or len(kind) <= most else f"{kind[:most]} …"
    return Text(short.encode(errors="backslashreplace").decode())
