"""A running batch: one model, and the texts of many callers in the same forward passes.

Each caller has its own thread, and so has the batch. Texts join and leave the batch between tokens. Waiting texts are
taken from each caller in turn, so a caller with many texts does not delay the others.
"""

import copy
import os
from collections import deque
from collections.abc import Iterator
from collections.abc import Sequence as Sequence_
from contextlib import contextmanager
from contextvars import ContextVar, Token
from dataclasses import dataclass, field
from queue import SimpleQueue
from threading import Condition, Thread
from typing import Self
from weakref import finalize

from structured.decoding.scheduler import Scheduler
from structured.decoding.sequence import Sequence
from structured.errors import ModelError
from structured.errors.arguments import count
from structured.models import DecodingBatch, LanguageModel, Logits
from structured.models.protocol import WrappedModel

DEFAULT_SIZE = 32

PART = 512
"""How many tokens of a prompt are read between two tokens of the other texts."""

CALM = 256
"""After this many turns without a memory error, a batch that had to shrink doubles its size."""


class RunningBatch(WrappedModel):
    """A model that many threads share: texts requested at the same time go through it in one batch.

    It can replace a model everywhere. Sampling and streaming share the batch; beams and particles, whose texts depend
    on each other, take passes of their own. The answers are the same as without it.

        with RunningBatch(load_model("smollm2")) as model:
            extractor = Extractor(Person, model=model)  # called by the threads of a server, say

    Parameters:
        model: The model, as `load_model` returns it.
        size: The most texts at a time.
        max_tokens: The most tokens of these texts together, prompts and whole budgets counted; None for no limit.

    Raises:
        ValueError: `size` or `max_tokens` is below 1.
    """

    def __init__(self, model: LanguageModel, size: int = DEFAULT_SIZE, *, max_tokens: int | None = None) -> None:
        count(1)("size", size)
        if max_tokens is not None:
            count(1)("max_tokens", max_tokens)
        super().__init__(model)
        self.size = size
        self._desk = _Desk(Scheduler(model, size, max_tokens, PART if model.can_read_on else None), size)
        Thread(target=self._desk.run, name=f"running batch of {model.name}", daemon=True).start()
        finalize(self, self._desk.close)

    def __repr__(self) -> str:
        return f"RunningBatch({self.model!r}, size={self.size})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Finish the texts in the batch, and raise a ModelError for later ones."""
        self._desk.close()

    @property
    def live(self) -> int:
        """How many texts are in the batch."""
        return len(self._desk.scheduler.live) + len(self._desk.scheduler.partly.texts)

    @property
    def waiting(self) -> int:
        """How many texts wait for room in the batch."""
        return self._desk.waiting

    def prefill(
        self, prompts: Sequence_[Sequence_[int]], *, shared: int = 0, window: int = 0
    ) -> tuple[DecodingBatch, Logits]:
        """Read prompts for a batch of their own, as the model does."""
        return self.model.prefill(prompts, shared=shared, window=window)

    def turns(self, sequences: list[Sequence], *, watched: bool = False) -> Iterator[list[Sequence]]:
        """Finish some texts in the batch; after a turn in which some have ended, yield these.

        If `watched`, yield after each turn in which some of the texts are in the batch. If the iterator is closed, the
        unfinished texts leave the batch. Raises ModelError if the model raises it or the batch is closed, and the error
        of a `Caller` that has left.
        """
        if not sequences:
            return
        order = _Order(deque(sequences), watched)
        unfinished = set(sequences)
        with (_caller.get() or Caller()).waits_for(order.news):
            try:
                self._desk.submit(order)
                while unfinished:
                    ended = order.news.get()
                    if isinstance(ended, Exception):
                        raise ended
                    unfinished.difference_update(ended)
                    yield ended
            finally:
                self._desk.cancel(order, unfinished)


_News = SimpleQueue[list[Sequence] | Exception]
"""A queue of texts that have ended, or of the error that ended the waiting."""


class Caller:
    """A caller whose texts are written inside `with caller:`, until another thread calls `leave`."""

    def __init__(self) -> None:
        self.error: Exception | None = None
        """The error that is raised for waiting texts once the caller has left."""
        self._waits: set[_News] = set()
        self._token: Token[Caller | None] | None = None

    def __enter__(self) -> Self:
        self._token = _caller.set(self)
        return self

    def __exit__(self, *_: object) -> None:
        assert self._token is not None, "it was entered"
        _caller.reset(self._token)

    def leave(self, error: Exception | None = None) -> None:
        """Raise an error for all texts of this caller, now and later: the first one passed, or else a ModelError."""
        self.error = self.error or error or _left()
        for news in tuple(self._waits):
            news.put(_copied(self.error))

    @contextmanager
    def waits_for(self, news: _News) -> Iterator[None]:
        """Put this caller's error on a queue if it leaves inside the `with`."""
        self._waits.add(news)
        if self.error is not None:
            news.put(_copied(self.error))
        try:
            yield
        finally:
            self._waits.discard(news)


_caller: ContextVar[Caller | None] = ContextVar("caller", default=None)


@dataclass(slots=True, eq=False)
class _Order:
    """The texts of one call of `turns`."""

    waiting: deque[Sequence]
    is_watched: bool
    news: _News = field(default_factory=SimpleQueue)


@dataclass(slots=True, eq=False)
class _Desk:
    """The state that callers and the batch's thread share. Except in turns, it changes only while `changed` is held."""

    scheduler: Scheduler
    size: int
    orders: deque[_Order] = field(default_factory=deque)
    """The orders with waiting texts; the first is served next."""
    owners: dict[Sequence, _Order] = field(default_factory=dict)
    """The order of each text that the scheduler has."""
    leaving: set[Sequence] = field(default_factory=set)
    """Cancelled texts; those that have not ended leave the scheduler before its next turn."""
    is_closed: bool = False
    calm: int = 0
    """The number of turns since the last memory error."""
    process: int = field(default_factory=os.getpid)
    changed: Condition = field(default_factory=Condition)

    @property
    def waiting(self) -> int:
        """How many texts wait for room in the batch."""
        with self.changed:
            return sum(len(order.waiting) for order in self.orders) + len(self.scheduler.waiting)

    def submit(self, order: _Order) -> None:
        """Take in an order. Raises ModelError if the batch is closed."""
        with self.changed:
            if self.is_closed or self.process != os.getpid():
                where = "closed" if self.is_closed else "in another process"
                raise ModelError(
                    f"The running batch of {self.scheduler.model.name} is {where}. Make a new one in this process."
                )
            self.orders.append(order)
            self.changed.notify_all()

    def cancel(self, order: _Order, unfinished: set[Sequence]) -> None:
        """Let the unfinished texts of an order leave."""
        with self.changed:
            order.waiting.clear()
            if unfinished:
                self.leaving |= unfinished
                self.changed.notify_all()

    def close(self) -> None:
        """Refuse further orders."""
        with self.changed:
            self.is_closed = True
            self.changed.notify_all()

    def run(self) -> None:
        """Take turns until the batch is closed and empty."""
        while self._admit():
            size = self.scheduler.size
            try:
                self._tell(self._turn())  # without a variable, which would keep the texts until the next turn
            except Exception as error:  # noqa: BLE001  a model of the user's own raises what it likes
                self._fail(error)
            self.calm = 0 if self.scheduler.size < size else self.calm + 1
            if self.calm >= CALM:  # a batch that had to shrink grows again
                self.calm, self.scheduler.size = 0, min(2 * self.scheduler.size, self.size)

    def _turn(self) -> list[Sequence]:
        """Take a turn. If the model fails, try half of the texts, until the text that it fails for is alone."""
        try:
            return self.scheduler.turn()
        except ModelError as error:
            failed = self.scheduler.retreat(error)
            if failed:
                self.scheduler.size = self.size
            return failed

    def _admit(self) -> bool:
        """Admit texts while there is room, one of each caller in turn; return False if the batch is over."""
        with self.changed:
            self._drop()
            while not self.orders and not self.scheduler.is_busy:
                if self.is_closed:
                    return False
                self.changed.wait()
                self._drop()
            room = self.scheduler.size - len(self.scheduler.started) - len(self.scheduler.waiting)
            while self.orders and room > 0:
                order = self.orders.popleft()
                if order.waiting:  # else it was cancelled
                    text = order.waiting.popleft()
                    self.owners[text] = order
                    self.scheduler.waiting.append(text)
                    self.orders.append(order)
                    room -= 1
            self.scheduler.elsewhere = sum(len(text.waiting) for text in self.orders)
            return True

    def _drop(self) -> None:
        """Remove cancelled texts from the scheduler."""
        left = [text for text in self.leaving if self.owners.pop(text, None)]
        self.leaving.clear()
        self.scheduler.drop(left, _left())

    def _tell(self, ended: list[Sequence]) -> None:
        """Put the texts that have ended on the queues of their callers."""
        news: dict[_Order, list[Sequence]] = {
            self.owners[text]: [] for text in self.scheduler.live if self.owners[text].is_watched
        }
        for text in ended:
            news.setdefault(self.owners.pop(text), []).append(text)
        for order, texts in news.items():
            order.news.put(texts)

    def _fail(self, error: Exception) -> None:
        """Raise an error for all texts in the batch, and begin an empty one."""
        with self.changed:
            orders = {*self.owners.values()}
            self.owners.clear()
            self.scheduler.abandon()
            for order in orders:
                order.waiting.clear()
                order.news.put(_copied(error))


def _left() -> ModelError:
    return ModelError("The caller of this text has left.")


def _copied(error: Exception) -> Exception:
    """Return a copy of an error, so that each caller may raise it and add notes."""
    try:
        own = copy.copy(error)
    except Exception:  # noqa: BLE001  not every class of errors can be copied
        return error
    own.__cause__ = error.__cause__
    return own
