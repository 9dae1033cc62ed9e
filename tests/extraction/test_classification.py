"""Classification: the probability of each value is what the model gives to its text, and nothing else."""

import enum
import json
from typing import Annotated, Literal

import numpy as np
import pytest
from doubles import ByteTokenizer, random_logits
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, field_validator

from structured import Extractor, classify, load_model
from structured.errors import GenerationError, ModelError, PromptError, SchemaError
from structured.models import PACKAGED_MODEL, FunctionModel, LanguageModel, ScriptedModel

TOKENS = ByteTokenizer()


class Size(enum.Enum):
    SMALL = "small"
    LARGE = "large"


class Lucky(BaseModel, frozen=True):
    number: Literal[7, 13]

    @field_validator("number")
    @classmethod
    def _no_thirteen(cls, number: int) -> int:
        if number == 13:
            raise ValueError("bad luck")
        return number


def model(seed: int) -> FunctionModel:
    return FunctionModel(random_logits(len(TOKENS.tokens), scale=2.0, seed=seed), TOKENS)


def log_probability(model: FunctionModel, prompt: list[int], continuation: list[int]) -> float:
    """Return the log-probability of some tokens after others, one after the other."""
    total = 0.0
    for place, token_id in enumerate(continuation):
        scores = model.scores([*prompt, *continuation[:place]]).astype(np.float64)
        total += scores[token_id] - np.log(np.exp(scores).sum())
    return total


@given(st.integers(0, 1_000), st.lists(st.text('abc"é', max_size=4), min_size=1, max_size=9, unique=True))
def test_probabilities_are_shares_of_what_the_model_gives_to_each_text(seed: int, texts: list[str]) -> None:
    """However many texts begin alike: each beginning is read once."""
    wanted = Literal[tuple(texts)]  # type: ignore[valid-type]
    one = model(seed)
    found = classify(wanted, "Some text.", model=one)
    prompt = one.encode(Extractor(wanted, model=one).prompt("Some text."))
    written = {text: TOKENS.encode(json.dumps(text, ensure_ascii=False))[1:] for text in texts}
    scores = {text: log_probability(one, prompt, token_ids) for text, token_ids in written.items()}
    total = np.logaddexp.reduce(list(scores.values()))
    shares = {text: float(np.exp(score - total)) for text, score in scores.items()}
    assert found.probabilities == pytest.approx(shares, rel=1e-4)
    assert found.legal_mass == pytest.approx(np.exp(total), rel=1e-4)
    assert found.value == max(scores, key=lambda text: scores[text])
    assert list(found.probabilities.values()) == sorted(found.probabilities.values(), reverse=True)


def test_a_text_that_begins_another_is_scored_with_its_end() -> None:
    one = model(3)
    found = classify(Annotated[int, Field(ge=1, le=12)], "Some text.", model=one)
    assert set(found.probabilities) == set(range(1, 13))
    assert sum(found.probabilities.values()) == pytest.approx(1)


@pytest.mark.parametrize(
    ("wanted", "values"),
    [
        (bool, {True, False}),
        (Size, set(Size)),
        (Literal["a"] | None, {"a", None}),
        (tuple[bool, Literal[1, 2]], {(True, 1), (True, 2), (False, 1), (False, 2)}),
        (Lucky, {Lucky(number=7)}),
    ],
)
def test_types_of_few_values_are_classified(wanted: object, values: set[object]) -> None:
    """Values that a validator rejects have no share."""
    assert set(classify(wanted, "Some text.", model=model(1)).probabilities) == values


@pytest.mark.parametrize("wanted", [int, str, list[bool]])
def test_types_of_too_many_values_are_refused(wanted: object) -> None:
    with pytest.raises(SchemaError, match="more than 1,000 values"):
        classify(wanted, "Some text.", model=model(1))


def test_values_without_a_hash_are_refused() -> None:
    class Answer(BaseModel):
        yes: bool

    with pytest.raises(SchemaError, match="has no hash"):
        classify(Answer, "Some text.", model=model(1))


def test_no_value_that_validators_accept_is_an_error() -> None:
    class Never(BaseModel, frozen=True):
        number: Literal[13]

        @field_validator("number")
        @classmethod
        def _never(cls, _: int) -> int:
            raise ValueError("never")

    with pytest.raises(GenerationError):
        classify(Never, "Some text.", model=model(1))


def test_the_packaged_model_is_one_of_many(packaged: LanguageModel) -> None:
    """One that caches what it has read gives the same as one that reads all anew."""
    cached = classify(Literal["billing", "shipping", "bill"], "Where is my parcel?", model=packaged)
    anew = FunctionModel(lambda token_ids: packaged.prefill([list(token_ids)])[1][0], packaged.vocabulary)
    anew.encode = packaged.encode  # type: ignore[method-assign]
    again = classify(Literal["billing", "shipping", "bill"], "Where is my parcel?", model=anew)
    assert cached.probabilities == pytest.approx(again.probabilities, rel=1e-3)


@pytest.fixture(scope="module")
def packaged() -> LanguageModel:
    return load_model(PACKAGED_MODEL)


@pytest.mark.parametrize("script", ['"a"', ' "ab"\n', '"b"'])
def test_a_script_is_the_value_that_it_says(script: str) -> None:
    """The others leave the script, which rules them out, and are not read on."""
    found = classify(Literal["a", "ab", "b"], "Some text.", model=ScriptedModel(script))
    assert found.value == json.loads(script)
    assert found.confidence == 1
    assert found.probabilities.keys() == {"a", "ab", "b"}


@pytest.mark.parametrize("script", ['"c"', "maybe"])
def test_a_model_that_rules_out_every_value_is_told(script: str) -> None:
    with pytest.raises(ModelError, match=r"rules out every value of bool.* writes one, such as 'false'\."):
        classify(bool, "Some text.", model=ScriptedModel(script))


def test_a_value_has_to_fit_into_the_context() -> None:
    one = FunctionModel(random_logits(len(TOKENS.tokens)), TOKENS, context_length=600)
    with pytest.raises(PromptError, match=r"A value takes 503 tokens, and the prompt leaves \d+ of the context"):
        classify(Literal["x" + 500 * "-", "b"], "Some text.", model=one)


def test_what_is_no_option_of_a_classification_is_refused() -> None:
    with pytest.raises(TypeError, match="Unknown option evidence"):
        classify(bool, "Some text.", model=model(0), evidence=True)  # type: ignore[call-overload]
    with pytest.raises(SchemaError, match="equal, such as 1 and True"):
        classify(Literal[1, True], "Some text.", model=model(0))
