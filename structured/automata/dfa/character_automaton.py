"""Explicit automata over characters: the table, the smallest automaton, and the lengths of its texts."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from structured.automata.dfa.alphabet import Alphabet, Step
from structured.regex.syntax import Alternation, CharSet, Concat, Iteration, Literal, Pattern, Scan, Words


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """For each state the number of the state that each class of characters leads to, or `DEAD`. State 0 is the start.

    The shape of `rows` is (states, classes).
    """

    alphabet: Alphabet
    rows: NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Automaton:
    """A deterministic automaton over characters, all of it: from every state a text can end. State 0 is the start.

    `arcs[state]` are ranges of characters with the states that they lead to, sorted, and none longer than it has to be.
    """

    arcs: tuple[tuple[Step, ...], ...]
    accepting: frozenset[int]


def distances(targets: Sequence[Collection[int]], accepting: Iterable[int]) -> dict[int, int]:
    """Return the characters of the shortest completion of each state from which a text can end.

    `targets[state]` are the states that its characters lead to.
    """
    before: list[list[int]] = [[] for _ in targets]
    for state, inner in enumerate(targets):
        for target in inner:
            before[target].append(state)
    found = dict.fromkeys(accepting, 0)
    border = list(found)
    size = 0
    while border:
        size += 1
        border = [*{source for state in border for source in before[state]} - found.keys()]
        found.update(dict.fromkeys(border, size))
    return found


def longest_paths(targets: dict[int, set[int]]) -> dict[int, int]:
    """Return the arcs of the longest path from each state from which no path is without end."""
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


def fewest_characters(automaton: Automaton | Scan) -> int:
    """Return the characters of the shortest text."""
    return distances(_targets(automaton), automaton.accepting)[0]


def most_characters(automaton: Automaton | Scan) -> int | None:
    """Return the characters of the longest text; None if there is no longest."""
    return longest_paths(dict(enumerate(_targets(automaton)))).get(0)


def _targets(automaton: Automaton | Scan) -> list[set[int]]:
    return [{target for _, _, target in arcs} for arcs in automaton.arcs]


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
            counts = [character_counts(part) for part in parts]
            most_of_all = [most for _, most in counts if most is not None]
            return sum(fewest for fewest, _ in counts), sum(most_of_all) if len(most_of_all) == len(counts) else None
        case Alternation(options):
            counts = [character_counts(option) for option in options]
            most_of_all = [most for _, most in counts if most is not None]
            return min(fewest for fewest, _ in counts), max(most_of_all) if len(most_of_all) == len(counts) else None
        case Scan():
            return fewest_characters(pattern), pattern.most
    return 0, None
