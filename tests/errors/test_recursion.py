"""Calls that go on on a stack of their own: what they return and raise, and that they end when nobody waits."""

import signal
import threading
import time
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

import pytest

from structured.errors.recursion import MAX_FRAMES, deep

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


@pytest.mark.parametrize("depth", [0, MAX_FRAMES, 20 * MAX_FRAMES])
def test_what_is_returned_and_raised_does_not_depend_on_the_depth(depth):
    setting.set(depth)
    threads = threading.active_count()
    assert walk(depth, setting.get) == depth
    with pytest.raises(LookupError, match="down there"):
        walk(depth, fail)
    assert threading.active_count() == threads


def endless(steps: list[None]) -> None:
    """Work that does not end by itself."""
    while True:
        step()
        steps.append(None)


def assert_that_it_ends(steps: list[None]) -> None:
    """Wait until no more steps are made, for ten seconds at most."""
    end = time.monotonic() + 10
    done = -1
    while len(steps) > done:
        assert time.monotonic() < end
        done = len(steps)
        time.sleep(0.2)


def test_work_ends_when_whoever_waits_is_interrupted():
    """Ctrl-C reaches the main thread alone; the stacks that were begun notice at their next call."""
    steps: list[None] = []

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        with pytest.raises(KeyboardInterrupt):
            walk(5 * MAX_FRAMES, lambda: endless(steps))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert_that_it_ends(steps)
    assert walk(5 * MAX_FRAMES, lambda: "again") == "again"


def test_work_ends_when_whoever_begins_it_is_interrupted(monkeypatch):
    """A busy machine takes so long to start a thread that Ctrl-C may come before the wait for its end has begun."""
    steps: list[None] = []
    start = threading.Thread.start

    def start_and_be_interrupted(thread: threading.Thread) -> None:
        start(thread)
        if threading.current_thread() is threading.main_thread():
            raise KeyboardInterrupt

    monkeypatch.setattr(threading.Thread, "start", start_and_be_interrupted)
    with pytest.raises(KeyboardInterrupt):
        walk(5 * MAX_FRAMES, lambda: endless(steps))
    assert_that_it_ends(steps)
