"""Minimisation: the smallest automaton of the same texts."""

from collections.abc import Iterator, Sequence

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
    """Return the blocks of some states cut until all states of one lead to the same blocks (Moore, 1956).

    Only those states are looked at again that lead to one whose block has changed. When a block is cut, the largest
    piece stays what it is, so that a state changes its block seldom (Hopcroft, 1971).
    """
    block_of = [DEAD] * (len(table.rows) + 1)  # the last is that of DEAD
    members: list[set[int]] = [set() for _ in range(max(blocks) + 1)]
    before: dict[int, list[int]] = {state: [] for state in states}
    for state, block in zip(states, blocks, strict=True):
        block_of[state] = block
        members[block].add(state)
        for target in table.targets[state] & before.keys():
            before[target].append(state)
    unsettled = set(states)
    while unsettled:
        cut = list(_pieces(unsettled, block_of, members, table))
        for piece in cut:
            members[block_of[piece[0]]].difference_update(piece)
            for state in piece:
                block_of[state] = len(members)
            members.append(set(piece))
        unsettled = {source for piece in cut for state in piece for source in before[state]}
    return numbered([block_of[state] for state in states])


def _pieces(unsettled: set[int], block_of: list[int], members: list[set[int]], table: Table) -> Iterator[list[int]]:
    """Yield the pieces to be cut off blocks: states of one that lead to the same blocks, but for the largest of each.

    The states of a block that are settled lead to the same blocks.
    """
    touched: dict[int, list[int]] = {}
    for state in unsettled:
        touched.setdefault(block_of[state], []).append(state)
    for block, some in touched.items():
        if len(members[block]) == 1:
            continue
        found: dict[tuple[int, ...], list[int]] = {}
        for state in some:
            found.setdefault(tuple(map(block_of.__getitem__, table.rows[state])), []).append(state)
        settled = members[block] - unsettled
        if settled:
            found.setdefault(tuple(map(block_of.__getitem__, table.rows[next(iter(settled))])), []).extend(settled)
        yield from sorted(found.values(), key=len)[:-1]


def _telling_lengths(targets: dict[int, set[int]], accepting: set[int]) -> list[dict[int, int]]:
    """Return lengths that states have in common that are alike.

    They are those of the longest completion, and of the longest ways on through states in which the text may end, and
    through such in which it may not.
    """
    ends, others = targets.keys() & accepting, targets.keys() - accepting
    return [
        longest_paths({state: targets[state] & among for state in among}) for among in (targets.keys(), ends, others)
    ]
