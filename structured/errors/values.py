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
    """Return the repr of a value, shortened; an empty text if there is none."""
    try:
        return " ".join(_SHORT.repr(value).split())
    except Exception:  # noqa: BLE001  the value's own code, or an integer of too many digits
        return ""


def excerpt(text: str, longest: int) -> str:
    """Return the beginning of a text, line by line and printable; of a text that is cut, the length as well."""
    lines = "\n".join(map(printable, text[:longest].split("\n")))
    return lines if len(text) <= longest else f"{lines}… ({counted(len(text), 'character')})"


def counted(number: int, noun: str) -> str:
    """Return a number of things: `1 file`, `2,000 files`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def printable(text: str) -> str:
    r"""Return a text with the characters escaped that no terminal shows, or that command it: `\n`, `\x1b`."""
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in text)


def message(error: BaseException) -> str:
    """Return what an exception says; an empty text if its own code fails."""
    try:
        return str(error)
    except Exception:  # noqa: BLE001  the exception's own code
        return ""


def message_in_one_line(error: BaseException) -> str:
    """Return what an exception says, on one line and without a full stop; of Pydantic's, each fault with its place."""
    if isinstance(error, ValidationError):
        faults = error.errors(include_url=False, include_context=False, include_input=False)
        told = "; ".join(": ".join(filter(None, (".".join(map(str, one["loc"])), one["msg"]))) for one in faults)
    else:
        told = message(error)
    return " ".join(told.split()).removesuffix(".")


def nearest(name: object, names: Iterable[str]) -> str:
    """Return a question whether one of some names was meant, after a blank; an empty text if none is similar."""
    near = get_close_matches(str(name)[:80].lower(), list(names), n=1)
    return f" Did you mean {near[0]!r}?" if near else ""
