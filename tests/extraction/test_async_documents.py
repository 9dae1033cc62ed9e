"""Documents that an event loop waits for: read a little ahead, in the loop, while the model works in its thread."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from structured import Document, Extractor, aextract_batch, extract_batch
from structured.errors import PromptError
from structured.extraction import run
from structured.extraction.documents.async_documents import MAX_WAITING_DOCUMENTS
from structured.models import ScriptedModel


def extractor(**options: Any) -> Extractor[int]:
    return Extractor(int, model=ScriptedModel("3"), batch_size=2, **options)


def in_time(work: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
    """Run a coroutine; one that hangs fails."""
    return asyncio.run(asyncio.wait_for(work(), 60))


async def slowly(texts: list[str]) -> AsyncIterator[str]:
    assert threading.current_thread() is threading.main_thread()
    for text in texts:
        await asyncio.sleep(0)
        yield text


@settings(max_examples=10, deadline=None)
@given(st.lists(st.sampled_from(["Ana", ""]), max_size=9), st.integers(1, 2))
def test_answers_are_those_of_a_list(texts: list[str], batches: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run, "BLOCK_BATCHES", batches)
        told = extract_batch(int, texts, model=ScriptedModel("3"), errors="return")

        async def work() -> tuple[list[Any], list[Any]]:
            found = await aextract_batch(int, slowly(texts), model=ScriptedModel("3"), errors="return")
            streamed = [one async for one in extractor().aresults(slowly(texts))]
            return found, sorted(streamed, key=lambda one: one.position)

        found, streamed = in_time(work)
    assert list(map(repr, found)) == list(map(repr, told))
    assert [repr(one.error or one.value) for one in streamed] == list(map(repr, told))


def test_other_documents_stream_as_well() -> None:
    async def work() -> list[Any]:
        return [one async for one in extractor().aresults(["Ana", Document("Bob", "b")])]

    assert {one.position for one in in_time(work)} == {0, 1}


def test_no_more_is_read_than_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The loop is free meanwhile; where the results are left, the iterable is closed and the threads end."""
    monkeypatch.setattr(run, "BLOCK_BATCHES", 1)
    read, closed = 0, False

    async def endless() -> AsyncIterator[str]:
        nonlocal read, closed
        try:
            while True:
                read += 1
                yield f"text {read}"
                await asyncio.sleep(0)
        finally:
            closed = True

    async def work() -> None:
        results = extractor().aresults(endless())
        done = 0
        async for result in results:
            done += 1
            assert result.document == f"text {result.position + 1}"
            assert read <= done + MAX_WAITING_DOCUMENTS + 3 * 2 + 1
            if done == 30:
                break
        await results.aclose()  # type: ignore[attr-defined]

    in_time(work)
    assert closed
    for thread in threading.enumerate():
        if thread.name.startswith(("documents", "results")):
            thread.join(30)
            assert not thread.is_alive()


def test_where_reading_fails_nothing_read_is_lost() -> None:
    async def broken() -> AsyncIterator[str]:
        for text in ("Ana", "Bob", "Cy"):
            yield text
        raise OSError("the line is down")

    found = []

    async def stream() -> None:
        async for one in extractor().aresults(broken()):
            found.append(one)  # noqa: PERF401  what came before the error is kept

    with pytest.raises(OSError, match="the line is down"):
        in_time(stream)
    assert len(found) == 3
    with pytest.raises(OSError, match="the line is down"):
        in_time(lambda: aextract_batch(int, broken(), model=ScriptedModel("3")))


def test_cancelling_stops_the_reading() -> None:
    closed = False

    async def waits() -> AsyncIterator[str]:
        nonlocal closed
        try:
            yield "Ana"
            await asyncio.Event().wait()
        finally:
            closed = True

    async def work() -> None:
        task = asyncio.create_task(aextract_batch(int, waits(), model=ScriptedModel("3")))
        await asyncio.sleep(0.2)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert closed

    in_time(work)  # which waits for the model's thread


def test_a_call_without_event_loop_names_one_that_has_it() -> None:
    with pytest.raises(PromptError, match=r"asynchronous iterable\. Pass it to aextract_batch"):
        extract_batch(int, slowly([]), model=ScriptedModel("3"))  # type: ignore[call-overload]
