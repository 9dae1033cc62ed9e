"""The process that compiles the loops, while this one runs them as Python.

It goes on when this process ends, so that even a program of a second leaves machine code behind for the next one. A
thread was rejected: it would end with the program, and hold it up until then.
"""

import atexit
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import perf_counter

MAX_SECONDS = 120.0
"""That it takes to compile everything, on a slow machine."""


class OtherProcess:
    """A process that runs some code, started once at most."""

    def __init__(self, code: str) -> None:
        self._code = code
        self._process: subprocess.Popen[bytes] | None = None
        self._starter, self._started = 0, 0.0

    def is_at_work(self) -> bool:
        """Tell whether it was started and has not ended.

        A fork of the process that started it cannot see that, and waits for it as long as it takes at most.
        """
        if self._process is None or self._starter == os.getpid():
            return self._process is not None and self._process.poll() is None
        return perf_counter() - self._started < MAX_SECONDS

    def start(self) -> bool:
        """Start it; False if it has been started before, or cannot be."""
        if self._process is not None or not _is_python(sys.executable):
            return False
        try:
            self._process = subprocess.Popen(  # noqa: S603  the interpreter that runs this
                [sys.executable, "-c", self._code],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
                start_new_session=True,  # Ctrl-C is not for it
            )
        except OSError:
            return False
        self._starter, self._started = os.getpid(), perf_counter()
        atexit.register(_leave, self._process)
        return True


def _is_python(executable: str | None) -> bool:
    """Tell whether this is an interpreter, and not a program that has one inside."""
    return bool(executable) and not hasattr(sys, "frozen") and Path(executable or "").stem.startswith("python")


def _leave(process: "subprocess.Popen[bytes]") -> None:
    """Let a process run on, without the warning that it was left."""
    process.returncode = process.poll() or 0


@contextmanager
def one_process(folder: Path) -> Iterator[None]:
    """Let one process at a time go on that names a folder, where the system has locks."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
    with (folder / "compiling.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
