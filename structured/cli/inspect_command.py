"""`structured inspect`: the report on a type, and its automaton."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple, cast

import typer
from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from structured.cli.console import show
from structured.cli.type_arguments import CHOICE_HELP, GRAMMAR_HELP, PATTERN_HELP, read_type
from structured.decoding.state_diagram import MAX_STATES, StateDiagram, inspect_automaton
from structured.errors.values import counted
from structured.json_schema.whitespace import DEFAULT_WHITESPACE, WhitespaceName, check_whitespace
from structured.output_types.html import write_page
from structured.output_types.inspection import inspect_type
from structured.output_types.json_output import JsonLayout
from structured.output_types.regex import to_regex
from structured.output_types.type_report import FieldReport, Report, report_to_dict, shown_cost


class AutomatonOptions(NamedTuple):
    """The options of the command that are about the automaton."""

    table: bool
    dot: Path | None
    mermaid: Path | None
    states: int | None

    @property
    def is_any(self) -> bool:
        """Whether the automaton is shown."""
        return self.table or self.dot is not None or self.mermaid is not None


def show_automaton(output_type: object, options: AutomatonOptions, *, layout: JsonLayout | None, as_json: bool) -> None:
    """Print the automaton of a type, or write its graph."""
    diagram = inspect_automaton(output_type, states=options.states or MAX_STATES, layout=layout)
    for path, notation in ((options.dot, diagram.to_dot), (options.mermaid, diagram.to_mermaid)):
        if path is not None:
            _write(path, notation())
    if options.table or as_json:
        _print(json.dumps(diagram_to_dict(diagram), indent=2) if as_json else str(diagram))


def diagram_to_dict(diagram: StateDiagram) -> dict[str, Any]:
    """Return an automaton as plain data. The target of an arrow to a state that is not shown is null."""
    return {
        "name": diagram.name,
        "total": diagram.total,
        "states": [
            {
                "number": state.number,
                "accepting": state.is_accepting,
                "reached_by": state.reached_by,
                "completion": state.completion,
                "arrows": [{"reads": arrow.label, "target": arrow.target} for arrow in state.arrows],
            }
            for state in diagram.states
        ],
    }


def _write(path: Path, text: str) -> None:
    """Write a graph to a file, and say so; `-` is standard output."""
    if str(path) == "-":
        _print(text.removesuffix("\n"))
    else:
        typer.echo(str(write_page(path, text)))


def _print(text: str) -> None:
    typer.echo(text.encode(errors="backslashreplace").decode())


def _known_whitespace(name: str | None) -> WhitespaceName | None:
    try:
        return None if name is None else cast("WhitespaceName", check_whitespace("whitespace", name))
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
        str | None,
        typer.Option(
            help=f"The whitespace between JSON tokens.  [default: {DEFAULT_WHITESPACE}]", callback=_known_whitespace
        ),
    ] = None,
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
) -> None:
    """Report which rules of a type are enforced, checked and refused. Exits with 1 if a field is refused.

    No model is loaded. With --automaton, show the states that an answer goes through.
    """
    output_type = read_type(target, pattern=pattern, choices=choice, grammar=grammar)
    options = AutomatonOptions(automaton, dot, mermaid, states)
    if not options.is_any and states is not None:
        raise typer.BadParameter("--states is about the automaton: add --automaton.")
    layout = None if whitespace is None else JsonLayout(cast("WhitespaceName", whitespace))
    if regex and options.is_any:
        raise typer.BadParameter("--regex and --automaton are asked for at once. Leave one of them out.")
    if options.is_any:
        show_automaton(output_type, options, layout=layout, as_json=as_json)
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
