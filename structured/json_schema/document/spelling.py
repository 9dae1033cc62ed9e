"""The one spelling of values that are compared by their texts: in which order the properties of objects are written."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from structured.regex import Pattern

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
