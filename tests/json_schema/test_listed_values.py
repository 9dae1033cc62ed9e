"""Types and schemas that list very many values: what they cost, what the prompt shows, and what is enforced."""

import json
import time
from enum import Enum
from typing import Any, Literal

import pytest
from doubles import ByteTokenizer
from hypothesis import given
from hypothesis import strategies as st
from rpds import HashTrieMap
from walks import accepted

from structured import JsonSchema, inspect_type
from structured.automata import RegularAutomaton
from structured.decoding.generate import compile_type
from structured.errors import SchemaError
from structured.index.guide import Guide
from structured.json_schema.document.location import Reading, Subschema
from structured.json_schema.logic import validity
from structured.json_schema.logic.validity import allows
from structured.json_schema.schema_compiler import compiled, schema_to_pattern
from structured.output_types.described_types import DescribedType
from structured.output_types.description import MAX_LISTED_CHARACTERS
from structured.output_types.json_output import JsonLayout
from structured.output_types.resolve import resolve_type
from structured.vocabulary import Vocabulary

MANY = 20_000
SECONDS = 6.0
"""Of the processor: some 0.5 where the cost grows with the number of values, minutes where it is its square."""

VALUES = [f"value {number:06}" for number in range(MANY)]

LISTINGS: dict[str, Any] = {
    "Literal": Literal[tuple(VALUES)],
    "Literal of numbers": Literal[tuple(range(MANY))],
    "Enum": Enum("Listed", {f"M{number}": value for number, value in enumerate(VALUES)}),
    "keys": dict[Literal[tuple(VALUES)], int],
    "enum": JsonSchema({"enum": VALUES}),
    "enum with a rule": JsonSchema({"enum": VALUES, "minLength": 2}),
    "enum with another": JsonSchema({"enum": VALUES, "allOf": [{"enum": VALUES[::-1]}]}),
    "enum without others": JsonSchema({"enum": VALUES, "not": {"enum": VALUES[1:]}}),
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", LISTINGS)
def test_many_values_cost_as_much_as_they_are(name: str) -> None:
    """From the type to the first mask, with the report, and to the value of an answer."""
    vocabulary = Vocabulary.from_tokenizer(ByteTokenizer())
    Guide(compile_type(resolve_type(bool), vocabulary), max_tokens=9).mask()  # compiles the loops
    started = time.process_time()
    output_type = resolve_type(LISTINGS[name])
    Guide(compile_type(output_type, vocabulary), max_tokens=99).mask()
    inspect_type(LISTINGS[name])
    value = next(iter(VALUES))
    answer = {value: 1} if name == "keys" else 0 if "numbers" in name else value
    output_type.parse(json.dumps(answer))
    assert time.process_time() - started < SECONDS


@pytest.mark.parametrize("count", [1, 50, MANY])
def test_a_sketch_shows_all_values_up_to_a_limit_and_then_how_many_more(count: int) -> None:
    sketch = DescribedType("Type", {"enum": VALUES[:count]}).describe().text
    shown, _, more = sketch.partition(" | ... (")
    values = [json.loads(value) for value in shown.split(" | ")]
    assert values == VALUES[: len(values)]
    assert len(sketch) < MAX_LISTED_CHARACTERS + 50
    assert (more == "") == (len(values) == count)
    assert not more or more == f"{count - len(values):,} more)"


def test_values_that_the_sketch_does_not_show_are_enforced() -> None:
    automaton = RegularAutomaton(compiled(resolve_type(LISTINGS["Literal"]).compilation()))
    assert accepted(automaton, json.dumps(VALUES[-1]).encode())
    assert not accepted(automaton, b'"another"')


PLAIN = st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from([0.0, 1.0, -1.0, 0.5, "", "1", "text"])
JSON_VALUES = st.recursive(
    PLAIN, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2)
)


@pytest.mark.thorough
@given(listed=st.lists(JSON_VALUES, min_size=1, max_size=6), value=JSON_VALUES)
def test_a_listed_value_is_found_as_the_specification_compares(listed: list[Any], value: Any) -> None:
    """`1` is `1.0` and not `true`, at any depth, also where the list is denied (core §4.2.2)."""
    from jsonschema import Draft202012Validator

    for schema in ({"enum": listed}, {"not": {"enum": listed}}, {"items": {"enum": listed}}):
        root = resolve_type(JsonSchema(schema)).root
        is_allowed = allows(Subschema(root.schema, root.location), value, asserts_formats=True)
        assert is_allowed == Draft202012Validator(schema).is_valid(value)


@pytest.mark.thorough
@given(branches=st.lists(st.lists(JSON_VALUES, min_size=1, max_size=3), min_size=2, max_size=4), value=JSON_VALUES)
def test_exactly_one_of_the_branches_lists_what_is_written(branches: list[list[Any]], value: Any) -> None:
    """Branches that share a value deny it, and others are told apart without a look at each pair."""
    from jsonschema import Draft202012Validator

    schema = {"oneOf": [{"const": listed[0]} if len(listed) == 1 else {"enum": listed} for listed in branches]}
    validator = Draft202012Validator(schema)
    known = [one for listed in branches for one in listed]
    valid = [one for one in known if validator.is_valid(one)]
    if not valid:
        return
    automaton = RegularAutomaton(compiled(resolve_type(JsonSchema(schema), layout=JsonLayout("compact")).compilation()))
    for one in (*known, value):
        text = json.dumps(one, separators=(",", ":"), ensure_ascii=False).encode()
        assert not accepted(automaton, text) or validator.is_valid(one)
    assert any(accepted(automaton, json.dumps(one, separators=(",", ":")).encode()) for one in valid)


RULES = {"type": ["array", "object"], "not": {"required": ["b", "d"]}, "dependentRequired": {"a": ["b"], "c": ["d"]}}
"""Two choices, each between objects that lack a property and objects that have one."""


@pytest.mark.parametrize(
    "listing",
    [
        {"oneOf": [{"enum": [{}, {"a": 1}, {"d": 1}]}, {"type": "integer"}]},
        {"anyOf": [{"enum": [{"a": [], "c": 1}, {"d": 1}, {}]}, {"type": "null"}]},
        {"not": {"not": {"enum": [{"d": 1}, {}, 2]}}},
    ],
)
def test_a_listed_value_that_is_left_of_a_choice_is_all_that_is_written(listing: dict[str, Any]) -> None:
    """Beside rules about properties, which what is listed has to keep, and which allow no others."""
    for parts in ([listing, RULES], [RULES, listing]):
        automaton = RegularAutomaton(
            schema_to_pattern({"allOf": parts, "type": "object"}, reading=Reading.SPECIFICATION)
        )
        assert [text for text in ("{}", '{"d": 1}') if not accepted(automaton, text.encode())] == []
        others = ('{"a": 1}', '{"a": [], "c": 1}', '{"d": 2}', '{"e": 1}', "2")
        assert [text for text in others if accepted(automaton, text.encode())] == []


class _Unequal:
    """A key that raises where it is compared, as a string does once the stack is used up."""

    def __hash__(self) -> int:
        return 1

    def __eq__(self, other: object) -> bool:
        raise RecursionError


def test_a_panic_of_the_maps_that_validators_keep_is_a_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Panics of Rust are no exceptions of Python: `except Exception` lets them pass."""

    class Panicking:
        def is_valid(self, _value: object) -> bool:
            return HashTrieMap({_Unequal(): 1})[_Unequal()] == 1

    monkeypatch.setattr(validity, "_validator", lambda *_: Panicking())
    with pytest.raises(SchemaError, match="malformed"):
        schema_to_pattern({"enum": ["a", 1], "pattern": "^a$"})


def test_a_name_that_two_branches_allow_is_not_written() -> None:
    """Neither listed names that the expression of the other branch finds, nor any of them in that other branch."""
    branches = [{"enum": ["ab", "a-b"], "type": "string"}, {"pattern": "^[a-z]+$", "type": "string"}]
    schema = {"type": "object", "propertyNames": {"oneOf": branches}, "additionalProperties": {"type": "null"}}
    automaton = RegularAutomaton(compiled(resolve_type(JsonSchema(schema)).compilation()))
    written = [name for name in ("ab", "a-b", "b", "-") if accepted(automaton, json.dumps({name: None}).encode())]
    assert written == ["a-b", "b"]
