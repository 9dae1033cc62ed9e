"""`structured cache`: where the cache on disk is, how large, and its removal."""

import json
from itertools import islice
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from structured.cli.console import show
from structured.cli.exits import say
from structured.errors.values import counted
from structured.index.cache import DiskCache, default_cache

MAX_FAILURES = 10
"""How many of the files are listed that could not be removed."""

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]

cache_app = typer.Typer(rich_markup_mode=None, help="Show or clear the cache on disk.", no_args_is_help=True)


@cache_app.command("info")
def cache_info(*, as_json: AsJson = False) -> None:
    """Show where the cache is, and how large."""
    disk = _cache()
    if as_json:
        facts = {"folder": str(disk.folder), "files": len(disk.files()), "bytes": disk.size(), "limit": disk.max_bytes}
        typer.echo(json.dumps(facts))
        return
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    table.add_row("folder", str(disk.folder))
    table.add_row("files", f"{len(disk.files()):,}")
    table.add_row("size", f"{disk.size():,} bytes")
    table.add_row("limit", f"{disk.max_bytes:,} bytes")
    show(table)


@cache_app.command("clear")
def cache_clear(*, as_json: AsJson = False) -> None:
    """Remove every file of the cache. Exits with 1 if some could not be removed."""
    cleared = _cache().clear()
    if as_json:
        failed = {str(path): str(error) for path, error in cleared.failed.items()}
        typer.echo(json.dumps({"removed": [str(path) for path in cleared.removed], "failed": failed}))
        raise typer.Exit(bool(failed))
    Console().print(f"{counted(len(cleared.removed), 'file')} removed.")
    if not cleared.failed:
        return
    console = Console(stderr=True, soft_wrap=True)
    console.print(Text("Could not be removed:", style="red"))
    for path, error in islice(cleared.failed.items(), MAX_FAILURES):
        console.print(Text(f"  {path}: {error.strerror}".encode(errors="backslashreplace").decode()))
    if len(cleared.failed) > MAX_FAILURES:
        console.print(f"  and {len(cleared.failed) - MAX_FAILURES:,} more")
    raise typer.Exit(1)


def _cache() -> DiskCache:
    disk = default_cache()
    if disk is None:
        say("The cache is off: STRUCTURED_CACHE is off, or there is no home folder for it.")
        raise typer.Exit(1)
    return disk
