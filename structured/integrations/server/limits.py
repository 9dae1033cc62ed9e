"""Limits of requests: how much each may ask for, and how many are answered at a time, in threads."""

import asyncio
import itertools
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar

from fastapi import Request

from structured.decoding.running_batch import Caller
from structured.errors.arguments import check_fields, count, number
from structured.errors.calling_line import without_warnings
from structured.integrations.server.request_errors import RequestError


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a request may ask for, and how many may wait.

    Attributes:
        running: Requests that are answered at a time; the texts of all of them share one batch.
        waiting: Requests that wait for these. Whoever comes then gets 429, with `Retry-After`.
        body: Bytes of a request.
        schema: Characters of a schema, a pattern or a grammar.
        documents: Documents of a request.
        characters: Characters of the texts of a request, all together; each message of a chat counts as 16 more.
        max_tokens: Tokens that an answer may have at most, and has if the request does not say. Whoever asks for more
            gets 400.
        seconds: How long a request may take once it is its turn; then it gets 504.
        patience: Seconds in which a body has to come, or the request gets 408. `structured serve` also closes
            connections whose head does not come so soon, or whose client does not read for so long.
    """

    running: int = 32
    waiting: int = 256
    body: int = 4_000_000
    schema: int = 200_000
    documents: int = 256
    characters: int = 200_000
    max_tokens: int = 1024
    seconds: float = 300.0
    patience: float = 60.0

    def __post_init__(self) -> None:
        counts = ("running", "body", "schema", "documents", "characters", "max_tokens")
        positive = dict.fromkeys(("seconds", "patience"), number(lambda value: value > 0, "a positive number"))
        check_fields(self, {**dict.fromkeys(counts, count(1)), "waiting": count(0), **positive})


RETRY_AFTER = {"Retry-After": "2"}
"""The header of errors after which a client may try again, with the seconds until then."""


class Admission:
    """Lets requests in, `running` at a time; of those that wait, one of each client in turn. For one event loop."""

    def __init__(self, running: int, waiting: int) -> None:
        self.free_threads = running
        self.max_waiting = waiting
        self.is_closed = False
        self._queues: dict[str, deque[asyncio.Future[None]]] = {}
        """The waiting requests by client; the client whose turn is next comes first."""

    @property
    def waiting(self) -> int:
        """How many requests wait."""
        return sum(map(len, self._queues.values()))

    def enter(self, client: str) -> "asyncio.Future[None]":
        """Return the turn of a request, which is done when it comes. Raises RequestError if there is none."""
        if self.is_closed:
            raise shutting_down_error()
        turn = asyncio.get_running_loop().create_future()
        if self.free_threads > 0:
            self.free_threads -= 1
            turn.set_result(None)
        elif self.waiting < self.max_waiting:
            self._queues.setdefault(client, deque()).append(turn)
        else:
            raise RequestError(429, f"{self.max_waiting} requests are waiting already.", headers=RETRY_AFTER)
        return turn

    def give_up(self, client: str, turn: "asyncio.Future[None]") -> None:
        """Take back a turn, whether or not it has come."""
        if turn.cancel():
            self._queues[client].remove(turn)
            if not self._queues[client]:
                del self._queues[client]
        elif not turn.cancelled():
            self.leave()

    def close(self) -> None:
        """Refuse new requests and those that wait."""
        self.is_closed = True
        for turn in itertools.chain.from_iterable(self._queues.values()):
            turn.cancel()
        self._queues.clear()

    def leave(self) -> None:
        """Let in the next, if one waits."""
        if not self._queues:
            self.free_threads += 1
            return
        client = next(iter(self._queues))
        queue = self._queues.pop(client)
        queue.popleft().set_result(None)
        if queue:
            self._queues[client] = queue  # behind the others


def shutting_down_error() -> RequestError:
    """Return the error of a server that is shutting down."""
    return RequestError(503, "The server is shutting down.", headers=RETRY_AFTER)


T = TypeVar("T")


def hung_up_error() -> RequestError:
    """Return the error of a request whose client has gone, with the status that is logged."""
    return RequestError(499, "The client has gone.")


class RequestThreads:
    """The threads that answer requests, each when it is its turn: `running` at a time, one of each client in turn."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.admission = Admission(limits.running, limits.waiting)
        self.pool = ThreadPoolExecutor(limits.running, thread_name_prefix="request")

    def close(self) -> None:
        """Refuse new requests and those that wait."""
        self.admission.close()
        self.pool.shutdown(wait=False)

    async def call(self, request: Request, function: Callable[[], T]) -> T:
        """Call a function in a thread when it is the request's turn, and return its result.

        If the client hangs up, or time is up, its texts leave the batch. Raises RequestError.
        """
        pieces, leave = await self.stream(request, lambda: iter([(function(),)]))
        try:
            [(result,)] = [piece async for piece in pieces]
        finally:
            leave()
        return result

    async def stream(
        self, request: Request, function: Callable[[], Iterator[T]]
    ) -> tuple[AsyncIterator[T], Callable[[], None]]:
        """Iterate in a thread when it is the request's turn; return an asynchronous iterator, and `leave`.

        `leave` takes the text out of the batch: call it when nobody reads on. A text that takes too long leaves by
        itself. Raises RequestError for an error before the first item; the iterator raises it for a later one.
        """
        disconnection = asyncio.ensure_future(_has_hung_up(request))
        caller, loop = Caller(), asyncio.get_running_loop()
        pieces: asyncio.Queue[T | None] = asyncio.Queue()
        too_late = RequestError(504, f"The answer took longer than {self.limits.seconds:g} seconds.")

        def pump() -> None:
            try:
                with caller, without_warnings():  # of which an answer has marks
                    for piece in function():
                        loop.call_soon_threadsafe(pieces.put_nowait, piece)
            finally:
                loop.call_soon_threadsafe(pieces.put_nowait, None)

        try:
            await self._wait_for_turn(request, disconnection)
            thread = loop.run_in_executor(self.pool, pump)
            thread.add_done_callback(self._release)
            timer = loop.call_later(self.limits.seconds, caller.leave, too_late)
            thread.add_done_callback(lambda _: timer.cancel())
            next_piece = asyncio.ensure_future(pieces.get())
            awaited: set[asyncio.Future[Any]] = {disconnection, next_piece}
            await asyncio.wait(awaited, timeout=self.limits.seconds, return_when=asyncio.FIRST_COMPLETED)
            if not next_piece.done():
                raise hung_up_error() if disconnection.done() else too_late  # noqa: TRY301  as an error of the text
            first = next_piece.result()
            if first is None:
                await thread
        except BaseException:
            caller.leave()
            raise
        finally:
            disconnection.cancel()

        async def read() -> AsyncIterator[T]:
            piece = first
            while piece is not None:
                yield piece
                piece = await pieces.get()
            await thread

        return read(), caller.leave

    async def _wait_for_turn(self, request: Request, disconnection: "asyncio.Future[None]") -> None:
        """Wait for the request's turn. Raises RequestError if it does not come, or the client has gone by then."""
        client = request.client.host if request.client else ""  # an address: all clients share one key
        turn = self.admission.enter(client)
        try:
            if not turn.done():
                await asyncio.wait({disconnection, turn}, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            self.admission.give_up(client, turn)
            raise
        if turn.done() and not self.admission.is_closed:
            return
        self.admission.give_up(client, turn)
        raise shutting_down_error() if self.admission.is_closed else hung_up_error()

    def _release(self, thread: "asyncio.Future[None]") -> None:
        self.admission.leave()
        with suppress(asyncio.CancelledError):
            thread.exception()  # it has been read, whether or not somebody waits for it


async def _has_hung_up(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
