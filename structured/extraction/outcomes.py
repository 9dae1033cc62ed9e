"""The outcome of a call: for each document its result or its error, and which answers a token limit shortened."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from time import perf_counter
from typing import Any, Generic, NamedTuple, TypeVar

from structured.decoding.requests import Generation
from structured.errors import (
    Attempt,
    BatchError,
    BudgetWarning,
    GenerationError,
    ModelError,
    RepetitionWarning,
    StructuredError,
)
from structured.errors.calling_line import warn
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
    Event,
    Listener,
    next_batch,
)
from structured.extraction.log import Log, is_logged
from structured.extraction.long_documents import LongDocument
from structured.extraction.options import Errors
from structured.extraction.task import Item, Task
from structured.output_types.paths import steps_to_path

T = TypeVar("T")

SHORTENED = "Raise max_tokens, or set chunk_tokens, and the text is read in parts."
"""What to do about an answer that max_tokens shortened."""

MAX_NAMED = 10
"""Documents whose numbers a warning lists."""


def rejection(item: Item) -> GenerationError:
    """Return the error of a document every answer of which was rejected."""
    error = GenerationError(item.attempts, document=None if item.is_single else item.position)
    error.__cause__ = item.attempts[-1].error
    return error


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


class _Limited(NamedTuple):
    """An answer that was shortened: where, of which task, and whether the model's context was what limited it."""

    position: int
    task: Task
    is_by_context: bool


class Outcome:
    """What has become so far of some documents, by their positions.

    Attributes:
        total: The number of documents; None while they are still being read.
        results: Those that have not been handed out.
        errors: Likewise.
        texts: The answers as they were written, of results that have not been handed out; None if nobody needs them.
        read: The number of documents that were read to be answered, the first ones.
        done: The number of documents that have had a result or an error.
        failed: The number of those that had an error.
        tokens: The tokens of all texts written.
        stopped: What the model raised, if it failed.
    """

    def __init__(self, total: int | None = None, *, keeps_texts: bool = False) -> None:
        self.total = total
        self.texts: dict[int, str] | None = {} if keeps_texts else None
        self.results: dict[int, Any] = {}
        self.errors: dict[int, StructuredError] = {}
        self.read = self.done = self.failed = self.tokens = 0
        self.stopped: Exception | None = None
        self._batch, self._started = next_batch(), perf_counter()
        self._listeners: list[Listener] = []
        self._shortened: list[_Limited] = []
        self._repetitive: list[int] = []

    def __repr__(self) -> str:
        of = "" if self.total is None else f" of {self.total}"
        return f"Outcome({self.done}{of} done, {self.failed} failed)"

    @contextmanager
    def observed(self, observe: Listener | None) -> Iterator[None]:
        """Tell a listener of the batch, and the log where it is wanted, from its start to its end."""
        self._listeners = ([Log()] if is_logged() else []) + ([] if observe is None else [observe])
        self._started = perf_counter()
        error: BaseException | None = None
        try:
            if self._listeners:
                self._tell(BatchStarted(self.total, batch=self._batch))
            yield
        except GeneratorExit:  # whoever iterates has had enough
            raise
        except BaseException as raised:
            error = raised
            raise
        finally:
            if self._listeners:
                figures = self.read, self.done, self.failed, self.tokens, perf_counter() - self._started
                self._tell(BatchEnded(*figures, error or self.stopped, batch=self._batch))

    def _tell(self, event: Event) -> None:
        """Call each listener with an event; one that raises is not called again."""
        for listener in tuple(self._listeners):
            try:
                listener(event)
            except BaseException:
                self._listeners.remove(listener)
                raise

    def start(self, documents: Iterable[tuple[int, Task, DocumentLike]]) -> None:
        """Count documents that will be answered next, each with its position and its task."""
        for position, task, given in documents:
            self.read += 1
            if self._listeners:
                model, name = task.model, task.output_type.name
                identity = id_of(given, position)
                self._tell(
                    DocumentStarted(position, identity, name, model.name, model.has_chat_template, batch=self._batch)
                )

    def write(self, item: Item, attempt: int, candidates: Sequence[Generation]) -> None:
        """Count what was written in an attempt."""
        self.tokens += sum(len(one.token_ids) for one in candidates)
        if self._listeners:
            repair = item.repair
            paths = () if repair is None else sorted(steps_to_path(steps) for steps in repair.kept.places)
            prompt = (item.healed if repair is None else repair.healed).prompt
            self._tell(
                AttemptWritten(
                    item.position,
                    attempt,
                    tuple(candidates),
                    tuple(paths),
                    len(prompt),
                    item.document,
                    None if item.part is None else item.part.chunk.body,
                    batch=self._batch,
                )
            )

    def reject_answers(self, item: Item, attempt: int, rejected: Iterable[Attempt]) -> None:
        """Take note of answers that validators rejected in an attempt."""
        if self._listeners:
            for one in rejected:
                self._tell(AnswerRejected(item.position, attempt, one.error, batch=self._batch))

    def accept(
        self, item: Item | LongDocument, result: Any, text: str, *, shortened: bool = False, repetitive: bool = False
    ) -> None:
        """Take the result of a document and its text; it may have been shortened, or led out of a repetition."""
        self.results[item.position] = result
        if self.texts is not None:
            self.texts[item.position] = text
        self.done += 1
        if shortened:
            self._shortened.append(_Limited(item.position, item.task, item.is_limited_by_context))
        if repetitive:
            self._repetitive.append(item.position)
        if self._listeners:
            self._tell(DocumentAccepted(item.position, result, shortened, batch=self._batch))
            self._tell_progress()

    def fail(self, position: int, error: StructuredError) -> None:
        """Take the error of a document."""
        self.errors[position] = error
        self.done += 1
        self.failed += 1
        if self._listeners:
            self._tell(DocumentFailed(position, error, batch=self._batch))
            self._tell_progress()

    def _tell_progress(self) -> None:
        figures = self.total, self.read, self.done, self.failed, self.tokens, perf_counter() - self._started
        self._tell(BatchProgress(*figures, batch=self._batch))

    def reject(self, items: Iterable[Item]) -> None:
        """Give up documents every answer of which was rejected."""
        for item in items:
            self.fail(item.position, rejection(item))

    def check_stopped(self) -> None:
        """Raise what the model raised, if it failed."""
        if self.stopped is not None:
            raise self.stopped

    def only(self) -> Any:
        """Return the result of the one document, with a warning if it was shortened. Raises its error."""
        self.warn()
        self.check_stopped()
        for error in self.errors.values():
            raise error
        (result,) = self.results.values()
        return result

    def all(self, errors: Errors) -> list[Any]:
        """Return the result of each document, in their order, with one warning for all that were shortened.

        Where the model failed, that is the error of each document that was not finished. Raises BatchError, or
        what the model raised if there is no result at all; with "return", the errors stand in place of the results.
        """
        self.warn()
        if self.stopped is not None and (errors == "skip" or (errors == "raise" and not self.results)):
            raise self.stopped
        positions = range(self.read if self.total is None else self.total)
        failed = dict(self.errors)
        if self.stopped is not None:
            waiting = [one for one in positions if one not in self.results and one not in failed]
            failed |= dict.fromkeys(waiting, self._as_model_error(self.stopped))
        failed = dict(sorted(failed.items()))
        if errors == "return":
            return [failed.get(position, self.results.get(position)) for position in positions]
        results = [self.results.get(position) for position in positions]
        if errors == "skip":
            return [result for position, result in enumerate(results) if position not in failed]
        if failed:
            raise BatchError(results, failed) from self.stopped
        return results

    def note_loss(self, error: BaseException) -> None:
        """Tell an exception that ends the call from outside, such as an interrupt, what is lost by it."""
        finished = self.done - self.failed
        if finished:
            error.add_note(
                f"{finished:,}{self._of_all} documents were finished, and their results are lost with this. "
                "`observe` receives each result as soon as it is there, so it can save them."
            )

    def _as_model_error(self, stopped: Exception) -> StructuredError:
        """Return what the model raised as an error of the library."""
        if isinstance(stopped, StructuredError):
            return stopped
        error = ModelError(
            f"The model failed after {self.done:,}{self._of_all} documents: {type(stopped).__name__}: "
            f"{message(stopped)}. Fix that, and run the remaining documents."
        )
        error.__cause__ = stopped
        return error

    @property
    def _of_all(self) -> str:
        return "" if self.total is None else f" of {self.total:,}"

    def warn(self) -> None:
        """Warn once of all answers that were shortened to fit a limit, and once of all that repeated themselves."""
        if self._shortened:
            self._warn_of_limits()
        if self._repetitive:
            positions = sorted(self._repetitive)
            what, _, it_is = self._subject(positions)
            warn(
                RepetitionWarning(
                    f"{what} repeated the same text in a string or a list, which was closed; {it_is} valid but may "
                    "be incomplete. Limit the field, with Field(max_length=…), or describe what it is to hold; "
                    "stop_repetition=False allows repetition.",
                    documents=positions,
                )
            )

    def _warn_of_limits(self) -> None:
        shortened = sorted(self._shortened, key=lambda one: one.position)
        task = shortened[0].task
        by_limit = [one.position for one in shortened if not one.is_by_context]
        by_context = [one.position for one in shortened if one.is_by_context]
        sentences: list[str] = []
        if by_limit:
            sentences.append(self._sentence(by_limit, f"max_tokens={task.max_tokens}", SHORTENED))
        if by_context:
            limit = f"the context of {task.model.name}: {task.model.context_length:,} tokens, prompt included"
            remedy = "Shorten or split the text, or use a model with a longer context."
            sentences.append(self._sentence(by_context, limit, remedy))
        warn(BudgetWarning(" ".join(sentences), documents=[one.position for one in shortened]))

    def _sentence(self, positions: Sequence[int], limit: str, remedy: str) -> str:
        what, verb, it_is = self._subject(positions)
        return f"{what} {verb} shortened to fit {limit}; {it_is} valid but may be incomplete. {remedy}"

    def _subject(self, positions: Sequence[int]) -> tuple[str, str, str]:
        """Return the answers for some documents as the subject of a sentence, with the verb and a pronoun."""
        if self.total == 1:
            return "The answer", "was", "it is"
        named = ", ".join(map(str, positions[:MAX_NAMED]))
        more = ", …" if len(positions) > MAX_NAMED else ""
        return f"The answers for {len(positions):,}{self._of_all} documents ({named}{more})", "were", "they are"
