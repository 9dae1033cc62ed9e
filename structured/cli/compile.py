"""`structured compile`: the loops of the library as machine code, before they are needed."""

import typer
from rich.console import Console

from structured.automata.loops.jit import compile_loops


def compile_now() -> None:
    """Compile the loops of the library for this machine.

    What has been compiled is kept. Without this command it is done beside the first programs that use the loops.
    """
    console = Console(soft_wrap=True)
    try:
        with console.status("Compiling …"):
            compile_loops()
    except RuntimeError as error:
        console.print(
            f"Machine code cannot be kept: {error}. Set NUMBA_CACHE_DIR to a folder that can be written.", style="red"
        )
        raise typer.Exit(1) from error
    console.print("The loops are compiled.")
