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


def identity(value: Any) -> str:
    """Return a text that is the same for equal values: `1.0` → `1`, and keys in order."""
    if isinstance(value, str):  # the usual case
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


_NAMING_KEYWORDS = frozenset({"$anchor", "$dynamicAnchor", "$id", "$recursiveAnchor", "id"})
"""Keywords that name a place: two schemas that hold one differ, even if they are equal."""


_CONTAINERS = (dict, list)


def with_shared_objects(document: Any) -> Any:
    """Return a JSON value in which equal objects, with their keys in the same order, are one object in memory."""
    return _shared(document, {})[0] if isinstance(document, dict | list) else document


@deep
def _shared(value: Any, objects: dict[Hashable, dict[str, Any]]) -> tuple[Any, Hashable]:
    """Return an object or a list with equal objects shared, and a key that only equal values have in common."""
    if type(value) not in (dict, list):  # made by the compiler
        return value, id(value)
    new: list[Any] = []
    keys: list[Hashable] = []
    is_object = type(value) is dict
    for member in value.values() if is_object else value:
        if type(member) is str:  # the usual case
            inner: Any = member
            key: Hashable = member
        elif isinstance(member, _CONTAINERS):
            inner, key = _shared(member, objects)
        else:
            inner, key = member, (type(member), repr(member))
        new.append(inner)
        keys.append(key)
    if not is_object:
        return new, tuple(keys)
    names = tuple(value)
    result = dict(zip(names, new, strict=True))
    if _NAMING_KEYWORDS.isdisjoint(result):
        result = objects.setdefault((names, tuple(keys)), result)
    return result, id(result)


MAX_NAMES_ANYWHERE = 64
"""The most names that an object may have without listing them; if there are more, it has none of them."""


@dataclass(slots=True, eq=False)
class CanonicalForm:
    """The one spelling of each value, the same in every place and for every schema that allows the value.

    Properties are written in the order of `names`, followed by at most one property of another name. Every name that a
    schema lists has to be in `names`; the others are collected in `unplaced_names`, in the order in which they occur.
    An object may have properties of `names` that it does not list, unless these are more than `MAX_NAMES_ANYWHERE`.
    """

    names: Mapping[str, int]
    unplaced_names: dict[str, None] = field(default_factory=dict)

    @property
    def written_anywhere(self) -> Iterable[str]:
        """The names that any object may have, unless it forbids them."""
        return self.names if len(self.names) <= MAX_NAMES_ANYWHERE else ()

    def ordered(self, listed: Iterable[str]) -> list[str]:
        """Return the names of listed properties in canonical order, and note those that have no place yet."""
        names = list(listed)
        self.unplaced_names.update(dict.fromkeys(name for name in names if name not in self.names))
        return sorted(names, key=lambda name: self.names.get(name, len(self.names)))
