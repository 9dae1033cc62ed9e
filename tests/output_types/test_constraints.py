"""What servers are told of a type: it allows what the mask allows, and answers are checked by the same rules."""

import random
import re
from typing import Any

import pytest
from pydantic import BaseModel, create_model
from pydantic_types import KINDS
from random_json import automaton_of, random_json

from structured import JsonSchema, to_regex
from structured.output_types.remote_constraints import AnswerCheck, JsonConstraint, constraint_of
from structured.output_types.resolve import resolve_type

pytestmark = pytest.mark.filterwarnings("ignore::pydantic.warnings.TypedDictExtraConfigWarning")


def schema_of(output_type: Any) -> Any:
    constraint = constraint_of(resolve_type(output_type))
    assert isinstance(constraint, JsonConstraint)
    return constraint.schema


@pytest.mark.thorough
@pytest.mark.parametrize("name", KINDS)
def test_what_the_mask_allows_is_allowed_by_what_is_sent(name: str) -> None:
    """Random texts of a type pass the schema that a server is sent, and the check of a server's answers."""
    output_type, source = KINDS[name][0], random.Random(name)
    sent = resolve_type(JsonSchema(dict(schema_of(output_type)), assert_formats=False))
    check = AnswerCheck(resolve_type(output_type))
    for whitespace in ("compact", "any"):
        automaton = automaton_of(output_type, whitespace)
        for _ in range(8):
            text = random_json(automaton, source).decode()
            assert check.fault(text) is None, text
            sent.parse(text)


@pytest.mark.parametrize("name", KINDS)
def test_what_is_sent_is_a_schema_of_the_specification(name: str) -> None:
    """It is closed, has no words of this library, and asks for all fields."""
    schema = schema_of(create_model("Model", field=(KINDS[name][0], ...), other=(int | None, None)))
    JsonSchema(dict(schema))
    root = schema["$defs"]["Model"] if "properties" not in schema else schema
    assert root["required"] == ["field", "other"]
    assert root["additionalProperties"] is False


@pytest.mark.parametrize(
    "text", ['{"a": "1"}', '{"a": 1, "b": 2}', "{}", "[]", '{"a": 1} {}', '{"a": NaN}', '{"a": 1.5}']
)
def test_what_pydantic_would_take_beside_the_schema_is_a_fault(text: str) -> None:
    class One(BaseModel):
        a: int

    check = AnswerCheck(resolve_type(One))
    assert check.fault('{ "a":1\n}') is None
    assert check.fault(text) is not None


@pytest.mark.parametrize("number", ["225649001.510e94", "1.50", "1E5", "1e+05", "-0.0"])
def test_a_number_may_be_written_in_any_way_that_a_mask_allows(number: str) -> None:
    """Normalised, `225649001.510e94` has an exponent of three digits, which no mask allows."""
    assert re.fullmatch(to_regex(float), number)
    assert AnswerCheck(resolve_type(float)).fault(number) is None
