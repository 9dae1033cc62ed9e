"""The library a second time in this process, its loops run as Python: the reference of the compiled ones."""

import pickle
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import ParamSpec, TypeVar

import pytest
from package_map import HOUSE

from structured.machine_code.notation import IS_COMPILED

SUPPORT = Path(__file__).parent

P = ParamSpec("P")
T = TypeVar("T")

_second_modules: dict[str, ModuleType] = {}

needs_compiled = pytest.mark.skipif(not IS_COMPILED, reason="There is no compiled module.")


def as_python(function: Callable[P, T], *arguments: P.args, **_: P.kwargs) -> T:
    """Return the result of a function of `tests/support`, of numbers and texts, computed by the second library.

    Arguments are pickled, so that the second library has them as objects of its own classes.
    """
    pickled = pickle.dumps(arguments)
    with _second_library():
        second: Callable[..., T] = getattr(import_module(function.__module__), function.__name__)
        return second(*pickle.loads(pickled))  # noqa: S301  our own


@contextmanager
def _second_library() -> Iterator[None]:
    """Let imports find the modules of the second library, and of `tests/support` above it."""
    first_modules = _removed_modules()
    sys.modules.update(_second_modules)
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("STRUCTURED_COMPILED", "0")
            yield
    finally:
        _second_modules.update(_removed_modules())
        sys.modules.update(first_modules)


def _removed_modules() -> dict[str, ModuleType]:
    """Remove the modules of the library and of `tests/support`, except this one, and return them by their names."""
    names = [name for name, module in sys.modules.items() if name != __name__ and _is_ours(module)]
    return {name: sys.modules.pop(name) for name in names}


def _is_ours(module: ModuleType) -> bool:
    path = Path(getattr(module, "__file__", None) or "")
    return path.parent == SUPPORT or HOUSE in path.parents
