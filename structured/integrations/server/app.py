"""The application: a model behind an HTTP interface."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from structured.decoding.compiled_types import load_grammars
from structured.decoding.running_batch import RunningBatch
from structured.errors import StructuredError
from structured.extraction.extractor import Extractor
from structured.integrations.server.guard import Guard
from structured.integrations.server.limits import Limits
from structured.integrations.server.request_errors import (
    RequestError,
    answer_fault,
    answer_http,
    answer_invalid,
    answer_request_error,
    answer_structured_error,
)
from structured.integrations.server.routes import router
from structured.integrations.server.serving import Serving
from structured.models import ScriptedModel, load_model
from structured.output_types.choice import Choice
from structured.output_types.resolve import resolve_type

if TYPE_CHECKING:
    from structured.models.load import ModelSource


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
    limits, types = limits or Limits(), dict(types or {})
    for one in map(resolve_type, types.values()):
        load_grammars(one)
        one.check()

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        with RunningBatch(load_model(model), limits.running) as running:
            await asyncio.to_thread(_warm_up)
            serving = app.state.serving = Serving(running, limits, types)
            try:
                yield
            finally:
                serving.close()

    app = FastAPI(title="structured", lifespan=life, redoc_url=None)
    app.add_exception_handler(RequestError, answer_request_error)
    app.add_exception_handler(StructuredError, answer_structured_error)
    app.add_exception_handler(RequestValidationError, answer_invalid)
    app.add_exception_handler(HTTPException, answer_http)
    app.add_exception_handler(Exception, answer_fault)
    app.include_router(router)
    app.add_middleware(Guard, limits=limits, api_key=api_key)
    return app


def _warm_up() -> None:
    """Import and load what answers need, whatever the model is, so that the first request need not."""
    Extractor(Choice(["yes", "no"]), model=ScriptedModel("yes"))("Ready?")
