"""Traces of OpenTelemetry: spans that nest, named by its conventions, whatever becomes of the documents."""

import json
import pickle
import threading
from collections import defaultdict
from typing import Annotated, Any, Literal

import pytest
from doubles import ByteTokenizer, random_logits
from pydantic import AfterValidator, BaseModel, Field, field_validator

from structured import Document, Extractor, Samples, extract
from structured.errors import ModelError
from structured.extraction import events
from structured.models import FunctionModel
from structured.models.scripted import ScriptedModel

pytest.importorskip("opentelemetry.sdk")

from opentelemetry import trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.semconv._incubating.attributes import gen_ai_attributes
from opentelemetry.semconv._incubating.metrics import gen_ai_metrics
from opentelemetry.semconv.attributes.error_attributes import ERROR_TYPE
from opentelemetry.trace import StatusCode

from structured.integrations.opentelemetry import Traces

TOKENIZER = ByteTokenizer()
LOGITS = random_logits(len(TOKENIZER.tokens), scale=3.0)
WORD = "swordfish"
DOCUMENTS = [Document(f"{WORD} {number}", id=f"letter-{number}") for number in range(6)]


class Even(BaseModel):
    number: int = Field(ge=0, le=9)

    @field_validator("number")
    @classmethod
    def is_even(cls, number: int) -> int:
        if number % 2:
            raise ValueError("must be even")
        return number


class Recorder:
    """An application that records traces and metrics."""

    def __init__(self, **options: Any) -> None:
        self._exporter, self._reader = InMemorySpanExporter(), InMemoryMetricReader()
        provider = TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(self._exporter))
        self.tracer = provider.get_tracer("test")
        meter = MeterProvider([self._reader]).get_meter("test")
        self.heard: list[events.Event] = []
        self.traces = Traces(self.tracer, meter, **options)

    def observe(self, event: events.Event) -> None:
        self.heard.append(event)
        self.traces(event)

    @property
    def spans(self) -> tuple[ReadableSpan, ...]:
        return self._exporter.get_finished_spans()

    def named(self, name: str) -> list[ReadableSpan]:
        return [span for span in self.spans if span.name == name]

    @property
    def points(self) -> dict[str, list[Any]]:
        """The data points of each metric."""
        data = self._reader.get_metrics_data()
        assert data is not None
        found = [one for resource in data.resource_metrics for scope in resource.scope_metrics for one in scope.metrics]
        return {metric.name: list(metric.data.data_points) for metric in found}


def extractor(recorder: Recorder, **options: Any) -> Extractor[Any]:
    given = {"model": FunctionModel(LOGITS, TOKENIZER), "seed": 3, "temperature": 1.0, "retries": 1, "batch_size": 2}
    return Extractor(Even, observe=recorder.observe, **given | options)


def test_spans_nest_and_agree_with_the_events() -> None:
    """The caller's span has the batch, which has the documents, which have the attempts; the times are in order."""
    recorder = Recorder()
    with recorder.tracer.start_as_current_span("the caller") as caller:
        found = extractor(recorder).batch([*DOCUMENTS, ""], errors="return")
    by_id = {span.context.span_id: span for span in recorder.spans if span.context is not None}
    assert {span.context.trace_id for span in recorder.spans} == {caller.get_span_context().trace_id}
    children: dict[str, set[str]] = defaultdict(set)
    for span in recorder.spans:
        if span.parent is not None:
            parent = by_id[span.parent.span_id]
            children[parent.name].add(span.name)
            assert parent.start_time <= span.start_time <= span.end_time <= parent.end_time
    (attempt,) = children["extract document"]
    assert children == {
        "the caller": {"extract batch"},
        "extract batch": {"extract document"},
        "extract document": {attempt},
    }
    written = [event for event in recorder.heard if isinstance(event, events.AttemptWritten)]
    attempts, documents = recorder.named(attempt), recorder.named("extract document")
    assert len(attempts) == len(written) > len(DOCUMENTS)
    assert [one.attributes["gen_ai.usage.output_tokens"] for one in attempts] == [one.tokens for one in written]
    assert {one.attributes["structured.document.id"] for one in documents} == {*(one.id for one in DOCUMENTS), "6"}
    for span in documents:
        result = found[span.attributes["structured.document.position"]]
        assert span.status.is_ok != isinstance(result, Exception)
        assert ("error.type" in span.attributes) == isinstance(result, Exception)
    rejected = [answer for one in written for answer in one.rejected]
    failed = [one for one in attempts if not one.status.is_ok]
    assert len(failed) == len(rejected) > 0
    assert {one.attributes["error.type"] for one in failed} == {"pydantic_core._pydantic_core.ValidationError"}
    (batch,) = recorder.named("extract batch")
    assert batch.attributes == {
        "structured.batch.total": 7,
        "structured.batch.read": 7,
        "structured.batch.done": 7,
        "structured.batch.failed": sum(isinstance(one, Exception) for one in found),
    }


def test_an_attempt_whose_samples_are_all_rejected_has_an_error() -> None:
    """Also where two of them have the same text, which is rejected once."""

    def refuse(_: int) -> int:
        raise ValueError("never right")

    recorder = Recorder()
    options: Any = {
        "model": FunctionModel(LOGITS, TOKENIZER),
        "search": Samples(3),
        "temperature": 1.0,
        "seed": 1,
        "retries": 0,
    }
    Extractor(Annotated[Literal[1, 2], AfterValidator(refuse)], observe=recorder.observe, **options).batch(
        ["a"], errors="return"
    )
    (attempt,) = (span for span in recorder.spans if span.attributes and "gen_ai.request.model" in span.attributes)
    assert attempt.status.status_code is StatusCode.ERROR


def test_metrics_agree_with_the_events() -> None:
    """Every attempt counts once, with its seconds and its tokens."""
    recorder = Recorder()
    extractor(recorder).batch(DOCUMENTS, errors="return")
    written = [event for event in recorder.heard if isinstance(event, events.AttemptWritten)]
    points = recorder.points
    durations = points["gen_ai.client.operation.duration"]
    assert sum(point.count for point in durations) == len(written)
    assert sum(point.sum for point in durations) == pytest.approx(sum(one.seconds for one in written))
    used = {point.attributes["gen_ai.token.type"]: point.sum for point in points["gen_ai.client.token.usage"]}
    assert used == {
        "input": sum(one.prompt_tokens for one in written),
        "output": sum(one.tokens for one in written),
    }


def test_names_are_those_of_the_conventions() -> None:
    """All that is called gen_ai is in the conventions, and so is the type of an error."""
    recorder = Recorder(contents=True)
    extractor(recorder, search=Samples(2)).batch(DOCUMENTS, errors="return")
    known = {value for name, value in vars(gen_ai_attributes).items() if name.isupper()}
    metrics = {value for name, value in vars(gen_ai_metrics).items() if name.isupper()}
    used = {name for span in recorder.spans for name in span.attributes or ()}
    used |= {name for points in recorder.points.values() for point in points for name in point.attributes}
    assert {name for name in used if not name.startswith("structured.")} <= {*known, ERROR_TYPE}
    assert {"gen_ai.operation.name", "gen_ai.provider.name", "gen_ai.request.model", "error.type"} <= used
    assert set(recorder.points) <= metrics
    operations = {one.value for one in gen_ai_attributes.GenAiOperationNameValues}
    assert {span.name.partition(" ")[0] for span in recorder.spans} - {"extract"} <= operations


@pytest.mark.parametrize("contents", [False, True])
def test_contents_are_recorded_only_when_they_are_asked_for(contents: bool) -> None:
    """Neither documents nor answers are in spans or metrics otherwise, nor what an error quotes of them."""
    recorder = Recorder(contents=contents)
    answer = json.dumps([WORD])
    extract(list[str], f"The word is {WORD}.", model=ScriptedModel(answer), observe=recorder.traces)
    with pytest.raises(Exception, match="odd"):
        extract(Odd, "x", model=ScriptedModel('{"word": "swordfish"}'), observe=recorder.traces, retries=0)
    told = "".join(span.to_json() for span in recorder.spans) + str(recorder.points)
    assert (WORD in told) == contents
    if contents:
        texts = [json.loads(str(span.attributes["gen_ai.output.messages"])) for span in recorder.named("chat scripted")]
        assert json.loads(texts[0][0]["parts"][0]["content"]) == [WORD]


class Odd(BaseModel):
    word: str

    @field_validator("word")
    @classmethod
    def never(cls, word: str) -> str:
        raise ValueError(f"{word} is odd")


def test_what_ends_a_batch_ends_its_spans() -> None:
    """Where the model fails, no span stays open, and those that are not done have its error."""
    recorder = Recorder()

    def broken(_token_ids: Any) -> Any:
        raise ZeroDivisionError

    with pytest.raises(ModelError):
        extractor(recorder, model=FunctionModel(broken, TOKENIZER)).batch(DOCUMENTS)
    assert len(recorder.named("extract document")) == len(DOCUMENTS)
    assert {span.attributes["error.type"] for span in recorder.spans} == {"structured.errors.ModelError"}
    with pytest.raises(KeyError):
        recorder.traces(events.BatchEnded(events.Progress(0, 0, 0, 0, 0, 0.0), batch=recorder.heard[0].batch))


def test_one_listener_serves_several_batches_at_once() -> None:
    """In one thread, where two streams take turns, and in several."""
    recorder = Recorder()
    prepared = extractor(recorder)
    first, second = prepared.results(DOCUMENTS), prepared.results(DOCUMENTS)
    next(first), next(second), first.close(), list(second)
    threads = [threading.Thread(target=prepared.batch, args=(DOCUMENTS,), kwargs={"errors": "skip"}) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    batches = {span.context.span_id for span in recorder.named("extract batch")}
    documents = recorder.named("extract document")
    assert len(batches) == 5
    assert len(documents) == 5 * len(DOCUMENTS)
    assert {span.parent.span_id for span in documents} == batches
    assert all(span.status.is_ok for span in recorder.named("extract batch"))  # also of the one that was left


def test_it_is_silent_where_nothing_is_set_up_and_goes_to_other_processes() -> None:
    """The global provider records nothing by itself; a listener is pickled by what it was made of."""
    traces = pickle.loads(pickle.dumps(Traces(contents=True)))  # noqa: S301  what was written here
    assert repr(traces) == "Traces(contents=True)"
    assert extract(list[int], "1", model=ScriptedModel("[1]"), observe=traces) == [1]
    assert not trace.get_current_span().get_span_context().is_valid
