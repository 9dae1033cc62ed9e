"""The exploration of an automaton for a diagram: breadth-first, up to a number of states.

An automaton that is found as a whole is made the smallest one. Of others, which may have no end, some states that are
shown apart may be alike. Runs of single characters become one arrow, unless each character is to have its state.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from structured.automata.dfa.alphabet import DEAD as NOWHERE
from structured.automata.dfa.alphabet import common_alphabet, ranges_by_state
from structured.automata.dfa.minimisation import smallest
from structured.automata.dfa.table import Table
from structured.automata.diagram.character_steps import CharacterSteps, shortest_text
from structured.automata.diagram.states import Arrow, State
from structured.automata.protocol import Automaton
from structured.regex.character_sets import Range, normalise

MAX_EXPLORED = 2_000
"""States that are looked at, whether or not they are shown."""

_Characters = tuple[Range, ...]
_Runs = list[tuple[tuple[_Characters, ...], int]]


@dataclass(frozen=True, slots=True)
class _Graph:
    """The states that were found: where the characters lead from each of which that is known, and those that accept."""

    arrows: Mapping[int, Mapping[int, _Characters]]
    accepting: frozenset[int]
    start: int
    is_whole: bool


def explore(automaton: Automaton, most: int, *, fold: bool) -> tuple[tuple[State, ...], int | None]:
    """Return the first states of an automaton, and how many there are in all; None if that is not known.

    Parameters:
        automaton: Over the bytes of UTF-8.
        most: So many states are returned at most.
        fold: Whether runs of characters without a choice become one arrow.
    """
    graph = _found(automaton)
    if graph.is_whole:
        graph = _smallest(graph)
    inner = _inside_runs(graph) if fold else frozenset[int]()
    arrows = {state: _runs(graph, state, inner) for state in graph.arrows if state not in inner}
    order, reached_by = _in_order(graph.start, arrows)
    chosen = order[:most]
    numbers = {state: number for number, state in enumerate(chosen)}
    states = tuple(
        State(
            number,
            tuple(_arrows(arrows[state], numbers)),
            state in graph.accepting,
            reached_by[state],
            _completion(automaton, reached_by[state]),
        )
        for state, number in numbers.items()
    )
    return states, len(order) if graph.is_whole else None


def _found(automaton: Automaton) -> _Graph:
    """Return what a breadth-first search finds."""
    steps = CharacterSteps(automaton)
    arrows: dict[int, Mapping[int, _Characters]] = {}
    order = [automaton.start]
    seen = set(order)
    for state in order:  # which grows on the way
        if len(arrows) == MAX_EXPLORED:
            break
        arrows[state] = steps.after(state)
        order += [target for target in arrows[state] if target not in seen]
        seen.update(arrows[state])
    accepting = frozenset([state for state in arrows if automaton.accepts(state)])
    return _Graph(arrows, accepting, automaton.start, len(arrows) == len(order))


def _smallest(graph: _Graph) -> _Graph:
    """Return the smallest automaton of a whole one."""
    numbers = {state: number for number, state in enumerate(graph.arrows)}
    alphabet = common_alphabet(frozenset(ranges for inner in graph.arrows.values() for ranges in inner.values()))
    rows = []
    for inner in graph.arrows.values():
        row = [NOWHERE] * len(alphabet)
        for target, ranges in inner.items():
            for number in alphabet.members(alphabet.block(ranges)):
                row[number] = numbers[target]
        rows.append(row)
    found = smallest(Table(alphabet, np.array(rows, dtype=np.int32)), {numbers[state] for state in graph.accepting})
    assert found is not None, "every state of an automaton is alive"
    return _Graph(dict(enumerate(map(ranges_by_state, found.arcs))), found.accepting, 0, is_whole=True)


def _inside_runs(graph: _Graph) -> frozenset[int]:
    """Return the states that one character leads to and another one leads on from, without a choice."""
    incoming: dict[int, list[_Characters]] = {}
    for inner in graph.arrows.values():
        for target, ranges in inner.items():
            incoming.setdefault(target, []).append(ranges)
    return frozenset([
        state
        for state, inner in graph.arrows.items()
        if state != graph.start and state not in graph.accepting
        if _is_single(list(inner.values())) and _is_single(incoming[state])
    ])  # fmt: skip


def _is_single(ways: Sequence[_Characters]) -> bool:
    """Tell whether there is one way, and one character for it."""
    return len(ways) == 1 and len(ways[0]) == 1 and ways[0][0][0] == ways[0][0][1]


def _runs(graph: _Graph, state: int, inner: frozenset[int]) -> _Runs:
    """Return what may be read in a state, up to the next state that is not inside a run."""
    found = []
    for target, ranges in graph.arrows[state].items():
        read, end = [ranges], target
        while end in inner:
            [(end, more)] = graph.arrows[end].items()
            read.append(more)
        found.append((tuple(read), end))
    return found


def _arrows(runs: _Runs, numbers: Mapping[int, int]) -> Iterator[Arrow]:
    """Yield the arrows of a state. Single characters that lead to states without a number have one together."""
    others = [read[0] for read, target in runs if target not in numbers and len(read) == 1]
    for read, target in runs:
        if target in numbers or len(read) > 1:
            yield Arrow(read, numbers.get(target))
    if others:
        yield Arrow((normalise(one for ranges in others for one in ranges),), None)


def _in_order(start: int, arrows: Mapping[int, _Runs]) -> tuple[list[int], dict[int, str]]:
    """Return the states in the order of a breadth-first search, as far as it is known what follows them.

    Beside them, a shortest text that leads to each, counted in arrows.
    """
    reached_by = {start: ""}
    order = [start]
    for state in order:  # which grows on the way
        for read, target in arrows[state]:
            if target in arrows and target not in reached_by:
                reached_by[target] = reached_by[state] + "".join(_example(read))
                order.append(target)
    return order, reached_by


def _example(read: tuple[_Characters, ...]) -> Iterator[str]:
    """Yield a character of each set, one that can be seen if there is one."""
    for ranges in read:
        seen = [max(low, 0x21) for low, high in ranges if high >= 0x21]
        yield chr(seen[0] if seen else ranges[0][0])


def _completion(automaton: Automaton, text: str) -> str:
    """Return a shortest text that leads on from a text to the end."""
    state = automaton.start
    for byte in text.encode():
        state = automaton.step(state, byte)
    return shortest_text(automaton, state).decode()
