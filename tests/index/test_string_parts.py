"""String parts: what may follow in a name or another string does not depend on what is around it, up to the quote."""

import random
from typing import Any

import numpy as np
import pytest
from brute_force import brute_mask, brute_successors
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from random_patterns import randoms
from walks import read, states_on_walks

from structured.automata import DEAD, RegularAutomaton, StringParts, StringRun
from structured.index.index import Index
from structured.index.masks import unpack
from structured.json_schema.document.location import Compilation, Reading
from structured.json_schema.schema_compiler import compiled
from structured.json_schema.whitespace import read_whitespace
from structured.regex import Pattern
from structured.vocabulary import Vocabulary

NAMES = ("a", "ab", "b", 'b"', "aé", "\\")
REGEXES = ("^a", "b$", "^[ab]{1,3}$", "é", "^(a|ab)_[0-9]+")
VALUES: tuple[Any, ...] = (
    {"type": "null"},
    {"enum": ["a", "ab", 1]},
    {"type": "string", "pattern": "^a[ab]*$"},
    {"type": "string", "pattern": "^[ab]+é?$", "maxLength": 3},
    {"type": "string", "pattern": "^(?:[ab]+é){0,9}b*$"},
    {"type": "string", "pattern": "^(?:a?b){3,12}$", "maxLength": 20},
    {"type": "string", "format": "date"},
    {"anyOf": [{"type": "string", "maxLength": 2}, {"enum": ["abba"]}]},
)


def objects(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Return schemas of objects with listed properties and others that are told apart by their names."""
    return st.fixed_dictionaries(
        {
            "type": st.just("object"),
            "properties": st.dictionaries(st.sampled_from(NAMES), values, max_size=3),
            "patternProperties": st.dictionaries(st.sampled_from(REGEXES), values, max_size=2),
            "additionalProperties": st.one_of(st.just(False), values),
        }
    )


SCHEMAS = objects(st.recursive(st.sampled_from(VALUES), objects, max_leaves=3))


def pattern_of(schema: Any) -> Pattern:
    """Return the pattern of a schema whose properties may come in any order."""
    return compiled(Compilation(schema, read_whitespace("any"), Reading.SPECIFICATION, key_order="any"))


@pytest.mark.thorough
@settings(max_examples=examples(60))
@given(SCHEMAS, randoms())
def test_masks_in_names_equal_brute_force(vocabulary: Vocabulary, schema: Any, rng: random.Random) -> None:
    """And no token leads farther from the end than the walks say, which budgets rely on."""
    index = Index(RegularAutomaton(pattern_of(schema)), vocabulary)
    for state in states_on_walks(index, rng):
        successors = brute_successors(index, state)
        mask = unpack(index.mask(state), vocabulary.size)
        assert (mask == brute_mask(index, state, successors != DEAD)).all()
        distances = index.automaton.distances[successors[successors != DEAD]]
        assert index._sufficient_tokens[state] >= distances.max(initial=0)


CLOSED: dict[str, Any] = {
    "type": "object",
    "properties": {"title": {"type": "null"}, "total": {"type": "null"}},
    "patternProperties": {"^ti_[a-z]*$": {"type": "null"}},
    "additionalProperties": False,
}
NESTED = {**CLOSED, "properties": {**CLOSED["properties"], "inner": CLOSED}}


def test_the_broad_part_of_a_name_is_the_same_wherever_it_stands(vocabulary: Vocabulary) -> None:
    """Whatever was written before, and how deep: most of the vocabulary is walked once for all of them."""
    automaton = RegularAutomaton(pattern_of(NESTED))
    texts = ('{"ti', '{"total":null,"ti', '{"inner":{"total":null,"ti', '{"ti_x":null,"inner":{"ti')
    states = [read(automaton, text.encode()) for text in texts]
    parts = [automaton.string_run(state, longest=8, other_bytes=8) for state in states]
    assert len(set(states)) == len(texts)
    assert all(isinstance(one, StringParts) for one in parts)
    assert len({one.broad_state for one in parts if isinstance(one, StringParts)}) == 2  # outside, no name is "inner"
    index = Index(automaton, vocabulary)
    for state in states:
        assert np.array_equal(
            unpack(index.mask(state), vocabulary.size),
            brute_mask(index, state, brute_successors(index, state) != DEAD),
        )
    assert len(index._walks._broad_masks) == 2


@pytest.mark.parametrize("text", ["", "{", '{"total"', '{"total":', '{"total":nu', "{ "])
def test_outside_of_strings_there_are_no_parts(text: str) -> None:
    """What may follow there depends on what is around it."""
    automaton = RegularAutomaton(pattern_of(CLOSED))
    assert automaton.string_run(read(automaton, text.encode()), longest=8, other_bytes=8) is None


def test_any_other_name_is_a_string_run() -> None:
    """A name that begins like those of a regular expression may go on with any characters, if others are allowed."""
    automaton = RegularAutomaton(pattern_of({**CLOSED, "additionalProperties": {"type": "null"}}))
    for text in ('{"', '{"ti', '{"title', '{"ti_', '{"ti_a'):
        run = automaton.string_run(read(automaton, text.encode()), longest=8, other_bytes=8)
        assert isinstance(run, StringRun)
        assert run.max_characters == 8


OPEN = {**CLOSED, "patternProperties": {}, "additionalProperties": {"type": "null"}}


def test_names_unlike_others_are_any_strings_up_to_the_quote(vocabulary: Vocabulary) -> None:
    """What the tokens without a quote may do there is walked once for an object, whatever was written before."""
    automaton = RegularAutomaton(pattern_of({**OPEN, "properties": {**OPEN["properties"], "inner": OPEN}}))
    texts = ('{"', '{"ti', '{"total', '{"total":null,"ti', '{"inner":{"', '{"x":null,"inner":{"ti')
    states = [read(automaton, text.encode()) for text in texts]
    runs = [automaton.string_run(state, longest=8, other_bytes=8) for state in states]
    assert len(set(states)) == len(texts)
    assert all(
        isinstance(run, StringRun) and run.is_ended_by_quote_only and not run.is_equivalent_state_fixed for run in runs
    )
    assert len({run.state_in_string for run in runs if isinstance(run, StringRun)} - {DEAD}) == 2  # outside, and inside
    index = Index(automaton, vocabulary)
    for state in states:
        allowed = brute_successors(index, state) != DEAD
        assert (unpack(index.mask(state), vocabulary.size) == brute_mask(index, state, allowed)).all()
    assert len(index._walks._masks_without_quote) == 2


def test_names_with_escapes_are_walked_as_they_are() -> None:
    """A listed name may be spelled in a way that other names are not."""
    automaton = RegularAutomaton(pattern_of({**OPEN, "properties": {"\\": {"type": "null"}}}))
    run = automaton.string_run(read(automaton, b'{"'), longest=8, other_bytes=8)
    assert isinstance(run, StringRun)
    assert run.state_in_string == DEAD


def test_counts_that_a_token_cannot_exhaust_do_not_matter(vocabulary: Vocabulary) -> None:
    """Far from the most words, states that differ in their number allow the same; near it, each is its own."""
    automaton = RegularAutomaton(pattern_of({"type": "string", "pattern": r"^(?:\S+\s){0,99}\S+$"}))
    states = [read(automaton, b'"' + b"a " * words) for words in range(100)]
    parts = [automaton.string_run(state, longest=8, other_bytes=8) for state in states]
    broad = [part.broad_state for part in parts if isinstance(part, StringParts)]
    assert len(set(broad)) == len(broad) == 100
    assert len({automaton.without_counters(state, 8) for state in broad[1:93]}) == 1
    assert len({automaton.without_counters(state, 8) for state in broad[93:]}) == 7
    distances = automaton.distances
    assert all(distances[automaton.without_counters(state, 8)] == distances[state] for state in broad)
    index = Index(automaton, vocabulary)
    for state in states[-8:]:
        allowed = brute_successors(index, state) != DEAD
        assert (unpack(index.mask(state), vocabulary.size) == brute_mask(index, state, allowed)).all()
