"""The application: a model behind an HTTP interface, and the middleware that checks and counts requests."""

import asyncio
import hmac
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from structured.decoding.running_batch import RunningBatch
from structured.errors import StructuredError
from structured.extraction.extractor import Extractor
from structured.integrations.server.limits import Limits
from structured.integrations.server.request_errors import RequestError, answer_error
from structured.integrations.server.routes import router
from structured.integrations.server.server_state import ServerState
from structured.models import ScriptedModel, load_model
from structured.output_types.choice import Choice
from structured.output_types.resolve import resolve_type

if TYPE_CHECKING:
    from structured.models.load import ModelSource

KEYLESS_PATHS = frozenset({"/", "/health", "/healthz", "/readyz", "/metrics"})
"""The paths that need no key."""

ROUTE_PATHS = frozenset(route.path for route in router.routes if isinstance(route, APIRoute))
"""The paths that are counted by name."""


class RequestChecks:
    """ASGI middleware: it checks the key, the type and the size of requests, and counts them."""

    def __init__(self, app: ASGIApp, *, limits: Limits, api_key: str | None) -> None:
        self.app = app
        self.limits = limits
        self.api_key = api_key

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check a request, hand it on, and count it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started, status = time.perf_counter(), 500

        async def send_and_note_status(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            self._check(scope)
            await self.app(scope, self._limit_body(receive), send_and_note_status)
        except RequestError as error:  # of these checks: the application answers its own
            await error.response()(scope, receive, send_and_note_status)
        finally:
            self._count(scope, status, time.perf_counter() - started)

    def _check(self, scope: Scope) -> None:
        """Raise RequestError for a request that is not handed on."""
        headers = Headers(scope=scope)
        scheme, _, key = headers.get("authorization", "").partition(" ")  # in any case (RFC 9110, section 11.1)
        is_key = hmac.compare_digest(key.lstrip(" ").encode(), (self.api_key or "").encode())
        has_key = self.api_key is None or (scheme.lower() == "bearer" and is_key)
        if _path(scope) not in KEYLESS_PATHS and not has_key:
            problem = "A key is needed: Authorization: Bearer KEY."
            raise RequestError(401, problem, headers={"WWW-Authenticate": "Bearer"})
        content_type = headers.get("content-type")
        if scope["method"] == "POST" and not _is_json(content_type or ""):
            header = f"the Content-Type {content_type!r}" if content_type else "no Content-Type"
            problem = f"The body has {header}; send it with the header Content-Type: application/json."
            raise RequestError(415, problem)
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > self.limits.body:
            raise RequestError(413, self._too_large)

    def _limit_body(self, receive: Receive) -> Receive:
        """Return a `receive` that refuses a body that is too large or too slow."""
        size, is_whole = 0, False
        deadline = asyncio.get_running_loop().time() + self.limits.patience

        async def receive_within_limits() -> Message:
            nonlocal size, is_whole
            try:
                async with asyncio.timeout_at(None if is_whole else deadline):
                    message = await receive()
            except TimeoutError as error:
                problem = f"The body has not come in {self.limits.patience:g} seconds."
                raise HTTPException(408, problem) from error
            is_whole = not message.get("more_body", False)
            size += len(message.get("body", b""))
            if size > self.limits.body:
                raise HTTPException(413, self._too_large)  # which FastAPI hands on
            return message

        return receive_within_limits

    @property
    def _too_large(self) -> str:
        return f"The body has more than {self.limits.body:,} bytes, which is the limit."

    def _count(self, scope: Scope, status: int, seconds: float) -> None:
        server = getattr(scope["app"].state, "server", None) if "app" in scope else None
        if server is not None:
            path = unquote(_path(scope))
            label = path if path in ROUTE_PATHS else "other"
            server.metrics.requests.labels(label, status).inc()
            server.metrics.seconds.labels(label).observe(seconds)


def _path(scope: Scope) -> str:
    """Return the path of a request within the application, wherever that is mounted."""
    path: str = scope["path"]
    return path.removeprefix(scope.get("root_path", ""))


def _is_json(content_type: str) -> bool:
    """Tell whether a content type is JSON, which a browser sends for a page of another origin only if allowed."""
    kind, _, subtype = content_type.partition(";")[0].strip().lower().partition("/")
    return kind == "application" and (subtype == "json" or subtype.endswith("+json"))


def create_app(
    model: "ModelSource | None" = None,
    *,
    types: Mapping[str, Any] | None = None,
    limits: Limits | None = None,
    api_key: str | None = None,
) -> FastAPI:
    """Return an ASGI application that serves a model.

    Requests that come at the same time share one running batch. Nothing of a request is run, imported or fetched. An
    application in which it is mounted has to start it: `async with app.router.lifespan_context(app)` in its lifespan.

    Parameters:
        model: As for `load_model`; it is loaded when the application starts.
        types: Output types that requests to `/v1/extract` may name, by their names.
        limits: How much requests may ask for.
        api_key: What clients have to send as `Authorization: Bearer`; None for no key.

    Raises:
        SchemaError: One of the types is not supported.
        ValueError: The key is empty: every client would have it.
        TypeError: The key is no text.
    """
    if not isinstance(api_key, str | None):
        raise TypeError("api_key must be a str, or None if clients need none.")
    if api_key is not None and not api_key.strip():
        raise ValueError("api_key is empty. Pass a key, or None if clients need none.")
    import structured

    limits, types = limits or Limits(), dict(types or {})
    for output_type in types.values():
        resolve_type(output_type).check()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        with RunningBatch(load_model(model), limits.running) as batch:
            # Answered once with a scripted model, so that the first request imports and loads less.
            await asyncio.to_thread(lambda: Extractor(Choice(["yes", "no"]), model=ScriptedModel("yes"))("Ready?"))
            server = app.state.server = ServerState(batch, limits, types)
            try:
                yield
            finally:
                server.threads.close()

    errors = (RequestError, StructuredError, RequestValidationError, HTTPException, Exception)
    app = FastAPI(
        title="structured",
        lifespan=lifespan,
        version=structured.__version__,
        docs_url=None,
        redoc_url=None,
        exception_handlers=dict.fromkeys(errors, answer_error),
    )
    app.include_router(router)
    app.add_middleware(RequestChecks, limits=limits, api_key=api_key)
    return app
