"""A client of the server: what this library asks of `structured serve` is what it would have done itself."""

import json
import re
import warnings
from collections.abc import Iterator
from decimal import Decimal
from typing import Annotated, Any, Literal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from serving import random_model, reciting
from strategies import output_types
from test_server import Person, served

from structured import (
    Choice,
    Extractor,
    Grammar,
    JsonLayout,
    JsonSchema,
    Regex,
    Repetition,
    Samples,
    StructuredError,
    extract,
    extract_batch,
    functions,
)
from structured.errors import (
    BudgetError,
    BudgetWarning,
    GenerationError,
    PatternError,
    PromptError,
    RepetitionWarning,
    SchemaError,
    ServerError,
)
from structured.json_schema.document.drafts import SchemaDraft
from structured.models import connect
from structured.models.load import PACKAGED_MODEL
from structured.output_types import Tool
from structured.output_types.described_types import data_to_type, type_to_data
from structured.output_types.resolve import resolve_type

pytest.importorskip("httpx", reason="The extra remote asks servers.")

TEXTS = ["Jason is 25 years old.", "Ana is 31 years old.", "Bo is 7 years old."]
KEY = "sk-own"


class Order(BaseModel):
    size: Literal["small", "large"]
    count: int


def _fails_first(age: int) -> int:
    tried.append(age)
    if len(tried) == 1:
        raise ValueError("try again")
    return age


tried: list[int] = []


class Doubted(BaseModel):
    name: str
    age: Annotated[int, AfterValidator(_fails_first)]


@pytest.fixture(scope="module")
def model() -> Iterator[str]:
    """The address of the packaged model."""
    with served(PACKAGED_MODEL) as found:
        yield found.replace("http://", "structured://")


# What is asked for


@pytest.fixture(scope="module")
def babbling() -> Iterator[str]:
    """The address of a model that writes anything, as `random_model` here does: whatever a type forbids, it tries."""
    with served(random_model()) as found:
        yield found.replace("http://", "structured://")


def outcome(wanted: Any, model: Any, **options: Any) -> str:
    """What becomes of a text: the value, or the kind of the error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BudgetWarning)  # which a server does not give
        warnings.simplefilter("ignore", RepetitionWarning)
        try:
            return repr(extract(wanted, TEXTS[0], model=model, retries=0, max_tokens=80, **options))
        except (SchemaError, PatternError, GenerationError, BudgetError) as error:
            return type(error).__name__


class Coded(BaseModel):
    model_config = ConfigDict(regex_engine="python-re")
    code: Annotated[str, Field(pattern=r"^(?!00)[0-9]{2}$")]


class Priced(BaseModel):
    price: Annotated[Decimal, Field(max_digits=3, decimal_places=1)]


class Flagged(BaseModel):
    flags: Annotated[set[bool], Field(min_length=2)]


def weather(city: Literal["Porto", "Lisbon"], days: int = 3) -> None: ...


ANYTHING: tuple[Any, ...] = (
    Coded,
    Priced,
    Flagged,
    weather,
    functions(weather, parallel=True),
    functions(Tool("weather", {"properties": {"city": {"enum": ["Porto"]}}})),
    JsonSchema({"type": "array", "items": {"$ref": "other"}}, documents={"other": {"enum": [1, 2]}}),
    JsonSchema({"type": "array", "items": [{"const": 1}], "additionalItems": False}, draft=SchemaDraft.DRAFT_7),
    Regex(r"\p{Lu}+[[:digit:]]{2}", dialect="rust"),
    Regex("(?!ab)[a-c]{3}x", flags=re.IGNORECASE),
    Choice({"yes": True, "no": False}),
    Grammar('sum: /[0-9]{1,3}/ ("+" /[0-9]{1,3}/)?', "sum"),
    Grammar('start: "a" | "b"', description="One of the first letters."),
    Grammar.from_gbnf('other ::= "x" [0-9]{2}', "other"),
)


@pytest.mark.parametrize("wanted", ANYTHING, ids=map(str, range(len(ANYTHING))))
def test_whatever_can_be_said_is_enforced_there_as_here(babbling: str, wanted: Any) -> None:
    assert outcome(wanted, babbling) == outcome(wanted, random_model())


def assert_described_alike(wanted: Any) -> None:
    here = resolve_type(wanted)
    there = data_to_type(json.loads(json.dumps(type_to_data(here))))
    assert there.describe() == here.describe()


@pytest.mark.parametrize("wanted", ANYTHING, ids=map(str, range(len(ANYTHING))))
def test_whatever_can_be_said_is_described_there_as_here(wanted: Any) -> None:
    """So that the prompts are the same, with the task of functions and what stands in place of a grammar."""
    assert_described_alike(wanted)


@given(wanted=output_types())
def test_any_type_is_described_there_as_here(wanted: Any) -> None:
    try:
        resolve_type(wanted).check()
    except SchemaError:
        return
    assert_described_alike(wanted)


@pytest.mark.thorough
@given(wanted=output_types(), optional=st.sampled_from(["written", "omittable"]))
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_type_is_answered_there_as_here(babbling: str, wanted: Any, optional: Any) -> None:
    """What tries everything writes the same text behind a server, so the masks are the same."""
    assert outcome(wanted, babbling, layout=JsonLayout(optional_properties=optional)) == outcome(
        wanted, random_model(), layout=JsonLayout(optional_properties=optional)
    )


@pytest.mark.parametrize("text", TEXTS)
def test_the_server_answers_as_the_model_itself(model: str, text: str) -> None:
    assert extract(Person, text, model=model) == extract(Person, text, model=PACKAGED_MODEL)


def test_a_batch_has_its_results_in_order(model: str) -> None:
    found = extract_batch(Person, TEXTS * 3, model=model, batch_size=4)
    assert found == [Person(name="Jason", age=25), Person(name="Ana", age=31), Person(name="Bo", age=7)] * 3


def test_evidence_is_the_same_as_here(model: str) -> None:
    """The server tells the probability of each token among those that were allowed: these are nearly all."""
    there = Extractor(Person, model=model).result(TEXTS[0])
    here = Extractor(Person, model=PACKAGED_MODEL).result(TEXTS[0])
    for path, one in here.evidence.items():
        assert there.evidence[path].span == one.span
        assert there.evidence[path].confidence == pytest.approx(one.confidence, abs=0.01)
    assert there.text == here.text
    assert there.usage.prompt_tokens == here.usage.prompt_tokens


def test_choices_expressions_and_grammars_are_enforced_there(model: str) -> None:
    assert extract(Choice({"billing": 1, "sales": 2}), "My invoice is wrong.", model=model) in {1, 2}
    assert extract(Regex(r"\d{4}", int), "The year is 2024.", model=model) == 2024
    assert extract(Grammar('start: "yes" | "no"'), "Is it so? Yes.", model=model) in {"yes", "no"}
    assert extract(list[Person], TEXTS[0], model=model) == [Person(name="Jason", age=25)]


CROWD = "Ana Brandt, 31, and Tom Reed, 42, and Jim Beam, 50, and Bo Diddley, 19, run the shop."


def test_what_the_server_shortened_is_valid_and_warned_of(model: str) -> None:
    """As here, and whatever the server is taken for: it marks what it brought to its end."""
    with pytest.warns(BudgetWarning):
        expected = extract(list[Person], CROWD, model=PACKAGED_MODEL, max_tokens=20)
    for address in (model, model.replace("structured", "vllm") + "/default"):
        with pytest.warns(BudgetWarning) as told:
            assert len(extract(list[Person], CROWD, model=address, max_tokens=20)) == len(expected)
        assert any(str(one.message).endswith("Raise max_tokens, or split the text.") for one in told)
    stream = Extractor(list[Person], model=model, max_tokens=20).stream(CROWD)
    with pytest.warns(BudgetWarning):
        stream.result()
    assert stream.generation.shortened


def test_what_repeats_itself_is_warned_of_unless_it_is_allowed() -> None:
    with served(reciting("ab" * 40)) as found:
        address = found.replace("http://", "structured://")
        with pytest.warns(RepetitionWarning):
            ended = extract(Regex("(ab|x){1,40}"), "Go: ", model=address)
        whole = extract(Regex("(ab|x){1,40}"), "Go: ", model=address, repetition=Repetition(stop=False))
    assert len(ended) < len(whole) == 80


@pytest.mark.filterwarnings("ignore::structured.errors.BudgetWarning")
def test_free_text_that_was_cut_off_is_no_answer(model: str) -> None:
    """Without a constraint, the server brings nothing to its end."""
    asked: Any = connect(model, enforced=False)
    with pytest.raises(GenerationError, match="cut it off"):
        extract(list[Person], TEXTS[0], model=asked, max_tokens=1, retries=0)


def test_an_answer_is_streamed(model: str) -> None:
    stream = Extractor(Person, model=model).stream(TEXTS[0])
    pieces = list(stream)
    assert len(pieces) > 1
    assert "".join(pieces) == stream.text
    assert stream.result().value == Person(name="Jason", age=25)


def test_what_validators_reject_is_asked_for_again(model: str) -> None:
    tried.clear()
    found = Extractor(Doubted, model=model, seed=1).result(TEXTS[0])
    assert len(found.attempts) == 1
    assert len(tried) == 2
    tried.clear()
    with pytest.raises(GenerationError, match="try again"):
        extract(Doubted, TEXTS[0], model=model, retries=0)


def test_samples_vote(model: str) -> None:
    found = extract(
        Order, "Two small ones, please.", model=model, search=Samples(3, vote=True), temperature=0.5, seed=1
    )
    assert isinstance(found, Order)


def test_instructions_reach_the_server_and_examples_do_not(model: str) -> None:
    extractor = Extractor(Person, model=model, instructions="Be exact.", system="You read letters.")
    assert extractor.prompt("A text") == [
        {"role": "system", "content": "You read letters.\n\nBe exact."},
        {"role": "user", "content": "A text"},
    ]
    with pytest.raises(ValueError, match="takes no examples"):
        Extractor(Person, model=model, examples=[("Jo, 3", Person(name="Jo", age=3))])


def test_a_wrong_model_is_named(model: str) -> None:
    with pytest.raises(ServerError, match=r"'other' is not served here.* these models: packaged, default"):
        extract(Person, TEXTS[0], model=f"{model}/other")
    for name in ("packaged", "default", "the%20packaged%20model"):
        assert extract(Person, TEXTS[0], model=f"{model}/{name}") == Person(name="Jason", age=25)


def test_a_key_lets_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("STRUCTURED_API_KEY", raising=False)
    with served(PACKAGED_MODEL, api_key=KEY) as found:
        address = found.replace("http://", "structured://")
        with pytest.raises(ServerError, match="answered 401") as caught:
            extract(Person, TEXTS[0], model=address)
        assert caught.value.is_for_all
        given: Any = connect(address, api_key=KEY)
        assert extract(Person, TEXTS[0], model=given) == Person(name="Jason", age=25)


@pytest.mark.parametrize(
    ("kind", "text", "options"),
    [(BudgetError, TEXTS[0], {"max_tokens": 2}), (PromptError, TEXTS[0], {"instructions": "Be exact. " * 9000})],
)
def test_an_error_of_what_was_asked_is_the_same_there_as_here(
    model: str, kind: type[StructuredError], text: str, options: Any
) -> None:
    raised = []
    for asked in (model, PACKAGED_MODEL):
        with pytest.raises(kind) as caught:
            extract(Person, text, model=asked, **options)
        raised.append(caught.value)
    there, here = raised
    assert str(there) == str(here)
    assert there.__notes__ == [f"It was raised by the server at {model.replace('structured', 'http')}."]
    assert {name: value for name, value in vars(there).items() if name != "__notes__"} == vars(here)
    with pytest.raises(kind):
        Extractor(Person, model=model, **options).stream(text).result()


@pytest.mark.parametrize("server", ["openai", "vllm"])
def test_it_can_be_asked_as_others_are(model: str, server: str) -> None:
    """The server takes their requests too; its prompt then stands around theirs."""
    address = model.replace("structured", server) + "/default"
    assert isinstance(extract(Person, TEXTS[0], model=address), Person)
    assert extract(Choice(["billing", "sales"]), "My invoice is wrong.", model=address) in {"billing", "sales"}
