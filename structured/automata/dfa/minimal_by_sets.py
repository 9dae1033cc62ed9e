"""Minimisation without compiled loops, which runs until there are some: the states that are alike, in plain Python."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structured.automata.dfa.alphabet import DEAD, numbered
from structured.automata.dfa.automaton import distances, longest_paths

_Rows = Sequence[Sequence[int]]


def find_blocks_by_sets(
    rows: NDArray[np.int32],
    accepting: NDArray[np.bool_],
    blocks: NDArray[np.int32],
    transitions: Any,  # noqa: ARG001  no room is needed here
    states: Any,  # noqa: ARG001
    cords: Any,  # noqa: ARG001
) -> None:
    """Number the blocks of the states that are alike, as `find_blocks` does.

    States are told apart by the lengths of some of their completions first, which settles counters at once.
    """
    table: _Rows = rows.tolist()
    ends = set(np.flatnonzero(accepting).tolist())
    targets = [set(row) - {DEAD} for row in table]
    live = distances(targets, ends)
    kept = sorted(live)
    lengths = [live, *_telling_lengths({state: targets[state] & live.keys() for state in kept}, ends)]
    first = numbered(zip(*[map(length.get, kept) for length in lengths], strict=True))
    blocks[:] = DEAD
    blocks[kept] = _refined(first, kept, table, targets) if kept else []


def _refined(blocks: Sequence[int], states: Sequence[int], rows: _Rows, targets: Sequence[set[int]]) -> Sequence[int]:
    """Return the blocks of some states cut until all states of one lead to the same blocks (Moore, 1956).

    Only those states are looked at again that lead to one whose block has changed. When a block is cut, the largest
    piece stays what it is, so that a state changes its block seldom (Hopcroft, 1971).
    """
    block_of = [DEAD] * (len(rows) + 1)  # the last is that of DEAD
    members: list[set[int]] = [set() for _ in range(max(blocks) + 1)]
    before: dict[int, list[int]] = {state: [] for state in states}
    for state, block in zip(states, blocks, strict=True):
        block_of[state] = block
        members[block].add(state)
        for target in targets[state] & before.keys():
            before[target].append(state)
    unsettled = set(states)
    while unsettled:
        cut = list(_pieces(unsettled, block_of, members, rows))
        for piece in cut:
            members[block_of[piece[0]]].difference_update(piece)
            for state in piece:
                block_of[state] = len(members)
            members.append(set(piece))
        unsettled = {source for piece in cut for state in piece for source in before[state]}
    return numbered([block_of[state] for state in states])


def _pieces(unsettled: set[int], block_of: list[int], members: list[set[int]], rows: _Rows) -> Iterator[list[int]]:
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
            found.setdefault(tuple(map(block_of.__getitem__, rows[state])), []).append(state)
        settled = members[block] - unsettled
        if settled:
            found.setdefault(tuple(map(block_of.__getitem__, rows[next(iter(settled))])), []).extend(settled)
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
