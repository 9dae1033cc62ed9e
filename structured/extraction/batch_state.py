"""The state of a batch: how far it has come, its results that wait to be handed out, and who hears of it."""

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any

from structured.decoding.requests import Generation
from structured.errors import Attempt, ModelError, StructuredError
from structured.errors.values import message
from structured.extraction.documents.document import DocumentLike, id_of
from structured.extraction.event_listeners import Listeners
from structured.extraction.events import (
    AnswerRejected,
    AttemptWritten,
    BatchEnded,
    BatchProgress,
    BatchStarted,
    DocumentAccepted,
    DocumentFailed,
    DocumentStarted,
    Listener,
)
from structured.extraction.incomplete import Incomplete, of_all
from structured.extraction.long_documents import LongDocument
from structured.extraction.task import Item, Task
from structured.output_types.paths import steps_to_path
from structured.results.result import Result


class BatchState:
    """How far a batch has come.

    Attributes:
        total: The number of documents; None while they are still being read.
        results: The results that have not been handed out, by the positions of their documents.
        read: The number of documents that were read to be answered, the first ones.
        done: The number of documents that have a result, with a value or an error.
        failed: The number of those that have an error.
        tokens: The tokens of all texts written.
        stopped: The error of the model, if it failed.
    """

    def __init__(self, total: int | None = None) -> None:
        self.total = total
        self.results: dict[int, Result[Any]] = {}
        self.read = self.done = self.failed = self.tokens = 0
        self.stopped: Exception | None = None
        self._listeners = Listeners()
        self._incomplete = Incomplete()

    def __repr__(self) -> str:
        of = "" if self.total is None else f" of {self.total}"
        return f"BatchState({self.done}{of} done, {self.failed} failed)"

    def observed(self, observe: Listener | None) -> AbstractContextManager[None]:
        """Report the batch to a listener, and to the log where it is on, from its start to its end."""
        batch = self._listeners.batch

        def ended(error: BaseException | None) -> BatchEnded:
            figures = self.read, self.done, self.failed, self.tokens, self._listeners.seconds
            return BatchEnded(*figures, error or self.stopped, batch=batch)

        return self._listeners.told(observe, lambda: BatchStarted(self.total, batch=batch), ended)

    def start(self, documents: Iterable[tuple[int, Task, DocumentLike]]) -> None:
        """Count documents that will be answered next, each with its position and its task."""
        for position, task, given in documents:
            self.read += 1
            if self._listeners:
                model, batch = task.model, self._listeners.batch
                facts = id_of(given, position), task.output_type.name, model.name, model.has_chat_template
                self._listeners.tell(DocumentStarted(position, *facts, batch=batch))

    def write(self, item: Item, attempt: int, candidates: Sequence[Generation]) -> None:
        """Count the texts of an attempt."""
        self.tokens += sum(one.written_tokens for one in candidates)
        if self._listeners:
            kept = item.kept
            paths = () if kept is None else sorted(steps_to_path(steps) for steps in kept.places)
            self._listeners.tell(
                AttemptWritten(
                    item.position,
                    attempt,
                    tuple(candidates),
                    tuple(paths),
                    item.prompt_tokens,
                    item.document,
                    None if item.part is None else item.part.chunk.body,
                    batch=self._listeners.batch,
                )
            )

    def reject_answers(self, item: Item, attempt: int, rejected: Iterable[Attempt]) -> None:
        """Report answers that validators rejected in an attempt."""
        if self._listeners:
            for one in rejected:
                self._listeners.tell(AnswerRejected(item.position, attempt, one.error, batch=self._listeners.batch))

    def accept(
        self, item: Item | LongDocument, result: Result[Any], *, shortened: bool = False, repetitive: bool = False
    ) -> None:
        """Take the result of a document; its answer may have been shortened, or led out of a repetition."""
        self.results[item.position] = result
        self.done += 1
        self._incomplete.note(item, shortened=shortened, repetitive=repetitive)
        if self._listeners:
            self._listeners.tell(DocumentAccepted(item.position, result, shortened, batch=self._listeners.batch))
            self._tell_progress()

    def fail(self, position: int, given: DocumentLike, error: StructuredError) -> None:
        """Take the error of a document."""
        self.results[position] = failed_result(position, given, error)
        self.done += 1
        self.failed += 1
        if self._listeners:
            self._listeners.tell(DocumentFailed(position, error, batch=self._listeners.batch))
            self._tell_progress()

    def _tell_progress(self) -> None:
        figures = self.total, self.read, self.done, self.failed, self.tokens, self._listeners.seconds
        self._listeners.tell(BatchProgress(*figures, batch=self._listeners.batch))

    def check_stopped(self) -> None:
        """Raise the error of the model, if it failed."""
        if self.stopped is not None:
            raise self.stopped

    def stopped_error(self) -> StructuredError | None:
        """Return the error of the model as that of a document that was not finished; None if it did not fail."""
        stopped = self.stopped
        if stopped is None or isinstance(stopped, StructuredError):
            return stopped
        error = ModelError(
            f"The model failed after {self.done:,}{of_all(self.total)} documents: {type(stopped).__name__}: "
            f"{message(stopped)}. Fix that, and run the remaining documents."
        )
        error.__cause__ = stopped
        return error

    def note_loss(self, error: BaseException) -> None:
        """Add to an exception that ends the call from outside, such as an interrupt, what is lost by it."""
        finished = self.done - self.failed
        if finished:
            error.add_note(
                f"{finished:,}{of_all(self.total)} documents were finished, and their results are lost with this. "
                "`extract_results` hands out each result as soon as it is there, and `write_results` keeps it."
            )

    def warn(self) -> None:
        """Warn once of all answers that were shortened to fit a limit, and once of all that repeated themselves."""
        self._incomplete.warn(self.total)


def failed_result(position: int, given: DocumentLike, error: StructuredError) -> Result[Any]:
    """Return the result of a document that has an error."""
    text, metadata = _readable(given)
    attempts = tuple(getattr(error, "attempts", ()))
    return Result(id_of(given, position), position, text, metadata, error=error, attempts=attempts)


def _readable(given: DocumentLike) -> tuple[str, Any]:
    """Return the text of a document and its metadata, as far as they are there without reading a file."""
    match given:
        case str():
            return given, {}
        case (str(), str() as text):
            return text, {}
        case _:
            text, metadata = getattr(given, "text", ""), getattr(given, "metadata", {})
            return text if isinstance(text, str) else "", metadata
