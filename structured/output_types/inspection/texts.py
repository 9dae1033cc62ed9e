"""The answers of a type that is no JSON: how many there are, the shortest and the longest, by its automaton.

An automaton over bytes has one way for each text, so that the ways are counted. It is gone through state by state, and
only so far: of a larger one it is not known how many texts it has.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from structured.automata import DEAD, ROW_COMPLETE, Automaton
from structured.output_types.inspection.report import Answers, Cost, Hazard

MAX_STATES = 5_000
"""States of an automaton that are gone through."""

MAX_SHOWN = 1_000
"""Bytes of the longest answer that is shown."""

_Arcs = Sequence[tuple[int, int]]
"""For each byte that may follow, the byte and the state after it."""


def inspect_texts(automaton: Automaton, how_to_limit: str = "") -> tuple[Cost, Answers, tuple[Hazard, ...]]:
    """Return what an answer costs, which answers there are, and what may go wrong.

    `how_to_limit` is what their type says of that.
    """
    arcs = _states(automaton)
    states = {automaton.start: _arcs(automaton, automaton.start)} if arcs is None else arcs
    shortest = int(automaton.distances[automaton.start])
    count, longest, text = None, None, None
    is_limited = None
    if arcs is not None:
        order = _in_order(arcs)
        is_limited = order is not None
        if order is not None:
            counts, lengths = _sums(automaton, arcs, order)
            count, longest = counts[automaton.start], lengths[automaton.start]
            text = _longest_text(automaton.start, arcs, lengths) if longest <= MAX_SHOWN else None
    shown = _shortest_text(automaton) if shortest <= MAX_SHOWN else None
    cost = Cost(len(states), shortest, longest)
    answers = Answers(count, is_limited, shown, text)
    return cost, answers, tuple(_hazards(automaton, states, how_to_limit, is_limited=is_limited))


def _arcs(automaton: Automaton, state: int) -> _Arcs:
    automaton.expand(state)
    row = automaton.table[state][:ROW_COMPLETE]
    return [(byte, int(row[byte])) for byte in np.flatnonzero(row > DEAD).tolist()]


def _states(automaton: Automaton) -> dict[int, _Arcs] | None:
    """Return the arcs of every state; None if there are too many."""
    found: dict[int, _Arcs] = {}
    open_ends = [automaton.start]
    while open_ends:
        state = open_ends.pop()
        if state not in found:
            if len(found) == MAX_STATES:
                return None
            found[state] = _arcs(automaton, state)
            open_ends += {target for _, target in found[state]}
    return found


def _in_order(arcs: dict[int, _Arcs]) -> list[int] | None:
    """Return the states, each after those that it leads to; None if some state leads back to itself."""
    before: dict[int, set[int]] = {state: set() for state in arcs}
    waiting: dict[int, int] = {}
    for state, ways in arcs.items():
        targets = {target for _, target in ways}
        waiting[state] = len(targets)
        for target in targets:
            before[target].add(state)
    order = [state for state, number in waiting.items() if number == 0]
    for state in order:  # which grows on the way
        for source in before[state]:
            waiting[source] -= 1
            if waiting[source] == 0:
                order.append(source)
    return order if len(order) == len(arcs) else None


def _sums(automaton: Automaton, arcs: dict[int, _Arcs], order: Sequence[int]) -> tuple[dict[int, int], dict[int, int]]:
    """Return for each state how many texts lead on from it, and the bytes of the longest."""
    counts: dict[int, int] = {}
    lengths: dict[int, int] = {}
    for state in order:
        counts[state] = int(automaton.accepts(state)) + sum(counts[target] for _, target in arcs[state])
        lengths[state] = max((1 + lengths[target] for _, target in arcs[state]), default=0)
    return counts, lengths


def _longest_text(state: int, arcs: dict[int, _Arcs], lengths: dict[int, int]) -> str:
    found = bytearray()
    while arcs[state]:
        byte, state = max(arcs[state], key=lambda arc: lengths[arc[1]])
        found.append(byte)
    return found.decode()


def _shortest_text(automaton: Automaton) -> str:
    found, state = bytearray(), automaton.start
    while not automaton.accepts(state):
        byte, state = min(_arcs(automaton, state), key=lambda arc: int(automaton.distances[arc[1]]))
        found.append(byte)
    return found.decode()


_OTHER_DIGIT = "\N{ARABIC-INDIC DIGIT THREE}".encode()


def _hazards(
    automaton: Automaton, states: dict[int, _Arcs], how_to_limit: str, *, is_limited: bool | None
) -> Iterator[Hazard]:
    """Yield what may go wrong with answers that are allowed."""
    where = ("",)
    if is_limited is False:
        problem = "An answer without a limit: it may use the whole budget."
        yield Hazard("text", problem, how_to_limit or "Nothing but max_tokens limits it.", where)
    if any(_allows_other_digits(automaton, state) for state in states):
        problem = r"Digits of other scripts are allowed where 0 to 9 are: \d in Python is any digit of Unicode."
        yield Hazard("digits", problem, "Write [0-9], or the flag a: (?a).", where)
    if automaton.accepts(automaton.start):
        yield Hazard("nothing", "The answer may be empty.", "Require something, unless that means something.", where)


def _allows_other_digits(automaton: Automaton, state: int) -> bool:
    """Tell whether digits of ASCII and of another script may follow, and no letter."""
    if automaton.step(state, ord("3")) == DEAD or automaton.step(state, ord("a")) != DEAD:
        return False
    for byte in _OTHER_DIGIT:
        state = automaton.step(state, byte)
        if state == DEAD:
            return False
    return True
