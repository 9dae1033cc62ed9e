"""Walks of a trie along the transition table of any automaton."""

from structured.automata.byte_automaton import DEAD, UNKNOWN
from structured.automata.loops.state_table import refuse_state
from structured.machine_code.notation import Flags, Ints, Rows, Words, entry, loop
from structured.vocabulary.trie import TrieArrays, check_mask

STATE, NEXT, END = range(3)
"""The columns of the path of a walk, with a row for each level of the trie: the state, the next child of the node, and
the end of its children."""

LEVEL = 0
"""The place in the progress of a walk for the level at which it stopped."""


@loop
def allow_tokens(trie: TrieArrays, node: int, mask: Words) -> None:
    """Set the bits of the tokens that end at a node."""
    check_mask(trie, len(mask))
    for position in range(trie.token_start[node], trie.token_start[node + 1]):
        token_id = trie.token_ids[position]
        mask[token_id >> 5] |= 1 << (token_id & 31)


@entry
def walk_table(
    trie: TrieArrays, table: Rows, is_target: Flags, reached: Flags, path: Rows, mask: Words, progress: Ints
) -> bool:
    """Walk a trie along a transition table, skipping dead subtrees, and tell whether the walk is finished.

    Mark the states after all live tokens in `reached`, and set the bits of the tokens that lead to a state that
    `is_target`; both arrays have an entry for each row of the table. At a transition that the table does not know, the
    walk stops, so that the caller can expand the state of the level and call again.
    """
    level = progress[LEVEL]
    if path[level, STATE] < 0 or path[level, STATE] >= len(table):
        refuse_state(path[level, STATE])
    state, node, end = path[level, STATE], path[level, NEXT], path[level, END]
    while level > 0 or node < end:
        if node == end:
            level -= 1
            state, node, end = path[level, STATE], path[level, NEXT], path[level, END]
            continue
        target = table[state, trie.byte[node]]
        if target == UNKNOWN or target >= len(reached):  # made by another thread after `reached`
            path[level, NEXT], progress[LEVEL] = node, level
            return False
        child = node
        node += 1
        if target == DEAD:
            continue
        if trie.token_start[child] < trie.token_start[child + 1]:
            reached[target] = True
            if is_target[target]:
                allow_tokens(trie, child, mask)
        if trie.first[child] < trie.first[child + 1]:
            path[level, NEXT] = node
            level += 1
            state, node, end = target, trie.first[child], trie.first[child + 1]
            path[level, STATE], path[level, END] = state, end
    return True
