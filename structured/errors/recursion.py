"""Recursion to any depth and from any caller: a call goes on on a stack of its own where there is little room left.

How deep schemas are is for users to say, and so is how deep a call of the library stands inside their own. Python ends
a thread's calls at some 1,000 inside each other. Raising that limit was rejected, since it is one for all threads of a
program; so was writing a dozen walks inside out, each with a stack of its own kind.
"""

import sys
import threading
from collections.abc import Callable
from contextvars import copy_context
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

MAX_FRAMES = 350
"""Frames on a stack, those of the caller among them, on which nothing deep is begun any more."""

_BETWEEN_LOOKS = 8
"""Calls inside each other between two looks at how high the stack is, each of which takes longer the higher it is."""


class _Calls(threading.local):
    """The calls of `deep` functions on the stack of a thread.

    `inside` is how many stand inside each other; `abandoned`, on a stack that was begun here, is set when whoever waits
    for it has been interrupted.
    """

    inside = 0
    abandoned: threading.Event | None = None


_calls = _Calls()


def deep(function: Callable[P, T]) -> Callable[P, T]:
    """Let a function call itself to any depth, if no more than some thirty frames lie between two of its calls."""

    @wraps(function)
    def call(*args: P.args, **options: P.kwargs) -> T:
        inside = _calls.inside
        if _calls.abandoned is not None and _calls.abandoned.is_set():
            raise KeyboardInterrupt("Nobody waits for this any more.")
        if inside % _BETWEEN_LOOKS == 0 and _is_high():
            return _on_new_stack(function, *args, **options)
        _calls.inside = inside + 1
        try:
            return function(*args, **options)
        finally:
            _calls.inside = inside

    return call


def with_room(function: Callable[P, T], *args: P.args, **options: P.kwargs) -> T:
    """Call a function on a stack that is not high: one of another library, of which the depth is known beforehand."""
    return _on_new_stack(function, *args, **options) if _is_high() else function(*args, **options)


def _is_high() -> bool:
    frame, most = sys._getframe(), min(MAX_FRAMES, sys.getrecursionlimit() // 2)  # noqa: SLF001  there is no other way
    for _ in range(most):
        if frame.f_back is None:
            return False
        frame = frame.f_back
    return True


def _on_new_stack(function: Callable[P, T], *args: P.args, **options: P.kwargs) -> T:
    """Return what a function returns, or raise what it raises, in a thread that is waited for."""
    returned: list[T] = []
    raised: list[BaseException] = []
    abandoned = _calls.abandoned or threading.Event()

    def run() -> None:
        _calls.abandoned = abandoned
        try:
            returned.append(function(*args, **options))
        except BaseException as error:  # noqa: BLE001  it is raised again where the caller waits
            raised.append(error)

    thread = threading.Thread(target=copy_context().run, args=(run,), daemon=True)
    try:
        thread.start()
        thread.join()
    except BaseException:  # Ctrl-C, or a time-out of the caller's
        abandoned.set()
        raise
    if raised:
        raise raised.pop()
    return returned.pop()
