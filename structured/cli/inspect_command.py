"""`structured inspect`: the report on a type, and its automaton."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from structured.cli.console import show
from structured.cli.type_arguments import CHOICE_HELP, GRAMMAR_HELP, PATTERN_HELP, read_type
from structured.decoding.state_diagram import MAX_STATES, StateDiagram, inspect_automaton
from structured.json_schema.whitespace import DEFAULT_WHITESPACE, WhitespaceName
from structured.output_types.html import write_page
from structured.output_types.inspection import inspect_type
from structured.output_types.json_output import JsonLayout
from structured.output_types.regex import to_regex
from structured.output_types.report_view import report_parts, report_to_dict


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


def _print(text: str) -> None:
    typer.echo(text.encode(errors="backslashreplace").decode())


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
        WhitespaceName | None,
        typer.Option(help=f"The whitespace between JSON tokens.  [default: {DEFAULT_WHITESPACE}]"),
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
    shows_automaton = automaton or dot is not None or mermaid is not None
    if states is not None and not shows_automaton:
        raise typer.BadParameter("--states is about the automaton: add --automaton.")
    layout = None if whitespace is None else JsonLayout(whitespace)
    if regex and shows_automaton:
        raise typer.BadParameter("--regex and --automaton are asked for at once. Leave one of them out.")
    if shows_automaton:
        diagram = inspect_automaton(output_type, states=states or MAX_STATES, layout=layout)
        for path, notation in ((dot, diagram.to_dot), (mermaid, diagram.to_mermaid)):
            if path is not None:
                _print(notation().removesuffix("\n") if str(path) == "-" else str(write_page(path, notation())))
        if automaton or as_json:
            _print(json.dumps(diagram_to_dict(diagram), indent=2) if as_json else str(diagram))
        return
    if regex:
        typer.echo(to_regex(output_type, layout=layout))
        return
    report = inspect_type(output_type, layout=layout)
    if as_json:
        typer.echo(json.dumps(report_to_dict(report), indent=2))
    else:
        show(*report_parts(report))
    if report.refusals:
        raise typer.Exit(1)
