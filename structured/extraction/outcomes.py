"""The outcome of a call: for each document its result or its error."""

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Generic, NamedTuple, TypeVar

from structured.decoding.requests import Generation
from structured.errors import Attempt, BatchError, ModelError, StructuredError
from structured.errors.values import message
from structured.extraction.documents.document import DocumentLike, id_of
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
from structured.extraction.listeners import Listeners
from structured.extraction.long_documents import LongDocument
from structured.extraction.options import Errors
from structured.extraction.task import Item, Task
from structured.output_types.paths import steps_to_path

T = TypeVar("T")


class BatchResult(NamedTuple, Generic[T]):
    """What became of one document of a batch.

    Attributes:
        position: Its place among the documents.
        document: As it was given.
        value: The instance, or the `Extraction`; None if there is an error.
        error: Why there is none.
    """

    position: int
    document: DocumentLike
    value: T | None
    error: StructuredError | None = None

    @property
    def id(self) -> str:
        """What the document is called: its id, its path, or else its position."""
        return id_of(self.document, self.position)


class Done(NamedTuple):
    """What became of a document."""

    value: Any
    """The instance, or the `Extraction`; None if there is an error."""
    error: StructuredError | None = None
    text: str | None = None
    """The answer as it was written, where somebody needs it."""


class Outcome:
    """What has become so far of some documents, by their positions.

    Attributes:
        total: The number of documents; None while they are still being read.
        results: What became of those that are done and have not been handed out.
        read: The number of documents that were read to be answered, the first ones.
        done: The number of documents that have had a result or an error.
        failed: The number of those that had an error.
        tokens: The tokens of all texts written.
        stopped: What the model raised, if it failed.
    """

    def __init__(self, total: int | None = None, *, keeps_texts: bool = False) -> None:
        self.total = total
        self.results: dict[int, Done] = {}
        self.read = self.done = self.failed = self.tokens = 0
        self.stopped: Exception | None = None
        self._keeps_texts = keeps_texts
        self._listeners = Listeners()
        self._incomplete = Incomplete()

    def __repr__(self) -> str:
        of = "" if self.total is None else f" of {self.total}"
        return f"Outcome({self.done}{of} done, {self.failed} failed)"

    def observed(self, observe: Listener | None) -> AbstractContextManager[None]:
        """Tell a listener of the batch, and the log where it is wanted, from its start to its end."""
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
                told = id_of(given, position), task.output_type.name, model.name, model.has_chat_template
                self._listeners.tell(DocumentStarted(position, *told, batch=batch))

    def write(self, item: Item, attempt: int, candidates: Sequence[Generation]) -> None:
        """Count what was written in an attempt."""
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
        """Take note of answers that validators rejected in an attempt."""
        if self._listeners:
            for one in rejected:
                self._listeners.tell(AnswerRejected(item.position, attempt, one.error, batch=self._listeners.batch))

    def accept(
        self, item: Item | LongDocument, result: Any, text: str, *, shortened: bool = False, repetitive: bool = False
    ) -> None:
        """Take the result of a document and its text; it may have been shortened, or led out of a repetition."""
        self.results[item.position] = Done(result, text=text if self._keeps_texts else None)
        self.done += 1
        self._incomplete.note(item, shortened=shortened, repetitive=repetitive)
        if self._listeners:
            self._listeners.tell(DocumentAccepted(item.position, result, shortened, batch=self._listeners.batch))
            self._tell_progress()

    def fail(self, position: int, error: StructuredError) -> None:
        """Take the error of a document."""
        self.results[position] = Done(None, error)
        self.done += 1
        self.failed += 1
        if self._listeners:
            self._listeners.tell(DocumentFailed(position, error, batch=self._listeners.batch))
            self._tell_progress()

    def _tell_progress(self) -> None:
        figures = self.total, self.read, self.done, self.failed, self.tokens, self._listeners.seconds
        self._listeners.tell(BatchProgress(*figures, batch=self._listeners.batch))

    def check_stopped(self) -> None:
        """Raise what the model raised, if it failed."""
        if self.stopped is not None:
            raise self.stopped

    def only(self) -> Any:
        """Return the result of the one document, with a warning if it was shortened. Raises its error."""
        self.warn()
        self.check_stopped()
        (done,) = self.results.values()
        if done.error is not None:
            raise done.error
        return done.value

    def all(self, errors: Errors) -> list[Any]:
        """Return the result of each document, in their order, with one warning for all that were shortened.

        Where the model failed, that is the error of each document that was not finished. Raises BatchError, or
        what the model raised if there is no result at all; with "return", the errors stand in place of the results.
        """
        self.warn()
        is_vain = not any(done.error is None for done in self.results.values())
        if self.stopped is not None and (errors == "skip" or (errors == "raise" and is_vain)):
            raise self.stopped
        unfinished = Done(None, None if self.stopped is None else self._as_model_error(self.stopped))
        positions = range(self.read if self.total is None else self.total)
        found = [self.results.get(position, unfinished) for position in positions]
        if errors == "return":
            return [one.value if one.error is None else one.error for one in found]
        if errors == "skip":
            return [one.value for one in found if one.error is None]
        failed = {position: one.error for position, one in enumerate(found) if one.error is not None}
        if failed:
            raise BatchError([one.value for one in found], failed) from self.stopped
        return [one.value for one in found]

    def note_loss(self, error: BaseException) -> None:
        """Tell an exception that ends the call from outside, such as an interrupt, what is lost by it."""
        finished = self.done - self.failed
        if finished:
            error.add_note(
                f"{finished:,}{of_all(self.total)} documents were finished, and their results are lost with this. "
                "`observe` receives each result as soon as it is there, so it can save them."
            )

    def _as_model_error(self, stopped: Exception) -> StructuredError:
        """Return what the model raised as an error of the library."""
        if isinstance(stopped, StructuredError):
            return stopped
        error = ModelError(
            f"The model failed after {self.done:,}{of_all(self.total)} documents: {type(stopped).__name__}: "
            f"{message(stopped)}. Fix that, and run the remaining documents."
        )
        error.__cause__ = stopped
        return error

    def warn(self) -> None:
        """Warn once of all answers that were shortened to fit a limit, and once of all that repeated themselves."""
        self._incomplete.warn(self.total)
