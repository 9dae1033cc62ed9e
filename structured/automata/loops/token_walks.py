"""Walks of a trie along the lexer of a grammar, and the tokens that they allow in a state of the parser.

A token of the vocabulary stays within one token of the grammar, or goes past its end at a byte. Which of them do so
depends on the state of the lexer alone: that is a *walk*, found once for all states of the parser. What a token has
after the end is a *subwalk*, in the state of the lexer before the next token.
"""

from typing import NamedTuple

import numpy as np

from structured.automata.byte_automaton import DEAD, ROW_COMPLETE, UNKNOWN
from structured.automata.loops import grammar_machine as grammar
from structured.automata.loops.configurations import (
    UPPER_BOUND,
    after_token,
    arrival_of,
    intern_configuration,
    successor_of,
    upper_bound,
)
from structured.automata.loops.grammar_machine import GrammarMachine
from structured.automata.loops.jit import Ints, Rows, Words, compiled_entry, compiled_loop
from structured.automata.loops.machine import END, LEVEL, MAX_DISTANCE, NEXT, STATE, TrieArrays, allow_tokens
from structured.automata.opcodes import FAR

ARRIVAL_COUNT = 1
"""The entry of `walk_lexer` in `progress`, besides the level: the number of nodes where tokens may end."""

PENDING_COUNT, NODE_COUNT = 2, 3
"""The entries of `walk_pending` in `progress`, besides the distance: the number of pending walks, and of `nodes`."""

FEW_CHILDREN = 16
"""Nodes of a trie with fewer children, taken together, are walked by `walk_configurations` each time."""

SET, NEXT_WALK, TOKENS, TOKEN_COUNT, TARGETS, TARGET_COUNT = range(6)
SUBWALKS, SUBWALK_COUNT, FIRST_TOKEN_END, FIRST_WORD = range(6, 10)
"""The columns of a walk: the set of nodes that it begins at, the next walk of the same state of the lexer; the start of
its rows in each of the arrays, and their number."""


class WalkArrays(NamedTuple):
    """The walks of a vocabulary that have been found; see `grammar/vocabulary_walks.py`.

    `latest_walk[lexer state]` is the walk found last, -1 if there is none. The `tokens` of a walk are `terminal, rest`
    of the tokens of the grammar that may end; its `targets` are the states of the lexer in which tokens of the
    vocabulary end within a token of the grammar. `token_ends` are `index of the token, bytes to its end`, those of a
    target from its `first_token_end` on; if the target `is_complete`, there are no others. Masks are kept as `words`,
    the indices of words, and their `bits`: first those of the tokens that end with each of `tokens`, then those that
    end in each of `targets`, each from its `first_word` on. `subwalks` are `index of the token, set of nodes, 1 if that
    has few nodes`, and the `nodes` of a set begin at its `first_node`.
    """

    latest_walk: Ints
    walks: Rows
    tokens: Rows
    targets: Ints
    first_token_end: Ints
    token_ends: Rows
    is_complete: Ints
    first_word: Ints
    words: Ints
    bits: Words
    subwalks: Rows
    first_node: Ints
    nodes: Ints


@compiled_entry
def walk_lexer(trie: TrieArrays, rows: Rows, arrivals: Rows, path: Rows, node_arrivals: Rows, progress: Ints) -> int:
    """Walk a trie along the lexer.

    Each node where a token of the vocabulary stays within one of the grammar, or one of the grammar may end, is written
    to `node_arrivals`, with the arrival. Returns NEEDS_ROW if the state at `path[progress[LEVEL]]` has no row yet.
    """
    level = int(progress[LEVEL])
    state, node, end = int(path[level, STATE]), int(path[level, NEXT]), int(path[level, END])
    while level > 0 or node < end:
        if node == end:
            level -= 1
            state, node, end = int(path[level, STATE]), int(path[level, NEXT]), int(path[level, END])
            continue
        if state >= len(rows) or rows[state, ROW_COMPLETE] == UNKNOWN:
            path[level, NEXT], progress[LEVEL] = node, level
            return grammar.NEEDS_ROW
        arrival = int(rows[state, trie.byte[node]])
        child = node
        node += 1
        target = int(arrivals[arrival, 0])
        ends_within = target != DEAD and trie.token_start[child] < trie.token_start[child + 1]
        if ends_within or arrivals[arrival, 2] > 0:
            node_arrivals[progress[ARRIVAL_COUNT], 0], node_arrivals[progress[ARRIVAL_COUNT], 1] = child, arrival
            progress[ARRIVAL_COUNT] += 1
        if target == DEAD:
            continue
        if trie.first[child] < trie.first[child + 1]:
            path[level, NEXT] = node
            level += 1
            state, node, end = target, int(trie.first[child]), int(trie.first[child + 1])
            path[level, STATE], path[level, END] = state, end
    return grammar.DONE


@compiled_loop
def note_token(token_id: int, first: int, count: int, words: Ints, bits: Words, position_of_word: Ints) -> int:
    """Set the bit of a token in the `count` words from `first` on, adding its word if it is new; return the count."""
    word = token_id >> 5
    position = int(position_of_word[word])
    if position < first or position >= first + count or words[position] != word:
        position = first + count
        position_of_word[word] = position
        words[position] = word
        bits[position] = 0
        count += 1
    bits[position] |= np.uint32(1) << np.uint32(token_id & 31)
    return count


@compiled_entry
def sort_by_group(
    trie: TrieArrays,
    node_arrivals: Rows,
    groups_of: Ints,
    groups: Ints,
    nodes: Ints,
    starts: Ints,
    words: Ints,
    bits: Words,
    first_word: Ints,
    position_of_word: Ints,
) -> None:
    """Sort the nodes of `node_arrivals` by the groups of their arrivals, and pack the tokens of each group into words.

    Arrival i belongs to the `groups` from `groups_of[i]` on. The nodes of group g are written from `starts[g]` on,
    which the caller sets to their end; its words from `first_word[g]` on.
    """
    for row in range(len(node_arrivals) - 1, -1, -1):
        arrival = node_arrivals[row, 1]
        for position in range(groups_of[arrival], groups_of[arrival + 1]):
            group = groups[position]
            starts[group] -= 1
            nodes[starts[group]] = node_arrivals[row, 0]
    first = 0
    for group in range(len(first_word) - 1):
        first_word[group] = first
        count = 0
        for position in range(starts[group], starts[group + 1]):
            node = nodes[position]
            for token in range(trie.token_start[node], trie.token_start[node + 1]):
                count = note_token(int(trie.token_ids[token]), first, count, words, bits, position_of_word)
        first += count
    first_word[len(first_word) - 1] = first


@compiled_loop
def upper_bound_of(machine: GrammarMachine, current: int) -> int:
    """Return the known or else a new upper bound of the bytes that complete a configuration, as `upper_bound`."""
    known = int(machine.configurations[current, UPPER_BOUND])
    return upper_bound(machine, current) if known == UNKNOWN else known


@compiled_loop
def step_into(trie: TrieArrays, machine: GrammarMachine, current: int, node: int) -> int:
    """Make the configurations that the byte of a node leads to; return the arrival, or a code.

    They get upper bounds only where a token of the vocabulary ends.
    """
    arrival = arrival_of(machine, current, int(trie.byte[node]))
    if arrival < 0:
        return arrival
    is_token = trie.token_start[node] < trie.token_start[node + 1]
    for way in range(1 + int(machine.arrivals[arrival, 2])):
        successor = successor_of(machine, current, arrival, way)
        if successor >= 0 and is_token:
            successor = upper_bound_of(machine, successor)
        if successor < DEAD:
            return successor
    return arrival


@compiled_entry
def walk_configurations(trie: TrieArrays, machine: GrammarMachine, path: Rows, mask: Words, progress: Ints) -> int:
    """Walk a trie from configurations, one by one, without making states; return DONE or a code."""
    level = int(progress[LEVEL])
    while level >= 0:
        current, node = int(path[level, STATE]), int(path[level, NEXT])
        if node == path[level, END]:
            level -= 1
            continue
        arrival = DEAD
        if not machine.is_absent[trie.byte[node]]:
            arrival = step_into(trie, machine, current, node)
        if arrival < DEAD or (arrival >= 0 and level + 2 + machine.arrivals[arrival, 2] >= len(path)):
            progress[LEVEL] = level
            return grammar.MORE_RESULTS if arrival >= 0 else arrival
        path[level, NEXT] = node + 1
        for way in range(1 + int(machine.arrivals[arrival, 2]) if arrival >= 0 else 0):
            successor = successor_of(machine, current, arrival, way)
            distance = FAR if successor == DEAD else int(machine.configurations[successor, UPPER_BOUND])
            if distance == FAR:
                continue
            if trie.token_start[node] < trie.token_start[node + 1]:
                progress[MAX_DISTANCE] = max(int(progress[MAX_DISTANCE]), distance)
                allow_tokens(trie, node, mask)
            if trie.first[node] < trie.first[node + 1]:
                level += 1
                path[level, STATE] = successor
                path[level, NEXT], path[level, END] = trie.first[node], trie.first[node + 1]
    return grammar.DONE


@compiled_loop
def allow_words(walks: WalkArrays, group: int, distance: int, mask: Words) -> int:
    """Set the bits of the tokens of a group, unless `distance` is FAR; return that, 0 if none are set."""
    if distance >= FAR or walks.first_word[group] == walks.first_word[group + 1]:
        return 0
    for position in range(walks.first_word[group], walks.first_word[group + 1]):
        mask[walks.words[position]] |= walks.bits[position]
    return distance


@compiled_loop
def walk_of(walks: WalkArrays, lexer_state: int, nodes: int) -> int:
    """Return the walk of a state of the lexer from a set of nodes, -1 if it has not been found."""
    walk = -1
    if lexer_state < len(walks.latest_walk):
        walk = int(walks.latest_walk[lexer_state])
    while walk >= 0 and walks.walks[walk, SET] != nodes:
        walk = int(walks.walks[walk, NEXT_WALK])
    return walk


@compiled_loop
def apply_walk(
    machine: GrammarMachine, parser_state: int, walks: WalkArrays, walk: int, results: Rows, mask: Words
) -> int:
    """Set the bits of the tokens of a walk that may follow in a state of the parser.

    Returns an upper bound of the bytes to the end after them, or a code. `results` get, for each token of the
    grammar that may end, the configuration after it, DEAD if it cannot follow there, and the bytes to the end.
    """
    max_distance = 0
    first, count = int(walks.walks[walk, TOKENS]), int(walks.walks[walk, TOKEN_COUNT])
    words = int(walks.walks[walk, FIRST_WORD])
    for token in range(count):
        terminal, rest = int(walks.tokens[first + token, 0]), int(walks.tokens[first + token, 1])
        successor = after_token(machine, parser_state, terminal, rest)
        distance = FAR if successor == DEAD else successor if successor < 0 else upper_bound_of(machine, successor)
        if distance < 0:
            return distance
        results[token, 0] = DEAD if distance >= FAR else successor
        results[token, 1] = distance
        max_distance = max(max_distance, allow_words(walks, words + token, distance, mask))
    target, token_ends = int(walks.walks[walk, TARGETS]), int(walks.walks[walk, FIRST_TOKEN_END])
    for position in range(walks.walks[walk, TARGET_COUNT]):
        distance, row = FAR, token_ends + position
        for token_end in range(walks.first_token_end[row], walks.first_token_end[row + 1]):
            token_distance = results[walks.token_ends[token_end, 0], 1]
            distance = min(distance, int(walks.token_ends[token_end, 1] + token_distance))
        if distance >= FAR and not walks.is_complete[target + position]:
            current = intern_configuration(machine, int(walks.targets[target + position]), parser_state)
            distance = current if current < 0 else upper_bound_of(machine, current)
            if distance < 0:
                return distance
        max_distance = max(max_distance, allow_words(walks, words + count + position, distance, mask))
    return max_distance


@compiled_entry
def walk_pending(
    machine: GrammarMachine, walks: WalkArrays, pending: Rows, nodes: Rows, results: Rows, mask: Words, progress: Ints
) -> int:
    """Set the bits of the tokens that may follow `pending` configurations, each from its set of nodes.

    The subwalks are added to `pending`; those from few nodes are added to `nodes`, node by node, with their
    configurations. Returns DONE or a code: with NEEDS_WALK, the last pending walk has not been found.
    """
    while progress[PENDING_COUNT] > 0:
        current, node_set = int(pending[progress[PENDING_COUNT] - 1, 0]), int(pending[progress[PENDING_COUNT] - 1, 1])
        walk = walk_of(walks, int(machine.configurations[current, grammar.LEXER_STATE]), node_set)
        if walk < 0:
            return grammar.NEEDS_WALK
        count = int(walks.walks[walk, SUBWALK_COUNT])
        max_nodes = progress[NODE_COUNT] + FEW_CHILDREN * count
        if progress[PENDING_COUNT] + count > len(pending) or max_nodes > len(nodes):
            return grammar.MORE_RESULTS
        parser_state = int(machine.configurations[current, grammar.PARSER_STATE])
        distance = apply_walk(machine, parser_state, walks, walk, results, mask)
        if distance < 0:
            return distance
        progress[MAX_DISTANCE] = max(int(progress[MAX_DISTANCE]), distance)
        progress[PENDING_COUNT] -= 1
        first = int(walks.walks[walk, SUBWALKS])
        for row in range(first, first + count):
            successor, node_set = int(results[walks.subwalks[row, 0], 0]), int(walks.subwalks[row, 1])
            if successor == DEAD:
                continue
            if walks.subwalks[row, 2]:
                for position in range(walks.first_node[node_set], walks.first_node[node_set + 1]):
                    nodes[progress[NODE_COUNT], 0] = successor
                    nodes[progress[NODE_COUNT], 1] = walks.nodes[position]
                    progress[NODE_COUNT] += 1
            else:
                pending[progress[PENDING_COUNT], 0] = successor
                pending[progress[PENDING_COUNT], 1] = node_set
                progress[PENDING_COUNT] += 1
    return grammar.DONE
