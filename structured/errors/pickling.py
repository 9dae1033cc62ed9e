"""Exceptions that can be pickled and copied.

They keep message, fields and notes, but not causes and tracebacks, like every exception of Python. A field may be a
value that cannot be pickled, such as an error that a validator raised. A stand-in replaces it in the pickled form: an
exception that fails to unpickle makes a `multiprocessing.Pool` wait for ever.
"""

import copy
import pickle
from dataclasses import dataclass
from typing import Any, Self, TypeVar

from structured.errors.values import message

E = TypeVar("E", bound=BaseException)


class Portable(BaseException):
    """An exception that is pickled and copied by its message and fields, not by its constructor's arguments."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _bare, (type(self), self.args), picklable(vars(self))

    def __str__(self) -> str:
        """Return the message, with lone surrogates, which cannot be printed, escaped."""
        return super().__str__().encode(errors="backslashreplace").decode()

    def __copy__(self) -> Self:
        twin = _bare(type(self), self.args)
        vars(twin).update(vars(self))
        return twin

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        memo[id(self)] = twin = _bare(type(self), self.args)
        vars(twin).update(copy.deepcopy(vars(self), memo))
        return twin


class StandInError(ValueError):
    """The stand-in for an exception that cannot be pickled: its message, and its `kind` by name."""

    def __init__(self, message: str, kind: str) -> None:
        super().__init__(message, kind)
        self.kind = kind

    def __str__(self) -> str:
        return str(self.args[0])


@dataclass(frozen=True, slots=True)
class StandIn:
    """The stand-in for a value that cannot be pickled: its `kind` by name, and its repr."""

    kind: str
    shown: str


def _bare(kind: type[E], args: tuple[Any, ...]) -> E:
    """Return an exception with its arguments, without running `__init__`."""
    return kind.__new__(kind, *args)


def picklable(value: Any) -> Any:
    """Return a value, or a stand-in if it would not survive pickling."""
    if value is None or type(value) in (str, int, float, bool) or isinstance(value, Portable):
        return value
    if type(value) is tuple:
        return tuple(map(picklable, value))
    if type(value) is dict:
        return {key: picklable(member) for key, member in value.items()}
    try:
        twin = pickle.loads(pickle.dumps(value))  # noqa: S301  pickled on this line
        survives = type(twin) is type(value) and (not isinstance(value, Exception) or str(twin) == str(value))
    except Exception:  # noqa: BLE001  the value's own code may raise anything
        survives = False
    if survives:
        return value
    kind = f"{type(value).__module__}.{type(value).__qualname__}"
    return StandInError(message(value), kind) if isinstance(value, Exception) else StandIn(kind, _shown(value))


def _shown(value: object) -> str:
    try:
        return repr(value)
    except Exception:  # noqa: BLE001  the value's own code may raise anything
        return object.__repr__(value)
