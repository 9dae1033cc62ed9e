"""Texts that may be missing: with `grounded=True`, they are removed where the document does not have them."""

import json
from collections.abc import Iterator
from enum import Enum
from typing import Annotated, Any, Literal, NamedTuple

import pytest
from doubles import ByteTokenizer, random_logits
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field, field_validator

from structured import Extractor, Json, JsonSchema, Repetition, extract, extract_batch
from structured.errors import GenerationError, SchemaError
from structured.models import FunctionModel, ScriptedModel
from structured.output_types.json_output import JsonOutput
from structured.output_types.paths import leaves, path_to_steps, steps_to_path
from structured.output_types.resolve import resolve_type
from structured.results.alignment import Value, align

TOKENS = ByteTokenizer()


class Colour(Enum):
    RED = "red"


class Place(BaseModel):
    city: str | None
    names: list[str]


class Visit(BaseModel):
    name: str
    place: Place
    colour: Colour | None
    kind: Literal["first", "second"] | None
    rows: list[list[str]]
    tags: Annotated[list[str], Field(min_length=1)]


TEXT = "Ana came to Bern: a nurse, twice."


def scripted(**values: Any) -> ScriptedModel:
    """Return a model that writes a visit with some values."""
    place = {"city": "Bern", "names": ["Ana"]}
    usual = {"name": "Ana", "place": place, "colour": "red", "kind": "second", "rows": [], "tags": ["nurse"]}
    return ScriptedModel(json.dumps(usual | values))


def test_a_text_that_may_be_null_becomes_null() -> None:
    model = scripted(place={"city": "Rome", "names": []})
    assert extract(Visit, TEXT, model=model).place.city == "Rome"
    assert extract(Visit, TEXT, model=model, grounded=True).place.city is None


def test_an_item_without_support_is_left_out() -> None:
    names, rows = ["Bob", "Ana", "Rosa", "Bern", "Rome"], [["Bob"], ["nurse", "Rosa"]]
    found = extract(Visit, TEXT, model=scripted(place={"city": None, "names": names}, rows=rows), grounded=True)
    assert found.place.names == ["Ana", "Bern"]
    assert found.rows == [[], ["nurse"]]


class Row(BaseModel):
    item: str
    day: str
    price: float


class Rows(BaseModel):
    rows: list[Row]


@given(st.integers(1, 5), st.integers(0, 7))
@settings(deadline=None, max_examples=examples(20))
def test_an_item_is_given_as_often_as_the_document_has_it(stated: int, written: int) -> None:
    """Not less often, though a value that all have, such as the day, is stated once."""
    lines = "\n".join(["coffee 3.20"] * stated)
    row = '{"item": "coffee", "day": "Monday", "price": 3.20}'
    model = ScriptedModel(f'{{"rows": [{", ".join([row] * written)}]}}')
    options: Any = {"model": model, "max_tokens": 2000, "repetition": Repetition(stop=False)}
    result = Extractor(Rows, grounded=True, **options).result(f"Monday\n{lines}\nThank you")
    assert len(result.value.rows) == min(stated, written)
    assert {path for path in result.evidence if path.endswith("item")} == {
        f"rows[{index}].item" for index in range(min(stated, written))
    }
    plain = Extractor(Rows, **options)(f"Monday\n{lines}\nThank you")
    assert len(plain.rows) == written


def shortened(output_type: Any, document: str, answer: str, **options: Any) -> Any:
    """Return the data of a scripted answer with what the document does not have removed."""
    options |= {"model": ScriptedModel(answer), "max_tokens": 2000, "repetition": Repetition(stop=False)}
    return Extractor(output_type, grounded=True, **options).result(document).data


def test_a_copy_stays_where_the_type_needs_it() -> None:
    """In that list alone."""

    class Pair(BaseModel):
        names: Annotated[list[str], Field(min_length=2)]
        places: list[str]

    answer = '{"names": ["Ana", "Ana"], "places": ["Bern", "Bern", "Bern"]}'
    assert shortened(Pair, TEXT, answer) == {"names": ["Ana", "Ana"], "places": ["Bern"]}


def test_a_copy_stays_where_a_validator_needs_it_after_other_removals() -> None:
    class People(BaseModel):
        people: list[str]

        @field_validator("people")
        @classmethod
        def several(cls, people: list[str]) -> list[str]:
            assert len(people) > 1
            return people

    assert shortened(People, "Ana came.", '{"people": ["Ana", "Ana", "Zoe"]}') == {"people": ["Ana", "Ana"]}


class Leg(NamedTuple):
    origin: str
    via: str | None = None
    to: str | None = None


class Guest(BaseModel):
    name: str
    city: str | None


class Match(BaseModel):
    winner: str
    people: list[str]


class Prices(BaseModel):
    names: list[str]
    prices: list[float]


@pytest.mark.parametrize(
    ("output_type", "document", "answer", "left"),
    [
        # places mean something
        (list[Leg], "From Bern to Milan.", '[["Bern", "Bern", "Milan"]]', [["Bern", "Bern", "Milan"]]),
        (list[Leg], "From Bern to Milan.", '[["Bern", "Rome", "Milan"]]', [["Bern", None, "Milan"]]),
        (list[list[str]], "Ana x", '[["Ana", "x", "x"]]', [["Ana", "x", "x"]]),
        (Prices, "Tea, cake: 2.50", '{"names": ["Tea", "cake"], "prices": [2.50, 2.50]}', "as written"),
        # another field has the same value
        (Match, "Ana won. Ben met Ana.", '{"winner": "Ana", "people": ["Ana", "Ana", "Ben"]}', "as written"),
        # two items become one
        (
            list[Guest],
            "Ana came.",
            '[{"name": "Ana", "city": "Rome"}, {"name": "Ana", "city": "Oslo"}]',
            [{"name": "Ana", "city": None}],
        ),
        # a conclusion has no place
        (list[Literal["red", "blue"]], "red", '["red", "red", "blue", "blue"]', ["red", "red", "blue", "blue"]),
        (list[str], "Bern, BERN and Rome", '["Bern", "Bern", "Bern", "Rome"]', ["Bern", "Bern", "Rome"]),
    ],
)
def test_what_a_copy_is(output_type: Any, document: str, answer: str, left: Any) -> None:
    assert shortened(output_type, document, answer) == (json.loads(answer) if left == "as written" else left)


def test_items_behind_those_with_places_can_only_be_quoted() -> None:
    """None can be left out, nor become null."""
    schema = JsonSchema({"type": "array", "prefixItems": [{"type": "string"}], "items": {"type": "string"}})
    model = FunctionModel(random_logits(len(TOKENS.tokens), scale=3.0, seed=3), TOKENS)
    result = Extractor(schema, model=model, grounded=True, max_tokens=60, retries=0).result(TEXT)
    assert list(unsupported(TEXT, result.data)) == []
    assert None not in result.data


def test_evidence_follows_the_items_that_are_left() -> None:
    names = ["Bob", "Ana", "Rosa", "Bern"]
    model = scripted(place={"city": "Rome", "names": names})
    found = Extractor(Visit, model=model, grounded=True).result(TEXT)
    assert json.loads(found.text or "") == found.data
    assert {path_to_steps(path) for path in found.evidence} == {steps for steps, _ in leaves(found.data)}
    spans = [found.evidence[f"place.names[{index}]"].span for index in range(2)]
    assert [TEXT[slice(*span)] for span in spans if span] == ["Ana", "Bern"]
    assert found.evidence["place.city"].match == "absent"


def test_conclusions_are_kept() -> None:
    """The document spells neither: they are of a list that the type has."""
    found = extract(Visit, TEXT, model=scripted(), grounded=True)
    assert (found.colour, found.kind) == (Colour.RED, "second")


def test_other_case_and_white_space_is_support() -> None:
    model = scripted(place={"city": "BERN", "names": ["came  to"]})
    found = extract(Visit, TEXT, model=model, grounded=True)
    assert (found.place.city, found.place.names) == ("BERN", ["came  to"])


def test_what_has_to_be_there_can_only_be_quoted() -> None:
    """A required text, and the items of a list that has to have some: nothing could be removed."""
    model = FunctionModel(random_logits(len(TOKENS.tokens), scale=3.0, seed=2), TOKENS)
    found = Extractor(Visit, model=model, grounded=True, max_tokens=200).result(TEXT)
    assert found.evidence["name"].match == found.evidence["tags[0]"].match == "grounded"


def test_a_whole_answer_may_be_null() -> None:
    schema = JsonSchema({"type": ["string", "null"]})
    assert extract(schema, TEXT, model=ScriptedModel('"Rome"'), grounded=True) is None
    assert extract(schema, TEXT, model=ScriptedModel('"Bern"'), grounded=True) == "Bern"


def test_paths_ask_for_quotations() -> None:
    """Of a field that is named, nothing but quotations can be written; so it is in a part of a combination."""
    model = FunctionModel(random_logits(len(TOKENS.tokens), scale=3.0, seed=1), TOKENS)
    found = Extractor(Place, model=model, grounded=["city", "names[]"], max_tokens=80).result(TEXT)
    assert {one.match for one in found.evidence.values()} <= {"grounded", "absent"}
    assert resolve_type(Place, grounded=["city"]).depends_on_document
    assert Json(Place, grounded=True).depends_on_document
    assert not resolve_type(Place, grounded=True).depends_on_document


class Checked(BaseModel):
    city: str | None

    @field_validator("city")
    @classmethod
    def is_there(cls, city: str | None) -> str | None:
        if city is None:
            raise ValueError("a city, please")
        return city


def test_a_validator_that_rejects_what_is_left_rejects_the_answer() -> None:
    with pytest.raises(GenerationError, match="a city, please"):
        extract(Checked, TEXT, model=ScriptedModel('{"city": "Rome"}'), grounded=True, retries=1)


def test_each_document_of_a_batch_supports_its_own_answer() -> None:
    model = ScriptedModel('{"city": "Bern", "names": ["Bob"]}')
    found = extract_batch(Place, ["Bob, from Bern.", "Bob, from Rome."], model=model, grounded=True)
    assert found == [Place(city="Bern", names=["Bob"]), Place(city=None, names=["Bob"])]


def test_the_result_of_a_stream_has_support() -> None:
    stream = Extractor(Place, model=ScriptedModel('{"city": "Rome", "names": ["Bob"]}'), grounded=True).stream(TEXT)
    assert stream.result().value == Place(city=None, names=[])
    assert "Rome" in stream.text


def unsupported(document: str, data: Any) -> Iterator[str]:
    """Yield the paths of the texts that a document does not have."""
    texts = [(steps, value) for steps, value in leaves(data) if isinstance(value, str)]
    places = align(document, [Value(steps, value, False, False) for steps, value in texts])
    yield from (
        steps_to_path(steps)
        for (steps, _), place in zip(texts, places, strict=True)
        if place.match in ("fuzzy", "none")
    )


@pytest.mark.filterwarnings("ignore::structured.errors.BudgetWarning")
@settings(max_examples=examples(60))
@given(
    st.lists(st.sampled_from(["Ana", "Bern", "b", "4 a"]), min_size=1, max_size=5),
    st.sampled_from([Place, JsonSchema(Place.model_json_schema())]),
    st.sampled_from([None, True, ["city"]]),
    st.integers(0, 10_000),
)
def test_whatever_is_written_nothing_without_support_is_left(
    words: list[str], output_type: Any, missing: Any, seed: int
) -> None:
    model = FunctionModel(random_logits(len(TOKENS.tokens), scale=3.0, seed=seed), TOKENS)
    document = ", ".join(words)
    extractor = Extractor(output_type, model=model, grounded=True, allow_missing=missing, max_tokens=60)
    assert list(unsupported(document, extractor.result(document).data)) == []


@pytest.mark.parametrize("output_type", [Place, JsonSchema(Place.model_json_schema())], ids=["type", "schema"])
def test_a_removed_text_is_missing(output_type: Any) -> None:
    """Where the call asks what is missing."""
    model = ScriptedModel('{"city": "Rome", "names": ["Bob"]}')
    result = Extractor(output_type, model=model, grounded=True, allow_missing=True).result("Bob came.")
    assert (result.data, result.missing) == ({"names": ["Bob"]}, ("city",))


NAMES: dict[str, Any] = {"type": "array", "items": {"type": "string"}}
NAME_OR_NULL: dict[str, Any] = {"type": "object", "properties": {"n": {"type": ["string", "null"]}}, "required": ["n"]}


@pytest.mark.parametrize(
    "schema",
    [
        {"allOf": [NAMES, {"minItems": 2}]},
        {"$ref": "#/$defs/Names", "minItems": 2, "$defs": {"Names": NAMES}},
        {"allOf": [NAMES, {"contains": {"pattern": "^B"}}]},
        {**NAMES, "contains": {"pattern": "^B"}},
        {"type": "array", "items": NAME_OR_NULL, "minItems": 2, "maxItems": 3, "uniqueItems": True},
        {"type": "array", "items": NAMES, "minItems": 2, "maxItems": 3, "uniqueItems": True},
        {"allOf": [NAME_OR_NULL, {"properties": {"n": {"type": "string", "minLength": 1}}}]},
        {"type": "array", "minItems": 1, "items": {"type": ["string", "null"]}},
        {"oneOf": [NAME_OR_NULL, {**NAME_OR_NULL, "properties": {"n": {"type": "null"}}}]},
    ],
)
@pytest.mark.parametrize("missing", [None, True])
def test_a_rule_around_texts_holds_for_what_is_left(schema: Any, missing: Any) -> None:
    """Of texts that a rule counts, compares or asks for, none is removed: they can only be quoted."""
    for seed in range(3):
        model = FunctionModel(random_logits(len(TOKENS.tokens), scale=3.0, seed=seed), TOKENS)
        extractor = Extractor(
            JsonSchema(schema), model=model, grounded=True, allow_missing=missing, max_tokens=200, retries=0
        )
        result = extractor.result(TEXT)
        assert result.error is None
        assert list(unsupported(TEXT, result.data)) == []


def test_a_rule_of_another_list_changes_nothing() -> None:
    """Though both lists have the same schema for their items."""
    properties = {"a": NAMES, "b": {"allOf": [NAMES, {"minItems": 1}]}}
    schema = JsonSchema({"type": "object", "properties": properties, "required": ["a", "b"]})
    model = ScriptedModel('{"a": ["Bob", "Ana"], "b": ["Ana"]}')
    assert extract(schema, TEXT, model=model, grounded=True) == {"a": ["Ana"], "b": ["Ana"]}


DRAFT_7 = "http://json-schema.org/draft-07/schema#"


@pytest.mark.parametrize(
    "schema",
    [
        {"$schema": DRAFT_7, "type": "array", "items": [{"type": "string"}], "additionalItems": False},
        {"$schema": DRAFT_7, "type": "array", "items": [{"type": ["string", "null"]}], "additionalItems": False},
        {"$schema": DRAFT_7, "items": [{"type": "boolean"}], "additionalItems": {"type": ["string", "null"]}},
        {"type": "object", "unevaluatedProperties": {"type": ["string", "null"]}, "maxProperties": 2},
        {
            "type": "object",
            "properties": {"l": NAMES},
            "patternProperties": {"^l$": {"minItems": 1}},
            "required": ["l"],
            "additionalProperties": False,
        },
        {
            "type": "object",
            "patternProperties": {"^l$": NAMES, "^[lm]$": {"type": "array", "items": {"type": "null"}}},
            "additionalProperties": False,
        },
        {"oneOf": [{"type": ["string", "null"]}, {"type": "null"}]},
    ],
)
@pytest.mark.filterwarnings("ignore::structured.errors.BudgetWarning")
@pytest.mark.parametrize("missing", [None, True])
def test_a_text_that_would_not_be_found_again_can_only_be_quoted(schema: Any, missing: Any) -> None:
    """In tuples of older drafts, under `unevaluated…`, and where two rules hold for one name."""
    for seed in range(4):
        model = FunctionModel(random_logits(len(TOKENS.tokens), scale=3.0, seed=seed), TOKENS)
        extractor = Extractor(
            JsonSchema(schema), model=model, grounded=True, allow_missing=missing, max_tokens=200, retries=0
        )
        result = extractor.result(TEXT)
        assert result.error is None
        assert list(unsupported(TEXT, result.data)) == []


def test_types_of_which_some_can_be_grounded_are_refused() -> None:
    """They are branches where they are written as `anyOf`."""
    schema = {"properties": {"c": {"type": ["string", "boolean"]}}}
    with pytest.raises(SchemaError, match="boolean, string can be grounded only in part") as caught:
        Extractor(JsonSchema(schema), model=ScriptedModel("{}"), grounded=True)
    assert caught.value.schema_path == "/properties/c"
    branches = {"properties": {"c": {"anyOf": [{"type": "string"}, {"type": "boolean"}]}}, "required": ["c"]}
    model = FunctionModel(random_logits(len(TOKENS.tokens), scale=3.0, seed=0), TOKENS)
    assert Extractor(JsonSchema(branches), model=model, grounded=True).result(TEXT).error is None


def test_no_path_grounds_nothing() -> None:
    resolved = resolve_type(Visit)
    assert isinstance(resolved, JsonOutput)
    assert resolved.with_grounding(False).schema == resolved.schema
