"""`structured demo`: several types out of several documents, with the packaged model."""

import inspect
import time
import warnings
from typing import Annotated, Any

import typer
from pydantic_core import to_json
from rich.console import Console, Group
from rich.panel import Panel
from rich.pretty import Pretty
from rich.rule import Rule
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from structured.cli.models import MODEL_HELP
from structured.cli.showcases import SHOWCASES, Showcase
from structured.errors import PackagedModelWarning
from structured.extraction.extractor import Extractor
from structured.models import load_model
from structured.output_types.resolve import resolve_type


def demo(
    model: Annotated[str | None, typer.Option("--model", "-m", help=MODEL_HELP)] = None,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print a line of JSON for each document.")] = False,
) -> None:
    """Extract ten types from ten documents."""
    console = Console()
    status = Console(stderr=True).status
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", PackagedModelWarning)
        with status("Loading the model …"):
            loaded = load_model(model)
        started = time.perf_counter()
        for showcase in SHOWCASES:
            with status(f"Reading: {showcase.title} …"):
                answer = Extractor[Any](showcase.output_type, model=loaded)(showcase.document)
            if as_json:
                record = {"id": showcase.title, "document": showcase.document, "value": answer}
                typer.echo(to_json(record, by_alias=True))
            else:
                console.print(_panels(showcase, answer, width=console.width))
    if as_json:
        return
    seconds = time.perf_counter() - started
    console.print(f"[bold]{len(SHOWCASES)} documents in {seconds:.1f} s[/bold] with {loaded.name}.")
    if caught:
        console.print("It is small, and made to try the library with. Name another: structured demo --model OWNER/NAME")


def _panels(showcase: Showcase, answer: object, *, width: int) -> Group:
    """Return a document, the type asked for and the object found, side by side where the terminal is wide enough."""
    document = Panel(Text(showcase.document), title="document", title_align="left", border_style="cyan")
    source = "\n\n".join(inspect.getsource(shown).strip() for shown in showcase.shown)
    asked = resolve_type(showcase.output_type).name
    wanted = Panel(
        Syntax(source, "python", background_color="default", word_wrap=True) if source else Text(asked),
        title=f"type: {asked}",
        title_align="left",
        border_style="blue",
    )
    found = Panel(Pretty(answer), title="object", title_align="left")
    found.border_style = "green"
    if width < 100:
        return Group(Rule(showcase.title, align="left"), document, wanted, found)
    table = Table.grid(expand=True, padding=(0, 1))
    table.add_column(ratio=1)
    table.add_column(ratio=1)
    table.add_row(Group(document, found), wanted)
    return Group(Rule(showcase.title, align="left"), table)
