"""Schemas read by the specification: what the pattern writes is valid, and what is valid can be written."""

import contextlib
import itertools
import json
import random
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from brute_force import brute_mask, brute_successors
from effort import examples
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from json_schemas import SCALARS, documents, values
from jsonschema import Draft4Validator, Draft202012Validator
from random_patterns import sample
from walks import accepted, read

from structured import JsonSchema
from structured.automata import DEAD, RegularAutomaton
from structured.automata.byte_automaton import accepts_text
from structured.errors import PatternError, SchemaError
from structured.index.index import Index
from structured.index.masks import unpack
from structured.index.trie_walks import TrieWalks
from structured.json_schema import schema_compiler as keywords
from structured.json_schema.document.location import Compilation, KeyOrder, Reading
from structured.json_schema.schema_compiler import schema_to_pattern
from structured.json_schema.whitespace import read_whitespace
from structured.output_types.resolve import resolve_type
from structured.regex import Pattern
from structured.results.result import error_from_json, error_to_json
from structured.vocabulary import Vocabulary


def compiled(schema: Any, key_order: KeyOrder = "schema") -> Pattern:
    """Return the pattern of a schema, if it is supported and anything satisfies it."""
    try:
        compilation = Compilation(schema, read_whitespace("spaced"), Reading.SPECIFICATION, key_order=key_order)
        return keywords.compiled(compilation)
    except SchemaError:
        assume(False)
        raise


def is_valid(schema: Any, value: Any) -> bool:
    try:
        return bool(Draft202012Validator(schema).is_valid(value))
    except RecursionError:  # a schema that is its own branch says nothing
        assume(False)
        raise


def orders(value: Any) -> Iterator[Any]:
    """Yield a value with its keys in every order."""
    if isinstance(value, list):
        yield from map(list, itertools.product(*(list(orders(item)) for item in value)))
    elif isinstance(value, dict):
        for keys in itertools.permutations(value):
            for members in itertools.product(*(list(orders(value[key])) for key in keys)):
                yield dict(zip(keys, members, strict=True))
    else:
        yield value


def accepts(automaton: RegularAutomaton, text: str) -> bool:
    return accepted(automaton, text.encode())


MANY = settings(deadline=None, max_examples=examples(150), suppress_health_check=list(HealthCheck))


@pytest.mark.thorough
@MANY
@given(documents(), st.integers(0, 2**16))
def test_whatever_is_written_is_valid(schema: dict[str, Any], seed: int) -> None:
    """Each text that a random walk through the pattern writes satisfies the schema, says `jsonschema`."""
    pattern = compiled(schema)
    rng = random.Random(seed)
    for _ in range(5):
        try:
            text = sample(pattern, rng)
        except RecursionError:
            continue
        assert is_valid(schema, json.loads(text)), text


@pytest.mark.thorough
@MANY
@given(documents(), st.lists(values(), min_size=1, max_size=6))
def test_whatever_is_valid_can_be_written(schema: dict[str, Any], instances: list[Any]) -> None:
    """Each valid value is accepted with its keys in some order, and no invalid one in any."""
    automaton = RegularAutomaton(compiled(schema))
    for value in instances:
        written = any(accepts(automaton, json.dumps(order, ensure_ascii=False)) for order in orders(value))
        assert written == is_valid(schema, value), value


KEEPS_ITS_PLACE = re.compile('"(minProperties|maxProperties|not|if|oneOf|contains|maxContains|enum|const)"')
"""Keywords by which members are counted, asked for by what they hold, or listed as a whole."""


@pytest.mark.thorough
@MANY
@given(documents(), st.lists(values(), min_size=1, max_size=6))
def test_keys_in_any_order(schema: dict[str, Any], instances: list[Any]) -> None:
    """Valid values and no others are accepted, with keys in the schema's order at least, in all orders most often."""
    in_order = RegularAutomaton(compiled(schema))
    automaton = RegularAutomaton(compiled(schema, key_order="any"))
    for value in instances:
        texts = [json.dumps(order, ensure_ascii=False) for order in orders(value)]
        known = [text for text in texts if accepts(automaton, text)]
        assert bool(known) == is_valid(schema, value), value
        assert [text for text in texts if accepts(in_order, text) and text not in known] == []
        if known and not KEEPS_ITS_PLACE.search(json.dumps(schema)):
            assert known == texts


def test_branches_that_a_property_tells_apart_keep_any_order() -> None:
    """Where all branches are closed, another one is failed by a property; it was required in the schema's order."""

    def closed(name: str) -> dict[str, Any]:
        properties: dict[str, Any] = {name: {"type": "string"}, "severity": {}}
        return {"type": "object", "properties": properties, "additionalProperties": False}

    branches = {"oneOf": [closed(name) for name in ("path", "source", "text")]}
    for schema in (branches, {"allOf": [branches, {"properties": {"severity": {"type": "integer"}}}]}):
        automaton = RegularAutomaton(compiled(schema, key_order="any"))
        for text in ('{"path": "x", "severity": 1}', '{"severity": 1, "path": "x"}', '{"severity": 1, "text": "x"}'):
            assert accepts(automaton, text), text
        for text in ("{}", '{"severity": 1}', '{"path": "x", "text": "x"}', '{"path": "x", "path": "x"}'):
            assert not accepts(automaton, text), text


@pytest.mark.thorough
@given(values(), st.integers(0, 4))
def test_any_value_is_any_value(value: Any, indent: int) -> None:
    """The empty schema accepts every JSON value, with any whitespace."""
    automaton = RegularAutomaton(schema_to_pattern({}, "any", reading=Reading.SPECIFICATION))
    assert accepts(automaton, json.dumps(value, ensure_ascii=False, indent=indent or None))


DEEP = {"type": "object", "properties": {"name": {"type": "string"}, "nam": {"type": "integer"}}, "required": ["nam"]}


def test_masks_of_open_objects_equal_brute_force(real: Vocabulary) -> None:
    """On published vocabularies, where other keys may follow the known ones, and inside them."""
    automaton = RegularAutomaton(schema_to_pattern(DEEP, "any", reading=Reading.SPECIFICATION))
    index = Index(automaton, real)
    for text in (
        "",
        "{",
        '{"',
        '{"na',
        '{"name',
        '{"name": "',
        '{"nam": 1',
        '{"nam": 1, "',
        '{"nam": 1, "\\',
        '{"nam": 1, "x": ',
    ):
        state = read(automaton, text.encode())
        mask = unpack(index.mask(state), real.size)
        for token_id in np.random.default_rng(0).choice(real.size, 4000, replace=False).tolist():
            token = real.tokens[token_id]
            alive = bool(token) and read(automaton, text.encode() + (token or b"")) != DEAD
            ends = token_id in real.end_token_ids and automaton.accepts(state)
            assert mask[token_id] == (alive or ends), token


@pytest.mark.parametrize(
    ("schema", "valid", "invalid"),
    [
        (
            {"properties": {"a": {"type": "null"}}},
            ["1", "{}", '{"a": null, "b": 2}'],
            ['{"a": 1}', '{"b": 2, "a": null}'],
        ),
        ({"type": "object", "required": ["a"]}, ['{"a": 1}', '{"a": 1, "b": 2}'], ["{}", "1"]),
        ({"type": ["integer", "null"], "minimum": 3}, ["null", "3"], ["2", '"x"']),
        ({"$ref": "#/definitions/a~1b%25", "definitions": {"a/b%": {"const": 1}}}, ["1"], ["2"]),
        ({"items": [{"const": 1}], "additionalItems": False}, ["[]", "[1]", "0"], ["[2]", "[1, 1]"]),
        ({"type": "array", "prefixItems": [{"const": 1}, {"const": 2}], "minItems": 1}, ["[1]", "[1, 2, 3]"], ["[]"]),
        ({"type": "string", "format": "date-time"}, ['"2024-02-29T00:00:00Z"'], ['"2024-02-29T00:00:00"', '"x"']),
        ({"type": "string", "format": "ipv4"}, ['"127.0.0.1"'], ['"127.0.0.256"', '"127.0.0.01"']),
        ({"enum": ["x", "2024-02-29", 1], "format": "date"}, ['"2024-02-29"', "1"], ['"x"']),
        ({"enum": [["x"], ["2024-02-29"]], "items": {"format": "date"}}, ['["2024-02-29"]'], ['["x"]']),
        ({"type": "string", "format": "colour"}, ['"x"'], ["1"]),
        ({"oneOf": [{"type": "integer"}, {"type": "string"}]}, ["1", '"x"'], ["null"]),
        ({"x-rules": [1], "type": "null"}, ["null"], ["1"]),
    ],
)
def test_the_specification_by_example(schema: Any, valid: list[str], invalid: list[str]) -> None:
    """What each rule means where a schema is silent."""
    automaton = RegularAutomaton(schema_to_pattern(schema, reading=Reading.SPECIFICATION))
    assert [text for text in valid if not accepts(automaton, text)] == []
    assert [text for text in invalid if accepts(automaton, text)] == []


def test_exclusive_bounds_of_draft_4() -> None:
    """There they are booleans beside the bound."""
    schema = {"type": "integer", "minimum": 3, "exclusiveMinimum": True, "maximum": 5}
    automaton = RegularAutomaton(schema_to_pattern(schema, reading=Reading.SPECIFICATION))
    for value in range(2, 7):
        assert accepts(automaton, str(value)) == Draft4Validator(schema).is_valid(value)


KEYWORDS = (
    *("type", "properties", "required", "additionalProperties", "items", "prefixItems", "additionalItems", "enum"),
    *("const", "$ref", "anyOf", "oneOf", "allOf", "minimum", "maximum", "exclusiveMinimum", "minLength", "maxLength"),
    *(
        "minItems",
        "maxItems",
        "format",
        "$defs",
        "$schema",
        "$id",
        "discriminator",
        "title",
        "not",
        "if",
        "then",
        "else",
    ),
    *("pattern", "patternProperties", "propertyNames", "minProperties", "maxProperties", "contains", "minContains"),
    *("dependencies", "dependentRequired", "dependentSchemas", "uniqueItems", "unevaluatedItems", "multipleOf"),
    *("unevaluatedProperties", "maxContains", "$anchor", "$dynamicRef", "id"),
)
JUNK = st.recursive(
    SCALARS | st.sampled_from(["#", "#/$defs/a", "object", "\ud800", 10**30, float("nan")]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from((*KEYWORDS, "a")), inner, max_size=4),
    max_leaves=8,
)


@pytest.mark.thorough
@MANY
@given(st.dictionaries(st.sampled_from(KEYWORDS), JUNK, max_size=4), st.sampled_from(Reading))
def test_malformed_schemas_are_refused_as_such(schema: dict[str, Any], reading: Reading) -> None:
    """Whatever is in the place of a keyword's value, the error is the one that says where it is."""
    with contextlib.suppress(SchemaError, PatternError):
        RegularAutomaton(schema_to_pattern(schema, reading=reading))


@pytest.mark.parametrize(
    ("schema", "keyword"),
    [
        ({"properties": []}, "properties"),
        ({"items": {"required": True}}, "required"),
        ({"anyOf": {}}, "anyOf"),
        ({"type": {}}, "type"),
        ({"enum": 5}, "enum"),
        ({"type": "array", "minItems": 10**12}, "minItems"),
        ({"not": {}}, "not"),
        ({"not": {"format": "idn-hostname"}}, "format"),
        ({"pattern": "(a)\\1"}, "pattern"),
        ({"minProperties": 2}, "minProperties"),
        ({"type": "array", "uniqueItems": True, "minItems": 5000}, "uniqueItems"),
        ({"type": "object", "patternProperties": {"(a": {}}}, "patternProperties"),
        ({"enum": ["x"], "format": "uri"}, "enum"),
        ({"$ref": "http://example.org/schema"}, "$ref"),
        ({"properties": {"a": {"$id": "http://example.org/", "$ref": "#/x"}}}, "$ref"),
        ({"enum": [1], "type": "string"}, "enum"),
        ({"allOf": [{"type": "string"}, {"type": "null"}]}, "type"),
    ],
)
def test_what_cannot_be_exact_is_refused(schema: Any, keyword: str) -> None:
    """By its keyword, as everywhere."""
    with pytest.raises(SchemaError) as caught:
        schema_to_pattern(schema, reading=Reading.SPECIFICATION)
    assert caught.value.keyword == keyword


@pytest.mark.parametrize("schema", [{"type": "string", "uniqueItems": True}, {"type": "array", "uniqueItems": False}])
def test_keywords_that_forbid_nothing_are_no_concern(schema: Any) -> None:
    """A keyword of another type, or with a value that allows everything."""
    schema_to_pattern(schema, reading=Reading.SPECIFICATION)


@pytest.mark.thorough
def test_deep_nesting_is_no_crash() -> None:
    """However deep, a schema is compiled; one that comes from a user has a limit, which is named."""
    schema: Any = {}
    for _ in range(3000):
        schema = {"items": schema, "type": "array"}
    automaton = RegularAutomaton(schema_to_pattern(schema, reading=Reading.SPECIFICATION))
    assert accepts(automaton, "[[[[]]]]")
    assert not accepts(automaton, "[[[[0]]]]")
    with pytest.raises(SchemaError, match="brackets inside each other"):
        JsonSchema(schema)


@pytest.mark.thorough
def test_choices_that_multiply_are_an_error_and_no_hang() -> None:
    """Ten of ten are ten thousand million."""
    choices = [{"anyOf": [{"minLength": 10 * number + start} for number in range(10)]} for start in range(10)]
    with pytest.raises(SchemaError, match="combined in more than"):
        schema_to_pattern({"allOf": choices}, reading=Reading.SPECIFICATION)


def test_choices_of_names_that_multiply_are_an_error_and_no_hang() -> None:
    """They are counted as those of values are; the error is public, and the same when it is read from a file."""
    choices = [{"anyOf": [{"minLength": number + 1}, {"maxLength": 40 - number}]} for number in range(11)]
    with pytest.raises(SchemaError, match="combined in more than") as caught:
        schema_to_pattern({"type": "object", "propertyNames": {"allOf": choices}}, reading=Reading.SPECIFICATION)
    assert caught.value.remedy == "Combine fewer choices."
    assert type(caught.value) is type(error_from_json(error_to_json(caught.value))) is SchemaError


@pytest.mark.parametrize("keyword", ["patternProperties", "propertyNames"])
def test_the_keyword_of_patterns_of_names_that_are_too_large_is_one_of_the_schema(
    keyword: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A partition of the names exceeds the states, for either keyword."""
    monkeypatch.setattr("structured.automata.dfa.language.MAX_STATES", 50)
    regex = "[ab]*a[ab]{11}$"
    schema = {"propertyNames": {"pattern": regex}, "patternProperties": {regex: True}}
    with pytest.raises(SchemaError) as caught:
        schema_to_pattern({"type": "object", keyword: schema[keyword]}, reading=Reading.SPECIFICATION)
    assert caught.value.keyword == keyword


@pytest.mark.slow
def test_definitions_that_multiply_are_an_error_and_no_hang() -> None:
    """Which of them hold together is a set, and of sixteen there are 65,536."""
    refs = [{"$ref": f"#/$defs/{number}"} for number in range(17)]
    nodes: dict[str, Any] = {
        str(number): {"type": "object", "properties": {"a": refs[number + 1], "b": refs[number + 1]}}
        for number in range(16)
    }
    nodes["16"] = {"type": "object"}
    nodes["0"] = {"type": "object", "properties": {"a": {"allOf": refs[:2]}, "b": refs[0]}}
    with pytest.raises(SchemaError, match="Definitions are combined in more than"):
        schema_to_pattern({**refs[0], "$defs": nodes}, reading=Reading.SPECIFICATION)


@pytest.mark.thorough
@pytest.mark.parametrize("whitespace", ["spaced", "any"])
def test_definitions_may_lead_from_one_to_the_next_for_long(whitespace: str) -> None:
    """Two thousand of them, though the stack of calls is shorter; and the last may lead back."""
    nodes = {
        str(number): {"type": "object", "properties": {"next": {"$ref": f"#/$defs/{number + 1}"}}, "required": ["next"]}
        for number in range(2000)
    }
    nodes["2000"] = {"anyOf": [{"$ref": "#/$defs/0"}, {"type": "null"}]}  # type: ignore[dict-item]
    schema = {"$ref": "#/$defs/0", "$defs": nodes}
    automaton = RegularAutomaton(schema_to_pattern(schema, whitespace, reading=Reading.SPECIFICATION))
    for rounds in (1, 2):
        count = 2000 * rounds
        text = '{"next": ' * count + "null" + "}" * count
        assert accepts(automaton, text)
        assert not accepts(automaton, text.replace("null", "1"))


def objects_of(count: int, *, required: bool) -> dict[str, Any]:
    names = [f"field_{number}" for number in range(count)]
    properties = {name: {"type": "string"} for name in names}
    return {"type": "object", "properties": properties, "required": names if required else []}


@pytest.mark.thorough
@pytest.mark.parametrize(
    "schema",
    [
        objects_of(2000, required=True),
        objects_of(2000, required=False),
        {"type": "string", "maxLength": 100_000},
        {"type": "string", "minLength": 100_000},
        {"type": "array", "items": {"type": "string"}, "minItems": 10_000, "maxItems": 10_000},
        {"enum": [f"{number * 7919 % 50_000} of them" for number in range(50_000)]},
    ],
    ids=["required", "optional", "at most", "at least", "items", "enum"],
)
def test_nothing_is_built_before_it_is_needed(vocabulary: Vocabulary, schema: dict[str, Any]) -> None:
    """However large the rest of a schema is, its first mask takes a few states, and little memory for each."""
    automaton = RegularAutomaton(schema_to_pattern(schema, "any", reading=Reading.SPECIFICATION))
    Index(automaton, vocabulary).mask(automaton.start)
    assert str(automaton).count("\n") < 400
    assert automaton.nbytes < 30_000_000


@pytest.mark.thorough
@pytest.mark.parametrize("required", [False, True])
def test_optional_properties_take_linear_space(required: bool) -> None:
    """In the printed pattern and in the states along a text."""
    sizes = []
    for count in (40, 80):
        schema = objects_of(count, required=required)
        pattern = schema_to_pattern({**schema, "additionalProperties": False}, reading=Reading.SPECIFICATION)
        automaton = RegularAutomaton(pattern)
        assert accepts(automaton, json.dumps(dict.fromkeys(schema["properties"], "")))
        sizes.append((len(str(pattern)), str(automaton).count("\n")))
    assert sizes[1][0] < 2.1 * sizes[0][0]
    assert sizes[1][1] < 2.1 * sizes[0][1]


@pytest.mark.thorough
@settings(MANY, max_examples=examples(60))
@given(documents(), st.integers(0, 2**16), st.sampled_from(["spaced", "any"]))
def test_masks_equal_brute_force(vocabulary: Vocabulary, schema: dict[str, Any], seed: int, whitespace: str) -> None:
    """At the states that random tokens lead to, exactly those tokens are allowed after which the text can end."""
    index = Index(RegularAutomaton(compiled(schema, whitespace)), vocabulary)
    rng = random.Random(seed)
    state = index.automaton.start
    for _ in range(6):
        mask = unpack(index.mask(state), vocabulary.size).tolist()
        assert mask == brute_mask(index, state, brute_successors(index, state) != DEAD).tolist()
        legal = [token_id for token_id, allowed in enumerate(mask) if allowed and vocabulary.tokens[token_id]]
        if not legal:
            break
        state = index.step(state, rng.choice(legal))


@pytest.mark.slow
@settings(MANY, max_examples=examples(150))
@given(schema=documents(), seed=st.integers(0, 2**16), whitespace=st.sampled_from(["spaced", "flexible", "any"]))
def test_masks_of_real_vocabularies_equal_brute_force(
    real: Vocabulary, schema: dict[str, Any], seed: int, whitespace: str
) -> None:
    """The same over every token of the published vocabularies; and no state after one is farther than was said."""
    index = Index(RegularAutomaton(compiled(schema, whitespace)), real)
    rng = random.Random(seed)
    state = index.automaton.start
    for _ in range(10):
        mask, farthest = TrieWalks(index.automaton, real).mask(state)
        targets = index._walks.successors(state)
        wanted = np.zeros(len(index.automaton.table), dtype=np.bool_)
        wanted[targets] = True
        legal = np.flatnonzero(unpack(index._walks.mask_to(state, wanted).view(np.int32), real.size))
        assert (np.flatnonzero(unpack(mask.view(np.int32), real.size)) == legal).all()
        if not len(legal):
            break
        assert index.automaton.distances[targets].max() <= farthest
        shortest = min(rng.choices(legal.tolist(), k=8), key=lambda token_id: len(real.tokens[token_id] or b""))
        state = index.step(state, rng.choice([shortest, rng.choice(legal.tolist())]))


def test_listed_arrays_are_denied_in_every_draft() -> None:
    """Told item by item, by keywords that draft 4 does not have."""
    schema = {"$schema": "http://json-schema.org/draft-04/schema#", "not": {"enum": [["a", 1], {"b": []}]}}
    automaton = RegularAutomaton(schema_to_pattern(schema, reading=Reading.SPECIFICATION))
    assert [text for text in ('["a"]', '["b", 1]', '{"b": 1}', "{}", "1") if not accepts(automaton, text)] == []
    assert [text for text in ('["a", 1]', '{"b": []}') if accepts(automaton, text)] == []
    listed = RegularAutomaton(schema_to_pattern({"items": {"enum": ["b"]}, **schema}, reading=Reading.SPECIFICATION))
    assert accepts(listed, '["b"]')


def test_names_under_an_empty_schema_may_be_any() -> None:
    """`propertyNames` that says nothing leaves no schema that holds for a name."""
    automaton = resolve_type(JsonSchema({"propertyNames": {}, "$defs": {"unused": False}})).automaton()
    assert accepts_text(automaton, '{"a": 1}')
