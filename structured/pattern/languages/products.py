"""Languages enter; they leave run beside each other, by which they are intersected, complemented and sorted."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

from structured.pattern.languages.alternating import PatternLanguage
from structured.pattern.languages.arcs import Arc, joined, overlay
from structured.pattern.languages.protocol import Language
from structured.pattern.nodes import MAX_CODE_POINT, normalise

_EVERYTHING = normalise([(0, MAX_CODE_POINT)])


@dataclass(frozen=True, slots=True)
class Together:
    """The texts that are in all of `included` and in none of `excluded`, each run beside the others."""

    included: tuple[Language, ...]
    excluded: tuple[Language, ...] = ()
    start: Hashable = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "start", tuple(language.start for language in self.included + self.excluded))

    def arcs(self, state: Any) -> list[Arc]:
        """Return the arcs on which none of the included is lost."""
        needed = len(self.included)
        layers: list[Sequence[Arc]] = [
            () if inner is None else language.arcs(inner)
            for language, inner in zip(self.included + self.excluded, state, strict=True)
        ]
        if not needed:
            layers.append([(low, high, True) for low, high in _EVERYTHING])
        pieces = overlay(layers)
        return joined(
            (low, high, states[: needed + len(self.excluded)])
            for low, high, states in pieces
            if None not in states[:needed] and (needed or states[-1]) and not self._is_lost(states)
        )

    def _is_lost(self, states: Sequence[Any]) -> bool:
        """Tell whether one of the excluded holds whatever follows."""
        needed = len(self.included)
        return any(
            inner is not None and isinstance(language, PatternLanguage) and language.is_everything(inner)
            for language, inner in zip(self.excluded, states[needed:], strict=False)
        )

    def accepts(self, state: Any) -> bool:
        """Tell whether all of the included and none of the excluded accept."""
        needed = len(self.included)
        held = [
            inner is not None and language.accepts(inner)
            for language, inner in zip(self.included + self.excluded, state, strict=True)
        ]
        return all(held[:needed]) and not any(held[needed:])


@dataclass(frozen=True, slots=True)
class Watched:
    """The texts of a language, with the states of others beside its own."""

    base: Language
    others: tuple[Language, ...]

    @property
    def start(self) -> Hashable:
        """The states before the first character."""
        return (self.base.start, *(language.start for language in self.others))

    def arcs(self, state: Any) -> list[Arc]:
        """Return the arcs of the base, cut where one of the others does."""
        layers: list[Sequence[Arc]] = [
            () if inner is None else language.arcs(inner)
            for language, inner in zip((self.base, *self.others), state, strict=True)
        ]
        return joined(piece for piece in overlay(layers) if piece[2][0] is not None)

    def accepts(self, state: Any) -> bool:
        """Tell whether the base accepts."""
        return self.base.accepts(state[0])
