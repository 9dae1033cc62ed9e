"""The log of a call, of its events: the logger `structured.extraction`.

INFO has what an operator looks for: when a batch began and ended, and which documents were rejected, shortened, or
failed. DEBUG has every document and every attempt. Documents are named by id and position. Nothing of what they or
their answers say is logged, so errors are named by their classes alone.
"""

import logging

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
)

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
