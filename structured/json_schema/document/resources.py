"""What a document consists of: paths lead to its schemas, and those that have a URI of their own are resources.

That URI is the base of the references inside a resource (core §4.3.5, §8.2).
"""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from structured.json_schema.document.drafts import Draft

Path = tuple["Path", str | int] | None
"""The keys that lead to a schema, the last one first: `(((None, "properties"), "a"), "items")`."""

Keys = tuple[str | int, ...]


def longer(path: Path, keys: Keys) -> Path:
    """Return a path with some keys after it."""
    for key in keys:
        path = (path, key)
    return path


def keys_of(path: Path) -> Keys:
    """Return the keys of a path, the first one first."""
    keys = []
    while path is not None:
        path, key = path
        keys.append(key)
    return tuple(reversed(keys))


def pointer_of(path: Path) -> str:
    """Return a path as a JSON Pointer (RFC 6901): `((None, "$defs"), "a/b")` → `/$defs/a~1b`."""
    return "".join("/" + str(key).replace("~", "~0").replace("/", "~1") for key in keys_of(path))


@dataclass(frozen=True, slots=True, eq=False)
class Resource:
    """A schema with a URI of its own, and the draft and metaschema that it is written for.

    `document` is the URI by which its document was found, "" that of the first; `path` leads to it in there.
    """

    uri: str
    schema: Any
    draft: Draft
    dialect: str = ""
    document: str = ""
    path: Path = None

    def address(self, path: Path) -> str:
        """Return where a path in the document leads: a JSON Pointer, after the URI and a `#` if it is another one."""
        return f"{self.document}#{pointer_of(path)}" if self.document else pointer_of(path)


@dataclass(slots=True)
class Contents:
    """What is found when a resource is looked through, without those that lie inside it.

    `names` tells where the schemas are that have plain names (`$anchor` and its like); None if two have the same.
    `dynamic` are those names that mean other schemas as well, depending on what refers to them; "" is the resource
    itself (`$recursiveAnchor`). `keywords` are all that occur, and `embedded` the resources that begin here.
    """

    names: dict[str, "tuple[Any, Path] | None"] = field(default_factory=dict)
    dynamic: set[str] = field(default_factory=set)
    keywords: set[str] = field(default_factory=set)
    embedded: list[Resource] = field(default_factory=list)


class Located(NamedTuple):
    """What a reference leads to: a schema, if it is one, how a path leads there, and the resource that it lies in."""

    schema: Any
    path: Path
    resource: Resource


class Scope(NamedTuple):
    """The resource that a schema lies in, and which of those passed through on the way have dynamic names (core §7.1).

    `outer` has for each name the first that has it, sorted by name. Names of the resource itself are left out where it
    would be the first, so scopes are equal if they mean the same, and there are finitely many.
    """

    resource: Resource
    outer: tuple[tuple[str, Resource], ...] = ()
