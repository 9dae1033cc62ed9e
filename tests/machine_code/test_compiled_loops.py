"""Compiled loops: whatever the language, they give what the Python that they were translated from gives."""

from typing import Any

import engine_answers
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from json_schemas import ODD_NAMES, chosen_schemas, combined_objects, documents, ruled_objects
from python_loops import as_python, needs_compiled
from random_grammars import grammars
from random_patterns import patterns

from structured.regex import Pattern

pytestmark = [pytest.mark.thorough, needs_compiled]

SEEDS = st.integers(0, 2**16)
SCHEMAS = st.one_of(
    chosen_schemas(),
    ruled_objects(),
    combined_objects(),
    documents(ODD_NAMES, with_rarer=True, max_leaves=12),
)
TEXTS = st.lists(st.sampled_from(["a", "b", "ab", "ba", " ", "\n", "é", '"', "\\", "7", ".5"]), max_size=12).map(
    "".join
)


def test_the_second_library_runs_as_python() -> None:
    """Else there would be nothing to compare with."""
    assert [engine_answers.is_compiled(), as_python(engine_answers.is_compiled)] == [True, False]


@settings(max_examples=examples(60))
@given(patterns(), SEEDS)
def test_patterns(pattern: Pattern, seed: int) -> None:
    """The same states in the same order, and the same masks, distances, forced bytes and shortest completions."""
    assert engine_answers.of_pattern(pattern, seed) == as_python(engine_answers.of_pattern, pattern, seed)


@settings(max_examples=examples(60))
@given(SCHEMAS, SEEDS)
def test_schemas(schema: Any, seed: int) -> None:
    """The same of JSON Schemas, those with items that must differ among them."""
    assert engine_answers.of_schema(schema, seed) == as_python(engine_answers.of_schema, schema, seed)


@settings(max_examples=examples(30))
@given(TEXTS, SEEDS)
def test_quotations(document: str, seed: int) -> None:
    """The same of texts that a document has."""
    assert engine_answers.of_quotations(document, seed) == as_python(engine_answers.of_quotations, document, seed)


@settings(max_examples=examples(30))
@given(grammars(), SEEDS)
def test_grammars(grammar: str, seed: int) -> None:
    """The same of grammars."""
    assert engine_answers.of_grammar(grammar, seed) == as_python(engine_answers.of_grammar, grammar, seed)
