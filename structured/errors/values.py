"""Values as messages and pickled exceptions show them: short, on one line, whatever they are.

Exceptions keep message, fields and notes, but not causes and tracebacks, like every exception of Python. A stand-in
replaces a field that cannot be pickled: an exception that fails to unpickle makes a `multiprocessing.Pool` hang.
"""

import copy
import json
import pickle
import reprlib
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Self, TypeVar

from pydantic_core import ValidationError

E = TypeVar("E", bound=BaseException)


class Portable(BaseException):
    """An exception that is pickled and copied by its message and fields, not by its constructor's arguments."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _without_init, (type(self), self.args), picklable(vars(self))

    def __str__(self) -> str:
        """Return the message, with lone surrogates, which cannot be printed, escaped."""
        return super().__str__().encode(errors="backslashreplace").decode()

    def __copy__(self) -> Self:
        twin = _without_init(type(self), self.args)
        vars(twin).update(vars(self))
        return twin

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        memo[id(self)] = twin = _without_init(type(self), self.args)
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


def _without_init(kind: type[E], args: tuple[Any, ...]) -> E:
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
    return StandInError(message(value), kind) if isinstance(value, Exception) else StandIn(kind, _repr_of(value))


def _repr_of(value: object) -> str:
    try:
        return repr(value)
    except Exception:  # noqa: BLE001  the value's own code may raise anything
        return object.__repr__(value)


_SHORT_REPR = reprlib.Repr()
_SHORT_REPR.maxstring = _SHORT_REPR.maxlong = _SHORT_REPR.maxother = 80


def shown(value: object) -> str:
    """Return a value as a message shows it: short, and on one line."""
    return _short_repr(value) or f"of type {type(value).__name__}"


def described(value: object) -> str:
    """Return the type of a value and, shortened, its repr."""
    return "None" if value is None else f"{type(value).__name__} {_short_repr(value) or '…'}"


def _short_repr(value: object) -> str:
    """Return the repr of a value, shortened; "" if it fails."""
    try:
        return " ".join(_SHORT_REPR.repr(value).split())
    except Exception:  # noqa: BLE001  the value's own code, or an integer of too many digits
        return ""


def excerpt(text: str, longest: int) -> str:
    """Return the beginning of a text, line by line and printable, with the length of a text that is cut."""
    lines = "\n".join(map(printable, text[:longest].split("\n")))
    return lines if len(text) <= longest else f"{lines}… ({counted(len(text), 'character')})"


def shortened(text: str, longest: int) -> str:
    """Return a text, or its beginning and an ellipsis."""
    return text if len(text) <= longest else f"{text[:longest]}…"


def counted(number: int, noun: str) -> str:
    """Return a number of things: `1 file`, `2,000 files`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def printable(text: str) -> str:
    r"""Return a text with escapes for characters that a terminal does not show, or obeys: `\n`, `\x1b`."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def message(error: BaseException) -> str:
    """Return the message of an exception; "" if its own code fails."""
    try:
        return str(error)
    except Exception:  # noqa: BLE001  the exception's own code
        return ""


def message_in_one_line(error: BaseException) -> str:
    """Return the message of an exception, on one line without a full stop; Pydantic's with the place of each fault."""
    if isinstance(error, ValidationError):
        faults = error.errors(include_url=False, include_context=False, include_input=False)
        text = "; ".join(": ".join(filter(None, (".".join(map(str, fault["loc"])), fault["msg"]))) for fault in faults)
    else:
        text = message(error)
    return " ".join(text.split()).removesuffix(".")


def fault_of_json(error: Exception) -> str:
    """Return what is wrong with a line of JSON, and at which column: `Expecting value at column 3`."""
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg.removesuffix(' at')} at column {error.colno}"
    return message(error)


def nearest(name: object, names: Iterable[str]) -> str:
    """Return a question for the most similar of some names, after a blank; "" if none is similar."""
    return "".join(f" Did you mean {near!r}?" for near in nearest_of(name, names))


def nearest_of(name: object, names: Iterable[str]) -> list[str]:
    """Return the most similar of some names; nothing if none is similar."""
    return get_close_matches(str(name)[:80].lower(), list(names), n=1)
