"""`structured serve`: a model behind an HTTP interface."""

import os
from functools import partial
from typing import Annotated, Any

import typer

from structured.cli.type_arguments import load_target
from structured.errors import ModelError
from structured.models import LanguageModel, load_model
from structured.models.server_form import is_address

MODEL_HELP = (
    "A hub id, a folder, a GGUF file, packaged, or smollm2 or smollm2-extract once it is fetched; see "
    "`structured models`. Default: $STRUCTURED_MODEL, or the packaged model."
)

KEY = "STRUCTURED_API_KEY"


def serve(  # noqa: PLR0913  the options of the command
    *,
    model: Annotated[str | None, typer.Option("--model", "-m", help=MODEL_HELP)] = None,
    types: Annotated[
        list[str] | None,
        typer.Option(
            "--type",
            metavar="NAME=MODULE:TYPE",
            help="A type that requests to /v1/extract may name, such as invoice=shop.py:Invoice; once for each.",
        ),
    ] = None,
    host: Annotated[str, typer.Option(help="The address to listen at; 0.0.0.0 for all of this machine.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port to listen at.")] = 8000,
    api_key: Annotated[
        str | None,
        typer.Option(envvar=KEY, show_envvar=True, help="The key that clients send as `Authorization: Bearer`."),
    ] = None,
    workers: Annotated[
        int, typer.Option(min=1, help="Processes behind the port, each with the model and limits of its own.")
    ] = 1,
    running: Annotated[int, typer.Option(min=1, help="Requests that are answered at a time, in one batch.")] = 32,
    waiting: Annotated[int, typer.Option(min=0, help="Requests that may wait; others get 429.")] = 256,
    max_tokens: Annotated[
        int, typer.Option(min=1, help="The most tokens of an answer; requests for more get 400.")
    ] = 1024,
    quiet: Annotated[bool, typer.Option("--quiet", help="Log no requests, but warnings and errors.")] = False,
    seconds: Annotated[float, typer.Option(min=0.1, help="The longest that an answer may take.")] = 300.0,
) -> None:
    """Serve a model over HTTP, to clients of OpenAI's API.

    Chat completions with response_format and tools, and /v1/extract. Needs the extra `serve`. It ends by Ctrl-C or
    SIGTERM, when the requests that run are answered.
    """
    try:
        from structured.integrations.server.limits import Limits
        from structured.integrations.server.workers import Service, check_port, serve_workers
    except ImportError as error:
        raise ModelError(
            f"`structured serve` needs the extra serve ({error}). Run pip install 'structured-extraction[serve]'."
        ) from error
    if not (os.environ.get(KEY, "x") if api_key is None else api_key).strip():
        raise typer.BadParameter(
            "The key is empty. Leave it out, or unset the variable, if clients need none.", param_hint="--api-key"
        )
    limits = Limits(running=running, waiting=waiting, max_tokens=max_tokens, seconds=seconds)
    load = partial(_loaded, model), partial(_named_types, types or [])
    service = Service(*load, limits=limits, api_key=api_key, host=host, port=port, is_quiet=quiet)
    named = service.types()
    check_port(host, port)
    if not (serve_workers(service, workers) if workers > 1 else service.serve(named)):
        raise typer.Exit(3)


def _loaded(name: str | None) -> LanguageModel:
    """Return the model that is served. Raises ModelError, also for one behind a server."""
    source = os.environ.get("STRUCTURED_MODEL") if name is None else name
    if is_address(source):
        who = "STRUCTURED_MODEL names" if name is None else "--model names"
        raise ModelError(
            f"{who} {source}, a model that a server has already. `structured serve` loads one itself: pass --model "
            "with a hub id, a folder, a GGUF file, smollm2 or smollm2-extract."
        )
    return load_model(name)


def _named_types(options: list[str]) -> dict[str, Any]:
    """Return the types of the options by their names: `invoice=shop.py:Invoice`."""
    types: dict[str, Any] = {}
    for option in options:
        name, equals, target = option.partition("=")
        if not equals or not name:
            raise typer.BadParameter(f"{option!r} has no name. Write NAME=MODULE:TYPE.", param_hint="--type")
        if name in types:
            raise typer.BadParameter(f"{name!r} names two types. Give each a name of its own.", param_hint="--type")
        types[name] = load_target(target)
    return types
