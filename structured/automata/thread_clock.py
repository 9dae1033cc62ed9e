"""A clock that runs only while its thread does, so that nothing is refused for its cost because a machine is busy.

Reading the clock of the system takes longer than many a loop, so it is read rarely.
"""

from threading import local
from time import perf_counter, thread_time

LATENESS = 0.001
"""The most seconds by which the clock is late."""


class _Reading(local):
    """The last reading of a thread's clock, and its time."""

    seconds = 0.0
    read_at = -1.0


_last = _Reading()


def thread_seconds() -> float:
    """Return the seconds for which the thread had run, at most `LATENESS` ago."""
    now = perf_counter()
    if now - _last.read_at >= LATENESS:
        _last.seconds, _last.read_at = thread_time(), now
    return _last.seconds
