"""The report on a type, and its view: tables and notes for terminals, which notebooks show as text."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from structured.errors import SchemaError
from structured.errors.values import counted, shortened
from structured.json_schema.whitespace import WhitespaceName
from structured.output_types.html import as_text, verbatim
from structured.output_types.type_report import Answers, Cost, FieldReport, Hazard


@dataclass(frozen=True, slots=True, repr=False)
class Report:
    """The facts about a type before a model is loaded. A notebook shows what a terminal shows.

    Attributes:
        name: The name of the type.
        whitespace: The whitespace that was asked for; None if the answer is no JSON.
        fields: For each field of the answer: `path`, `kind`, `status`, `validators`, `refusals`, `same_as` and
            `may_be_left_out`. The status is `"enforced"` (the mask allows only what the schema says), `"checked"` (the
            mask does so, and the functions in `validators` have the last word) or `"refused"`.
        hazards: The risks in valid answers: `kind`, `problem`, `remedy` and `paths`.
        choices: How many unions and lists of values there are.
        cost: The `nodes` of the pattern, and the bytes of the `shortest` and the `longest` answer (None: no limit).
            None if the type is refused.
        answers: Of a type that is no JSON, the `count` of its answers, and the `shortest` and the `longest`; else None.
    """

    name: str
    whitespace: WhitespaceName | None
    fields: tuple[FieldReport, ...]
    hazards: tuple[Hazard, ...]
    choices: int
    cost: Cost | None
    answers: Answers | None = None

    def __repr__(self) -> str:
        statuses = [field.status for field in self.fields]
        counts = [f"{status}={statuses.count(status)}" for status in ("checked", "refused") if status in statuses]
        shown = [self.name, f"fields={len(self.fields)}", *counts, f"hazards={len(self.hazards)}"]
        return f"Report({', '.join(shown)})"

    def _repr_html_(self) -> str:
        return verbatim(as_text(Group(*report_parts(self))))

    @property
    def refusals(self) -> tuple[SchemaError, ...]:
        """Every reason why the type is refused, each once; empty if it is not."""
        return tuple({id(error): error for field in self.fields for error in field.refusals}.values())


def report_to_dict(report: Report) -> dict[str, Any]:
    """Return a report as JSON values, for programs."""
    return {
        "type": report.name,
        "whitespace": report.whitespace,
        "fields": [_field_to_dict(field) for field in report.fields],
        "hazards": [asdict(hazard) for hazard in report.hazards],
        "choices": report.choices,
        "cost": None if report.cost is None else asdict(report.cost),
        **({} if report.answers is None else {"answers": asdict(report.answers)}),
    }


def _field_to_dict(field: FieldReport) -> dict[str, Any]:
    keys = ("problem", "keyword", "schema_path", "remedy")
    return {
        "path": field.path,
        "kind": field.kind,
        "status": field.status,
        "validators": list(field.validators),
        "refusals": [{key: getattr(error, key) for key in keys} for error in field.refusals],
        "same_as": list(field.same_as),
        "may_be_left_out": field.may_be_left_out,
    }


def shown_cost(report: Report) -> str:
    """Return the cost of an answer and, of a type that is no JSON, the number of answers with examples."""
    cost, answers = report.cost, report.answers
    if cost is None:
        return "Nothing can be extracted."
    if cost.longest is None:
        is_unlimited = answers is None or answers.is_limited is False
        lengths = f"{counted(cost.shortest, 'byte')} or more{', without a limit' if is_unlimited else ''}"
    else:
        least = "" if cost.shortest == cost.longest else f"{cost.shortest:,} to "
        lengths = f"{least}{counted(cost.longest, 'byte')}"
    choices = counted(report.choices, "choice") if report.choices else "no choice"
    notes = [f"The pattern has {counted(cost.nodes, 'node')}, with {choices} in the type."]
    if answers is not None:
        states = [] if answers.is_limited is None else [f"The automaton has {counted(cost.nodes, 'state')}."]
        notes = [*_shown_answers(answers), *states]
    return " ".join([f"An answer takes {lengths}.", *notes])


def _shown_answers(answers: Answers) -> Iterator[str]:
    if answers.count is not None:
        number = f"{answers.count:,}" if answers.count < 10**12 else f"about 10^{len(str(answers.count)) - 1}"
        yield f"There {'is 1 answer' if answers.count == 1 else f'are {number} answers'}."
    for which, text in (("shortest", answers.shortest), ("longest", answers.longest)):
        if text is not None and answers.count != 1:
            yield f"The {which}: {shortened(text, 60)!r}."


_STATUS_STYLES = {"enforced": "green", "checked": "yellow", "refused": "bold red"}


def report_parts(report: Report) -> Iterator[RenderableType]:
    """Yield the parts of a report, one below the other."""
    statuses = [field.status for field in report.fields]
    counts = [f"{statuses.count(status)} {status}" for status in _STATUS_STYLES if status in statuses]
    title = Text.assemble((report.name, "bold"), (f"  {counted(len(statuses), 'field')}: {', '.join(counts)}", "dim"))
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 2, 0, 0), show_edge=False, pad_edge=False, header_style="dim")
    for heading in ("field", "kind", "status"):
        table.add_column(heading, overflow="fold")
    for field in report.fields:
        kind = f"{field.kind}, or left out" if field.may_be_left_out else field.kind
        table.add_row(_shown_path(field.path), _printable(kind), _shown_status(field))
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
        refused = counted(sum(field.status == "refused" for field in report.fields), "field")
        return Text(f"{refused} of {len(report.fields)} refused: nothing can be extracted.", style="red")
    return Text.assemble(("Cost  ", "bold"), str(_printable(shown_cost(report), None)))


def _printable(kind: str, most: int | None = 120) -> Text:
    """Return a kind, shortened, with characters escaped that no terminal can show."""
    short = kind if most is None or len(kind) <= most else f"{kind[:most]} …"
    return Text(short.encode(errors="backslashreplace").decode())
