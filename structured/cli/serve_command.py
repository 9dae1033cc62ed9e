"""`structured serve`: a model behind an HTTP interface."""

import asyncio
import errno
import os
import socket
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from structured.cli.type_arguments import load_target
from structured.errors import ModelError
from structured.models.remote.address import is_address

if TYPE_CHECKING:
    from structured.models import LanguageModel

MODEL_HELP = (
    "A hub id, a folder, a GGUF file, packaged, or smollm2 or smollm2-extract once it is fetched; see `structured "
    "models`. "
    "Default: $STRUCTURED_MODEL, or the packaged model."
)

KEY = "STRUCTURED_API_KEY"

KEEP_ALIVE = 75
"""Seconds for which an idle connection stays open: longer than in proxies, which then close it first."""

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
        typer.Option(envvar=KEY, show_envvar=True, help="The key that clients send as `Authorization: Bearer`."),
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
        from structured.integrations.server.limits import Limits
    except ImportError as error:
        raise ModelError(
            f"`structured serve` needs the extra serve ({error}). Run pip install 'structured-extraction[serve]'."
        ) from error
    if not (os.environ.get(KEY, "x") if api_key is None else api_key).strip():
        raise typer.BadParameter(
            "The key is empty. Leave it out, or unset the variable, if clients need none.", param_hint="--api-key"
        )
    limits = Limits(running=running, waiting=waiting, max_tokens=max_tokens, seconds=seconds)
    named = _named_types(types or [])
    _check_port(host, port)
    app = create_app(_loaded(model), types=named, limits=limits, api_key=api_key)
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


def connections(patience: float) -> type[asyncio.Protocol]:  # noqa: C901  the methods of a class
    """Return a class of uvicorn's connections that are aborted after some seconds of waiting for the client.

    A connection waits for the head of a request, or for the client to read; the middleware waits for bodies. A text is
    written at the model's pace, whoever reads it, and waits in memory. Rejected: writing no faster than the client
    reads, which would hold a row of the batch for the slowest.
    """
    from uvicorn.protocols.http.auto import AutoHTTPProtocol  # of httptools where it is installed, or else of h11

    protocol: Any = AutoHTTPProtocol

    class Connection(protocol):  # type: ignore[misc]
        def connection_made(self, transport: asyncio.Transport) -> None:
            self._timers: dict[str, asyncio.TimerHandle] = {}
            super().connection_made(transport)
            self._wait("head")

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self._is_idle:
                self._wait("head")
            else:
                self._stop("head")

        def pause_writing(self) -> None:
            super().pause_writing()
            self._wait("reading")

        def resume_writing(self) -> None:
            super().resume_writing()
            self._stop("reading")

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop("head")
            self._stop("reading")
            super().connection_lost(exc)

        @property
        def _is_idle(self) -> bool:
            return self.cycle is None or self.cycle.response_complete

        def _wait(self, reason: str) -> None:
            if reason not in self._timers:
                self._timers[reason] = self.loop.call_later(patience, self._give_up, reason)

        def _stop(self, reason: str) -> None:
            if reason in self._timers:
                self._timers.pop(reason).cancel()

        def _give_up(self, reason: str) -> None:
            del self._timers[reason]
            if reason == "reading" or self._is_idle:
                self.transport.abort()

    return Connection


def _check_port(host: str, port: int) -> None:
    """Raise OSError if nothing can listen there: it is tried before the model is loaded, which takes long."""
    try:
        for family, kind, protocol, _, where in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
            with socket.socket(family, kind, protocol) as probe:
                if os.name == "posix":  # as servers do: connections that have ended hold no port
                    probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind(where)
    except OSError as error:
        if error.errno == errno.EADDRNOTAVAIL:  # of a family that this machine lacks; the server sees to that
            return
        problem = f"Nothing can listen at port {port} of {host}: {error.strerror}. Pass another --port or --host."
        raise OSError(problem) from error


def _loaded(name: str | None) -> "LanguageModel":
    """Return the model that is served. Raises ModelError, also for one behind a server."""
    from structured.models import load_model

    source = os.environ.get("STRUCTURED_MODEL") if name is None else name
    if is_address(source):
        who = "STRUCTURED_MODEL names" if name is None else "--model names"
        raise ModelError(
            f"{who} {source}, a model that a server has already. `structured serve` loads one itself: pass --model "
            "with a hub id, a folder, a GGUF file, smollm2 or smollm2-extract."
        )
    return load_model(name)


def _named(option: str) -> tuple[str, Any]:
    """Return the name and the type of an option: `invoice=shop.py:Invoice`."""
    name, equals, target = option.partition("=")
    if not equals or not name:
        raise typer.BadParameter(f"{option!r} has no name. Write NAME=MODULE:TYPE.", param_hint="--type")
    return name, load_target(target)


def _named_types(options: list[str]) -> dict[str, Any]:
    """Return the types of the options by their names."""
    pairs = [_named(option) for option in options]
    names = [name for name, _ in pairs]
    for name in names:
        if names.count(name) > 1:
            raise typer.BadParameter(f"{name!r} names two types. Give each a name of its own.", param_hint="--type")
    return dict(pairs)
