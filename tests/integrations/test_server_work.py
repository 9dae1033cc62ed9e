"""The threads of a server: who comes, waits, hangs up and is cancelled leaves every place as it was."""

import asyncio
import threading
from typing import Any, cast

import pytest

pytest.importorskip("fastapi", reason="The extra serve has the server.")

from structured.integrations.server.limits import Limits, RequestThreads
from structured.integrations.server.request_errors import RequestError


class Connected:
    """A request whose client stays."""

    headers: dict[str, str] = {}  # noqa: RUF012  nothing is written into it
    client = None

    async def receive(self) -> dict[str, Any]:
        await asyncio.Event().wait()
        raise AssertionError


REQUEST = cast("Any", Connected())


@pytest.mark.parametrize("steps", range(8))
@pytest.mark.parametrize("waits", [False, True])
def test_a_cancelled_request_gives_its_place_back(steps: int, waits: bool) -> None:
    """Whichever step of the event loop it is cancelled in: before its turn, as its turn comes, or while it runs."""

    async def scenario() -> None:
        threads, may_end = RequestThreads(Limits(running=1)), threading.Event()
        if waits:
            first = asyncio.ensure_future(threads.call(REQUEST, may_end.wait))
            await until(lambda: threads.admission.free_threads == 0)
        cancelled = asyncio.ensure_future(threads.call(REQUEST, lambda: None))
        if waits:
            await until(lambda: threads.admission.waiting == 1)
            may_end.set()
            await first
        for _ in range(steps):
            await asyncio.sleep(0)
        cancelled.cancel()
        await asyncio.gather(cancelled, return_exceptions=True)
        await until(lambda: threads.admission.free_threads == 1)
        assert await threads.call(REQUEST, lambda: "next") == "next"

    asyncio.run(scenario())


@pytest.mark.parametrize("steps", range(4))
def test_who_waits_when_the_server_ends_is_told_so(steps: int) -> None:
    """As who comes later is, and who has just been let in; what runs is finished."""

    async def scenario() -> None:
        threads, ends = RequestThreads(Limits(running=2)), [threading.Event(), threading.Event()]
        running = [asyncio.ensure_future(threads.call(REQUEST, one.wait)) for one in ends]
        await until(lambda: threads.admission.free_threads == 0)
        waiting = [asyncio.ensure_future(threads.call(REQUEST, lambda: None)) for _ in range(2)]
        await until(lambda: threads.admission.waiting == 2)
        if steps:
            ends[0].set()
            await running[0]  # and one of those that wait is let in
        for _ in range(steps):
            await asyncio.sleep(0)
        threads.close()
        for one in ends:
            one.set()
        assert await asyncio.gather(*running) == [True, True]
        for one in await asyncio.gather(*waiting, threads.call(REQUEST, lambda: None), return_exceptions=True):
            assert one is None or (isinstance(one, RequestError) and one.status == 503), one
        assert threads.admission.free_threads == 2

    asyncio.run(scenario())


async def until(is_so: Any) -> None:
    """Let the loop go on until something is so."""
    async with asyncio.timeout(30):
        while not is_so():  # noqa: ASYNC110  no event tells it
            await asyncio.sleep(0)
