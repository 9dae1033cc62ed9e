"""The listeners of a batch: the caller's `observe`, and the logger `structured.extraction`.

INFO has what an operator looks for: when a batch began and ended, and which documents were rejected, shortened, or
failed. DEBUG has every document and every attempt. Documents are named by id and position. Nothing of what they or
their answers say is logged, so errors are named by their classes alone.
"""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter

from structured.errors.values import counted
from structured.extraction.events import (
    AnswerRejected,
    AttemptWritten,
    BatchEnded,
    BatchProgress,
    BatchStarted,
    DocumentAccepted,
    DocumentFailed,
    DocumentStarted,
    Event,
    Listener,
    next_batch,
)


class Listeners:
    """Whoever is told of the events of a batch. False where nobody is, and then no event is made.

    Attributes:
        batch: The number of the batch.
    """

    def __init__(self) -> None:
        self.batch = next_batch()
        self._all: list[Listener] = []
        self._started = perf_counter()

    def __bool__(self) -> bool:
        return bool(self._all)

    @property
    def seconds(self) -> float:
        """How long the batch has taken so far."""
        return perf_counter() - self._started

    @contextmanager
    def told(
        self, observe: Listener | None, started: Callable[[], Event], ended: Callable[[BaseException | None], Event]
    ) -> Iterator[None]:
        """Tell a listener, and the log where it is wanted, of the batch from its start to its end."""
        self._all = ([Log()] if is_logged() else []) + ([] if observe is None else [observe])
        self._started = perf_counter()
        error: BaseException | None = None
        try:
            if self:
                self.tell(started())
            yield
        except GeneratorExit:  # whoever iterates has had enough
            raise
        except BaseException as raised:
            error = raised
            raise
        finally:
            if self:
                self.tell(ended(error))

    def tell(self, event: Event) -> None:
        """Call each listener with an event; one that raises is not called again."""
        for listener in tuple(self._all):
            try:
                listener(event)
            except BaseException:
                self._all.remove(listener)
                raise


_LOGGER = logging.getLogger("structured.extraction")


def is_logged() -> bool:
    """Tell whether anything of a call is logged."""
    return _LOGGER.isEnabledFor(logging.INFO)


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
            case BatchProgress():
                pass
            case BatchEnded():
                self._end(event)
            case _:
                self._tell(event)

    def _tell(
        self, event: DocumentStarted | AttemptWritten | AnswerRejected | DocumentAccepted | DocumentFailed
    ) -> None:
        """Log what happened to a document."""
        position, level = event.position, logging.DEBUG
        match event:
            case DocumentStarted():
                self._ids[position] = event.id
                what = f"started: {event.output_type} of {event.model}"
            case AttemptWritten():
                repaired = f", {counted(len(event.repaired), 'value')} repaired" if event.repaired else ""
                what = f"attempt {event.number}: {event.tokens:,} tokens in {event.seconds:.3f} s{repaired}"
            case AnswerRejected():
                level = logging.INFO
                what = f"attempt {event.number}: an answer was rejected by {type(event.error).__name__}"
            case DocumentAccepted():
                level = logging.INFO if event.shortened else logging.DEBUG
                what = f"accepted{', shortened to fit a limit' if event.shortened else ''}"
            case DocumentFailed():
                level, what = logging.INFO, f"failed: {type(event.error).__name__}"
        name = self._ids.get(position, "")
        if isinstance(event, DocumentAccepted | DocumentFailed):
            self._ids.pop(position, None)
        called = "" if name == str(position) else f" ({name})"
        _LOGGER.log(level, "batch %d, document %d%s: %s", event.batch, position, called, what)

    def _end(self, event: BatchEnded) -> None:
        """Log that the batch is over."""
        early = "" if event.error is None else f", stopped by {type(event.error).__name__}"
        _LOGGER.log(
            self._level,
            "batch %d: ended%s after %.3f s: %s of %s done, %d failed, %s tokens",
            event.batch,
            early,
            event.seconds,
            f"{event.done:,}",
            counted(event.read, "document"),
            event.failed,
            f"{event.tokens:,}",
        )
