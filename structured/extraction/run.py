"""A run: documents go through the model together, and are attempted again where validators reject an answer.

Documents are prepared in blocks of some hundred, each in a thread while the model answers the block before.
"""

from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from contextvars import copy_context
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any, NamedTuple, Self, TypeAlias, TypeGuard, cast

from structured.automata import AUTOMATON_ERRORS
from structured.decoding.prompt_tokens import common_beginning
from structured.decoding.requests import Generation
from structured.decoding.strategy import Search
from structured.errors import (
    Attempt,
    BatchError,
    ModelError,
    NotStatedError,
    PatternError,
    SchemaError,
    StructuredError,
    VocabularyError,
    error_of_one,
)
from structured.extraction.acceptance import accept_candidates, result_of
from structured.extraction.batch_state import BatchState, showing
from structured.extraction.documents.chunks import DEFAULT_CHUNKING, Chunking
from structured.extraction.documents.document import DocumentLike, characters_of, id_of
from structured.extraction.guided_task import GuidedItem, GuidedTask
from structured.extraction.long_documents import LongDocument, prepare
from structured.extraction.options import ErrorPolicy, Options, search_of, warn_of_search, with_defaults
from structured.extraction.task import Answer, Item, Pending, Task
from structured.index.compilation import save_learned
from structured.models import LanguageModel
from structured.results.merging import Merged
from structured.results.result import Result, read_answer

BLOCK_BATCHES = 64
"""The batches of a block: their documents are prepared together, and answered before those of the next."""

MAX_BLOCK_CHARACTERS = 250_000
"""A block ends at this many characters once it has a batch's worth of documents.

A prepared document takes about a thousand times the memory of its text.
"""


Work: TypeAlias = Iterable[tuple[Task, DocumentLike] | None]
"""Documents to answer, each with its task; None for one that is passed over."""

WaitingDocument = tuple[int, Task, DocumentLike]
"""A document that is to be prepared: its position, its task and the document as the caller passed it."""


class PreparedBlock(NamedTuple):
    """A block of documents, prepared: those that failed, those that are answered at once, and those in chunks."""

    failures: list[tuple[int, DocumentLike, StructuredError]]
    items: list[Item]
    long_documents: list[LongDocument]


def prepared_blocks(
    work: Work, state: BatchState, options: Options, document_name: str | None
) -> Generator[PreparedBlock, None, None]:
    """Yield blocks of documents, each prepared in a thread while the block before is answered.

    `work` is read in the thread that asks for blocks. What it raises is raised after the block before.
    """
    prepare_block = partial(_prepare_block, options["chunking"] or DEFAULT_CHUNKING, document_name)
    with ThreadPoolExecutor(1, "documents") as pool:  # no thread until there is work
        blocks = blocks_of(work, options["batch_size"])
        waiting = next(blocks, [])
        block = prepare_block(waiting)
        reading_error: Exception | None = None
        while waiting and state.model_error is None:
            for one in waiting:
                state.start_document(*one)
            try:
                waiting = next(blocks, [])
            except Exception as error:  # noqa: BLE001  where the documents come from is the user's own code
                waiting, reading_error = [], error
            next_block = pool.submit(copy_context().run, prepare_block, waiting) if waiting else None
            yield block
            if next_block is not None:
                block = next_block.result()
        if reading_error is not None:
            raise reading_error


def blocks_of(work: Work, batch_size: int) -> Iterator[list[WaitingDocument]]:
    """Yield documents with their positions, in blocks; where reading them fails, what was read comes first."""
    block: list[WaitingDocument] = []
    characters = 0
    try:
        for position, entry in enumerate(work):
            if entry is None:
                continue
            task, document = entry
            block.append((position, task, document))
            characters += characters_of(document)
            is_large = characters >= MAX_BLOCK_CHARACTERS and len(block) >= batch_size
            if is_large or len(block) == BLOCK_BATCHES * batch_size:
                yield block
                block, characters = [], 0
    except Exception:
        if block:
            yield block
        raise
    if block:
        yield block


def _prepare_block(chunking: Chunking, document_name: str | None, waiting: list[WaitingDocument]) -> PreparedBlock:
    """Return documents prepared; of some there can be no answer, and they fail."""
    block = PreparedBlock([], [], [])
    for position, task, document in waiting:
        try:
            item = prepare(task, position, document, chunking, document_name=document_name)
        except Exception as error:  # noqa: BLE001  it costs no other document its answer
            name = document_name or f"document {id_of(document, position)}"
            failed = error_of_document(error, task, position, name, is_single=document_name is not None)
            block.failures.append((position, document, failed))
        else:
            (block.items if isinstance(item, Item) else block.long_documents).append(item)  # type: ignore[arg-type]
    return block


def error_of_document(error: Exception, task: Task, position: int, name: str, *, is_single: bool) -> StructuredError:
    """Return what was raised for a document as its error. Raises it if it concerns the type or the model."""
    if isinstance(error, NotStatedError):
        return error if is_single else error.at(position)
    by_type = isinstance(error, SchemaError | PatternError | VocabularyError)
    if by_type and not task.output_type.depends_on_document:
        raise error
    if isinstance(error, ModelError) and isinstance(task, GuidedTask):
        _ = task.prompt_prefix  # raises if the model reads no text at all
    return error_of_one(error, f"Reading {name}")


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
        self, work: Work, state: BatchState, *, progress: bool | None = False, document_name: str | None = None
    ) -> Generator[Result[Any], None, None]:
        """Yield the result of each document as soon as it is there, each of its own task.

        A single document may have a name for errors. Where the model fails, the state has its error, and it is raised
        in the end.
        """
        with (
            state.observed(self.options.get("observe")),
            showing(state, progress),
            closing(prepared_blocks(work, state, self.options, document_name)) as blocks,
        ):
            for failures, items, long_documents in blocks:
                state.follow(long_documents)
                for failure in failures:
                    state.add_failure(*failure)
                yield from state.take_results()
                for _ in chain(self._answer(items, state), self._answer_long(long_documents, state)):
                    yield from state.take_results()
            yield from state.take_results()
        state.warn()
        if state.model_error is not None:
            raise state.model_error

    def values(self, work: Work, *, total: int | None, errors: ErrorPolicy, progress: bool | None = False) -> list[Any]:
        """Return the values of all documents in their order, with one warning for all that were shortened.

        Raises BatchError if some documents failed, or the error of the model if there is no value at all; with
        `"return"`, errors are returned in place of values. With `"skip"` they are left out, and the error of the model
        is always raised.
        """
        state = BatchState(total)
        values: dict[int, Any] = {}
        try:
            for result in self.results(work, state, progress=progress):
                try:
                    values[result.position] = result.value  # the rest of a result is let go
                except Exception as error:  # noqa: BLE001  the value of a type of the user's own
                    values[result.position] = error_of_one(error, f"Reading the value of document {result.position}")
        except BaseException as error:
            if error is not state.model_error:
                state.note_loss(error)
                raise
        unfinished = state.error_of_unfinished()
        count = state.read if unfinished is None else max(state.read, total or 0)  # a length may be wrong
        outcomes = [values.get(position, unfinished) for position in range(count)]
        failures = {position: one for position, one in enumerate(outcomes) if isinstance(one, StructuredError)}
        has_no_value = len(failures) == len(outcomes)
        if state.model_error is not None and (errors == "skip" or (errors == "raise" and has_no_value)):
            raise state.model_error
        if errors == "skip":
            return [one for position, one in enumerate(outcomes) if position not in failures]
        if errors == "raise" and failures:
            results = [None if position in failures else one for position, one in enumerate(outcomes)]
            raise BatchError(results, failures) from state.model_error
        return outcomes

    def _answer(self, items: list[Item], state: BatchState) -> Iterator[None]:
        """Generate answers, and yield whenever one is done; where a shared automaton fails, again alone."""
        exhausted: list[GuidedItem] = []
        yield from self._attempts(items, state, exhausted)
        for item in exhausted:
            with failing_alone(item, state):
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
            pending = dict.fromkeys(item for item in pending if not item.whole.is_done)
            for item in pending:
                if attempt == retries:
                    item.drop_kept_answer()  # the last attempt is at the whole answer
            for item, candidates in self._candidates(list(pending), attempt, state):
                if item.whole.is_done:
                    del pending[item]
                elif _has_exhausted(item, candidates):
                    del pending[item]
                    exhausted.append(item)
                elif isinstance(candidates, StructuredError):
                    del pending[item]
                    _fail(item, candidates, state)
                    yield
                elif self.accept(item, candidates, state, attempt):
                    del pending[item]
                    yield
        for item in pending if state.model_error is None else ():
            _reject(item, state)
            yield
        save_indexes(items)

    def _answer_long(self, documents: list[LongDocument], state: BatchState) -> Iterator[None]:
        """Answer the chunks of long documents, merge what they say, and yield whenever some may be done."""
        while documents and state.model_error is None:
            items: list[Item] = []
            characters = 0
            for document in documents:
                while len(items) < BLOCK_BATCHES * self.options["batch_size"] and characters < MAX_BLOCK_CHARACTERS:
                    item = _next_chunk(document, state)
                    if item is None:
                        break
                    items.append(item)
                    characters += len(item.document)
            yield from self._answer(items, state)
            for document in documents if state.model_error is None else ():
                with failing_alone(document, state):
                    merged = document.merged_answer()
                    if merged is not None:
                        self._finish_long(document, merged, state)
            documents = [one for one in documents if not one.is_done]
            yield

    def _candidates(
        self, items: list[Item], attempt: int, state: BatchState
    ) -> Iterator[tuple[Item, list[Generation] | StructuredError]]:
        """Yield the candidates for each item as soon as they are written; none after what stops the model."""
        if state.model_error is not None or not items:
            return
        model, search = items[0].task.model, self.search.for_retries if attempt else self.search  # one model for all
        requests: dict[Item, Any] = {}
        try:
            if isinstance(model, LanguageModel):
                guided = cast("list[GuidedItem]", items)
                assert all(isinstance(item, GuidedItem) for item in guided), "the task of a language model is guided"
                shared = common_beginning([*{item.prompt_prefix for item in guided}])
                for item in guided:
                    with failing_alone(item, state):
                        requests[item] = item.task.request(item, search.sampler, attempt, shared)
                written = search.candidates(
                    model,
                    [*requests.values()],
                    batch_size=self.options["batch_size"],
                    batch_tokens=self.options.get("batch_tokens"),
                    jump_forward=self.options["jump_forward"],
                )
            else:
                from structured.extraction.remote_task import RemoteItem, served_candidates  # with what servers need

                for one in items:
                    with failing_alone(one, state):
                        assert isinstance(one, RemoteItem), "the task of a server is remote"
                        requests[one] = one.task.request(one, search, attempt)
                batch_size = self.options["batch_size"]
                written = served_candidates(model, [*requests.values()], search, batch_size=batch_size)
            places = [*requests]
            for place, candidates in written:
                yield places[place], candidates
        except Exception as error:  # a model of the user's own raises what it likes
            if error is state.listener_error:
                raise
            state.model_error = error

    def accept(self, item: Item, candidates: list[Generation], state: BatchState, attempt: int = 0) -> bool:
        """Take the answer of an item, and tell whether it is done: it has one among the candidates, or has failed."""
        with failing_alone(item, state):
            return self._accept(item, candidates, state, attempt)
        return True

    def _accept(self, item: Item, candidates: list[Generation], state: BatchState, attempt: int) -> bool:
        item.count(candidates)
        with state.attempt_written(item, attempt, candidates):
            answer = accept_candidates(item, candidates, self.search, self.options["repair"])
            if answer is not None and isinstance(item.whole, LongDocument):
                item.whole.add_answer(item, answer)
        if answer is None:
            return False
        if not isinstance(item.whole, LongDocument):
            state.add_result(
                item,
                result_of(item, answer, self.options),
                shortened=any(one.shortened for one in answer.accepted_generations),
                repeated_fields=answer.repeated_fields(item.task.output_type),
            )
        return True

    def _finish_long(self, document: LongDocument, merged: Merged, state: BatchState) -> None:
        """Take what the chunks of a document say together as its result; it fails if a validator rejects that."""
        output_type = document.task.output_type
        text = document.text_of(merged)
        value = read_answer(output_type, text)
        if isinstance(value, Attempt):
            document.attempts.append(value)
            remedy = (
                "The last of these is what the chunks of the document say together; each was accepted by itself. "
                "Loosen the rule (a max_length of a list holds for the whole document), or raise tokens of Chunking."
            )
            _reject(document, state, remedy=remedy)
            return
        document.is_done = True
        answer = Answer(text, value, document.generations(text), evidence=merged.evidence)
        result = result_of(document, answer, self.options, merged.conflicts)
        state.add_result(document, result, shortened=document.is_shortened, repeated_fields=document.repeated_fields)


def save_indexes(items: Iterable[Item]) -> None:
    """Save what was learned while some items were answered."""
    guided = [item for item in items if isinstance(item, GuidedItem) and item.task.options["cache"]]
    for index in {index for item in guided for index in (item.index, item.whole_start.guide.index)}:
        save_learned(index)


def _next_chunk(document: LongDocument, state: BatchState) -> Item | None:
    """Return the next chunk of a document, prepared; None if there is none now. The document fails if it cannot be."""
    source = document.input
    try:
        return document.next_item()
    except Exception as error:  # noqa: BLE001  it costs no other document its answer
        where = source.position, source.name
        _fail(document, error_of_document(error, document.task, *where, is_single=source.is_single), state)
        return None


@contextmanager
def failing_alone(pending: Pending, state: BatchState) -> Iterator[None]:
    """Let whatever the block raises be the error of one document; but what a listener raises ends the call."""
    try:
        yield
    except Exception as error:
        if error is state.listener_error:
            raise
        _fail(pending, error_of_one(error, f"Reading the answer for {pending.input.name}"), state)


def _has_exhausted(item: Item, error: list[Generation] | StructuredError) -> TypeGuard[GuidedItem]:
    """Tell whether an item failed in an automaton that texts before it may have exhausted."""
    if not (isinstance(item, GuidedItem) and isinstance(error, AUTOMATON_ERRORS)):
        return False
    return item.whole_start.guide.index.is_exhausted and not item.is_reset


def _reject(pending: Pending, state: BatchState, **remedy: str) -> None:
    """Let a document fail of which every answer was rejected."""
    if not pending.whole.is_done:
        with failing_alone(pending, state):
            _fail(pending, pending.rejection(**remedy), state)


def _fail(pending: Pending, error: StructuredError, state: BatchState) -> None:
    """Let a document fail, or the document that it is a part of; that fails once."""
    if pending.whole.is_done:
        return
    pending.whole.is_done = True
    if isinstance(pending, Item) and pending.chunk is not None:
        start, end = pending.chunk.body
        if end - start < len(pending.whole.document):
            error.add_note(f"This is about a part of the document: its characters {start:,} to {end:,}.")
    state.add_failure(pending.position, pending.input.original, error)
