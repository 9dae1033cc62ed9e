"""Windows: documents that are read and prepared together, each while the model works on the one before."""

from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import NamedTuple

from structured.errors import (
    BudgetError,
    NotStatedError,
    PatternError,
    PromptError,
    SchemaError,
    StructuredError,
)
from structured.extraction.batch_state import BatchState
from structured.extraction.documents.chunks import Chunking
from structured.extraction.documents.document import DocumentLike, characters_of
from structured.extraction.long_documents import LongDocument, prepare
from structured.extraction.task import Item, Task

BATCHES = 64
"""Batches whose documents are prepared together, sorted by length, and answered before the next are looked at."""

MAX_CHARACTERS = 250_000
"""Of these documents together, where they are long: what a document states takes a thousand times its memory."""


class Work(NamedTuple):
    """A document that waits, with its position and its task."""

    position: int
    task: Task
    document: DocumentLike


class Failure(NamedTuple):
    """A document of which there can be no answer."""

    position: int
    error: StructuredError


class Window(NamedTuple):
    """Documents that are answered together, prepared."""

    works: dict[int, Work]
    """All of them, by their positions."""
    failures: list[Failure]
    items: list[Item]
    long: list[LongDocument]


def ahead(
    work: Iterable[tuple[Task, DocumentLike] | None],
    state: BatchState,
    batch_size: int,
    chunking: Chunking,
    *,
    named: str | None = None,
) -> Generator[Window, None, None]:
    """Yield windows of documents until there are no more, or the model failed.

    `work` is read in the thread that asks for windows; the next window is prepared in another one meanwhile. None is a
    document that is passed over. What `work` raises is raised after the window before.
    """
    with ThreadPoolExecutor(1, "documents") as pool:  # no thread until there is work
        windows = windows_of(work, batch_size)
        given = next(windows, [])
        window = _prepared(given, chunking, named)
        broken: Exception | None = None
        while given and state.stopped is None:
            state.start(given)
            try:
                given = next(windows, [])
            except Exception as error:  # noqa: BLE001  where the documents come from is the user's own code
                given, broken = [], error
            beside = pool.submit(copy_context().run, _prepared, given, chunking, named) if given else None
            yield window
            if beside is not None:
                window = beside.result()
        if broken is not None:
            raise broken


def windows_of(work: Iterable[tuple[Task, DocumentLike] | None], batch_size: int) -> Iterator[list[Work]]:
    """Yield documents with their positions, so many together that sorting and batching them pays.

    Where reading them fails, what has been read is yielded first.
    """
    window: list[Work] = []
    characters = 0
    try:
        for position, one in enumerate(work):
            if one is None:
                continue
            task, document = one
            window.append(Work(position, task, document))
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


def _prepared(given: list[Work], chunking: Chunking, named: str | None) -> Window:
    """Return documents prepared; of some there can be no answer, and they fail."""
    window = Window({work.position: work for work in given}, [], [], [])
    for position, task, document in given:
        try:
            item = prepare(task, position, document, chunking, named=named)
        except StructuredError as error:
            failed = error_of_document(error, task, position, is_single=named is not None)
            window.failures.append(Failure(position, failed))
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
