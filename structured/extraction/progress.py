"""The progress of a long batch: a bar on a terminal or in a notebook, lines elsewhere if they are asked for.

The loop that writes the texts does nothing for it: a thread beside it reads the state as far as it has come, four
times a second. It writes to stderr alone, and starts after two seconds, so that short batches show nothing. The
displays of rich for notebooks were not taken, since without ipywidgets they warn; what is shown is rich's all the same.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from importlib import import_module
from threading import Event, Lock, Thread
from time import perf_counter
from typing import TYPE_CHECKING, Any

from structured.extraction.batch_state import BatchState
from structured.models.pretrained import is_terminal

if TYPE_CHECKING:
    from rich.table import Table

PATIENCE = 2.0
"""Seconds before a bar appears that nobody asked for."""

INTERVAL = 0.25
"""Seconds between two looks at the state."""

LINE_INTERVAL = 10.0
"""Seconds between two lines, where there is no bar."""

_SHOWING = Lock()
"""Held while there is a bar: those of two batches at once would write over each other."""

Display = Callable[[BatchState, float], None]
"""Shows an state, so many seconds after the call began."""


@contextmanager
def showing(state: BatchState, progress: bool | None) -> Iterator[None]:
    """Show the progress of an state while it is made.

    None shows it only where a person may be waiting: for several documents, on a terminal or in a notebook, after two
    seconds.
    """
    several = state.total is None or state.total > 1
    wanted = state.total != 0 if progress else progress is None and several and (_notebook() or is_terminal())
    if not wanted or not _SHOWING.acquire(blocking=False):
        yield
        return
    over = Event()
    thread = Thread(name="progress", target=_show, args=(state, over, 0.0 if progress else PATIENCE), daemon=True)
    try:
        thread.start()
        yield
    finally:
        over.set()
        thread.join()
        _SHOWING.release()


def _show(state: BatchState, over: Event, patience: float) -> None:
    """Show an state again and again until it is over."""
    started = perf_counter()
    if over.wait(patience):
        return
    try:
        with ExitStack() as stack:
            display, interval = _display(stack)
            while True:
                display(state, perf_counter() - started)
                if over.wait(interval):
                    break
            display(state, perf_counter() - started)
    except (OSError, ValueError):  # stderr was closed: there is nobody to see it
        return


def _display(stack: ExitStack) -> tuple[Display, float]:
    """Return what shows an state where we are, and the seconds between two times; `stack` takes it away again."""
    if _notebook():
        return _cell(), INTERVAL
    if is_terminal():
        return _live(stack), INTERVAL
    return _write_line, LINE_INTERVAL


def _live(stack: ExitStack) -> Display:
    """Return a bar at the foot of the terminal, which leaves nothing behind; what is printed meanwhile is above it."""
    from rich.console import Console
    from rich.live import Live

    console = Console(stderr=True)
    live = Live(console=console, auto_refresh=False, transient=True, redirect_stdout=sys.stdout.isatty())
    stack.enter_context(live)
    return lambda state, seconds: live.update(_bar(state, seconds), refresh=True)


def _cell() -> Display:
    """Return a bar in the output of a notebook's cell, where it stays as it was at the end."""
    handle: Any = import_module("IPython.display").display(_Nothing(), display_id=True)
    return lambda state, seconds: handle.update(_bar(state, seconds))


class _Nothing:
    """An empty place in a notebook."""

    def _repr_html_(self) -> str:
        return ""


def _write_line(state: BatchState, seconds: float) -> None:
    if sys.stderr:  # a program without a console has none
        sys.stderr.write(f"{', '.join(_facts(state, seconds))}\n")
        sys.stderr.flush()


def _bar(state: BatchState, seconds: float) -> "Table":
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    row = Table.grid(padding=(0, 2, 0, 0))
    row.add_column(max_width=30)  # which gives way where the terminal is narrow
    done, *facts = _facts(state, seconds)
    for _ in (done, *facts):
        row.add_column(no_wrap=True)
    styled = [Text(fact, style="red" if fact.endswith("failed") else "dim") for fact in facts]
    row.add_row(ProgressBar(total=state.total, completed=state.done), Text(done), *styled)
    return row


def _facts(state: BatchState, seconds: float) -> list[str]:
    """Return what there is to tell: documents, failures, what is done in a second, and the time left or taken."""
    done, failed, total = state.done, state.failed, state.total
    facts = [f"{done:,} documents" if total is None else f"{done:,}/{total:,} documents"]
    if failed:
        facts.append(f"{failed:,} failed")
    if done > failed:
        facts.append(f"{(done - failed) / max(seconds, 1e-3):,.1f} documents/s")
    if state.tokens:
        facts.append(f"{state.tokens / max(seconds, 1e-3):,.0f} tokens/s")
    written = done - failed  # most failures take no time
    if total is None:
        facts.append(_clock(seconds))
    elif done == total:
        facts.append(f"{_clock(seconds)} in all")
    elif written:
        facts.append(f"{_clock(seconds / written * (total - done))} left")
    return facts


def _clock(seconds: float) -> str:
    return str(timedelta(seconds=round(seconds)))


def _notebook() -> bool:
    """Tell whether this is a cell of a notebook, as rich does: IPython is there, and its shell is that of a kernel."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return shell is not None and shell.__class__.__name__ not in ("TerminalInteractiveShell", "InteractiveShell")
