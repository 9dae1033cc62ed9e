"""`uniqueItems` over items of many values: the automaton reads the arrays of which no two items are the same."""

import json
import random
from collections.abc import Iterator, Mapping
from itertools import islice, permutations, product
from typing import Any

import jsonschema
import pytest
from brute_force import brute_mask, brute_successors
from doubles import ByteTokenizer, real_tokenizer, real_vocabulary
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from random_patterns import randoms
from walks import accepted, random_text, read, states_on_walks, write

from structured import JsonSchema, inspect_type, to_regex
from structured.automata import DEAD, RegularAutomaton
from structured.errors import SchemaError, UnsatisfiableError, VocabularyError
from structured.index.guide import Guide
from structured.index.index import Index
from structured.index.masks import unpack
from structured.json_schema.document.location import Compilation, Reading
from structured.json_schema.schema_compiler import compiled
from structured.json_schema.whitespace import WhitespaceName, read_whitespace
from structured.vocabulary import Vocabulary

WORDS = ["", "a", "b", "ab", "abc", "ba", "é", "日", '"', "\\", "\n", "a,", '","', "null", "1"]
WORDS += ["2024-02-29", "2023-01-31"]
NUMBERS: list[Any] = [0, 1, 2, 10, 12, -1, 0.5, 1.5, 1.25, -0.5, 100]
VALUES: list[Any] = [*WORDS, *NUMBERS, None, True, False]

# `jsonschema` reads patterns by Python's `re`, where "$" matches before a last line break too; a lookahead does not.
ITEMS: list[dict[str, Any]] = [
    {"type": "string"},
    {"type": "string", "maxLength": 1},
    {"type": "string", "minLength": 1, "maxLength": 3},
    {"type": "string", "pattern": r"^[ab]*(?![\s\S])"},
    {"type": "string", "pattern": r"^(a|ab|abc|ba?)(?![\s\S])"},
    {"type": "string", "format": "date"},
    {"type": "integer"},
    {"type": "integer", "minimum": -1, "maximum": 12},
    {"type": "number"},
    {"type": "number", "minimum": 0, "maximum": 2},
    {"type": ["string", "number"]},
    {"type": ["null", "boolean", "string"]},
    {"enum": [*WORDS]},
    {"enum": ["a", "ab", "abc", 1, 12, 1.5, None, True, "b", "ba", 0]},
    {"anyOf": [{"type": "integer"}, {"type": "string", "pattern": "^a"}]},
]

SCHEMAS = st.builds(
    lambda items, limits: {"type": "array", "items": items, "uniqueItems": True} | limits,
    st.sampled_from(ITEMS),
    st.sampled_from([{}, {"minItems": 1}, {"minItems": 2}, {"minItems": 3, "maxItems": 4}, {"maxItems": 2}]),
)
"""All of them have some array: no item has fewer than three values."""

ARRAYS = st.lists(st.sampled_from(VALUES), max_size=5) | st.lists(st.sampled_from(WORDS), max_size=5)


def automaton_of(schema: Any, whitespace: WhitespaceName = "any") -> RegularAutomaton:
    compilation = Compilation(schema, read_whitespace(whitespace), Reading.SPECIFICATION, key_order="any")
    return RegularAutomaton(compiled(compilation))


def is_valid(schema: Any, value: Any) -> bool:
    checker = jsonschema.Draft202012Validator.FORMAT_CHECKER
    return jsonschema.Draft202012Validator(schema, format_checker=checker).is_valid(value)


@settings(max_examples=examples(300))
@given(SCHEMAS, st.lists(ARRAYS, min_size=1, max_size=8), st.sampled_from([None, 1]))
def test_accepts_what_jsonschema_validates(schema: Any, arrays: list[Any], indent: int | None) -> None:
    """Of arrays as `json.dumps` spells them, exactly the valid ones are accepted."""
    automaton = automaton_of(schema)
    for array in arrays:
        text = json.dumps(array, ensure_ascii=False, indent=indent)
        assert accepted(automaton, text.encode()) == is_valid(schema, array), text


NAMES = ["a", "b", "ab", "c"]
KEYED = {"a": {"type": "integer"}, "b": {"type": ["string", "null"]}}
NESTED: list[dict[str, Any]] = [
    {},
    {"type": ["string", "array"]},
    {"type": "object"},
    {"type": "object", "properties": KEYED},
    {"type": "object", "properties": KEYED, "additionalProperties": False},
    {
        "type": "object",
        "properties": {"b": {}, "a": {}},
        "required": ["a"],
        "additionalProperties": {"type": "integer"},
    },
    {"type": "object", "required": ["c", "a"], "minProperties": 2},
    {"type": "object", "patternProperties": {"^a": {"type": "integer"}}, "additionalProperties": {"type": "null"}},
    {"type": "object", "propertyNames": {"enum": NAMES}, "minProperties": 1},
    {"anyOf": [{"type": "object", "properties": KEYED}, {"properties": {"c": {}, "b": {}, "a": {}}, "type": "object"}]},
    {"oneOf": [{"type": "object", "properties": KEYED, "required": ["a"]}, {"type": ["array", "string"]}]},
    {"if": {"required": ["a"]}, "then": {"properties": KEYED}, "else": {"type": "array", "items": {"type": "integer"}}},
    {"enum": [*({"b": value, "a": [value]} for value in range(-2, 9)), {"a": [0.0], "b": 0}, 1, 1.0, "1", []]},
    {
        "anyOf": [
            {"const": {"c": 1.0, "a": {}}},
            {"type": "object", "properties": KEYED, "required": ["a"]},
            {"type": "null"},
        ]
    },
    {"allOf": [{"properties": {"b": {"minimum": 0}}}, {"properties": {"a": {}, "b": {}}}], "type": "object"},
    {"type": "array", "items": {"type": ["number", "boolean"]}, "minItems": 1},
    {"type": "array", "prefixItems": [{"type": "object"}], "items": {"enum": ["a", 1]}},
    {"type": "array", "contains": {"type": "integer"}},
    {"not": {"type": "object", "required": ["a"]}},
    {"$ref": "#/$defs/tree"},
]
TREE = {"type": ["object", "null"], "properties": {"a": {"$ref": "#/$defs/tree"}, "b": {"type": "integer"}}}

NESTED_SCHEMAS = st.builds(
    lambda items, limits: {"type": "array", "items": items, "uniqueItems": True, "$defs": {"tree": TREE}} | limits,
    st.sampled_from(NESTED),
    st.sampled_from([{}, {"minItems": 1}, {"minItems": 2}, {"maxItems": 2}]),
)
LEAVES = st.sampled_from([0, 1, 1.0, -1, 0.5, True, None, "a", "b", "", "1"])
ANYTHING = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=3),
    max_leaves=4,
)
NESTED_ARRAYS = st.lists(ANYTHING, max_size=4) | st.lists(ANYTHING, min_size=1, max_size=2).map(lambda items: items * 2)


def orders(value: Any) -> Iterator[Any]:
    """Yield a value with its keys in every order."""
    if isinstance(value, list):
        yield from map(list, product(*(list(orders(item)) for item in value)))
    elif isinstance(value, dict):
        for keys in permutations(value):
            yield from (
                dict(zip(keys, items, strict=True)) for items in product(*(list(orders(value[key])) for key in keys))
            )
    else:
        yield int(value) if isinstance(value, float) and value.is_integer() else value


def spelled(value: Any, names: Mapping[str, int]) -> Any:
    """Return a value with its keys in the order of some names, one other behind them; `...` if more are others."""
    if isinstance(value, list):
        items = [spelled(item, names) for item in value]
        return ... if ... in items else items
    if not isinstance(value, dict):
        return int(value) if isinstance(value, float) and value.is_integer() else value
    keys = sorted(value, key=lambda name: names.get(name, len(names)))
    members = {name: spelled(value[name], names) for name in keys}
    return ... if ... in members.values() or len(value.keys() - names.keys()) > 1 else members


@settings(max_examples=examples(300))
@given(NESTED_SCHEMAS, st.lists(NESTED_ARRAYS, min_size=1, max_size=6))
def test_objects_and_arrays_have_one_order_of_their_keys(schema: Any, arrays: list[Any]) -> None:
    """Of the orders of an array's keys, one is accepted where the array is valid, and none where it is not.

    None is either where an object has more than one property of which no schema speaks.
    """
    compilation = Compilation(schema, read_whitespace("any"), Reading.SPECIFICATION, key_order="any")
    automaton = RegularAutomaton(compiled(compilation))
    names = (
        compilation.canonical_compilation.canonical_form.names
        if compilation.canonical_compilation and compilation.canonical_compilation.canonical_form
        else {}
    )
    for array in arrays:
        texts = [json.dumps(order, ensure_ascii=False) for order in islice(orders(array), 200)]
        one = spelled(array, names)
        right = [json.dumps(one, ensure_ascii=False)] if one is not ... and is_valid(schema, array) else []
        assert [text for text in texts if accepted(automaton, text.encode())] == [
            text for text in texts if text in right
        ]
        assert all(accepted(automaton, text.encode()) for text in right)


@settings(max_examples=examples(150))
@given(NESTED_SCHEMAS, randoms())
def test_random_texts_of_nested_items_are_valid(schema: Any, rng: random.Random) -> None:
    """And every item is spelled as any equal one would be."""
    automaton = automaton_of(schema, "compact")
    for _ in range(3):
        array = json.loads(random_text(automaton, rng, length=40), object_pairs_hook=unrepeated)
        assert is_valid(schema, array)


def unrepeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object, each name of which was written once."""
    assert len({name for name, _ in pairs}) == len(pairs)
    return dict(pairs)


SPELLINGS = ['"a"', '"\\u0061"', '"b"', '"\\/"', '"/"', "true"]
SPELLINGS += ["1", "1.0", "1e0", "10e-1", "-0", "0", "0.0", "1.50", "1.5"]


@pytest.mark.parametrize("count", [1, 2, 3])
def test_no_spelling_hides_that_two_items_are_the_same(count: int) -> None:
    """`1.0` is `1`, and `\\u0061` is `a`: what is accepted has different values, however it is spelled."""
    schema = {"type": "array", "items": {"type": ["string", "number", "boolean"]}, "uniqueItems": True}
    automaton = automaton_of(schema, "compact")
    found = 0
    for items in product(SPELLINGS, repeat=count):
        text = f"[{','.join(items)}]"
        if accepted(automaton, text.encode()):
            found += 1
            assert is_valid(schema, json.loads(text)), text
    assert found


@pytest.mark.thorough
@settings(max_examples=examples(60))
@given(SCHEMAS | NESTED_SCHEMAS, randoms())
def test_masks_equal_brute_force(vocabulary: Vocabulary, schema: Any, rng: random.Random) -> None:
    """And no token leads farther from the end than the walks say, which budgets rely on."""
    index = Index(automaton_of(schema), vocabulary)
    for state in states_on_walks(index, rng, tokens=12):
        mask = unpack(index.mask(state), vocabulary.size)
        successors = brute_successors(index, state)
        assert (mask == brute_mask(index, state, successors != DEAD)).all()
        distances = index.automaton.distances[successors[successors != DEAD]]
        assert index._sufficient_tokens[state] >= distances.max(initial=0)


@settings(max_examples=examples(100))
@given(SCHEMAS | NESTED_SCHEMAS, randoms(), st.integers(0, 40))
def test_always_finishes_in_any_budget(vocabulary: Vocabulary, schema: Any, rng: random.Random, more: int) -> None:
    """Random tokens end in a valid array within any number of tokens that some array can be written in."""
    index = Index(automaton_of(schema, "compact"), vocabulary)
    budget = index.shortest_completion(index.automaton.start) + more
    guide = Guide(index, max_tokens=budget)
    text = write(guide, rng, eager=rng.random() < 0.8, limit=budget)
    assert is_valid(schema, json.loads(text))


def test_masks_where_arrays_of_both_kinds_are_possible(vocabulary: Vocabulary) -> None:
    """Each kind is walked by itself, and a repeated item leaves the other."""
    schema = {
        "anyOf": [
            {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
            {"type": "array", "items": {"type": "string", "maxLength": 2}, "minItems": 3},
        ]
    }
    index = Index(automaton_of(schema), vocabulary)
    for text, is_right in (('["a", "a"]', False), ('["a", "a", "a"]', True), ('["abc", "a"]', True)):
        assert accepted(index.automaton, text.encode()) == is_right
    for state in states_on_walks(index, random.Random(7), tokens=9):
        mask = unpack(index.mask(state), vocabulary.size)
        assert (mask == brute_mask(index, state, brute_successors(index, state) != DEAD)).all()


@pytest.mark.parametrize("more", [{}, {"maxLength": 5}, {"pattern": "^a"}, {"type": ["integer", "string"]}])
def test_escapes_may_be_written_in_later_items(more: Any) -> None:
    """Also where an item that was written begins alike, with a token that has no quote."""
    tokens = (*(bytes([byte]) for byte in range(256)), b"\\n", b'\\"', b"\\u", b"a\\", b"\\\\", b'b"', b'\\n"', None)
    vocabulary = Vocabulary(tokens=tokens, end_token_ids=frozenset({len(tokens) - 1}))
    index = Index(automaton_of({"type": "array", "items": {"type": "string"} | more, "uniqueItems": True}), vocabulary)
    for text in (b'["', b'["a","', b'["a","a', b'["aa","a', b'["a\\n","a', b'["a\\n","a\\', b'["ab","ac"'):
        state = read(index.automaton, text)
        mask = unpack(index.mask(state), vocabulary.size)
        assert (mask == brute_mask(index, state, brute_successors(index, state) != DEAD)).all(), text


@pytest.mark.parametrize("most", [2, 3])
def test_an_escaped_quote_ends_no_string(most: int) -> None:
    """Where an item that was written goes on with one, and no other may be that long."""
    tokens = (*(bytes([byte]) for byte in range(256)), b'\\"', b'a\\"', b'\\"b', b'a\\"b', b"\\\\", b'\\\\"', None)
    vocabulary = Vocabulary(tokens=tokens, end_token_ids=frozenset({len(tokens) - 1}))
    items = {"type": "string", "maxLength": most, "not": {"const": "z"}}
    index = Index(automaton_of({"type": "array", "items": items, "uniqueItems": True}, "compact"), vocabulary)
    for text in (
        b'["a\\"","',
        b'["a\\"","a',
        b'["a\\"","a\\',
        b'["a\\\\","a\\',
        b'["a\\"b","',
        b'["a\\"b","a\\',
        b'["\\\\"',
    ):
        state = read(index.automaton, text)
        if state != DEAD:
            mask = unpack(index.mask(state), vocabulary.size)
            assert (mask == brute_mask(index, state, brute_successors(index, state) != DEAD)).all(), text


SETS = {"type": "array", "items": {"type": "string"}, "uniqueItems": True}
INNER: list[Any] = [
    SETS,
    {"type": "object", "properties": {"a": SETS, "b": {"type": "integer"}}, "required": ["a"]},
    {
        "type": "object",
        "properties": {"b": {"type": "string", "maxLength": 2}, "a": SETS},
        "additionalProperties": False,
    },
    {"type": "array", "items": SETS | {"items": {"type": "integer"}}, "uniqueItems": True},
    {"anyOf": [{"type": "string", "pattern": "^b"}, SETS | {"maxItems": 2}]},
    {"type": "array", "uniqueItems": True},
]
SETS_OF_SETS = st.builds(
    lambda items, limits: {"type": "array", "items": items, "uniqueItems": True} | limits,
    st.sampled_from(INNER),
    st.sampled_from([{}, {"minItems": 1}, {"maxItems": 2}]),
)
PIECES = [b'"]', b'["', b'","', b'"],["', b'"]},{"', b'"]},{"a":["', b"]],[[", b"],[", b'{"a":["', b'a"', b'a"]', b"aa"]
PIECES += [b"]},", b'""', b'","a","', b'["a"],', b'["a"],["a"', b"1,", b",1", b"[1]],[[1", b'"],["a"],["b"', b"]]"]


@pytest.fixture(scope="module")
def bracketing() -> Vocabulary:
    """Return all bytes of ASCII, and tokens that end and begin items within items."""
    tokens = (*(bytes([byte]) for byte in range(128)), *PIECES, None)
    return Vocabulary(tokens=tokens, end_token_ids=frozenset({len(tokens) - 1}))


@settings(max_examples=examples(60))
@given(SETS_OF_SETS, randoms())
def test_masks_in_items_within_items_equal_brute_force(bracketing: Vocabulary, schema: Any, rng: random.Random) -> None:
    """Whatever items are written before, also where they begin alike."""
    index = Index(automaton_of(schema, "compact"), bracketing)
    for state in states_on_walks(index, rng, tokens=12):
        mask = unpack(index.mask(state), bracketing.size)
        successors = brute_successors(index, state)
        assert (mask == brute_mask(index, state, successors != DEAD)).all()
        distances = index.automaton.distances[successors[successors != DEAD]]
        assert index._sufficient_tokens[state] >= distances.max(initial=0)


@pytest.mark.parametrize("schema", INNER[:2])
@pytest.mark.parametrize(
    "text", ['[X"a"Y,X"a', '[X"a","b"Y,X"a"', '[X"a","b"Y,X"a",', '[X"a"Y,X"aa"Y,X"aa', "[XY,X", '[X"a"Y,X"b","', '[X"']
)
def test_masks_where_items_within_items_begin_alike(bracketing: Vocabulary, schema: Any, text: str) -> None:
    """The outer items must differ, and so must the inner ones."""
    around = {"X": "[", "Y": "]"} if schema is SETS else {"X": '{"a":[', "Y": "]}"}
    for letter, brackets in around.items():
        text = text.replace(letter, brackets)
    index = Index(automaton_of({"type": "array", "items": schema, "uniqueItems": True}, "compact"), bracketing)
    state = read(index.automaton, text.encode())
    mask = unpack(index.mask(state), bracketing.size)
    assert (mask == brute_mask(index, state, brute_successors(index, state) != DEAD)).all()


def test_a_repeated_number_is_not_ended_after_others_were_looked_at() -> None:
    """What is marked as written belongs to one array, and others are walked in between."""
    tokens = (*(bytes([byte]) for byte in b"\n ,-.[]0123456789"), b"1,", None)
    vocabulary = Vocabulary(tokens=tokens, end_token_ids=frozenset({len(tokens) - 1}))
    schema = {"type": "array", "items": {"type": "integer"}, "uniqueItems": True, "maxItems": 3}
    index = Index(automaton_of(schema), vocabulary)
    states = [read(index.automaton, text) for text in (b"[1,0,1", b"[2,3,2", b"[4,5,4")]
    for state in states:
        mask = unpack(index.mask(state), vocabulary.size)
        assert (mask == brute_mask(index, state, brute_successors(index, state) != DEAD)).all()


def test_long_arrays_take_few_states() -> None:
    """No states are made for tokens that are not taken: of a thousand items, each needs some dozens."""
    automaton = automaton_of({"type": "array", "items": {"type": "string"}, "uniqueItems": True}, "spaced")
    index = Index(automaton, Vocabulary.from_tokenizer(ByteTokenizer()))
    guide = Guide(index, max_tokens=100_000)
    encoded = json.dumps([f"{place}ab" for place in range(200)]).encode()
    for byte in encoded:
        guide.mask()
        guide.advance(index.vocabulary.tokens.index(bytes([byte])))
    assert guide.finished or index.automaton.accepts(guide.state)
    assert automaton._states_used < 50 * 200


@pytest.mark.parametrize(("count", "is_accepted"), [(64, True), (65, False)])
def test_objects_have_what_others_list_unless_that_is_much(count: int, is_accepted: bool) -> None:
    """The support page tells the limit; a name that no schema lists may be written all the same."""
    listed = {"type": "object", "properties": {f"n{number}": {} for number in range(count - 2)}}
    item = {"type": "object", "properties": {"x": {"type": "object"}, "y": listed}}
    automaton = automaton_of({"type": "array", "items": item, "uniqueItems": True}, "spaced")
    assert accepted(automaton, b'[{"y": {"n1": 1}}]')
    assert accepted(automaton, b'[{"x": {"other": 1}}]')
    assert accepted(automaton, b'[{"x": {"n1": 1}}]') == is_accepted


@pytest.mark.thorough
@pytest.mark.parametrize("item", [{"type": "integer"}, {"type": "number", "multipleOf": 0.5}])
def test_numbers_of_many_digits_at_once_take_few_states(item: Any) -> None:
    """A number may end after each digit: tokens of several digits made a state each, a thousand for every mask."""
    vocabulary, tokenizer = real_vocabulary("gpt2"), real_tokenizer("gpt2")
    automaton = automaton_of({"type": "array", "items": item, "uniqueItems": True}, "spaced")
    index = Index(automaton, vocabulary)
    state = automaton.start
    for token_id in tokenizer.encode(json.dumps([place * 37 for place in range(100)]), add_special_tokens=False):
        assert unpack(index.mask(state), vocabulary.size)[token_id]
        state = index.step(state, token_id)
    assert automaton.accepts(state)
    assert automaton._states_used < 50 * 100


@pytest.mark.parametrize(
    ("schema", "problem"),
    [
        (
            {
                "uniqueItems": True,
                "type": "array",
                "items": {"type": "array", "uniqueItems": True, "maxItems": 2, "items": {"enum": [*range(11)]}},
            },
            "a few items that hold arrays of different items",
        ),
        (
            {"uniqueItems": True, "type": "array", "items": {"type": "array", "uniqueItems": True}, "minItems": 2},
            "two items or more that hold arrays of different items",
        ),
        ({"uniqueItems": True, "type": "array", "prefixItems": [{"type": "string"}]}, "first items of more than a few"),
        ({"uniqueItems": True, "type": "array", "items": {"type": "string"}, "minItems": 5000}, "at least 5,000"),
        (
            {"uniqueItems": True, "type": "array", "items": {"type": "string"}, "contains": {"const": "a"}},
            "have to contain certain items",
        ),
        (
            {"uniqueItems": True, "type": "array", "items": {"type": "number", "minimum": 1e-18, "maximum": 2e-18}},
            "numbers of so many digits",
        ),
    ],
)
def test_what_is_not_supported_is_refused(schema: Any, problem: str) -> None:
    """It says what."""
    with pytest.raises(SchemaError, match=problem) as caught:
        automaton_of(schema)
    assert caught.value.keyword == "uniqueItems"


def test_arrays_of_more_items_than_there_are_values_are_unsatisfiable() -> None:
    """However few items may be written, as many must be different."""
    items = {"type": "string", "pattern": "^[ab]{0,2}[cd]$"}
    schema = {"type": "array", "items": items, "uniqueItems": True}
    automaton = automaton_of(schema | {"minItems": 14}, "compact")
    assert automaton.distances[automaton.start] == 2 * 3 + 4 * 4 + 8 * 5 + 13 + 2
    with pytest.raises(UnsatisfiableError, match="too few items can be different"):
        automaton_of(schema | {"minItems": 15})


def test_what_else_takes_a_schema_with_different_items() -> None:
    """It is reported on, has no regular expression, and cannot be written with tokens that lack bytes of their own."""
    tags = JsonSchema({"type": "array", "items": {"type": "string"}, "uniqueItems": True})
    assert not inspect_type(tags).refusals
    with pytest.raises(SchemaError, match="cannot be said by a regular expression"):
        to_regex(tags)
    few = Vocabulary(tokens=(b"[", b"]", b'"a', b'"', b", ", b"b", None), end_token_ids=frozenset({6}))
    with pytest.raises(VocabularyError, match="items must differ"):
        Index(automaton_of(tags.schema), few)
