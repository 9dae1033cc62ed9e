"""Repair: what validators reject is written again alone, and the rest is kept as it is."""

import json
import random
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Literal

import pytest
from doubles import ByteTokenizer, each_generation, random_logits, said
from hypothesis import given
from hypothesis import strategies as st
from pydantic import AfterValidator, BaseModel, Field, model_validator
from random_json import random_json

from structured import Extractor, JsonLayout, JsonSchema, extract
from structured.automata.byte_automaton import accepts_text
from structured.decoding import Generation
from structured.errors import GenerationError
from structured.models import FunctionModel
from structured.output_types.json_output import rewriting_automaton
from structured.output_types.resolve import resolve_type
from structured.results import Calibration
from structured.results.json_text import value_spans

TOKENS = ByteTokenizer()


def odd(number: int) -> int:
    if number % 2 == 0:
        raise ValueError("must be odd")
    return number


Odd = Annotated[int, Field(ge=0, le=99), AfterValidator(odd)]


class Line(BaseModel):
    item: str = Field(max_length=6)
    count: Odd


class Bill(BaseModel):
    name: str = Field(max_length=8)
    number: Odd
    kind: Literal["a", "b"]
    lines: list[Line] = Field(max_length=2)
    note: str = Field(max_length=8)


class FreeLine(BaseModel):
    item: str = Field(max_length=6)
    count: int = Field(ge=0, le=99)


class Free(BaseModel):  # a bill without rules
    name: str = Field(max_length=8)
    number: int = Field(ge=0, le=99)
    kind: Literal["a", "b"]
    lines: list[FreeLine] = Field(max_length=2)
    note: str = Field(max_length=8)


def model(seed: int, scale: float = 1.0) -> FunctionModel:
    return FunctionModel(random_logits(len(TOKENS.tokens), scale=scale, seed=seed), TOKENS)


def attempts(seed: int, output_type: type = Bill, **options: object) -> list[Generation]:
    """Return all that was written for one text, the answer last, unless none was accepted."""
    written: list[Generation] = []
    options = {"retries": 20, "seed": seed, "max_tokens": 200} | options
    with suppress(GenerationError):
        extract(
            output_type,
            "Some text.",
            model=model(seed),
            observe=each_generation(lambda _, one: written.append(one)),
            **options,
        )  # type: ignore[arg-type]
    return written


def rejected(data: dict[str, object]) -> dict[str, object]:
    """Return an answer without what its validators look at."""
    lines = [{"item": line["item"]} for line in data["lines"]]  # type: ignore[index,attr-defined]
    return {**data, "number": None, "lines": lines}


@given(st.integers(0, 500))
def test_only_what_was_rejected_changes(seed: int) -> None:
    """Values that stand beside it are those of the first answer, and nobody was asked for them again."""
    first, *again = attempts(seed)
    for before, after in zip([first, *again], again[:19], strict=False):  # the last attempt is at the whole
        old, new = json.loads(before.text), json.loads(after.text)
        assert rejected(old) == rejected(new)
        assert old["number"] == new["number"] or old["number"] % 2 == 0
        for line, other in zip(old["lines"], new["lines"], strict=True):
            assert line == other or line["count"] % 2 == 0
        assert after.diagnostics.sampled <= 4 * (1 + len(old["lines"]))


def test_it_takes_fewer_tokens_than_the_whole() -> None:
    def sampled(**options: object) -> int:
        return sum(one.diagnostics.sampled for seed in range(12) for one in attempts(seed, **options)[1:])

    assert 3 * sampled() < sampled(repair="whole")


def never(_: int) -> int:
    raise ValueError("never")


def test_the_last_attempt_is_at_the_whole() -> None:
    class Never(BaseModel):
        name: str = Field(max_length=8)
        number: Annotated[int, Field(ge=0, le=9), AfterValidator(never)]

    written: list[str] = []
    with pytest.raises(GenerationError) as caught:
        extract(
            Never,
            "Some text.",
            model=model(3),
            retries=3,
            seed=1,
            observe=each_generation(lambda _, one: written.append(one.text)),
        )
    assert len(written) == len(caught.value.attempts) == 4
    names = [json.loads(text)["name"] for text in written]
    assert names[0] == names[1] == names[2] != names[3]


def test_a_rule_for_the_whole_is_no_reason_to_keep_anything() -> None:
    class Pair(BaseModel):
        low: int = Field(ge=0, le=9)
        high: int = Field(ge=0, le=9)

        @model_validator(mode="after")
        def _ordered(self) -> "Pair":
            if self.low >= self.high:
                raise ValueError("low must be below high")
            return self

    written = [json.loads(one.text) for seed in range(12) for one in attempts(seed, Pair)]
    assert len({pair["low"] for pair in written}) > 2


def test_the_model_may_be_told_what_was_wrong() -> None:
    prompts: list[str] = []

    def logits(token_ids: list[int]) -> object:
        prompts.append(b"".join(TOKENS.tokens[one] or b"" for one in token_ids).decode(errors="replace"))
        return preferences(token_ids)

    preferences = random_logits(len(TOKENS.tokens), seed=2)
    for repair, is_told in (("told", True), ("field", False)):
        prompts.clear()
        for seed in range(6):
            extract(Bill, f"Text {seed}.", model=FunctionModel(logits, TOKENS), retries=20, seed=seed, repair=repair)  # type: ignore[arg-type]
        assert any("number: Value error, must be odd" in prompt for prompt in prompts) == is_told


@pytest.mark.parametrize("seed", range(6))
def test_the_confidence_in_what_is_kept_is_that_of_when_it_was_written(seed: int) -> None:
    """That it could be nothing else in the end says nothing."""
    found = Extractor(Bill, model=model(seed), retries=20, seed=seed, max_tokens=200).result("Some text.")
    free = Extractor(Free, model=model(seed), max_tokens=200).result("Some text.")
    assert found.data["name"] == free.data["name"]
    assert found.evidence["name"].confidence == pytest.approx(free.evidence["name"].confidence)


def test_confidences_are_calibrated_on_request(tmp_path: Path) -> None:
    """By an object or a file; what was kept is not calibrated twice."""
    calibration = Calibration((0.0, 1.0), (0.25, 0.75))
    calibration.save(tmp_path / "calibration.json")
    options = {"model": model(4), "retries": 20, "seed": 4, "max_tokens": 200}
    raw = Extractor(Bill, **options).result("Some text.")  # type: ignore[call-overload]
    for passed in (calibration, tmp_path / "calibration.json", str(tmp_path / "calibration.json")):
        found = Extractor(Bill, calibration=passed, **options).result("Some text.")  # type: ignore[call-overload]
        assert said(found) == said(raw)
        for path, one in raw.evidence.items():
            assert found.evidence[path].confidence == pytest.approx(0.25 + one.confidence / 2)
    with pytest.raises(TypeError, match="calibration"):
        extract(Bill, "Some text.", calibration=0.5, **options)  # type: ignore[call-overload]
    with pytest.raises(ValueError, match=r"calibration is .*nothing"):
        extract(Bill, "Some text.", calibration=tmp_path / "nothing.json", **options)  # type: ignore[call-overload]


SMALL = {"type": "string", "pattern": "^[a-z]{1,2}$"}
RECORD = {"type": "object", "required": ["a", "b", "c"], "additionalProperties": False}
SCHEMAS = {
    "a reference to a neighbour": {**RECORD, "properties": {"a": SMALL, "b": {"$ref": "#/properties/a"}, "c": SMALL}},
    "definitions of older drafts": {
        **RECORD,
        "definitions": {"size": {"enum": ["small", "large"]}},
        "properties": {name: {"$ref": "#/definitions/size"} for name in "abc"},
    },
    "a conjunction": {
        "allOf": [
            {**RECORD, "properties": {name: {"type": "string", "maxLength": 3} for name in "abc"}},
            {"properties": dict.fromkeys("abc", SMALL)},
        ],
    },
    "a union": {
        "oneOf": [
            {**RECORD, "properties": {"a": {"const": "x"}, "b": {"type": "boolean"}, "c": SMALL}},
            {**RECORD, "properties": {"a": {"const": "y"}, "b": SMALL, "c": {"type": "boolean"}}},
        ],
    },
    "lists and decimals": {
        **RECORD,
        "properties": {
            "a": {"type": "array", "items": {"type": "number", "multipleOf": 0.25, "maximum": 9}, "maxItems": 2},
            "b": {"type": "array", "prefixItems": [SMALL, {"type": "boolean"}], "minItems": 2, "items": False},
            "c": {"type": "object", "properties": {"d": SMALL}, "required": ["d"], "additionalProperties": False},
        },
    },
}


@pytest.mark.parametrize("whitespace", ["compact", "spaced", "indented"])
@pytest.mark.parametrize("name", SCHEMAS)
def test_what_is_kept_stands_there_as_it_was(name: str, whitespace: str) -> None:
    """Whatever a schema refers to, in each layout: only the value at the place differs, and is of its type."""
    output_type = resolve_type(JsonSchema(SCHEMAS[name]), layout=JsonLayout(whitespace))
    source = random.Random(0)
    for _ in range(8):
        text = random_json(output_type.automaton(), source, 200).decode()
        places = {steps: (start, end) for steps, start, end in value_spans(text) if steps}
        steps, (start, end) = source.choice(sorted(places.items(), key=str))
        automaton = rewriting_automaton(output_type, text, {steps: (start, end)}, "Some text.")
        assert automaton is not None
        other = random_json(automaton, source, len(text)).decode()
        assert other.startswith(text[:start])
        assert other.endswith(text[end:])
        assert accepts_text(automaton, text)
        json.loads(other)
