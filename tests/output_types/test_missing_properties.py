"""Optional properties of a JSON Schema may be missing: by default, and listed where that is asked for."""

import json
import random
import re
import warnings

import pytest
from doubles import ByteTokenizer, json_hating_logits, random_logits, read_back, said
from effort import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema.validators import Draft202012Validator
from walks import accepted

from structured import Extractor, JsonSchema, inspect_type
from structured.automata import RegularAutomaton
from structured.errors import SchemaError, StructuredWarning
from structured.json_schema.schema_compiler import compiled
from structured.models import FunctionModel, ScriptedModel
from structured.output_types.described_types import type_to_data
from structured.output_types.remote_constraints import constraint_of
from structured.output_types.resolve import resolve_type
from structured.output_types.schema_parts import rewritten_schema

TOKENIZER = ByteTokenizer()
MODELS = [
    FunctionModel(random_logits(len(TOKENIZER.tokens)), TOKENIZER),
    FunctionModel(json_hating_logits(TOKENIZER.tokens), TOKENIZER),
]
PERSON = {
    "title": "Person",
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "employer": {"type": "string"},
        "age": {"type": ["integer", "null"]},
        "kind": {"const": "person"},
        "home": {"$ref": "#/$defs/place"},
        "work": {"$ref": "#/$defs/place"},
    },
    "required": ["name"],
    "$defs": {"place": {"type": "object", "properties": {"city": {"type": "string"}, "zip": {"type": "string"}}}},
}


def accepts(schema, value):
    automaton = RegularAutomaton(compiled(JsonSchema(schema).compilation()))
    return accepted(automaton, json.dumps(value).encode())


def written(schema, text, **options):
    return Extractor(JsonSchema(schema), model=ScriptedModel(text), retries=0, **options).result("x")


def test_a_schema_is_rewritten_from_the_inside_out():
    """Each schema inside is changed once, after those inside itself, and the one that is given stays as it is."""
    root, before, order = resolve_type(JsonSchema(PERSON)).root, json.dumps(PERSON), []

    def change(part, keys, schema):
        order.append((*part.location.keys, *keys))
        return {"title": "/".join(map(str, keys)), **schema}

    found = rewritten_schema(root, change)
    assert len(order) == len(set(order)) == len([*PERSON["properties"], *PERSON["$defs"], "city", "zip"])
    assert order.index(("$defs", "place", "properties", "city")) < order.index(("$defs", "place"))
    assert found["$defs"]["place"]["properties"]["city"] == {"title": "properties/city", "type": "string"}
    assert found["$defs"]["place"]["title"] == "$defs/place"
    assert json.dumps(PERSON) == before == json.dumps(rewritten_schema(root, lambda _, __, schema: schema))


def test_what_would_be_invented_may_be_left_out_by_default():
    """What may be null says so by null, and a constant invents nothing: both are always there."""
    assert accepts(PERSON, {"name": "Ana", "age": None, "kind": "person"})
    assert accepts(PERSON, {"name": "Ana", "employer": "Acme", "age": 3, "kind": "person", "home": {}})
    for lacking in ({"age": None, "kind": "person"}, {"name": "Ana", "kind": "person"}, {"name": "Ana", "age": None}):
        assert not accepts(PERSON, lacking)


def test_the_description_and_the_report_say_what_may_be_left_out():
    """By a question mark, and in the column of the kinds."""
    lines = [line.strip() for line in Extractor(JsonSchema(PERSON), model=MODELS[0]).description.splitlines()]
    assert {"name: string", "employer?: string", "age: integer | null", 'kind: "person"'} <= set(lines)
    optional = {field.path for field in inspect_type(JsonSchema(PERSON)).fields if field.may_be_left_out}
    assert {"employer", "home", "work"} <= optional
    assert optional.isdisjoint({"name", "age", "kind"})


def test_what_is_missing_is_left_out_of_the_value_and_listed():
    """Null is what the model writes; the value has none that the schema does not allow."""
    text = '{"name": "Ana", "employer": null, "age": null, "kind": "person", "home": {"city": "Oslo", "zip": null}, '
    found = written(PERSON, text + '"work": null}', allow_missing=True)
    assert found.value == {"name": "Ana", "age": None, "kind": "person", "home": {"city": "Oslo"}}
    assert found.data == {"name": "Ana", "kind": "person", "home": {"city": "Oslo"}}
    assert found.missing == ("employer", "age", "home.zip", "work")
    assert said(read_back(found, JsonSchema(PERSON), True)) == said(found)


def test_a_keyword_that_is_named_like_a_mark_marks_nothing():
    """To the specification it is unknown, and a property may have its name."""
    marks = {"not stated": "dropped", "supported": True, "is key": True, "validators": 5}
    b = {"type": ["string", "null"], **marks}
    line = {"properties": {"validators": b}}
    schema = {"type": "object", "properties": {"a": {"type": ["string", "null"]}, "b": b, "validators": line}, **marks}
    text = '{"a": "x", "b": null, "validators": {"validators": null}}'
    found = written({**schema, "required": ["a", "b", "validators"]}, text, allow_missing=["a"])
    assert (found.value, found.missing) == (json.loads(text), ())


def test_without_missing_properties_a_type_is_as_it_was():
    for output_type in (resolve_type(int), resolve_type(JsonSchema(PERSON))):
        assert output_type.with_missing(False).schema == output_type.schema


@pytest.mark.parametrize("name", ["items", "items_of_order", "definitions"])
def test_a_definition_may_have_any_name(name):
    """A reference to it does not lead inside it."""
    schema = {"type": "object", "properties": {"a": {"$ref": f"#/$defs/{name}"}, "b": {"type": "string"}}}
    found = written({**schema, "$defs": {name: {"type": "string"}}}, '{"a": "x", "b": null}', allow_missing=True)
    assert (found.value, found.missing) == ({"a": "x"}, ("b",))


def test_only_the_properties_at_the_chosen_paths_are_listed():
    """Also where two properties refer to one definition."""
    found = written(
        PERSON, '{"name": "Ana", "age": null, "kind": "person", "home": {"zip": null}}', allow_missing=["home.zip"]
    )
    assert (found.value["home"], found.missing) == ({}, ("home.zip",))


def test_a_server_is_asked_for_the_schema_in_which_they_may_be_null():
    """As its author wrote it otherwise: nothing is closed, and nothing more is required."""
    wanted = resolve_type(JsonSchema(PERSON), True)
    sent = constraint_of(wanted).schema
    assert sent["required"] == ["name"]
    assert sent["properties"]["employer"]["anyOf"] == [{"type": "string"}, {"type": "null"}]
    assert type_to_data(wanted)["json"] == sent


@pytest.mark.parametrize(
    ("absent", "message"),
    [
        (["name"], "The property 'name' is required and may not be null, so it cannot be missing"),
        (["employr"], "No field has the path 'employr'. Is it 'employer'?"),
    ],
)
def test_what_cannot_be_missing_is_refused(absent, message):
    with pytest.raises(SchemaError, match=re.escape(message)):
        written(PERSON, "{}", allow_missing=absent)


def test_a_path_into_a_schema_with_a_uri_of_its_own_is_refused():
    """Its references would lead elsewhere from where it is copied to."""
    schema = JsonSchema(
        {"properties": {"a": {"$ref": "https://example.org/b"}}, "type": "object"},
        documents={"https://example.org/b": {"type": "object", "properties": {"c": {"type": "string"}}}},
    )
    with pytest.raises(SchemaError, match="into a schema with a URI of its own"):
        Extractor(schema, allow_missing=["a.c"], model=MODELS[0]).result("x")


def test_where_a_rule_counts_what_is_there_the_property_itself_is_left_out():
    """A null that is removed later would leave too few."""
    schema = {**PERSON, "minProperties": 2, "properties": {"a": {"type": "string"}, "b": {"type": "string"}}}
    schema = {**schema, "required": ["a", "b"], "oneOf": [{"required": ["c"]}, {"required": ["d"]}]}
    schema["properties"] |= {"c": {"type": "string"}, "d": {"type": "string"}}
    found = written(schema, '{"a": "1", "b": "2", "d": "3"}', allow_missing=True)
    assert (found.value, found.missing) == ({"a": "1", "b": "2", "d": "3"}, ("c",))


def leaves():
    words = st.sampled_from([{"type": "string", "maxLength": 3}, {"enum": ["a", None]}, {"enum": [{}, "b"]}])
    others = [{}, {"type": "null"}, {"const": 1}, {"$ref": "#/$defs/leaf"}, {"type": ["boolean", "null"]}]
    return st.one_of(words, st.sampled_from(others), st.just({"type": "boolean"}))


def branches(inner):
    names = st.sampled_from(["a", "b", "c", "d e"])
    objects = st.fixed_dictionaries(
        {"type": st.just("object"), "properties": st.dictionaries(names, inner, max_size=3)},
        optional={
            "required": st.lists(names, max_size=2, unique=True),
            "additionalProperties": st.booleans() | inner,
            "patternProperties": st.dictionaries(st.sampled_from(["^a", "x$"]), inner, max_size=1),
            "minProperties": st.integers(0, 2),
            "maxProperties": st.integers(1, 4),
            "dependentRequired": st.just({"a": ["b"]}),
            "anyOf": st.lists(st.fixed_dictionaries({"required": st.lists(names, max_size=2)}), min_size=1, max_size=2),
            "not": st.fixed_dictionaries({"required": st.lists(names, max_size=2)}),
        },
    )
    arrays = st.fixed_dictionaries(
        {"type": st.just("array"), "items": inner}, optional={"uniqueItems": st.booleans(), "maxItems": st.just(3)}
    )
    choices = st.fixed_dictionaries({}, optional={"anyOf": st.lists(inner, min_size=1, max_size=3)})
    exactly = st.fixed_dictionaries({"oneOf": st.lists(inner, min_size=1, max_size=3)})
    both = st.fixed_dictionaries({"allOf": st.lists(inner, min_size=1, max_size=2)})
    return st.one_of(objects, arrays, choices, exactly, both)


@pytest.mark.thorough
@settings(max_examples=examples(150), deadline=None, suppress_health_check=list(HealthCheck))
@given(schema=st.recursive(leaves(), branches, max_leaves=6), seed=st.integers(0, 2**32))
def test_a_value_is_valid_without_what_is_missing(schema, seed):
    """Of any schema: no answer is rejected because nulls are removed from it, and what is listed is not there."""
    leaf = {"type": "object", "properties": {"a": {"type": "string", "maxLength": 2}, "b": {"type": "integer"}}}
    schema = {"allOf": [schema]} if seed % 2 else schema
    schema = {**schema, "$defs": {"leaf": leaf}}
    model = random.Random(seed).choice(MODELS)
    try:
        options = {"temperature": 1, "seed": seed, "retries": 0, "max_tokens": 300}
        extractor = Extractor(JsonSchema(schema), model=model, allow_missing=True, **options)
    except SchemaError:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StructuredWarning)
        for found in extractor.results(["one", "two"]):
            Draft202012Validator(schema).validate(found.value)
            if schema.get("type") == "object" and isinstance(found.value, dict):
                stated = {name for name, value in found.value.items() if value is not None}
                assert stated.isdisjoint(found.missing)
