"""The fewest tokens that complete a text: against brute force, never too few past the limits, and always kept."""

import math
import random
import sys
from collections.abc import Collection

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from languages import MOOD, NUMBER, PERSON
from random_patterns import patterns, randoms
from walks import states_on_walks, write

from structured.automata import RegularAutomaton
from structured.errors import BudgetError
from structured.index import mask_loops
from structured.index.guide import Guide
from structured.index.index import Index
from structured.index.shortest_completion import Completions, SearchLimits
from structured.regex import AutomatonPattern, Pattern, Reference, alternation, chars, concat, literal, optional, repeat
from structured.vocabulary import Vocabulary
from structured.vocabulary.trie import Trie

UNLIMITED = SearchLimits(states=sys.maxsize, table_rows=sys.maxsize, seconds=math.inf)


def fewest_tokens(tokens: Collection[bytes | None], data: bytes) -> int:
    """Return how few tokens spell some bytes, by dynamic programming over the set of all tokens."""
    counts = [0] * (len(data) + 1)
    for start in reversed(range(len(data))):
        ends = range(start + 1, len(data) + 1)
        counts[start] = 1 + min(counts[end] for end in ends if data[start:end] in tokens)
    return counts[0]


@given(st.sets(st.text("abc", min_size=2, max_size=5), max_size=12), st.text("abc", max_size=12))
def test_fewest_tokens_of_each_suffix(merged: set[str], text: str) -> None:
    """The kernel counts the fewest tokens of every suffix, also where taking the longest token first is not best."""
    tokens = [b"a", b"b", b"c", *(token.encode() for token in merged)]
    data = text.encode()
    trie = Trie.from_tokens(tokens)
    text_bytes = np.frombuffer(data, dtype=np.uint8)
    counts = np.full(len(text_bytes) + 1, -1, dtype=np.int32)
    mask_loops.fewest_tokens(trie.arrays, text_bytes, counts)
    assert counts.tolist() == [fewest_tokens(tokens, data[start:]) for start in range(len(data) + 1)]


@pytest.mark.parametrize("asked", [0x00, 0x22, 0xFF])
def test_one_byte_of_a_state_makes_no_row_whole(vocabulary: Vocabulary, asked: int) -> None:
    """A shortest text was read off the unknown entries of a row once byte 0 alone had been asked for."""
    index = Index(RegularAutomaton(PERSON), vocabulary)
    text, state = b"", index.automaton.start
    while not index.automaton.accepts(state):
        index.automaton.step(state, asked)
        spelled, path = index._walks.follow(mask_loops.follow_shortest, state)
        assert len(spelled) == index.automaton.distances[state]
        assert index.automaton.accepts(int(path[-1]))
        text, state = text + bytes(spelled[:1]), index.automaton.step(state, int(spelled[0]))
    assert len(text) == index.automaton.distances[index.automaton.start]


def brute_shortest_completion(index: Index, state: int) -> int:
    """Return the fewest tokens that complete a text, by trying all tokens, then all pairs, and so on."""
    level, seen, tokens = {state}, {state}, 0
    while not any(index.automaton.accepts(reached) for reached in level):
        level = {target for reached in level for target in index._walks.successors(reached)} - seen
        seen |= level
        tokens += 1
    return tokens


@pytest.mark.thorough
@given(patterns(max_leaves=6), randoms())
def test_shortest_completion_equals_brute_force(vocabulary: Vocabulary, pattern: Pattern, rng: random.Random) -> None:
    """It is the least number of tokens over all completions; and a text fits from that number of tokens on."""
    index = Index(RegularAutomaton(pattern), vocabulary)
    index._completions = Completions(index._walks, limits=UNLIMITED)  # some patterns have more states than are searched
    for state in states_on_walks(index, rng, walks=1, tokens=3):
        expected = brute_shortest_completion(index, state)
        budgets = [*range(-1, expected + 3)]
        rng.shuffle(budgets)
        assert [index.fits(state, tokens) for tokens in budgets] == [tokens >= expected for tokens in budgets]
        assert index.shortest_completion(state) == expected


def test_a_longer_text_may_take_fewer_tokens(vocabulary: Vocabulary) -> None:
    """The text of fewest bytes, `cb`, takes two tokens; a longer one is one token, so one token is enough."""
    index = Index(RegularAutomaton(alternation(literal("cb"), literal("aaaa"))), vocabulary)
    guide = Guide(index, max_tokens=1)
    assert index.shortest_completion(guide.state) == 1
    assert write(guide, random.Random(0)) == b"aaaa"
    with pytest.raises(BudgetError):
        Guide(index, max_tokens=0)


def test_a_byte_that_is_worth_more_than_one(vocabulary: Vocabulary) -> None:
    """Beside `aaa`, an `a` spares the other string an emoji of four bytes; the shortest text ran on past its end."""
    fixed = AutomatonPattern((((97, 97, 1),), ((97, 97, 2),), ((97, 97, 3),), ()), frozenset({3}), None)
    other = AutomatonPattern((((97, 97, 1), (0x1F642, 0x1F642, 2)), ((97, 97, 2),), ()), frozenset({2}), None)
    index = Index(RegularAutomaton(concat(literal('"'), alternation(fixed, other), literal('"'))), vocabulary)
    start = index.automaton.start
    assert index.shortest_completion(start) == brute_shortest_completion(index, start)
    assert len(index._walks.follow(mask_loops.follow_shortest, start)[0]) <= index.automaton.distances[start]


FLOATS = concat(NUMBER, optional(concat(literal("."), repeat(chars("0123456789"), 1, 17))))
LONG = concat(literal('"'), repeat(chars("abc日"), 3, 40), literal('"'))


@pytest.mark.parametrize("pattern", [PERSON, MOOD, FLOATS, LONG], ids=["person", "mood", "floats", "long"])
def test_on_real_vocabularies(real: Vocabulary, pattern: Pattern) -> None:
    """The same on published vocabularies; a guide with just enough tokens ends, and one less is refused."""
    index = Index(RegularAutomaton(pattern), real)
    for state in states_on_walks(index, random.Random(0), walks=1, tokens=4):
        assert index.shortest_completion(state) == brute_shortest_completion(index, state)
    shortest = index.shortest_completion(index.automaton.start)
    for seed in range(3):
        write(guide := Guide(index, max_tokens=shortest), random.Random(seed), eager=True, limit=shortest + 1)
        assert guide.tokens_left == 0
    with pytest.raises(BudgetError, match=f"^The shortest answer of this type takes {shortest} tokens"):
        Guide(index, max_tokens=shortest - 1)


@pytest.mark.thorough
@given(patterns(), randoms(), st.integers(0, 6), st.integers(0, 3))
def test_past_the_limits_nobody_is_stuck(
    vocabulary: Vocabulary, pattern: Pattern, rng: random.Random, states: int, spare: int
) -> None:
    """Where the search stops early the number may be too high, never too low, and every text still ends in time."""
    exact = Index(RegularAutomaton(pattern), vocabulary)
    index = Index(exact.automaton, vocabulary)
    index._completions = Completions(index._walks, limits=SearchLimits(states=states))
    for state in states_on_walks(index, rng, walks=1, tokens=2):
        assert index.shortest_completion(state) >= exact.shortest_completion(state)
    shortest = index.shortest_completion(index.automaton.start)
    assert index.fits(index.automaton.start, shortest)
    guide = Guide(index, max_tokens=shortest + spare)
    write(guide, rng, limit=shortest + spare + 1)
    assert guide.tokens_left >= 0


def test_patterns_without_end_are_searched_within_limits(vocabulary: Vocabulary) -> None:
    """A pattern that contains itself and a string of any length have states without end; the search has not."""
    definitions: dict[str, Pattern] = {}
    inside = concat(optional(Reference("node", definitions)), repeat(chars("xyz"), 0, 100_000))
    definitions["node"] = concat(literal("<node>"), inside, literal("</node>"))
    index = Index(RegularAutomaton(definitions["node"]), vocabulary)
    limits = SearchLimits(states=200)
    index._completions = Completions(index._walks, limits=limits)
    shortest = index.shortest_completion(index.automaton.start)
    assert 1 < shortest <= len("<node></node>")
    assert len(index._completions._successors) <= limits.states
    write(Guide(index, max_tokens=shortest), random.Random(0), limit=shortest + 1)


@pytest.mark.thorough
@given(patterns(), randoms())
def test_shortest_completion_is_kept(vocabulary: Vocabulary, pattern: Pattern, rng: random.Random) -> None:
    """From every state there is a way to the end of exactly the tokens promised, each one nearer by one.

    This is why a guide is never stuck: where the text may not end, some token leaves one token less to go.
    """
    index = Index(RegularAutomaton(pattern), vocabulary)
    for start in states_on_walks(index, rng, walks=1, tokens=4):
        state = start
        for left in reversed(range(index.shortest_completion(start))):
            assert not index.automaton.accepts(state)
            successors = index._walks.successors(state)
            state = next(successor for successor in successors if index.shortest_completion(successor) == left)
        assert index.automaton.accepts(state)
