"""Minimisation: the smallest automaton of the same texts."""

import numpy as np

from structured.automata.dfa.alphabet import DEAD
from structured.automata.dfa.automaton import Automaton
from structured.automata.dfa.minimal import find_blocks, new_partition, new_transitions
from structured.automata.dfa.table import Table


def smallest(table: Table, accepting: set[int]) -> Automaton | None:
    """Return the automaton without states that lead nowhere, and with those that are alike made one."""
    rows = table.rows
    ends = np.zeros(len(rows), dtype=np.bool_)
    ends[list(accepting)] = True
    blocks = np.empty(len(rows), dtype=np.int32)
    size = int(np.count_nonzero(rows != DEAD))
    room = new_transitions(len(rows), size), new_partition(len(rows)), new_partition(size)
    find_blocks(rows, ends, blocks, *room)
    if blocks[0] == DEAD:
        return None
    numbers, chosen = np.unique(blocks, return_index=True)
    block_of = np.append(blocks, np.int32(DEAD))  # the last is that of DEAD
    following = block_of[rows[chosen[numbers != DEAD]]]
    return Automaton(table.alphabet.steps(following), frozenset(blocks[ends].tolist()))
