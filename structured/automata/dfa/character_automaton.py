"""Automata over characters: the table, the smallest automaton, its regular expression, and the lengths of its texts."""

from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from structured.automata.dfa.alphabet import Alphabet, Step
from structured.regex.syntax import (
    EMPTY,
    Alternation,
    AutomatonPattern,
    CharSet,
    Concat,
    Iteration,
    Literal,
    Pattern,
    Words,
    alternation,
    char_set,
    concat,
    repeat,
)


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """For each state the number of the state that each class of characters leads to, or `DEAD`. State 0 is the start.

    The shape of `rows` is (states, classes).
    """

    alphabet: Alphabet
    rows: NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class CharacterAutomaton:
    """A deterministic automaton over characters, all of it: from every state a text can end. State 0 is the start.

    `arcs[state]` are ranges of characters with the states that they lead to, sorted, and none longer than it has to be.
    """

    arcs: tuple[tuple[Step, ...], ...]
    accepting: frozenset[int]


def longest_paths(targets: dict[int, set[int]]) -> dict[int, int]:
    """Return the arcs of the longest path from each state from which no path is without end.

    Each state comes after those that it leads to.
    """
    before: dict[int, list[int]] = {state: [] for state in targets}
    waiting = {state: len(inner) for state, inner in targets.items()}
    for state, inner in targets.items():
        for target in inner:
            before[target].append(state)
    longest = {state: 0 for state, count in waiting.items() if count == 0}
    ready = list(longest)
    for state in ready:  # which grows on the way
        for source in before[state]:
            waiting[source] -= 1
            if waiting[source] == 0:
                longest[source] = 1 + max(longest[target] for target in targets[source])
                ready.append(source)
    return longest


def _targets(automaton: CharacterAutomaton | AutomatonPattern) -> list[set[int]]:
    return [{target for _, _, target in arcs} for arcs in automaton.arcs]


def fewest_characters(automaton: CharacterAutomaton | AutomatonPattern) -> int:
    """Return the characters of the shortest text."""
    targets, level, count = _targets(automaton), {0}, 0
    met = set(level)
    while level.isdisjoint(automaton.accepting):
        level = set[int]().union(*(targets[state] for state in level)) - met
        met |= level
        count += 1
    return count


def most_characters(automaton: CharacterAutomaton | AutomatonPattern) -> int | None:
    """Return the characters of the longest text; None if there is no longest."""
    return longest_paths(dict(enumerate(_targets(automaton)))).get(0)


def character_counts(pattern: Pattern) -> tuple[int, int | None]:
    """Return the fewest and the most characters of a pattern of characters; None where there is no most."""
    match pattern:
        case Literal(text):
            return len(text), len(text)
        case Words(texts):
            return min(map(len, texts)), max(map(len, texts))
        case CharSet():
            return 1, 1
        case Iteration(item, minimum, maximum):
            fewest, most = character_counts(item)
            return fewest * minimum, 0 if most == 0 else None if most is None or maximum is None else most * maximum
        case Concat(parts):
            fewest_of_all, most_of_all = zip(*map(character_counts, parts), strict=True)
            return sum(fewest_of_all), None if None in most_of_all else sum(most_of_all)
        case Alternation(options):
            fewest_of_all, most_of_all = zip(*map(character_counts, options), strict=True)
            return min(fewest_of_all), None if None in most_of_all else max(most_of_all)
        case AutomatonPattern():
            return fewest_characters(pattern), pattern.most
    return 0, None


MAX_SHOWN_CHARACTERS = 30_000
"""The most characters of an expression that is shown."""

_START, _END = -1, -2

_Way = tuple[Pattern, int]
"""A pattern, and about how many characters its text has."""


def expression(arcs: tuple[tuple[tuple[int, int, int], ...], ...], accepting: frozenset[int]) -> Pattern | None:
    """Return the texts that lead from state 0 to one that accepts; None if it takes too many characters to say that.

    States are eliminated, those with the fewest ways through them first (Brzozowski & McCluskey, "Signal Flow Graph
    Techniques for Sequential Circuit State Diagrams", 1963). The text may become four times as long with each.
    """
    ways: dict[tuple[int, int], _Way] = {(state, _END): (EMPTY, 0) for state in accepting}
    ways[_START, 0] = EMPTY, 0
    for state, row in enumerate(arcs):
        for target in {target for _, _, target in row}:
            ranges = [(low, high) for low, high, end in row if end == target]
            ways[state, target] = char_set(*ranges), 3 + 4 * len(ranges)
    left = set(range(len(arcs)))
    while left:
        state = min(left, key=lambda each: _count_of_ways_through(ways, each))
        left.remove(state)
        if not _eliminate(ways, state):
            return None
    return ways[_START, _END][0]


def _count_of_ways_through(ways: dict[tuple[int, int], _Way], state: int) -> tuple[int, int]:
    sources = sum(target == state != source for source, target in ways)
    return sources * sum(source == state != target for source, target in ways), state


def _eliminate(ways: dict[tuple[int, int], _Way], state: int) -> bool:
    """Write the ways through a state on the arcs around it; return whether they are short enough."""
    loop, loop_size = ways.pop((state, state), (None, 0))
    around = EMPTY if loop is None else repeat(loop, 0, None)
    sources = [source for source, target in ways if target == state]
    targets = [target for source, target in ways if source == state]
    for source, target in product(sources, targets):
        (before, size), (after, size_after) = ways[source, state], ways[state, target]
        way, length = concat(before, around, after), size + loop_size + size_after + 6
        if (source, target) in ways:
            other, size = ways[source, target]
            way, length = alternation(other, way), length + size
        if length > MAX_SHOWN_CHARACTERS:
            return False
        ways[source, target] = way, length
    for arc in [*product(sources, [state]), *product([state], targets)]:
        del ways[arc]
    return True
