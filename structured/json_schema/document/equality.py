"""Equality of JSON values (core §4.2.2): texts for comparison, shared equal schemas, and one order of properties.

Generated schemas repeat themselves: a definition is written out wherever it is used. The compiler tells schemas apart
by their identity in memory, so once equal ones are one object, a repeated one is compiled once, and what was found out
about it holds everywhere.
"""

import json
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from structured.errors.recursion import deep, with_room
from structured.regex import Pattern


def identity(value: Any) -> str:
    """Return a text that is the same for equal values: `1.0` → `1`, and keys in order."""
    if isinstance(value, str):  # which is most of the time
        return f"text {value}"
    if not isinstance(value, list | dict):
        return json.dumps(_plain(value))
    return with_room(json.dumps, _plain(value), sort_keys=True)


@deep
def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {name: _plain(member) for name, member in value.items()}
    return int(value) if isinstance(value, float) and value.is_integer() else value


_NAMING = frozenset({"$anchor", "$dynamicAnchor", "$id", "$recursiveAnchor", "id"})
"""Keywords that name a place: what holds one means something else at each."""


def shared(document: Any) -> Any:
    """Return a JSON value in which objects that are equal, their keys in the same order, are one."""
    return _Sharing().shared(document)[0] if isinstance(document, dict | list) else document


class _Sharing:
    """One document, while its objects are compared."""

    def __init__(self) -> None:
        self._known: dict[Hashable, dict[str, Any]] = {}

    @deep
    def shared(self, value: Any) -> tuple[Any, Hashable]:
        """Return an object or a list, and a key that equal ones have in common, and others do not."""
        if type(value) not in (dict, list):  # one that the compiler has made
            return value, id(value)
        members = value.values() if isinstance(value, dict) else value
        new: list[Any] = []
        keys: list[Hashable] = []
        for one in members:
            if isinstance(one, dict | list):
                own, key = self.shared(one)
                new.append(own)
                keys.append(key)
            else:
                new.append(one)
                keys.append(one if isinstance(one, str) else (type(one), repr(one)))
        if not isinstance(value, dict):
            return new, tuple(keys)
        names = tuple(value)
        known = dict(zip(names, new, strict=True))
        if _NAMING.isdisjoint(known):
            known = self._known.setdefault((names, tuple(keys)), known)
        return known, id(known)


MAX_ANYWHERE = 64
"""Names up to which all of them may be written in an object that does not list them."""


@dataclass(slots=True, eq=False)
class Spelling:
    """One spelling for each value, the same wherever it stands and whichever schema allows it.

    The properties of `names` are written in the order of their places, and at most one by another name behind them. An
    object that does not list them may have them too, unless they are more than `MAX_ANYWHERE`. So
    every name that a schema lists has to be among them: those that are not yet are in `met`, in the order in which they
    were met. `kept` are patterns in one spelling, by the identity of the patterns that they were made of, and
    `anything` is that of any value.
    """

    names: Mapping[str, int]
    met: dict[str, None] = field(default_factory=dict)
    kept: dict[int, tuple[Pattern, Pattern]] = field(default_factory=dict)
    anything: Pattern | None = None

    @property
    def written_anywhere(self) -> Iterable[str]:
        """The names of properties that any object may have, if it does not deny them."""
        return self.names if len(self.names) <= MAX_ANYWHERE else ()

    def ordered(self, listed: Iterable[str]) -> list[str]:
        """Return the names of listed properties in the order in which they are written."""
        names = list(listed)
        self.met.update(dict.fromkeys(name for name in names if name not in self.names))
        return sorted(names, key=lambda name: self.names.get(name, len(self.names)))

    def extended(self) -> "Spelling":
        """Return the spelling in which the names that were met have their places too, behind the others."""
        return Spelling({name: place for place, name in enumerate([*self.names, *self.met])})
