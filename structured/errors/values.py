"""Values as messages show them: short, on one line, whatever they are."""

import reprlib
from collections.abc import Iterable
from difflib import get_close_matches

from pydantic_core import ValidationError

_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxlong = _SHORT.maxother = 80


def shown(value: object) -> str:
    """Return a value as a message shows it: short, and on one line."""
    return _written(value) or f"of type {type(value).__name__}"


def described(value: object) -> str:
    """Return the type of a value and, shortened, its repr."""
    return "None" if value is None else f"{type(value).__name__} {_written(value) or '…'}"


def _written(value: object) -> str:
    """Return the repr of a value, shortened; "" if it fails."""
    try:
        return " ".join(_SHORT.repr(value).split())
    except Exception:  # noqa: BLE001  the value's own code, or an integer of too many digits
        return ""


def excerpt(text: str, longest: int) -> str:
    """Return the beginning of a text, line by line and printable, with the length of a text that is cut."""
    lines = "\n".join(map(printable, text[:longest].split("\n")))
    return lines if len(text) <= longest else f"{lines}… ({counted(len(text), 'character')})"


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


def nearest(name: object, names: Iterable[str]) -> str:
    """Return a question for the most similar of some names, after a blank; "" if none is similar."""
    return "".join(f" Did you mean {near!r}?" for near in nearest_of(name, names))


def nearest_of(name: object, names: Iterable[str]) -> list[str]:
    """Return the most similar of some names; nothing if none is similar."""
    return get_close_matches(str(name)[:80].lower(), list(names), n=1)
