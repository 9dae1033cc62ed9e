"""The explicit automaton, and the lengths of the paths through it."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from structured.automata.dfa.alphabet import Step


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
