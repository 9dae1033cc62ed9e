"""Aliases of a field: the name under which it is written, and those under which it is read."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Spelling:
    """The names of one field in the input.

    `written` is the one that texts have. `preferred` are names at which an alias that is tried before it begins, and
    `looked_up` all names at which one begins.
    """

    written: str
    preferred: frozenset[str]
    looked_up: frozenset[str]

    @classmethod
    def of(cls, name: str, alias: Any, *, by_name: bool, by_alias: bool, claimed: Collection[str] = ()) -> "Spelling":
        """Return the names of a field, whose alias is a name, a path, or a list of paths that are tried in turn.

        It is written by the first plain name that is not `claimed` by another field, or else by the first.
        `AliasChoices(AliasPath("names", 0), "name")` → written as `name`, `names` being preferred
        """
        paths = _paths(alias) if alias is not None and by_alias else []
        if alias is None or by_name:
            paths.append([name])
        heads = [str(path[0]) for path in paths]
        plain = [at for at, path in enumerate(paths) if len(path) == 1]
        chosen = next((at for at in plain if heads[at] not in claimed), plain[0] if plain else 0)
        return cls(heads[chosen], frozenset(heads[:chosen]), frozenset(heads))


def _paths(alias: Any) -> list[list[Any]]:
    """Return the paths of an alias: `"a"` → `[["a"]]`, `["a", 0]` → `[["a", 0]]`."""
    if isinstance(alias, str):
        return [[alias]]
    return [list(path) for path in alias] if alias and isinstance(alias[0], list) else [list(alias)]
