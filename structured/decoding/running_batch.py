"""A running batch: one model, and the texts of many callers in the same forward passes.

Each caller has its own thread, and so has the batch. Texts join and leave the batch between tokens. Waiting texts are
taken from each caller in turn, so a caller with many texts does not delay the others.
"""

import copy
import os
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar, Token
from dataclasses import dataclass, field
from queue import SimpleQueue
from threading import Condition, Thread
from typing import Self
from weakref import finalize

from structured.decoding.scheduler import Scheduler
from structured.decoding.text_in_progress import TextInProgress
from structured.errors import ModelError
from structured.errors.arguments import count, or_none
from structured.models import LanguageModel
from structured.models.protocol import WrappedModel

DEFAULT_SIZE = 32

PART_TOKENS = 512
"""How many tokens of a prompt are read between two tokens of the other texts."""

CALM_TURNS = 256
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
        or_none(count(1))("max_tokens", max_tokens)
        super().__init__(model)
        self.size = size
        self._state = _SharedState(Scheduler(model, size, max_tokens, PART_TOKENS if model.can_read_on else None))
        Thread(target=self._state.run, name=f"running batch of {model.name}", daemon=True).start()
        finalize(self, self._state.close)

    def __repr__(self) -> str:
        return f"RunningBatch({self.model!r}, size={self.size})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Finish the texts in the batch, and raise a ModelError for later ones."""
        self._state.close()

    @property
    def live(self) -> int:
        """How many texts are in the batch."""
        return len(self._state.scheduler.live) + len(self._state.scheduler.partial_prefill.texts)

    @property
    def waiting(self) -> int:
        """How many texts wait for room in the batch."""
        return self._state.waiting

    def turns(self, texts: list[TextInProgress], *, watched: bool = False) -> Iterator[list[TextInProgress]]:
        """Finish some texts in the batch; after a turn in which some have ended, yield these.

        If `watched`, yield after each turn in which some of the texts are in the batch. If the iterator is closed, the
        unfinished texts leave the batch. Raises ModelError if the model raises it or the batch is closed, and the error
        of a `Caller` that has left.
        """
        if not texts:
            return
        submission = _Submission(deque(texts), watched)
        unfinished = set(texts)
        with (_caller.get() or Caller()).waits_for(submission.notifications):
            try:
                self._state.submit(submission)
                while unfinished:
                    ended = submission.notifications.get()
                    if isinstance(ended, BaseException):
                        raise ended
                    unfinished.difference_update(ended)
                    yield ended
            finally:
                self._state.cancel(submission, unfinished)


_Notifications = SimpleQueue[list[TextInProgress] | BaseException]
"""A queue of texts that have ended, or of the error that ended the waiting."""


class Caller:
    """A caller whose texts are written inside `with caller:`, until another thread calls `leave`."""

    def __init__(self) -> None:
        self.error: Exception | None = None
        """The error that is raised for waiting texts once the caller has left."""
        self._waits: set[_Notifications] = set()
        self._token: Token[Caller | None] | None = None

    def __enter__(self) -> Self:
        self._token = _caller.set(self)
        return self

    def __exit__(self, *_: object) -> None:
        assert self._token is not None, "it was entered"
        _caller.reset(self._token)

    def leave(self, error: Exception | None = None) -> None:
        """Raise an error for all texts of this caller, now and later: the first one passed, or else a ModelError."""
        self.error = self.error or error or _caller_left()
        for notifications in tuple(self._waits):
            notifications.put(_copied(self.error))

    @contextmanager
    def waits_for(self, notifications: _Notifications) -> Iterator[None]:
        """Put this caller's error on a queue if it leaves inside the `with`."""
        self._waits.add(notifications)
        if self.error is not None:
            notifications.put(_copied(self.error))
        try:
            yield
        finally:
            self._waits.discard(notifications)


_caller: ContextVar[Caller | None] = ContextVar("caller", default=None)


@dataclass(slots=True, eq=False)
class _Submission:
    """The texts of one call of `turns`."""

    waiting: deque[TextInProgress]
    is_watched: bool
    notifications: _Notifications = field(default_factory=SimpleQueue)


@dataclass(slots=True, eq=False)
class _SharedState:
    """The state that callers and the batch's thread share. Except in turns, it changes only while `changed` is held."""

    scheduler: Scheduler
    submissions: deque[_Submission] = field(default_factory=deque)
    """The submissions with waiting texts; the first is served next."""
    owners: dict[TextInProgress, _Submission] = field(default_factory=dict)
    """The submission of each text that the scheduler has."""
    cancelled: set[TextInProgress] = field(default_factory=set)
    """Cancelled texts; those that have not ended leave the scheduler before its next turn."""
    is_closed: bool = False
    calm_turns: int = 0
    """The number of turns since the last memory error."""
    process: int = field(default_factory=os.getpid)
    changed: Condition = field(default_factory=Condition)

    @property
    def waiting(self) -> int:
        """How many texts wait for room in the batch."""
        with self.changed:
            return sum(len(submission.waiting) for submission in self.submissions) + len(self.scheduler.waiting)

    def submit(self, submission: _Submission) -> None:
        """Take in a submission. Raises ModelError if the batch is closed."""
        with self.changed:
            if self.is_closed or self.process != os.getpid():
                where = "closed" if self.is_closed else "in another process"
                problem = f"The running batch of {self.scheduler.model.name} is {where}"
                raise ModelError(f"{problem}. Make a new one in this process.")
            self.submissions.append(submission)
            self.changed.notify_all()

    def cancel(self, submission: _Submission, unfinished: set[TextInProgress]) -> None:
        """Let the unfinished texts of a submission leave."""
        with self.changed:
            submission.waiting.clear()
            if unfinished:
                self.cancelled |= unfinished
                self.changed.notify_all()

    def close(self) -> None:
        """Refuse further submissions."""
        with self.changed:
            self.is_closed = True
            self.changed.notify_all()

    def run(self) -> None:
        """Take turns until the batch is closed and empty."""
        while True:
            size = self.scheduler.size
            try:
                if not self._admit():
                    return
                self._notify(self._turn())  # without a variable, which would keep the texts until the next turn
            except BaseException as error:  # noqa: BLE001  without this thread, every caller would wait for ever
                self._fail(error)
            self.calm_turns = 0 if self.scheduler.size < size else self.calm_turns + 1
            if self.calm_turns >= CALM_TURNS:  # a batch that had to shrink grows again
                self.calm_turns, self.scheduler.size = 0, min(2 * self.scheduler.size, self.scheduler.whole_size)

    def _turn(self) -> list[TextInProgress]:
        """Take a turn. If the model fails, try half of the texts, until the text that it fails for is alone."""
        try:
            return self.scheduler.turn()
        except ModelError as error:
            return self.scheduler.retreat(error)

    def _admit(self) -> bool:
        """Admit texts while there is room, one of each caller in turn; return False if the batch is over."""
        with self.changed:
            self._drop()
            while not self.submissions and not self.scheduler.is_busy:
                if self.is_closed:
                    return False
                self.changed.wait()
                self._drop()
            room = self.scheduler.size - len(self.scheduler.started) - len(self.scheduler.waiting)
            while self.submissions and room > 0:
                submission = self.submissions[0]
                if not submission.waiting:  # all its texts are in the scheduler, or it was cancelled
                    self.submissions.popleft()
                    continue
                text = submission.waiting.popleft()
                self.owners[text] = submission
                self.scheduler.waiting.append(text)
                self.submissions.rotate(-1)
                room -= 1
            self.scheduler.waiting_outside = sum(len(submission.waiting) for submission in self.submissions)
            return True

    def _drop(self) -> None:
        """Remove cancelled texts from the scheduler."""
        left = [text for text in self.cancelled if self.owners.pop(text, None)]
        self.cancelled.clear()
        self.scheduler.drop(left, _caller_left())

    def _notify(self, ended: list[TextInProgress]) -> None:
        """Put the texts that have ended on the queues of their callers."""
        notifications: dict[_Submission, list[TextInProgress]] = {
            self.owners[text]: [] for text in self.scheduler.live if self.owners[text].is_watched
        }
        for text in ended:
            notifications.setdefault(self.owners[text], []).append(text)
        for submission, texts in notifications.items():
            submission.notifications.put(texts)
        for text in ended:
            del self.owners[text]

    def _fail(self, error: BaseException) -> None:
        """Raise an error for all texts, also for those that wait, and begin an empty batch."""
        with self.changed:
            submissions = {*self.owners.values(), *self.submissions}
            self.owners.clear()
            self.submissions.clear()
            self.cancelled.clear()
            self.scheduler.abandon()
            for submission in submissions:
                submission.waiting.clear()
                submission.notifications.put(_copied(error))


def _caller_left() -> ModelError:
    return ModelError("The caller of this text has left.")


def _copied(error: BaseException) -> BaseException:
    """Return a copy of an error, so that each caller may raise it and add notes."""
    try:
        own = copy.copy(error)
    except Exception:  # noqa: BLE001  not every class of errors can be copied
        return error
    own.__cause__ = error.__cause__
    return own
