"""Calls that go on on a stack of their own: what they return and raise, and that they end when nobody waits."""

import signal
import threading
import time
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

import pytest

from structured.recursion import MOST_FRAMES, deep

setting: ContextVar[int] = ContextVar("setting", default=0)


@deep
def walk(depth: int, at_the_bottom: Callable[[], Any]) -> Any:
    """Call a function at some depth."""
    return walk(depth - 1, at_the_bottom) if depth else at_the_bottom()


@deep
def step() -> None:
    """Do a little work."""
    time.sleep(0.005)


def fail() -> None:
    raise LookupError("down there")


@pytest.mark.parametrize("depth", [0, MOST_FRAMES, 20 * MOST_FRAMES])
def test_what_is_returned_and_raised_does_not_depend_on_the_depth(depth):
    setting.set(depth)
    threads = threading.active_count()
    assert walk(depth, setting.get) == depth
    with pytest.raises(LookupError, match="down there"):
        walk(depth, fail)
    assert threading.active_count() == threads


def test_work_ends_when_whoever_waits_is_interrupted():
    """Ctrl-C reaches the main thread alone; the stacks that were begun notice at their next call."""
    steps = []

    def work() -> None:
        while True:
            step()
            steps.append(None)

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        with pytest.raises(KeyboardInterrupt):
            walk(5 * MOST_FRAMES, work)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    time.sleep(0.2)
    done = len(steps)
    assert done
    time.sleep(0.1)
    assert len(steps) == done
    assert walk(5 * MOST_FRAMES, lambda: "again") == "again"
