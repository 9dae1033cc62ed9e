"""The states of an automaton enter; the smallest automaton of the same texts leaves."""

from typing import Any

from structured.pattern.languages.arcs import joined
from structured.pattern.languages.automaton import Automaton, Step, distances, longest_paths


def smallest(rows: list[list[Step]], accepting: set[int]) -> Automaton | None:
    """Return the automaton without states that lead nowhere, and with those that are alike made one (Moore, 1956).

    States are told apart by the lengths of some of their completions first, which settles counters at once.
    """
    live = distances(rows, accepting)
    if 0 not in live:
        return None
    kept = {state: [arc for arc in rows[state] if arc[2] in live] for state in sorted(live)}
    names: dict[Any, int] = {}
    lengths = _telling_lengths(kept, accepting)
    block = {
        state: names.setdefault((live[state], *(length.get(state) for length in lengths)), len(names)) for state in kept
    }
    while True:
        refined: dict[Any, int] = {}
        following = {
            state: refined.setdefault(
                (block[state], tuple(joined((low, high, block[target]) for low, high, target in arcs))), len(refined)
            )
            for state, arcs in kept.items()
        }
        is_stable = len(refined) == len(names)
        block, names = following, refined
        if is_stable:
            break
    chosen = {block[state]: state for state in reversed(kept)}
    arcs = tuple(
        tuple(joined((low, high, block[target]) for low, high, target in kept[chosen[name]]))
        for name in range(len(names))
    )
    return Automaton(arcs, frozenset(block[state] for state in accepting if state in live))


def _telling_lengths(rows: dict[int, list[Step]], accepting: set[int]) -> list[dict[int, int]]:
    """Return lengths that states have in common that are alike.

    They are those of the longest completion, and of the longest ways on through states in which the text may end, and
    through such in which it may not.
    """
    targets = {state: {target for _, _, target in arcs} for state, arcs in rows.items()}
    ends, others = {state for state in rows if state in accepting}, {state for state in rows if state not in accepting}
    return [longest_paths({state: targets[state] & among for state in among}) for among in (set(rows), ends, others)]
