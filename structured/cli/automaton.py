"""`structured inspect --automaton`: the automaton of a type, as a table or a graph, and the tokens that it allows."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import typer

from structured.decoding.state_diagram import (
    MAX_STATES,
    AllowedTokens,
    StateDiagram,
    TokenWalk,
    inspect_automaton,
    shown_token,
)
from structured.errors import OutputError
from structured.output_types.json_output import JsonLayout

MANY_STATES = 2_000
"""States that have numbers where a text goes through them: none of them takes room then."""


class Asked(NamedTuple):
    """What is asked of an automaton on the command line."""

    table: bool
    dot: Path | None
    mermaid: Path | None
    states: int | None
    tokens: bool
    model: str | None
    state: int | None
    text: str | None

    @property
    def is_any(self) -> bool:
        """Whether it is asked for at all."""
        return self.table or self.tokens or self.dot is not None or self.mermaid is not None

    def check(self) -> None:
        """Raise `typer.BadParameter` for an option that has nothing to do without another."""
        if not self.tokens and (self.model, self.state, self.text) != (None, None, None):
            raise typer.BadParameter("--model, --state and --text are about tokens: add --tokens.")
        if not self.is_any and self.states is not None:
            raise typer.BadParameter("--states is about the automaton: add --automaton.")
        if self.state is not None and self.text is not None:
            raise typer.BadParameter("--state and --text both say where. Leave one of them out.")


def show_automaton(output_type: object, asked: Asked, *, layout: JsonLayout, as_json: bool) -> None:
    """Print the automaton of a type, or write its graph; with `tokens`, print what may follow in it."""
    states = asked.states or (MANY_STATES if asked.tokens else MAX_STATES)
    found = inspect_automaton(output_type, states=states, layout=layout)
    for path, notation in ((asked.dot, found.to_dot), (asked.mermaid, found.to_mermaid)):
        if path is not None:
            _write(path, notation())
    if asked.tokens:
        tokens = _or_bad_parameter(lambda: _tokens(found, asked))
        _print(json.dumps(_tokens_to_dict(tokens), indent=2) if as_json else str(tokens))
    elif asked.table or as_json:
        _print(json.dumps(diagram_to_dict(found), indent=2) if as_json else str(found))


def _tokens(found: StateDiagram, asked: Asked) -> AllowedTokens | TokenWalk:
    if asked.text is not None:
        return found.walk(asked.text, asked.model)
    return found.tokens(asked.state or 0, asked.model)


def diagram_to_dict(diagram: StateDiagram) -> dict[str, Any]:
    """Return an automaton as plain data: where an arrow leads to no state that is shown, its target is null."""
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


def _tokens_to_dict(tokens: AllowedTokens | TokenWalk) -> dict[str, Any]:
    """Return tokens as plain data, their bytes as text where they are text."""
    if isinstance(tokens, TokenWalk):
        steps = [{**step._asdict(), "token": shown_token(step.token)} for step in tokens.steps]
        return {"steps": steps, "end": _tokens_to_dict(tokens.end)}
    return {
        "state": tokens.state,
        "may_end": tokens.may_end,
        "forced": tokens.forced,
        "tokens": {str(token_id): shown_token(token) for token_id, token in tokens.tokens.items()},
    }


def _or_bad_parameter(run: Callable[[], Any]) -> Any:
    """Return what a function returns; a ValueError is about what was asked for."""
    try:
        return run()
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error


def _write(path: Path, text: str) -> None:
    """Write a graph to a file, and say so; `-` is standard output."""
    if str(path) == "-":
        _print(text.removesuffix("\n"))
    else:
        try:
            path.write_text(text, encoding="utf-8")
        except OSError as error:
            raise OutputError(
                f"{path} cannot be written: {error.strerror}. Name a file in a folder that is there.", path=str(path)
            ) from error
        typer.echo(str(path))


def _print(text: str) -> None:
    typer.echo(text.encode(errors="backslashreplace").decode())
