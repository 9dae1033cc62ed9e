"""A running batch: one model, and the texts of many callers in the same forward passes.

Each caller has a thread of its own, and so has the batch. Texts join it and leave it between tokens; those that wait
are taken in turn from each caller, so that one who asks for much does not keep the others waiting.
"""

import copy
import os
from collections import deque
from collections.abc import Iterator
from collections.abc import Sequence as Sequence_
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
        self._desk = _Desk(Scheduler(model, size, max_tokens), size)
        self._callers: set[_Caller] = set()
        Thread(target=self._desk.run, name=f"running batch of {model.name}", daemon=True).start()
        self._door = _Door()  # all callers have it, and the thread has not: when it is gone, they are
        finalize(self._door, self._desk.close)

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

    def caller(self) -> "RunningBatch":
        """Return the same batch as one caller has it, who may `leave` before the answers are there."""
        caller = copy.copy(self)
        caller._callers = set()  # noqa: SLF001  its own class
        return caller

    def leave(self) -> None:
        """Let the texts that are asked for here leave the batch; whoever waits for them gets a ModelError."""
        for caller in tuple(self._callers):
            caller.news.put(_left())

    @property
    def live(self) -> int:
        """How many texts are in the batch."""
        return len(self._desk.scheduler.live)

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
        closed.
        """
        if not sequences:
            return
        caller = _Caller(deque(sequences), watched)
        self._callers.add(caller)
        unfinished = set(sequences)
        try:
            self._desk.submit(caller)
            while unfinished:
                ended = caller.news.get()
                if isinstance(ended, Exception):
                    raise ended
                unfinished.difference_update(ended)
                yield ended
        finally:
            self._callers.discard(caller)
            self._desk.cancel(caller, unfinished)


_FACTS = ("name", "vocabulary", "context_length", "has_chat_template", "can_roll_back", "pass_cost", "logits_cost")


class _Door:
    """What whoever may ask for texts holds on to."""


@dataclass(slots=True, eq=False)
class _Caller:
    """Somebody who waits for texts."""

    waiting: deque[Sequence]
    is_watching: bool
    news: "SimpleQueue[list[Sequence] | Exception]" = field(default_factory=SimpleQueue)
    """Texts that have ended, or why none will."""


@dataclass(slots=True, eq=False)
class _Desk:
    """Where callers meet the thread of the batch. What it holds is changed with `changed` held, but for the turns."""

    scheduler: Scheduler
    size: int
    callers: deque[_Caller] = field(default_factory=deque)
    """Those of whom texts wait, in the order in which they are next."""
    owners: dict[Sequence, _Caller] = field(default_factory=dict)
    """Whose the texts are that the scheduler has."""
    is_closed: bool = False
    calm: int = 0
    """For how many turns the texts have not been too much for the device."""
    process: int = field(default_factory=os.getpid)
    changed: Condition = field(default_factory=Condition)

    @property
    def waiting(self) -> int:
        """How many texts are not in the batch yet."""
        with self.changed:
            return sum(len(one.waiting) for one in self.callers) + len(self.scheduler.waiting)

    def submit(self, caller: _Caller) -> None:
        """Take in a caller. Raises ModelError if the batch is closed."""
        with self.changed:
            if self.is_closed or self.process != os.getpid():
                where = "closed" if self.is_closed else "in another process"
                raise ModelError(f"The running batch of {self.scheduler.model.name} is {where}. Make one here.")
            self.callers.append(caller)
            self.changed.notify_all()

    def cancel(self, caller: _Caller, unfinished: set[Sequence]) -> None:
        """Let the texts of a caller leave that are left."""
        with self.changed:
            caller.waiting.clear()
            for one in unfinished:
                one.error = _left()

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
                ended = self.scheduler.turn()
            except Exception as error:  # noqa: BLE001  a model of the user's own raises what it likes
                self._fail(error)
            else:
                self._tell(ended)
            self._recover(size)

    def _recover(self, size: int) -> None:
        """Let the batch grow again some time after it had to shrink."""
        self.calm = 0 if self.scheduler.size < size else self.calm + 1
        if self.calm >= CALM:
            self.calm, self.scheduler.size = 0, min(2 * self.scheduler.size, self.size)

    def _admit(self) -> bool:
        """Let texts into the scheduler while there is room, one of each caller in turn; wait where there is none.

        Returns whether there is anything to do.
        """
        with self.changed:
            while not self.callers and not self.scheduler.is_busy:
                if self.is_closed:
                    return False
                self.changed.wait()
            room = self.scheduler.size - len(self.scheduler.live) - len(self.scheduler.waiting)
            while self.callers and room > 0:
                caller = self.callers.popleft()
                if caller.waiting:  # it is still there
                    one = caller.waiting.popleft()
                    self.owners[one] = caller
                    self.scheduler.waiting.append(one)
                    self.callers.append(caller)
                    room -= 1
            return True

    def _tell(self, ended: list[Sequence]) -> None:
        """Tell callers which of their texts have ended."""
        news: dict[_Caller, list[Sequence]] = {
            self.owners[one]: [] for one in self.scheduler.live if self.owners[one].is_watching
        }
        for one in ended:
            news.setdefault(self.owners.pop(one), []).append(one)
        for caller, texts in news.items():
            caller.news.put(texts)

    def _fail(self, error: Exception) -> None:
        """Tell the callers of all texts in the batch that there will be none, and begin an empty one."""
        with self.changed:
            callers = {*self.owners.values()}
            self.owners.clear()
            self.scheduler.abandon()
            for caller in callers:
                caller.waiting.clear()
                caller.news.put(_copied(error))


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
