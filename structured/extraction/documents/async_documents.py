"""Documents that an event loop waits for, read for a model that works in a thread; and results waited for in turn.

Each side runs at its own pace: a task of the loop reads ahead, and stops where enough documents wait.
"""

import asyncio
import queue
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from contextvars import Context
from itertools import islice
from typing import NamedTuple, TypeVar

from structured.extraction.documents.document import AsyncDocuments, DocumentLike, Documents

T = TypeVar("T")

MAX_WAITING_DOCUMENTS = 64
"""Documents that may wait until the model's thread takes them."""


class _End(NamedTuple):
    """What follows the last document: what was raised in its place, if anything was."""

    error: BaseException | None


@asynccontextmanager
async def readable(documents: AsyncDocuments) -> AsyncIterator[Documents]:
    """Return documents as a thread can read them, for a block; it raises what their iterable raises."""
    if not isinstance(documents, AsyncIterable):
        yield documents
        return
    ready: queue.SimpleQueue[DocumentLike | _End] = queue.SimpleQueue()
    places = asyncio.Semaphore(MAX_WAITING_DOCUMENTS)
    reading = asyncio.create_task(_read(documents, ready, places))
    try:
        yield _documents_for_thread(ready, places, asyncio.get_running_loop())
    finally:
        reading.cancel()
        with suppress(asyncio.CancelledError):
            await reading


async def _read(
    documents: AsyncIterable[DocumentLike], ready: "queue.SimpleQueue[DocumentLike | _End]", places: asyncio.Semaphore
) -> None:
    """Read documents as far as there is room."""
    iterator = aiter(documents)
    error: BaseException | None = None
    try:
        while True:
            await places.acquire()
            ready.put(await anext(iterator))
    except StopAsyncIteration:
        pass
    except asyncio.CancelledError as cancelled:
        error = cancelled
        raise
    except Exception as raised:  # noqa: BLE001  the user's own code, raised where the documents are taken
        error = raised
    finally:
        ready.put(_End(error))
        close = getattr(iterator, "aclose", None)  # of a generator
        if close is not None:
            await close()


def _documents_for_thread(
    ready: "queue.SimpleQueue[DocumentLike | _End]", places: asyncio.Semaphore, loop: asyncio.AbstractEventLoop
) -> Iterator[DocumentLike]:
    """Yield documents in a thread as they have been read."""
    while not isinstance(document := ready.get(), _End):
        with suppress(RuntimeError):  # the loop is closed, and reads no more
            loop.call_soon_threadsafe(places.release)
        yield document
    if document.error is not None:
        raise document.error


async def each_in_thread(results: Iterator[T], context: Context) -> AsyncGenerator[T, None]:
    """Yield results, each made in one thread while the event loop goes on; closing this gives up the others."""
    pool = ThreadPoolExecutor(1, "results")

    def next_result() -> tuple[T, ...]:
        return tuple(islice(results, 1))

    try:
        while result := await asyncio.wrap_future(pool.submit(context.run, next_result)):
            yield result[0]
    finally:
        close = getattr(results, "close", None)
        if close is not None:
            pool.submit(context.run, close)
        pool.shutdown(wait=False)
