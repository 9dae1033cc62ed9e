"""Texts from a model behind a server, several requests under way at a time."""

import dataclasses
from collections import defaultdict
from collections.abc import Generator, Iterator, Sequence
from contextlib import suppress
from contextvars import copy_context
from queue import Empty, SimpleQueue
from threading import Event, Thread
from time import perf_counter

from structured.decoding.requests import Diagnostics, Generation, SampledToken, Served
from structured.decoding.strategy import by_likelihood
from structured.errors import ServerError, StructuredError
from structured.models.remote.form import ServerAnswer, ServerRequest
from structured.models.remote.model import RemoteModel

_Done = tuple[int, Generation | Exception]


def served_candidates(
    model: RemoteModel, requests: Sequence[ServerRequest], *, samples: int, batch_size: int
) -> Iterator[tuple[int, list[Generation] | StructuredError]]:
    """Yield the samples for each request, the likeliest first, with its place, as soon as all of them are there.

    `batch_size` requests are under way at a time. For a request that fails, the error is yielded. Raises ServerError
    for one that all would fail with: the server cannot be reached, or refuses the key or the name of the model.
    """
    asked = [_sample(one, number) for one in requests for number in range(samples)]
    groups: defaultdict[int, list[Generation | StructuredError]] = defaultdict(list)
    for place, found in _as_completed(model, asked, batch_size):
        group = groups[place // samples]
        group.append(found)
        if len(group) == samples:
            del groups[place // samples]
            yield place // samples, by_likelihood(group)


def served_stream(model: RemoteModel, request: ServerRequest) -> Generator[str, None, Generation]:
    """Yield the pieces of one text as the server writes it; the generation is what it returns. Raises ServerError."""
    start = perf_counter()
    answer = yield from model.stream(request)
    return _generation(answer, perf_counter() - start)


def _sample(request: ServerRequest, number: int) -> ServerRequest:
    """Return a request for one of several samples, each with a seed of its own; the first has that of the request."""
    if not number or "seed" not in request.sampling:
        return request
    seed = (int(request.sampling["seed"]) + number) % 2**31
    return dataclasses.replace(request, sampling={**request.sampling, "seed": seed})


def _as_completed(
    model: RemoteModel, requests: Sequence[ServerRequest], batch_size: int
) -> Iterator[tuple[int, Generation | StructuredError]]:
    """Yield what becomes of each request, with its place.

    The threads are daemons: whoever interrupts the program does not wait for a server.
    """
    waiting: SimpleQueue[tuple[int, ServerRequest]] = SimpleQueue()
    done: SimpleQueue[_Done] = SimpleQueue()
    stop = Event()
    for one in enumerate(requests):
        waiting.put(one)

    def work() -> None:
        with suppress(Empty):
            while not stop.is_set():
                place, request = waiting.get_nowait()
                done.put((place, _written(model, request, stop)))

    for _ in range(min(batch_size, len(requests))):
        Thread(target=copy_context().run, args=(work,), name=f"asks {model.name}", daemon=True).start()
    try:
        for _ in requests:
            place, found = done.get()
            is_of_one = isinstance(found, StructuredError) and not (isinstance(found, ServerError) and found.is_for_all)
            if isinstance(found, Exception) and not is_of_one:
                raise found
            yield place, found  # type: ignore[misc]
    finally:
        stop.set()


def _written(model: RemoteModel, request: ServerRequest, stop: Event) -> Generation | Exception:
    start = perf_counter()
    try:
        return _generation(model.answer(request, stop), perf_counter() - start)
    except Exception as error:  # noqa: BLE001  it is raised in the thread that waits
        return error


def _generation(answer: ServerAnswer, seconds: float) -> Generation:
    """Return the answer of a server as a generation.

    The probability of a token is that which the server tells; whether among all tokens or the allowed ones, it does
    not say.
    """
    tokens = tuple(SampledToken(one.start, one.end, one.log_probability, 1.0) for one in answer.tokens)
    return Generation(
        answer.text,
        (),
        sum(one.log_probability for one in tokens),
        shortened=answer.shortened,
        diagnostics=Diagnostics(
            repetitions=int(answer.repetitive), tokens=tokens, seconds=seconds, seconds_in_model=seconds
        ),
        served=Served(answer.prompt_tokens, answer.written_tokens, answer.fault),
    )
