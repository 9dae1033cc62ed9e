"""The lengths of a pattern's texts: the longest as it is computed, and the shortest that the automaton knows."""

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel
from strategies import WHITESPACES, random_text, typed

from structured.automata import RegularAutomaton
from structured.json_schema.schema_compiler import schema_to_pattern
from structured.output_types.answer_sizes import most_bytes
from structured.output_types.resolve import resolve_type
from structured.regex import (
    Iteration,
    ObjectMembers,
    Reference,
    Unlike,
    alternation,
    chars,
    concat,
    literal,
    optional,
    repeat,
    words,
)


class Node(BaseModel):
    name: str
    children: "list[Node]"


def lengths_of(pattern):
    automaton = RegularAutomaton(pattern)
    return automaton.distances[automaton.start], most_bytes(pattern)


SEVERAL = ObjectMembers(((literal('"a"'), False), (literal('"bcd"'), True), (literal('"e"'), False)), literal(", "))
OPTIONAL = ObjectMembers(((literal('"abc"'), False), (literal('"d"'), False)), literal(","))


@pytest.mark.parametrize(
    ("pattern", "lengths"),
    [
        (literal(""), (0, 0)),
        (literal("né"), (3, 3)),
        (words(["a", "€", "abcd"]), (1, 4)),
        (chars("aé🙂"), (1, 4)),
        (concat(chars("aé"), literal("bc")), (3, 4)),
        (alternation(chars("aé"), literal("bcd")), (1, 3)),
        (optional(literal("abc")), (0, 3)),
        (repeat(literal("ab"), 2, 5), (4, 10)),
        (repeat(literal("ab"), 2, None), (4, None)),
        (Iteration(optional(literal("ab")), 3, 10**9), (0, 2 * 10**9)),
        (concat(repeat(literal("a"), 1, None), literal("b")), (2, None)),
        (Unlike(()), (0, None)),
        (Unlike(("",)), (1, None)),
        (SEVERAL, (5, 15)),
        (OPTIONAL, (3, 9)),
        (ObjectMembers((), literal(","), literal('"x"')), (3, None)),
    ],
    ids=str,
)
def test_lengths_are_counted_in_bytes(pattern, lengths):
    """By hand."""
    assert lengths_of(pattern) == lengths


def test_shared_nodes_are_looked_at_once():
    """A tree that unrolls to 2 ** 60 nodes."""
    pattern = literal("a")
    for _ in range(60):
        pattern = repeat(concat(pattern, optional(pattern)), 1, 1)
    assert most_bytes(pattern) == 2**60


def test_what_contains_itself_has_no_longest_text():
    """A definition that is only used twice has one."""
    definitions = {"pair": literal("ab")}
    definitions["nest"] = alternation(concat(literal("("), Reference("nest", definitions), literal(")")), literal("ab"))
    assert lengths_of(concat(literal("x"), definitions["nest"])) == (3, None)
    assert lengths_of(repeat(Reference("pair", definitions), 1, 2)) == (2, 4)
    assert lengths_of(schema_to_pattern(resolve_type(Node).schema)) == (len('{"name": "", "children": []}'), None)


@pytest.mark.thorough
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(drawn=typed(), whitespace=st.sampled_from(WHITESPACES), seed=st.integers(0, 2**32))
def test_every_text_is_as_long_as_lengths_allow(drawn, whitespace, seed):
    """Of any type."""
    pattern = schema_to_pattern(resolve_type(drawn.type).schema, whitespace)
    shortest, longest = lengths_of(pattern)
    source = random.Random(seed)
    for _ in range(20):
        size = len(random_text(pattern, source).encode())
        assert shortest <= size
        assert longest is None or size <= longest
