"""Work: what a request asks for, done in a thread beside the event loop, for as long as the client is there."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, TypeVar

from fastapi import Request

from structured.decoding.running_batch import Caller
from structured.integrations.server.admission import Admission, shutting_down
from structured.integrations.server.limits import Limits
from structured.integrations.server.request_errors import RequestError

T = TypeVar("T")

HUNG_UP = 499
"""The status that is logged where the client has gone; nobody reads it."""


class Work:
    """The threads of a server, and who may have one."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.admission = Admission(limits.running, limits.waiting)
        self.threads = ThreadPoolExecutor(limits.running, thread_name_prefix="request")

    def close(self) -> None:
        """Let nobody in any more, neither who comes nor who waits."""
        self.admission.close()
        self.threads.shutdown(wait=False)

    async def done(self, request: Request, run: Callable[[], T]) -> T:
        """Return what a function returns that runs in a thread once it is the request's turn.

        Where the client hangs up, or it takes too long, the texts that the function waits for leave the batch. Raises
        RequestError.
        """
        gone = asyncio.ensure_future(_has_hung_up(request))
        try:
            await self._admitted(request, gone)
            caller = Caller()
            try:
                return await self._in_time(self._in_thread(caller, run), gone)
            finally:
                caller.leave()
        finally:
            gone.cancel()

    async def streamed(
        self, request: Request, run: Callable[[], Iterator[T]]
    ) -> tuple[AsyncIterator[T], Callable[[], None]]:
        """Return an iterator over what an iterator yields that runs in a thread, once it is the request's turn.

        With it stands what lets the text leave the batch: to be called where nobody reads on, also if nobody has read
        at all. What takes too long leaves as well. Raises RequestError, also in the middle; what is wrong before there
        is a first piece is raised here.
        """
        gone = asyncio.ensure_future(_has_hung_up(request))
        caller, loop = Caller(), asyncio.get_running_loop()
        pieces: asyncio.Queue[T | None] = asyncio.Queue()

        def pump() -> None:
            try:
                for piece in run():
                    loop.call_soon_threadsafe(pieces.put_nowait, piece)
            finally:
                loop.call_soon_threadsafe(pieces.put_nowait, None)

        try:
            await self._admitted(request, gone)
            thread = self._in_thread(caller, pump)
            clock = loop.call_later(self.limits.seconds, caller.leave, self._too_late())
            thread.add_done_callback(lambda _: clock.cancel())
            first = await self._in_time(asyncio.ensure_future(pieces.get()), gone)
            if first is None:
                await thread
        except BaseException:
            caller.leave()
            raise
        finally:
            gone.cancel()

        async def read() -> AsyncIterator[T]:
            piece = first
            while piece is not None:
                yield piece
                piece = await pieces.get()
            await thread

        return read(), caller.leave

    async def _admitted(self, request: Request, gone: "asyncio.Future[None]") -> None:
        """Wait for the request's turn. Raises RequestError if too many wait, or the client has gone by then."""
        turn = asyncio.ensure_future(self.admission.enter(client_of(request)))
        try:
            await asyncio.wait({gone, turn}, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            if not turn.cancel() and turn.exception() is None:  # its turn had come
                self.admission.leave()
            raise
        if not turn.done():
            turn.cancel()
            raise RequestError(HUNG_UP, "The client has gone.")
        turn.result()

    async def _in_time(self, awaited: "asyncio.Future[T]", gone: "asyncio.Future[None]") -> T:
        """Return what is awaited. Raises RequestError if that takes too long, or the client has gone by then."""
        seconds = self.limits.seconds
        both: set[asyncio.Future[Any]] = {gone, awaited}
        await asyncio.wait(both, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if awaited.done():
            return awaited.result()
        if gone.done():
            raise RequestError(HUNG_UP, "The client has gone.")
        raise self._too_late()

    def _too_late(self) -> RequestError:
        return RequestError(504, f"The answer took longer than {self.limits.seconds:g} seconds.")

    def _in_thread(self, caller: Caller, run: Callable[[], T]) -> "asyncio.Future[T]":
        """Run a function in a thread; it leaves its place when it is over, whoever still waits for it."""
        if self.admission.is_closed:  # since its turn has come
            self.admission.leave()
            raise shutting_down()

        def work() -> T:
            with caller:
                return run()

        thread = asyncio.get_running_loop().run_in_executor(self.threads, work)
        thread.add_done_callback(self._over)
        return thread

    def _over(self, thread: "asyncio.Future[Any]") -> None:
        self.admission.leave()
        with suppress(asyncio.CancelledError):
            thread.exception()  # it has been read, whether or not somebody waits for it


def client_of(request: Request) -> str:
    """Return what tells the clients of a server apart: their addresses. A key is one for all, or anything at all."""
    return request.client.host if request.client else ""


async def _has_hung_up(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
