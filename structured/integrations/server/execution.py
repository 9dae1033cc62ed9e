"""Execution: the questions of requests, answered by the running batch that all requests share, and its figures."""

import os
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from fastapi import Request
from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from structured.decoding.generate import forget
from structured.decoding.requests import Generation, Served
from structured.decoding.running_batch import RunningBatch
from structured.errors import ModelError, StructuredError
from structured.errors.calling_line import without_warnings
from structured.extraction.batch_state import failed_result
from structured.extraction.events import AttemptWritten
from structured.extraction.extractor import Extractor
from structured.extraction.options import Options
from structured.extraction.prompts import TextOrChat
from structured.integrations.server.limits import Admission, Limits, Work
from structured.integrations.server.request_bodies import GenerationRequest, LibraryRequest
from structured.integrations.server.request_errors import RequestError
from structured.integrations.server.responses import Written, openai_call
from structured.models.load import PACKAGED_ID, PACKAGED_NAME
from structured.output_types.call_types import FunctionType, ToolType
from structured.output_types.functions import Call
from structured.results.result import Result

SHARED_METRICS = "PROMETHEUS_MULTIPROC_DIR"
"""The environment variable of the folder in which processes share what they count: that of the metrics' library."""


class Metrics:
    """The figures of one server, or of all workers of a server: what they count is added up."""

    def __init__(self, running: RunningBatch, admission: Admission) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "structured_requests", "Requests, by path and status.", ("path", "status"), registry=self.registry
        )
        self.seconds = Histogram(
            "structured_request_seconds",
            "From the request to the end of the answer.",
            ("path",),
            registry=self.registry,
            buckets=(0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300),
        )
        self.tokens = Counter(
            "structured_tokens", "Tokens: of prompts, sampled, and known without the model.", ("kind",),
            registry=self.registry,
        )  # fmt: skip
        self.now = _Now(running, admission)

    def text(self) -> bytes:
        """Return all figures in Prometheus's text format."""
        counted, now = self.registry, CollectorRegistry()
        if SHARED_METRICS in os.environ:
            counted = CollectorRegistry()
            MultiProcessCollector(counted)  # type: ignore[no-untyped-call]
        now.register(self.now)
        return generate_latest(counted) + generate_latest(now)


class _Now(Collector):
    """Gauges of the texts and requests at the moment of collection; those of a worker have its process as a label."""

    def __init__(self, running: RunningBatch, admission: Admission) -> None:
        self.running, self.admission = running, admission

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Yield the gauges."""
        figures: Iterable[tuple[str, str, int]] = (
            ("structured_live_texts", "Texts in the batch.", self.running.live),
            ("structured_waiting_texts", "Texts that wait for the batch.", self.running.waiting),
            ("structured_waiting_requests", "Requests that wait for their turn.", self.admission.waiting),
        )
        labels = {"worker": str(os.getpid())} if SHARED_METRICS in os.environ else {}
        for name, what, number in figures:
            gauge = GaugeMetricFamily(name, what, labels=list(labels))
            gauge.add_metric(list(labels.values()), number)
            yield gauge


@dataclass(slots=True)
class Prompts:
    """The tokens of the prompts of a request, and the figures of all that is written for it."""

    metrics: Metrics
    tokens: dict[int, int] = field(default_factory=dict)
    """Those of the prompt of each text, in its last attempt."""

    def __call__(self, event: object) -> None:
        """Count an attempt that has been written."""
        if isinstance(event, AttemptWritten):
            self.tokens[event.position] = event.prompt_tokens
            self.metrics.tokens.labels("prompt").inc(event.prompt_tokens)
            for generation in event.generations:
                self.metrics.tokens.labels("sampled").inc(generation.diagnostics.sampled)
                self.metrics.tokens.labels("forced").inc(generation.diagnostics.forced)

    def total(self, answers: int = 1) -> int:
        """Return the tokens of all prompts; that of so many answers, one behind another, is counted once."""
        return sum(tokens for position, tokens in self.tokens.items() if position % answers == 0)


MAX_EXTRACTORS = 256
"""Extractors that are kept: most requests have the type and the prompt of others, for other texts."""

MAX_MEMORY = 1 << 27
"""Bytes that the kept extractors may take when another is made, each with all of its index."""

_SHAPING = frozenset({"instructions", "system", "grounded", "layout"})
"""Options that a type and its prompt depend on."""


class Extractors:
    """The extractors of a server by the types and prompts of requests; the least recently used go first.

    A type is prepared once, whatever the seed, the temperature and the tokens of its requests. The threads of requests
    share the dict of those that are kept, of which each single operation is atomic.
    """

    def __init__(self, running: RunningBatch) -> None:
        self.running = running
        self._kept: dict[Hashable, Extractor[Any]] = {}

    def find(self, key: Hashable, make_type: Callable[[], Any], options: Options) -> Extractor[Any]:
        """Return an extractor with some options, of the type of a key.

        The key says all that the type and the prompt depend on. What is new is made.
        """
        shaping: dict[str, Any] = {name: value for name, value in options.items() if name in _SHAPING}
        sampling: dict[str, Any] = {name: value for name, value in options.items() if name not in _SHAPING}
        with without_warnings():
            extractor = self._kept.get(key)
            if extractor is None:
                extractor = Extractor[Any](make_type(), model=self.running, **shaping)
                self._make_room()
            self._kept.pop(key, None)
            self._kept[key] = extractor  # as the last one
            return extractor.with_options(**sampling)

    def _make_room(self) -> None:
        """Drop those that were not asked for lately, while there are too many or they take too much memory."""
        sizes = {key: extractor.memory for key, extractor in self._kept.copy().items()}
        total, surplus = sum(sizes.values()), len(sizes) + 1 - MAX_EXTRACTORS
        if total > MAX_MEMORY:
            forget()  # those that stay have their indexes themselves
        for key, size in sizes.items():
            if surplus <= 0 and total <= MAX_MEMORY:
                break
            total, surplus = total - size, surplus - 1
            self._kept.pop(key, None)


@dataclass(frozen=True, slots=True)
class Question:
    """The documents and the type of a request, answered by the model."""

    extractor: Extractor[Any]
    documents: Sequence[TextOrChat]
    metrics: Metrics
    answers: int = 1
    """How many documents, one behind another, are the same: one prompt, to which so many answers are written."""
    is_free: bool = False
    """Whether the answer is free text: then the request has the whole prompt, and the library adds nothing."""
    held_back: int = 0
    """The characters at the end of a stream that may be those of a stop phrase."""
    tool: str | None = None
    """The tool that is called, whose arguments are the answer."""
    calls_at_most: int | None = None
    """How many of the calls count, the first ones; None for all."""
    otherwise: "Question | None" = None
    """The question in place of this one where the answer is an empty list of calls."""

    @property
    def is_call(self) -> bool:
        """Whether the answer is calls of tools, which are not shown before they are whole."""
        return isinstance(self.extractor.output_type, FunctionType | ToolType)

    def results(self) -> tuple[list[Result[Any]], Prompts]:
        """Return the result for each document, and the tokens of the prompts.

        Where the model fails, its error is that of each document that is not finished. Raises RequestError if the
        question is wrong.
        """
        prompts = Prompts(self.metrics)
        known: dict[int, Result[Any]] = {}
        with without_warnings():
            try:
                named = "the text" if len(self.documents) == 1 else None
                results = self._observed(prompts).results(self.documents, progress=False, named=named)
                known.update((result.position, result) for result in results)
            except ModelError as error:
                unfinished = [place for place in range(len(self.documents)) if place not in known]
                known |= {place: failed_result(place, self.documents[place], error) for place in unfinished}
            except StructuredError as error:
                raise RequestError.of(error) from error
        return [known[place] for place in range(len(self.documents))], prompts

    def texts(self) -> tuple[list[Written], int]:
        """Return the answer to each document, and the tokens of the prompts. Raises RequestError."""
        results, prompts = self.results()
        for result in results:
            if result.error is not None:
                raise RequestError.of(result.error) from result.error
        written = [self._written(result, prompts) for result in results]
        uncalled = [position for position, one in enumerate(written) if not one.calls]
        if self.otherwise is None or not uncalled:
            return written, prompts.total(self.answers)
        documents = [self.documents[position] for position in uncalled]
        others, prompt_tokens = replace(self.otherwise, documents=documents).texts()
        for position, other in zip(uncalled, others, strict=True):
            written[position] = other
        return written, prompt_tokens

    def streamed(self) -> Iterator[str | tuple[Written, int]]:
        """Yield the pieces of the text, and last the whole with the tokens of the prompt; only the last, of a call.

        Raises RequestError, also in the middle.
        """
        shown = ""
        prompts = Prompts(self.metrics)
        with without_warnings():
            try:
                stream = self._observed(prompts).stream(self.documents[0])
                for _ in stream:
                    known = "" if self.is_call else stream.text[: max(len(stream.text) - self.held_back, 0)]
                    yield known[len(shown) :]
                    shown = known or shown
                written = self._written(stream.result(), prompts)
            except StructuredError as error:
                raise RequestError.of(error) from error
        if self.otherwise is not None and not written.calls:
            yield from self.otherwise.streamed()
            return
        yield "" if self.is_call else written.text[len(shown) :]
        yield written, prompts.total()

    def _written(self, result: Result[Any], prompts: Prompts) -> Written:
        """Return an answer; of free text, the part before the stop phrase."""
        value = result.value
        if result.generations:
            generation = result.generations[0]
        else:  # merged from those of the chunks of a text that is longer than the context
            cost = result.usage.sampled_tokens + result.usage.forced_tokens
            prompts.tokens[result.position] = result.usage.prompt_tokens
            generation = Generation(result.text or "", (), 0.0, shortened=False, served=Served(tokens=cost))
        calls = calls_of(value) if self.tool is None else [openai_call(self.tool, generation.text)]
        calls = calls and calls[: self.calls_at_most]
        return Written(value if self.is_free else generation.text, generation, calls, is_free=self.is_free)

    def _observed(self, prompts: Prompts) -> Extractor[Any]:
        """Return the extractor that reports its prompts; with free text, one that adds nothing to them."""
        extractor = self.extractor.with_options(observe=prompts)
        return extractor.verbatim() if self.is_free else extractor


def calls_of(value: object) -> list[dict[str, Any]] | None:
    """Return calls as entries of `tool_calls`; None for another value."""
    if isinstance(value, Call):
        return [value.to_openai()]
    if isinstance(value, list) and value and all(isinstance(one, Call) for one in value):
        return [one.to_openai() for one in value]
    return None


DEFAULT = "default"
"""The name that the model has on every server."""


@dataclass(slots=True)
class Serving:
    """A running server."""

    running: RunningBatch
    limits: Limits
    types: Mapping[str, Any]
    work: Work = field(init=False)
    metrics: Metrics = field(init=False)
    extractors: Extractors = field(init=False)

    def __post_init__(self) -> None:
        self.extractors = Extractors(self.running)
        self.work = Work(self.limits)
        self.metrics = Metrics(self.running, self.work.admission)

    @classmethod
    async def of(cls, request: Request) -> "Serving":
        """Return that of the application that a request came to. FastAPI takes a thread for a plain function.

        Raises RequestError if the application has not been started.
        """
        found: Serving | None = getattr(request.app.state, "serving", None)
        if found is None:
            raise RequestError(
                503,
                "The model is not loaded: the application has not been started. Where it is mounted, let the lifespan "
                "of the outer application enter app.router.lifespan_context(app).",
            )
        return found

    @property
    def is_ready(self) -> bool:
        """Whether requests are taken."""
        return not self.work.admission.is_closed

    @property
    def model(self) -> str:
        """The name of the model in requests."""
        return PACKAGED_ID if self.running.name == PACKAGED_NAME else self.running.name

    def check_model(self, name: str | None) -> None:
        """Raise RequestError if a request names another model than the one that is served."""
        if name not in (None, "", DEFAULT, self.model, self.running.name):
            raise RequestError(
                404, f"The model {name!r} is not served here; {self.model!r} is.", parameter="model",
                code="model_not_found",
            )  # fmt: skip

    def type(self, name: str) -> Any:
        """Return a type of the server. Raises RequestError if there is none of that name."""
        if name not in self.types:
            known = ", ".join(sorted(self.types)) or "there is none"
            raise RequestError(404, f"There is no type {name!r} here; known: {known}.", parameter="type")
        return self.types[name]

    def check_documents(self, count: int) -> None:
        """Raise RequestError if a request has too many texts."""
        if count > self.limits.documents:
            raise RequestError(413, f"{count:,} texts are asked for; {self.limits.documents:,} are taken at a time.")

    def check_size(self, body: GenerationRequest | LibraryRequest) -> None:
        """Raise RequestError if the texts of a request are longer than is taken."""
        count, most = body.characters, self.limits.characters
        if count > most:
            raise RequestError(413, f"The texts have {count:,} characters; {most:,} are taken at a time.")

    def max_tokens(self, **members: int | None) -> int:
        """Return how many tokens an answer may have, by the first member that says so. Raises RequestError beyond."""
        limit = self.limits.max_tokens
        name, tokens = next(((name, number) for name, number in members.items() if number is not None), ("", limit))
        if tokens > limit:
            raise RequestError(
                400, f"{name} is {tokens:,}; an answer has at most {limit:,} tokens here.", parameter=name
            )
        return tokens

    def close(self) -> None:
        """Take no more requests, and finish those that run."""
        self.work.close()
