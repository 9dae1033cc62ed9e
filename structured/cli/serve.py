"""`structured serve`: a model behind an HTTP interface."""

import sys
from typing import Annotated, Any

import typer

from structured.cli.models import MODEL_HELP
from structured.cli.targets import load_target
from structured.errors import ModelError

KEY = "STRUCTURED_API_KEY"

KEEP_ALIVE = 75
"""Seconds for which a connection stays open that says nothing: longer than those of proxies, which then close first."""

TURN = 0.001
"""Seconds for which a thread keeps the interpreter while others wait for it; Python's own are five times as many. While
one thread reads a large schema, all others wait so long for each of their steps."""


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
        typer.Option(envvar=KEY, show_envvar=True, help="What clients must send as `Authorization: Bearer`."),
    ] = None,
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
        import uvicorn

        from structured.integrations.server.app import create_app
        from structured.integrations.server.connections import connections
        from structured.integrations.server.limits import Limits
    except ImportError as error:
        raise ModelError(
            f"`structured serve` needs the extra serve ({error}). Run pip install 'structured-extraction[serve]'."
        ) from error
    limits = Limits(running=running, waiting=waiting, max_tokens=max_tokens, seconds=seconds)
    app = create_app(model, types=dict(map(_named, types or ())), limits=limits, api_key=api_key)
    config = uvicorn.Config(
        app,
        http=connections(limits.patience),
        host=host,
        port=port,
        log_level="warning" if quiet else "info",
        timeout_graceful_shutdown=int(seconds) + 1,
        timeout_keep_alive=KEEP_ALIVE,
        server_header=False,
    )
    server = uvicorn.Server(config)
    sys.setswitchinterval(TURN)
    server.run()
    if not server.started:
        raise typer.Exit(3)


def _named(given: str) -> tuple[str, Any]:
    """Return the name and the type of an option: `invoice=shop.py:Invoice`."""
    name, equals, target = given.partition("=")
    if not equals or not name:
        raise typer.BadParameter(f"{given!r} has no name. Write NAME=MODULE:TYPE.", param_hint="--type")
    return name, load_target(target)
