"""Prompts that an answer continues: their last tokens are chosen anew where a longer one might stand in their place."""

import random

import pytest
from doubles import ByteTokenizer, random_logits, real_tokenizer, spell
from hypothesis import given
from hypothesis import strategies as st
from random_patterns import patterns, randoms

from structured.automata import DEAD, RegularAutomaton
from structured.decoding.generate import generate
from structured.decoding.requests import Request
from structured.decoding.sampling import Sampler
from structured.decoding.token_healing import begun_index, heal
from structured.index.guide import Guide
from structured.index.index import Index
from structured.models import FunctionModel
from structured.regex import Pattern, chars, concat, literal, repeat
from structured.vocabulary import Vocabulary

TOKENIZER = ByteTokenizer()


@pytest.mark.thorough
@given(patterns(max_leaves=5), st.text('{"name: ab,', max_size=12), randoms())
def test_the_end_of_a_prompt_is_taken_back_where_a_token_goes_on(
    vocabulary: Vocabulary, pattern: Pattern, text: str, rng: random.Random
) -> None:
    """What is left and what is taken back are the prompt; no token goes from further back into the answer."""
    index = Index(RegularAutomaton(pattern), vocabulary)
    prompt = TOKENIZER.encode(text)
    rest, begun = heal(prompt, index)
    assert spell(vocabulary.tokens, rest) + begun == text.encode()
    assert rest == prompt[: len(rest)]
    for count in range(1, len(prompt)):
        taken = spell(vocabulary.tokens, prompt[count:])
        longer = [token for token in vocabulary.tokens if token and token.startswith(taken) and len(token) > len(taken)]
        goes_on = any(RegularAutomaton(pattern) and _alive(index, token[len(taken) :]) for token in longer)
        if goes_on:
            assert count >= len(rest)
    if begun:
        sampler = Sampler(1.0, seed=rng.randrange(99))
        model = FunctionModel(random_logits(len(TOKENIZER.tokens)), TOKENIZER)
        room = index.shortest_completion(index.automaton.start) + 8
        guide = Guide(begun_index(index, begun), max_tokens=room + len(prompt))
        request = Request(rest, guide, sampler.generator(0, 0), begun=len(begun))
        (generation,) = generate(model, [request], sampler)
        assert _alive(index, generation.text.encode(), whole=True)
        assert spell(vocabulary.tokens, generation.token_ids) == begun + generation.text.encode()


def _alive(index: Index, data: bytes, *, whole: bool = False) -> bool:
    state = index.automaton.start
    for byte in data:
        state = index.automaton.step(state, byte)
        if state == DEAD:
            return False
    return index.automaton.accepts(state) if whole else True


@pytest.mark.parametrize(
    ("text", "pattern", "begun"),
    [
        ("The link is http:", concat(literal("//"), repeat(chars("abc"), 1, 9)), b":"),
        ("Answer:", literal(" yes"), b""),
        ("JSON:\n", literal('{"name": 1}'), b""),
    ],
)
def test_published_tokenizers(real_name: str, real: Vocabulary, text: str, pattern: Pattern, begun: bytes) -> None:
    """As the books have it: `://` is one token, and a line end before a brace is none."""
    prompt = real_tokenizer(real_name)(text)["input_ids"]
    assert heal(prompt, Index(RegularAutomaton(pattern), real)).begun == begun
