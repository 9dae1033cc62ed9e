"""The compiler of the inner loops: plain Python over arrays, run as machine code as soon as it exists.

Numba compiles all loops in half a minute, once on a machine. No call waits for it: until the machine code of a loop is
in Numba's cache, the loop runs as Python, and another process compiles. With NUMBA_DISABLE_JIT=1 nothing is compiled.
Compiling first was rejected: a small model has answered before the compiler has finished. An *entry* is a loop that
Python calls.

Loops pass their arrays to each other as named tuples. Reference counts are switched off, since every call would count
each array of a tuple; so no loop may make an array. From Python the arrays go in one by one, since Numba takes long to
look into a tuple.
"""

import functools
import hashlib
import logging
import os
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from threading import RLock, local
from time import perf_counter, thread_time
from types import FunctionType, ModuleType
from typing import Annotated, Any, NamedTuple, ParamSpec, TypeVar, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from structured.automata.loops.compiling import OtherProcess, one_process


class Array(NamedTuple):
    """The machine type of an array in C order."""

    scalar: str
    dimensions: int = 1
    is_readonly: bool = False


Ints = Annotated[NDArray[np.int32], Array("int32")]
Rows = Annotated[NDArray[np.int32], Array("int32", 2)]
Words = Annotated[NDArray[np.uint32], Array("uint32")]
Flags = Annotated[NDArray[np.bool_], Array("boolean")]
Bytes = Annotated[NDArray[np.uint8], Array("uint8", is_readonly=True)]

PYTHON_SLOWDOWN = 50
"""About how many times slower a loop is as Python."""

PATIENCE_SECONDS = 0.3
"""How long loops run as Python before Numba is imported, which takes longer than short programs need."""

COARSE_CLOCK_SECONDS = 0.001
"""The most seconds by which `coarse_clock` is late."""

CHECK_SECONDS = 0.5
"""The seconds between two checks for machine code that another process makes."""

_LOGGER = logging.getLogger(__name__)
_LOCK = RLock()
"""The lock that is held while Numba works."""

_REASSOCIATES: dict[Callable[..., Any], bool] = {}
"""All loops, and whether each may add up its numbers in any order."""

P = ParamSpec("P")
T = TypeVar("T")


def compiled_loop(function: Callable[P, T]) -> Callable[P, T]:
    """Mark a function as a loop that other loops call, and return it unchanged.

    It is compiled for the types that it is annotated with; without named types Numba compiles a function again for each
    kind of integer that it is called with.
    """
    _REASSOCIATES[function] = False
    return function


def reassociating_loop(function: Callable[P, T]) -> Callable[P, T]:
    """Note a loop or entry that adds up its floating-point numbers in any order, several at a time."""
    _REASSOCIATES[function] = True
    return function


def compiled_entry(function: Callable[P, T]) -> Callable[P, T]:
    """Make a loop that Python calls, with arrays and named tuples of arrays; other loops may call it as well.

    Its Python is its `py_func`, which runs until there is machine code.
    """
    return entry_with_fallback(function)(function)


def entry_with_fallback(fallback: Callable[P, T]) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Make a `compiled_entry` that is too slow as Python: until it is compiled, its `fallback` does the same."""

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        _REASSOCIATES.setdefault(function, False)
        entry = _Entry(function, fallback)
        _ENTRIES.append(entry)

        @functools.wraps(function)
        def call(*arguments: P.args, **_: P.kwargs) -> T:
            result: T = entry.run(*arguments)
            return result

        call.py_func = function  # type: ignore[attr-defined]  # as Numba's own have it
        return call

    return decorate


MODULES: tuple[str, ...] = ()
"""The modules with entries, in the order in which these are needed."""


def compile_loops() -> None:
    """Compile all loops, unless that has been done; one process at a time does so.

    Raises RuntimeError where Numba finds no folder to keep machine code in.
    """
    for module in MODULES:
        import_module(module)
    with _LOCK, one_process(_folder()):
        for entry in _ENTRIES:
            entry.compile()


def _folder() -> Path:
    """Return the folder in which Numba keeps machine code. Raises RuntimeError where it finds none."""
    import numba

    any_function: Any = numba.njit(cache=True)(compile_loops)  # which is not compiled before it is called
    return Path(any_function.stats.cache_path)


def clock() -> float:
    """Return the seconds of a clock that is slowed down while loops run as Python, and stopped while they are compiled.

    It shows about what they would have taken as machine code. Each thread has one of its own, which runs only while the
    thread does: nothing is refused for its cost because the machine is busy.
    """
    return thread_time() - _lag.seconds


def coarse_clock() -> float:
    """Return what `clock` said at most `COARSE_CLOCK_SECONDS` ago, since asking it takes longer than many a loop."""
    now = perf_counter()
    if now - _lag.read_at >= COARSE_CLOCK_SECONDS:
        _lag.last_reading, _lag.read_at = clock(), now
    return _lag.last_reading


class _Lag(local):
    """The seconds by which the clock of a thread is late."""

    seconds = 0.0
    last_reading, read_at = 0.0, -1.0
    """The last reading of `clock`, for `coarse_clock`, and its time."""
    is_in_loop = False
    """Whether a loop runs as Python; the time of the loops that it calls is part of its own."""


_lag = _Lag()


class _Entry:
    """A loop that Python calls: `run` is its machine code or, until there is some, its fallback."""

    def __init__(self, function: Callable[..., Any], fallback: Callable[..., Any]) -> None:
        self.function = function
        self.fallback = fallback
        self.run: Callable[..., Any] = self._run_fallback
        self._next_check = 0.0

    def compile(self) -> None:
        """Load the machine code of the loop from the cache; if it is not there, compile it."""
        with _LOCK:
            self.run = _load_cached(self.function) or _compile_entry(self.function)

    def _run_fallback(self, *arguments: Any) -> Any:
        if _lag.is_in_loop:
            return self.fallback(*arguments)
        now = perf_counter()
        if now >= self._next_check and _lag.seconds >= PATIENCE_SECONDS:
            self._next_check = now + CHECK_SECONDS
            started = thread_time()
            self._check()
            _lag.seconds += thread_time() - started
            if self.run != self._run_fallback:
                return self.run(*arguments)
        _lag.is_in_loop = True
        started = thread_time()
        try:
            return self.fallback(*arguments)
        finally:
            _lag.is_in_loop = False
            _lag.seconds += (thread_time() - started) * (1 - 1 / PYTHON_SLOWDOWN)

    def _check(self) -> None:
        """Load the machine code if it exists; else make sure that another process compiles it.

        If another thread does so already, this one goes on with Python.
        """
        if os.environ.get("NUMBA_DISABLE_JIT", "0") not in {"", "0"}:
            self.run = self.fallback
            return
        if not _LOCK.acquire(blocking=False):
            return
        try:
            is_compiling = _COMPILER_PROCESS.is_at_work()  # asked first: it may be done in between
            machine_code = _load_cached(self.function)
            if machine_code is not None:
                self.run = machine_code
            elif not is_compiling and not _COMPILER_PROCESS.start():
                self.compile()
        finally:
            _LOCK.release()


_ENTRIES: list[_Entry] = []
_COMPILER_PROCESS = OtherProcess(f"from {__name__} import compile_loops; compile_loops()", _folder)
if hasattr(os, "register_at_fork"):  # a fork must not have a lock that a thread held which it has not
    os.register_at_fork(before=_LOCK.acquire, after_in_parent=_LOCK.release, after_in_child=_LOCK.release)


class _NotCachedError(Exception):
    """There is no machine code of a loop in the cache."""


def _load_cached(function: Callable[..., Any]) -> Callable[..., Any] | None:
    """Return the machine code of a loop as Python calls it, None if it is not in the cache."""
    from numba.core.compiler import CompilerBase

    class Compiler(CompilerBase):
        def define_pipelines(self) -> list[Any]:
            raise _NotCachedError

    try:
        flat_entry = _flat(function)
        dispatcher = _compiled(flat_entry, flat_entry.__globals__, cache=True, pipeline_class=Compiler)
        for overload in dispatcher.overloads.values():
            overload.library._shared_module = None  # noqa: SLF001  half of the memory, and nothing is linked with it
        return _spreading(function, dispatcher)
    except _NotCachedError:
        return None
    except Exception as error:  # noqa: BLE001  no folder to cache in, or one with damaged files: of any kind
        _LOGGER.info("no machine code can be loaded: %s: %s", type(error).__name__, error)
        return None


@functools.cache
def _dispatcher(function: Callable[..., Any], loop: Callable[..., Any] | None = None) -> Any:
    """Return a loop as Numba has it, compiled with those that it calls; a `loop` is compiled into its entry.

    Without reference counts no loop can return an array: one that does is compiled into those that call it.
    """
    if get_origin(get_type_hints(function, include_extras=True)["return"]) is Annotated:
        return _inlined(function)
    scope = _resolved(function) if loop is None else function.__globals__ | {"loop": _inlined(loop)}
    try:
        return _compiled(function, scope, cache=True)
    except RuntimeError:  # no folder to cache in can be written
        return _compiled(function, scope)
    except Exception:  # noqa: BLE001  what damaged files raise is of any kind
        _remove_cached(function)
        return _compiled(function, scope, cache=True)


def _remove_cached(function: Callable[..., Any]) -> None:
    """Remove the machine code of a loop from the cache."""
    import numba

    twin = _named_by_content(function, function.__globals__)
    dispatcher: Any = numba.njit(cache=True)(twin)
    for file in Path(dispatcher.stats.cache_path).glob(f"*.{twin.__qualname__}-*"):
        file.unlink(missing_ok=True)


def _resolved(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the globals of a function with the loops that it calls as Numba has them."""
    return function.__globals__ | {name: _dispatcher(loop) for name, loop in _called(function)}


def _compile_entry(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a loop with those that it calls, and return it as Python calls it."""
    _log_compiling()
    flat_entry = _flat(function)
    dispatcher = _dispatcher(function) if flat_entry is function else _dispatcher(flat_entry, function)
    return _spreading(function, dispatcher)


def _inlined(function: Callable[..., Any]) -> Any:
    """Return a loop as Numba compiles it into the one that calls it."""
    import numba

    return numba.njit(_with_globals(function, _resolved(function)), inline="always")


def _compiled(function: Callable[..., Any], scope: dict[str, Any], **options: Any) -> Any:
    """Return a function as Numba has it, for the types that it is annotated with."""
    import numba

    *parameters, returned = map(_machine_type, get_type_hints(function, include_extras=True).values())
    if _REASSOCIATES.get(function):
        options |= {"fastmath": {"reassoc", "nsz", "contract"}, "error_model": "numpy"}
    is_inner = any(isinstance(parameter, numba.types.BaseNamedTuple) for parameter in parameters)
    njit: Any = numba.njit  # it has more options than types
    compiler = njit(returned(*parameters), _nrt=False, no_cpython_wrapper=is_inner, **options)
    return compiler(_named_by_content(function, scope))


def _named_by_content(function: Callable[..., Any], scope: dict[str, Any]) -> FunctionType:
    twin = _with_globals(function, scope)
    twin.__qualname__ += f"_{_digest(function)}"
    return twin


def _with_globals(function: Callable[..., Any], scope: dict[str, Any]) -> FunctionType:
    twin = FunctionType(function.__code__, scope, function.__name__)
    twin.__module__, twin.__annotations__ = function.__module__, function.__annotations__
    return twin


def _flat(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that takes the arrays of named tuples one by one; the same function if it takes no tuples.

    `def walk(machine, state)` becomes `def walk(machine_nodes, ..., machine_arcs, state):
    return loop(Machine(machine_nodes, ..., machine_arcs), state)`.
    """
    hints = get_type_hints(function, include_extras=True)
    returned = hints.pop("return")
    if not any(map(_fields, hints.values())):
        return function
    scope: dict[str, Any] = {"__name__": function.__module__, "loop": function}
    flat: dict[str, Any] = {}
    rebuilt = []
    for name, hint in hints.items():
        fields = _fields(hint)
        flat |= {f"{name}_{field}": kind for field, kind in fields.items()} or {name: hint}
        rebuilt.append(f"{hint.__name__}({', '.join(f'{name}_{field}' for field in fields)})" if fields else name)
        scope |= {hint.__name__: hint} if fields else {}
    source = f"def {function.__name__}({', '.join(flat)}):\n    return loop({', '.join(rebuilt)})\n"
    exec(compile(source, function.__code__.co_filename, "exec"), scope)  # noqa: S102  made of names above
    flat_entry: Callable[..., Any] = scope[function.__name__]
    flat_entry.__annotations__ = flat | {"return": returned}
    return flat_entry


def _spreading(function: Callable[..., Any], flat_entry: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function with the parameters of a loop that calls its `_flat` twin, with the arrays one by one.

    For `walk(machine, state)`, that is `lambda machine, state: flat_entry(*machine, state)`.
    """
    hints = get_type_hints(function, include_extras=True)
    del hints["return"]
    if not any(map(_fields, hints.values())):
        return flat_entry
    spread = (f"*{name}" if _fields(hint) else name for name, hint in hints.items())
    source = f"lambda {', '.join(hints)}: flat_entry({', '.join(spread)})"
    call: Callable[..., Any] = eval(source, {"flat_entry": flat_entry})  # noqa: S307  made of names above
    return call


@functools.cache
def _log_compiling() -> None:
    _LOGGER.info("compiling the loops, once per machine; that takes half a minute or more")


@functools.cache
def _digest(function: Callable[..., Any]) -> str:
    """Return a digest of all that is compiled into a loop, which becomes part of its name in the cache.

    Numba compiles a loop anew when its own file has changed, but not when a constant or a loop of another file has,
    although they are compiled into it.
    """
    digest = hashlib.sha256(_source(__file__) + _source(function.__code__.co_filename))
    for name, loop in _called(function):
        digest.update(f"{name} {_digest(loop)}".encode())
    for name in sorted(function.__code__.co_names):
        value = function.__globals__.get(name)
        if isinstance(value, int) or _fields(value):
            digest.update(f"{name} {_fields(value) or value}".encode())
        elif isinstance(value, ModuleType):
            digest.update(_source(str(value.__file__)))
    return digest.hexdigest()[:16]


def _called(function: Callable[..., Any]) -> list[tuple[str, Callable[..., Any]]]:
    named = ((name, function.__globals__.get(name)) for name in sorted(function.__code__.co_names))
    loops = ((name, getattr(value, "py_func", value)) for name, value in named if isinstance(value, FunctionType))
    return [(name, loop) for name, loop in loops if loop in _REASSOCIATES]


@functools.cache
def _source(path: str) -> bytes:
    return Path(path).read_bytes()


def _machine_type(hint: Any) -> Any:
    """Return the Numba type of an annotation; that of a named tuple consists of those of its fields."""
    import numba

    if get_origin(hint) is tuple:
        tuple_type: Any = numba.types.Tuple
        return tuple_type([_machine_type(kind) for kind in get_args(hint)])
    fields = _fields(hint)
    if fields:
        kinds = [_machine_type(kind) for kind in fields.values()]
        mixed_type: Any = numba.types.NamedTuple
        uniform_type: Any = numba.types.NamedUniTuple  # which Numba tells apart
        return uniform_type(kinds[0], len(kinds), hint) if len(set(kinds)) == 1 else mixed_type(kinds, hint)
    kind = _SCALARS.get(hint) or hint.__metadata__[0]
    if isinstance(kind, str):
        return getattr(numba, kind)
    return numba.types.Array(getattr(numba, kind.scalar), kind.dimensions, "C", readonly=kind.is_readonly)


def _fields(hint: Any) -> dict[str, Any]:
    """Return the annotated fields of a class of named tuples, in order; nothing for anything else."""
    return get_type_hints(hint, include_extras=True) if hasattr(hint, "_fields") else {}


_SCALARS = {int: "int64", bool: "boolean", type(None): "void"}
