"""Walks of a trie along the lexer of a grammar alone, and what a place of the parser makes of them.

Which tokens stay within one token of the grammar is the same for every stack, and so is where others leave it.
"""

import numpy as np

from structured.automata.loops.configurations import configuration, distance_of, fresh
from structured.automata.loops.grammar_machine import DONE, NEEDS_ROW, ROUND, GrammarMachine
from structured.automata.loops.grammar_states import gather, intern_state, walk
from structured.automata.loops.jit import Flags, Ints, Rows, Words, compiled_entry
from structured.automata.loops.machine import TrieArrays
from structured.automata.loops.stacks import advance
from structured.automata.loops.table import END, LEVEL, NEXT, STATE
from structured.automata.opcodes import FAR
from structured.automata.protocol import DEAD, UNKNOWN, WHOLE

MORE_FOUND = -13
"""What `walk_lexer` answers where there is no room for what it finds."""

FOUND = 1
"""What `walk_lexer` counts in `progress`, besides the level that it stopped at: the nodes where tokens may end."""


WHICH, IS_BEGUN = 2, 3
"""What `walk_below` writes down besides: which node it is at, and whether that walk has begun."""


@compiled_entry
def walk_lexer(
    trie: TrieArrays,
    rows: Rows,
    arrivals: Rows,
    path: Rows,
    mask: Words,
    reached: Flags,
    found: Rows,
    progress: Ints,
) -> int:
    """Walk a trie along the lexer: set the bits of the tokens that stay within one of the grammar, and mark the states.

    Where a token of the grammar may end, the node and the arrival are noted in `found`. Returns NEEDS_ROW where the row
    of the state at `path[progress[LEVEL]]` is not known.
    """
    level = int(progress[LEVEL])
    state, node, end = int(path[level, STATE]), int(path[level, NEXT]), int(path[level, END])
    while level > 0 or node < end:
        if node == end:
            level -= 1
            state, node, end = int(path[level, STATE]), int(path[level, NEXT]), int(path[level, END])
            continue
        if state >= len(rows) or rows[state, WHOLE] == UNKNOWN or progress[FOUND] == len(found):
            path[level, NEXT] = node
            progress[LEVEL] = level
            return MORE_FOUND if progress[FOUND] == len(found) else NEEDS_ROW
        arrival = int(rows[state, trie.byte[node]])
        child = node
        node += 1
        if arrivals[arrival, 2] > 0:
            found[progress[FOUND], 0] = child
            found[progress[FOUND], 1] = arrival
            progress[FOUND] += 1
        target = int(arrivals[arrival, 0])
        if target == DEAD:
            continue
        if trie.token_start[child] < trie.token_start[child + 1]:
            reached[target] = True
            for position in range(trie.token_start[child], trie.token_start[child + 1]):
                token_id = trie.token_ids[position]
                mask[token_id >> 5] |= np.uint32(1) << np.uint32(token_id & 31)
        if trie.first[child] < trie.first[child + 1]:
            path[level, NEXT] = node
            level += 1
            state, node, end = target, int(trie.first[child]), int(trie.first[child + 1])
            path[level, STATE] = state
            path[level, END] = end
    return DONE


@compiled_entry
def walk_below(
    trie: TrieArrays, machine: GrammarMachine, state: int, nodes: Ints, path: Rows, mask: Words, progress: Ints
) -> int:
    """Walk what is below some nodes of a trie, from one state, as `walk` does; say what is full."""
    while progress[WHICH] < len(nodes):
        if not progress[IS_BEGUN]:
            node = nodes[progress[WHICH]]
            path[0, STATE] = state
            path[0, NEXT] = trie.first[node]
            path[0, END] = trie.first[node + 1]
            progress[LEVEL] = 0
            progress[IS_BEGUN] = 1
        answer = walk(trie, machine, path, mask, progress)
        if answer != DONE:
            return answer
        progress[IS_BEGUN] = 0
        progress[WHICH] += 1
    return DONE


@compiled_entry
def farthest_within(machine: GrammarMachine, place: int, targets: Ints) -> int:
    """Return the greatest distance of some states of the lexer at a place, FAR if one leads nowhere; what is full."""
    farthest = 0
    for position in range(len(targets)):
        current = configuration(machine, int(targets[position]), place)
        distance = current if current < 0 else distance_of(machine, current)
        if distance < 0:
            return distance
        farthest = max(farthest, distance)
    return min(farthest, FAR)


@compiled_entry
def after_token(machine: GrammarMachine, place: int, terminal: int, rest: int) -> int:
    """Return the state after a token at a place, DEAD if it cannot stand there; what is full or has to be told."""
    after = advance(machine, place, terminal)
    if after < 0:
        return after
    current = fresh(machine, after, rest)
    if current < 0:
        return current
    machine.sizes[ROUND] += 1
    now = int(machine.sizes[ROUND])
    count = gather(machine, 0, current, now)
    return count if count < 0 else intern_state(machine, count, now)
