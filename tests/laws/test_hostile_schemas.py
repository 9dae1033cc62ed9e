"""Small schemas that are hard work: shared, deep, long. Each ends in an answer, or in an error of the library."""

import contextlib
import json
import time
import tracemalloc
from collections.abc import Callable
from typing import Any, TypeVar

import pytest
from doubles import ByteTokenizer
from effort import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field, create_model

from structured import JsonSchema, inspect_type, to_regex
from structured.automata import RegularAutomaton
from structured.errors import BudgetError, SchemaError, StructuredError
from structured.errors.recursion import deep
from structured.index.guide import Guide
from structured.index.index import Index
from structured.json_schema.schema_compiler import compiled
from structured.output_types.description import describe
from structured.output_types.json_output import JsonLayout
from structured.output_types.json_schema import MAX_NESTED_BRACKETS
from structured.output_types.resolve import resolve_type
from structured.regex import concat, excerpt, literal, repeat
from structured.vocabulary import Vocabulary

T = TypeVar("T")


@pytest.fixture(scope="module", autouse=True)
def _warm() -> None:
    """Compile the loops of automata first: the seconds that that takes are no schema's."""
    Guide(Index(RegularAutomaton(literal("a")), Vocabulary.from_tokenizer(ByteTokenizer())), max_tokens=100)
    first_states({"type": ["array", "object", "string"], "maxLength": 3})


Wrap = Callable[[list[Any]], dict[str, Any]]


def named(schemas: list[Any]) -> dict[str, Any]:
    return {f"p{number}": schema for number, schema in enumerate(schemas)}


WAYS: dict[str, Wrap] = {
    "anyOf": lambda inner: {"anyOf": inner},
    "anyOf of types": lambda inner: {"type": ["array", "string"], "anyOf": inner},
    "allOf": lambda inner: {"allOf": inner},
    "oneOf": lambda inner: {"oneOf": inner},
    "not": lambda inner: {"not": {"anyOf": inner}},
    "prefixItems": lambda inner: {"type": "array", "prefixItems": inner, "items": False},
    "all prefixItems": lambda inner: {"type": "array", "prefixItems": inner, "items": False, "minItems": len(inner)},
    "items": lambda inner: {"type": "array", "items": {"anyOf": inner}},
    "properties": lambda inner: {"type": "object", "properties": named(inner)},
    "required": lambda inner: {"type": "object", "properties": named(inner), "required": [*named(inner)]},
    "dependentSchemas": lambda inner: {"type": "object", "dependentSchemas": named(inner)},
    "tagged": lambda inner: {
        "oneOf": [
            {"type": "object", "properties": {"k": {"const": at}, "v": one}, "required": ["k", "v"]}
            for at, one in enumerate(inner)
        ]
    },
}


def levels(count: int, wrap: Wrap, width: int = 10) -> dict[str, Any]:
    """Return so many definitions, each of which refers to the next in as many places as it is wide."""
    definitions = {f"L{level}": wrap([{"$ref": f"#/$defs/L{level + 1}"}] * width) for level in range(count)}
    last = {"type": "string", "maxLength": 3}
    return json.loads(json.dumps({"$ref": "#/$defs/L0", "$defs": {**definitions, f"L{count}": last}}))


def first_states(schema: Any) -> None:
    output_type = resolve_type(JsonSchema(schema), layout=JsonLayout(optional_properties="schema"))
    RegularAutomaton(compiled(output_type.compilation()))


def validate(schema: Any) -> None:
    with pytest.raises(ValueError, match="at "):
        resolve_type(JsonSchema(schema)).parse('{"p0": {"p0": [["aaaa"]]}, "k": 0, "v": 1}')


def inspect(schema: Any) -> None:
    inspect_type(JsonSchema(schema))


def sketch(schema: Any) -> None:
    describe(resolve_type(JsonSchema(schema)).root)


def print_regex(schema: Any) -> None:
    to_regex(JsonSchema(schema))


USES = (first_states, inspect, sketch, print_regex)


def seconds_of(use: Callable[[Any], object], schema: Any) -> float:
    """Return the seconds that a use takes, which ends in an answer or in an error of the library."""
    began = time.process_time()
    with contextlib.suppress(StructuredError):
        use(schema)
    return time.process_time() - began


def from_below(frames: int, function: Callable[[], T]) -> T:
    """Call a function from a caller that is so many frames deep."""
    return function() if frames == 0 else from_below(frames - 1, function)


IN_SHORT = {
    ("first_states", "oneOf"),
    ("first_states", "dependentSchemas"),
    ("first_states", "required"),
    ("inspect", "allOf"),
    ("inspect", "not"),
    ("inspect", "properties"),
    ("print_regex", "anyOf of types"),
    ("print_regex", "items"),
    ("sketch", "all prefixItems"),
    ("sketch", "anyOf"),
    ("sketch", "prefixItems"),
    ("sketch", "tagged"),
}
"""Each way and each use at least once: what is tried without the slow tests."""


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("use", "way"),
    [
        pytest.param(use, way, marks=() if (use.__name__, way) in IN_SHORT else pytest.mark.slow)
        for use in USES
        for way in WAYS
    ],
)
def test_shared_definitions_are_followed_once(use: Callable[[Any], object], way: str) -> None:
    """Six levels of ten references each are a million paths: whoever follows them all takes minutes."""
    assert seconds_of(use, levels(6, WAYS[way])) < 5


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("use", USES, ids=lambda use: use.__name__)
def test_a_hundred_levels_are_answered_or_refused(use: Callable[[Any], object], way: str) -> None:
    """A hundred levels take ten times as long as ten, and not a number with a hundred digits."""
    assert seconds_of(use, levels(100, WAYS[way])) < 20


@pytest.mark.parametrize("way", ["allOf", "anyOf", "prefixItems", "required"])
def test_validation_follows_references_once(way: str) -> None:
    """A value that is wrong in a million ways is rejected as fast as one that is wrong in one."""
    schema = {**levels(6, WAYS[way]), "type": "object", "properties": {"p0": {"type": "integer"}}}
    assert seconds_of(validate, schema) < 5


def test_what_is_wrong_is_said_with_its_place() -> None:
    """The same value may be wrong in two places for the same reason: the place is one of them."""
    schema = {"$defs": {"n": {"type": "integer"}}, "prefixItems": [True, {"$ref": "#/$defs/n"}, {"$ref": "#/$defs/n"}]}
    with pytest.raises(ValueError, match=r"at \$\[[12]\]"):
        resolve_type(JsonSchema(schema)).parse('[1, "a", "a"]')


def model_levels(count: int, of: Callable[[Any], Any]) -> type[BaseModel]:
    model = create_model("Level0", value=(str, ...))
    for level in range(1, count):
        fields: Any = {f"p{number}": (of(model), ...) for number in range(10)}
        model = create_model(f"Level{level}", **fields)
    return model


@pytest.mark.thorough
@pytest.mark.parametrize(
    "of",
    [
        pytest.param(lambda model: model, marks=pytest.mark.slow),
        lambda model: model | None,
        pytest.param(lambda model: list[model], marks=pytest.mark.slow),
    ],
)
def test_models_that_share_models_are_described(of: Callable[[Any], Any]) -> None:
    """Ten levels of ten fields of the next: the report has each field once, and the sketch each type once."""
    model = model_levels(10, of)
    report = inspect_type(model)
    assert not report.refusals
    assert len(report.fields) == 1 + 1 + 10 * 9
    assert len(describe(resolve_type(model).root)) < 5_000
    assert resolve_type(model).with_missing(True).schema
    with pytest.raises(SchemaError, match="pieces"):
        to_regex(model)


DEEP: dict[str, Callable[[Any], Any]] = {
    "allOf": lambda inner: {"allOf": [inner]},
    "anyOf": lambda inner: {"anyOf": [inner, {"type": "null"}]},
    "items": lambda inner: {"type": "array", "items": inner},
    "not": lambda inner: {"not": inner},
    "oneOf": lambda inner: {"oneOf": [inner, {"type": "null"}]},
    "properties": lambda inner: {"type": "object", "properties": {"a": inner}},
}


def nested(depth: int, wrap: Callable[[Any], Any]) -> Any:
    schema: Any = {"type": "integer"}
    for _ in range(depth):
        schema = wrap(schema)
    return schema


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("way", "frames"),
    [
        pytest.param(way, frames, marks=() if frames == often else pytest.mark.slow)
        for way, often in zip(DEEP, [0, 0, 400, 900, 0, 900], strict=True)
        for frames in (0, 400, 900)
    ],
)
def test_nested_schemas_are_compiled_from_any_caller(way: str, frames: int) -> None:
    """A hundred levels are no more than a hundred levels, however deep the caller stands itself."""
    schema = nested(100, DEEP[way])
    from_below(frames, lambda: first_states(schema))
    if frames:
        from_below(frames, lambda: sketch(schema))
        from_below(frames, lambda: inspect(schema))


@pytest.mark.parametrize("frames", [0, 900])
@pytest.mark.parametrize("depth", [1_000, 5_000])
@pytest.mark.parametrize("way", [*DEEP, "const", "enum"])
def test_deeper_schemas_are_refused_by_name(way: str, depth: int, frames: int) -> None:
    """What Python cannot read is refused before it is read, as a mapping and as a text."""
    schema = {way: nested(depth, lambda inner: [inner])} if way in ("const", "enum") else nested(depth, DEEP[way])
    with pytest.raises(SchemaError, match=f"more than {MAX_NESTED_BRACKETS} brackets"):
        from_below(frames, lambda: JsonSchema(schema))


@pytest.mark.parametrize("text", ["[" * 100_000, '{"not":' * 100_000, '{"const":' + "[" * 5_000 + "]" * 5_000 + "}"])
def test_deep_texts_are_refused_by_name(text: str) -> None:
    """As many brackets as one likes are an error of the library's, and so is a mapping that contains itself."""
    with pytest.raises(SchemaError, match=f"more than {MAX_NESTED_BRACKETS} brackets"):
        JsonSchema(text)
    endless: dict[str, Any] = {}
    endless["not"] = endless
    with pytest.raises(SchemaError, match=f"more than {MAX_NESTED_BRACKETS} brackets"):
        JsonSchema(endless)


@pytest.mark.thorough
@pytest.mark.parametrize("length", [100, pytest.param(5_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("frames", [0, 900])
def test_chains_of_references_are_followed(frames: int, length: int) -> None:
    """Definitions may lead to each other one by one, in place or by way of a property."""
    chain: dict[str, Any] = {f"D{at}": {"$ref": f"#/$defs/D{at + 1}"} for at in range(length)}
    schema = {"$ref": "#/$defs/D0", "$defs": {**chain, f"D{length}": {"type": "boolean"}}}
    assert from_below(frames, lambda: to_regex(JsonSchema(schema))) == "true|false"
    through: dict[str, Any] = {
        f"D{at}": {"type": "array", "prefixItems": [{"$ref": f"#/$defs/D{at + 1}"}], "items": False, "minItems": 1}
        for at in range(length)
    }
    schema = {"$ref": "#/$defs/D0", "$defs": {**through, f"D{length}": {"type": "null"}}}
    printed = from_below(frames, lambda: to_regex(JsonSchema(schema)))
    assert printed == r"\[" * length + "null" + r"\]" * length


@pytest.mark.parametrize("depth", [40, pytest.param(200, marks=pytest.mark.slow)])
@pytest.mark.parametrize("frames", [0, 400, 900])
def test_nested_models_are_compiled(depth: int, frames: int) -> None:
    """Models are nested as deep as Pydantic manages them."""
    model = create_model("Level0", value=(bool, ...))
    for level in range(1, depth):
        model = create_model(f"Level{level}", inner=(model, ...))
    expected = r'\{"inner": ' * (depth - 1) + r'\{"value": (?:true|false)' + r"\}" * depth
    assert from_below(frames, lambda: to_regex(model, layout=JsonLayout("spaced"))) == expected
    assert not from_below(frames, lambda: inspect_type(model)).refusals


def test_deep_functions_return_and_raise_as_others_do() -> None:
    """A call that goes on on another stack is no different for its caller."""

    @deep
    def count(left: int) -> int:
        if left < 0:
            raise KeyError(left)
        return 0 if left == 0 else 1 + count(left - 1)

    @deep
    def fall(left: int) -> int:
        return fall(left - 1) if left else count(-1)

    assert from_below(800, lambda: count(20_000)) == 20_000
    with pytest.raises(KeyError):
        fall(20_000)


def test_excerpts_of_patterns_that_share_nodes_are_short() -> None:
    """A pattern of forty nodes has a trillion characters; its excerpt has as many as are asked for."""
    pattern = repeat(literal("ab"), 0, None)
    for _ in range(40):
        pattern = repeat(concat(pattern, literal("-"), pattern), 1, 2)
    assert len(excerpt(pattern, 100)) == 101
    assert excerpt(literal("a.b")) == r"a\.b"


SURROGATES = st.integers(0xD800, 0xDFFF).map(chr)


@given(
    around=st.tuples(st.text("ab~/é", max_size=3), SURROGATES, st.text("ab", max_size=3)).map("".join),
    keyword=st.sampled_from(["title", "description", "$comment", "pattern", "const", "$ref", "default", "unknown"]),
    is_key=st.booleans(),
    is_text=st.booleans(),
)
@settings(max_examples=examples(50))
def test_lone_surrogates_in_schemas_have_a_place(around: str, keyword: str, is_key: bool, is_text: bool) -> None:
    """No text has half a character: the error says where it is, and can itself be printed."""
    inside = {"properties": {"a": {"properties": {around: {}}} if is_key else {keyword: around}}}
    with pytest.raises(SchemaError, match="lone surrogate") as caught:
        JsonSchema(json.dumps(inside) if is_text else inside)
    assert caught.value.schema_path == ("/properties/a/properties" if is_key else f"/properties/a/{keyword}")
    assert str(caught.value).encode()


def test_lone_surrogates_in_types_have_a_place() -> None:
    """So it is for what the author of a type says."""

    class Person(BaseModel):
        name: str = Field(description="\udc00")

    with pytest.raises(SchemaError, match="lone surrogate") as caught:
        resolve_type(Person)
    assert caught.value.schema_path == "/properties/name/description"


@pytest.mark.parametrize("length", [10**6, 10**9])
@pytest.mark.parametrize("keyword", ["minLength", "pattern"])
def test_far_too_long_answers_are_refused_without_being_spelled(keyword: str, length: int) -> None:
    """A budget of a hundred tokens is too small for a gigabyte, which need not be written down to see that."""
    rule = {"minLength": length} if keyword == "minLength" else {"pattern": f"^(a{{1000}}){{{length // 1000}}}$"}
    automaton = RegularAutomaton(compiled(resolve_type(JsonSchema({"type": "string", **rule})).compilation()))
    index = Index(automaton, Vocabulary.from_tokenizer(ByteTokenizer()))
    tracemalloc.start()
    try:
        with pytest.raises(BudgetError) as caught:
            Guide(index, max_tokens=100)
        assert tracemalloc.get_traced_memory()[1] < 300_000_000
    finally:
        tracemalloc.stop()
    assert caught.value.shortest == length + 2


KEYWORDS = ("allOf", "anyOf", "oneOf", "prefixItems", "properties", "not", "items", "if", "contains", "required")


@st.composite
def graphs(draw: st.DrawFn) -> dict[str, Any]:
    """Schemas of definitions that refer to each other at random."""
    size = draw(st.integers(1, 12))
    leaves = st.sampled_from([{"type": "string"}, {"type": "integer"}, {"const": 1}, {"type": "null"}, True])

    def node() -> Any:
        inner = [
            {"$ref": f"#/$defs/{draw(st.integers(0, size - 1))}"} if draw(st.booleans()) else draw(leaves)
            for _ in range(draw(st.integers(1, 4)))
        ]
        found: dict[str, Any] = {}
        for keyword in draw(st.lists(st.sampled_from(KEYWORDS), min_size=1, max_size=2)):
            match keyword:
                case "properties":
                    found["properties"] = named(inner)
                case "required":
                    found |= {"properties": named(inner), "required": [*named(inner)]}
                case "not" | "items" | "contains":
                    found[keyword] = inner[0]
                case "if":
                    found |= {"if": inner[0], "then": inner[-1]}
                case _:
                    found[keyword] = inner
        return found

    return {"$ref": "#/$defs/0", "$defs": {str(number): node() for number in range(size)}}


@pytest.mark.thorough
@given(schema=graphs())
@settings(max_examples=examples(40), deadline=None, suppress_health_check=list(HealthCheck))
def test_graphs_of_references_end(schema: dict[str, Any]) -> None:
    """Whatever refers to whatever: an answer or an error, and not after minutes."""
    for use in USES:
        assert seconds_of(use, schema) < 10
    with contextlib.suppress(ValueError):
        resolve_type(JsonSchema(schema)).parse('{"p0": [1, {"p1": "a"}]}')
