"""An answer that is being written enters; its pieces leave as they are known, and at the end the validated instance."""

from collections.abc import AsyncIterator, Callable, Generator, Iterator
from typing import Generic, TypeVar

from structured.decoding import Generation

T = TypeVar("T")


class Stream(Generic[T]):
    """An answer while it is written. Iterate over its pieces, with `for` or `async for`; then take `result()`.

    Nothing is written before it is asked for. An answer that is streamed is not drawn again if validators reject it.
    """

    def __init__(self, pieces: Generator[str, None, Generation], read: Callable[[Generation], T]) -> None:
        self.text = ""
        """What has been written so far."""
        self._pieces = pieces
        self._read = read
        self._generation: Generation | None = None

    def __repr__(self) -> str:
        return f"Stream({self.text!r}{'' if self._generation else ' …'})"

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        """Return the next piece of the text."""
        try:
            piece = next(self._pieces)
        except StopIteration as stop:
            self._generation = self._generation or stop.value
            raise
        self.text += piece
        return piece

    async def __aiter__(self) -> AsyncIterator[str]:
        """Yield the pieces; the model runs in a thread beside the event loop."""
        import asyncio

        while (piece := await asyncio.to_thread(next, self, None)) is not None:
            yield piece

    def result(self) -> T:
        """Write what is left, and return the validated instance. Raises GenerationError if validators reject it."""
        for _ in self:
            pass
        return self._read(self.generation)

    @property
    def generation(self) -> Generation:
        """The finished text with its diagnostics. Raises ValueError before it is finished."""
        if self._generation is None:
            raise ValueError("The text is not finished. Iterate to its end, or call result(), first.")
        return self._generation
