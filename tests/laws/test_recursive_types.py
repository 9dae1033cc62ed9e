"""Types that contain themselves: extracted as any other, with masks that are exact at every depth."""

import json
import random
from typing import Any, Literal

import numpy as np
import pytest
from doubles import spell
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Json
from walks import read

from structured import JsonSchema
from structured.automata import DEAD, RegularAutomaton
from structured.errors import PatternError, SchemaError
from structured.index.guide import Guide
from structured.index.index import Index
from structured.index.masks import unpack
from structured.json_schema.schema_compiler import schema_to_pattern
from structured.output_types.described_types import DescribedType
from structured.output_types.regex import to_regex
from structured.output_types.resolve import resolve_type
from structured.regex import Reference, alternation, concat, literal, optional, productive_nodes, repeat
from structured.vocabulary import Vocabulary


class Node(BaseModel):
    """Itself in a list."""

    value: int
    children: "list[Node]"


class Chain(BaseModel):
    """Itself or nothing."""

    next: "Chain | None"


class Expression(BaseModel):
    """Itself twice, beside something else."""

    operator: Literal["+", "*"]
    left: "int | Expression"
    right: "int | Expression"


class Folder(BaseModel):
    """Itself by way of another."""

    files: "list[File]"


class File(BaseModel):
    name: Literal["a", "b"]
    inside: "Folder | None"


class Endless(BaseModel):
    """Itself, always."""

    again: "Endless"


RECURSIVE = (Node, Chain, Expression, Folder, File, list[Node])


def automaton_of(output_type: object, whitespace: str = "spaced") -> RegularAutomaton:
    return RegularAutomaton(schema_to_pattern(resolve_type(output_type).schema, whitespace))


def nested(levels: int) -> object:
    value: object = {"value": 0, "children": []}
    for level in range(levels):
        value = {"value": level, "children": [value, {"value": 7, "children": []}]}
    return value


@pytest.mark.thorough
@pytest.mark.parametrize("whitespace", ["compact", "spaced", "flexible", "any"])
@pytest.mark.parametrize("output_type", RECURSIVE, ids=str)
@given(source=st.randoms(use_true_random=False), spare=st.integers(0, 60))
@settings(max_examples=15)
def test_whatever_legal_tokens_are_taken_the_text_ends_in_time_and_is_valid(
    vocabulary: Vocabulary, output_type: object, whitespace: str, source: random.Random, spare: int
) -> None:
    """As for any other type, however deep the text goes."""
    index = Index(automaton_of(output_type, whitespace), vocabulary)
    limit = index.shortest_completion(index.automaton.start) + spare
    guide, token_ids = Guide(index, max_tokens=limit), []
    while not guide.finished:
        token_ids.append(source.choice(np.flatnonzero(unpack(guide.mask(), vocabulary.size)).tolist()))
        guide.advance(token_ids[-1])
    assert len(token_ids) <= limit + 1
    resolve_type(output_type).parse(spell(vocabulary.tokens, token_ids))


@pytest.mark.thorough
@pytest.mark.parametrize("output_type", RECURSIVE, ids=str)
def test_masks_equal_brute_force_at_every_depth(vocabulary: Vocabulary, output_type: object) -> None:
    """The states along random texts, the deep ones among them."""
    rng = random.Random(0)
    automaton = automaton_of(output_type)
    index = Index(automaton, vocabulary)
    for _ in range(3):
        state = automaton.start
        for _ in range(40):
            allowed = np.array([index.step(state, token_id) != DEAD for token_id in range(vocabulary.size)])
            allowed[list(vocabulary.end_token_ids)] = automaton.accepts(state)
            assert (unpack(index.mask(state), vocabulary.size) == allowed).all()
            if index.is_final(state):
                break
            state = index.step(state, int(rng.choice(np.flatnonzero(allowed).tolist())))
            if state == DEAD:  # an end token
                break


def test_depth_has_no_limit_and_costs_what_is_read() -> None:
    """A text of a hundred levels is accepted, one bracket less or more is not, and states grow with the text."""
    automaton = automaton_of(Node)
    text = json.dumps(nested(100))
    state = read(automaton, text.encode())
    assert state != DEAD
    assert automaton.accepts(state)
    assert not automaton.accepts(read(automaton, text[:-1].encode()))
    assert read(automaton, f"{text}}}".encode()) == DEAD
    assert len(automaton.table) < 20 * len(text)


def test_what_has_to_contain_itself_is_refused() -> None:
    """By name, before anything is generated."""
    with pytest.raises(SchemaError) as caught:
        schema_to_pattern(resolve_type(Endless).schema)
    assert str(caught.value) == (
        "Unsatisfiable: Endless has to contain itself, without end (at #/$defs/Endless, keyword '$ref'). "
        "Let some value be valid."
    )


def test_indented_text_needs_to_know_how_deep_it_is() -> None:
    """No pattern counts the blanks before a line of any depth."""
    with pytest.raises(SchemaError, match="Node contains itself, and indented text needs to know how deep it is"):
        schema_to_pattern(resolve_type(Node).schema, "indented")


@pytest.mark.parametrize(
    ("output_type", "problem"),
    [
        (Any, "A value of any type may hold others, to any depth, which no regular expression can say."),
        (list[Any], "A value of any type may hold others, to any depth, which no regular expression can say."),
        (Json, "The pattern of Json contains itself, and no regular expression can."),
    ],
)
def test_what_has_no_name_is_described(output_type: object, problem: str) -> None:
    """Nobody wrote a definition of it, so there is none to be named."""
    with pytest.raises(SchemaError) as caught:
        to_regex(output_type)
    assert str(caught.value).startswith(problem)


def test_only_the_regular_expression_is_missing() -> None:
    """`to_regex` says so, and names the type."""
    with pytest.raises(SchemaError) as caught:
        to_regex(File)
    assert str(caught.value) == (
        "File contains itself, and no regular expression can (at #/$defs/File). "
        "Extract it as it is: only the regular expression is missing, and nothing else needs it."
    )


def test_the_prompt_shows_such_a_type_by_its_name() -> None:
    """Once, with what the name means after it."""
    assert DescribedType("Type", resolve_type(list[Node]).schema).describe().text == (
        "[Node, ...]\nNode = {  // Itself in a list.\n  value: integer\n  children: [Node, ...]\n}"
    )


def test_any_pattern_may_contain_itself() -> None:
    """Balanced brackets: a reference need not come from a schema."""
    definitions = {}
    balanced = definitions["balanced"] = repeat(
        concat(literal("("), Reference("balanced", definitions), literal(")")), 0, None
    )
    automaton = RegularAutomaton(balanced)
    for text in ("", "()", "(()())()", "(((())))"):
        assert automaton.accepts(read(automaton, text.encode()))
    for text in (")", "(()", "(()))"):
        state = read(automaton, text.encode())
        assert state == DEAD or not automaton.accepts(state)


def test_only_what_can_end_is_productive() -> None:
    """A pattern that always contains itself matches nothing, and no automaton is made of it."""
    definitions = {}
    again = Reference("again", definitions)
    definitions["again"] = concat(literal("a"), again)
    assert id(again) not in productive_nodes(again)
    with pytest.raises(PatternError, match="matches no text"):
        RegularAutomaton(again)
    definitions["again"] = concat(literal("a"), optional(again))
    assert id(again) in productive_nodes(again)
    definitions["again"] = alternation(again, literal("b"))
    assert id(again) in productive_nodes(again)
    assert RegularAutomaton(again).accepts(read(RegularAutomaton(again), b"b"))


@pytest.mark.parametrize(
    ("output_type", "name"),
    [
        (JsonSchema({"properties": {"a": {"$ref": "#"}}, "anyOf": [{"type": "object"}]}), "JsonSchema"),
        (
            JsonSchema({"title": "Tree", "properties": {"a": {"$ref": "#", "allOf": [{"$ref": "#/properties/a"}]}}}),
            "Tree",
        ),
    ],
)
def test_what_contains_itself_is_called_by_its_name(output_type: JsonSchema, name: str) -> None:
    with pytest.raises(SchemaError, match=f"^{name} contains itself"):
        to_regex(output_type)
