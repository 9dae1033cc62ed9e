"""The interface of languages, and the exploration of all their states: a table, and the smallest automaton."""

from collections.abc import Callable, Hashable, Sequence
from typing import Any, Protocol

import numpy as np

from structured.automata.dfa.alphabet import DEAD, Alphabet
from structured.automata.dfa.character_automaton import Automaton, Table
from structured.automata.dfa.minimisation import smallest
from structured.errors import PatternError
from structured.regex.printing import excerpt
from structured.regex.syntax import Pattern

MAX_STATES = 24_000
"""States of one automaton that is made explicit."""

MAX_WORK = 1_000_000
"""Steps in which these are made: a state may consist of as many branches as its pattern has places."""


class Work:
    """The steps that a language and those within it have taken, and how many they may have taken."""

    __slots__ = ("done", "most")

    def __init__(self) -> None:
        self.done = 0
        self.most = MAX_WORK

    def add(self, steps: int) -> None:
        """Count some steps. Raises PatternError where they are too many."""
        self.done += steps
        if self.done > self.most:
            raise too_much_work()

    def renew(self) -> None:
        """Allow as many again."""
        self.most = self.done + MAX_WORK


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

    @property
    def work(self) -> int:
        """The steps that were taken for the states so far."""
        ...

    def renew(self) -> None:
        """Allow as many steps again as one automaton may take."""
        ...

    def row(self, state: Any) -> Sequence[Any]:
        """Return the state that each class of characters leads to; None where it leads nowhere."""
        ...

    def accepts(self, state: Any) -> bool:
        """Tell whether the text may end here."""
        ...


_REMEDY = "Repeat less, and combine fewer patterns and lengths."


def too_large(pattern: Pattern | None) -> PatternError:
    """Return the error that says that an automaton would not end."""
    return PatternError(
        f"An automaton needs more than {MAX_STATES:,} states",
        pattern="" if pattern is None else excerpt(pattern),
        remedy=_REMEDY,
    )


class SmallStates:
    """A language whose states are small, whatever it is: the number of them is limit enough."""

    work = 0

    def renew(self) -> None:
        """Do nothing: no steps are counted."""


def too_much_work() -> PatternError:
    """Return the error that says that the states of an automaton are too large together."""
    return PatternError(f"An automaton takes more than {MAX_WORK:,} steps to make", pattern="", remedy=_REMEDY)


def explore(language: Language) -> Automaton | None:
    """Return the smallest automaton of a language; None if no text is in it."""
    accepting: set[int] = set()

    def note(number: int, state: Any) -> None:
        if language.accepts(state):
            accepting.add(number)

    return smallest(table_of(language, note), accepting)


def table_of(language: Language, note: Callable[[int, Any], None]) -> Table:
    """Return where every class leads from every state of a language, as numbers, after noting each state."""
    numbers = _Numbers(language.start)
    language.renew()
    most = language.work + MAX_WORK
    rows: list[list[int]] = []
    for number, state in enumerate(numbers.states):  # which grows on the way
        note(number, state)
        rows.append(list(map(numbers.__getitem__, language.row(state))))
        if language.work > most:
            raise too_much_work()
    return Table(language.alphabet, np.array(rows, dtype=np.int32))


class _Numbers(dict[Any, int]):
    """The numbers of states, in the order in which they are asked for."""

    def __init__(self, start: Any) -> None:
        super().__init__({None: DEAD, start: 0})
        self.states = [start]

    def __missing__(self, state: Any) -> int:
        number = self[state] = len(self.states)
        if number == MAX_STATES:
            raise too_large(None)
        self.states.append(state)
        return number
