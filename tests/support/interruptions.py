"""Interruptions of loops where they can be interrupted: where they enlarge an array, for which they call Python."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from structured.machine_code import growing_arrays

GROWING = (growing_arrays.grown, growing_arrays.filled, growing_arrays.blank_rows)


class Growths:
    """Counts calls of the functions that make or enlarge arrays, and raises an error at one of them."""

    def __init__(self, error_at: int = -1, error: type[BaseException] = KeyboardInterrupt) -> None:
        self.count = 0
        self.error_at = error_at
        self.error = error

    def watched(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that is counted."""

        def call(*arguments: Any) -> Any:
            self.count += 1
            if self.count - 1 == self.error_at:
                raise self.error
            return function(*arguments)

        return call


@contextmanager
def watched_growths(error_at: int = -1, error: type[BaseException] = KeyboardInterrupt) -> Iterator[Growths]:
    """Count growths in all loops; raise an error at one of them, the first of which is 0."""
    growths = Growths(error_at, error)
    with pytest.MonkeyPatch.context() as patch:
        for module in [module for name, module in sys.modules.items() if name.startswith("structured.")]:
            for function in GROWING:
                if vars(module).get(function.__name__) is function and module is not growing_arrays:
                    patch.setattr(module, function.__name__, growths.watched(function))
        yield growths
