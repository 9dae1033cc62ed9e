"""Another process, which compiles the loops while this one runs them as Python.

It continues when this process ends, so that even a program of one second leaves machine code for the next one. A
thread was rejected: it would end with the program, and slow it down until then.
"""

import atexit
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


class OtherProcess:
    """Another process that runs some code, which works in a folder; started at most once by each process."""

    def __init__(self, code: str, folder: Callable[[], Path]) -> None:
        self._code = code
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        self._starter_pid = 0

    def is_at_work(self) -> bool:
        """Tell whether it runs, or another process works in the folder."""
        if self._process is not None and self._starter_pid == os.getpid() and self._process.poll() is None:
            return True
        with suppress(OSError, RuntimeError):
            return is_locked(self._folder())
        return False

    def start(self) -> bool:
        """Start it; False if it has been started before by this process, or cannot be."""
        if self._starter_pid == os.getpid() or not _is_python(sys.executable):
            return False
        paths = [str(Path(path).absolute()) for path in sys.path if path]
        try:
            self._process = subprocess.Popen(  # noqa: S603  the interpreter that runs this
                # -I: what lies in the current folder, or the environment names, is none of its modules.
                [sys.executable, "-I", "-c", f"import sys; sys.path[:] = {paths!r}; {self._code}"],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C is not for it
            )
        except OSError:
            return False
        self._starter_pid = os.getpid()
        atexit.register(_leave_running, self._process)
        return True


def _is_python(executable: str | None) -> bool:
    """Tell whether this is an interpreter, and not a program that has one inside."""
    return bool(executable) and not hasattr(sys, "frozen") and Path(executable or "").stem.startswith("python")


def _leave_running(process: "subprocess.Popen[bytes]") -> None:
    """Let a process run on after this one, without Python's warning about it."""
    process.returncode = process.poll() or 0


LOCK_NAME = "compiling.lock"


def is_locked(folder: Path) -> bool:
    """Tell whether a process works in a folder, within `one_process`; False where the system has no locks."""
    try:
        import fcntl
    except ImportError:
        return False
    if not (folder / LOCK_NAME).exists():
        return False
    with (folder / LOCK_NAME).open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


@contextmanager
def one_process(folder: Path) -> Iterator[None]:
    """Let one process at a time work in a folder, if the system has locks."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
    with (folder / LOCK_NAME).open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
