"""The pattern of an automaton whose arcs are patterns: a right-linear grammar, one definition for each state.

This is Chomsky's type 3 ("Three models for the description of language", 1956). A regular expression of the same texts
was the alternative: its length can grow fourfold with each state.
"""

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

from structured.regex.syntax import EMPTY, Pattern, Reference, alternation, concat

State = TypeVar("State", bound=Hashable)


def right_linear(
    start: State, arcs: Callable[[State], Iterable[tuple[Pattern, State]]], accepts: Callable[[State], bool]
) -> Pattern | None:
    """Return the texts that lead from a state to an accepting one; None if there are none.

    `arcs` returns the patterns that may follow in a state, each with its successor. Dead states are left out.
    """
    arcs_by_state: dict[State, dict[State, list[Pattern]]] = {}
    before: dict[State, set[State]] = {}
    open_ends = [start]
    while open_ends:
        state = open_ends.pop()
        if state not in arcs_by_state:
            arcs_by_state[state] = {}
            for pattern, target in arcs(state):
                arcs_by_state[state].setdefault(target, []).append(pattern)
                before.setdefault(target, set()).add(state)
            open_ends += arcs_by_state[state]
    accepting = {state for state in arcs_by_state if accepts(state)}
    live = set(accepting)
    border = accepting
    while border:
        border = {source for state in border for source in before.get(state, ())} - live
        live |= border
    if start not in live:
        return None
    definitions: dict[str, Pattern] = {}
    rest: dict[State, Pattern] = {
        state: EMPTY if live.isdisjoint(arcs_by_state[state]) else Reference(str(number), definitions)
        for number, state in enumerate(arcs_by_state)
        if state in live
    }
    for state, reference in rest.items():
        if isinstance(reference, Reference):
            options: list[Pattern] = [EMPTY] if state in accepting else []
            for target, patterns in arcs_by_state[state].items():
                if target in live:
                    options.append(concat(alternation(*patterns), rest[target]))
            definitions[reference.name] = alternation(*options)
    return rest[start]
