"""Admission: a limited number of requests at a time, those that wait in turn by client, and none beyond a limit."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from structured.integrations.server.request_errors import RequestError

RETRY_AFTER = 2
"""Seconds after which a client that was turned away may try again."""


class Admission:
    """Lets requests in, `running` at a time; of those that wait, one of each client in turn. For one event loop."""

    def __init__(self, running: int, waiting: int) -> None:
        self.free = running
        self.max_waiting = waiting
        self.is_closed = False
        self._queues: dict[str, deque[asyncio.Future[None]]] = {}
        """Those that wait, by client; whose turn is next stands first."""

    @property
    def waiting(self) -> int:
        """How many requests wait."""
        return sum(map(len, self._queues.values()))

    @asynccontextmanager
    async def of(self, client: str) -> AsyncIterator[None]:
        """Wait until it is the turn of a request. Raises RequestError if too many wait already, or the server ends."""
        await self.enter(client)
        try:
            yield
        finally:
            self.leave()

    async def enter(self, client: str) -> None:
        """Wait until it is the turn of a request, which then has to `leave`."""
        if self.is_closed:
            raise RequestError(503, "The server is shutting down.", retry_after=RETRY_AFTER)
        if self.free > 0:
            self.free -= 1
            return
        if self.waiting >= self.max_waiting:
            raise RequestError(429, f"{self.max_waiting} requests are waiting already.", retry_after=RETRY_AFTER)
        turn = asyncio.get_running_loop().create_future()
        self._queues.setdefault(client, deque()).append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.leave()  # its turn had come
            else:
                self._forget(client, turn)
            raise

    def leave(self) -> None:
        """Let in the next, if one waits."""
        while self._queues:
            client, queue = next(iter(self._queues.items()))
            turn = queue.popleft()
            del self._queues[client]
            if queue:
                self._queues[client] = queue  # behind the others
            if not turn.done():
                turn.set_result(None)
                return
        self.free += 1

    def _forget(self, client: str, turn: "asyncio.Future[None]") -> None:
        queue = self._queues.get(client, deque())
        if turn in queue:
            queue.remove(turn)
        if not queue:
            self._queues.pop(client, None)
