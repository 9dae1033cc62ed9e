"""Formats under a negation: what is written is valid to validators that assert formats and to those that do not."""

import random
from typing import Any

import pytest
from doubles import LOGITS_FUNCTIONS, ByteTokenizer
from jsonschema import Draft202012Validator
from random_json import automaton_of, random_json
from walks import accepted

from structured import JsonLayout, JsonSchema, extract
from structured.automata import RegularAutomaton
from structured.errors import SchemaError, UnsatisfiableError
from structured.json_schema.schema_compiler import compiled
from structured.models import FunctionModel
from structured.output_types.resolve import resolve_type

MODEL = FunctionModel(LOGITS_FUNCTIONS["uniform"], ByteTokenizer())
VALIDATORS = {"asserting": Draft202012Validator.FORMAT_CHECKER, "annotating": None}

UUID, DATE, IPV4 = ({"type": "string", "format": name} for name in ("uuid", "date", "ipv4"))
SHORT = {"type": "string", "maxLength": 3}

DEPENDENT: dict[str, Any] = {
    "not": {"type": "string", "not": UUID},
    "not of a branch": {"type": "string", "not": {"anyOf": [UUID, SHORT]}},
    "not of a property": {"required": ["a"], "properties": {"a": True}, "not": {"properties": {"a": DATE}}},
    "not of a name": {"type": "object", "not": {"propertyNames": DATE}},
    "if": {"type": "string", "if": DATE, "then": {"maxLength": 10}, "else": SHORT},
    "if of a property": {"type": "object", "if": {"properties": {"a": DATE}}, "else": {"required": ["b"]}},
    "oneOf": {"oneOf": [DATE, IPV4]},
    "oneOf with another": {"oneOf": [DATE, IPV4, {"type": "integer"}]},
    "oneOf of a type": {"oneOf": [DATE, {"type": "string"}]},
    "at most one item": {"type": "array", "contains": DATE, "maxContains": 1},
}
"""Schemas by which a text would have to be of no format."""

INDEPENDENT: dict[str, Any] = {
    "alone": {"type": "object", "properties": {"a": DATE}, "required": ["a"]},
    "not of another type": {"type": ["integer", "null"], "not": UUID},
    "not of not": {"type": "string", "not": {"not": DATE}},
    "if of what tells": {
        "required": ["kind", "a"],
        "properties": {"kind": {"enum": ["day", "other"]}, "a": {"type": "string", "maxLength": 10}},
        "if": {"properties": {"kind": {"const": "day"}}},
        "then": {"properties": {"a": DATE}},
    },
    "oneOf of types": {"oneOf": [DATE, {"type": "integer"}]},
    "oneOf of tags": {
        "oneOf": [
            {"type": "object", "required": ["k", "v"], "properties": {"k": {"const": name}, "v": {"format": name}}}
            for name in ("date", "ipv4")
        ]
    },
    "anyOf": {"anyOf": [DATE, IPV4]},
    "some item": {
        "type": "array",
        "contains": DATE,
        "items": {"type": ["string", "null"], "maxLength": 10},
        "maxItems": 2,
    },
    "listed": {
        "enum": ["2020-02-02", "abc", 1, [], {"a": "abc"}],
        "not": DATE,
        "anyOf": [{}, {"properties": {"a": DATE}}],
    },
    "listed beside oneOf": {"enum": ["2020-02-02", "1.1.1.1", 1, None], "oneOf": [DATE, IPV4, {"type": "integer"}]},
    "annotation": {"type": "string", "not": {"format": "no-such-format", "maxLength": 2}},
}
"""Schemas by which no text would have to be so, or whose values are told one by one."""


def assert_valid(schema: Any, value: Any) -> None:
    for checker in VALIDATORS.values():
        assert Draft202012Validator(schema, format_checker=checker).is_valid(value), value


@pytest.mark.parametrize("name", DEPENDENT)
def test_a_format_that_would_be_denied_is_refused(name: str) -> None:
    """With its place and three ways out; a validator that does not assert formats takes all texts for such."""
    with pytest.raises(SchemaError) as caught:
        resolve_type(JsonSchema(DEPENDENT[name])).check()
    assert not isinstance(caught.value, UnsatisfiableError)
    assert caught.value.keyword == "format"
    assert caught.value.schema_path != "#"
    assert "assert_formats=True" in str(caught.value)


@pytest.mark.parametrize("name", INDEPENDENT)
def test_what_is_written_is_valid_however_formats_are_read(name: str) -> None:
    """Random texts of the rest, and what is extracted."""
    automaton, source = automaton_of(JsonSchema(INDEPENDENT[name]), optional="schema"), random.Random(0)
    output_type = resolve_type(JsonSchema(INDEPENDENT[name]))
    for _ in range(30):
        assert_valid(INDEPENDENT[name], output_type.parse(random_json(automaton, source).decode()))
    assert_valid(INDEPENDENT[name], extract(JsonSchema(INDEPENDENT[name]), "2020-02-02", model=MODEL, retries=0))


@pytest.mark.parametrize("asserts", [True, False])
@pytest.mark.parametrize("schemas", [DEPENDENT, INDEPENDENT], ids=["dependent", "independent"])
def test_one_kind_of_validators_can_be_chosen(schemas: dict[str, Any], asserts: bool) -> None:
    """Then formats are denied, or are annotations everywhere, and what is written is valid to that kind."""
    for schema in schemas.values():
        chosen, source = JsonSchema(schema, assert_formats=asserts), random.Random(0)
        checker = VALIDATORS["asserting" if asserts else "annotating"]
        try:
            automaton = RegularAutomaton(compiled(chosen.compilation(JsonLayout("compact", "schema"))))
        except UnsatisfiableError:
            assert not asserts
            continue
        for _ in range(30):
            value = resolve_type(chosen).parse(random_json(automaton, source).decode())
            assert Draft202012Validator(schema, format_checker=checker).is_valid(value), value


def test_listed_values_are_told_by_both_readings() -> None:
    schema = {"enum": ["2020-02-02", "abc", 1], "if": DATE, "then": {"minLength": 3}, "else": {"type": "integer"}}
    automaton = automaton_of(JsonSchema(schema))
    assert [text for text in ('"2020-02-02"', '"abc"', "1") if accepted(automaton, text.encode())] == [
        '"2020-02-02"',
        "1",
    ]


def test_an_answer_of_another_is_rejected_if_one_kind_of_validators_rejects_it() -> None:
    """A server may have written it."""
    output_type = resolve_type(JsonSchema({"type": "string", "not": UUID}))
    for text in ('"2ea4b2f5-8d8a-4b57-b25f-3a5be18b1f6c"', '"none"'):
        with pytest.raises(ValueError, match="is allowed by a denied schema"):
            output_type.parse(text)
    assert resolve_type(JsonSchema({"type": "string", "not": UUID}, assert_formats=True)).parse('"none"') == "none"


def test_listed_values_that_only_one_kind_of_validators_allows_name_the_choice() -> None:
    """`x` is no date to validators that assert formats; to others, both are dates."""
    schema = {"enum": ["2024-01-01", "x"], "not": {"format": "date"}}
    with pytest.raises(UnsatisfiableError, match=r"assert formats and others allow; choose with assert_formats"):
        resolve_type(JsonSchema(schema)).check()
    assert accepted(automaton_of(JsonSchema(schema, assert_formats=True)), b'"x"')
