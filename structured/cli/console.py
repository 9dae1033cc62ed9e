"""Output of the commands: for people at a terminal, and for programs that read lines from a pipe."""

import os

import typer
from rich.console import Console, RenderableType

PIPE_WIDTH = 160
"""Characters of a line where there is no terminal that has a width."""


def show(*parts: RenderableType) -> None:
    """Print parts below each other; in a pipe wide enough for tables, without the spaces that fill their lines."""
    console = Console()
    if console.is_terminal:
        console.print(*parts, sep="\n")
        return
    if "COLUMNS" not in os.environ:
        console.width = PIPE_WIDTH
    with console.capture() as captured:
        console.print(*parts, sep="\n")
    typer.echo("\n".join(line.rstrip() for line in captured.get().splitlines()))
