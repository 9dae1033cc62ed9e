"""Models on the command line: `structured models` lists them, and `structured fetch` downloads one."""

import json
import os
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from structured.cli.console import show
from structured.models.checkpoints import FETCHABLE, fetch, fetched_path
from structured.models.load import PACKAGED_MODEL, PACKAGED_NAME

MODEL_HELP = (
    "A hub id, a folder, a GGUF file, packaged, smollm2 or smollm2-extract once it is fetched, or the address of a "
    "model behind a server (vllm://host/name); see `structured models`. "
    "Default: $STRUCTURED_MODEL, or the packaged model."
)

ENGINES = ("torch", "transformers", "llama-cpp-python", "gguf")
"""The packages that run models, or read their files."""

MISSING = {
    "llama-cpp-python": "pip install llama-cpp-python jinja2, to run GGUF files as they are",
    "gguf": "pip install gguf, to let transformers read GGUF files",
}

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
    models = [
        _facts(PACKAGED_NAME, PACKAGED_MODEL),
        *(_facts(name, fetched_path(name), known.adapter) for name, known in FETCHABLE.items()),
    ]
    default = os.environ.get("STRUCTURED_MODEL") or PACKAGED_NAME
    engines = {name: _version(name) for name in ENGINES}
    gpus = _gpus()
    if as_json:
        typer.echo(json.dumps({"default": default, "models": models, "engines": engines, "gpus": gpus}))
    else:
        show(*_shown(models, default, engines, gpus))


def _facts(name: str, path: Path, adapter: Path | None = None) -> dict[str, Any]:
    """Return the facts of a model. `bytes` counts its adapter, and is None if the model is not there."""
    files = [path] if path.is_file() else [one for one in path.rglob("*") if one.is_file()]
    beside = [] if adapter is None else [adapter]
    return {
        "name": name,
        "path": str(path) if files else None,
        "adapter": None if adapter is None else str(adapter),
        "bytes": sum(one.stat().st_size for one in [*files, *beside]) if files else None,
    }


def _version(distribution: str) -> str | None:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return None


def _gpus() -> list[str]:
    """Return the names of the GPUs that torch can use."""
    import torch

    return [torch.cuda.get_device_name(number) for number in range(torch.cuda.device_count())]


def _shown(
    models: list[dict[str, Any]], default: str, engines: dict[str, str | None], gpus: list[str]
) -> list[RenderableType]:
    """Return tables of models, engines and examples below each other."""
    here = [(one["name"], f"structured fetch {one['name']}" if one["path"] is None else _size(one)) for one in models]
    installed = [
        (name, found or f"not installed: {MISSING.get(name, f'pip install {name}')}") for name, found in engines.items()
    ]
    installed.append(("GPU", ", ".join(gpus) or "none that torch can use"))
    parts: list[RenderableType] = []
    for title, rows in (
        ("Models", [*here, ("default", default)]),
        ("Engines", installed),
        ("How to name one", list(EXAMPLES.items())),
    ):
        grid = Table.grid(padding=(0, 2))
        grid.add_column(no_wrap=True, min_width=max(map(len, EXAMPLES)))
        grid.add_column(overflow="fold")
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
    console.print(Text(f'Pass it by its name: extract(Person, text, model="{name}"), or STRUCTURED_MODEL={name}.'))
