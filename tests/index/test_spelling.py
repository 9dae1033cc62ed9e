"""Vocabularies that cannot spell every text: masks, budgets and refusals against trying all tokens."""

import random

import pytest
from hypothesis import assume, event, given
from hypothesis import strategies as st
from random_patterns import randoms, sample
from restricted import MAX_EXPLORED, Tokenwise, bits, missing_bytes, recursive_patterns, small_patterns, vocabularies
from walks import accepted, allowed

from structured.automata import DEAD, RegularAutomaton
from structured.errors import VocabularyError
from structured.index.guide import Guide
from structured.index.index import Index
from structured.regex import Pattern
from structured.regex.restriction import without_bytes
from structured.vocabulary import Vocabulary

FAR = 10**6


@pytest.mark.thorough
@given(vocabularies(), small_patterns(), randoms())
def test_masks_and_budgets_equal_brute_force(vocabulary: Vocabulary, pattern: Pattern, rng: random.Random) -> None:
    """Whatever bytes are missing: a token is allowed exactly if some tokens complete the text after it, in time.

    A type of which nothing can be written is refused, and no other.
    """
    brute = Tokenwise(pattern, vocabulary)
    assume(brute.is_whole)
    state = brute.automaton.start
    kind = "complete" if not vocabulary.absent_bytes else "lacks bytes"
    event(kind if vocabulary.is_closed else "not closed")
    if state not in brute.fewest:
        event("refused")
        with pytest.raises(VocabularyError, match=r"^The answer cannot be written with this tokenizer"):
            Index(RegularAutomaton(pattern), vocabulary)
        return
    index = Index(RegularAutomaton(pattern), vocabulary)
    here = index.automaton.start
    for _ in range(6):
        fewest = brute.fewest[state]
        assert [index.fits(here, tokens) for tokens in range(fewest + 2)] == [False] * fewest + [True] * 2
        assert index.shortest_completion(here) == fewest
        for budget in rng.sample([FAR, fewest, fewest + 1, fewest + 2, fewest + 4], 5):
            assert bits(index.mask_within(here, budget)) == brute.allowed(state, budget)
        choices = brute.allowed(state, FAR)
        assert bits(index.mask(here)) == choices
        run = b"".join(vocabulary.tokens[token_id] or b"" for token_id in index.forced_tokens(here))
        for token_id in choices:
            token = vocabulary.tokens[token_id] or b""
            assert run.startswith(token) or token.startswith(run)
        choices = [token_id for token_id in choices if vocabulary.tokens[token_id]]
        if not choices:
            break
        token_id = rng.choice(choices)
        state, here = brute.after[state][token_id], index.step(here, token_id)


@pytest.mark.thorough
@given(vocabularies(), small_patterns() | recursive_patterns(), randoms(), st.integers(0, 6))
def test_never_stuck(vocabulary: Vocabulary, pattern: Pattern, rng: random.Random, spare: int) -> None:
    """Every text that is begun ends in time, with forced tokens or without, and the type accepts it."""
    try:
        index = Index(RegularAutomaton(pattern), vocabulary)
    except VocabularyError:
        return
    guide = Guide(index, max_tokens=index.shortest_completion(index.automaton.start) + spare)
    text = b""
    while not guide.finished:
        for token_id in guide.take_forced() if rng.random() < 0.5 else ():
            text += vocabulary.tokens[token_id] or b""
        if not guide.finished:
            choices = allowed(guide)
            assert choices
            guide.advance(token_id := rng.choice(choices))
            text += vocabulary.tokens[token_id] or b""
    assert guide.tokens_left >= 0
    assert accepted(RegularAutomaton(pattern), text)


@pytest.mark.thorough
@given(missing_bytes(), small_patterns() | recursive_patterns(), randoms())
def test_patterns_without_bytes(absent: frozenset[int], pattern: Pattern, rng: random.Random) -> None:
    """What is left of a pattern are its texts without the bytes; each state has a completion as short as it says."""
    left = without_bytes(pattern, absent)
    texts = [text for text in (sample(pattern, rng).encode() for _ in range(20)) if absent.isdisjoint(text)]
    if left is None:
        assert texts == []
        return
    event("same" if left is pattern else "changed")
    whole, automaton = RegularAutomaton(pattern), RegularAutomaton(left)
    assert all(accepted(automaton, text) for text in texts)
    pairs, order = set[tuple[int, int]](), [(automaton.start, whole.start)]
    for here, there in order:  # which grows on the way
        assert automaton.accepts(here) == whole.accepts(there)
        after = [(automaton.step(here, byte), whole.step(there, byte)) for byte in range(256) if byte not in absent]
        alive = [pair for pair in after if pair[0] != DEAD]
        assert all(pair[1] != DEAD for pair in alive)
        if not automaton.accepts(here):
            assert automaton.distances[here] - 1 in {int(automaton.distances[pair[0]]) for pair in alive}
        for pair in alive:
            if pair not in pairs and len(pairs) < MAX_EXPLORED:
                pairs.add(pair)
                order.append(pair)
