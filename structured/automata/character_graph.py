"""The exploration of an automaton for a diagram: breadth-first, up to a number of states.

An automaton that is explored completely is minimised. Of others, which may be infinite, some states may be equivalent.
A run of single characters becomes one arrow, unless each character is to have a state.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from structured.automata.byte_automaton import DEAD, Automaton, runs_of_bytes, shortest_text, state_after
from structured.automata.dfa.alphabet import Step, common_alphabet, ranges_by_state
from structured.automata.dfa.character_automaton import Table
from structured.automata.dfa.minimisation import minimised
from structured.automata.diagram import Arrow, State
from structured.automata.lazy import complete_row
from structured.regex.character_sets import Range, normalise

MAX_EXPLORED = 2_000
"""The most states that are explored, shown or not."""

_Characters = tuple[Range, ...]
_Runs = list[tuple[tuple[_Characters, ...], int]]

_LEAD_BYTES = ((0xC0, 0xDF, 1), (0xE0, 0xEF, 2), (0xF0, 0xF7, 3))
"""The ranges of first bytes of UTF-8 (RFC 3629, section 3), and how many bytes follow each."""


@dataclass(frozen=True, slots=True)
class _Graph:
    """The states found by a search: the arrows of the explored ones, and the accepting ones."""

    arrows: Mapping[int, Mapping[int, _Characters]]
    accepting: frozenset[int]
    start: int
    is_whole: bool


def explore(automaton: Automaton, max_states: int, *, fold: bool) -> tuple[tuple[State, ...], int | None]:
    """Return the first states of an automaton, and how many there are in all; None if that is not known.

    Parameters:
        automaton: An automaton over the bytes of UTF-8.
        max_states: The most states that are returned.
        fold: Whether a run of characters without a choice becomes one arrow.
    """
    graph = _explored(automaton)
    if graph.is_whole:
        graph = _minimised(graph)
    inner = _states_inside_runs(graph) if fold else frozenset[int]()
    arrows = {state: _runs(graph, state, inner) for state in graph.arrows if state not in inner}
    order, reached_by = _breadth_first(graph.start, arrows)
    chosen = order[:max_states]
    numbers = {state: number for number, state in enumerate(chosen)}
    states = []
    for state, number in numbers.items():
        text = reached_by[state]
        completion = shortest_text(automaton, state_after(automaton, text.encode())).decode()
        shown = tuple(_arrows(arrows[state], numbers))
        states.append(State(number, shown, state in graph.accepting, text, completion))
    return tuple(states), len(order) if graph.is_whole else None


def _explored(automaton: Automaton) -> _Graph:
    """Return the states that a breadth-first search finds."""
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


def _minimised(graph: _Graph) -> _Graph:
    """Return the smallest graph of the same texts."""
    numbers = {state: number for number, state in enumerate(graph.arrows)}
    alphabet = common_alphabet(frozenset(ranges for targets in graph.arrows.values() for ranges in targets.values()))
    rows = []
    for targets in graph.arrows.values():
        row = [DEAD] * len(alphabet)
        for target, ranges in targets.items():
            for number in alphabet.members(alphabet.block(ranges)):
                row[number] = numbers[target]
        rows.append(row)
    table = Table(alphabet, np.array(rows, dtype=np.int32))
    smallest = minimised(table, {numbers[state] for state in graph.accepting})
    assert smallest is not None, "every state of an automaton is alive"
    return _Graph(dict(enumerate(map(ranges_by_state, smallest.arcs))), smallest.accepting, 0, is_whole=True)


def _states_inside_runs(graph: _Graph) -> frozenset[int]:
    """Return the states with one incoming and one outgoing arrow, each of a single character."""
    incoming: dict[int, list[_Characters]] = {}
    for inner in graph.arrows.values():
        for target, ranges in inner.items():
            incoming.setdefault(target, []).append(ranges)
    single = {state for state, inner in graph.arrows.items() if _is_single([*inner.values()])}
    return frozenset(state for state in single - graph.accepting - {graph.start} if _is_single(incoming[state]))


def _is_single(ways: Sequence[_Characters]) -> bool:
    """Tell whether there is one arrow, of a single character."""
    return len(ways) == 1 and len(ways[0]) == 1 and ways[0][0][0] == ways[0][0][1]


def _runs(graph: _Graph, state: int, inner: frozenset[int]) -> _Runs:
    """Return the runs of characters from a state to the next states that are not inside a run."""
    runs = []
    for target, ranges in graph.arrows[state].items():
        read, end = [ranges], target
        while end in inner:
            [(end, more)] = graph.arrows[end].items()
            read.append(more)
        runs.append((tuple(read), end))
    return runs


def _arrows(runs: _Runs, numbers: Mapping[int, int]) -> Iterator[Arrow]:
    """Yield the arrows of a state; all single characters to states without a number share one arrow."""
    others = [read[0] for read, target in runs if target not in numbers and len(read) == 1]
    for read, target in runs:
        if target in numbers or len(read) > 1:
            yield Arrow(read, numbers.get(target))
    if others:
        yield Arrow((normalise(single for ranges in others for single in ranges),), None)


def _breadth_first(start: int, arrows: Mapping[int, _Runs]) -> tuple[list[int], dict[int, str]]:
    """Return the explored states in breadth-first order, and for each a text that reaches it by fewest arrows."""
    reached_by = {start: ""}
    order = [start]
    for state in order:  # which grows on the way
        for read, target in arrows[state]:
            if target in arrows and target not in reached_by:
                reached_by[target] = reached_by[state] + "".join(_example(read))
                order.append(target)
    return order, reached_by


def _example(read: tuple[_Characters, ...]) -> Iterator[str]:
    """Yield a character of each set, a visible one if there is one."""
    for ranges in read:
        seen = [max(low, 0x21) for low, high in ranges if high >= 0x21]
        yield chr(seen[0] if seen else ranges[0][0])


class CharacterSteps:
    """The successors of an automaton's states by characters."""

    def __init__(self, automaton: Automaton) -> None:
        self.automaton = automaton
        self._tail = cache(self._new_tail)

    def after(self, state: int) -> dict[int, tuple[Range, ...]]:
        """Return the successors of a state with their characters, in the order of the first characters."""
        steps = [*self._runs(state, 0x00, 0x7F)]
        for first, last, count in _LEAD_BYTES:
            for low, high, target in self._runs(state, first, last):
                tail = self._tail(target, count)
                for lead in range(low, high + 1):
                    _append(steps, tail, lead - first << 6 * count)
        return ranges_by_state(steps)

    def _new_tail(self, state: int, count: int) -> list[Step]:
        """Return the steps of the last `count` bytes of characters, by the numbers that they add to a code point."""
        steps: list[Step] = []
        for low, high, target in self._runs(state, 0x80, 0xBF):
            if count == 1:
                _append(steps, [(low, high, target)], -0x80)
                continue
            for byte in range(low, high + 1):
                _append(steps, self._tail(target, count - 1), byte - 0x80 << 6 * (count - 1))
        return steps

    def _runs(self, state: int, first: int, last: int) -> Iterator[Step]:
        """Yield runs of bytes that lead to the same state."""
        for low, high, target in runs_of_bytes(complete_row(self.automaton, state)[first : last + 1]):
            yield first + low, first + high, target


def _append(steps: list[Step], more: list[Step], offset: int) -> None:
    """Put steps behind others; those that touch and lead to the same state become one."""
    for low, high, target in more:
        if steps and steps[-1][1] + 1 == low + offset and steps[-1][2] == target:
            steps[-1] = (steps[-1][0], high + offset, target)
        else:
            steps.append((low + offset, high + offset, target))
