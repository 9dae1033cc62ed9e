"""`structured cache` and `structured compile`: files that the library keeps for later processes."""

import json
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from structured.automata.loops.jit import compile_loops
from structured.cli.console import say, show
from structured.errors.values import counted
from structured.index.cache import DiskCache, default_cache
from structured.index.cache_folder import CacheFolder
from structured.models.dequantised import ModelCache, model_cache

MAX_FAILURES = 10
"""How many of the files are listed that could not be removed."""

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]

cache_app = typer.Typer(rich_markup_mode=None, help="Show or clear the cache on disk.", no_args_is_help=True)


@cache_app.command("info")
def cache_info(*, as_json: AsJson = False) -> None:
    """Show where the cache is, and how large; also how many dequantised models are kept in it."""
    disk, models = _caches()
    if as_json:
        typer.echo(json.dumps({**_facts(disk), "dequantised": _facts(models)}))
        return
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    table.add_row("folder", str(disk.folder))
    table.add_row("files", f"{len(disk.files()):,}")
    table.add_row("size", f"{disk.size():,} bytes")
    table.add_row("limit", f"{disk.max_bytes:,} bytes")
    table.add_row("models", f"{len(models.files()):,}, of {models.size():,} bytes, dequantised")
    table.add_row("their limit", f"{models.max_bytes:,} bytes")
    show(table)


def _facts(entries: CacheFolder) -> dict[str, Any]:
    facts = {"folder": str(entries.folder), "files": len(entries.files())}
    return {**facts, "bytes": entries.size(), "limit": entries.max_bytes}


@cache_app.command("clear")
def cache_clear(*, as_json: AsJson = False) -> None:
    """Remove every file of the cache, and every dequantised model. Exits with 1 if some could not be removed."""
    disk, models = (entries.clear() for entries in _caches())
    failures = {**disk.failed, **models.failed}
    if as_json:
        removed = [str(path) for path in (*disk.removed, *models.removed)]
        failed = {str(path): str(error) for path, error in failures.items()}
        typer.echo(json.dumps({"removed": removed, "failed": failed}))
        raise typer.Exit(bool(failed))
    Console().print(f"{counted(len(disk.removed), 'file')} removed.")
    if models.removed:
        Console().print(f"{counted(len(models.removed), 'dequantised model')} removed.")
    if failures:
        _say_what_failed(failures)
        raise typer.Exit(1)


def _say_what_failed(failures: dict[Path, OSError]) -> None:
    console = Console(stderr=True, soft_wrap=True)
    console.print(Text("Could not be removed:", style="red"))
    for path, error in islice(failures.items(), MAX_FAILURES):
        console.print(Text(f"  {path}: {error.strerror}".encode(errors="backslashreplace").decode()))
    if len(failures) > MAX_FAILURES:
        console.print(f"  and {len(failures) - MAX_FAILURES:,} more")


def _caches() -> tuple[DiskCache, ModelCache]:
    disk, models = default_cache(), model_cache()
    if disk is None or models is None:
        say("The cache is off: STRUCTURED_CACHE is off, or there is no home folder for it.")
        raise typer.Exit(1)
    return disk, models


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
