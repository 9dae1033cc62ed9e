"""The listeners of a batch: the caller's `observe`, and the log where it is wanted."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter

from structured.extraction.events import Event, Listener, next_batch
from structured.extraction.log import Log, is_logged


class Listeners:
    """Whoever is told of the events of a batch. False where nobody is, and then no event is made.

    Attributes:
        batch: The number of the batch.
    """

    def __init__(self) -> None:
        self.batch = next_batch()
        self._all: list[Listener] = []
        self._started = perf_counter()

    def __bool__(self) -> bool:
        return bool(self._all)

    @property
    def seconds(self) -> float:
        """How long the batch has taken so far."""
        return perf_counter() - self._started

    @contextmanager
    def told(
        self, observe: Listener | None, started: Callable[[], Event], ended: Callable[[BaseException | None], Event]
    ) -> Iterator[None]:
        """Tell a listener, and the log where it is wanted, of the batch from its start to its end."""
        self._all = ([Log()] if is_logged() else []) + ([] if observe is None else [observe])
        self._started = perf_counter()
        error: BaseException | None = None
        try:
            if self:
                self.tell(started())
            yield
        except GeneratorExit:  # whoever iterates has had enough
            raise
        except BaseException as raised:
            error = raised
            raise
        finally:
            if self:
                self.tell(ended(error))

    def tell(self, event: Event) -> None:
        """Call each listener with an event; one that raises is not called again."""
        for listener in tuple(self._all):
            try:
                listener(event)
            except BaseException:
                self._all.remove(listener)
                raise
