"""A bar on the terminal while a GGUF file is dequantised, in place of those of transformers.

transformers shows a bar of its own, through a name of its module, which is replaced meanwhile. Where a version lacks
that name, ours only shows that something is done.
"""

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from threading import Timer
from typing import Any, TypeAlias, TypeVar

PATIENCE = 2.0
"""Seconds before a bar appears: a small file shows none."""

_DEQUANTISING = "transformers.modeling_gguf_pytorch_utils"

Item = TypeVar("Item")

Report: TypeAlias = Callable[[int, int], None]
"""Takes how many tensors are done, and of how many."""


def is_terminal() -> bool:
    """Tell whether stderr is a terminal that can draw over what it has shown."""
    try:
        return sys.stderr.isatty() and os.environ.get("TERM", "") not in ("dumb", "unknown")
    except (AttributeError, ValueError):  # none at all, or it is closed
        return False


@contextmanager
def dequantising_bar(title: str) -> Iterator[None]:
    """Show how far transformers has come with a GGUF file; on a terminal alone, and nothing of it stays."""
    with _bar(title) if is_terminal() else _no_bar() as report, _reporting(report):
        yield


@contextmanager
def _no_bar() -> Iterator[Report]:
    yield lambda _done, _total: None


@contextmanager
def _bar(title: str) -> Iterator[Report]:
    """Show a bar after some seconds: one that only moves as long as no number of tensors is known."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn())
    progress = Progress(*columns, console=Console(stderr=True), transient=True, redirect_stdout=sys.stdout.isatty())
    task = progress.add_task(title, total=None)
    timer = Timer(PATIENCE, progress.start)
    timer.daemon = True
    timer.start()
    try:
        yield lambda done, total: progress.update(task, completed=done, total=total)
    finally:
        timer.cancel()
        timer.join()
        progress.stop()


@contextmanager
def _reporting(report: Report) -> Iterator[None]:
    """Let transformers report the tensors that it has dequantised, and show no bar of its own."""

    def reported(items: Iterable[Item], **_: Any) -> Iterator[Item]:
        known = list(items)
        for done, item in enumerate(known):
            report(done, len(known))
            yield item

    module = import_module(_DEQUANTISING)
    before = vars(module).get("tqdm")
    if before is None:
        yield
        return
    vars(module)["tqdm"] = reported
    try:
        yield
    finally:
        vars(module)["tqdm"] = before
