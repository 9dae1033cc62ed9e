"""Models and the cache on the command line: `structured models`, `fetch` and `cache`."""

import json
import os
from importlib.metadata import PackageNotFoundError, version
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console, RenderableType
from rich.table import Column, Table
from rich.text import Text

from structured.cli.console import say, show
from structured.errors.values import counted
from structured.index.cache import DiskCache, default_cache
from structured.index.cache_folder import CacheFolder
from structured.machine_code.notation import IS_COMPILED
from structured.models.checkpoints import FETCHABLE, fetch, fetched_path
from structured.models.dequantised import ModelCache, model_cache
from structured.models.load import PACKAGED_MODEL, PACKAGED_NAME

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]

cache_app = typer.Typer(rich_markup_mode=None, help="Show or clear the cache on disk.", no_args_is_help=True)


@cache_app.command("info")
def cache_info(*, as_json: AsJson = False) -> None:
    """Show where the cache is, and how large; also how many dequantised models are kept in it."""
    disk, models = _caches()
    if as_json:
        typer.echo(json.dumps({**_cache_facts(disk), "dequantised": _cache_facts(models)}))
        return
    table = Table.grid(Column(style="bold"), Column(overflow="fold"), padding=(0, 2))
    table.add_row("folder", str(disk.folder))
    table.add_row("files", f"{len(disk.files()):,}")
    table.add_row("size", f"{disk.size():,} bytes")
    table.add_row("limit", f"{disk.max_bytes:,} bytes")
    table.add_row("models", f"{len(models.files()):,}, of {models.size():,} bytes, dequantised")
    table.add_row("their limit", f"{models.max_bytes:,} bytes")
    show(table)


def _cache_facts(entries: CacheFolder) -> dict[str, Any]:
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
        say("Could not be removed:", style="red")
        for path, error in islice(failures.items(), 10):
            say(f"  {path}: {error.strerror}".encode(errors="backslashreplace").decode())
        if len(failures) > 10:
            say(f"  and {len(failures) - 10:,} more")
        raise typer.Exit(1)


def _caches() -> tuple[DiskCache, ModelCache]:
    disk, models = default_cache(), model_cache()
    if disk is None or models is None:
        say("The cache is off: STRUCTURED_CACHE is off, or there is no home folder for it.")
        raise typer.Exit(1)
    return disk, models


MODEL_HELP = (
    "A hub id, a folder, a GGUF file, packaged, smollm2 or smollm2-extract once it is fetched, or the address of a "
    "model behind a server (vllm://host/name); see `structured models`. "
    "Default: $STRUCTURED_MODEL, or the packaged model."
)

ENGINES = {
    "torch": "pip install torch",
    "transformers": "pip install transformers",
    "llama-cpp-python": "pip install llama-cpp-python jinja2, to run GGUF files as they are",
    "gguf": "pip install gguf, to let transformers read GGUF files and adapters",
}
"""The packages that run models or read their files, and how they are installed."""

LOOPS = "machine code" if IS_COMPILED else "Python, slowly: install a C compiler, then this library again"
"""How the inner loops run."""

EXAMPLES = {
    "a hub id": "--model HuggingFaceTB/SmolLM2-135M-Instruct",
    "a folder": "--model ./checkpoint",
    "a GGUF file": "--model ./model.Q4_K_M.gguf",
    "the packaged model": "--model packaged",
    "a fetched model": "--model smollm2",
    "the same, adapted": "--model smollm2-extract",
    "behind a server": "--model vllm://localhost:8000/name, and the like",
    "for every command": "export STRUCTURED_MODEL=smollm2-extract",
    "in Python": "load_model(…): also an adapter, (model, tokenizer), a function, a llama_cpp.Llama",
}
"""How models are named."""


def list_models(*, as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """List the models on this machine, and the packages that run them. Loads none."""
    import torch

    models = [
        _model_facts(PACKAGED_NAME, PACKAGED_MODEL),
        *(_model_facts(name, fetched_path(name), known.adapter) for name, known in FETCHABLE.items()),
    ]
    default = os.environ.get("STRUCTURED_MODEL") or PACKAGED_NAME
    engines = {name: _version(name) for name in ENGINES}
    gpus = [torch.cuda.get_device_name(number) for number in range(torch.cuda.device_count())]
    if as_json:
        typer.echo(json.dumps({"default": default, "models": models, "engines": engines, "loops": LOOPS, "gpus": gpus}))
    else:
        show(*_model_tables(models, default, engines, gpus))


def _model_facts(name: str, path: Path, adapter: Path | None = None) -> dict[str, Any]:
    """Return the facts of a model. `bytes` counts its adapter, and is None if the model is not there."""
    files = [path] if path.is_file() else [one for one in path.rglob("*") if one.is_file()]
    adapter_files = [] if adapter is None else [adapter]
    return {
        "name": name,
        "path": str(path) if files else None,
        "adapter": None if adapter is None else str(adapter),
        "bytes": sum(one.stat().st_size for one in [*files, *adapter_files]) if files else None,
    }


def _version(distribution: str) -> str | None:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return None


def _model_tables(
    models: list[dict[str, Any]], default: str, engines: dict[str, str | None], gpus: list[str]
) -> list[RenderableType]:
    rows_of_models = [
        (one["name"], f"structured fetch {one['name']}" if one["path"] is None else _size(one)) for one in models
    ]
    engine_rows = [(name, found or f"not installed: {ENGINES[name]}") for name, found in engines.items()]
    engine_rows.append(("loops", LOOPS))
    engine_rows.append(("GPU", ", ".join(gpus) or "none that torch can use"))
    parts: list[RenderableType] = []
    for title, rows in (
        ("Models", [*rows_of_models, ("default", default)]),
        ("Engines", engine_rows),
        ("How to name one", list(EXAMPLES.items())),
    ):
        names = Column(no_wrap=True, min_width=max(map(len, EXAMPLES)))
        grid = Table.grid(names, Column(overflow="fold"), padding=(0, 2))
        for name, fact in rows:
            grid.add_row(Text(name), Text(fact))
        parts += [Text(title, style="bold"), grid, Text()]
    return parts[:-1]


def _size(model: dict[str, Any]) -> str:
    adapted = "" if model["adapter"] is None else ", with an adapter"
    return f"{model['bytes'] / 1e6:,.0f} MB, {model['path']}{adapted}"


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
    best = f"{name}-extract" if f"{name}-extract" in FETCHABLE else name
    console.print(Text(f'Pass it by its name: extract(Person, text, model="{best}"), or STRUCTURED_MODEL={best}.'))
