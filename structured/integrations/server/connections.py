"""The connections of a server: uvicorn's, given up where a client keeps them waiting."""

import asyncio
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol  # of httptools where it is installed, or else of h11


def connections(patience: float) -> type[asyncio.Protocol]:  # noqa: C901  the methods of a class
    """Return a class of uvicorn's connections that are aborted after some seconds of waiting for the client.

    A connection waits for the head of a request, or for the client to read; the middleware waits for bodies. A text is
    written at the model's pace, whoever reads it, and waits in memory. Rejected: writing no faster than the client
    reads, which would hold a row of the batch for the slowest.
    """
    protocol: Any = AutoHTTPProtocol

    class Connection(protocol):  # type: ignore[misc]
        def connection_made(self, transport: asyncio.Transport) -> None:
            self._timers: dict[str, asyncio.TimerHandle] = {}
            super().connection_made(transport)
            self._wait("head")

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self._is_idle:
                self._wait("head")
            else:
                self._stop("head")

        def pause_writing(self) -> None:
            super().pause_writing()
            self._wait("reading")

        def resume_writing(self) -> None:
            super().resume_writing()
            self._stop("reading")

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop("head")
            self._stop("reading")
            super().connection_lost(exc)

        @property
        def _is_idle(self) -> bool:
            return self.cycle is None or self.cycle.response_complete

        def _wait(self, reason: str) -> None:
            if reason not in self._timers:
                self._timers[reason] = self.loop.call_later(patience, self._give_up, reason)

        def _stop(self, reason: str) -> None:
            if reason in self._timers:
                self._timers.pop(reason).cancel()

        def _give_up(self, reason: str) -> None:
            del self._timers[reason]
            if reason == "reading" or self._is_idle:
                self.transport.abort()

    return Connection
