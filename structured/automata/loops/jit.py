"""The compiler of the inner loops: each is compiled once, for the types it is annotated with, and cached by Numba.

They are plain Python over arrays; with NUMBA_DISABLE_JIT=1 the very same code runs uncompiled. Loops pass their arrays
to each other as named tuples. Reference counts are switched off, since every call would count each array of a tuple; so
no loop may make an array. From Python the arrays go in one by one, since Numba takes long to look into a tuple.
"""

import functools
import hashlib
import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, ParamSpec, TypeVar, cast, get_type_hints, overload

import numba
import numpy as np
from numpy.typing import NDArray

Ints = Annotated[NDArray[np.int32], numba.int32[::1]]
Rows = Annotated[NDArray[np.int32], numba.int32[:, ::1]]
Words = Annotated[NDArray[np.uint32], numba.uint32[::1]]
Flags = Annotated[NDArray[np.bool_], numba.boolean[::1]]
Bytes = Annotated[NDArray[np.uint8], numba.types.Array(numba.uint8, 1, "C", readonly=True)]

_LOGGER = logging.getLogger(__name__)

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


def compiled_entry(function: Callable[P, T]) -> Callable[P, T]:
    """Compile a loop that Python calls with named tuples of arrays.

    `walk(machine, state)` becomes `lambda machine, state: enter(*machine, state)`, and what is compiled is
    `def enter(nodes, ..., arcs, state): return walk(Machine(nodes, ..., arcs), state)`.
    """
    hints = get_type_hints(function, include_extras=True)
    flat = {"return": hints.pop("return")}
    scope: dict[str, Any] = {"__name__": function.__module__, "loop": numba.njit(function, inline="always")}
    rebuilt, spread = [], []
    for name, hint in hints.items():
        fields = _fields(hint)
        flat |= {f"{name}_{field}": kind for field, kind in fields.items()} or {name: hint}
        rebuilt.append(f"{hint.__name__}({', '.join(f'{name}_{field}' for field in fields)})" if fields else name)
        spread.append(f"*{name}" if fields else name)
        scope |= {hint.__name__: hint} if fields else {}
    source = (
        f"def {function.__name__}({', '.join(list(flat)[1:])}):\n    return loop({', '.join(rebuilt)})\n"
        f"call = lambda {', '.join(hints)}: enter({', '.join(spread)})\n"
    )
    exec(compile(source, function.__code__.co_filename, "exec"), scope)  # noqa: S102  two lines, made of names above
    enter = scope[function.__name__]
    enter.__annotations__ = flat
    scope["enter"] = _compiled(enter, reassociates=False, digest=_sources_digest(function))
    return cast("Callable[P, T]", functools.update_wrapper(scope["call"], function))


def _compiled(function: Callable[P, T], *, reassociates: bool, digest: str = "") -> Callable[P, T]:
    hints = get_type_hints(function, include_extras=True)
    returned, *parameters = map(_machine_type, _result_first(hints))
    signature = returned(*parameters)
    function.__qualname__ += f"_{digest or _sources_digest(function)}"
    fast: dict[str, Any] = {"fastmath": {"reassoc", "nsz", "contract"}, "error_model": "numpy"} if reassociates else {}
    is_inner = any(isinstance(parameter, numba.types.NamedTuple) for parameter in parameters)
    compiler = functools.partial(numba.njit, signature, _nrt=False, no_cpython_wrapper=is_inner, **fast)
    try:
        loop = compiler(cache=True)(function)
    except RuntimeError:  # no folder to cache in can be written
        loop = compiler()(function)
    if hasattr(loop, "stats") and not loop.stats.cache_hits:
        _log_compiling()
    return cast("Callable[P, T]", loop)


@functools.cache
def _log_compiling() -> None:
    _LOGGER.info("compiling the loops, once per machine; that takes half a minute or more")


def _sources_digest(function: Callable[..., Any]) -> str:
    """Return a digest of all that is compiled into a loop, which becomes part of the name that it is kept by.

    Numba compiles a loop anew when its own file has changed, but not when a constant or a loop of another file has,
    although they are compiled into it.
    """
    digest = hashlib.sha256(_source(__file__) + _source(function.__code__.co_filename))
    for name, value in sorted(function.__globals__.items()):
        if hasattr(value, "py_func") and value.__module__ != function.__module__:
            digest.update(value.py_func.__qualname__.encode())
        elif isinstance(value, int) or _fields(value):
            digest.update(f"{name} {_fields(value) or value}".encode())
    return digest.hexdigest()[:16]


@functools.cache
def _source(path: str) -> bytes:
    return Path(path).read_bytes()


def _result_first(hints: Mapping[str, Any]) -> list[Any]:
    return [hints["return"], *(hint for name, hint in hints.items() if name != "return")]


def _machine_type(hint: Any) -> Any:
    """Return the Numba type of an annotation; that of a named tuple consists of those of its fields."""
    fields = _fields(hint)
    if fields:
        named_tuple: Any = numba.types.NamedTuple
        return named_tuple([_machine_type(kind) for kind in fields.values()], hint)
    return _MACHINE_TYPES.get(hint) or hint.__metadata__[0]


def _fields(hint: Any) -> dict[str, Any]:
    """Return the annotated fields of a class of named tuples, in order; nothing for anything else."""
    return get_type_hints(hint, include_extras=True) if hasattr(hint, "_fields") else {}


_MACHINE_TYPES = {int: numba.int64, bool: numba.boolean, type(None): numba.void}
