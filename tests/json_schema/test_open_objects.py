"""Objects of which some property is asked for, and choices about properties: exact, whatever holds together."""

import itertools
import json
import random
import re
from typing import Any

import pytest
from effort import examples
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from json_schemas import OBJECT_NAMES, OBJECT_REGEXES, VALUES, combined_objects
from jsonschema import Draft202012Validator
from random_patterns import sample
from walks import accepted

from structured import JsonSchema
from structured.automata import RegularAutomaton
from structured.automata.dfa.alternating import PatternLanguage
from structured.automata.dfa.language import smallest_automaton
from structured.automata.dfa.products import Intersection
from structured.errors import SchemaError, UnsatisfiableError
from structured.json_schema.document.equality import with_shared_objects
from structured.json_schema.document.location import Reading
from structured.json_schema.logic.property_names import exclude_each_other
from structured.json_schema.schema_compiler import compiled, schema_to_pattern
from structured.json_schema.strings.formats import COVERED_FORMATS, SPECIFIED_FORMATS
from structured.regex import Pattern
from structured.regex.character_classes import ECMA

MANY = settings(deadline=None, max_examples=examples(150), suppress_health_check=list(HealthCheck))


def pattern_of(schema: Any) -> Pattern:
    return schema_to_pattern(schema, reading=Reading.SPECIFICATION)


def orders(value: Any) -> list[str]:
    """Return the texts of a value with its keys in every order."""
    if not isinstance(value, dict):
        return [json.dumps(value)]
    return [json.dumps(dict(members)) for members in itertools.permutations(value.items())]


@pytest.mark.thorough
@MANY
@given(
    combined_objects(),
    st.lists(VALUES | st.dictionaries(st.sampled_from((*OBJECT_NAMES, "z", "x:")), VALUES, max_size=4)),
)
def test_what_is_valid_is_accepted_in_some_order_and_nothing_else_is(schema: Any, values: list[Any]) -> None:
    validator = Draft202012Validator(schema)
    try:
        automaton = RegularAutomaton(pattern_of(schema))
    except UnsatisfiableError:
        assert [value for value in values if validator.is_valid(value)] == []
        return
    except SchemaError:
        assume(False)
        raise
    for value in values:
        assert any(accepted(automaton, text.encode()) for text in orders(value)) == validator.is_valid(value), value


@pytest.mark.thorough
@MANY
@given(combined_objects(), st.integers(0, 2**16))
def test_whatever_is_written_is_valid(schema: Any, seed: int) -> None:
    """That includes names that are written twice, of which the last counts."""
    try:
        pattern = pattern_of(schema)
    except SchemaError:
        assume(False)
        raise
    text = sample(pattern, random.Random(seed))
    assert Draft202012Validator(schema).is_valid(json.loads(text)), text


@MANY
@given(
    st.sets(st.sampled_from([*OBJECT_REGEXES, "^ab", "^b", "x$", "^(?!a)"]), min_size=2, max_size=3), st.text("abxy:")
)
def test_regular_expressions_that_exclude_each_other_have_no_text_in_common(regexes: set[str], text: str) -> None:
    if exclude_each_other(frozenset(regexes), ECMA):
        assert not all(re.search(regex, text) for regex in regexes)


def test_prefixes_exclude_each_other() -> None:
    assert exclude_each_other(frozenset({"^basic:text:$", "^basic:file:$"}), ECMA)
    assert not exclude_each_other(frozenset({"^basic:", "file:$"}), ECMA)


JSON = st.recursive(
    st.sampled_from([None, True, 1, 1.0, 0.0, -0.0, "1", "a"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "b", "$id"]), inner, max_size=3),
    max_leaves=12,
)


def objects_in(value: Any) -> list[dict[str, Any]]:
    members = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    own = [value] if isinstance(value, dict) else []
    return own + [inner for member in members for inner in objects_in(member)]


@MANY
@given(JSON)
def test_equal_objects_are_shared_and_others_are_not(value: Any) -> None:
    """Spelled in the same way, that is: 1 and 1.0 are told apart. Where `$id` names a place, nothing is shared."""
    one = with_shared_objects(value)
    assert json.dumps(one) == json.dumps(value)
    by_text: dict[str, set[int]] = {}
    for found in objects_in(one):
        by_text.setdefault(json.dumps(found), set()).add(id(found))
    for text, identities in by_text.items():
        assert len(identities) == 1 or '"$id"' in text, text


@pytest.mark.parametrize("name", sorted(COVERED_FORMATS.keys() - {"idn-email"}))
def test_no_text_of_a_format_is_written_where_it_is_denied(name: str) -> None:
    beyond = Intersection([PatternLanguage(SPECIFIED_FORMATS[name])], [PatternLanguage(COVERED_FORMATS[name])])
    assert smallest_automaton(beyond) is None


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("date", "0000-02-29"),
        ("date-time", "2016-12-31T23:59:60Z"),
        ("date-time", "2017-01-01T03:06:60.5+03:07"),
        ("time", "23:59:60Z"),
        ("uri", "urn:a"),
        ("email", '"a@b"@[192.168.0.1]'),
        ("hostname", "xn--bcher-kva.example"),
    ],
)
def test_what_a_format_gives_up_is_not_written_where_it_is_denied_either(name: str, text: str) -> None:
    denied = JsonSchema({"type": "string", "not": {"format": name}}, assert_formats=True)
    automaton = RegularAutomaton(compiled(denied.compilation()))
    assert not accepted(automaton, json.dumps(text).encode())
    assert accepted(automaton, b'"no such thing"')


def branch(kind: str, **properties: Any) -> dict[str, Any]:
    """Return a branch that nothing has to tell from others: no property is required."""
    own = {"type": {"type": "string", "enum": [kind]}, "label": {"maxLength": 9}, **properties}
    return {"type": "object", "properties": own, "additionalProperties": False}


def test_branches_without_a_required_property_are_told_apart() -> None:
    """`{}` is of all, and so of no one; what only one of them has decides, or the type does."""
    kinds = {f"kind{number}": branch(f"kind{number}", **{f"own{number}": True}) for number in range(12)}
    automaton = RegularAutomaton(pattern_of({"oneOf": list(kinds.values())}))
    for text, is_valid in [
        ("{}", False),
        ('{"label": ""}', False),
        ('{"type": "kind3"}', True),
        ('{"type": "kind3", "label": ""}', True),
        ('{"label": "", "own7": 1}', True),
        ('{"type": "kind3", "own7": 1}', False),
    ]:
        assert accepted(automaton, text.encode()) == is_valid, text


def test_many_dependencies_are_met_one_after_the_other() -> None:
    """Each of them is a choice of two, so combined they would be as many as 2 to the 20th."""
    names = [f"p{number}" for number in range(20)]
    needs = {name: {"properties": {"type": {"enum": [f"t{number % 4}"]}}} for number, name in enumerate(names)}
    schema = {
        "type": "object",
        "properties": {"type": {"enum": [f"t{number}" for number in range(5)]}, **dict.fromkeys(names, True)},
        "additionalProperties": False,
        "dependentSchemas": needs,
    }
    automaton = RegularAutomaton(pattern_of(schema))
    validator = Draft202012Validator(schema)
    for kind, (one, other) in itertools.product(range(5), itertools.combinations(range(0, 20, 3), 2)):
        value = {"type": f"t{kind}", f"p{one}": 0, f"p{other}": 0}
        assert accepted(automaton, json.dumps(value).encode()) == validator.is_valid(value), value
        del value["type"]
        assert accepted(automaton, json.dumps(value).encode()), value


def test_a_property_that_a_rule_may_miss_is_not_forced_to_be_written() -> None:
    """Where whatever can be written is written, what excludes each other still can be left out."""
    schema = {
        "type": "object",
        "properties": {"a": {"const": 1}, "b": {"const": 2}, "c": {"const": 3}},
        "allOf": [{"not": {"required": ["a", "b"]}}, {"not": {"required": ["b", "c"]}}],
    }
    automaton = RegularAutomaton(compiled(JsonSchema(schema).compilation()))
    assert accepted(automaton, b'{"b": 2}')
    assert accepted(automaton, b'{"a": 1, "c": 3}')
    assert not accepted(automaton, b'{"a": 1, "b": 2}')
