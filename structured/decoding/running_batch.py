"""A running batch: one model, and the texts of many callers in the same forward passes.

Each caller has a thread of its own, and so has the batch. Texts join it and leave it between tokens; those that wait
are taken in turn from each caller, so that one who asks for much does not keep the others waiting.
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
from types import TracebackType
from typing import Self
from weakref import finalize

from structured.decoding.scheduler import Scheduler
from structured.decoding.sequence import Sequence
from structured.errors import ModelError
from structured.errors.arguments import count
from structured.models import DecodingBatch, LanguageModel, Logits
from structured.models.protocol import Messages

DEFAULT_SIZE = 32

PART = 512
"""The tokens of a prompt that are read between two tokens of the other texts."""

CALM = 256
"""After so many turns a batch that was too much for the device is tried with twice as many texts."""


class RunningBatch(LanguageModel):
    """A model that many threads share: what they ask for at the same time goes through it in one batch.

    It stands wherever a model does. Sampling and streaming share the batch; beams and particles, whose texts depend on
    each other, take passes of their own. Answers are the same as without it.

        with RunningBatch(load_model("smollm2")) as model:
            extractor = Extractor(Person, model=model)  # called by the threads of a server, say

    Parameters:
        model: The model, as `load_model` returns it.
        size: The most texts at a time.
        max_tokens: The most tokens that these may have together, prompts and whole budgets counted; None for no limit.

    Raises:
        ValueError: `size` or `max_tokens` is below 1.
    """

    def __init__(self, model: LanguageModel, size: int = DEFAULT_SIZE, *, max_tokens: int | None = None) -> None:
        count(1)("size", size)
        if max_tokens is not None:
            count(1)("max_tokens", max_tokens)
        self.model = model
        self.size = size
        for name in _FACTS:
            setattr(self, name, getattr(model, name))
        self._desk = _Desk(Scheduler(model, size, max_tokens, PART if model.can_read_on else None), size)
        Thread(target=self._desk.run, name=f"running batch of {model.name}", daemon=True).start()
        finalize(self, self._desk.close)

    def __repr__(self) -> str:
        return f"RunningBatch({self.model!r}, size={self.size})"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Finish what is being written, and take no more: whoever asks for more gets a ModelError."""
        self._desk.close()

    @property
    def live(self) -> int:
        """How many texts are in the batch."""
        return len(self._desk.scheduler.live) + len(self._desk.scheduler.partly.texts)

    @property
    def waiting(self) -> int:
        """How many texts wait for room in it."""
        return self._desk.waiting

    def encode(self, prompt: str | Messages) -> list[int]:
        """Return the token ids of a prompt, as the model encodes it."""
        return self.model.encode(prompt)

    def prefill(
        self, prompts: Sequence_[Sequence_[int]], *, shared: int = 0, window: int = 0
    ) -> tuple[DecodingBatch, Logits]:
        """Read prompts for a batch of their own, as the model does."""
        return self.model.prefill(prompts, shared=shared, window=window)

    def turns(self, sequences: list[Sequence], *, watched: bool = False) -> Iterator[list[Sequence]]:
        """Finish some texts in the batch; yield those that have ended, together, as soon as they have.

        If they are watched, something is yielded after each turn in which they are in the batch. Where the iterator is
        closed, the texts that are left leave the batch. Raises ModelError: what the model raised, or that the batch is
        closed; and why its `Caller` has left.
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


_FACTS = (
    *("name", "vocabulary", "context_length", "has_chat_template"),
    *("can_roll_back", "can_read_on", "pass_cost", "logits_cost"),
)


_News = SimpleQueue[list[Sequence] | Exception]
"""Texts that have ended, or why none will."""


class Caller:
    """Somebody for whom texts are written in a `with` of it, until another thread calls `leave`."""

    def __init__(self) -> None:
        self.error: Exception | None = None
        """What whoever waits is told, once it has left."""
        self._waits: set[_News] = set()
        self._token: Token[Caller | None] | None = None

    def __enter__(self) -> Self:
        self._token = _caller.set(self)
        return self

    def __exit__(self, *_: object) -> None:
        assert self._token is not None, "it was entered"
        _caller.reset(self._token)

    def leave(self, error: Exception | None = None) -> None:
        """Let whoever waits, now or later, get an error: the first one given, or else a ModelError."""
        self.error = self.error or error or _left()
        for news in tuple(self._waits):
            news.put(_copied(self.error))

    @contextmanager
    def waits_for(self, news: _News) -> Iterator[None]:
        """Tell this caller's leaving to those who read the news, in a `with`."""
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
    """Texts that somebody waits for."""

    waiting: deque[Sequence]
    is_watched: bool
    news: _News = field(default_factory=SimpleQueue)


@dataclass(slots=True, eq=False)
class _Desk:
    """Where callers meet the thread of the batch. What it holds is changed with `changed` held, but for the turns."""

    scheduler: Scheduler
    size: int
    orders: deque[_Order] = field(default_factory=deque)
    """Those of whom texts wait, in the order in which they are next."""
    owners: dict[Sequence, _Order] = field(default_factory=dict)
    """Whose the texts are that the scheduler has."""
    leaving: set[Sequence] = field(default_factory=set)
    """Texts that nobody waits for any more; those that have not ended leave the scheduler before its next turn."""
    is_closed: bool = False
    calm: int = 0
    """For how many turns the texts have not been too much for the device."""
    process: int = field(default_factory=os.getpid)
    changed: Condition = field(default_factory=Condition)

    @property
    def waiting(self) -> int:
        """How many texts are not in the batch yet."""
        with self.changed:
            return sum(len(one.waiting) for one in self.orders) + len(self.scheduler.waiting)

    def submit(self, order: _Order) -> None:
        """Take in an order. Raises ModelError if the batch is closed."""
        with self.changed:
            if self.is_closed or self.process != os.getpid():
                where = "closed" if self.is_closed else "in another process"
                raise ModelError(f"The running batch of {self.scheduler.model.name} is {where}. Make one here.")
            self.orders.append(order)
            self.changed.notify_all()

    def cancel(self, order: _Order, unfinished: set[Sequence]) -> None:
        """Let the texts of an order leave that are unfinished."""
        with self.changed:
            order.waiting.clear()
            if unfinished:
                self.leaving |= unfinished
                self.changed.notify_all()

    def close(self) -> None:
        """Take nobody in any more."""
        with self.changed:
            self.is_closed = True
            self.changed.notify_all()

    def run(self) -> None:
        """Take turns for as long as there is somebody to take them for."""
        while self._admit():
            size = self.scheduler.size
            try:
                self._tell(self._turn())  # no name for them: it would hold them until the next turn
            except Exception as error:  # noqa: BLE001  a model of the user's own raises what it likes
                self._fail(error)
            self._recover(size)

    def _turn(self) -> list[Sequence]:
        """Take a turn. Where the model fails, half of the texts are tried, until the one that it fails for is alone."""
        try:
            return self.scheduler.turn()
        except ModelError as error:
            failed = self.scheduler.retreat(error)
            if failed:
                self.scheduler.size = self.size
            return failed

    def _recover(self, size: int) -> None:
        """Let the batch grow again some time after it had to shrink."""
        self.calm = 0 if self.scheduler.size < size else self.calm + 1
        if self.calm >= CALM:
            self.calm, self.scheduler.size = 0, min(2 * self.scheduler.size, self.size)

    def _admit(self) -> bool:
        """Let texts in while there is room, one of each caller in turn; tell whether there is anything to do."""
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
                if order.waiting:  # it is still there
                    one = order.waiting.popleft()
                    self.owners[one] = order
                    self.scheduler.waiting.append(one)
                    self.orders.append(order)
                    room -= 1
            self.scheduler.elsewhere = sum(len(one.waiting) for one in self.orders)
            return True

    def _drop(self) -> None:
        """Let those texts leave the scheduler that nobody waits for any more."""
        left = [one for one in self.leaving if self.owners.pop(one, None)]
        self.leaving.clear()
        self.scheduler.drop(left, _left())

    def _tell(self, ended: list[Sequence]) -> None:
        """Tell callers which of their texts have ended."""
        news: dict[_Order, list[Sequence]] = {
            self.owners[one]: [] for one in self.scheduler.live if self.owners[one].is_watched
        }
        for one in ended:
            news.setdefault(self.owners.pop(one), []).append(one)
        for order, texts in news.items():
            order.news.put(texts)

    def _fail(self, error: Exception) -> None:
        """Tell the callers of all texts in the batch that there will be none, and begin an empty one."""
        with self.changed:
            orders = {*self.owners.values()}
            self.owners.clear()
            self.scheduler.abandon()
            for order in orders:
                order.waiting.clear()
                order.news.put(_copied(error))


def _left() -> ModelError:
    return ModelError("Whoever asked for this text has left.")


def _copied(error: Exception) -> Exception:
    """Return an error that one caller may add notes to, and the next may raise as well."""
    try:
        own = copy.copy(error)
    except Exception:  # noqa: BLE001  not every class of errors can be copied
        return error
    own.__cause__ = error.__cause__
    return own
