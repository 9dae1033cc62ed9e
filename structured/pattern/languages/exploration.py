"""A language enters; its states leave, all of them, as the smallest automaton."""

from collections.abc import Callable
from typing import Any

from structured.pattern.languages.automaton import Automaton, Step
from structured.pattern.languages.minimisation import smallest
from structured.pattern.languages.protocol import MOST_STATES, Language, too_large


def explore(language: Language) -> Automaton | None:
    """Return the smallest automaton of a language; None if no text is in it."""
    if language.start is None:
        return None
    accepting: set[int] = set()

    def note(number: int, state: Any) -> None:
        if language.accepts(state):
            accepting.add(number)

    return smallest(rows_of(language, note), accepting)


def rows_of(language: Language, note: Callable[[int, Any], None]) -> list[list[Step]]:
    """Return the arcs of every state of a language, as numbers, after noting each state."""
    numbers: dict[Any, int] = {language.start: 0}
    states = [language.start]
    rows: list[list[Step]] = []
    for state in states:  # which grows on the way
        note(len(rows), state)
        row = []
        for low, high, target in language.arcs(state):
            if target not in numbers:
                numbers[target] = len(states)
                states.append(target)
                if len(states) > MOST_STATES:
                    raise too_large(None)
            row.append((low, high, numbers[target]))
        rows.append(row)
    return rows
