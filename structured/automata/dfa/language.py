"""The interface of languages, and the exploration of all their states: a table, and the smallest automaton."""

from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from math import inf
from threading import local
from typing import Any, Protocol

import numpy as np

from structured.automata.dfa.alphabet import DEAD, Alphabet
from structured.automata.dfa.character_automaton import CharacterAutomaton, Table
from structured.automata.dfa.minimisation import minimised
from structured.errors import PatternError

MAX_STATES = 24_000
"""States of one automaton that is made explicit."""

MAX_WORK = 1_000_000
"""Steps of work to make one automaton: a state may consist of as many branches as its pattern has places."""


class _Work(local):
    """The steps that a thread may still take for the automaton that it makes."""

    steps_left: float = inf


_work = _Work()


@contextmanager
def limited_work() -> Iterator[None]:
    """Allow as many steps inside the `with` as one automaton may take."""
    before, _work.steps_left = _work.steps_left, MAX_WORK
    try:
        yield
    finally:
        _work.steps_left = before


def add_work(steps: int) -> None:
    """Count some steps. Raises PatternError where they are too many."""
    _work.steps_left -= steps
    if _work.steps_left < 0:
        raise PatternError(f"An automaton takes more than {MAX_WORK:,} steps to make", pattern="", remedy=_REMEDY)


class Language(Protocol):
    """A set of texts, as a deterministic automaton over characters whose states are made when they are asked for."""

    @property
    def alphabet(self) -> Alphabet:
        """The classes of characters that the language tells apart."""

    @property
    def start(self) -> Hashable:
        """The state before the first character."""

    def row(self, state: Any) -> Sequence[Any]:
        """Return the state that each class of characters leads to; None where it leads nowhere."""

    def accepts(self, state: Any) -> bool:
        """Tell whether the text may end here."""


_REMEDY = "Repeat less, and combine fewer patterns and lengths."


def smallest_automaton(language: Language) -> CharacterAutomaton | None:
    """Return the smallest automaton of a language; None if no text is in it."""
    table, states = table_of(language)
    return minimised(table, {number for number, state in enumerate(states) if language.accepts(state)})


def table_of(language: Language) -> tuple[Table, list[Any]]:
    """Return the table of a language whose states are all made, and its states in the order of their numbers."""
    numbers = _Numbers(language.start)
    with limited_work():  # the list of states grows on the way
        rows = [list(map(numbers.__getitem__, language.row(state))) for state in numbers.states]
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
