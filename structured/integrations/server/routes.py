"""The routes: OpenAI's, the library's own, and those by which a server is watched."""

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.types import Receive, Scope, Send

from structured.extraction.options import Options
from structured.extraction.prompts import TextOrChat
from structured.integrations.server.execution import DEFAULT, Question, Serving, library_options, sampling_options
from structured.integrations.server.request_bodies import (
    Asked,
    ChatRequest,
    ChooseRequest,
    CompletionRequest,
    ExtractRequest,
    GrammarRequest,
    RegexRequest,
    Sampling,
)
from structured.integrations.server.request_errors import RequestError
from structured.integrations.server.responses import (
    DONE,
    AnswerForm,
    ChatAnswers,
    CompletionAnswers,
    event,
    response_of,
    response_of_all,
)
from structured.integrations.server.translation import (
    choice_type,
    free_text,
    grammar_type,
    regex_type,
    schema_type,
    turns_of,
    wanted_of,
)
from structured.output_types.json_output import JsonLayout
from structured.results.result import Result

router = APIRouter()
Served = Annotated[Serving, Depends(Serving.of)]


@router.get("/healthz", response_class=PlainTextResponse)
async def health() -> str:
    """Tell that the process lives."""
    return "ok"


@router.get("/readyz", response_class=PlainTextResponse)
async def ready(serving: Served) -> Response:
    """Tell whether requests are taken."""
    return PlainTextResponse("ready") if serving.is_ready else PlainTextResponse("shutting down", 503)


@router.get("/metrics")
async def metrics(serving: Served) -> Response:
    """Return the figures for Prometheus."""
    return Response(serving.metrics.text(), media_type=CONTENT_TYPE_LATEST)


@router.get("/v1/models")
async def models(serving: Served) -> dict[str, Any]:
    """List the model that is served, and the name that it has with every server."""
    return {"object": "list", "data": [_model(name) for name in (serving.model, DEFAULT)]}


@router.get("/v1/models/{name:path}")
async def model(name: str, serving: Served) -> dict[str, Any]:
    """Tell that a model is served. Raises RequestError for another."""
    serving.check_model(name)
    return _model(name)


def _model(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 0, "owned_by": "structured"}


@router.post("/v1/chat/completions")
async def chat(asked: ChatRequest, request: Request, serving: Served) -> Any:
    """Answer a chat, as OpenAI's API does."""
    form = ChatAnswers(serving.model, serving.running.vocabulary, asked.logprobs, tool=asked.called_tool)
    tokens = serving.max_tokens(asked.max_completion_tokens, asked.max_tokens)
    messages = turns_of(asked.messages)
    return await _written(request, serving, asked, form=form, documents=[messages] * asked.n, max_tokens=tokens)


@router.post("/v1/completions")
async def complete(asked: CompletionRequest, request: Request, serving: Served) -> Any:
    """Complete a text, as OpenAI's API does."""
    form = CompletionAnswers(serving.model, serving.running.vocabulary, asked.logprobs is not None)
    prompts = [asked.prompt] if isinstance(asked.prompt, str) else asked.prompt
    documents = [prompt for prompt in prompts for _ in range(asked.n)]
    tokens = serving.max_tokens(asked.max_tokens)
    return await _written(request, serving, asked, form=form, documents=documents, max_tokens=tokens)


async def _written(  # noqa: PLR0913  what both endpoints have
    request: Request,
    serving: Serving,
    asked: Sampling,
    *,
    form: AnswerForm,
    documents: Sequence[TextOrChat],
    max_tokens: int,
) -> Any:
    """Return the answer to a request, whole or as a stream. Raises RequestError."""
    serving.check_model(asked.model)
    serving.check_documents(len(documents))
    serving.check_size(asked)
    if asked.stream and len(documents) > 1:
        raise RequestError(400, "A stream has one answer. Leave out n, or stream.", parameter="n")

    def question() -> Question:
        return _question(serving, asked, documents, sampling_options(asked, max_tokens))

    if not asked.stream:
        return JSONResponse(form.whole(*await serving.work.done(request, lambda: question().texts())))
    with_usage = bool((asked.stream_options or {}).get("include_usage"))
    return EventStream(*await serving.work.streamed(request, lambda: _chunks(question(), form, with_usage=with_usage)))


def _question(serving: Serving, asked: Sampling, documents: Sequence[TextOrChat], options: Options) -> Question:
    """Return what is asked of the model. Raises RequestError."""

    def wanted() -> Any:
        return wanted_of(asked, serving.limits) or free_text(asked.stops, serving.limits)

    is_free, tool, otherwise = not asked.constraints, None, None
    if isinstance(asked, ChatRequest) and asked.uses_tools:
        is_free, tool = False, asked.called_tool
        if asked.may_answer:
            otherwise = _question(serving, asked.model_copy(update={"tool_choice": "none"}), documents, options)
        options = {**options, "layout": JsonLayout(optional_properties="omittable")}
    extractor = serving.extractors.find(asked.constraint_key, wanted, options)
    held_back = max(map(len, asked.stops), default=0)
    return Question(
        extractor,
        documents,
        serving.metrics,
        asked.n,
        is_free=is_free,
        held_back=held_back,
        tool=tool,
        otherwise=otherwise,
    )


def _chunks(question: Question, form: AnswerForm, *, with_usage: bool) -> Iterator[str]:
    """Yield the events of a stream; what goes wrong in the middle is the last one. Raises RequestError before that."""
    has_begun = False
    try:
        for piece in question.streamed():
            begin = None if has_begun else form.begin()
            has_begun = True
            if begin is not None:
                yield event(form.chunk(begin))
            if isinstance(piece, str):
                if piece:
                    yield event(form.chunk(form.piece(piece)))
                continue
            written, prompt_tokens = piece
            yield event(form.chunk(form.end(written)))
            if with_usage:
                yield event(form.last(written, prompt_tokens))
    except RequestError as error:
        if not has_begun:
            raise
        yield event(error.body())
    yield DONE


class EventStream(StreamingResponse):
    """Server-sent events; where the client goes, whoever makes them is told."""

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
async def extract(asked: ExtractRequest, request: Request, serving: Served) -> Response:
    """Extract values from a document, or from several: one that fails does not cost the others."""
    documents = asked.documents or ()
    serving.check_documents(len(documents))

    def wanted() -> Any:
        if asked.type is None:
            return schema_type(asked.schema_ if asked.schema_ is not None else True, serving.limits)
        if asked.type not in serving.types:
            known = ", ".join(sorted(serving.types)) or "there is none"
            raise RequestError(404, f"There is no type {asked.type!r} here; known: {known}.", parameter="type")
        return serving.types[asked.type]

    if asked.text is not None:
        return await _result(request, serving, asked, wanted, asked.text)
    results = await _results(request, serving, asked, wanted, documents)
    return response_of_all(results, evidence=asked.evidence)


@router.post("/v1/choose")
async def choose(asked: ChooseRequest, request: Request, serving: Served) -> Response:
    """Choose one of some texts."""
    return await _result(request, serving, asked, lambda: choice_type(asked.choices, serving.limits), asked.text)


@router.post("/v1/regex")
async def match(asked: RegexRequest, request: Request, serving: Served) -> Response:
    """Write a text that a regular expression matches as a whole."""

    def wanted() -> Any:
        return regex_type(asked.regex, serving.limits, asked.dialect)

    return await _result(request, serving, asked, wanted, asked.text)


@router.post("/v1/grammar")
async def derive(asked: GrammarRequest, request: Request, serving: Served) -> Response:
    """Write a text of a grammar."""

    def wanted() -> Any:
        return grammar_type(asked.grammar, serving.limits, asked.start)

    return await _result(request, serving, asked, wanted, asked.text)


async def _result(request: Request, serving: Serving, asked: Asked, wanted: Callable[[], Any], text: str) -> Response:
    """Return the answer for one text. Raises RequestError."""
    [result] = await _results(request, serving, asked, wanted, [text])
    return response_of(result, evidence=asked.evidence)


async def _results(
    request: Request, serving: Serving, asked: Asked, wanted: Callable[[], Any], texts: Sequence[str]
) -> list[Result[Any]]:
    """Return the result for each text. Raises RequestError for what is wrong with all."""
    serving.check_model(asked.model)
    serving.check_size(asked)
    options = library_options(asked, serving.max_tokens(asked.max_tokens))

    def answer() -> list[Result[Any]]:
        extractor = serving.extractors.find(asked.constraint_key, wanted, options)
        results, _ = Question(extractor, texts, serving.metrics).results()
        return results

    return await serving.work.done(request, answer)
