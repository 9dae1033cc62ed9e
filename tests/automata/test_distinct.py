"""Items that differ: the automaton reads every sequence of different items, and always knows how one can end."""

import itertools
import random
from typing import Any

import numpy as np
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from random_patterns import randoms
from walks import accepted, random_text, read

from structured import Grammar, Regex
from structured.automata import DEAD, RegularAutomaton
from structured.automata.byte_automaton import ROW_COMPLETE
from structured.automata.combination import InSequence, OneOf, combined
from structured.automata.product import product
from structured.errors import PatternError
from structured.json_schema.strings.strings import inside_json_string
from structured.output_types.answer_sizes import most_bytes
from structured.regex import Distinct, Pattern, alternation, chars, concat, literal, repeat, without_bytes, words

TEXTS = st.lists(st.text("ab", min_size=1, max_size=3), min_size=3, max_size=7, unique=True)


def among(texts: list[str], least: int, most: int | None) -> Pattern:
    """Return bracketed sequences of some of the texts, no two the same, `,` between them."""
    lengths = tuple(sorted(map(len, texts)))[:least]
    return concat(
        literal("["), Distinct(words(texts), literal(","), least, most, lengths, is_inexhaustible=False), literal("]")
    )


@settings(max_examples=examples(100))
@given(TEXTS, st.integers(1, 3), st.sampled_from([None, 3, 4]))
def test_accepts_the_sequences_of_different_items(texts: list[str], least: int, most: int | None) -> None:
    """All of them and no others, however the texts begin with each other."""
    automaton = RegularAutomaton(among(texts, least, most))
    for count in range(5):
        for items in itertools.product(texts[:4], repeat=count):
            is_right = least <= count <= (most or count) and len({*items}) == count
            assert accepted(automaton, f"[{','.join(items)}]".encode()) == is_right


@settings(max_examples=examples(100))
@given(TEXTS, st.integers(1, 3), st.sampled_from([None, 3, 4]), randoms())
def test_every_state_has_a_shorter_way_to_the_end(
    texts: list[str], least: int, most: int | None, rng: random.Random
) -> None:
    """An item that could only be one of those written is never begun; where one is enough, the distance is exact."""
    automaton = RegularAutomaton(among(texts, least, most))
    state, written = automaton.start, ""
    while not automaton.accepts(state):
        automaton.expand(state)
        after = {
            byte: int(automaton.table[state, byte])
            for byte in range(ROW_COMPLETE)
            if automaton.table[state, byte] != DEAD
        }
        nearest = min(int(automaton.distances[one]) for one in after.values())
        assert nearest < automaton.distances[state]
        assert least > 1 or nearest == automaton.distances[state] - 1
        byte = rng.choice(list(after))
        state, written = after[byte], written + chr(byte)
    items = written[1:-1].split(",")
    assert least <= len(items) <= (most or len(items))
    assert len({*items}) == len(items)
    assert {*items} <= {*texts}


OPEN = repeat(alternation(chars("abc"), words(["é", "ü"])), 1, None)


@settings(max_examples=examples(30))
@given(randoms())
def test_random_texts_of_open_items_differ(rng: random.Random) -> None:
    """Also where some of them go on after others have ended, as numbers do."""
    pattern = concat(Distinct(OPEN, literal("|"), 1, None, (), is_inexhaustible=True), literal("."))
    text = random_text(RegularAutomaton(pattern), rng)
    items = text[:-1].split("|")
    assert len({*items}) == len(items)


def test_one_set_of_items_is_one_state() -> None:
    """Whatever their order was."""
    automaton = RegularAutomaton(among(["a", "ab", "b", "c"], 1, None))
    states = {read(automaton, f"[{','.join(items)}".encode()) for items in itertools.permutations(["a", "ab", "c"])}
    ended = {automaton.step(state, ord(",")) for state in states}
    assert len(ended) == 1
    assert DEAD not in ended


def test_items_inside_of_items_are_told_apart() -> None:
    """The state of an item is one of the same machine, and so items may consist of such again."""
    inner = among(["a", "b"], 1, None)
    automaton = RegularAutomaton(
        concat(Distinct(inner, literal(";"), 1, None, (), is_inexhaustible=False), literal("."))
    )
    for text, is_right in (("[a];[b].", True), ("[a];[a].", False), ("[a,b];[b,a];[a].", True), ("[a,a].", False)):
        assert accepted(automaton, text.encode()) == is_right
    every = b"[a];[b];[a,b];[b,a]"
    assert np.flatnonzero([automaton.step(read(automaton, every), byte) != DEAD for byte in range(256)]).tolist() == [
        ord(".")
    ]


def test_what_a_pattern_with_different_items_can_be_used_for() -> None:
    """The length of its longest text is known, it is printed by a name, and what cannot be said of it is refused."""
    pattern = among(["a", "b", "abc"], 2, 2)
    assert most_bytes(pattern) == 10
    assert str(pattern) == r"\[(?&2 to 2 different a|b|abc)\]"
    assert without_bytes(pattern, frozenset(b"x")) is pattern
    with pytest.raises(PatternError, match="may be empty"):
        RegularAutomaton(Distinct(repeat(chars("a"), 0, 2), literal(","), 1, None, (), is_inexhaustible=False))
    with pytest.raises(PatternError, match="some of their bytes cannot be written"):
        without_bytes(pattern, frozenset(b"c"))
    with pytest.raises(PatternError, match="in JSON inside a string"):
        inside_json_string(pattern)
    only_a = without_bytes(among(["a", "b"], 1, None), frozenset(b"b"))
    assert only_a is not None
    assert [accepted(RegularAutomaton(only_a), text) for text in (b"[a]", b"[a,a]", b"[b]")] == [True, False, False]


@pytest.mark.parametrize(
    "make",
    [
        lambda items: product([items, RegularAutomaton(Regex(".{0,30}").pattern)]),
        lambda items: combined(InSequence((items, Grammar('start: "(" start ")" | "x"').automaton()))),
        lambda items: combined(OneOf((Grammar('start: "(" start ")" | "x"').automaton(), items))),
    ],
)
def test_unique_items_are_refused_in_combinations_that_would_list_its_texts(make: Any) -> None:
    """They had 200,000 states in one mask; a sequence of patterns alone is a pattern, and may have such items."""
    items = RegularAutomaton(among(["x", "xy", "y"], 1, None))
    with pytest.raises(PatternError, match="Items that must differ"):
        make(items)
    alone = combined(InSequence((items, RegularAutomaton(Regex(" x+").pattern))))
    assert accepted(alone, b"[x,xy] xx")
    assert not accepted(alone, b"[x,x] xx")
