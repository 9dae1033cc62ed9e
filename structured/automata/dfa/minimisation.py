"""Minimisation: the smallest automaton of the same texts."""

from collections.abc import Sequence

from structured.automata.dfa.alphabet import DEAD, numbered
from structured.automata.dfa.automaton import Automaton, distances, longest_paths
from structured.automata.dfa.table import Table


def smallest(table: Table, accepting: set[int]) -> Automaton | None:
    """Return the automaton without states that lead nowhere, and with those that are alike made one.

    States are told apart by the lengths of some of their completions first, which settles counters at once.
    """
    live = distances(table.targets, accepting)
    if 0 not in live:
        return None
    kept = sorted(live)
    blocks: Sequence[int] = numbered([live[state] for state in kept])
    if max(blocks) + 1 < len(kept):
        lengths = _telling_lengths({state: table.targets[state] & live.keys() for state in kept}, accepting)
        blocks = numbered(zip(blocks, *[map(length.get, kept) for length in lengths], strict=True))
    if max(blocks) + 1 < len(kept):
        blocks = _refined(blocks, kept, table)
    block_of = dict(zip(kept, blocks, strict=True))
    chosen = dict(zip(reversed(blocks), reversed(kept), strict=True))
    rows = [[block_of.get(target, DEAD) for target in table.rows[chosen[block]]] for block in range(len(chosen))]
    return Automaton(
        tuple(table.alphabet.steps(rows)), frozenset([block_of[state] for state in accepting if state in live])
    )


def _refined(blocks: Sequence[int], states: Sequence[int], table: Table) -> Sequence[int]:
    """Return the blocks of some states cut until all states of one lead to the same blocks (Moore, 1956)."""
    count = 0
    while count < max(blocks) + 1 < len(states):
        count = max(blocks) + 1
        block_of = [DEAD] * (len(table.rows) + 1)  # the last is that of DEAD
        for state, block in zip(states, blocks, strict=True):
            block_of[state] = block
        blocks = numbered([(block_of[state], *map(block_of.__getitem__, table.rows[state])) for state in states])
    return blocks


def _telling_lengths(targets: dict[int, set[int]], accepting: set[int]) -> list[dict[int, int]]:
    """Return lengths that states have in common that are alike.

    They are those of the longest completion, and of the longest ways on through states in which the text may end, and
    through such in which it may not.
    """
    ends, others = targets.keys() & accepting, targets.keys() - accepting
    return [
        longest_paths({state: targets[state] & among for state in among}) for among in (targets.keys(), ends, others)
    ]
