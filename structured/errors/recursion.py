"""Recursion of any depth: where little of the stack is left, a call continues on a new stack.

Users decide how deep schemas are, and how deep in their own calls they call the library. Python limits the calls of a
thread to some 1,000. Rejected: raising that limit, which all threads of a program share; and rewriting a dozen walks
without recursion.
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
"""Frames on a stack, those of the caller included, above which a deep call continues on a new stack."""

_CALLS_BETWEEN_CHECKS = 8
"""Nested calls between two checks of the height of the stack; a check takes longer the higher the stack is."""


class _Calls(threading.local):
    """The calls of `deep` functions on the stack of a thread.

    `depth` is the number of nested calls. `abandoned` is set when the caller that waits for them is interrupted.
    """

    depth = 0
    abandoned: threading.Event | None = None


_calls = _Calls()


def deep(function: Callable[P, T]) -> Callable[P, T]:
    """Let a function recurse to any depth, with at most some thirty frames between two of its calls."""

    @wraps(function)
    def call(*args: P.args, **options: P.kwargs) -> T:
        depth = _calls.depth
        if _calls.abandoned is not None and _calls.abandoned.is_set():
            raise KeyboardInterrupt("The caller no longer waits for this.")
        if depth % _CALLS_BETWEEN_CHECKS == 0 and _is_stack_high():
            return _on_new_stack(function, *args, **options)
        _calls.depth = depth + 1
        try:
            return function(*args, **options)
        finally:
            _calls.depth = depth

    return call


def with_room(function: Callable[P, T], *args: P.args, **options: P.kwargs) -> T:
    """Call a function of another library, whose depth is bounded, on a stack with enough room."""
    return _on_new_stack(function, *args, **options) if _is_stack_high() else function(*args, **options)


def _is_stack_high() -> bool:
    frame = sys._getframe()  # noqa: SLF001  there is no other way
    for _ in range(min(MAX_FRAMES, sys.getrecursionlimit() // 2)):
        if frame.f_back is None:
            return False
        frame = frame.f_back
    return True


def _on_new_stack(function: Callable[P, T], *args: P.args, **options: P.kwargs) -> T:
    """Call a function in a thread, and wait for its result or its error."""
    returned: list[T] = []
    raised: list[BaseException] = []
    abandoned = _calls.abandoned or threading.Event()

    def run() -> None:
        _calls.abandoned = abandoned
        try:
            returned.append(function(*args, **options))
        except BaseException as error:  # noqa: BLE001  raised again for the caller
            raised.append(error)

    thread = threading.Thread(target=copy_context().run, args=(run,), daemon=True)
    try:
        thread.start()
        thread.join()
    except BaseException:  # Ctrl-C, or a time-out of the caller
        abandoned.set()
        raise
    if raised:
        raise raised.pop()
    return returned.pop()
