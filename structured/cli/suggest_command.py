"""`structured suggest`: a type for some documents, as a start to edit."""

import shlex
from itertools import islice
from typing import Annotated

import typer
from rich.console import Console

from structured.cli.console import say
from structured.cli.document_paths import documents_at
from structured.errors.values import counted
from structured.jobs.suggestion import suggest


def suggest_type(
    paths: Annotated[list[str], typer.Argument(help="Files, folders, or - for standard input.")],
    *,
    model: Annotated[
        str, typer.Option("--model", "-m", help="As for extract, but not the packaged model: it cannot do this.")
    ],
    wish: Annotated[str, typer.Option(help='What the type is for: "who pays what by when".')] = "",
    documents: Annotated[int, typer.Option(min=1, help="The most documents that are read.")] = 10,
) -> None:
    """Suggest a type for some documents: a class of Python, and the same as --fields.

    The model proposes fields for each document, and is then asked for all of them in each. The type is a start to edit.
    """
    if not model.strip() or model.startswith("packaged"):
        raise typer.BadParameter(
            "The packaged model cannot suggest a type. Name a larger one, of 1,000 million or more."
        )
    sample = list(islice(documents_at(paths, None, None), documents))
    with Console(stderr=True).status("Asking the model …"):
        suggestion = suggest(sample, wish, model=model)
    say(f"A start to edit: {suggestion.model} has read {counted(suggestion.documents, 'document')}.")
    typer.echo(f"# A start to edit, suggested by {suggestion.model}. The same as an option:")
    typer.echo(f"# --fields {shlex.quote(suggestion.to_fields())}\n\n{suggestion.to_python()}", nl=False)
