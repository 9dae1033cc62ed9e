"""Equal objects of a document as one, so that what is found out of one is known of all.

Generated schemas repeat themselves: a definition is written out wherever it is used. Whether two schemas are the same
is told by their identity in memory, so a repeated one is compiled once, and is seen to hold where it holds elsewhere.
"""

from collections.abc import Hashable
from typing import Any

from structured.errors.recursion import deep

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
