"""The notation of loops: Python that the build translates to C by way of Cython, and that runs as it is without.

A *loop* is a function that other loops call, an *entry* one that Python calls as well. Without the compiled module
`structured._compiled`, or with STRUCTURED_COMPILED=0, both are what they are written as. With it, entries and classes
are replaced by their compiled twins of the same name. Python runs the loops of arrays as memory views, since these
give plain integers. `build_tools/translation.py` has the rules of the notation.
"""

import functools
import os
import warnings
from collections.abc import Callable
from importlib import import_module
from typing import Any, ClassVar, ParamSpec, Protocol, TypeVar, get_type_hints

from structured.machine_code.growing_arrays import viewed


def _compiled_module() -> Any:
    """Return the compiled module; None if there is none, or if it is not wanted."""
    if os.environ.get("STRUCTURED_COMPILED", "1") == "0":
        return None
    try:
        return import_module("structured._compiled")
    except ModuleNotFoundError:
        reason = "no C compiler worked when structured was installed"
    except ImportError as error:
        reason = f"their compiled module cannot be loaded ({error})"
    message = (
        f"The inner loops run as Python, some 30 times slower: {reason}. Install a C compiler and Python's headers, or "
        "the package ziglang, and then structured again. If Python is meant, set STRUCTURED_COMPILED=0."
    )
    warnings.warn(message, RuntimeWarning, stacklevel=2)
    return None


_compiled = _compiled_module()

IS_COMPILED = _compiled is not None
"""Whether the loops run as machine code."""

SLOWDOWN = 1 if IS_COMPILED else 30
"""About how many times more time the loops take than as machine code: limits of time are meant for that."""


class Ints(Protocol):
    """An array of int32, in C order, as all of these."""

    def __getitem__(self, place: int, /) -> int: ...
    def __setitem__(self, place: int, value: int, /) -> None: ...
    def __len__(self) -> int: ...


class Rows(Protocol):
    """A two-dimensional array of int32."""

    @property
    def shape(self) -> tuple[int, ...]: ...  # noqa: D102
    def __getitem__(self, place: tuple[int, int], /) -> int: ...
    def __setitem__(self, place: tuple[int, int], value: int, /) -> None: ...
    def __len__(self) -> int: ...


Sequences = Any
"""A three-dimensional array of int32."""
Words = Ints
"""An array of uint32."""
Flags = Ints
"""An array of bool."""
Bytes = Ints
"""An array of uint8 that is read only."""
Text = Ints
"""An array of uint8."""
Masks = Ints
"""An array of int32 that is read only."""
Singles = Any
"""An array of float32 that is read only."""

Structs = list
"""An array of the structs of a `Row`. What is appended to is a list, of which loops take the length, items and ends."""

P = ParamSpec("P")
T = TypeVar("T")
C = TypeVar("C", bound=type)


def loop(function: Callable[P, T]) -> Callable[P, T]:
    """Mark a function that loops call, and that needs nothing of Python: in C it runs without the GIL."""
    return function


def rare_loop(function: Callable[P, T]) -> Callable[P, T]:
    """Mark a function that loops call now and then, and that uses Python: to enlarge an array, or to raise."""
    return function


def entry(function: Callable[P, T]) -> Callable[P, T]:
    """Mark a function that Python and loops call; the GIL is kept."""
    if _compiled is not None:
        compiled: Callable[P, T] = _twin(function.__name__)
        return compiled

    @functools.wraps(function)
    def call(*arguments: P.args, **_: P.kwargs) -> T:
        plain: Callable[..., T] = function
        return plain(*map(viewed, arguments))

    return call


def walk_entry(function: Callable[P, T]) -> Callable[P, T]:
    """Mark an entry that takes long enough for other threads to run meanwhile: the GIL is released."""
    return entry(function)


def compiled_class(python_class: C) -> C:
    """Mark a class whose attributes are annotated with what they are in C."""
    return python_class if _compiled is None else _twin(python_class.__name__)


def _twin(name: str) -> Any:
    """Return what the compiled module has in place of a function or class."""
    if not hasattr(_compiled, name):
        raise ImportError(f"{_compiled.__file__} is older than the source, and lacks {name}: install structured again.")
    return getattr(_compiled, name)


class Row:
    """A row of named integers, a struct of int32 in C. A list of rows is an array of structs."""

    names: ClassVar[tuple[str, ...]]
    __slots__ = ()

    def __init_subclass__(cls) -> None:
        cls.names = tuple(get_type_hints(cls))[1:]

    def __init__(self, *values: int) -> None:
        for name, value in zip(self.names, values or [0] * len(self.names), strict=True):
            setattr(self, name, value)

    @classmethod
    def rows(cls, count: int) -> Any:
        """Return so many rows of zeros."""
        return [cls() for _ in range(count)]

    @classmethod
    def of(cls, array: Any) -> Any:
        """Return the rows of a two-dimensional array."""
        return [cls(*row) for row in array.tolist()]
