"""An answer while it is written: its text, its finished values, and at the end the validated instance."""

import pickle
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from itertools import chain
from typing import Generic, NoReturn, TypeVar, cast

from structured.decoding.requests import Generation
from structured.errors import error_of_one
from structured.output_types.html import card, verbatim
from structured.output_types.output_type import OutputType
from structured.results.json_text import PartialReader, StreamEvent
from structured.results.result import Result

S = TypeVar("S")
T = TypeVar("T")

MAX_SHOWN_CHARACTERS = 60
"""Characters of a text that a repr shows, the last ones."""


class StreamIterator(Generic[S]):
    """What comes one after the other while an answer is written: for `for`, and for `async for`.

    In the latter the model runs in a thread beside the event loop.
    """

    def __init__(self, iterator: Iterator[S]) -> None:
        self._iterator = iterator

    def __reduce__(self) -> NoReturn:
        problem = f"A {type(self).__name__} is generated lazily, and stays in its process"
        raise pickle.PicklingError(f"{problem}. Take its text or its result() elsewhere, or the Extractor.")

    def __iter__(self) -> Iterator[S]:
        return self

    def __next__(self) -> S:
        return next(self._iterator)

    async def __aiter__(self) -> AsyncIterator[S]:
        import asyncio

        end = object()
        while (piece := await asyncio.to_thread(next, self, end)) is not end:
            yield cast("S", piece)


class Stream(StreamIterator[str], Generic[T]):
    """An answer that is generated lazily, as you iterate; `Extractor.stream` returns one.

    Iterate over the pieces of its text, over `events()` or over `partials()`, with `for` or `async for`; then take
    `result()`. All three read the same text: what one has returned, the others do not return again. A streamed answer
    is not sampled again if validators reject it, since it has been shown already. A notebook shows what has been
    written.
    """

    def __init__(
        self,
        pieces: Generator[str, None, Generation],
        output_type: OutputType[T],
        read: Callable[[Generation], Result[T]],
    ) -> None:
        super().__init__(self._read(pieces))
        self.text = ""
        """What has been written so far."""
        self._events: list[StreamEvent] = []
        self._is_closed = False
        """Whether the events of its end have been read."""
        self._reader: PartialReader[T] = PartialReader(output_type)
        self._read_result = read
        self._result: Result[T] | None = None
        self._generation: Generation | None = None
        self._failure: Exception | None = None
        """What the model raised, or why the answer was rejected."""

    def __repr__(self) -> str:
        end = self.text if len(self.text) <= MAX_SHOWN_CHARACTERS else f"…{self.text[-MAX_SHOWN_CHARACTERS:]}"
        return f"Stream({end!r}{'' if self._generation else ' …'})"

    def _repr_html_(self) -> str:
        """Return what has been written so far; nothing is written for it."""
        return card("Stream", "being written" if self._generation is None else "finished", verbatim(self.text))

    def events(self) -> StreamIterator[StreamEvent]:
        """Return the values of the answer, each as soon as it is complete, a container after its members."""
        return StreamIterator(event for _ in chain(self, ("",)) for event in self._take_events())

    def partials(self) -> StreamIterator[T]:
        """Return the answer so far, again each time a value is complete.

        An instance of a model may lack the attributes that are still to come, and then has not been validated as a
        whole. Type checkers take it for a whole one: read it with `getattr` or `model_fields_set`. See `PartialReader`.
        """
        return StreamIterator(self._reader.value for _ in chain(self, ("",)) if self._take_events())

    def result(self) -> Result[T]:
        """Write the rest and return the result, with the validated instance as its `value`.

        Raises GenerationError if validators reject it. What has been raised, by the model too, is raised every time.
        """
        for _ in self:
            pass
        if self._failure is not None:
            raise self._failure
        if self._result is None:
            try:
                self._result = self._read_result(self.generation)
            except Exception as error:
                self._failure = error
                raise
        return self._result

    @property
    def generation(self) -> Generation:
        """The finished text with its diagnostics. Raises ValueError before it is finished."""
        if self._generation is None:
            raise ValueError("The text is not finished. Iterate to its end, or call result(), first.")
        return self._generation

    def _read(self, pieces: Generator[str, None, Generation]) -> Iterator[str]:
        while True:
            try:
                piece = next(pieces)
            except StopIteration as stop:
                self._generation = stop.value
                return
            except Exception as error:
                self._failure = error
                raise
            self.text += piece
            try:
                self._events += self._reader.feed(piece)
            except Exception as error:
                self._failure = error_of_one(error, "Reading the answer")
                raise self._failure from error
            yield piece

    def _take_events(self) -> list[StreamEvent]:
        events, self._events = self._events, []
        if self._generation is not None and not self._is_closed:
            self._is_closed = True
            events += self._reader.close()
        return events
