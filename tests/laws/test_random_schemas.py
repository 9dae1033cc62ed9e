"""Random JSON Schemas: whatever a model writes, a validator allows, whether or not that asserts formats."""

import random
from typing import Any

import pytest
from doubles import ByteTokenizer, random_logits
from effort import examples
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from json_schemas import ODD_NAMES, chosen_schemas, combined_objects, documents, in_python, ruled_objects
from jsonschema import Draft202012Validator
from walks import write

from structured import JsonSchema, extract
from structured.decoding.generate import compile_type
from structured.errors import BudgetError, SchemaError
from structured.index.guide import Guide
from structured.models import FunctionModel
from structured.output_types.json_output import JsonLayout
from structured.output_types.output_type import OutputType
from structured.output_types.resolve import resolve_type
from structured.vocabulary import Vocabulary

pytestmark = [
    pytest.mark.filterwarnings("ignore::structured.errors.BudgetWarning"),
    pytest.mark.filterwarnings("ignore::structured.errors.RepetitionWarning"),
]

TOKENS = ByteTokenizer()
WIDTH = len(TOKENS.tokens)
LONG = 120
"""Tokens of an answer, and of the least budget: what needs more is left out."""

SCHEMAS = st.one_of(
    chosen_schemas(),
    ruled_objects(),
    combined_objects(),
    documents(),
    documents(ODD_NAMES, with_rarer=True, max_leaves=12),
)


@st.composite
def output_types(draw: st.DrawFn) -> JsonSchema:
    """Return random schemas, with their options."""
    return JsonSchema(draw(SCHEMAS), key_order=draw(st.sampled_from(["schema", "any"])))


LAYOUTS = st.builds(
    JsonLayout, st.sampled_from(["compact", "spaced", "any"]), st.sampled_from(["written", "omittable", "schema"])
)


def compiled(schema: JsonSchema, layout: JsonLayout) -> OutputType[Any] | None:
    """Return the output type of a schema; None if it is refused."""
    output_type = resolve_type(schema, layout=layout)
    try:
        output_type.check()
    except SchemaError:
        return None
    return output_type


def is_valid(judge: Draft202012Validator, value: Any) -> bool:
    try:
        return bool(judge.is_valid(value))
    except RecursionError:  # a schema that is its own branch says nothing
        assume(False)
        raise


def assert_valid(schema: JsonSchema, value: Any) -> None:
    """Both kinds of validators allow a value."""
    judged = in_python(schema.schema)
    for checker in (Draft202012Validator.FORMAT_CHECKER, None):
        assert is_valid(Draft202012Validator(judged, format_checker=checker), value), value


def check_answers(schema: JsonSchema, layout: JsonLayout, seed: int, vocabulary: Vocabulary) -> bool:
    """Let models write answers; tell whether the schema is supported."""
    output_type = compiled(schema, layout)
    if output_type is None:
        return False
    try:
        index = compile_type(output_type, vocabulary)
        for eager in (False, True):
            text = write(Guide(index, max_tokens=LONG), random.Random(seed), eager=eager).decode()
            assert_valid(schema, output_type.parse(text))
        model = FunctionModel(random_logits(WIDTH, scale=2.0, seed=seed), TOKENS)
        options: dict[str, Any] = {
            "layout": layout,
            "max_tokens": LONG,
        }
        assert_valid(schema, extract(schema, "text", model=model, retries=0, **options))
    except BudgetError:  # the shortest answer is longer
        return True
    return True


RANDOM = settings(deadline=None, suppress_health_check=list(HealthCheck))


@pytest.mark.thorough
@settings(RANDOM, max_examples=examples(80))
@given(schema=output_types(), layout=LAYOUTS, seed=st.integers(0, 2**16))
def test_what_is_written_is_valid(vocabulary: Vocabulary, schema: JsonSchema, layout: JsonLayout, seed: int) -> None:
    """Tokens are taken at random, those of an end last, and by a model with random logits that may not try again."""
    check_answers(schema, layout, seed, vocabulary)


@pytest.mark.slow
@settings(RANDOM, max_examples=examples(20_000))
@given(schema=output_types(), layout=LAYOUTS, seed=st.integers(0, 2**16))
def test_what_is_written_is_valid_for_ten_minutes(
    vocabulary: Vocabulary, schema: JsonSchema, layout: JsonLayout, seed: int
) -> None:
    """The same with other schemas each time."""
    check_answers(schema, layout, seed, vocabulary)
