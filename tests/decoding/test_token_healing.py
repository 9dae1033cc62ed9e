"""Prompts that an answer continues: their last tokens are chosen anew where a longer one might stand in their place."""

import random
import warnings
from collections.abc import Sequence
from typing import Annotated

import numpy as np
import pytest
from doubles import ByteTokenizer, LogitsFunction, random_logits, real_tokenizer, spell
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from pydantic import Field
from random_patterns import patterns, randoms

from structured import Extractor
from structured.automata import DEAD, RegularAutomaton
from structured.decoding.generate import generate
from structured.decoding.prompt_tokens import heal, prefixed_index
from structured.decoding.requests import Request
from structured.decoding.sampling import Sampler
from structured.errors import BudgetWarning
from structured.index.guide import Guide
from structured.index.index import Index
from structured.models import FunctionModel, load_model
from structured.regex import Pattern, chars, concat, literal, repeat
from structured.vocabulary import Vocabulary

TOKENIZER = ByteTokenizer()


@pytest.mark.thorough
@given(patterns(max_leaves=5), st.text('{"name: ab,', max_size=12), randoms())
def test_the_end_of_a_prompt_is_taken_back_where_a_token_goes_on(
    vocabulary: Vocabulary, pattern: Pattern, text: str, rng: random.Random
) -> None:
    """What is left and what is taken back are the prompt; as much is taken back as some token goes on from, no more."""
    index = Index(RegularAutomaton(pattern), vocabulary)
    prompt = TOKENIZER.encode(text)
    rest, begun, removed_tokens = heal(prompt, index)
    assert removed_tokens == len(prompt) - len(rest)
    assert spell(vocabulary.tokens, rest) + begun == text.encode()
    assert rest == prompt[: len(rest)]
    left = len(prompt)
    for count in range(1, len(prompt)):
        taken = spell(vocabulary.tokens, prompt[count:])
        longer = [token for token in vocabulary.tokens if token and token.startswith(taken) and len(token) > len(taken)]
        if _is_text(taken) and any(_alive(index, token[len(taken) :]) for token in longer):
            left = min(left, count)
    assert len(rest) == left
    if begun:
        sampler = Sampler(1.0, seed=rng.randrange(99))
        model = FunctionModel(random_logits(len(TOKENIZER.tokens)), TOKENIZER)
        room = index.shortest_completion(index.automaton.start) + 8
        guide = Guide(prefixed_index(index, begun), max_tokens=room + len(prompt))
        request = Request(rest, guide, sampler.generator(0, 0), prefix_length=len(begun))
        (generation,) = generate(model, [request], sampler)
        assert _alive(index, generation.text.encode(), whole=True)
        assert spell(vocabulary.tokens, generation.token_ids) == begun + generation.text.encode()


def _is_text(data: bytes) -> bool:
    return data.decode(errors="replace").encode() == data


LONGER = ByteTokenizer(tokens=(*TOKENIZER.tokens, b'\n["'))
"""With a token for which the end of each prompt is taken back."""


@pytest.mark.thorough
@given(st.integers(0, 99), st.integers(0, 9), st.booleans())
def test_what_is_taken_back_costs_nothing_of_the_budget(seed: int, spare: int, jump_forward: bool) -> None:
    """A model that does not care for the longer token writes the same answer with healing and without, or none."""
    function = random_logits(len(TOKENIZER.tokens), seed=seed)

    def answer(tokenizer: ByteTokenizer, function: LogitsFunction) -> tuple[list[str], bool]:
        model = load_model((function, tokenizer))
        shortest = Extractor(Names, model=model)._task.index("").shortest_completion(0)
        extractor = Extractor(Names, model=model, max_tokens=shortest + spare, jump_forward=jump_forward)
        item = extractor._task.item(0, "x")
        assert item.next_start.healed.required_prefix == (b"\n" if tokenizer is LONGER else b"")
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", BudgetWarning)
            return extractor("x"), bool(caught)

    def indifferent(token_ids: Sequence[int]) -> NDArray[np.float32]:
        return np.append(function(token_ids), np.float32(-1e6)).astype(np.float32)

    assert answer(LONGER, indifferent) == answer(TOKENIZER, function)


Names = list[Annotated[str, Field(max_length=6)]]


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
    assert heal(prompt, Index(RegularAutomaton(pattern), real)).required_prefix == begun
