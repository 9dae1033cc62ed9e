"""State elimination: the regular expression of an automaton, if there is one of a sensible length.

States are taken out one by one, and the ways through each are written on the arcs around it (Brzozowski & McCluskey,
"Signal Flow Graph Techniques for Sequential Circuit State Diagrams", 1963), those with the fewest ways first. In the
worst case the text becomes four times as long with each state, so there is a limit.
"""

from itertools import product

from structured.regex.syntax import EMPTY, Pattern, alternation, char_set, concat, repeat

LONGEST = 30_000
"""Characters of an expression that is still shown."""

_START, _END = -1, -2
_Way = tuple[Pattern, int]
"""A pattern, and about how many characters its text has."""


def expression(arcs: tuple[tuple[tuple[int, int, int], ...], ...], accepting: frozenset[int]) -> Pattern | None:
    """Return the texts that lead from state 0 to one that accepts; None if it takes too many characters to say that."""
    ways: dict[tuple[int, int], _Way] = {(state, _END): (EMPTY, 0) for state in accepting}
    ways[_START, 0] = EMPTY, 0
    for state, row in enumerate(arcs):
        for target in {target for _, _, target in row}:
            ranges = [(low, high) for low, high, end in row if end == target]
            ways[state, target] = char_set(*ranges), 3 + 4 * len(ranges)
    left = set(range(len(arcs)))
    while left:
        state = min(left, key=lambda each: _count(ways, each))
        left.remove(state)
        if not _take_out(ways, state):
            return None
    return ways[_START, _END][0]


def _count(ways: dict[tuple[int, int], _Way], state: int) -> tuple[int, int]:
    """Return how many ways there are through a state, and its number."""
    sources = sum(target == state != source for source, target in ways)
    return sources * sum(source == state != target for source, target in ways), state


def _take_out(ways: dict[tuple[int, int], _Way], state: int) -> bool:
    """Write the ways through a state on the arcs around it; return whether they are short enough."""
    loop, loop_size = ways.pop((state, state), (None, 0))
    around = EMPTY if loop is None else repeat(loop, 0, None)
    sources = [source for source, target in ways if target == state]
    targets = [target for source, target in ways if source == state]
    for source, target in product(sources, targets):
        (before, size), (after, size_after) = ways[source, state], ways[state, target]
        found, total = concat(before, around, after), size + loop_size + size_after + 6
        if (source, target) in ways:
            other, size = ways[source, target]
            found, total = alternation(other, found), total + size
        if total > LONGEST:
            return False
        ways[source, target] = found, total
    for source in sources:
        del ways[source, state]
    for target in targets:
        del ways[state, target]
    return True
