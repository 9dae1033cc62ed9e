"""`structured inspect`: the report on a type, as a terminal shows it."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, cast

import typer
from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from structured.cli.asked import CHOICE_HELP, GRAMMAR_HELP, PATTERN_HELP, read_type
from structured.cli.automaton import Asked, show_automaton
from structured.cli.console import show
from structured.decoding.state_diagram import MAX_STATES
from structured.errors.values import counted
from structured.json_schema.whitespace import DEFAULT_WHITESPACE, WhitespaceName, check_whitespace
from structured.output_types.inspection import FieldReport, Report, inspect_type, report_to_dict, shown_cost
from structured.output_types.json_output import JsonLayout
from structured.output_types.regex import to_regex


def _known_whitespace(name: str) -> WhitespaceName:
    try:
        return cast("WhitespaceName", check_whitespace("whitespace", name))
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error


def inspect_target(  # noqa: PLR0913  the options of the command
    target: Annotated[
        str | None,
        typer.Argument(
            metavar="MODULE:TYPE",
            help="For example shop.types:Invoice or shop.py:Invoice, which runs the module or file to find the type; "
            "or a JSON Schema, invoice.json. With --pattern, --choice or --grammar, there is none.",
        ),
    ] = None,
    *,
    pattern: Annotated[str | None, typer.Option("--pattern", metavar="REGEX", help=PATTERN_HELP)] = None,
    choice: Annotated[list[str] | None, typer.Option("--choice", metavar="TEXT", help=CHOICE_HELP)] = None,
    grammar: Annotated[str | None, typer.Option("--grammar", metavar="FILE|NAME", help=GRAMMAR_HELP)] = None,
    whitespace: Annotated[
        str, typer.Option(help="What stands between JSON tokens.", callback=_known_whitespace)
    ] = DEFAULT_WHITESPACE,
    regex: Annotated[bool, typer.Option("--regex", help="Print the regular expression of the type instead.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON instead.")] = False,
    automaton: Annotated[
        bool, typer.Option("--automaton", help="Print the automaton of the type instead, as a table.")
    ] = False,
    dot: Annotated[
        Path | None, typer.Option(help="Write the automaton for Graphviz into this file; - is standard output.")
    ] = None,
    mermaid: Annotated[Path | None, typer.Option(help="Write the automaton for Mermaid into this file.")] = None,
    states: Annotated[
        int | None, typer.Option(min=1, help=f"Show so many states at most.  [default: {MAX_STATES}]")
    ] = None,
    tokens: Annotated[
        bool, typer.Option("--tokens", help="Print the tokens that may follow at the start, --state or --text.")
    ] = False,
    model: Annotated[
        str | None, typer.Option("--model", "-m", help="For --tokens; a folder with its tokenizer is enough.")
    ] = None,
    state: Annotated[int | None, typer.Option(min=0, help="The number of a state, for --tokens.")] = None,
    text: Annotated[
        str | None, typer.Option(help="An answer or its beginning, for --tokens: its way through the states.")
    ] = None,
) -> None:
    """Report what is enforced, checked and refused of a type. Loads no model; exits with 1 if a field is refused.

    With --automaton, show the states that an answer goes through, and with --tokens what a model may write in them.
    """
    output_type = read_type(target, pattern=pattern, choices=choice, grammar=grammar)
    asked = Asked(automaton, dot, mermaid, states, tokens, model, state, text)
    asked.check()
    layout = JsonLayout(cast("WhitespaceName", whitespace))
    if regex and asked.is_any:
        raise typer.BadParameter("--regex and --automaton are asked for at once. Leave one of them out.")
    if asked.is_any:
        show_automaton(output_type, asked, layout=layout, as_json=as_json)
        return
    if regex:
        typer.echo(to_regex(output_type, layout=layout))
        return
    report = inspect_type(output_type, layout=layout)
    if as_json:
        typer.echo(json.dumps(report_to_dict(report), indent=2))
    else:
        show(*_shown_report(report))
    if report.refusals:
        raise typer.Exit(1)


_STATUS_STYLES = {"enforced": "green", "checked": "yellow", "refused": "bold red"}

LONGEST_KIND = 120
"""The most characters of a field's kind that are shown."""


def _shown_report(report: Report) -> Iterator[RenderableType]:
    """Yield the pieces of a report: the fields, what is refused, the hazards, and the cost."""
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
    """Return a paragraph: what is wrong, where, and what to do."""
    where = Text(", ").join(map(_shown_path, paths))
    where.stylize("bold")
    grid = Table.grid(padding=(0, 1))
    lines = Text("\n").join([where, Text(problem), Text(f"→ {remedy}", style="dim")])
    grid.add_row(Text(" •", style=style), lines)
    return grid


def _shown_cost(report: Report) -> Text:
    """Return the cost of an answer, or that there can be none."""
    if report.cost is None:
        refused = sum(field.status == "refused" for field in report.fields)
        return Text(
            f"{counted(refused, 'field')} of {len(report.fields)} refused: nothing can be extracted.", style="red"
        )
    cost = report.cost
    if report.answers is not None:
        return Text.assemble(("Cost  ", "bold"), str(_printable(shown_cost(report), None)))
    if cost.longest is None:
        lengths = f"{counted(cost.shortest, 'byte')} or more, without a limit"
    else:
        lengths = f"{cost.shortest:,} to {counted(cost.longest, 'byte')}"
    return Text.assemble(
        ("Cost  ", "bold"), f"An answer takes {lengths}. The pattern has {counted(cost.nodes, 'node')}, ",
        f"with {counted(report.choices, 'choice') if report.choices else 'no choice'} in the type.",
    )  # fmt: skip


def _printable(kind: str, most: int | None = LONGEST_KIND) -> Text:
    """Return a kind, shortened, with characters escaped that no terminal can show."""
    short = kind if most is None or len(kind) <= most else f"{kind[:most]} …"
    return Text(short.encode(errors="backslashreplace").decode())
