"""Vocabularies that cannot spell every text: masks, budgets and refusals against trying all tokens."""

import random
from datetime import date
from decimal import Decimal
from typing import Annotated, Any, Literal

import pytest
from doubles import real_vocabulary
from hypothesis import assume, event, given
from hypothesis import strategies as st
from pydantic import BaseModel, Field
from random_patterns import randoms, sample
from restricted import MAX_EXPLORED, Tokenwise, bits, missing_bytes, recursive_patterns, small_patterns, vocabularies
from walks import accepted, allowed, write

from structured.automata import DEAD, RegularAutomaton
from structured.decoding.generate import compile_type
from structured.decoding.prompt_tokens import prefixed_index
from structured.decoding.requests import thinking_index
from structured.errors import VocabularyError
from structured.index.guide import Guide
from structured.index.index import Index
from structured.output_types.resolve import resolve_type
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
    event(kind if vocabulary.has_byte_tokens else "not closed")
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
            assert bits(index.mask_for_budget(here, budget)) == brute.allowed(state, budget)
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
            assert min(automaton.distances[pair[0]] for pair in alive) < automaton.distances[here]
        for pair in alive:
            if pair not in pairs and len(pairs) < MAX_EXPLORED:
                pairs.add(pair)
                order.append(pair)


class Person(BaseModel):
    name: str
    born: date | None
    tags: Annotated[list[str], Field(max_length=3)]


class Coded(BaseModel):
    code: Literal["\U00040000", "a", "b\U00080000"] | None


class Node(BaseModel):
    mark: Annotated[str, Field(pattern="^[x\U00050000-\U00060000]*$", max_length=3)]
    inner: "Node | None"


class Unwritable(BaseModel):
    code: Literal["\U00040000", "\U00050000x"]


WRITABLE: dict[str, Any] = {
    "model": Person,
    "some words": Coded,
    "one word": Literal["\U00040000", "b"],
    "escapes": Literal["\x04\x1d", "\x13"],
    "recursive": Node,
    "set of characters": Annotated[str, Field(pattern="^[\U00040000-\U000fffffé]{2,3}$")],
    "excluded": Annotated[str, Field(pattern="^[^a-z\U00090000]+$", max_length=8)],
    "lengths": Annotated[str, Field(min_length=3, max_length=5)],
    "no items": list[Literal["\U00040000"]],
    "no keys": dict[Literal["\U00040000"], int],
    "union": Unwritable | bool,
    "number": Annotated[Decimal, Field(ge=0, max_digits=6, decimal_places=2)],
    "anything": Any,
}


@pytest.mark.thorough
@pytest.mark.parametrize("output_type", WRITABLE.values(), ids=WRITABLE)
def test_types_on_a_real_vocabulary_that_lacks_bytes(output_type: Any) -> None:
    """SmolLM2 lacks 0xF1 and 0xF2, and so the planes from U+40000: all else of a type is written, and validates."""
    vocabulary = real_vocabulary("smollm2")
    known = resolve_type(output_type)
    index = compile_type(known, vocabulary)
    shortest = index.shortest_completion(index.automaton.start)
    for seed in range(6):
        text = write(Guide(index, max_tokens=shortest + 3 * seed), random.Random(seed), limit=1 + shortest + 3 * seed)
        known.parse(text.decode())


@pytest.mark.thorough
def test_what_cannot_be_spelled_is_left_out() -> None:
    """Of listed words, those are left that the vocabulary can spell; where one is left, it is forced."""
    index = compile_type(resolve_type(Literal["\U00040000", "b"]), real_vocabulary("smollm2"))
    assert index.forced_tokens(index.automaton.start) == index.forced.shortest_spelling(b'"b"')


REFUSED: dict[str, tuple[Any, str]] = {
    "word": (Literal["\U00040000"], r"""needs 0xF1\. Allow"""),
    "words": (Unwritable, r"""^Unwritable cannot be written with this tokenizer: each of its texts needs bytes that"""),
    "characters": (Annotated[str, Field(pattern="^[\U00080000-\U00090000]+$")], r"needs 0xF2\. Allow"),
    "items": (Annotated[list[Unwritable], Field(min_length=1)], r"^list\[Unwritable\].* cannot be written"),
}


@pytest.mark.thorough
@pytest.mark.parametrize(("output_type", "message"), REFUSED.values(), ids=REFUSED)
def test_types_that_cannot_be_written_are_refused(output_type: Any, message: str) -> None:
    """A type of which no text can be spelled is refused by its name, with a text and the bytes that are absent."""
    with pytest.raises(VocabularyError, match=message):
        compile_type(resolve_type(output_type), real_vocabulary("smollm2"))


@pytest.mark.thorough
def test_prefixes_and_thinking_without_some_bytes() -> None:
    """What is healed begins with the text taken back; a marker that cannot be spelled is refused by name."""
    vocabulary = real_vocabulary("smollm2")
    index = prefixed_index(compile_type(resolve_type(Coded), vocabulary), b"so: ")
    text = write(Guide(index, max_tokens=40), random.Random(0))
    Coded.model_validate_json(text.removeprefix(b"so: "))
    thinking = thinking_index("</think>", vocabulary)
    assert write(Guide(thinking, max_tokens=9), random.Random(0)).endswith(b"</think>")
    with pytest.raises(VocabularyError, match=r"^The marker '\\x04' of the thinking cannot be written"):
        thinking_index("\x04", vocabulary)
