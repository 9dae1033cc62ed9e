"""Walks of a trie along the lexer of a grammar alone, and what a place of the parser makes of them.

Which tokens stay within one token of the grammar is the same for every stack, and so is where others leave it.
"""

import numpy as np

from structured.automata.loops.configurations import (
    DISTANCE,
    arrival_of,
    configuration,
    distance_of,
    fresh,
    landed,
)
from structured.automata.loops.grammar_machine import DONE, MORE_FOUND, NEEDS_ROW, GrammarMachine
from structured.automata.loops.jit import Flags, Ints, Rows, Words, compiled_entry, compiled_loop
from structured.automata.loops.machine import TrieArrays
from structured.automata.loops.stacks import advance
from structured.automata.loops.table import END, FARTHEST, LEVEL, NEXT, STATE
from structured.automata.opcodes import FAR
from structured.automata.protocol import DEAD, UNKNOWN, WHOLE

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


@compiled_loop
def step_into(trie: TrieArrays, machine: GrammarMachine, current: int, node: int) -> int:
    """Make sure that all is known of what the byte of a node leads to; say what is full or has to be told."""
    arrival = arrival_of(machine, current, int(trie.byte[node]))
    if arrival < 0:
        return arrival
    for way in range(1 + int(machine.arrivals[arrival, 2])):
        after = landed(machine, current, arrival, way)
        distance = after if after < 0 else distance_of(machine, after)
        if distance < DEAD:
            return distance
    return arrival


@compiled_loop
def walk_configurations(trie: TrieArrays, machine: GrammarMachine, path: Rows, mask: Words, progress: Ints) -> int:
    """Walk a trie from configurations, without making states: each way that a text may be read is followed by itself.

    Say what is full or has to be told.
    """
    level = int(progress[LEVEL])
    while level >= 0:
        current, node = int(path[level, STATE]), int(path[level, NEXT])
        if node == path[level, END]:
            level -= 1
            continue
        arrival = DEAD
        if not machine.absent[trie.byte[node]]:
            arrival = step_into(trie, machine, current, node)
        if arrival < DEAD or (arrival >= 0 and level + 2 + machine.arrivals[arrival, 2] >= len(path)):
            progress[LEVEL] = level
            return MORE_FOUND if arrival >= 0 else arrival
        path[level, NEXT] = node + 1
        for way in range(1 + int(machine.arrivals[arrival, 2]) if arrival >= 0 else 0):
            after = landed(machine, current, arrival, way)
            if after == DEAD or machine.configurations[after, DISTANCE] >= FAR:
                continue
            if trie.token_start[node] < trie.token_start[node + 1]:
                progress[FARTHEST] = max(int(progress[FARTHEST]), int(machine.configurations[after, DISTANCE]))
                for position in range(trie.token_start[node], trie.token_start[node + 1]):
                    token_id = trie.token_ids[position]
                    mask[token_id >> 5] |= np.uint32(1) << np.uint32(token_id & 31)
            if trie.first[node] < trie.first[node + 1]:
                level += 1
                path[level, STATE] = after
                path[level, NEXT] = trie.first[node]
                path[level, END] = trie.first[node + 1]
    return DONE


@compiled_entry
def walk_below(
    trie: TrieArrays, machine: GrammarMachine, current: int, nodes: Ints, path: Rows, mask: Words, progress: Ints
) -> int:
    """Walk what is below some nodes of a trie, from one configuration; say what is full or has to be told."""
    while progress[WHICH] < len(nodes):
        if not progress[IS_BEGUN]:
            node = nodes[progress[WHICH]]
            path[0, STATE] = current
            path[0, NEXT] = trie.first[node]
            path[0, END] = trie.first[node + 1]
            progress[LEVEL] = 0
            progress[IS_BEGUN] = 1
        answer = walk_configurations(trie, machine, path, mask, progress)
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
    """Return the configuration after a token at a place, DEAD if it cannot stand there.

    What is full or has to be told, else.
    """
    after = advance(machine, place, terminal)
    current = after if after < 0 else fresh(machine, after, rest)
    distance = current if current < 0 else distance_of(machine, current)
    if distance < 0:
        return distance
    return DEAD if distance >= FAR else current
