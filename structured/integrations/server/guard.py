"""The guard: what a request has to pass before it is read: its key, and the limit of its size; and who counts it."""

import asyncio
import hmac
import time
from urllib.parse import unquote

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from structured.integrations.server.limits import Limits
from structured.integrations.server.request_errors import RequestError

OPEN = frozenset({"/healthz", "/readyz", "/metrics"})
"""What needs no key."""

KNOWN = frozenset({
    *OPEN, "/v1/models", "/v1/chat/completions", "/v1/completions", "/v1/extract", "/v1/choose", "/v1/regex",
    "/v1/grammar",
})  # fmt: skip
"""The paths that are counted by name."""


class Guard:
    """ASGI middleware."""

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

        async def sent(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._passed(scope, receive, sent)
        finally:
            self._count(scope, status, time.perf_counter() - started)

    async def _passed(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand a request on, or answer why not."""
        path = _path(scope)
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        if path not in OPEN and not self._has_key(headers.get("authorization", "")):
            await RequestError(401, "A key is needed: Authorization: Bearer KEY.").response()(scope, receive, send)
            return
        if scope["method"] == "POST" and not _is_json(headers.get("content-type", "")):
            await _no_json(headers.get("content-type")).response()(scope, receive, send)
            return
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > self.limits.body:
            await self._too_large().response()(scope, receive, send)
            return
        await self.app(scope, self._limited(receive), send)

    def _limited(self, receive: Receive) -> Receive:
        """Return what receives a body that is neither too large nor too slow, and then whatever comes."""
        read, is_whole, end = 0, False, asyncio.get_running_loop().time() + self.limits.patience

        async def received() -> Message:
            nonlocal read, is_whole
            try:
                async with asyncio.timeout_at(None if is_whole else end):
                    message = await receive()
            except TimeoutError as error:
                problem = f"The body has not come in {self.limits.patience:g} seconds."
                raise HTTPException(408, problem) from error
            is_whole = not message.get("more_body", False)
            read += len(message.get("body", b""))
            if read > self.limits.body:
                too_large = self._too_large()
                raise HTTPException(too_large.status, too_large.message)  # which FastAPI hands on
            return message

        return received

    def _has_key(self, given: str) -> bool:
        if self.api_key is None:
            return True
        return hmac.compare_digest(given.encode(), f"Bearer {self.api_key}".encode())

    def _too_large(self) -> RequestError:
        return RequestError(413, f"The body has more than {self.limits.body:,} bytes, which is the limit.")

    def _count(self, scope: Scope, status: int, seconds: float) -> None:
        serving = getattr(scope["app"].state, "serving", None) if "app" in scope else None
        if serving is not None:
            path = unquote(_path(scope))
            shown = path if path in KNOWN else "other"
            serving.metrics.requests.labels(shown, status).inc()
            serving.metrics.seconds.labels(shown).observe(seconds)


def _path(scope: Scope) -> str:
    """Return the path of a request within the application, wherever that is mounted."""
    path: str = scope["path"]
    return path.removeprefix(scope.get("root_path", ""))


def _is_json(content_type: str) -> bool:
    """Tell whether a body says that it is JSON. A page of another origin cannot have a browser send that unasked."""
    kind, _, subtype = content_type.partition(";")[0].strip().lower().partition("/")
    return kind == "application" and (subtype == "json" or subtype.endswith("+json"))


def _no_json(content_type: str | None) -> RequestError:
    given = f"the Content-Type {content_type!r}" if content_type else "no Content-Type"
    return RequestError(415, f"The body has {given}; send it with the header Content-Type: application/json.")
