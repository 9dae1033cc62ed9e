"""The command `structured`."""

from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated

import typer

from structured.cli.cache import cache_app
from structured.cli.compile import compile_now
from structured.cli.demo import demo
from structured.cli.fetch import fetch_model
from structured.cli.inspection import inspect_target

app = typer.Typer(rich_markup_mode=None, no_args_is_help=True, pretty_exceptions_enable=False)
app.command()(demo)
app.command("fetch")(fetch_model)
app.command("compile")(compile_now)
app.command("inspect")(inspect_target)
app.add_typer(cache_app, name="cache")


DISTRIBUTION = "structured-extraction"
"""The name of the installed distribution."""


def _show_version(asked: bool) -> None:
    if not asked:
        return
    try:
        typer.echo(f"{DISTRIBUTION} {version(DISTRIBUTION)}")
    except PackageNotFoundError as error:
        typer.echo(f"{DISTRIBUTION} is not installed: this is its source, at {Path(__file__).parents[1]}.", err=True)
        raise typer.Exit(1) from error
    raise typer.Exit


@app.callback()
def _root(
    *,
    _version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    """Extract typed objects from text, with a language model on your own machine.

    The extraction itself is a Python library; these commands show what it does, and what it can do with a type.
    """
