"""Events: what happens in a call, one small object after the other, for whoever listens.

One stream was taken for all that watches a call: the caller's `observe`, the log, and traces. A listener is a function
of one event. It is called in the thread that asks for the results, and what it raises ends the call. Where nobody
listens, no event is made.

The events of a batch come between its BatchStarted and its BatchEnded. Of each document, DocumentStarted comes first,
and then an AttemptWritten for each attempt. DocumentDone is the last; where the model fails or the call is interrupted,
the documents that are not finished have none. `extract` is a batch of one.

The logger `structured.extraction` tells an operator with INFO when a batch began and ended, and which documents were
rejected, shortened, or failed. DEBUG has every document and every attempt. Documents are named by id and position.
Nothing that they or their answers say is logged, so errors are named by their classes alone.
"""

import itertools
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, TypeAlias

from typing_extensions import TypeAliasType

from structured.decoding.requests import Generation
from structured.errors import Attempt
from structured.errors.values import counted
from structured.results.result import Result

BATCH_NUMBERS = itertools.count()
"""The numbers of batches."""

_LOGGER = logging.getLogger("structured.extraction")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Event:
    """Anything that happens in a batch."""

    batch: int
    """A number that no other batch of this process has: several may be under way, in one thread or in several."""
    time: float = field(default_factory=perf_counter, compare=False)
    """When it happened, in seconds of `time.perf_counter`."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a batch has come.

    Attributes:
        total: The number of documents; None while that is unknown.
        read: How many have started.
        done: How many of these have a result or an error.
        failed: How many of these have an error.
        tokens: The tokens of all texts written.
        seconds: How long it has taken so far.
        chunks: How many chunks the documents that have started have; one that is not split is a chunk. The number grows
            if a chunk is split again, or a document is read once more.
        chunks_done: How many of these have been answered.
    """

    total: int | None
    read: int
    done: int
    failed: int
    tokens: int
    seconds: float
    chunks: int = 0
    chunks_done: int = 0

    @property
    def has_chunks(self) -> bool:
        """Whether a document has several chunks."""
        return self.chunks > self.read


@dataclass(frozen=True, slots=True)
class BatchStarted(_Event):
    """A call began: with so many documents in `total`, None while that is unknown."""

    total: int | None


@dataclass(frozen=True, slots=True)
class DocumentStarted(_Event):
    """A document has been read, and waits for its turn.

    Attributes:
        position: Its place among the documents.
        id: What it is called: its own id, the path of its file, or else its position.
        output_type: The name of the type that is asked for.
        model: The name of the model.
        is_chat: Whether the model has a chat template.
    """

    position: int
    id: str
    output_type: str
    model: str
    is_chat: bool


@dataclass(frozen=True, slots=True)
class AttemptWritten(_Event):
    """The answers of one attempt have been written, at its `time`, and since been read by validators.

    Attempts are told when they are over: documents go through the model together, and wait for room until then. Where
    a long document is read in parts, each part has attempts of its own.

    Attributes:
        position: That of the document.
        number: 0 for the first attempt, 1 for the first retry.
        generations: What was written, the likeliest first: one, or a number of `samples` or `beams`; or of
            `particles`, in random order.
        repaired: The paths of the values that were written again; empty where the whole answer was written.
        prompt_tokens: How many tokens the prompt has.
        document: The text that the answer is to be read from.
        span: Of a long document, from where to where the part of it stands that was read, in characters; else None.
        rejected: The answers that validators rejected, each with its error.
        progress: How far the batch has come by that.
    """

    position: int
    number: int
    generations: tuple[Generation, ...]
    repaired: tuple[str, ...]
    prompt_tokens: int
    document: str = field(repr=False)
    span: tuple[int, int] | None = None
    rejected: tuple[Attempt, ...] = ()
    progress: Progress | None = None

    @property
    def tokens(self) -> int:
        """The tokens of all that was written."""
        return sum(one.written_tokens for one in self.generations)

    @property
    def seconds(self) -> float:
        """How long the slowest of the texts took, from the first pass of the model to the last token."""
        return max((one.diagnostics.seconds for one in self.generations), default=0.0)


@dataclass(frozen=True, slots=True)
class DocumentDone(_Event):
    """A document has its result.

    Attributes:
        position: That of the document.
        result: The `Result`, with the value and its evidence, or with the error.
        shortened: Whether the answer was shortened to fit a limit.
        progress: How far the batch has come by that.
    """

    position: int
    result: Result[Any]
    shortened: bool
    progress: Progress


@dataclass(frozen=True, slots=True)
class BatchEnded(_Event):
    """A call is over.

    Attributes:
        progress: How far it came.
        error: What ended it early: the model's error, or an interrupt. None if all documents are done, and where the
            caller of `extract_results` asked for no more.
    """

    progress: Progress
    error: BaseException | None = None


Event: TypeAlias = BatchStarted | DocumentStarted | AttemptWritten | DocumentDone | BatchEnded
"""Anything that happens in a call."""

Listener = TypeAliasType("Listener", Callable[[Event], object])
"""A function that is called with each event."""


def log_if_wanted() -> list[Listener]:
    """Return a listener that logs one batch; none where the log is off."""
    return [Log()] if _LOGGER.isEnabledFor(logging.INFO) else []


class Log:
    """A listener that logs one batch."""

    def __init__(self) -> None:
        self._ids: dict[int, str] = {}
        """The documents that are not done."""
        self._level = logging.INFO
        """Where the batch is told: a single document is none for an operator to know of."""

    def __call__(self, event: Event) -> None:
        """Log an event."""
        match event:
            case BatchStarted(total):
                self._level = logging.DEBUG if total == 1 else logging.INFO
                of = "" if total is None else f", {counted(total, 'document')}"
                _LOGGER.log(self._level, "batch %d: started%s", event.batch, of)
            case DocumentStarted():
                self._ids[event.position] = event.id
                self._tell(event, logging.DEBUG, f"started: {event.output_type} of {event.model}")
            case AttemptWritten(number=number, progress=progress):
                chunks = ""
                if progress is not None and progress.has_chunks:
                    chunks = f", {progress.chunks_done:,} of {progress.chunks:,} chunks done"
                repaired = f", {counted(len(event.repaired), 'value')} repaired" if event.repaired else ""
                written = f"{event.tokens:,} tokens in {event.seconds:.3f} s{repaired}{chunks}"
                self._tell(event, logging.DEBUG, f"attempt {number}: {written}")
                for answer in event.rejected:
                    why = type(answer.error).__name__
                    self._tell(event, logging.INFO, f"attempt {number}: an answer was rejected by {why}")
            case DocumentDone(position, Result(error=None), shortened):
                how = ", shortened to fit a limit" if shortened else ""
                self._tell(event, logging.INFO if shortened else logging.DEBUG, f"accepted{how}")
                self._ids.pop(position, None)
            case DocumentDone(position, result):
                self._tell(event, logging.INFO, f"failed: {type(result.error).__name__}")
                self._ids.pop(position, None)
            case BatchEnded(progress, error):
                early = "" if error is None else f", stopped by {type(error).__name__}"
                chunks = f" in {progress.chunks:,} chunks" if progress.has_chunks else ""
                done = (
                    f"{progress.done:,} of {counted(progress.read, 'document')}{chunks} done, {progress.failed} failed"
                )
                end = f"{early} after {progress.seconds:.3f} s: {done}, {progress.tokens:,} tokens"
                _LOGGER.log(self._level, "batch %d: ended%s", event.batch, end)

    def _tell(self, event: DocumentStarted | AttemptWritten | DocumentDone, level: int, what: str) -> None:
        """Log what happened to a document."""
        name = self._ids.get(event.position, "")
        called = "" if name == str(event.position) else f" ({name})"
        _LOGGER.log(level, "batch %d, document %d%s: %s", event.batch, event.position, called, what)
