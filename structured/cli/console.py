"""Output of the commands: for people at a terminal, and for programs that read lines from a pipe."""

import typer
from rich.console import Console, RenderableType


def show(*parts: RenderableType) -> None:
    """Print parts below each other; in a pipe without the spaces that fill lines of tables."""
    console = Console()
    if console.is_terminal:
        console.print(*parts, sep="\n")
        return
    with console.capture() as captured:
        console.print(*parts, sep="\n")
    typer.echo("\n".join(line.rstrip() for line in captured.get().splitlines()))
