"""The locks of machines: one loop at a time runs on a machine, and most run without the GIL.

A fork waits until none is half way through one.
"""

import os
from threading import Lock
from weakref import WeakSet

_locks: WeakSet[Lock] = WeakSet()
_registry_lock = Lock()
"""The lock of `_locks`, which must not change while a fork takes them all."""
_held: list[Lock] = []


def machine_lock() -> Lock:
    """Return a new lock, which a fork takes and then releases."""
    lock = Lock()
    with _registry_lock:
        _locks.add(lock)
    return lock


def _hold_all() -> None:
    _registry_lock.acquire()
    _held.append(_registry_lock)
    for lock in list(_locks):
        lock.acquire()
        _held.append(lock)


def _release_all() -> None:
    while _held:
        _held.pop().release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_hold_all, after_in_parent=_release_all, after_in_child=_release_all)
