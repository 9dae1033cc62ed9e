"""States, bytes and masks that do not exist are errors before a loop reads them: in C, nothing else would stop it."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from structured import Grammar, Regex
from structured.automata import DEAD
from structured.index.guide import Guide
from structured.index.index import Index
from structured.output_types.resolve import resolve_type
from structured.vocabulary import Vocabulary

TYPES: dict[str, Any] = {
    "regex": lambda: Regex("(ab|a[0-9]{1,5}){1,9}"),
    "grammar": lambda: Grammar('start: "a" start | /[0-9]+/'),
}
CALLS: dict[str, Callable[[Index, int], object]] = {
    "mask": lambda index, state: index.mask(state),
    "mask for a budget": lambda index, state: index.mask_for_budget(state, 5),
    "step of an index": lambda index, state: index.step(state, ord("a")),
    "step": lambda index, state: index.automaton.step(state, ord("a")),
    "expand": lambda index, state: index.automaton.expand(state),
    "guide": lambda index, state: guide_at(index, state).mask(),
}


def guide_at(index: Index, state: int) -> Guide:
    guide = Guide(index, max_tokens=9)
    guide.state = state
    return guide


@pytest.fixture(params=TYPES)
def index(request: pytest.FixtureRequest, vocabulary: Vocabulary) -> Index:
    automaton = resolve_type(TYPES[request.param]()).automaton(None)
    assert automaton is not None
    return Index(automaton, vocabulary)


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("state", [-2, 100, 10**6, 2**31 + 1, 2**40, -(10**6)])
def test_a_state_that_was_not_made_is_an_error(index: Index, call: str, state: int) -> None:
    """Within the room for states as well as beyond it."""
    with pytest.raises((IndexError, OverflowError, ValueError)):
        CALLS[call](index, state)
    assert index.mask(index.automaton.start).any()


@pytest.mark.parametrize("state", [-2, 10**6, 2**31 + 1, -(10**6)])
def test_nothing_follows_a_state_beyond_the_room(index: Index, state: int) -> None:
    """Nor one before the first."""
    with pytest.raises((IndexError, OverflowError)):
        index.forced_bytes(state)
    with pytest.raises((IndexError, OverflowError)):
        index.shortest_first_tokens(state)


@pytest.mark.parametrize("byte", [-1, -200, 256, 2**64 - 1])
def test_a_number_that_is_no_byte_is_an_error(index: Index, byte: int) -> None:
    """No text has the byte 255, which UTF-8 lacks: that is none."""
    with pytest.raises(IndexError, match=f"no byte {byte}"):
        index.automaton.step(index.automaton.start, byte)
    assert index.automaton.step(index.automaton.start, 255) == DEAD


@pytest.mark.parametrize("words", [0, 1])
def test_a_mask_that_is_too_short_is_an_error(index: Index, words: int) -> None:
    """It would be written behind its end."""
    with pytest.raises(ValueError, match=f"A mask of {words} words is too short"):
        index.automaton.walk(index.vocabulary.trie, index.automaton.start, np.zeros(words, dtype=np.uint32))
