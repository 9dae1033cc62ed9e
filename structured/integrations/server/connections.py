"""The connections of a server: those of uvicorn, aborted where a client keeps them waiting."""

import asyncio
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol  # of httptools where it is installed, or else of h11


def connection_class(patience: float) -> type[asyncio.Protocol]:  # noqa: C901  the methods of a class
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
            self._start_timer("head")

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self._awaits_request:
                self._start_timer("head")
            else:
                self._stop_timer("head")

        def pause_writing(self) -> None:
            super().pause_writing()
            self._start_timer("reading")

        def resume_writing(self) -> None:
            super().resume_writing()
            self._stop_timer("reading")

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop_timer("head")
            self._stop_timer("reading")
            super().connection_lost(exc)

        @property
        def _awaits_request(self) -> bool:
            return self.cycle is None or self.cycle.response_complete

        def _start_timer(self, awaited: str) -> None:  # the "head" of a request, or "reading" by the client
            if awaited not in self._timers:
                self._timers[awaited] = self.loop.call_later(patience, self._time_out, awaited)

        def _stop_timer(self, awaited: str) -> None:
            if awaited in self._timers:
                self._timers.pop(awaited).cancel()

        def _time_out(self, awaited: str) -> None:
            del self._timers[awaited]
            if awaited == "reading" or self._awaits_request:
                self.transport.abort()

    return Connection
