"""Canonical masks: where bytes are determined, only the tokenizer's own spelling of them, and no text is lost."""

import itertools
from collections.abc import Callable, Iterator, Sequence
from functools import cache

import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from structured.automata import RegularAutomaton
from structured.decoding.generate import compile_type
from structured.index.guide import Guide
from structured.index.index import Index
from structured.index.masks import unpack
from structured.output_types.json_output import JsonLayout
from structured.output_types.resolve import resolve_type
from structured.regex import Pattern, concat, words
from structured.vocabulary import Vocabulary

BYTES = tuple(bytes([byte]) for byte in range(256))
TEXTS = st.text('ab "', max_size=4)


def greedy(tokens: Sequence[bytes | None]) -> Callable[[str], list[int]]:
    """Return how a tokenizer spells that takes the longest token each time."""
    ids = {token: token_id for token_id, token in enumerate(tokens) if token}

    def encode(text: str) -> list[int]:
        data, found = text.encode(), []
        while data:
            piece = next(data[:length] for length in range(len(data), 0, -1) if data[:length] in ids)
            found.append(ids[piece])
            data = data[len(piece) :]
        return found

    return encode


@st.composite
def vocabularies(draw: st.DrawFn) -> Vocabulary:
    """Draw a vocabulary with some longer tokens, which spells greedily or does not say how."""
    longer = draw(st.lists(TEXTS.filter(lambda text: len(text) > 1), max_size=12))
    tokens = (*BYTES, *(token.encode() for token in longer), None)
    return Vocabulary(tokens, frozenset({len(tokens) - 1}), draw(st.sampled_from([None, greedy(tokens)])))


CHOICES = st.lists(st.lists(TEXTS, min_size=1, max_size=3), min_size=1, max_size=4)
"""Of each, one is written, one behind the other."""


def pattern_of(choices: list[list[str]]) -> Pattern:
    return concat(*map(words, choices))


def written(index: Index, max_tokens: int) -> set[bytes]:
    """Return all texts that masks lead to, token by token, within a budget; none of them may end in nowhere."""
    tokens, ends = index.vocabulary.tokens, index.vocabulary.end_token_ids

    @cache
    def texts(state: int, left: int) -> frozenset[bytes]:
        guide = Guide(index, max_tokens=30)
        guide.state, guide.tokens_left = state, left
        allowed = unpack(guide.mask(), index.vocabulary.size).nonzero()[0].tolist()
        assert allowed
        found: set[bytes] = set()
        for token_id in allowed:
            if token_id in ends:
                found.add(b"")
                continue
            spelled = tokens[token_id]
            assert spelled
            found |= {spelled + rest for rest in texts(index.step(state, token_id), left - 1)}
        return frozenset(found)

    return set(texts(index.automaton.start, max_tokens))


@given(vocabularies(), CHOICES)
@settings(max_examples=examples(60))
def test_no_text_is_lost(vocabulary: Vocabulary, choices: list[list[str]]) -> None:
    """With tokens enough for one to a byte, the texts are those of the language."""
    index = Index(RegularAutomaton(pattern_of(choices)), vocabulary)
    assert written(index, 20) == {"".join(chosen).encode() for chosen in itertools.product(*choices)}


@given(vocabularies(), CHOICES, st.integers(0, 3))
@settings(max_examples=examples(60))
def test_a_budget_is_kept_and_nothing_is_stuck(vocabulary: Vocabulary, choices: list[list[str]], spare: int) -> None:
    index = Index(RegularAutomaton(pattern_of(choices)), vocabulary)
    assert written(index, index.shortest_completion(index.automaton.start) + spare)


@given(vocabularies(), CHOICES)
@settings(max_examples=examples(60))
def test_what_is_left_out_are_spellings_of_what_is_known(vocabulary: Vocabulary, choices: list[list[str]]) -> None:
    """Of the tokens that consist of determined bytes, one is left, the first of the tokenizer's own; of others, all."""
    index = Index(RegularAutomaton(pattern_of(choices)), vocabulary)
    for state in _reached(index):
        full, canonical = (
            set(unpack(mask, vocabulary.size).nonzero()[0].tolist())
            for mask in (index.mask(state), index.canonical_mask(state))
        )
        run = index.forced_bytes(state)
        known = {token_id for token_id in full if run.startswith(vocabulary.tokens[token_id] or b"-")}
        assert full - canonical == known - set(index.forced.run_tokens(state)[:1])


def _reached(index: Index) -> Iterator[int]:
    """Yield the states that whole tokens lead to."""
    seen, waiting = {index.automaton.start}, [index.automaton.start]
    while waiting:
        state = waiting.pop()
        yield state
        for token_id in unpack(index.mask(state), index.vocabulary.size).nonzero()[0].tolist():
            target = index.step(state, token_id)
            if target >= 0 and target not in seen:
                seen.add(target)
                waiting.append(target)


class Order(BaseModel):
    number: str
    quantity: int


def test_a_frame_is_spelled_as_the_tokenizer_spells_it(real: Vocabulary) -> None:
    """Token by token, without anything appended for the model, as in a loop of transformers."""
    index = compile_type(resolve_type(Order, None, JsonLayout()), real)
    guide = Guide(index, max_tokens=50)
    frame = '{"number": '
    spelled: list[int] = []
    while len(b"".join(real.tokens[one] or b"" for one in spelled)) < len(frame):
        allowed = unpack(guide.mask(), real.size).nonzero()[0].tolist()
        inside = [one for one in allowed if frame.encode().startswith(_text(real, [*spelled, one]))]
        assert len(inside) <= 1
        longer = [one for one in allowed if one not in inside]
        spelled.append(inside[0] if inside else longer[0])
        guide.advance(spelled[-1])
    assert real.encode is not None
    own = list(real.encode(_text(real, spelled).decode()))
    assert own[1 - len(spelled) :] == spelled[1:]  # the first may have a space of its own


def _text(vocabulary: Vocabulary, token_ids: Sequence[int]) -> bytes:
    return b"".join(vocabulary.tokens[one] or b"" for one in token_ids)


@pytest.mark.parametrize("max_tokens", [1, 2, 3])
def test_a_canonical_spelling_that_is_too_long_is_not_asked_for(max_tokens: int) -> None:
    """The tokenizer spells `aaaa` byte by byte, and there is a token for two."""
    tokens = (*BYTES, b"aa", None)
    vocabulary = Vocabulary(tokens, frozenset({257}), lambda text: list(text.encode()))
    index = Index(RegularAutomaton(words(["aaaa", "aaaab"])), vocabulary)
    if max_tokens < 2:
        assert not index.fits(index.automaton.start, max_tokens)
    else:
        assert b"aaaa" in written(index, max_tokens)
