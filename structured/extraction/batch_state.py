"""The state of a batch: its counts and results, the progress shown of it, and the warnings about its answers.

The progress of a long batch is a bar on a terminal or in a notebook, and lines elsewhere if they are asked for. The
loop that writes the texts does nothing for it: a thread beside it reads the state as far as it has come, four times a
second. It writes to stderr alone, and starts after two seconds, so that short batches show nothing. The displays of
rich for notebooks were not taken, since without ipywidgets they warn; what is shown is rich's all the same.
"""

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import timedelta
from importlib import import_module
from threading import Event as ThreadEvent
from threading import Lock, Thread
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from structured.decoding.requests import Generation
from structured.errors import BudgetWarning, ModelError, RepetitionWarning, StructuredError
from structured.errors.calling_line import warn
from structured.errors.values import message
from structured.extraction.documents.document import DocumentLike, id_of, outline
from structured.extraction.events import (
    BATCH_NUMBERS,
    AttemptWritten,
    BatchEnded,
    BatchStarted,
    DocumentDone,
    DocumentStarted,
    Event,
    Listener,
    Progress,
    log_if_wanted,
)
from structured.extraction.long_documents import LongDocument
from structured.extraction.task import Item, Task
from structured.models import LanguageModel
from structured.output_types.paths import steps_to_path
from structured.results.result import Result

if TYPE_CHECKING:
    from rich.table import Table

MAX_LISTED_POSITIONS = 10
"""The most positions of documents that a warning lists."""


class _IncompleteAnswer(NamedTuple):
    """An answer that may be incomplete: where, of which task, and whether the model's context was what limited it."""

    position: int
    task: Task
    is_by_context: bool


def _budget_warning(answers: Sequence[_IncompleteAnswer], total: int | None) -> BudgetWarning:
    """Return the warning about answers that were shortened to fit a limit."""
    task = answers[0].task
    by_limit = [one.position for one in answers if not one.is_by_context]
    by_context = [one.position for one in answers if one.is_by_context]
    sentences: list[str] = []
    if by_limit:
        remedy = "Raise max_tokens, or split the text."
        if isinstance(task.model, LanguageModel):
            remedy = "Raise max_tokens, or set chunking=Chunking(tokens=…), and the text is read in parts."
        sentences.append(_sentence(by_limit, total, f"max_tokens={task.max_tokens}", remedy))
    if by_context:
        limit = f"the context of {task.model.name}: {task.model.context_length:,} tokens, prompt included"
        remedy = "Shorten or split the text, or use a model with a longer context."
        sentences.append(_sentence(by_context, total, limit, remedy))
    return BudgetWarning(" ".join(sentences), documents=[one.position for one in answers])


_OPTION_TO_ALLOW = {"documents": "repetition=Repetition(stop=False)", "rows": "stop_repetition=False"}
"""The option that allows repetition, of `extract_batch`, and of the processor of logits, whose batches have rows."""


def repetition_warning(
    positions: Sequence[int],
    total: int | None,
    limits: Iterable[str],
    fields: Sequence[str] = (),
    *,
    noun: Literal["documents", "rows"] = "documents",
) -> RepetitionWarning:
    """Return the warning about answers that repeated themselves, in known fields; `limits` say how types limit that."""
    what, _, it_is = _subject(positions, total, noun)
    allowed = f"Describe what the answer is to hold, or allow repetition with {_OPTION_TO_ALLOW[noun]}."
    advice = " ".join((*filter(None, dict.fromkeys(limits)), allowed))
    where = f" in {', '.join('the list' if field == '[]' else field for field in fields)}" if fields else ""
    problem = f"{what} repeated the same text{where} until that was ended; {it_is} valid but may be incomplete"
    return RepetitionWarning(f"{problem}. {advice}", documents=positions, fields=fields)


def _sentence(positions: Sequence[int], total: int | None, limit: str, remedy: str) -> str:
    what, verb, it_is = _subject(positions, total)
    return f"{what} {verb} shortened to fit {limit}; {it_is} valid but may be incomplete. {remedy}"


def _subject(positions: Sequence[int], total: int | None, noun: str = "documents") -> tuple[str, str, str]:
    """Return the answers for some documents or rows as the subject of a sentence, with the verb and a pronoun."""
    if total == 1:
        return "The answer", "was", "it is"
    listed = ", ".join(map(str, positions[:MAX_LISTED_POSITIONS]))
    more = ", …" if len(positions) > MAX_LISTED_POSITIONS else ""
    return f"The answers for {len(positions):,}{of_total(total)} {noun} ({listed}{more})", "were", "they are"


def of_total(total: int | None) -> str:
    """Return ` of 5`, where it is known how many documents there are."""
    return "" if total is None else f" of {total:,}"


class BatchState:
    """How far a batch has come, with the counts of `Progress`.

    Attributes:
        wants_evidence: Whether results are finished only with what is computed when it is first asked for.
        skipped: The number of documents that were passed over, since an earlier call had done them.
        model_error: The error of the model, if it failed.
        listener_error: What a listener raised, which ends the call.
    """

    def __init__(self, total: int | None = None, *, wants_evidence: bool = False) -> None:
        self.total = total
        self.wants_evidence = wants_evidence
        self.read = self.done = self.failed = self.tokens = self.skipped = 0
        self.model_error: Exception | None = None
        self._started = perf_counter()
        self._batch = next(BATCH_NUMBERS)
        self._listeners: list[Listener] = []
        self.listener_error: BaseException | None = None
        self._results: list[Result[Any]] = []  # that have not been handed out
        self._shortened: list[_IncompleteAnswer] = []
        self._repetitive: list[_IncompleteAnswer] = []
        self._repeated_fields: frozenset[str] = frozenset()
        self._long_documents: Sequence[LongDocument] = ()  # of the last block
        self._split_before = self._chunks_before = 0  # of the blocks before
        self._counted = self.progress

    @contextmanager
    def observed(self, observe: Listener | None) -> Iterator[None]:
        """Report the batch to a listener, and to the log where it is on, from its start to its end."""
        self._listeners += [*log_if_wanted(), *([] if observe is None else [observe])]
        self._started = perf_counter()
        error: BaseException | None = None
        try:
            self._tell(lambda: BatchStarted(self.total, batch=self._batch))
            yield
        except GeneratorExit:  # whoever iterates has had enough
            raise
        except BaseException as raised:
            error = raised
            raise
        finally:
            self._tell(lambda: BatchEnded(self.progress, error or self.model_error, batch=self._batch))

    def _tell(self, make: Callable[[], Event]) -> None:
        """Call each listener with an event, which is made if there is one; one that raises is not called again."""
        self._counted = self.progress
        if not self._listeners:
            return
        event = make()
        for listener in tuple(self._listeners):
            try:
                listener(event)
            except BaseException as error:
                self._listeners.remove(listener)
                self.listener_error = error
                raise

    def start_document(self, position: int, task: Task, document: DocumentLike) -> None:
        """Count a document that will be answered next."""
        self.read += 1
        names = task.output_type.name, task.model.name, task.model.has_chat_template
        self._tell(lambda: DocumentStarted(position, id_of(document, position), *names, batch=self._batch))

    def follow(self, documents: Sequence[LongDocument]) -> None:
        """Count the chunks of the long documents of a block, all of the block before being done."""
        self._chunks_before += sum(one.chunk_counts[1] for one in self._long_documents)
        self._split_before += len(self._long_documents)
        self._long_documents = documents

    def skip_document(self) -> None:
        """Count a document that an earlier call has done."""
        self.skipped += 1
        if self.total is not None:
            self.total -= 1

    @contextmanager
    def attempt_written(self, item: Item, attempt: int, candidates: Sequence[Generation]) -> Iterator[None]:
        """Count the texts of an attempt, and report it after the block, in which validators read the texts."""
        self.tokens += sum(one.written_tokens for one in candidates)
        kept, prompt_tokens, rejected, time = item.kept_answer, item.prompt_tokens, len(item.attempts), perf_counter()
        try:
            yield
        finally:
            self._tell(
                lambda: AttemptWritten(
                    item.position,
                    attempt,
                    tuple(candidates),
                    () if kept is None else tuple(sorted(steps_to_path(steps) for steps in kept.rewritten)),
                    prompt_tokens,
                    item.document,
                    None if item.chunk is None else item.chunk.body,
                    tuple(item.attempts[rejected:]),
                    self.progress,
                    batch=self._batch,
                    time=time,
                )
            )

    def add_result(
        self, item: Item | LongDocument, result: Result[Any], *, shortened: bool, repeated_fields: frozenset[str]
    ) -> None:
        """Add the result of a document; its answer may have been shortened, or have repeated itself in some fields.

        Raises what the evidence for it raises, if somebody wants that.
        """
        if self.wants_evidence:
            _ = result.data, result.evidence, result.flags
        answer = _IncompleteAnswer(item.position, item.task, item.is_limited_by_context)
        if shortened:
            self._shortened.append(answer)
        if repeated_fields:
            self._repetitive.append(answer)
            self._repeated_fields |= repeated_fields
        self._finish(result, shortened=shortened)

    def add_failure(self, position: int, document: DocumentLike, error: StructuredError) -> None:
        """Add the error of a document."""
        self._finish(failed_result(position, document, error), shortened=False)

    def _finish(self, result: Result[Any], *, shortened: bool) -> None:
        self._results.append(result)
        self.done += 1
        self.failed += result.error is not None
        self._tell(lambda: DocumentDone(result.position, result, shortened, self.progress, batch=self._batch))

    def take_results(self) -> list[Result[Any]]:
        """Return the results that were added since the last call."""
        results, self._results = self._results, []
        return results

    @property
    def shown_progress(self) -> Progress:
        """How far it had come at the last event: another thread, which shows it, sees no counts in between."""
        return replace(self._counted, seconds=perf_counter() - self._started)

    @property
    def progress(self) -> Progress:
        """How far it has come until now."""
        documents, seconds = self._long_documents, perf_counter() - self._started
        counts = [one.chunk_counts for one in documents]
        split, done = self._split_before + len(documents), self._split_before + sum(one.is_done for one in documents)
        chunks = self.read - split + self._chunks_before + sum(known for _, known in counts)
        chunks_done = self.done - done + self._chunks_before + sum(read for read, _ in counts)
        return Progress(self.total, self.read, self.done, self.failed, self.tokens, seconds, chunks, chunks_done)

    def error_of_unfinished(self) -> StructuredError | None:
        """Return the error of the documents that are not finished since the model failed; None if it did not."""
        stopped = self.model_error
        if stopped is None or isinstance(stopped, StructuredError):
            return stopped
        error = ModelError(
            f"The model failed after {self.done:,}{of_total(self.total)} documents: {type(stopped).__name__}: "
            f"{message(stopped)}. Fix that, and run the remaining documents."
        )
        error.__cause__ = stopped
        return error

    def note_loss(self, error: BaseException) -> None:
        """Add to an exception that ends the call from outside, such as an interrupt, what is lost by it."""
        finished = self.done - self.failed
        if finished:
            error.add_note(
                f"{finished:,}{of_total(self.total)} documents were finished, and their results are lost with this. "
                "`extract_results` hands out each result as soon as it is there, and `write_results` keeps it."
            )

    def warn(self) -> None:
        """Warn once of all answers that were shortened to fit a limit, and once of all that repeated themselves."""
        if self._shortened:
            warn(_budget_warning(sorted(self._shortened, key=lambda one: one.position), self.total))
        if self._repetitive:
            answers = sorted(self._repetitive, key=lambda one: one.position)
            limits = (one.task.output_type.how_to_limit for one in answers)
            fields = sorted(filter(None, self._repeated_fields))
            warn(repetition_warning([one.position for one in answers], self.total, limits, fields))


def failed_result(position: int, document: DocumentLike, error: StructuredError) -> Result[Any]:
    """Return the result of a document that has an error."""
    try:
        outlined = outline(document)
        text = outlined.text if isinstance(outlined.text, str) else ""
        metadata = outlined.metadata
    except Exception:  # noqa: BLE001  an object of the user's own, which has the error already
        text, metadata = "", {}
    attempts = tuple(getattr(error, "attempts", ()))
    return Result(id_of(document, position), position, text, metadata, error=error, attempts=attempts)


SECONDS_BEFORE_BAR = 2.0
"""Seconds before a bar appears that nobody asked for."""

SECONDS_BETWEEN_BARS = 0.25
"""Seconds between two looks at the state."""

SECONDS_BETWEEN_LINES = 10.0
"""Seconds between two lines, where there is no bar."""

_BAR_LOCK = Lock()
"""The lock that a batch holds while it shows a bar: two bars would write over each other."""


@contextmanager
def showing(state: BatchState, progress: bool | None) -> Iterator[None]:
    """Show the progress of a batch while it is under way; by None, only where a person may be waiting."""
    if state.total == 0 or not (progress or (progress is None and (_is_notebook() or is_terminal()))):
        yield
        return
    finished = ThreadEvent()
    thread = Thread(target=_wait_and_show, args=(state, finished, bool(progress)), name="progress", daemon=True)
    try:
        thread.start()
        yield
    finally:
        finished.set()
        thread.join()


def _wait_and_show(state: BatchState, finished: ThreadEvent, is_asked_for: bool) -> None:
    """Show a state that takes long, or that somebody asked for, unless another one is shown.

    A batch without anything to answer is not shown. Of a single document, only chunks are worth showing.
    """
    end = perf_counter() + SECONDS_BEFORE_BAR
    while perf_counter() < end and not (is_asked_for and (state.read or state.done)):
        if finished.wait(min(SECONDS_BETWEEN_BARS, SECONDS_BEFORE_BAR)):
            break
    if state.total == 0 or (finished.is_set() and not (is_asked_for and state.done)):
        return
    while not is_asked_for and state.total == 1 and not state.shown_progress.has_chunks:
        if finished.wait(SECONDS_BETWEEN_BARS):
            return
    if _BAR_LOCK.acquire(blocking=False):
        try:
            _show(state, finished)
        finally:
            _BAR_LOCK.release()


def _show(state: BatchState, finished: ThreadEvent) -> None:
    """Show a state again and again until it is over."""
    try:
        with ExitStack() as stack:
            display: Callable[[Progress], None] = _write_line
            interval = SECONDS_BETWEEN_LINES
            if _is_notebook():
                display, interval = _notebook_bar(), SECONDS_BETWEEN_BARS
            elif is_terminal():
                display, interval = _terminal_bar(stack), SECONDS_BETWEEN_BARS
            while not finished.is_set():
                if state.total != 0:  # those that are passed over do not count
                    display(state.shown_progress)
                finished.wait(interval)
            if state.total != 0:
                display(state.shown_progress)
    except (OSError, ValueError):  # stderr was closed: there is nobody to see it
        return


def _terminal_bar(stack: ExitStack) -> Callable[[Progress], None]:
    """Return a bar at the foot of the terminal, which leaves nothing behind; what is printed meanwhile is above it."""
    from rich.console import Console
    from rich.live import Live

    console = Console(stderr=True)
    live = Live(console=console, auto_refresh=False, transient=True, redirect_stdout=sys.stdout.isatty())
    stack.enter_context(live)
    return lambda progress: live.update(_bar(progress), refresh=True)


def _notebook_bar() -> Callable[[Progress], None]:
    """Return a bar in the output of a notebook's cell, where it stays as it was at the end."""
    from rich.text import Text

    handle: Any = import_module("IPython.display").display(Text(), display_id=True)
    return lambda progress: handle.update(_bar(progress))


def _write_line(progress: Progress) -> None:
    if sys.stderr:  # a program without a console has none
        sys.stderr.write(f"{', '.join(_progress_facts(progress))}\n")
        sys.stderr.flush()


def _bar(progress: Progress) -> "Table":
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    row = Table.grid(padding=(0, 2, 0, 0))
    row.add_column(max_width=30)  # which gives way where the terminal is narrow
    done, *facts = _progress_facts(progress)
    for _ in (done, *facts):
        row.add_column(no_wrap=True)
    styled = [Text(fact, style="red" if fact.endswith("failed") else "dim") for fact in facts]
    completed, total = _work(progress)
    row.add_row(ProgressBar(total=total, completed=completed), Text(done), *styled)
    return row


def _progress_facts(progress: Progress) -> list[str]:
    """Return the parts of a bar or line: `["5/9 documents", "1 failed", "2.0 documents/s", "0:00:02 left"]`.

    Where documents are split, their chunks stand in place of the documents per second, and of a single document.
    """
    done, failed, total, seconds = progress.done, progress.failed, progress.total, max(progress.seconds, 1e-3)
    completed, expected = _work(progress)
    answered = done - failed
    facts = [f"{done:,} documents" if total is None else f"{done:,}/{total:,} documents"]
    if progress.has_chunks:
        facts = facts if total != 1 else []
        facts.append(f"{progress.chunks_done:,}/{progress.chunks:,} chunks")
    if failed:
        facts.append(f"{failed:,} failed")
    if answered and not progress.has_chunks:
        facts.append(f"{answered / seconds:,.1f} documents/s")
    if progress.tokens:
        facts.append(f"{progress.tokens / seconds:,.0f} tokens/s")
    if total is None or expected is None:
        facts.append(_clock(seconds))
    elif done == total:
        facts.append(f"{_clock(seconds)} in all")
    elif completed > failed:  # most failures take no time
        facts.append(f"{_clock(seconds / (completed - failed) * (expected - completed))} left")
    return facts


def _work(progress: Progress) -> tuple[int, float | None]:
    """Return how many documents are done, and are expected; chunks instead if documents are split.

    Documents that have not started are expected to have as many chunks as those that have.
    """
    if not progress.has_chunks or not progress.read:
        return progress.done, progress.total
    expected = None if progress.total is None else progress.chunks * progress.total / progress.read
    return progress.chunks_done, expected


def _clock(seconds: float) -> str:
    return str(timedelta(seconds=round(seconds)))


def is_terminal() -> bool:
    """Tell whether stderr is a terminal that can draw over what it has shown."""
    try:
        return sys.stderr.isatty() and os.environ.get("TERM", "") not in ("dumb", "unknown")
    except (AttributeError, ValueError):  # none at all, or it is closed
        return False


def _is_notebook() -> bool:
    """Tell whether this is a cell of a notebook, as rich does: IPython is there, and its shell is that of a kernel."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return shell is not None and shell.__class__.__name__ not in ("TerminalInteractiveShell", "InteractiveShell")
