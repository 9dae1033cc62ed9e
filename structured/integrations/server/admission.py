"""Admission: a limited number of requests at a time, those that wait in turn by client, and none beyond a limit."""

import asyncio
import itertools
from collections import deque

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

    async def enter(self, client: str) -> None:
        """Wait until it is the turn of a request, which then has to `leave`. Raises RequestError if there is none."""
        if self.is_closed:
            raise shutting_down()
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
            if turn.done() and not turn.cancelled() and turn.exception() is None:
                self.leave()  # its turn had come
            else:
                self._forget(client, turn)
            raise

    def close(self) -> None:
        """Let nobody in any more, neither who comes nor who waits."""
        self.is_closed = True
        for turn in itertools.chain.from_iterable(self._queues.values()):
            if not turn.done():
                turn.set_exception(shutting_down())
        self._queues.clear()

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


def shutting_down() -> RequestError:
    """Return why nobody is let in any more."""
    return RequestError(503, "The server is shutting down.", retry_after=RETRY_AFTER)
