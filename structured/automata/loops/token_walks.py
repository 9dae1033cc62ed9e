"""Walks of a trie through the lexer of a grammar, and their results at a place of the parser.

A token of the vocabulary stays within one token of the grammar, or leaves it at a byte; all stacks share both.
"""

from typing import NamedTuple

import numpy as np

from structured.automata.byte_automaton import DEAD, ROW_COMPLETE, UNKNOWN
from structured.automata.loops import grammar_machine as layout
from structured.automata.loops.configurations import MOST, after_token, arrival_of, configuration, landed, most
from structured.automata.loops.grammar_machine import GrammarMachine
from structured.automata.loops.jit import Ints, Rows, Words, compiled_entry, compiled_loop
from structured.automata.loops.machine import END, FARTHEST, LEVEL, NEXT, STATE, TrieArrays, allow_tokens
from structured.automata.opcodes import FAR

FOUND = 1
"""What `walk_lexer` counts in `progress`, besides the level that it stopped at: the nodes where tokens may end."""

WAITING, FEW = 2, 3
"""What `walk_on` writes down besides: how many sub-walks wait, and how many nodes are left to `walk_configurations`."""

FEW_CHILDREN = 16
"""Nodes of a trie with fewer children, taken together, are walked each time."""

SET, NEXT_WALK, TOKENS, TOKEN_COUNT, TARGETS, TARGET_COUNT = range(6)
BEYOND, BEYOND_COUNT, FIRST_TOKEN_END, FIRST_WORD = range(6, 10)
"""The columns of a walk: the set of nodes below which it is, the next walk of the same state of the lexer; where its
rows begin in each of the arrays, and how many there are."""


class WalkArrays(NamedTuple):
    """What the tokens of a vocabulary do in states of the lexer, walk by walk; see `grammar/vocabulary_walks.py`.

    `last[lexer state]` is the walk found last, -1 if there is none. The `tokens` of a walk are `terminal, rest` of the
    tokens of the grammar that may end; its `targets` the states of the lexer in which tokens of the vocabulary end
    within one. `token_ends` are `which of the tokens, bytes to its end`, those of a target from its `first_token_end`
    on, and `is_complete` says that there are no others. From a `first_word` on are the words of a mask, and their bits,
    for what ends at a token or, behind those of tokens, in a target. `beyond` are `which of the tokens, set, 1 if that
    has few nodes`, and the `nodes` of a set lie from its `first_node` on.
    """

    last: Ints
    walks: Rows
    tokens: Rows
    targets: Ints
    first_token_end: Ints
    token_ends: Rows
    is_complete: Ints
    first_word: Ints
    words: Ints
    bits: Words
    beyond: Rows
    first_node: Ints
    nodes: Ints


@compiled_entry
def walk_lexer(trie: TrieArrays, rows: Rows, arrivals: Rows, path: Rows, found: Rows, progress: Ints) -> int:
    """Walk a trie along the lexer.

    Each node where a token of the vocabulary stays within one of the grammar, or one of the grammar may end, is noted
    in `found`, with the arrival. Returns NEEDS_ROW where the row of the state at `path[progress[LEVEL]]` is not known.
    """
    level = int(progress[LEVEL])
    state, node, end = int(path[level, STATE]), int(path[level, NEXT]), int(path[level, END])
    while level > 0 or node < end:
        if node == end:
            level -= 1
            state, node, end = int(path[level, STATE]), int(path[level, NEXT]), int(path[level, END])
            continue
        if state >= len(rows) or rows[state, ROW_COMPLETE] == UNKNOWN:
            path[level, NEXT] = node
            progress[LEVEL] = level
            return layout.NEEDS_ROW
        arrival = int(rows[state, trie.byte[node]])
        child = node
        node += 1
        target = int(arrivals[arrival, 0])
        ends_within = target != DEAD and trie.token_start[child] < trie.token_start[child + 1]
        if ends_within or arrivals[arrival, 2] > 0:
            found[progress[FOUND], 0] = child
            found[progress[FOUND], 1] = arrival
            progress[FOUND] += 1
        if target == DEAD:
            continue
        if trie.first[child] < trie.first[child + 1]:
            path[level, NEXT] = node
            level += 1
            state, node, end = target, int(trie.first[child]), int(trie.first[child + 1])
            path[level, STATE] = state
            path[level, END] = end
    return layout.DONE


@compiled_loop
def note_token(token_id: int, first: int, count: int, words: Ints, bits: Words, place_of_word: Ints) -> int:
    """Set the bit of a token in the `count` words from `first` on, of which there may be one more; return the count."""
    word = token_id >> 5
    place = int(place_of_word[word])
    if place < first or place >= first + count or words[place] != word:
        place = first + count
        place_of_word[word] = place
        words[place] = word
        bits[place] = 0
        count += 1
    bits[place] |= np.uint32(1) << np.uint32(token_id & 31)
    return count


@compiled_entry
def sort_found(
    trie: TrieArrays,
    found: Rows,
    groups_of: Ints,
    groups: Ints,
    nodes: Ints,
    starts: Ints,
    words: Ints,
    bits: Words,
    first_word: Ints,
    place_of_word: Ints,
) -> int:
    """Sort the nodes of `found` by the groups that their arrivals belong to, and pack the tokens of each into words.

    Arrival i belongs to the `groups` from `groups_of[i]` on. The nodes of group g come to lie from `starts[g]` on,
    which is given as the place behind them and counted down; its words from `first_word[g]` on.
    """
    for row in range(len(found) - 1, -1, -1):
        arrival = found[row, 1]
        for position in range(groups_of[arrival], groups_of[arrival + 1]):
            group = groups[position]
            starts[group] -= 1
            nodes[starts[group]] = found[row, 0]
    first = 0
    for group in range(len(first_word) - 1):
        first_word[group] = first
        count = 0
        for position in range(starts[group], starts[group + 1]):
            node = nodes[position]
            for token in range(trie.token_start[node], trie.token_start[node + 1]):
                count = note_token(int(trie.token_ids[token]), first, count, words, bits, place_of_word)
        first += count
    first_word[len(first_word) - 1] = first
    return layout.DONE


@compiled_loop
def most_of(machine: GrammarMachine, current: int) -> int:
    """Return an upper bound of the bytes that complete a configuration, FAR if it has no completion, or a code."""
    known = int(machine.configurations[current, MOST])
    return most(machine, current) if known == UNKNOWN else known


@compiled_loop
def step_into(trie: TrieArrays, machine: GrammarMachine, current: int, node: int) -> int:
    """Make sure that all is known of what the byte of a node leads to; return DONE or a code.

    Whether that has an end is asked only where a token of the vocabulary ends.
    """
    arrival = arrival_of(machine, current, int(trie.byte[node]))
    if arrival < 0:
        return arrival
    is_token = trie.token_start[node] < trie.token_start[node + 1]
    for way in range(1 + int(machine.arrivals[arrival, 2])):
        after = landed(machine, current, arrival, way)
        if after >= 0 and is_token:
            after = most_of(machine, after)
        if after < DEAD:
            return after
    return arrival


@compiled_entry
def walk_configurations(trie: TrieArrays, machine: GrammarMachine, path: Rows, mask: Words, progress: Ints) -> int:
    """Walk a trie from configurations, without making states: each way that a text may be read is followed by itself.

    Returns DONE or a code.
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
            return layout.MORE_FOUND if arrival >= 0 else arrival
        path[level, NEXT] = node + 1
        for way in range(1 + int(machine.arrivals[arrival, 2]) if arrival >= 0 else 0):
            after = landed(machine, current, arrival, way)
            if after == DEAD or machine.configurations[after, MOST] == FAR:
                continue
            if trie.token_start[node] < trie.token_start[node + 1]:
                progress[FARTHEST] = max(int(progress[FARTHEST]), int(machine.configurations[after, MOST]))
                allow_tokens(trie, node, mask)
            if trie.first[node] < trie.first[node + 1]:
                level += 1
                path[level, STATE] = after
                path[level, NEXT] = trie.first[node]
                path[level, END] = trie.first[node + 1]
    return layout.DONE


@compiled_loop
def allowed(walks: WalkArrays, which: int, left: int, mask: Words) -> int:
    """Set the bits of the tokens that end somewhere, unless that leads nowhere; return the bytes left, if any."""
    if left >= FAR or walks.first_word[which] == walks.first_word[which + 1]:
        return 0
    for position in range(walks.first_word[which], walks.first_word[which + 1]):
        mask[walks.words[position]] |= walks.bits[position]
    return left


@compiled_loop
def walk_of(walks: WalkArrays, lexer: int, nodes: int) -> int:
    """Return the walk of a state of the lexer below a set of nodes, -1 if it has not been found."""
    walk = -1
    if lexer < len(walks.last):
        walk = int(walks.last[lexer])
    while walk >= 0 and walks.walks[walk, SET] != nodes:
        walk = int(walks.walks[walk, NEXT_WALK])
    return walk


@compiled_loop
def walk_one(machine: GrammarMachine, place: int, walks: WalkArrays, walk: int, ends: Rows, mask: Words) -> int:
    """Set the bits of the tokens of a walk that may follow at a place.

    Returns a distance that no state after one exceeds, or a code. `ends` become, for each token of
    the grammar that may end, the configuration after it, DEAD if it cannot follow there, and the bytes to the end.
    """
    farthest = 0
    first, count = int(walks.walks[walk, TOKENS]), int(walks.walks[walk, TOKEN_COUNT])
    words = int(walks.walks[walk, FIRST_WORD])
    for end in range(count):
        after = after_token(machine, place, int(walks.tokens[first + end, 0]), int(walks.tokens[first + end, 1]))
        left = FAR if after == DEAD else after if after < 0 else most_of(machine, after)
        if left < 0:
            return left
        ends[end, 0] = DEAD if left >= FAR else after
        ends[end, 1] = left
        farthest = max(farthest, allowed(walks, words + end, left, mask))
    target, token_ends = int(walks.walks[walk, TARGETS]), int(walks.walks[walk, FIRST_TOKEN_END])
    for position in range(walks.walks[walk, TARGET_COUNT]):
        left = FAR
        for way in range(
            walks.first_token_end[token_ends + position], walks.first_token_end[token_ends + position + 1]
        ):
            left = min(left, int(walks.token_ends[way, 1] + ends[walks.token_ends[way, 0], 1]))
        if left >= FAR and not walks.is_complete[target + position]:
            current = configuration(machine, int(walks.targets[target + position]), place)
            left = current if current < 0 else most_of(machine, current)
            if left < 0:
                return left
        farthest = max(farthest, allowed(walks, words + count + position, left, mask))
    return farthest


@compiled_entry
def walk_on(
    machine: GrammarMachine, walks: WalkArrays, waiting: Rows, few: Rows, ends: Rows, mask: Words, progress: Ints
) -> int:
    """Set the bits of the tokens that may follow `waiting` configurations, each below its set of nodes.

    Where only few nodes lie below, they are put into `few` with their configurations. Say what is full or has to be
    told: the walk of the last that waits, if that is NEEDS_WALK.
    """
    while progress[WAITING] > 0:
        current, nodes = int(waiting[progress[WAITING] - 1, 0]), int(waiting[progress[WAITING] - 1, 1])
        walk = walk_of(walks, int(machine.configurations[current, layout.LEXER]), nodes)
        if walk < 0:
            return layout.NEEDS_WALK
        count = int(walks.walks[walk, BEYOND_COUNT])
        if progress[WAITING] + count > len(waiting) or progress[FEW] + FEW_CHILDREN * count > len(few):
            return layout.MORE_FOUND
        left = walk_one(machine, int(machine.configurations[current, layout.PLACE]), walks, walk, ends, mask)
        if left < 0:
            return left
        progress[FARTHEST] = max(int(progress[FARTHEST]), left)
        progress[WAITING] -= 1
        first = int(walks.walks[walk, BEYOND])
        for row in range(first, first + count):
            after, below = int(ends[walks.beyond[row, 0], 0]), int(walks.beyond[row, 1])
            if after == DEAD:
                continue
            if walks.beyond[row, 2]:
                for position in range(walks.first_node[below], walks.first_node[below + 1]):
                    few[progress[FEW], 0] = after
                    few[progress[FEW], 1] = walks.nodes[position]
                    progress[FEW] += 1
            else:
                waiting[progress[WAITING], 0] = after
                waiting[progress[WAITING], 1] = below
                progress[WAITING] += 1
    return layout.DONE
