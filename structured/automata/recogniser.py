"""Recognisers: what reads any number of texts by an automaton, within the limits of each alone."""

from collections.abc import Callable
from threading import Lock
from typing import Generic, Protocol, Self, TypeVar

from structured.automata.protocol import AUTOMATON_ERRORS, Automaton, accepts_text

T = TypeVar("T")


class _Renewable(Protocol):
    """What wears out, as automata do; see the protocol of these."""

    @property
    def is_worn(self) -> bool: ...

    def renewed(self) -> Self: ...


R = TypeVar("R", bound=_Renewable)


class Renewing(Generic[R]):
    """Something that wears out while texts are read: made for the first, and renewed once it is worn."""

    def __init__(self, make: Callable[[], R]) -> None:
        self._make = make
        self._made: R | None = None
        self._lock = Lock()

    def read(self, read: Callable[[R], T]) -> T:
        """Return what is read of one text; it is read once more where others before it have worn out the first.

        Raises PatternError or GrammarError where the text is too much by itself.
        """
        made, is_unused = self._for_a_text()
        try:
            return read(made)
        except AUTOMATON_ERRORS:
            if is_unused or not made.is_worn:
                raise
        return read(self._for_a_text()[0])

    def _for_a_text(self) -> tuple[R, bool]:
        """Return what the next text is read with, and whether none was read with it before."""
        with self._lock:
            known = self._made
            if known is not None and not known.is_worn:
                return known, False
            made = self._made = self._make() if known is None else known.renewed()
            return made, True


class Recogniser(Renewing[Automaton]):
    """What tells which texts are of a language, by an automaton that is made when it is first asked."""

    def accepts(self, text: str) -> bool:
        """Tell whether a text is of the language. Raises PatternError or GrammarError where it is too much."""
        return self.read(lambda automaton: accepts_text(automaton, text))
