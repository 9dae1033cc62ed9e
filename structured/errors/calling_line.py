"""Warnings that point to the line of the user's program from which the library was called."""

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple, TypeVar

from structured.errors import StructuredWarning

T = TypeVar("T")


class Line(NamedTuple):
    """A line of a program, for `warnings.warn_explicit`."""

    filename: str
    number: int
    module: str
    registry: dict[Any, Any]


_SKIPPED_MODULES = {"structured", "asyncio", "functools", "typing"}
"""Modules between the user and a warning: `Extractor[Person](…)` runs through typing, properties through functools."""

_line_override: ContextVar[Line | None] = ContextVar("_line_override", default=None)
_is_silent: ContextVar[bool] = ContextVar("_is_silent", default=False)


def calling_line() -> Line:
    """Return the line of the user's program that called the library, or the outermost line."""
    frame = sys._getframe(1)  # noqa: SLF001  as warnings does
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).partition(".")[0] in _SKIPPED_MODULES:
        frame = frame.f_back
    registry = frame.f_globals.setdefault("__warningregistry__", {})
    return Line(frame.f_code.co_filename, frame.f_lineno, str(frame.f_globals.get("__name__")), registry)


@contextmanager
def warnings_at(line: Line) -> Iterator[None]:
    """Point warnings to a line for the duration of a block, also from other threads."""
    token = _line_override.set(line)
    try:
        yield
    finally:
        _line_override.reset(token)


@contextmanager
def without_warnings() -> Iterator[None]:
    """Suppress warnings for the duration of a block, whose caller reports their facts otherwise."""
    token = _is_silent.set(True)
    try:
        yield
    finally:
        _is_silent.reset(token)


def warn(warning: StructuredWarning) -> None:
    """Give a warning that points to the line of the user's program that called the library."""
    if _is_silent.get():
        return
    line = _line_override.get() or calling_line()
    warnings.warn_explicit(warning, None, line.filename, line.number, line.module, line.registry)


async def in_thread(run: Callable[[], T]) -> T:
    """Run a function in a thread; its warnings point to the line that awaits it."""
    import asyncio

    with warnings_at(calling_line()):
        return await asyncio.to_thread(run)
