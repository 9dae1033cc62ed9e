"""The exploration of a language: all its states, as a table and as the smallest automaton."""

from collections.abc import Callable
from typing import Any

import numpy as np

from structured.automata.dfa.alphabet import DEAD
from structured.automata.dfa.character_automaton import Automaton, Table
from structured.automata.dfa.language import MAX_STATES, MAX_WORK, Language, too_large, too_much_work
from structured.automata.dfa.minimisation import smallest


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
