"""The interface of languages, and the exploration of all their states: a table, and the smallest automaton."""

from collections.abc import Hashable, Sequence
from typing import Any, Protocol

import numpy as np

from structured.automata.dfa.alphabet import DEAD, Alphabet
from structured.automata.dfa.character_automaton import Automaton, Table
from structured.automata.dfa.minimisation import smallest
from structured.errors import PatternError

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
    table, states = table_of(language)
    return smallest(table, {number for number, state in enumerate(states) if language.accepts(state)})


def table_of(language: Language) -> tuple[Table, list[Any]]:
    """Return where every class leads from every state of a language, as numbers, and the states in their order."""
    numbers = _Numbers(language.start)
    language.renew()
    most = language.work + MAX_WORK
    rows: list[list[int]] = []
    for state in numbers.states:  # which grows on the way
        rows.append(list(map(numbers.__getitem__, language.row(state))))
        if language.work > most:
            raise too_much_work()
    return Table(language.alphabet, np.array(rows, dtype=np.int32)), numbers.states


class _Numbers(dict[Any, int]):
    """The numbers of states, in the order in which they are asked for."""

    def __init__(self, start: Any) -> None:
        super().__init__({None: DEAD, start: 0})
        self.states = [start]

    def __missing__(self, state: Any) -> int:
        number = self[state] = len(self.states)
        if number == MAX_STATES:
            raise PatternError(f"An automaton needs more than {MAX_STATES:,} states", pattern="", remedy=_REMEDY)
        self.states.append(state)
        return number
