"""Tokens that are known without the model: they change how fast a text is written, and not which."""

import random
from collections import Counter
from typing import Any

import numpy as np
import pytest
from brute_force import brute_successors, masked_distribution
from doubles import ByteTokenizer, random_logits, real_tokenizer, spell, text_logits
from effort import examples
from hypothesis import given, settings
from languages import DEPENDENT_CHOICES, MOOD, PERSON
from random_patterns import patterns, randoms
from walks import forced_run, states_on_walks

from structured.automata import DEAD, RegularAutomaton
from structured.decoding.generate import generate
from structured.decoding.requests import Generation, Request
from structured.decoding.sampling import Sampler
from structured.index.guide import Guide
from structured.index.index import Index
from structured.models import FunctionModel
from structured.regex import Pattern, literal
from structured.vocabulary import Vocabulary

TOKENIZER = ByteTokenizer()
MODEL = FunctionModel(text_logits(TOKENIZER.tokens, scale=2.0), TOKENIZER)


def write(index: Index, sampler: Sampler, *, item: int = 0, max_tokens: int = 60, **options: Any) -> Generation:
    """Return one text of the model of bytes."""
    request = Request(TOKENIZER.encode("a"), Guide(index, max_tokens=max_tokens), sampler.generator(item, 0))
    (generation,) = generate(MODEL, [request], sampler, **options)
    return generation


@pytest.mark.thorough
@given(patterns(), randoms())
def test_no_token_that_may_follow_goes_past_what_is_forced(
    vocabulary: Vocabulary, pattern: Pattern, rng: random.Random
) -> None:
    """Whatever legal token could stand in the place of a forced one, it is a beginning of the same forced run."""
    index = Index(RegularAutomaton(pattern), vocabulary)
    for state in states_on_walks(index, rng, walks=2, tokens=4):
        run, end = forced_run(index, state)
        forced = spell(vocabulary.tokens, index.forced_tokens(state))
        assert run.startswith(forced)
        read, here = 0, state
        for token_id in index.forced_tokens(state):
            successors = brute_successors(index, here)
            for other in np.flatnonzero(successors != DEAD).tolist():
                assert run[read:].startswith(vocabulary.tokens[other] or b"")
            here = index.step(here, token_id)
            read += len(vocabulary.tokens[token_id] or b"")
        if len(forced) == len(run):
            assert here == end


@pytest.mark.thorough
@given(patterns(), randoms())
@settings(max_examples=examples(60))
def test_forced_runs_change_no_text(vocabulary: Vocabulary, pattern: Pattern, rng: random.Random) -> None:
    """A model that goes by the text alone writes the same with them as without, in no more passes."""
    index = Index(RegularAutomaton(pattern), vocabulary)
    shortest = index.shortest_completion(index.automaton.start)
    for room in (shortest + rng.randrange(4), shortest + 60):
        forced, plain = (write(index, Sampler(), max_tokens=room, jump_forward=force) for force in (True, False))
        if not plain.shortened and not forced.shortened:
            assert forced.text == plain.text
            assert forced.log_probability >= plain.log_probability - 1e-6
            assert forced.diagnostics.passes <= plain.diagnostics.passes
        for generation in (forced, plain):
            assert len(generation.token_ids) <= room


@pytest.mark.thorough
@pytest.mark.parametrize("force", [True, False])
def test_sampling_follows_the_masked_distribution(force: bool) -> None:
    """Over 3,000 draws, each text comes as often as its probability under the masks says (chi-square)."""
    tokenizer = ByteTokenizer(tokens=TOKENIZER.tokens[:260], end_token_ids=(2,))
    model = FunctionModel(random_logits(260, scale=1.5), tokenizer)
    index = Index(RegularAutomaton(DEPENDENT_CHOICES), model.vocabulary)
    prompt, draws = tokenizer.encode("a"), 3000
    expected = dict(masked_distribution(model, index, prompt))
    sampler = Sampler(1.0, seed=11)
    requests = [Request(prompt, Guide(index, max_tokens=40), sampler.generator(item, 0)) for item in range(draws)]
    drawn = Counter(
        generation.text for generation in generate(model, requests, sampler, batch_size=50, jump_forward=force)
    )
    assert drawn.keys() <= expected.keys()
    chi_square = sum((drawn[text] - draws * share) ** 2 / (draws * share) for text, share in expected.items())
    assert chi_square < 45  # 17 degrees of freedom: by chance once in 4,000


def test_a_decided_answer_is_not_asked_for(vocabulary: Vocabulary) -> None:
    """Of an enumeration, only what tells its values apart is sampled; of a constant, nothing at all."""
    index = Index(RegularAutomaton(MOOD), vocabulary)
    generation = write(index, Sampler())
    assert generation.diagnostics.sampled < len(generation.token_ids)
    constant = Index(RegularAutomaton(literal('{"only": "this"}')), vocabulary)
    generation = write(constant, Sampler())
    assert generation.text == '{"only": "this"}'
    assert (generation.diagnostics.sampled, generation.diagnostics.passes) == (0, 0)


def test_forced_runs_are_spelled_as_the_tokenizer_spells_them(real_name: str, real: Vocabulary) -> None:
    """Around the fields of an object, the published tokenizers' own tokens, up to where a value could change them."""
    index = Index(RegularAutomaton(PERSON), real)
    text = '{"name": "Ana", "age": 31, "mood": "glad", "tags": ["x"]}'
    state, read = index.automaton.start, 0
    own = real_tokenizer(real_name)(text, add_special_tokens=False)["input_ids"]
    forced = 0
    for token_id in own:
        known = index.forced_tokens(state)
        if known and state != index.automaton.start:
            forced += 1
            assert known[0] == token_id, text[read:]
        state = index.step(state, token_id)
        if state == DEAD:  # SentencePiece begins with a space
            state = index.automaton.start
            for byte in b'{"':
                state = index.automaton.step(state, byte)
        read += len(real.tokens[token_id] or b"")
    assert forced >= 5
