"""Connections of uvicorn that are closed when a client neither sends nor reads.

A text is written at the model's pace, whoever reads it: its row is free when it is finished, and what the client has
not taken waits in memory, which its limit of tokens bounds. Rejected: writing no faster than the client reads, which
would hold a row of the batch for the slowest.
"""

import asyncio
from collections.abc import Callable
from typing import Any, ClassVar

from uvicorn.protocols.http.auto import AutoHTTPProtocol

_Protocol: Any = AutoHTTPProtocol  # of httptools where it is installed, or else of h11


class Connection(_Protocol):  # type: ignore[misc]
    """A connection that is aborted after `patience` seconds of waiting for its client.

    It waits for the head of a request, from the first byte on, or for a client to read; the middleware waits for
    bodies.
    """

    patience: ClassVar[float]

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Wait for the first request."""
        self._asks = _Timer(self.loop, self.patience, self._give_up)
        self._reads = _Timer(self.loop, self.patience, transport.abort)
        super().connection_made(transport)
        self._asks.start()

    def data_received(self, data: bytes) -> None:
        """Read on; wait for the rest of a request that has begun."""
        super().data_received(data)
        if self._is_idle:
            self._asks.start()
        else:
            self._asks.stop()

    def pause_writing(self) -> None:
        """Wait for the client to read."""
        super().pause_writing()
        self._reads.start()

    def resume_writing(self) -> None:
        """Send on."""
        super().resume_writing()
        self._reads.stop()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing any more."""
        self._asks.stop()
        self._reads.stop()
        super().connection_lost(exc)

    @property
    def _is_idle(self) -> bool:
        """Whether no request is being answered."""
        return self.cycle is None or self.cycle.response_complete

    def _give_up(self) -> None:
        if self._is_idle:
            self.transport.abort()


class _Timer:
    """Something that is done some time after it was started, unless it is stopped."""

    def __init__(self, loop: asyncio.AbstractEventLoop, seconds: float, run: Callable[[], None]) -> None:
        self._loop, self._seconds, self._run = loop, seconds, run
        self._handle: asyncio.TimerHandle | None = None

    def start(self) -> None:
        if self._handle is None:
            self._handle = self._loop.call_later(self._seconds, self._end)

    def stop(self) -> None:
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def _end(self) -> None:
        self._handle = None
        self._run()


def connections(patience: float) -> type[asyncio.Protocol]:
    """Return the class of connections with so much patience, for `uvicorn.Config(http=…)`."""
    made: type[asyncio.Protocol] = type("Connection", (Connection,), {"patience": patience})
    return made
