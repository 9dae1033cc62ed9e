"""A run: documents go through the model together, and are attempted again where validators reject an answer.

Documents are read and prepared in windows, each while the model works on the one before.
"""

from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from contextvars import copy_context
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any, NamedTuple, Self, TypeGuard

from structured.automata import AUTOMATON_ERRORS
from structured.decoding.prompt_tokens import common_beginning
from structured.decoding.requests import Generation
from structured.decoding.strategy import Search
from structured.errors import (
    Attempt,
    BatchError,
    BudgetError,
    NotStatedError,
    PatternError,
    PromptError,
    SchemaError,
    StructuredError,
)
from structured.extraction.acceptance import accepted, result_of
from structured.extraction.batch_state import BatchState, showing
from structured.extraction.documents.chunks import DEFAULT_CHUNKING, Chunking
from structured.extraction.documents.document import DocumentLike, characters_of
from structured.extraction.guided_task import GuidedItem
from structured.extraction.long_documents import LongDocument, prepare
from structured.extraction.options import Errors, Options, search_of, warn_of_search, with_defaults
from structured.extraction.task import Answer, Item, Pending, Task
from structured.index.compilation import save_learned
from structured.models import LanguageModel
from structured.results.merging import Merged
from structured.results.result import Result, read_answer

BATCHES = 64
"""Batches whose documents are prepared together, sorted by length, and answered before the next are looked at."""

MAX_CHARACTERS = 250_000
"""Characters of the documents of a window that fills a batch: it ends there, since what is kept of a document takes a
thousand times its memory."""


Work = tuple[int, Task, DocumentLike]
"""A document that waits, behind its position and its task."""


class PreparedDocuments(NamedTuple):
    """Documents that are answered together, prepared, and those of which there can be no answer."""

    failures: list[tuple[int, DocumentLike, StructuredError]]
    items: list[Item]
    long: list[LongDocument]


def windows_ahead(
    work: Iterable[tuple[Task, DocumentLike] | None], state: BatchState, options: Options, named: str | None
) -> Generator[PreparedDocuments, None, None]:
    """Yield windows of documents, each prepared in a thread while the one before is answered.

    `work` is read in the thread that asks for windows. What it raises is raised after the window before.
    """
    prepared = partial(_prepared, options["chunking"] or DEFAULT_CHUNKING, named)
    with ThreadPoolExecutor(1, "documents") as pool:  # no thread until there is work
        windows = windows_of(work, options["batch_size"])
        given = next(windows, [])
        window = prepared(given)
        broken: Exception | None = None
        while given and state.stopped is None:
            for one in given:
                state.start(*one)
            try:
                given = next(windows, [])
            except Exception as error:  # noqa: BLE001  where the documents come from is the user's own code
                given, broken = [], error
            beside = pool.submit(copy_context().run, prepared, given) if given else None
            yield window
            if beside is not None:
                window = beside.result()
        if broken is not None:
            raise broken


def windows_of(work: Iterable[tuple[Task, DocumentLike] | None], batch_size: int) -> Iterator[list[Work]]:
    """Yield documents with their positions, in windows; where reading them fails, what was read comes first."""
    window: list[Work] = []
    characters = 0
    try:
        for position, one in enumerate(work):
            if one is None:
                continue
            task, document = one
            window.append((position, task, document))
            characters += characters_of(document)
            is_large = characters >= MAX_CHARACTERS and len(window) >= batch_size
            if is_large or len(window) == BATCHES * batch_size:
                yield window
                window, characters = [], 0
    except Exception:
        if window:
            yield window
        raise
    if window:
        yield window


def _prepared(chunking: Chunking, named: str | None, given: list[Work]) -> PreparedDocuments:
    """Return documents prepared; of some there can be no answer, and they fail."""
    window = PreparedDocuments([], [], [])
    for position, task, document in given:
        try:
            item = prepare(task, position, document, chunking, named=named)
        except StructuredError as error:
            failed = error_of_document(error, task, position, is_single=named is not None)
            window.failures.append((position, document, failed))
        else:
            (window.items if isinstance(item, Item) else window.long).append(item)  # type: ignore[arg-type]
    return window


def error_of_document(error: StructuredError, task: Task, position: int, *, is_single: bool) -> StructuredError:
    """Return an error that a document makes as its own. Raises one that concerns the type or the model."""
    if isinstance(error, NotStatedError):
        return error if is_single else error.at(position)
    by_type = isinstance(error, SchemaError | PatternError) and task.output_type.depends_on_document
    if isinstance(error, PromptError | BudgetError) or by_type:
        return error
    raise error


@dataclass(frozen=True, slots=True)
class Run:
    """How documents are answered: by which search, in which batches, in how many attempts."""

    search: Search
    options: Options
    """Those of the call, with the defaults of the others."""

    @classmethod
    def of(cls, options: Options) -> Self:
        """Return the run that options ask for. Raises ValueError for options that exclude each other."""
        search = search_of(options)
        warn_of_search(search.sampler, options)
        return cls(search, with_defaults(options))

    def results(
        self,
        work: Iterable[tuple[Task, DocumentLike] | None],
        state: BatchState,
        *,
        progress: bool | None = False,
        named: str | None = None,
    ) -> Generator[Result[Any], None, None]:
        """Yield the result of each document as soon as it is there, each of its own task.

        None in `work` is a document that is passed over. A single document may have a name for errors. Where the model
        fails, the state has its error, and it is raised in the end.
        """
        with (
            state.observed(self.options.get("observe")),
            showing(state, progress),
            closing(windows_ahead(work, state, self.options, named)) as windows,
        ):
            for failures, items, long in windows:
                for failure in failures:
                    state.fail(*failure)
                yield from state.take()
                for _ in chain(self._answer(items, state), self._answer_long(long, state)):
                    yield from state.take()
        state.warn()
        if state.stopped is not None:
            raise state.stopped

    def values(
        self,
        work: Iterable[tuple[Task, DocumentLike]],
        *,
        total: int | None,
        errors: Errors,
        progress: bool | None = False,
    ) -> list[Any]:
        """Return the values of all documents in their order, with one warning for all that were shortened.

        Raises BatchError if some documents failed, or the error of the model if there is no value at all; with
        `"return"`, errors are returned in place of values. With `"skip"` they are left out, and the error of the model
        is always raised.
        """
        state = BatchState(total)
        known: dict[int, Any] = {}
        try:
            for result in self.results(work, state, progress=progress):
                try:
                    known[result.position] = result.value  # the rest of a result is let go
                except StructuredError as error:
                    known[result.position] = error
        except BaseException as error:
            if error is not state.stopped:
                state.note_loss(error)
                raise
        unfinished = state.stopped_error()
        found = [known.get(position, unfinished) for position in range(state.read if total is None else total)]
        failed = {position: one for position, one in enumerate(found) if isinstance(one, StructuredError)}
        if state.stopped is not None and (errors == "skip" or (errors == "raise" and len(failed) == len(found))):
            raise state.stopped
        if errors == "skip":
            return [one for position, one in enumerate(found) if position not in failed]
        if errors == "raise" and failed:
            values = [None if position in failed else one for position, one in enumerate(found)]
            raise BatchError(values, failed) from state.stopped
        return found

    def _answer(self, items: list[Item], state: BatchState) -> Iterator[None]:
        """Generate answers, and yield whenever one is done; where a shared automaton fails, again alone."""
        exhausted: list[GuidedItem] = []
        yield from self._attempts(items, state, exhausted)
        for item in exhausted:
            item.reset()
            yield from self._attempts([item], state, [])

    def _attempts(self, items: list[Item], state: BatchState, exhausted: list[GuidedItem]) -> Iterator[None]:
        """Attempt each item until it has an answer or has failed, and yield whenever one has.

        Items that failed in an automaton that others had exhausted go to `exhausted`. The parts of a document that has
        failed are dropped.
        """
        pending = dict.fromkeys(items)
        retries = self.options["retries"]
        for attempt in range(retries + 1):
            pending = dict.fromkeys(item for item in pending if not item.whole.is_over)
            for item in pending:
                if attempt == retries:
                    item.start_over()  # the last attempt is at the whole answer
            for item, candidates in self._candidates(list(pending), attempt, state):
                if item.whole.is_over:
                    del pending[item]
                elif isinstance(candidates, StructuredError):
                    del pending[item]
                    if _has_exhausted(item, candidates):
                        exhausted.append(item)
                    else:
                        _fail(item, candidates, state)
                        yield
                elif self.accept(item, candidates, state, attempt):
                    del pending[item]
                    yield
        for item in pending if state.stopped is None else ():
            _fail(item, item.rejection(), state)
            yield
        save(items)

    def _answer_long(self, documents: list[LongDocument], state: BatchState) -> Iterator[None]:
        """Answer the chunks of long documents, merge what they say, and yield whenever some may be done."""
        while documents and state.stopped is None:
            items: list[Item] = []
            characters = 0
            for document in documents:
                while len(items) < BATCHES * self.options["batch_size"] and characters < MAX_CHARACTERS:
                    item = _next_part(document, state)
                    if item is None:
                        break
                    items.append(item)
                    characters += len(item.document)
            yield from self._answer(items, state)
            for document in documents:
                merged = document.answer() if state.stopped is None else None
                if merged is not None:
                    self._finish_long(document, merged, state)
            documents = [one for one in documents if not one.is_over]
            yield

    def _candidates(
        self, items: list[Item], attempt: int, state: BatchState
    ) -> Iterator[tuple[Item, list[Generation] | StructuredError]]:
        """Yield the candidates for each item as soon as they are written; none after what stops the model."""
        if state.stopped is not None or not items:
            return
        model, search = items[0].task.model, self.search.for_retries if attempt else self.search  # one model for all
        try:
            if isinstance(model, LanguageModel):
                guided = [item for item in items if isinstance(item, GuidedItem)]
                shared = common_beginning([*{item.beginning for item in guided}])
                written = search.candidates(
                    model,
                    [item.task.request(item, search.sampler, attempt, shared) for item in guided],
                    batch_size=self.options["batch_size"],
                    batch_tokens=self.options.get("batch_tokens"),
                    jump_forward=self.options["jump_forward"],
                )
            else:
                from structured.extraction.remote_task import served_candidates  # with what only servers need

                written = served_candidates(model, items, search, attempt, batch_size=self.options["batch_size"])
            for place, candidates in written:
                yield items[place], candidates
        except Exception as error:  # noqa: BLE001  a model of the user's own raises what it likes
            state.stopped = error

    def accept(self, item: Item, candidates: list[Generation], state: BatchState, attempt: int = 0) -> bool:
        """Take the answer of an item, and tell whether there is one among the candidates."""
        item.count(candidates)
        with state.written(item, attempt, candidates):
            answer = accepted(item, candidates, self.search, self.options["repair"])
        if answer is None:
            return False
        if isinstance(item.whole, LongDocument):
            item.whole.take(item, answer)
        else:
            state.accept(
                item,
                result_of(item, answer, self.options),
                shortened=any(one.shortened for one in answer.generations),
                repetitive=any(one.diagnostics.repetitions for one in answer.generations),
            )
        return True

    def _finish_long(self, long: LongDocument, merged: Merged, state: BatchState) -> None:
        """Take what the chunks of a document say together as its result; it fails if a validator rejects that."""
        wanted = long.task.output_type
        text = long.text_of(merged)
        value = read_answer(wanted, text)
        if isinstance(value, Attempt):
            long.attempts.append(value)
            remedy = (
                "The last of these is what the chunks of the document say together; each was accepted by itself. "
                "Loosen the rule (a max_length of a list holds for the whole document), or raise tokens of Chunking."
            )
            _fail(long, long.rejection(remedy=remedy), state)
            return
        long.is_over = True
        answer = Answer(text, value, [long.generation(text)], evidence=merged.evidence)
        result = result_of(long, answer, self.options, merged.conflicts)
        state.accept(long, result, shortened=long.shortened, repetitive=long.repetitive)


def save(items: Iterable[Item]) -> None:
    """Save what was learned while some items were answered."""
    guided = [item for item in items if isinstance(item, GuidedItem) and item.task.settings["cache"]]
    for index in {index for item in guided for index in (item.index, item.first_start.guide.index)}:
        save_learned(index)


def _next_part(document: LongDocument, state: BatchState) -> Item | None:
    """Return the next chunk of a document, prepared; None if there is none now. The document fails if it cannot be."""
    given = document.given
    try:
        return document.next_item()
    except StructuredError as error:
        _fail(document, error_of_document(error, document.task, given.position, is_single=given.is_single), state)
        return None


def _has_exhausted(item: Item, error: StructuredError) -> TypeGuard[GuidedItem]:
    """Tell whether an item failed in an automaton that texts before it may have exhausted."""
    if not (isinstance(item, GuidedItem) and isinstance(error, AUTOMATON_ERRORS)):
        return False
    return item.first_start.guide.index.is_exhausted and not item.is_reset


def _fail(pending: Pending, error: StructuredError, state: BatchState) -> None:
    """Let a document fail, or the document that it is a part of; that fails once."""
    if pending.whole.is_over:
        return
    pending.whole.is_over = True
    if isinstance(pending, Item) and pending.part is not None:
        start, end = pending.part.chunk.body
        error.add_note(f"This is about a part of the document: its characters {start:,} to {end:,}.")
    state.fail(pending.position, pending.given.source, error)
