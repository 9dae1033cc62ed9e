"""Events: one stream for whoever watches a call, complete and in order, and free where nobody does."""

import ast
import itertools
import logging
import threading
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import FrozenInstanceError, replace
from pathlib import Path
from time import perf_counter
from typing import Any

import pytest
from doubles import ByteTokenizer, random_logits
from hypothesis import given, settings
from hypothesis import strategies as st
from package_map import HOUSE
from pydantic import BaseModel, Field, field_validator

from structured import Chunking, Document, Extractor, Repetition, Samples, StructuredError, extract, extract_batch
from structured.errors import GenerationError, ModelError
from structured.extraction import batch_state, events, run
from structured.models import FunctionModel
from structured.models.scripted import ScriptedModel

TOKENIZER = ByteTokenizer()
LOGITS = random_logits(len(TOKENIZER.tokens), scale=3.0)
MODEL = FunctionModel(LOGITS, TOKENIZER)


class Even(BaseModel):
    number: int = Field(ge=0, le=9)
    name: str = Field(max_length=4)

    @field_validator("number")
    @classmethod
    def is_even(cls, number: int) -> int:
        if number % 2:
            raise ValueError("must be even")
        return number


def extractor(seen: list[events.Event], **options: Any) -> Extractor[Any]:
    given = {"model": MODEL, "seed": 1, "temperature": 1.0, "batch_size": 2, "retries": 1}
    given["repetition"] = Repetition(stop=False)
    return Extractor(Even, observe=seen.append, **given | options)


LETTERS = {
    events.DocumentStarted: "S",
    events.AttemptWritten: "W",
    events.DocumentDone: "D",
}


def by_document(seen: list[events.Event]) -> dict[int, list[Any]]:
    """Return the events of each document."""
    found: defaultdict[int, list[Any]] = defaultdict(list)
    for event in seen:
        if type(event) in LETTERS:
            found[event.position].append(event)  # type: ignore[union-attr]
    return dict(found)


@settings(max_examples=25, deadline=None)
@given(
    texts=st.lists(st.text("ab", max_size=3), max_size=9),
    batches=st.integers(1, 2),
    samples=st.integers(1, 2),
    seed=st.integers(0, 99),
    repair=st.sampled_from(["field", "whole"]),
)
def test_every_document_has_one_start_and_one_end(
    texts: list[str], batches: int, samples: int, seed: int, repair: str
) -> None:
    """Its attempts are between them, in their order, with what was rejected; the counts are those of the results.

    Some documents are empty, and fail; some answers are rejected, and written again, and some of these in vain.
    """
    seen: list[events.Event] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run, "BLOCK_BATCHES", batches)
        results = extractor(seen, seed=seed, search=Samples(samples), repair=repair).batch(texts, errors="return")
    first, last = seen[0], seen[-1]
    assert isinstance(first, events.BatchStarted)
    assert first.total == len(texts)
    assert isinstance(last, events.BatchEnded)
    assert {event.batch for event in seen} == {first.batch}
    assert all(one.time <= other.time for one, other in itertools.pairwise(seen))
    documents = by_document(seen)
    assert sorted(documents) == list(range(len(texts)))
    for position, of_document in documents.items():
        letters = "".join(LETTERS[type(event)] for event in of_document)
        assert letters == f"S{'W' * (len(letters) - 2)}D"
        result = of_document[-1].result
        assert (result.error or result.value) is results[position]
        assert (result.position, result.id) == (position, of_document[0].id)
        attempts = [event for event in of_document if isinstance(event, events.AttemptWritten)]
        assert [one.number for one in attempts] == list(range(len(attempts)))
        assert all(len(one.generations) == samples and one.document == texts[position] for one in attempts)
        assert not attempts or not attempts[0].repaired
        for one in attempts:
            assert {answer.text for answer in one.rejected} <= {generation.text for generation in one.generations}
        rejected = tuple(answer for one in attempts for answer in one.rejected)
        if result.error is None:
            assert len(attempts[-1].rejected) < samples
            assert rejected == result.attempts
        elif isinstance(result.error, GenerationError):
            assert rejected == tuple(result.error.attempts)
    failed = sum(isinstance(one, StructuredError) for one in results)
    tokens = sum(event.tokens for event in seen if isinstance(event, events.AttemptWritten))
    count = len(texts)
    end = events.Progress(count, count, count, failed, tokens, last.progress.seconds, chunks=count, chunks_done=count)
    assert last.progress == end
    assert last.error is None
    progress = [event.progress for event in seen if isinstance(event, events.DocumentDone)]
    assert [one.done for one in progress] == list(range(1, len(texts) + 1))
    assert not texts or progress[-1] == replace(end, seconds=progress[-1].seconds)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(0, 60), min_size=1, max_size=5), st.integers(1, 3), st.integers(40, 400), st.integers(0, 2))
@pytest.mark.filterwarnings("ignore::structured.errors.StructuredWarning")
def test_chunks_are_counted_up_to_the_last_one(lengths: list[int], passes: int, max_tokens: int, batches: int) -> None:
    """Each attempt says how many are done; the number of those known grows, and in the end all are done."""
    seen: list[events.Event] = []
    documents = ["".join(f"{number} eggs and flour. " for number in range(length)) or "none" for length in lengths]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run, "BLOCK_BATCHES", batches + 1)
        chunking = Chunking(tokens=200, passes=passes)
        options: Any = {"observe": seen.append, "chunking": chunking, "max_tokens": max_tokens, "batch_size": 1}
        found = extract_batch(list[str], documents, model=MODEL, errors="return", **options)
    progress = [one.progress for one in seen if isinstance(one, events.AttemptWritten)]
    told = [one for one in progress if one is not None]
    assert len(told) == len(progress)
    for before, after in itertools.pairwise(told):
        assert before.chunks <= after.chunks
        assert before.chunks_done <= after.chunks_done <= after.chunks
    (end,) = (one.progress for one in seen if isinstance(one, events.BatchEnded))
    assert end.chunks == end.chunks_done >= end.done == end.read == len(found)
    attempts = [one for one in seen if isinstance(one, events.AttemptWritten)]
    shortened = sum(one.shortened for attempt in attempts for one in attempt.generations)
    assert len(attempts) - shortened <= end.chunks <= len(attempts)


def test_repairs_name_what_was_written_again() -> None:
    """A retry after Pydantic's error writes the one field, and says so."""
    seen: list[events.Event] = []
    for seed in range(10):
        extractor(seen, seed=seed, retries=3).batch(["a"], errors="return")
    assert {one.repaired for one in seen if isinstance(one, events.AttemptWritten)} == {(), ("number",)}


def test_documents_are_named_and_events_are_values() -> None:
    """By their ids, their paths, or their positions; an event does not change."""
    seen: list[events.Event] = []
    documents = [Document("a", id="one"), ("two", "b"), "c", Path("no such file")]
    extractor(seen).batch(documents, errors="return")
    started = [event for event in seen if isinstance(event, events.DocumentStarted)]
    assert [one.id for one in started] == ["one", "two", "2", "no such file"]
    assert {(one.output_type, one.model, one.is_chat) for one in started} == {("Even", MODEL.name, False)}
    with pytest.raises(FrozenInstanceError):
        started[0].id = "other"  # type: ignore[misc]


def test_events_are_told_in_the_thread_of_the_caller() -> None:
    """Wherever documents are prepared."""
    threads: set[int] = set()
    given = {"model": MODEL, "batch_size": 1, "observe": lambda _: threads.add(threading.get_ident())}
    extract_batch(Even, ["a", "b", "c"], errors="return", **given)  # type: ignore[call-overload]
    assert threads == {threading.get_ident()}


KINDS = [kind for kind in vars(events).values() if isinstance(kind, type) and issubclass(kind, events._Event)][1:]


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_listener_raises_ends_the_call(kind: type) -> None:
    """At whatever event; it comes out as it is, and the listener is not called again."""
    after: Counter[str] = Counter()
    error = KeyError("mine")

    def observe(event: events.Event) -> None:
        if after:
            after["again"] += 1
        if isinstance(event, kind):
            after["raised"] += 1
            raise error

    with pytest.raises(KeyError) as caught:  # at the latest when an answer of some is rejected
        extract_batch(Even, ["", *"abcdefgh"], model=MODEL, temperature=1.0, seed=1, observe=observe, errors="return")
    assert caught.value is error
    assert after == {"raised": 1}


def test_an_end_tells_what_was_early() -> None:
    """The model's error and an interrupt are told; who asks for no more ends nothing early."""

    def broken(_token_ids: Any) -> Any:
        raise ZeroDivisionError

    seen: list[events.Event] = []
    found = extractor(seen, model=FunctionModel(broken, TOKENIZER)).batch(["a", "b"], errors="return")
    assert isinstance(seen[-1], events.BatchEnded)
    assert isinstance(seen[-1].error, ModelError)
    assert seen[-1].error is found[0]
    assert (seen[-1].progress.read, seen[-1].progress.done) == (2, 0)

    def interrupted() -> Iterator[str]:
        yield "a"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        extractor(seen).batch(interrupted())
    assert isinstance(seen[-1], events.BatchEnded)
    assert isinstance(seen[-1].error, KeyboardInterrupt)
    stream = extractor(seen).results(["a", "b", "c"])
    next(stream)
    stream.close()
    assert isinstance(seen[-1], events.BatchEnded)
    assert seen[-1].error is None


@pytest.mark.parametrize("fault", [ValueError, KeyboardInterrupt])
def test_an_attempt_is_told_whatever_validators_raise(fault: type[BaseException]) -> None:
    """Its time is when the answer was written, and not when it had been read."""
    seen: list[events.Event] = []
    reading: list[float] = []

    class Unreadable(BaseModel):
        number: int

        @field_validator("number")
        @classmethod
        def fail(cls, _number: int) -> int:
            reading.append(perf_counter())
            raise fault("mine")

    with pytest.raises((GenerationError, KeyboardInterrupt)):
        extract(Unreadable, "x", model=ScriptedModel('{"number": 1}'), retries=0, observe=seen.append)
    (attempt,) = (one for one in seen if isinstance(one, events.AttemptWritten))
    assert attempt.time <= reading[0] <= seen[-1].time
    assert [one.text for one in attempt.rejected] == ['{"number": 1}'] * (fault is ValueError)


def test_a_streamed_answer_has_events_as_well() -> None:
    seen: list[events.Event] = []
    stream = Extractor(list[int], model=ScriptedModel("[1, 2]"), observe=seen.append).stream("x")
    assert stream.result().value == [1, 2]
    assert [type(event).__name__ for event in seen] == [
        "BatchStarted",
        "DocumentStarted",
        "AttemptWritten",
        "DocumentDone",
        "BatchEnded",
    ]


def test_a_listener_takes_one_event() -> None:
    """What takes something else is refused before anything is loaded."""
    with pytest.raises(TypeError, match=r"observe is .* it is called with one event"):
        Extractor(int, model="no such model", observe=lambda _position, _generation: None)  # type: ignore[misc]


def test_no_event_is_made_where_nobody_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in KINDS:
        monkeypatch.setattr(batch_state, kind.__name__, None)
    assert extract_batch(list[int], ["a", "b"], model=ScriptedModel("[1]")) == [[1], [1]]


def test_the_log_names_documents_and_never_quotes_them(caplog: pytest.LogCaptureFixture) -> None:
    """INFO has the batch and what went wrong, DEBUG every document, neither what they or their answers say."""
    documents = [Document("swordfish", id="letter"), "", *["swordfish"] * 8]
    with caplog.at_level(logging.DEBUG, "structured.extraction"):
        found = extractor([]).batch(documents, errors="return")
    records = [one for one in caplog.records if one.name == "structured.extraction"]
    answers = [one.name for one in found if isinstance(one, Even) and one.name]
    told = {level: [one.getMessage() for one in records if one.levelname == level] for level in ("INFO", "DEBUG")}
    assert "swordfish" not in str(told)
    assert not any(answer in line for answer in answers if len(answer) > 2 for line in told["INFO"])
    assert told["INFO"][0].endswith(": started, 10 documents")
    assert ": ended after " in told["INFO"][-1]
    assert any(line.endswith("document 1: failed: PromptError") for line in told["INFO"])
    assert any("an answer was rejected by ValidationError" in line for line in told["INFO"])
    assert sum(line.endswith(": accepted") for line in told["DEBUG"]) == len(answers) + sum(
        isinstance(one, Even) and not one.name for one in found
    )
    assert any("document 0 (letter): started" in line for line in told["DEBUG"])


def test_a_log_of_one_document_is_for_debugging(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "structured"):
        Extractor(list[int], model=ScriptedModel("[1]"))("x")
    assert not [one for one in caplog.records if one.name == "structured.extraction"]


def test_the_library_leaves_the_log_to_the_application() -> None:
    """Its logger has a handler that does nothing, and no level."""
    logger = logging.getLogger("structured")
    assert any(isinstance(handler, logging.NullHandler) for handler in logger.handlers)
    assert logger.level == logging.NOTSET


def prints(module: Path) -> bool:
    called = [node.func for node in ast.walk(ast.parse(module.read_text("utf-8"))) if isinstance(node, ast.Call)]
    return any(isinstance(function, ast.Name) and function.id == "print" for function in called)


def test_nothing_is_printed() -> None:
    """The command line has a console for it, and the rest has the log."""
    assert not [module.relative_to(HOUSE).as_posix() for module in HOUSE.rglob("*.py") if prints(module)]
