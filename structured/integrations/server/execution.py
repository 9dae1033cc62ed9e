"""Execution: the questions of requests, answered by the running batch that all requests share, and its figures."""

import os
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from fastapi import Request
from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from structured.decoding.generate import drop_indexes
from structured.decoding.running_batch import RunningBatch
from structured.errors import ModelError, StructuredError
from structured.errors.calling_line import without_warnings
from structured.extraction.batch_state import failed_result
from structured.extraction.events import AttemptWritten
from structured.extraction.extractor import Extractor
from structured.extraction.options import Options
from structured.extraction.prompts import TextOrChat
from structured.integrations.questions import Question, Reply
from structured.integrations.server.limits import Admission, Limits, Work
from structured.integrations.server.request_bodies import GenerationRequest, LibraryRequest
from structured.integrations.server.request_errors import RequestError
from structured.integrations.server.responses import Piece
from structured.models.load import PACKAGED_ID, PACKAGED_NAME
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

    def total(self, answers: Sequence[Reply], repeated: int = 1) -> int:
        """Return the tokens of all prompts; that of so many answers, one behind another, is counted once."""
        merged = [answer.result for answer in answers if answer.generation.served is not None]
        tokens = self.tokens | {result.position: result.usage.prompt_tokens for result in merged}
        return sum(count for position, count in tokens.items() if position % repeated == 0)


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
            drop_indexes()  # those that stay have their indexes themselves
        for key, size in sizes.items():
            if surplus <= 0 and total <= MAX_MEMORY:
                break
            total, surplus = total - size, surplus - 1
            self._kept.pop(key, None)


def results_of(extractor: Extractor[Any], documents: Sequence[TextOrChat]) -> list[Result[Any]]:
    """Return the result for each document; where the model fails, its error is that of each that is not finished.

    Raises RequestError if the question is wrong.
    """
    known: dict[int, Result[Any]] = {}
    named = "the text" if len(documents) == 1 else None
    with refusals():
        try:
            known.update((one.position, one) for one in extractor.results(documents, progress=False, named=named))
        except ModelError as error:
            unfinished = [place for place in range(len(documents)) if place not in known]
            known |= {place: failed_result(place, documents[place], error) for place in unfinished}
    return [known[place] for place in range(len(documents))]


def answers_to(question: Question, documents: Sequence[TextOrChat]) -> list[Reply]:
    """Return the answer about each document. Raises RequestError."""
    with refusals():
        return question.answers(documents)


def pieces_of(question: Question, document: TextOrChat, prompts: Prompts) -> Iterator[Piece]:
    """Yield the pieces of an answer, and last the whole. Raises RequestError, also in the middle."""
    with refusals():
        for piece in question.streamed(document):
            yield piece if isinstance(piece, str) else (piece, prompts.total([piece]))


@contextmanager
def refusals() -> Iterator[None]:
    """Answer errors of the library with RequestError, and leave out warnings, of which an answer has marks."""
    with without_warnings():
        try:
            yield
        except StructuredError as error:
            raise RequestError.of(error) from error


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
