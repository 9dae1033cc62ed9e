"""Extractions: nothing of them is lost in JSON, in a pickle or in a copy."""

import copy
import json
import pickle
from datetime import date
from decimal import Decimal
from typing import Annotated, Any, Literal

import pytest
from doubles import ByteTokenizer, each_generation, random_logits, read_back, said
from hypothesis import given
from hypothesis import strategies as st
from pydantic import AfterValidator, AliasChoices, BaseModel, Field

from structured import Beams, Extractor, Grounded, JsonSchema, Result, Samples
from structured.models import FunctionModel, ScriptedModel
from structured.output_types.resolve import resolve_type
from structured.results.result import result_from_json

TOKENS = ByteTokenizer()


def odd(number: int) -> int:
    if number % 2 == 0:
        raise ValueError("must be odd")
    return number


class Line(BaseModel):
    item: Grounded[str]
    price: Decimal = Field(max_digits=6, decimal_places=2)


class Bill(BaseModel):
    number: Annotated[int, Field(ge=0, le=99), AfterValidator(odd)]
    issued: date | None
    kind: Literal["a", "b"] = "a"
    name: str = Field(validation_alias=AliasChoices("customer", "name"), max_length=8)
    lines: tuple[Line, ...] = Field(max_length=2)
    tags: set[Literal["x", "y"]]


def assert_same(one: Result[object], other: Result[object]) -> None:
    """Compare all that is written, but for the order of a set, which depends on the order in which it grew."""
    records = [result.to_dict() for result in (one, other)]
    for record in records:
        if isinstance(record["value"], dict) and "tags" in record["value"]:
            record["value"]["tags"].sort()
    assert records[0] == records[1]
    assert (one.id, one.position, one.provenance) == (other.id, other.position, other.provenance)
    assert said(one) == said(other)


def extraction(seed: int, **options: object) -> Result[Bill]:
    model = FunctionModel(random_logits(len(TOKENS.tokens), scale=1.0, seed=seed), TOKENS)
    given = {"retries": 200, "seed": seed, "max_tokens": 300} | options
    return Extractor(Bill, model=model, **given).result("Ana paid 3.50 for tea.\n")  # type: ignore[call-overload,no-any-return]


@given(st.integers(0, 300), st.booleans())
def test_json_keeps_everything(seed: int, some_absent: bool) -> None:
    missing = True if some_absent else None
    found = extraction(seed, allow_missing=missing)
    assert_same(found, read_back(found, Bill, missing))
    assert found.to_dict()["evidence"].keys() == found.evidence.keys()


@pytest.mark.parametrize("seed", range(5))
def test_pickles_and_copies_keep_everything(seed: int) -> None:
    found = extraction(seed)
    assert_same(found, pickle.loads(pickle.dumps(found)))  # noqa: S301  our own bytes
    assert_same(found, copy.deepcopy(found))


def test_what_is_no_result_is_refused() -> None:
    for record in ({}, {"value": 1}, {"id": "a"}, {"id": "a", "error": 5}):
        with pytest.raises(ValueError, match=r"it is no result|its error is none"):
            result_from_json(record, 0, resolve_type(Bill), None)


def test_it_tells_what_made_it_and_what_it_cost() -> None:
    found = Extractor(int, model=ScriptedModel("12"), seed=3, temperature=0.5, instructions="Read it.").result(
        "It is 12."
    )
    made_by = found.provenance
    assert made_by is not None
    assert (made_by.type, made_by.options["seed"], made_by.options["instructions"]) == ("int", 3, "Read it.")
    assert "model" not in made_by.options
    again = Extractor(int, model=ScriptedModel("12")).result("It is 12.").provenance
    other = Extractor(str, model=ScriptedModel('"a"')).result("It is 13.").provenance
    assert again is not None
    assert other is not None
    assert made_by.type_digest == again.type_digest
    assert made_by.type_digest != other.type_digest
    assert found.usage.sampled_tokens + found.usage.forced_tokens >= 2
    assert found.usage.prompt_tokens > 5
    assert found.evidence[""].span == (6, 8)
    assert found.text == "12"


def test_plain_data_comes_back_as_plain_data() -> None:
    schema = JsonSchema({"type": "array", "items": {"type": "number"}})
    found = Extractor(schema, model=ScriptedModel("[1.5]")).result("1.5")
    assert_same(found, read_back(found, schema))


@given(st.integers(0, 100))
def test_samples_agree_where_they_say_the_same(seed: int) -> None:
    written: list[dict[str, object]] = []
    choices = {"a": {"enum": [1, 2]}, "b": {"enum": ["x", "y", "z"]}}
    found = Extractor(
        JsonSchema({"type": "object", "properties": choices, "required": ["a", "b"], "additionalProperties": False}),
        model=FunctionModel(random_logits(len(TOKENS.tokens), scale=1.0, seed=seed), TOKENS),
        search=Samples(5, vote=True),
        temperature=1.0,
        seed=seed,
        max_tokens=60,
        observe=each_generation(lambda _, one: written.append(json.loads(one.text))),
    ).result("Some text.")
    for name in ("a", "b"):
        votes = [one[name] for one in written]
        assert found.evidence[name].agreement == votes.count(found.data[name]) / 5


def test_hypotheses_of_beam_search_are_no_samples() -> None:
    """They differ because they have to, so that their agreement would say nothing."""
    found = extraction(3, search=Beams(3))
    assert {one.agreement for one in found.evidence.values()} == {None}
    assert {one.confidence is None for one in found.evidence.values()} == {False}


@pytest.mark.parametrize(
    "damage",
    [
        *({"match": "exakt"}, {"match": None}, {"by": "me"}),
        *({"span": [5, 3]}, {"span": [1]}, {"span": [0, 99]}, {"span": [-1, 2]}, {"span": [0.5, 3.5]}, {"span": []}),
        *({"confidence": "<b>"}, {"confidence": float("nan")}, {"confidence": 7}, {"agreement": -1}),
    ],
)
def test_evidence_that_cannot_be_is_refused(damage: dict[str, object]) -> None:
    record = record_of_twelve()
    record["evidence"][""] |= damage
    with pytest.raises(ValueError, match=r"it is no result|outside|is no match|is '|is nan|is 7|is -1|span is"):
        result_from_json(record, 0, resolve_type(int), None)


@pytest.mark.parametrize("damage", [{"document": 5}, {"document": ["It is 12."]}, {"data": 13}, {"missing": ["a"]}])
def test_records_that_cannot_be_are_refused(damage: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"it is no result|its data are not what its text says"):
        result_from_json(record_of_twelve() | damage, 0, resolve_type(int), None)


def record_of_twelve() -> dict[str, Any]:
    """Return the record of a result, as it comes from a file."""
    result = Extractor(int, model=ScriptedModel("12")).result("It is 12.")
    record: dict[str, Any] = json.loads(json.dumps({"id": result.id, **result.to_dict()}))
    return record


@pytest.mark.parametrize("seed", range(4))
def test_rows_are_the_values_with_what_supports_them(seed: int) -> None:
    found = extraction(seed, allow_missing=True)
    rows = found.rows()
    assert [row["path"] for row in rows] == [*found.evidence]
    for row in rows:
        span = found.evidence[row["path"]].span
        assert span == (None if row["start"] is None else (row["start"], row["end"]))
        assert row["quote"] == (None if span is None else found.document[slice(*span)])
    assert {row["path"] for row in rows if row["match"] == "absent"} >= {*found.missing}
    assert next(row["value"] for row in rows if row["path"] == "number") == found.data.get("number")


def test_an_extraction_is_as_sure_as_its_least_certain_value() -> None:
    """A constant counts for nothing; the only number of a document is as good as unknown, whatever it is about."""
    found = extraction(3)
    known = [one.confidence for one in found.evidence.values() if one.confidence is not None]
    assert found.confidence == min(known)

    class Order(BaseModel):
        kind: Literal["order"]
        amount: int

    given = {"model": ScriptedModel('{"kind": "order", "amount": 12}')}
    free = Extractor(Order, **given).result("Order 12.")  # type: ignore[arg-type]
    assert (free.evidence["kind"].confidence, free.confidence) == (None, free.evidence["amount"].confidence)
    forced = Extractor(Order, grounded=["amount"], **given).result("Order 12.")  # type: ignore[arg-type]
    assert (forced.evidence["amount"].confidence, forced.confidence) == (None, 0)
