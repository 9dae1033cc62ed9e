"""How the inner loops are compiled: once, for the types that they are annotated with, and kept on disk by Numba.

They are plain Python over arrays; with NUMBA_DISABLE_JIT=1 the very same code runs uncompiled. The arrays are handed in
one by one, since Numba takes long to look into tuples of arrays.
"""

import functools
import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, ParamSpec, TypeVar, cast, get_type_hints, overload

import numba
import numpy as np
from numpy.typing import NDArray

Ints = Annotated[NDArray[np.int32], numba.int32[::1]]
Rows = Annotated[NDArray[np.int32], numba.int32[:, ::1]]
Words = Annotated[NDArray[np.uint32], numba.uint32[::1]]
Bytes = Annotated[NDArray[np.uint8], numba.types.Array(numba.uint8, 1, "C", readonly=True)]

P = ParamSpec("P")
T = TypeVar("T")


@overload
def compiled_loop(function: Callable[P, T], /) -> Callable[P, T]: ...
@overload
def compiled_loop(*, reassociates: bool) -> Callable[[Callable[P, T]], Callable[P, T]]: ...
def compiled_loop(function: Callable[..., Any] | None = None, /, *, reassociates: bool = False) -> Any:
    """Compile a function for the types that it is annotated with, or load what an earlier process compiled.

    Without named types Numba compiles a function again for each kind of integer that it is called with. One that
    `reassociates` adds up its floating-point numbers in any order, which lets it add several at a time.
    """
    if function is None:
        return functools.partial(_compiled, reassociates=reassociates)
    return _compiled(function, reassociates=reassociates)


def _compiled(function: Callable[P, T], *, reassociates: bool) -> Callable[P, T]:
    hints = get_type_hints(function, include_extras=True)
    returned, *parameters = (_MACHINE_TYPES.get(hint) or hint.__metadata__[0] for hint in _result_first(hints))
    signature = returned(*parameters)
    function.__qualname__ += f"_{_sources_digest(function)}"
    fast: dict[str, Any] = {"fastmath": {"reassoc", "nsz", "contract"}, "error_model": "numpy"} if reassociates else {}
    compiler = functools.partial(numba.njit, signature, **fast)
    try:
        return cast("Callable[P, T]", compiler(cache=True)(function))
    except RuntimeError:  # no folder to cache in can be written
        return cast("Callable[P, T]", compiler()(function))


def _sources_digest(function: Callable[..., Any]) -> str:
    """Return a digest of all that is compiled into a loop, which becomes part of the name that it is kept by.

    Numba compiles a loop anew when its own file has changed, but not when a constant or a loop of another file has,
    although they are compiled into it.
    """
    digest = hashlib.sha256(_source(__file__) + _source(function.__code__.co_filename))
    for name, value in sorted(function.__globals__.items()):
        if hasattr(value, "py_func") and value.__module__ != function.__module__:
            digest.update(value.py_func.__qualname__.encode())
        elif isinstance(value, int):
            digest.update(f"{name} {value}".encode())
    return digest.hexdigest()[:16]


@functools.cache
def _source(path: str) -> bytes:
    return Path(path).read_bytes()


def _result_first(hints: Mapping[str, Any]) -> list[Any]:
    return [hints["return"], *(hint for name, hint in hints.items() if name != "return")]


_MACHINE_TYPES = {int: numba.int64, bool: numba.boolean, type(None): numba.void}
