"""The one interface of every language: those of patterns, and what is made of others."""

from collections.abc import Hashable, Sequence
from typing import Any, Protocol

from structured.errors import PatternError
from structured.pattern.languages.alphabet import Alphabet
from structured.pattern.nodes import Pattern, excerpt

MOST_STATES = 24_000
"""States of one automaton that is made explicit."""


class Language(Protocol):
    """A set of texts, as a deterministic automaton over characters whose states are made when they are asked for."""

    @property
    def alphabet(self) -> Alphabet:
        """The classes of characters that the language tells apart."""
        ...

    @property
    def start(self) -> Hashable:
        """The state before the first character."""
        ...

    def row(self, state: Any) -> Sequence[Any]:
        """Return the state that each class of characters leads to; None where it leads nowhere."""
        ...

    def accepts(self, state: Any) -> bool:
        """Tell whether the text may end here."""
        ...


def too_large(pattern: Pattern | None) -> PatternError:
    """Return the error that says that an automaton would not end."""
    return PatternError(
        f"An automaton needs more than {MOST_STATES:,} states",
        pattern="" if pattern is None else excerpt(pattern),
        remedy="Repeat less, and combine fewer patterns and lengths.",
    )
