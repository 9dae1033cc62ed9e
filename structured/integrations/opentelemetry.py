"""Traces and metrics of OpenTelemetry, from the events of a call, by its semantic conventions for generative AI.

The conventions are in development, and name what one request to a model is. An attempt at a document is one: its span
is named and described by them, and so are the metrics. Around it are a span of the document and one of the batch. Times
are those of the events. No span is made the current one, since a batch has many documents under way at once; the
batch's own parent is the span that is current where the call is made.

Source: https://opentelemetry.io/docs/specs/semconv/gen-ai/
"""

import json
import time
from functools import partial
from threading import Lock
from typing import Any

try:
    from opentelemetry import metrics, trace
except ImportError as error:
    problem = "Traces need the package opentelemetry-api. Install it: pip install 'structured-extraction[otel]'."
    raise ImportError(problem) from error
from opentelemetry.metrics import Meter
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, Tracer

from structured.errors.arguments import flag
from structured.extraction.events import AttemptWritten, BatchEnded, BatchStarted, DocumentDone, DocumentStarted, Event

PROVIDER = "structured"
"""The provider, in the terms of the conventions: the model runs in this process."""

SECONDS_BOUNDS = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92)
"""The bounds of the histogram of durations, as the conventions advise."""

TOKEN_BOUNDS = tuple(4**power for power in range(14))
"""The bounds of the histogram of tokens: likewise."""


class Traces:
    """A listener that turns the events of calls into spans and metrics of OpenTelemetry.

        from structured.integrations.opentelemetry import Traces

        extractor = Extractor(Person, observe=Traces())

    One serves any number of calls, in any threads. Without an SDK that is set up, nothing is recorded.

    Parameters:
        tracer: What makes the spans. Default: that of the global provider.
        meter: What makes the metrics `gen_ai.client.operation.duration`, in seconds, and `gen_ai.client.token.usage`.
            Default: likewise.
        contents: Whether spans have the texts of documents and answers. Default: False; they then name documents by
            their ids and errors by their classes.

    Raises:
        ImportError: opentelemetry-api is not installed (when the module is imported).
    """

    def __init__(self, tracer: Tracer | None = None, meter: Meter | None = None, *, contents: bool = False) -> None:
        self._constructor = partial(Traces, tracer, meter, contents=flag("contents", contents))
        self.contents = contents
        self.tracer = tracer or trace.get_tracer("structured")
        meter = meter or metrics.get_meter("structured")
        self.duration = meter.create_histogram(
            "gen_ai.client.operation.duration",
            unit="s",
            description="GenAI operation duration.",
            explicit_bucket_boundaries_advisory=SECONDS_BOUNDS,
        )
        self.usage = meter.create_histogram(
            "gen_ai.client.token.usage",
            unit="{token}",
            description="Number of input and output tokens used.",
            explicit_bucket_boundaries_advisory=TOKEN_BOUNDS,
        )
        self._batches: dict[int, _Batch] = {}
        self._lock = Lock()

    def __repr__(self) -> str:
        return f"Traces(contents={self.contents})"

    def __reduce__(self) -> tuple[Any, ...]:
        return self._constructor, ()

    def __call__(self, event: Event) -> None:
        """Start or end the span of an event."""
        match event:
            case BatchStarted():
                batch = _Batch(self, event)
                with self._lock:
                    self._batches[event.batch] = batch
            case BatchEnded():
                with self._lock:
                    batch = self._batches.pop(event.batch)
                batch.end(event)
            case _:
                self._batches[event.batch].take(event)


class _Batch:
    """The spans of a batch that is under way."""

    def __init__(self, traces: Traces, event: BatchStarted) -> None:
        self._traces = traces
        self._clock_offset = time.time() - time.perf_counter()
        """Seconds from the clock of the events to that of the world."""
        attributes = {} if event.total is None else {"structured.batch.total": event.total}
        self._span = traces.tracer.start_span("extract batch", attributes=attributes, start_time=self._at(event.time))
        self._documents: dict[int, tuple[Span, DocumentStarted]] = {}
        """Those that are under way."""

    def take(self, event: DocumentStarted | AttemptWritten | DocumentDone) -> None:
        """Record an event of a document."""
        match event:
            case DocumentStarted(position):
                self._documents[position] = self._start_document(event), event
            case AttemptWritten(position):
                self._record_attempt(event, *self._documents[position])
            case DocumentDone(position, result):
                span, _ = self._documents.pop(position)
                if result.error is None:
                    span.set_attribute("structured.document.shortened", event.shortened)
                self._end(span, event.time, result.error)

    def end(self, event: BatchEnded) -> None:
        """End the batch and its open documents."""
        for span, _ in self._documents.values():
            self._end(span, event.time, event.error)
        progress = event.progress
        figures = {"read": progress.read, "done": progress.done, "failed": progress.failed}
        self._span.set_attributes({f"structured.batch.{name}": figure for name, figure in figures.items()})
        self._end(self._span, event.time, event.error)

    def _end(self, span: Span, seconds: float, error: BaseException | None) -> None:
        """End a span, with the error that what it spans ended with."""
        if error is not None:
            span.set_attribute("error.type", _error_type(error))
            span.set_status(Status(StatusCode.ERROR, str(error) if self._traces.contents else None))
        span.end(self._at(seconds))

    def _start_document(self, event: DocumentStarted) -> Span:
        attributes: dict[str, Any] = {
            "structured.document.position": event.position,
            "structured.document.id": event.id,
            "structured.output_type": event.output_type,
        }
        start, parent = self._at(event.time), trace.set_span_in_context(self._span)
        return self._traces.tracer.start_span("extract document", parent, attributes=attributes, start_time=start)

    def _record_attempt(self, attempt: AttemptWritten, document_span: Span, document: DocumentStarted) -> None:
        """Record an attempt at a document as a request to the model."""
        rejected = attempt.rejected
        written_texts, rejected_texts = ({one.text for one in texts} for texts in (attempt.generations, rejected))
        failure = rejected[0].error if rejected and written_texts <= rejected_texts else None
        request: dict[str, Any] = {
            "gen_ai.operation.name": "chat" if document.is_chat else "text_completion",
            "gen_ai.provider.name": PROVIDER,
            "gen_ai.request.model": document.model,
        }
        span = self._traces.tracer.start_span(
            f"{request['gen_ai.operation.name']} {document.model}",
            trace.set_span_in_context(document_span),
            SpanKind.INTERNAL,
            request | self._response(attempt),
            start_time=self._at(attempt.time - attempt.seconds),
        )
        self._end(span, attempt.time, failure)
        error = {} if failure is None else {"error.type": _error_type(failure)}
        context = trace.set_span_in_context(span)
        self._traces.duration.record(attempt.seconds, request | error, context)
        for kind, tokens in (("input", attempt.prompt_tokens), ("output", attempt.tokens)):
            self._traces.usage.record(tokens, request | {"gen_ai.token.type": kind}, context)

    def _response(self, attempt: AttemptWritten) -> dict[str, Any]:
        reasons = ["length" if generation.shortened else "stop" for generation in attempt.generations]
        attributes: dict[str, Any] = {
            "gen_ai.response.finish_reasons": reasons,
            "gen_ai.usage.input_tokens": attempt.prompt_tokens,
            "gen_ai.usage.output_tokens": attempt.tokens,
            "structured.attempt.number": attempt.number,
        }
        if len(attempt.generations) > 1:
            attributes["gen_ai.request.choice.count"] = len(attempt.generations)
        if attempt.repaired:
            attributes["structured.attempt.repaired"] = len(attempt.repaired)
        if self._traces.contents:
            attributes["structured.document.text"] = attempt.document
            parts = ([{"type": "text", "content": generation.text}] for generation in attempt.generations)
            choices = zip(parts, reasons, strict=True)
            messages = [{"role": "assistant", "parts": part, "finish_reason": reason} for part, reason in choices]
            attributes["gen_ai.output.messages"] = json.dumps(messages, ensure_ascii=False)
        return attributes

    def _at(self, seconds: float) -> int:
        """Return a time of an event in nanoseconds since 1970."""
        return int((self._clock_offset + seconds) * 1e9)


def _error_type(error: BaseException) -> str:
    kind = type(error)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
