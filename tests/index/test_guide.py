"""The cursor of a generation: never stuck, always in time, and moved by legal tokens alone."""

import random
import re

import numpy as np
import pytest
from doubles import BOS, END, END_OF_TURN, HIDDEN, spell
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from random_patterns import patterns, randoms
from walks import allowed, read, write
from ways import matches

from structured.automata import RegularAutomaton
from structured.errors import BudgetError
from structured.index.guide import Guide
from structured.index.index import Index
from structured.index.masks import unpack
from structured.regex import (
    Alternation,
    CharSet,
    Concat,
    Iteration,
    Literal,
    Pattern,
    Words,
    alternation,
    chars,
    concat,
    literal,
    repeat,
)
from structured.vocabulary import Vocabulary


def most_bytes(pattern: Pattern) -> int | None:
    """Return the bytes of the longest text that matches, None if there is no longest."""
    match pattern:
        case Literal():
            return len(pattern.text.encode())
        case Words():
            return max(len(text.encode()) for text in pattern.texts)
        case CharSet():
            return len(chr(pattern.ranges[-1][1]).encode())
        case Concat():
            parts = [most_bytes(part) for part in pattern.parts]
            return None if None in parts else sum(part or 0 for part in parts)
        case Alternation():
            options = [most_bytes(option) for option in pattern.options]
            return None if None in options else max(option or 0 for option in options)
        case Iteration():
            item = most_bytes(pattern.item)
            if item == 0:
                return 0
            return None if item is None or pattern.maximum is None else item * pattern.maximum


@pytest.mark.thorough
@settings(max_examples=examples(200))
@given(patterns(), randoms(), st.integers(0, 15), st.booleans())
def test_never_stuck(vocabulary: Vocabulary, pattern: Pattern, rng: random.Random, spare: int, eager: bool) -> None:
    """Whatever legal tokens are taken, under any budget from the shortest up, a matching text is finished in time."""
    index = Index(RegularAutomaton(pattern), vocabulary)
    max_tokens = index.shortest_completion(index.automaton.start) + spare
    guide = Guide(index, max_tokens=max_tokens)
    text = write(guide, rng, eager=eager, limit=max_tokens + 1)
    assert guide.finished
    assert guide.tokens_left >= 0
    assert index.automaton.accepts(read(index.automaton, text))
    assert matches(pattern, text.decode())


@pytest.mark.thorough
@given(patterns())
def test_budget_error_exactly_when_the_shortest_does_not_fit(vocabulary: Vocabulary, pattern: Pattern) -> None:
    """The shortest answer's tokens are enough; one less is an error that tells both numbers."""
    index = Index(RegularAutomaton(pattern), vocabulary)
    shortest = index.shortest_completion(index.automaton.start)
    assert Guide(index, max_tokens=shortest).finished == index.is_final(index.automaton.start)
    with pytest.raises(BudgetError) as caught:
        Guide(index, max_tokens=shortest - 1)
    assert (caught.value.max_tokens, caught.value.shortest) == (shortest - 1, shortest)
    assert str(caught.value) == (
        f"The shortest answer of this type takes {shortest} tokens, and only {shortest - 1} are allowed. "
        f"Raise max_tokens to {shortest} or more, or shorten the prompt if the context is full."
    )


@pytest.mark.thorough
@given(patterns(), randoms(), st.integers(0, 6))
def test_copies_move_on_their_own(vocabulary: Vocabulary, pattern: Pattern, rng: random.Random, spare: int) -> None:
    """A copy starts where its original stands, and neither moves the other."""
    index = Index(RegularAutomaton(pattern), vocabulary)
    guide = Guide(index, max_tokens=index.shortest_completion(index.automaton.start) + spare)

    def place(guide: Guide) -> tuple[object, ...]:
        return tuple(getattr(guide, name) for name in Guide.__slots__)

    before = place(guide)
    representative = guide.copy()
    assert place(representative) == before
    write(representative, rng)
    assert place(guide) == before
    write(guide, rng)
    assert guide.finished
    assert representative.finished


@pytest.mark.thorough
@given(patterns(), randoms(), st.integers(0, 6))
def test_forced_tokens_are_taken_as_far_as_they_fit(
    vocabulary: Vocabulary, pattern: Pattern, rng: random.Random, spare: int
) -> None:
    """They are those that are taken one by one as long as the shortest completion after each fits, and no more."""
    index = Index(RegularAutomaton(pattern), vocabulary)
    guide = Guide(index, max_tokens=index.shortest_completion(index.automaton.start) + spare)
    while not guide.finished:
        plain, known = guide.copy(), index.forced_tokens(guide.state)
        for token_id in known:
            if index.shortest_completion(index.step(plain.state, token_id)) >= plain.tokens_left:
                break
            plain.advance(token_id)
        fitting = known[: guide.tokens_left - plain.tokens_left]
        assert guide.take_forced() == fitting
        assert (guide.state, guide.tokens_left, guide.finished) == (plain.state, plain.tokens_left, plain.finished)
        if not guide.finished:
            guide.advance(rng.choice(np.flatnonzero(unpack(guide.mask(), vocabulary.size)).tolist()))


@pytest.mark.thorough
@given(patterns(), randoms())
def test_advance_takes_exactly_what_the_mask_allows(
    vocabulary: Vocabulary, pattern: Pattern, rng: random.Random
) -> None:
    """Every token that the type forbids is refused and leaves the guide where it was; every other one is taken."""
    index = Index(RegularAutomaton(pattern), vocabulary)
    guide = Guide(index, max_tokens=index.shortest_completion(index.automaton.start) + 2)
    while not guide.finished:
        legal = np.flatnonzero(unpack(index.mask_for_budget(guide.state, guide.tokens_left), vocabulary.size)).tolist()
        for token_id in (*rng.sample(range(vocabulary.size), 40), BOS, END, END_OF_TURN, HIDDEN, vocabulary.size, -1):
            trial = guide.copy()
            if token_id in legal:
                trial.advance(token_id)
            else:
                with pytest.raises(ValueError, match=f"^Token {token_id} .*is not allowed here: Guide"):
                    trial.advance(token_id)
                assert (trial.state, trial.tokens_left, trial.finished) == (guide.state, guide.tokens_left, False)
        guide.advance(rng.choice(legal))


def test_a_finished_guide_takes_nothing(vocabulary: Vocabulary) -> None:
    """After the end nothing follows, not even a second end."""
    guide = Guide(Index(RegularAutomaton(literal("ab")), vocabulary), max_tokens=9)
    guide.advance(vocabulary.tokens.index(b"ab"))
    assert guide.finished
    with pytest.raises(ValueError, match=r"^The text is finished; token 1 cannot follow\.$"):
        guide.advance(END)


def test_end_tokens_end_only_whole_texts(vocabulary: Vocabulary) -> None:
    """Each end token ends a text that may end, costs none of the budget, and is refused before that."""
    index = Index(RegularAutomaton(repeat(literal("é"), 1, None)), vocabulary)
    for end in (END, END_OF_TURN):
        guide = Guide(index, max_tokens=5)
        assert end not in allowed(guide)
        guide.advance(vocabulary.tokens.index("é".encode()))
        assert not guide.finished
        assert end in allowed(guide)
        left = guide.tokens_left
        guide.advance(end)
        assert guide.finished
        assert guide.tokens_left == left


def test_a_text_that_is_complete_needs_no_end_token(vocabulary: Vocabulary) -> None:
    """Where nothing may follow, the guide is finished at once: the model is not asked for an end."""
    guide = Guide(Index(RegularAutomaton(alternation(literal("a"), literal("ba"))), vocabulary), max_tokens=9)
    guide.advance(vocabulary.tokens.index(b"ba"))
    assert guide.finished
    assert Guide(Index(RegularAutomaton(literal("")), vocabulary), max_tokens=0).finished


@pytest.mark.thorough
@given(patterns().filter(lambda pattern: (most_bytes(pattern) or 9999) < 200), randoms())
def test_ample_budgets_take_nothing_away(vocabulary: Vocabulary, pattern: Pattern, rng: random.Random) -> None:
    """Where even the longest text fits, byte by byte, the mask is the very canonical one of the index."""
    index = Index(RegularAutomaton(pattern), vocabulary)
    guide = Guide(index, max_tokens=(most_bytes(pattern) or 0) + 1)
    while not guide.finished:
        assert guide.mask() is index.canonical_mask(guide.state)
        guide.advance(rng.choice(allowed(guide)))


def test_steering_closes_a_string_in_time(vocabulary: Vocabulary) -> None:
    """A writer that never wants to stop is brought to the closing quote by its last token."""
    string = concat(literal('"'), repeat(chars("ab"), 0, None), literal('"'))
    guide = Guide(Index(RegularAutomaton(string), vocabulary), max_tokens=6)
    token_ids: list[int] = []
    while not guide.finished:
        tokens = [vocabulary.tokens[token_id] or b"" for token_id in allowed(guide)]
        going_on = [token for token in tokens if token == b'"' * (not token_ids) or not token.endswith(b'"')]
        token_ids.append(vocabulary.tokens.index((going_on or tokens)[0]))
        guide.advance(token_ids[-1])
    assert re.fullmatch(b'"[ab]+"', spell(vocabulary.tokens, token_ids))
    assert len(token_ids) == 6


def test_repr_is_short_and_true(vocabulary: Vocabulary) -> None:
    """A guide tells where it stands."""
    guide = Guide(Index(RegularAutomaton(literal("ab")), vocabulary), max_tokens=9)
    assert repr(guide) == f"Guide(state={guide.state}, tokens_left=9)"
    guide.advance(vocabulary.tokens.index(b"ab"))
    assert repr(guide) == "Guide(finished, tokens_left=8)"
