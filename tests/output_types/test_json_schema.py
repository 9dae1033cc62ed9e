"""JSON Schemas as output types: whatever a model writes, the schema allows, and Python gets plain data."""

import contextlib
import json
import random
import re
import warnings
from typing import Annotated, Any

import pytest
from doubles import ByteTokenizer, json_hating_logits, random_logits
from effort import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema.validators import Draft202012Validator
from pydantic import BaseModel
from walks import accepted

from structured import Extractor, JsonSchema, extract, extract_batch, inspect_type, structured, to_regex
from structured.automata import RegularAutomaton
from structured.errors import PromptError, SchemaError, StructuredWarning, UnsatisfiableError
from structured.json_schema.document.drafts import SchemaDraft
from structured.json_schema.schema_compiler import compiled
from structured.models import FunctionModel
from structured.output_types.description import describe
from structured.output_types.json_output import JsonLayout
from structured.output_types.resolve import resolve_type

TOKENIZER = ByteTokenizer()
MODELS = {
    "uniform": FunctionModel(random_logits(len(TOKENIZER.tokens)), TOKENIZER),
    "hates JSON": FunctionModel(json_hating_logits(TOKENIZER.tokens), TOKENIZER),
}
ADDRESSES = {
    "title": "Customer",
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 1, "description": "full name"},
        "age": {"type": ["integer", "null"], "minimum": 0},
        "address": {"$ref": "#/definitions/address"},
        "tags": {"type": "array", "items": {"enum": ["new", "old", 3]}, "uniqueItems": True},
        "parent": {"$ref": "#"},
        "since": {"type": "string", "format": "date"},
    },
    "required": ["name"],
    "definitions": {
        "address": {"type": "object", "properties": {"street": {"type": "string"}}, "additionalProperties": False}
    },
}


def accepts(schema, text, optional="written", **options):
    layout = JsonLayout(optional_properties=optional)
    automaton = RegularAutomaton(compiled(JsonSchema(schema, **options).compilation(layout)))
    return accepted(automaton, text.encode())


def sketch(schema, optional="written"):
    return describe(resolve_type(JsonSchema(schema), layout=JsonLayout("spaced", optional)).root)


names = st.sampled_from(["a", "b", "c", "d e"])


def schemas():
    leaves = st.one_of(
        st.sampled_from([True, {}, {"type": "string"}, {"type": "null"}, {"type": "number"}, {"const": [1, "x"]}]),
        st.sampled_from([{"enum": ["a", 1, None]}, {"type": "integer", "minimum": 3}, {"type": "boolean"}]),
        st.sampled_from([{"$ref": "#"}, {"$ref": "#/$defs/leaf"}, {"type": ["string", "null"], "maxLength": 3}]),
    )
    return st.recursive(leaves, branches, max_leaves=6)


def branches(inner):
    objects = st.fixed_dictionaries(
        {"type": st.just("object")},
        optional={
            "properties": st.dictionaries(names, inner, max_size=3),
            "required": st.lists(names, max_size=2, unique=True),
            "additionalProperties": st.booleans() | inner,
            "patternProperties": st.dictionaries(st.sampled_from(["^a", "x$"]), inner, max_size=1),
            "minProperties": st.integers(0, 2),
            "maxProperties": st.integers(1, 4),
            "dependentRequired": st.just({"a": ["b"]}),
            "propertyNames": st.just({"maxLength": 2}),
        },
    )
    arrays = st.fixed_dictionaries(
        {"type": st.just("array")},
        optional={"items": inner, "prefixItems": st.lists(inner, max_size=2), "minItems": st.integers(0, 2)},
    )
    choices = st.fixed_dictionaries({"anyOf": st.lists(inner, min_size=1, max_size=3)})
    both = st.fixed_dictionaries({"allOf": st.lists(inner, min_size=1, max_size=2)})
    return st.one_of(objects, arrays, choices, both)


@pytest.mark.thorough
@settings(deadline=None, suppress_health_check=list(HealthCheck))
@given(
    schema=schemas(),
    optional=st.sampled_from(["written", "omittable", "schema"]),
    key_order=st.sampled_from(["schema", "any"]),
    seed=st.integers(0, 2**32),
)
def test_whatever_is_written_is_valid(schema, optional, key_order, seed):
    """By another validator, of whatever schema, with every policy of optional properties and of their order."""
    schema = {"allOf": [schema], "$defs": {"leaf": {"type": "object", "properties": {"a": {"type": "null"}}}}}
    model = MODELS[random.Random(seed).choice(sorted(MODELS))]
    try:
        output_type = JsonSchema(schema, key_order=key_order)
        extractor = Extractor(
            output_type,
            model=model,
            layout=JsonLayout(optional_properties=optional),
            temperature=1,
            seed=seed,
            retries=0,
        )
    except SchemaError:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StructuredWarning)
        extractor.max_tokens = 200
        answers = extractor.batch([f"document {i}" for i in range(4)])
    for answer in answers:
        with contextlib.suppress(RecursionError):  # of a schema that refers to itself in place
            Draft202012Validator(schema).validate(answer)
    assert extractor.description


@pytest.mark.thorough
@settings(max_examples=examples(150), deadline=None, suppress_health_check=list(HealthCheck))
@given(schema=schemas())
def test_a_schema_is_enforced_with_any_policy_or_with_none(schema):
    """What may be left out may as well be written, so writing it makes no schema unsatisfiable."""
    schema = {"allOf": [schema], "$defs": {"leaf": {"type": "object", "properties": {"a": {"type": "null"}}}}}

    def is_satisfiable(optional):
        try:
            compiled(JsonSchema(schema).compilation(JsonLayout(optional_properties=optional)))
        except SchemaError as error:
            return not error.problem.startswith("Unsatisfiable")
        return True

    assert is_satisfiable("written") == is_satisfiable("omittable") == is_satisfiable("schema")


@pytest.mark.parametrize("policy", ["written", "omittable"])
def test_what_only_unlisted_properties_satisfy_is_not_called_unsatisfiable(policy):
    """`{"a": 1}` is valid; the schema was said to allow no value, since what it lists has no end."""
    schema = {"type": "object", "minProperties": 1, "properties": {"b": {"$ref": "#"}}}
    with pytest.raises(SchemaError, match=r"^# has to contain itself, .* unless properties .*JsonLayout") as caught:
        accepts(schema, "{}", policy)
    assert not isinstance(caught.value, UnsatisfiableError)
    assert accepts(schema, '{"a": 1}', "schema")
    with pytest.raises(UnsatisfiableError):
        accepts({**schema, "additionalProperties": False}, "{}", policy)


def test_answers_are_plain_data():
    """Dictionaries, lists and the like, one by one and in batches, and from a decorated function."""
    schema = JsonSchema({"type": "object", "properties": {"a": {"const": 1}, "b": {"const": [None, "x"]}}})
    assert extract(schema, "x", model=MODELS["uniform"]) == {"a": 1, "b": [None, "x"]}
    assert extract_batch(schema, ["x", "y"], model=MODELS["uniform"]) == [{"a": 1, "b": [None, "x"]}] * 2

    @structured(model=MODELS["uniform"])
    def read(text: str) -> Annotated[Any, JsonSchema({"const": {"a": []}})]:
        """Read {text}"""

    assert read("x") == {"a": []}


def test_properties_come_in_the_order_that_is_asked_for():
    """That of the schema, or any; each once, and all that are required."""
    schema = {"type": "object", "properties": {"a": {"const": 1}, "b": {"const": 2}}, "required": ["a"]}
    turned, twice = '{"b": 2, "a": 1}', '{"a": 1, "b": 2, "a": 1}'
    assert not accepts(schema, turned)
    assert accepts(schema, turned, key_order="any")
    assert accepts(schema, '{"x": 0, "b": 2, "y": 0, "a": 1}', "schema", key_order="any")
    assert not any(accepts(schema, text, "omittable", key_order="any") for text in (twice, '{"b": 2}'))
    with pytest.raises(ValueError, match="key_order is 'sorted'; it must be one of 'schema', 'any'"):
        JsonSchema(schema, key_order="sorted")


def test_examples_must_be_valid():
    """They are checked as answers are."""
    schema = JsonSchema({"type": "integer"}, name="Count")
    assert "JSON:\n3\n" in Extractor(schema, model=MODELS["uniform"], examples=[("three", 3)]).prompt("x")
    with pytest.raises(PromptError, match=re.escape("'x', is not of type Count: 'x' is not of type 'integer' (at $)")):
        Extractor(schema, model=MODELS["uniform"], examples=[("three", "x")])


@pytest.mark.parametrize(
    ("optional", "right", "wrong"),
    [
        ("written", ['{"a": true, "b": null}', '{"b": null}'], ["{}", '{"a": true}', '{"a": true, "b": null, "c": 1}']),
        ("omittable", ['{"a": true, "b": null}', "{}", '{"b": null}'], ['{"c": 1}', '{"b": 1}']),
        ("schema", ['{"a": true, "b": null}', "{}", '{"c": 1}', '{"a": true, "c": []}'], ['{"b": 1}']),
    ],
)
def test_optional_properties_follow_the_policy(optional, right, wrong):
    """Those that may be null are written; or some are; or whatever the schema allows."""
    schema = {"type": "object", "properties": {"a": {"type": "boolean"}, "b": {"type": "null"}}}
    assert all(accepts(schema, text, optional) for text in right)
    assert not any(accepts(schema, text, optional) for text in wrong)


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ({"properties": {"a": {"const": 1}, "b": False}}, '{"a": 1}'),
        ({"properties": {"a": {"const": 1}, "b": {"const": 2}}, "maxProperties": 1}, '{"b": 2}'),
        ({"properties": {"a": {"const": 1}}, "minProperties": 2}, '{"a": 1, "x": 3}'),
        ({"properties": {"a": {"const": 1}, "next": {"$ref": "#"}}}, '{"a": 1}'),
        ({"properties": {"a": {"const": 1}, "next": {"$ref": "#"}}}, '{"a": 1, "next": {"a": 1}}'),
        ({"properties": {"a": {"const": 1}}, "additionalProperties": {"const": 2}}, '{"a": 1, "x": 2}'),
        ({"additionalProperties": {"const": 2}}, '{"x": 2}'),
        ({"required": ["a"]}, '{"a": [0]}'),
        ({}, '{"x": 2}'),
        ({"properties": {"a": {}, "b": {}}, "oneOf": [{"required": ["a"]}, {"required": ["b"]}]}, '{"b": 1}'),
        ({"properties": {"a": {}, "b": {}}, "not": {"required": ["a"]}}, '{"b": 1}'),
    ],
)
def test_what_cannot_be_written_is_left_out(schema, text):
    """With every optional property written, an answer is still one that the schema allows."""
    Draft202012Validator(schema).validate(json.loads(text))
    assert accepts({"type": "object", **schema}, text)


def test_numbers_have_an_end_and_formats_may_be_annotations():
    """Digits are limited as those of types are."""
    assert accepts({"type": "integer"}, "9" * 18)
    assert not accepts({"type": "integer"}, "9" * 500)
    assert not accepts(True, "9" * 500)
    assert not accepts({"type": "number"}, "0." + "1" * 500)
    assert not accepts({"format": "date", "type": "string"}, '"yesterday"')
    assert accepts({"format": "date", "type": "string"}, '"yesterday"', assert_formats=False)
    annotated = JsonSchema({"const": "yesterday", "format": "date"}, assert_formats=False)
    assert extract(annotated, "x", model=MODELS["uniform"]) == "yesterday"


def test_references_lead_to_documents_and_drafts_differ():
    """Nothing is fetched; the draft is that of `$schema`, or as given."""
    documents = {"https://example.org/unit": {"enum": ["kg", "m"]}}
    unit = {"$ref": "https://example.org/unit"}
    assert extract(JsonSchema(unit, documents=documents), "x", model=MODELS["uniform"]) in ("kg", "m")
    with pytest.raises(SchemaError, match="nothing is downloaded"):
        extract(JsonSchema(unit), "x", model=MODELS["uniform"])
    tuples = {"type": "array", "items": [{"const": 1}], "additionalItems": False, "minItems": 1}
    assert extract(JsonSchema(tuples, draft=SchemaDraft.DRAFT_7), "x", model=MODELS["uniform"]) == [1]
    with pytest.raises(SchemaError, match="The schema is malformed"):
        JsonSchema(tuples)


def test_regular_expressions_are_those_of_the_specification():
    """In the last check as well, whether or not the schema names its draft."""
    for head in ({}, {"$schema": "https://json-schema.org/draft/2020-12/schema"}):
        schema = JsonSchema({**head, "type": "string", "pattern": r"^\p{Lu}$"})
        assert extract(schema, "x", model=MODELS["uniform"]).isupper()


def test_dynamic_names_are_left_to_the_mask():
    """Another validator mistakes plain references to them for dynamic ones."""
    schema = {"$dynamicAnchor": "node", "type": "object", "properties": {"n": {"$dynamicRef": "#node"}}}
    assert extract(JsonSchema(schema), "x", model=MODELS["hates JSON"], max_tokens=50) == {}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: JsonSchema("{"), "The schema is not JSON"),
        (lambda: JsonSchema([]), "[] is not a schema"),
        (lambda: JsonSchema({1: 2}), "the name 1 is not a string"),
        (lambda: JsonSchema({"const": float("nan")}), "The schema is not a JSON value"),
        (lambda: JsonSchema({"properties": {"a": {"type": "text"}}}), "at #/properties/a/type"),
        (lambda: JsonSchema(True, documents={"u": {1}}), "The document 'u' is not a JSON value"),
        (lambda: resolve_type(list[Annotated[Any, JsonSchema(True)]]), "is part of a type"),
        (lambda: extract(JsonSchema(False), "x", model=MODELS["uniform"]), "Unsatisfiable"),
    ],
)
def test_what_is_no_schema_is_refused(make, message):
    """When it is made, and otherwise before a model is asked."""
    with pytest.raises(SchemaError, match=re.escape(message)):
        make()


def test_schemas_are_values():
    """Frozen, copied, equal if they say the same in the same order, and shown in short."""
    source = {"title": "Size", "enum": [1, 2]}
    schema = JsonSchema(source)
    assert schema == JsonSchema(json.dumps(source))
    assert hash(schema) == hash(JsonSchema(dict(source)))
    assert schema != JsonSchema({"enum": [1, 2], "title": "Size"})
    assert JsonSchema({"const": 1}) != JsonSchema({"const": True})
    assert schema != JsonSchema(source, assert_formats=False)
    source["enum"].append(3)
    assert schema.schema == {"title": "Size", "enum": [1, 2]}
    assert (repr(schema), repr(JsonSchema(True))) == ("JsonSchema(name='Size')", "JsonSchema(name='JsonSchema')")


def test_a_schema_has_a_regular_expression_and_a_report():
    """As types have."""
    assert re.fullmatch(to_regex(JsonSchema({"const": [1]})), "[1]")
    report = inspect_type(JsonSchema(ADDRESSES))
    assert not report.refusals
    assert [field.path for field in report.fields][:5] == ["", "name", "age", "address", "address.street"]
    refused = inspect_type(JsonSchema({"properties": {"a": {"type": "object", "minProperties": 2}}, "type": "object"}))
    assert [error.keyword for error in refused.refusals] == ["minProperties"]
    elsewhere = JsonSchema({"$ref": "u:v"}, documents={"u:v": {"type": "array", "uniqueItems": True, "minItems": 5000}})
    assert [error.schema_path for error in inspect_type(elsewhere).refusals] == ["u:v#"]


def test_the_sketch_of_a_schema_can_be_read():
    """Definitions where they are used, what contains itself by name, and no rule that takes long to tell."""
    assert sketch(ADDRESSES) == (
        "Customer\n"
        "Customer = {\n"
        "  name: string (>= 1 characters)  // full name\n"
        "  age: integer (>= 0) | null\n"
        "  address?: {\n"
        "    street?: string\n"
        "  }\n"
        '  tags?: ["new" | "old" | 3, ...]\n'
        "  parent?: Customer\n"
        "  since?: date\n"
        "}"
    )
    assert sketch({"properties": {"a": {}, "b": True}, "required": ["b", "c"]}, "omittable") == (
        "{\n  a?: any\n  b: any\n  c: any\n}"
    )


@pytest.mark.parametrize(
    ("schema", "shown"),
    [
        (True, "any"),
        (False, "never"),
        ({}, "any"),
        ({"type": "object"}, "object"),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, "{[string]: integer}"),
        ({"patternProperties": {"^x": {"type": "null"}}}, "{[/^x/]: null}"),
        ({"type": "array", "prefixItems": [{"const": 1}], "items": False}, "[1]"),
        ({"prefixItems": [{"const": 1}], "items": {"const": 2}}, "[1, 2, ...]"),
        ({"allOf": [{"type": "string"}, {"minLength": 3}]}, "string & string (>= 3 characters)"),
        ({"type": "object", "anyOf": [{"required": ["a"]}, {}]}, "object"),
        ({"anyOf": [{"type": "string"}, {"type": "string", "format": "uri"}, {"type": "null"}]}, "string | null"),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"type": "array", "items": {"$ref": "#/$defs/a"}}}}, "a\na = [a, ...]"),
        ({"$ref": "#/nowhere"}, "any"),
        ({"allOf": [{"$ref": "#/$defs/a"}, {"type": ["null", "string"]}], "$defs": {"a": {"enum": [1, 2]}}},
         "(1 | 2) & (null | string)"),
    ],
)  # fmt: skip
def test_sketches_are_short(schema, shown):
    """Of each kind of schema."""
    assert sketch(schema) == shown


class Defaults(BaseModel):
    name: str
    city: str = "Paris"
    age: int | None = None


def test_fields_with_defaults_may_be_left_out():
    """Pydantic fills them in then; what has none is always there, and what may not be null never is."""
    answers = [
        extract(
            Defaults,
            "x",
            model=MODELS["uniform"],
            layout=JsonLayout(optional_properties="omittable"),
            temperature=1,
            seed=seed,
            max_tokens=900,
        )
        for seed in range(30)
    ]
    assert {"city" in answer.model_fields_set for answer in answers} == {True, False}
    assert all("name" in answer.model_fields_set for answer in answers)
    written = Extractor(Defaults, model=MODELS["uniform"])
    omittable = Extractor(Defaults, model=MODELS["uniform"], layout=JsonLayout(optional_properties="omittable"))
    assert written.description == "{\n  name: string\n  city: string\n  age: integer | null\n}"
    assert omittable.description == "{\n  name: string\n  city?: string\n  age?: integer | null\n}"
    with pytest.raises(
        ValueError, match="optional_properties is 'never'; it must be one of 'written', 'omittable', 'schema'"
    ):
        Extractor(Defaults, model=MODELS["uniform"], layout=JsonLayout(optional_properties="never"))


@pytest.mark.parametrize("share", [True, False], ids=["the same schema", "schemas of the same text"])
def test_a_value_that_no_branch_allows_is_rejected_where_branches_are_alike(share):
    """The error of a branch that was evaluated before is compared with the others."""
    branch = {"type": "integer"}
    schema = {"anyOf": [branch] * 3 if share else [dict(branch) for _ in range(3)]}
    with pytest.raises(ValueError, match="'a' is not valid under any of the given schemas"):
        resolve_type(JsonSchema(schema)).parse('"a"')
