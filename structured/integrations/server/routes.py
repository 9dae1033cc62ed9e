"""The routes: OpenAI's, the library's own, and those by which a server is watched."""

import itertools
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from string import Template
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response, StreamingResponse
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.types import Receive, Scope, Send

from structured.errors import PatternError, SchemaError
from structured.extraction.options import Options
from structured.extraction.prompts import TextOrChat
from structured.integrations.replies import Responder
from structured.integrations.server.request_bodies import (
    ChatRequest,
    ChooseRequest,
    CompletionRequest,
    ExtractRequest,
    GenerationRequest,
    GrammarRequest,
    LibraryRequest,
    RegexRequest,
)
from structured.integrations.server.request_conversion import options_of, output_type_of, prompt_messages
from structured.integrations.server.request_errors import RequestError
from structured.integrations.server.responses import ChatWriter, CompletionWriter, Writer, response_of, response_of_all
from structured.integrations.server.responses_api import ResponsesApiWriter, ResponsesRequest
from structured.integrations.server.server_state import (
    ServerState,
    TokenMetrics,
    pieces_of,
    results_of,
    total_of_prompts,
)
from structured.jobs.review_page import digest_of_source, page_part, to_inert_json
from structured.output_types.json_output import JsonLayout
from structured.results.evidence import BANDS, MATCH_WORDS
from structured.results.result import Result

router = APIRouter()
CurrentServer = Annotated[ServerState, Depends(ServerState.of)]


@router.get("/", response_class=HTMLResponse)
async def page() -> Response:
    """Return the page with a form that sends a text and a type to `/v1/extract`, and shows values with evidence."""
    return _page()


SHARED_SCRIPTS, SCRIPTS = ("elements", "evidence"), ("answer", "calls", "asking")
"""The parts of the page's script, in order: those of the review page, and its own."""


@cache
def _page() -> HTMLResponse:
    """Return the page, which is the same for every server.

    It is one file of HTML that holds nothing of the server's, so that it needs no key. Its policy allows its own script
    and style alone, and requests to its own server. It shares style and script with the review page.
    """
    style = page_part("base.css") + _page_file("extraction.css")
    shared, own = (page_part(f"{name}.js") for name in SHARED_SCRIPTS), (_page_file(f"{name}.js") for name in SCRIPTS)
    script = "\n".join((*shared, *own))
    data = to_inert_json({"words": MATCH_WORDS, "bands": BANDS})
    html = Template(_page_file("extraction.html")).substitute(style=style, script=script, data=data)
    directives = {
        "default-src": "'none'",
        "script-src": f"'sha256-{digest_of_source(script)}'",
        "style-src": f"'sha256-{digest_of_source(style)}'",
        "connect-src": "'self'",
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'none'",
    }
    headers = {
        "Content-Security-Policy": "; ".join(f"{name} {sources}" for name, sources in directives.items()),
        "Cache-Control": "no-cache",
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
    }
    return HTMLResponse(html, headers=headers)


def _page_file(name: str) -> str:
    return (Path(__file__).parent / "page" / name).read_text(encoding="utf-8")


@router.get("/health", response_class=PlainTextResponse)
@router.get("/healthz", response_class=PlainTextResponse)
async def health() -> str:
    """Tell that the process lives."""
    return "ok"


@router.get("/readyz", response_class=PlainTextResponse)
async def ready(server: CurrentServer) -> Response:
    """Tell whether requests are taken."""
    is_closed = server.threads.admission.is_closed
    return PlainTextResponse("shutting down", 503) if is_closed else PlainTextResponse("ready")


@router.get("/metrics")
async def metrics(server: CurrentServer) -> Response:
    """Return the figures for Prometheus."""
    return Response(server.metrics.text(), media_type=CONTENT_TYPE_LATEST)


@router.get("/v1/models")
async def models(server: CurrentServer) -> dict[str, Any]:
    """List the model that is served, and the name that it has with every server."""
    return {"object": "list", "data": [_model(name) for name in (server.model, server.default_model)]}


@router.get("/v1/models/{name:path}")
async def model(name: str, server: CurrentServer) -> dict[str, Any]:
    """Tell that a model is served. Raises RequestError for another."""
    server.check_model(name)
    return _model(name)


def _model(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 0, "owned_by": "structured"}


@router.post("/v1/chat/completions")
async def chat(body: ChatRequest, request: Request, server: CurrentServer) -> Any:
    """Answer a chat, as OpenAI's API does."""
    writer = ChatWriter(server.model, server.batch.vocabulary, body.alternatives_per_token, tool=body.called_tool)
    tokens = server.max_tokens(max_completion_tokens=body.max_completion_tokens, max_tokens=body.max_tokens)
    messages = prompt_messages(body.messages)
    return await _reply(request, server, body, writer=writer, documents=[messages] * body.n, max_tokens=tokens)


@router.post("/v1/responses")
async def respond(body: ResponsesRequest, request: Request, server: CurrentServer) -> Any:
    """Answer a request of OpenAI's Responses API."""
    server.check_model(body.model)
    chat = body.chat()
    vocabulary, alternatives = server.batch.vocabulary, chat.alternatives_per_token
    writer = ResponsesApiWriter(server.model, vocabulary, alternatives, request=body, tool=chat.called_tool)
    documents = [prompt_messages(chat.messages, "input")]
    tokens = server.max_tokens(max_output_tokens=body.max_output_tokens)
    return await _reply(request, server, chat, writer=writer, documents=documents, max_tokens=tokens)


@router.post("/v1/completions")
async def complete(body: CompletionRequest, request: Request, server: CurrentServer) -> Any:
    """Complete a text, as OpenAI's API does."""
    writer = CompletionWriter(server.model, server.batch.vocabulary, body.alternatives_per_token)
    prompts = [body.prompt] if isinstance(body.prompt, str) else body.prompt
    documents = [prompt for prompt in prompts for _ in range(body.n)]
    tokens = server.max_tokens(max_tokens=body.max_tokens)
    return await _reply(request, server, body, writer=writer, documents=documents, max_tokens=tokens)


async def _reply(  # noqa: PLR0913  the parts of both endpoints
    request: Request,
    server: ServerState,
    body: GenerationRequest,
    *,
    writer: Writer,
    documents: Sequence[TextOrChat],
    max_tokens: int,
) -> Any:
    """Return the answer to a request, whole or as a stream. Raises RequestError."""
    server.check_model(body.model)
    server.check_documents(len(documents))
    server.check_size(documents[:: body.n])
    if body.stream and len(documents) > 1:
        raise RequestError(400, "A stream has one answer. Leave out n, or stream.", parameter="n")
    options: Options = {**options_of(body, max_tokens), "observe": TokenMetrics(server.metrics)}

    make_responder = partial(_responder, server, body, options, writer.alternatives_per_token or 0)
    if not body.stream:
        replies = await server.threads.call(request, lambda: make_responder().replies(documents))
        return JSONResponse(writer.to_response(replies, total_of_prompts(replies, body.n)))
    with_usage = body.stream_options is not None and body.stream_options.include_usage

    def events() -> Iterator[str]:
        pieces = pieces_of(make_responder(), documents[0])
        yield from writer.to_events(itertools.chain([next(pieces)], pieces), with_usage=with_usage)

    return EventStream(*await server.threads.stream(request, events))


def _responder(server: ServerState, body: GenerationRequest, options: Options, alternatives: int) -> Responder:
    """Return what answers a request, with its options. Raises RequestError."""
    is_free, tool, calls_at_most, fallback = not body.constraints, None, None, None
    if isinstance(body, ChatRequest) and body.uses_tools:
        is_free, tool = False, body.called_tool
        calls_at_most = None if body.parallel_tool_calls else 1
        if body.may_skip_tools:
            fallback = _responder(server, body.model_copy(update={"tool_choice": "none"}), options, alternatives)
        options = {**options, "layout": JsonLayout(optional_properties="omittable")}
    try:
        extractor = server.extractors.find(body.constraint_key, lambda: output_type_of(body, server.limits), options)
    except (SchemaError, PatternError) as error:
        member = "tools" if isinstance(body, ChatRequest) and body.uses_tools else next(iter(body.constraints), "stop")
        raise RequestError.of(error, member) from error
    if alternatives:
        extractor = extractor.with_alternatives(alternatives)
    extractor = extractor.verbatim() if is_free else extractor
    return Responder(extractor, is_free, body.stops, tool, calls_at_most, fallback)


class EventStream(StreamingResponse):
    """Server-sent events that call `leave` when they end or the client goes."""

    media_type = "text/event-stream"

    def __init__(self, events: AsyncIterator[str], leave: Callable[[], None]) -> None:
        super().__init__(events)
        self._leave = leave

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._leave()


@router.post("/v1/extract")
async def extract(body: ExtractRequest, request: Request, server: CurrentServer) -> Response:
    """Extract values from a document, or from several: one that fails does not cost the others."""
    documents = body.documents or []
    server.check_documents(len(documents))
    if body.text is not None:
        return await _value_response(request, server, body, body.text)
    return response_of_all(await _values(request, server, body, documents), evidence=body.evidence)


@router.post("/v1/choose")
async def choose(body: ChooseRequest, request: Request, server: CurrentServer) -> Response:
    """Choose one of some texts."""
    return await _value_response(request, server, body, body.text)


@router.post("/v1/regex")
async def match(body: RegexRequest, request: Request, server: CurrentServer) -> Response:
    """Write a text that a regular expression matches as a whole."""
    return await _value_response(request, server, body, body.text)


@router.post("/v1/grammar")
async def derive(body: GrammarRequest, request: Request, server: CurrentServer) -> Response:
    """Write a text of a grammar."""
    return await _value_response(request, server, body, body.text)


async def _value_response(request: Request, server: ServerState, body: LibraryRequest, text: str) -> Response:
    """Return the answer for one text. Raises RequestError."""
    [result] = await _values(request, server, body, [text])
    return response_of(result, evidence=body.evidence)


async def _values(request: Request, server: ServerState, body: LibraryRequest, texts: list[str]) -> list[Result[Any]]:
    """Return the result for each text. Raises RequestError if the request is wrong as a whole."""
    server.check_model(body.model)
    server.check_size(texts)
    options = options_of(body, server.max_tokens(max_tokens=body.max_tokens))
    options["observe"] = TokenMetrics(server.metrics)

    def make_type() -> Any:
        if isinstance(body, ExtractRequest) and body.type is not None:
            return server.type(body.type)
        return output_type_of(body, server.limits)

    def answer() -> list[Result[Any]]:
        return results_of(server.extractors.find(body.constraint_key, make_type, options), texts)

    return await server.threads.call(request, answer)
