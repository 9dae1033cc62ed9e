"""The state of a server: the running batch, the extractors and the metrics that all of its requests share."""

import os
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from fastapi import Request
from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from structured.decoding.generate import drop_indexes
from structured.decoding.running_batch import RunningBatch
from structured.errors import ModelError, StructuredError
from structured.extraction.batch_state import failed_result
from structured.extraction.events import AttemptWritten
from structured.extraction.extractor import Extractor
from structured.extraction.options import Options
from structured.extraction.prompts import TextOrChat
from structured.integrations.replies import Reply, Responder
from structured.integrations.server.limits import Admission, Limits, RequestThreads
from structured.integrations.server.request_errors import RequestError
from structured.integrations.server.responses import Piece
from structured.models.load import PACKAGED_ID, PACKAGED_NAME
from structured.results.result import Result

SHARED_METRICS = "PROMETHEUS_MULTIPROC_DIR"
"""The environment variable of the folder in which processes share what they count: that of the metrics' library."""


class Metrics:
    """The metrics of one server, or of all workers of a server, whose counters are added up."""

    def __init__(self, batch: RunningBatch, admission: Admission) -> None:
        registry = self.registry = CollectorRegistry()
        self.requests = Counter(
            "structured_requests", "Requests, by path and status.", ("path", "status"), registry=registry
        )
        self.seconds = Histogram(
            "structured_request_seconds",
            "From the request to the end of the answer.",
            ("path",),
            registry=registry,
            buckets=(0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300),
        )
        kinds = "Tokens: of prompts, sampled, and known without the model."
        self.tokens = Counter("structured_tokens", kinds, ("kind",), registry=registry)
        self.current = _CurrentGauges(batch, admission)

    def text(self) -> bytes:
        """Return all metrics in Prometheus's text format."""
        counters, gauges = self.registry, CollectorRegistry()
        if SHARED_METRICS in os.environ:
            counters = CollectorRegistry()
            MultiProcessCollector(counters)  # type: ignore[no-untyped-call]
        gauges.register(self.current)
        return generate_latest(counters) + generate_latest(gauges)


class _CurrentGauges(Collector):
    """Gauges of the texts and requests at the moment of collection; those of a worker have its process as a label."""

    def __init__(self, batch: RunningBatch, admission: Admission) -> None:
        self.batch, self.admission = batch, admission

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Yield the gauges."""
        values: Iterable[tuple[str, str, int]] = (
            ("structured_live_texts", "Texts in the batch.", self.batch.live),
            ("structured_waiting_texts", "Texts that wait for the batch.", self.batch.waiting),
            ("structured_waiting_requests", "Requests that wait for their turn.", self.admission.waiting),
        )
        labels = {"worker": str(os.getpid())} if SHARED_METRICS in os.environ else {}
        for name, help_text, value in values:
            gauge = GaugeMetricFamily(name, help_text, labels=list(labels))
            gauge.add_metric(list(labels.values()), value)
            yield gauge


@dataclass(slots=True)
class TokenMetrics:
    """A listener that counts the tokens of requests, for the metrics of the server."""

    metrics: Metrics

    def __call__(self, event: object) -> None:
        """Count an attempt that has been written."""
        if isinstance(event, AttemptWritten):
            self.metrics.tokens.labels("prompt").inc(event.prompt_tokens)
            for generation in event.generations:
                self.metrics.tokens.labels("sampled").inc(generation.diagnostics.sampled)
                self.metrics.tokens.labels("forced").inc(generation.diagnostics.forced)


def total_of_prompts(replies: Sequence[Reply], copies: int = 1) -> int:
    """Return the tokens of all prompts. A prompt of which there are `copies`, one behind another, counts once."""
    return sum(reply.result.usage.prompt_tokens for reply in replies[::copies])


MAX_EXTRACTORS = 256
"""Extractors that are kept: most requests have the type and the prompt of others, for other texts."""

MAX_EXTRACTOR_BYTES = 1 << 27
"""Bytes that the kept extractors may take when another is made, each with all of its index."""

_PREPARATION_OPTIONS = frozenset({"instructions", "system", "grounded", "layout"})
"""Options that an extractor is prepared with; others, such as the temperature, apply to a prepared one."""


class Extractors:
    """The extractors of a server by the types and prompts of requests; the least recently used go first.

    A type is prepared once, whatever the seed, the temperature and the tokens of its requests. The threads of requests
    share the dict of those that are kept, of which each single operation is atomic.
    """

    def __init__(self, batch: RunningBatch) -> None:
        self.batch = batch
        self._extractors: dict[Hashable, Extractor[Any]] = {}

    def find(self, key: Hashable, make_type: Callable[[], Any], options: Options) -> Extractor[Any]:
        """Return an extractor with some options; the key says all that its type and its prompt depend on."""
        preparation: dict[str, Any] = {name: value for name, value in options.items() if name in _PREPARATION_OPTIONS}
        sampling: dict[str, Any] = {name: value for name, value in options.items() if name not in _PREPARATION_OPTIONS}
        extractor = self._extractors.get(key)
        if extractor is None:
            extractor = Extractor[Any](make_type(), model=self.batch, **preparation)
            self._evict()
        self._extractors.pop(key, None)
        self._extractors[key] = extractor  # as the last one
        return extractor.with_options(**sampling)

    def _evict(self) -> None:
        """Drop those that were not asked for lately, while there are too many or they take too much memory."""
        sizes = {key: extractor.memory for key, extractor in self._extractors.copy().items()}
        total, surplus = sum(sizes.values()), len(sizes) + 1 - MAX_EXTRACTORS
        if total > MAX_EXTRACTOR_BYTES:
            drop_indexes()  # those that stay have their indexes themselves
        for key, size in sizes.items():
            if surplus <= 0 and total <= MAX_EXTRACTOR_BYTES:
                break
            total, surplus = total - size, surplus - 1
            self._extractors.pop(key, None)


def results_of(extractor: Extractor[Any], documents: Sequence[TextOrChat]) -> list[Result[Any]]:
    """Return the result for each document; where the model fails, its error is that of each that is not finished."""
    results: dict[int, Result[Any]] = {}
    noun = "the text" if len(documents) == 1 else None
    try:
        for result in extractor.results(documents, progress=False, document_name=noun):
            results[result.position] = result
    except ModelError as error:
        unfinished = [place for place in range(len(documents)) if place not in results]
        results |= {place: failed_result(place, documents[place], error) for place in unfinished}
    return [results[place] for place in range(len(documents))]


def pieces_of(responder: Responder, document: TextOrChat) -> Iterator[Piece]:
    """Yield the pieces of a reply, and last the whole. Raises RequestError, also in the middle."""
    try:
        for piece in responder.stream(document):
            yield piece if isinstance(piece, str) else (piece, total_of_prompts([piece]))
    except StructuredError as error:
        raise RequestError.of(error) from error


MESSAGE_CHARACTERS = 16
"""Characters that a message of a chat counts as, beside its content."""


@dataclass(slots=True)
class ServerState:
    """The state of a running server, which FastAPI injects into the routes."""

    batch: RunningBatch
    limits: Limits
    types: Mapping[str, Any]
    threads: RequestThreads = field(init=False)
    metrics: Metrics = field(init=False)
    extractors: Extractors = field(init=False)

    default_model: ClassVar = "default"
    """The name that the model has on every server."""

    def __post_init__(self) -> None:
        self.extractors = Extractors(self.batch)
        self.threads = RequestThreads(self.limits)
        self.metrics = Metrics(self.batch, self.threads.admission)

    @classmethod
    async def of(cls, request: Request) -> "ServerState":  # FastAPI takes a thread for a plain function
        """Return the state of the application that a request came to. Raises RequestError if it was not started."""
        server: ServerState | None = getattr(request.app.state, "server", None)
        if server is None:
            raise RequestError(
                503,
                "The model is not loaded: the application has not been started. Where it is mounted, let the lifespan "
                "of the outer application enter app.router.lifespan_context(app).",
            )
        return server

    @property
    def model(self) -> str:
        """The name of the model in requests."""
        return PACKAGED_ID if self.batch.name == PACKAGED_NAME else self.batch.name

    def check_model(self, name: str | None) -> None:
        """Raise RequestError if a request names another model than the one that is served."""
        if name not in (None, "", self.default_model, self.model, self.batch.name):
            problem = f"The model {name!r} is not served here; {self.model!r} is, also as {self.default_model!r}."
            raise RequestError(404, problem, parameter="model", code="model_not_found")

    def type(self, name: str) -> Any:
        """Return a type of the server. Raises RequestError if there is none of that name."""
        if name not in self.types:
            names = ", ".join(sorted(self.types)) or "there is none"
            raise RequestError(404, f"There is no type {name!r} here; known: {names}.", parameter="type")
        return self.types[name]

    def check_documents(self, count: int) -> None:
        """Raise RequestError if a request has too many texts."""
        if count > self.limits.documents:
            raise RequestError(413, f"{count:,} texts are asked for; {self.limits.documents:,} are taken at a time.")

    def check_size(self, documents: Sequence[TextOrChat]) -> None:
        """Raise RequestError if the texts of a request are longer than is taken."""
        messages = [message for document in documents if not isinstance(document, str) for message in document]
        texts = [document for document in documents if isinstance(document, str)]
        texts += [str(message["content"]) for message in messages]
        count, limit = sum(map(len, texts)) + MESSAGE_CHARACTERS * len(messages), self.limits.characters
        if count > limit:
            raise RequestError(413, f"The texts have {count:,} characters; {limit:,} are taken at a time.")

    def max_tokens(self, **members: int | None) -> int:
        """Return how many tokens an answer may have, by the first member that says so. Raises RequestError beyond."""
        limit = self.limits.max_tokens
        name, tokens = next(((name, number) for name, number in members.items() if number is not None), ("", limit))
        if tokens > limit:
            problem = f"{name} is {tokens:,}; an answer has at most {limit:,} tokens here."
            raise RequestError(400, problem, parameter=name)
        return tokens
