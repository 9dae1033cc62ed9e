"""The user's calls: whatever a model writes, Pydantic accepts."""

import asyncio
import json
import random
import re
import warnings
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

import pytest
from doubles import ByteTokenizer, each_generation, extract_each, json_hating_logits, random_logits
from effort import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import AfterValidator, BaseModel, Field, ImportString, TypeAdapter, field_validator
from strategies import WHITESPACES, output_types

from structured import (
    Document,
    Extractor,
    JsonLayout,
    Regex,
    StructuredError,
    aextract,
    classify,
    extract,
    extract_batch,
    extract_results,
    structured,
    to_regex,
)
from structured.automata import RegularAutomaton
from structured.decoding.generate import MAX_INDEXES
from structured.errors import (
    BatchError,
    BudgetError,
    BudgetWarning,
    GenerationError,
    PromptError,
    SchemaError,
    StructuredWarning,
)
from structured.extraction import Options, TextLike
from structured.models import FunctionModel, ScriptedModel

if TYPE_CHECKING:
    from structured.decoding import Generation

TOKENIZER = ByteTokenizer()
WIDTH = len(TOKENIZER.tokens)
MODELS = {
    "uniform": FunctionModel(random_logits(WIDTH, scale=1.0), TOKENIZER),
    "peaked": FunctionModel(random_logits(WIDTH, scale=20.0), TOKENIZER),
    "hates JSON": FunctionModel(json_hating_logits(TOKENIZER.tokens), TOKENIZER),
}
SCRIPTED = {"model": ScriptedModel('{"name": "Ana", "age": 31}')}


Distinct = Annotated[set[str], Field(min_length=2)]
Texts = Annotated[list[Annotated[str, Field(min_length=5)]], Field(min_length=3)]


class Person(BaseModel):
    name: str = Field(max_length=20)
    age: int = Field(ge=0, le=150)


@pytest.mark.thorough
@pytest.mark.parametrize("name", MODELS)
@settings(max_examples=examples(60), suppress_health_check=list(HealthCheck))
@given(output_type=output_types(), whitespace=st.sampled_from(WHITESPACES), seed=st.integers(0, 2**32))
def test_every_answer_of_any_model_validates(name, output_type, whitespace, seed):
    """Twelve hundred answers for each kind of logits, random, peaked and hostile, of sixty random types."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StructuredWarning)
        extractor = Extractor(
            output_type,
            model=MODELS[name],
            layout=JsonLayout(whitespace),
            temperature=1.0,
            seed=seed,
            max_tokens=400,
            retries=0,
            batch_size=20,
        )
        answers = extractor.batch([f"document {i}" for i in range(20)])
    for answer in answers:
        extractor._task.output_type.adapter.validate_python(answer)


@pytest.mark.thorough
@pytest.mark.parametrize("name", MODELS)
@settings(max_examples=examples(60), suppress_health_check=list(HealthCheck))
@given(output_type=output_types(), source=st.integers(0, 2**32))
def test_the_tightest_budget_is_met(name, output_type, source):
    """With as many tokens as the shortest answer takes, or a few more, the answer is whole; with one less, an error."""
    rng = random.Random(source)
    index = Extractor(output_type, model=MODELS[name])._task.index("")
    shortest = index.shortest_completion(index.automaton.start)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StructuredWarning)
        extract(output_type, "x", model=MODELS[name], max_tokens=shortest + rng.randint(0, 5), retries=0, temperature=1)
    if shortest > 1:
        with pytest.raises(BudgetError) as caught:
            extract(output_type, "x", model=MODELS[name], max_tokens=shortest - 1)
        assert (caught.value.shortest, caught.value.max_tokens) == (shortest, shortest - 1)


def test_the_same_seed_gives_the_same_object_and_another_seed_another():
    def drawn(seed: int) -> Person:
        return extract(Person, "x", model=MODELS["uniform"], temperature=1.0, seed=seed)

    assert drawn(7) == drawn(7)
    assert len({drawn(seed).name for seed in range(10)}) > 5


@pytest.mark.thorough
@settings(max_examples=examples(40), suppress_health_check=list(HealthCheck))
@given(wanted=st.lists(output_types(), min_size=1, max_size=3), source=st.integers(0, 2**32))
def test_each_document_may_have_its_own_type(wanted, source):
    """Documents of several types in one batch have the answers that they have among documents of one type."""
    rng = random.Random(source)
    documents = [f"document {number}" for number in range(6)]
    chosen = [rng.choice(wanted) for _ in documents]
    options = Options(model=MODELS["uniform"], temperature=1.0, seed=source, max_tokens=400, retries=0, batch_size=4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StructuredWarning)
        alone = [extract_batch(one, documents, **options)[at] for at, one in enumerate(chosen)]
        assert same(extract_each(chosen, documents, **options), alone)


def test_automata_are_built_once_however_many_types_there_are(monkeypatch):
    """Also past the number of indexes that are kept in memory; where prompts are healed, two for each type."""
    built = []

    class Counted(RegularAutomaton):
        def __init__(self, pattern, **options):
            built.append(pattern)
            super().__init__(pattern, **options)

        def with_prefix(self, text):
            built.append(text)
            return super().with_prefix(text)

    monkeypatch.setattr("structured.output_types.json_output.RegularAutomaton", Counted)
    tokenizer = ByteTokenizer(tokens=(*TOKENIZER.tokens, b'\n"'))
    wanted = [Literal[f"a{number}", "b"] for number in range(MAX_INDEXES + 6)]
    answers = extract_each(wanted * 2, ["x"] * len(wanted) * 2, model=(random_logits(WIDTH + 1), tokenizer))
    assert all(answer in get_args(one) for answer, one in zip(answers, wanted * 2, strict=True))
    assert len(built) == 2 * len(wanted)


def same(left, right):
    """Tell whether values are equal, and NaN equal to itself."""
    return repr(left) == repr(right)


def test_prompts_of_several_types_share_what_all_of_them_begin_with():
    """And no more, whatever the prompts of each type alone have in common."""
    begun = []

    class Recorded(FunctionModel):
        def prefill(self, prompts, *, shared=0, window=0):
            begun.append((prompts, shared))
            return super().prefill(prompts, shared=shared, window=window)

    model = Recorded(random_logits(WIDTH), TOKENIZER)
    extract_each([Person, Texts, Person], ["one", "two", "three"], model=model, retries=0)
    ((prompts, shared),) = begun
    assert shared > 0
    assert len({tuple(prompt[:shared]) for prompt in prompts}) == 1
    assert len({prompt[shared] for prompt in prompts}) > 1


@pytest.mark.parametrize("documents", [["\nBob is 4.", "Ann is 3."], ["Ann is 3.", "\nBob is 4.", " x"], ["//a", "b"]])
def test_what_prompts_share_they_share(documents):
    """Even where the first characters of a document are of one token with what stands before them."""
    begun = []

    class Recorded(FunctionModel):
        def prefill(self, prompts, *, shared=0, window=0):
            begun.append((prompts, shared))
            return super().prefill(prompts, shared=shared, window=window)

    extract_batch(Person, documents, model=Recorded(random_logits(WIDTH), TOKENIZER), retries=0, jump_forward=False)
    ((prompts, shared),) = begun
    assert shared > 0
    assert len({tuple(prompt[:shared]) for prompt in prompts}) == 1


@pytest.mark.parametrize("call", ["extract", "extract_batch", "Extractor", "batch", "structured"])
def test_warnings_name_the_line_of_the_user(call):
    """A short budget warns about the file that asked, whichever way it asked."""
    index = Extractor(Person, model=MODELS["uniform"])._task.index("")
    shortest = index.shortest_completion(index.automaton.start)

    @structured(model=MODELS["uniform"], max_tokens=shortest)
    def person(text: str) -> Person:
        """Who? {text}"""
        raise NotImplementedError

    options = Options(model=MODELS["uniform"], max_tokens=shortest, retries=0)
    calls = {
        "extract": lambda: extract(Person, "x", **options),
        "extract_batch": lambda: extract_batch(Person, ["x"], **options),
        "Extractor": lambda: Extractor(Person, **options)("x"),
        "batch": lambda: Extractor(Person, **options).batch(["x"]),
        "structured": lambda: person("x"),
    }
    with pytest.warns(BudgetWarning) as caught:
        calls[call]()
    assert {warning.filename for warning in caught} == {__file__}


DOCUMENTS: dict[str, Callable[[Path], TextLike]] = {
    "a text": lambda _: "Ana is 31.",
    "a chat": lambda _: [{"role": "user", "content": "Ana is 31."}],
    "a file": lambda file: file,
    "an id with a text": lambda _: ("letter.txt", "Ana is 31."),
    "a Document": lambda _: Document("Ana is 31.", id="letter.txt"),
}

DOORS: dict[str, Callable[[TextLike], object]] = {
    "extract": lambda text: extract(Person, text, **SCRIPTED),
    "aextract": lambda text: asyncio.run(aextract(Person, text, **SCRIPTED)),
    "classify": lambda text: classify(bool, text, model=MODELS["uniform"]),
    "call": Extractor(Person, **SCRIPTED),
    "result": lambda text: Extractor(Person, **SCRIPTED).result(text).value,
    "stream": lambda text: Extractor(Person, **SCRIPTED).stream(text).result().value,
    "prompt": lambda text: Extractor(Person, **SCRIPTED).prompt(text),
}


@pytest.mark.parametrize("document", DOCUMENTS)
@pytest.mark.parametrize("door", DOORS)
def test_every_door_reads_every_kind_of_document(door, document, tmp_path):
    """Where one text goes, a chat, a file, an id with a text and a `Document` go, and are read as that text."""
    file = tmp_path / "letter.txt"
    file.write_text("Ana is 31.")
    assert DOORS[door](DOCUMENTS[document](file)) == DOORS[door]("Ana is 31.")


@pytest.mark.parametrize("nothing", [None, type(None)])
def test_nothing_is_no_type_to_extract(nothing):
    """At each door, before a model is loaded."""
    options = {"model": "no/such/folder"}

    @structured(**options)
    def answer(text: str) -> nothing:
        """Read {text}"""

    calls = (lambda: extract(nothing, "x", **options), lambda: Extractor(nothing, **options), lambda: answer("x"))
    for call in calls:
        with pytest.raises(SchemaError, match=r"^The type is None, so there is nothing to extract\. Pass a BaseModel"):
            call()


def test_a_list_of_a_type_is_that_of_its_values():
    for call in (extract, extract_batch, extract_results):
        with pytest.raises(
            TypeError, match=r"takes one type, and \[Any\] is a list\. For a list of them, pass list\[Any\]\.$"
        ):
            call([Any], ["one"], model=MODELS["uniform"])


def test_a_list_of_types_is_no_type():
    for call in (extract, extract_batch, extract_results):
        with pytest.raises(TypeError, match=r"takes one type, and \[.* is a list\. Call it once for each type"):
            call([Person, Texts], ["one", "two"], model=MODELS["uniform"])


def test_observers_see_every_text_that_is_written():
    """Also those that validators reject: for each its document, its log-probability and how it came about."""
    seen: list[tuple[int, Generation]] = []

    class Odd(BaseModel):
        number: Annotated[int, Field(ge=0, le=9)]

        @field_validator("number")
        @classmethod
        def is_odd(cls, number: int) -> int:
            if number % 2 == 0:
                raise ValueError("even")
            return number

    documents = [f"document {number}" for number in range(8)]
    numbers = extract_batch(
        Odd,
        documents,
        model=MODELS["uniform"],
        temperature=1.0,
        seed=1,
        retries=50,
        observe=each_generation(lambda *one: seen.append(one)),
    )
    for position, answer in enumerate(numbers):
        *rejected, last = [json.loads(one.text)["number"] for at, one in seen if at == position]
        assert last == answer.number
        assert all(number % 2 == 0 for number in rejected)
    assert len(seen) > len(documents)
    for _, one in seen:
        found = one.diagnostics
        assert one.log_probability < 0
        assert found.sampled > 0
        assert found.forced > 0
        assert found.sampled + found.forced == len(one.token_ids)
        assert 0 < found.seconds_in_model + found.seconds_in_guide <= found.seconds


def test_an_answer_does_not_depend_on_its_batch():
    documents = [f"{i} {'long ' * (i % 5)}" for i in range(12)]
    answers = {
        size: extract_batch(Person, documents, model=MODELS["uniform"], temperature=1.0, seed=3, batch_size=size)
        for size in (1, 5, 12)
    }
    assert answers[1] == answers[5] == answers[12]


@pytest.mark.parametrize(
    "output_type",
    [Literal["a", "b"], int, list[Person], Person | None, bool, date, Annotated[str, Field(max_length=3)]],
)
def test_types_without_fields_are_output_types_too(output_type):
    answer = extract(output_type, "x", model=MODELS["uniform"], temperature=1.0, seed=1, max_tokens=200)
    assert TypeAdapter(output_type).validate_python(answer) == answer


class Even(BaseModel):
    number: Annotated[int, Field(ge=0, le=9)]

    @staticmethod
    def halve(number: int) -> int:
        if number % 2:
            raise ValueError(f"{number} is odd")
        return number


class Picky(BaseModel):
    number: Annotated[int, Field(ge=0, le=9), AfterValidator(Even.halve)]


class Impossible(BaseModel):
    number: Annotated[int, Field(ge=1, le=1), AfterValidator(Even.halve)]


def test_an_answer_that_a_validator_rejects_is_drawn_again():
    """Half of the digits are odd, so that some of forty first attempts fail; in the end every number is even."""
    answers = extract_batch(Picky, ["x"] * 40, model=MODELS["uniform"], temperature=1.0, seed=0, retries=30)
    assert all(answer.number % 2 == 0 for answer in answers)
    with pytest.raises(BatchError):
        extract_batch(Picky, ["x"] * 40, model=MODELS["uniform"], temperature=1.0, seed=0, retries=0)


def test_greedy_attempts_after_the_first_are_drawn():
    """A greedy model repeats itself; what it is asked again is drawn with other random numbers."""
    for seed in range(5):
        assert extract(Picky, "x", model=MODELS["uniform"], seed=seed, retries=60).number % 2 == 0


def test_when_every_attempt_is_rejected_the_error_holds_them_all():
    with pytest.raises(GenerationError) as caught:
        extract(Impossible, "x", model=MODELS["uniform"], retries=2, seed=0)
    assert [attempt.text for attempt in caught.value.attempts] == ['{"number": 1}'] * 3
    assert all("1 is odd" in str(attempt.error) for attempt in caught.value.attempts)
    assert "All 3 attempts failed validators" in str(caught.value)


def test_one_failing_document_does_not_lose_the_others():
    with pytest.raises(BatchError) as caught:
        extract_batch(Picky, ["x"] * 30, model=MODELS["uniform"], temperature=1.0, seed=0, retries=0)
    for position, result in enumerate(caught.value.results):
        assert (result is None) == (position in caught.value.errors)
        if result is None:
            assert caught.value.errors[position].document == position
        else:
            assert result.number % 2 == 0


@structured(model=MODELS["uniform"], temperature=1.0, seed=5)
def people(text: str, language: str = "English") -> list[Person]:
    """List everybody in this {language} text: {text}."""
    raise NotImplementedError


def test_a_decorated_function_asks_its_docstring_for_its_return_annotation():
    asked = extract(
        list[Person],
        "Ana",
        instructions="List everybody in this English text: the text.",
        model=MODELS["uniform"],
        temperature=1.0,
        seed=5,
    )
    assert people("Ana") == people(text="Ana") == people("Ana", language="English") == asked
    assert people.__name__ == "people"


def test_a_decorator_refuses_what_cannot_work():
    with pytest.raises(PromptError, match=re.escape("f has no docstring. Write the prompt there")):

        @structured
        def f(text: str) -> int: ...

    with pytest.raises(PromptError, match=re.escape("The docstring of g has fields that are no parameters: {txt}.")):

        @structured
        def g(text: str) -> int:
            """Read {txt}"""

    with pytest.raises(SchemaError, match="h has no return annotation"):

        @structured
        def h(text: str):
            """Read {text}"""

    with pytest.raises(TypeError, match="j is a generator"):

        @structured
        async def j(text: str) -> int:
            """Read {text}"""
            yield text
            raise NotImplementedError

    with pytest.raises(TypeError, match=re.escape("<class 'int'> is not a function")):
        structured(int)

    with pytest.raises(PromptError, match="To write a literal brace, double it"):

        @structured
        def i(text: str) -> int:
            """Read {text} {"""


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: extract(Person, "", model=MODELS["uniform"]), PromptError, "The text is empty. There"),
        (lambda: extract(Person, " \n", model=MODELS["uniform"]), PromptError, "The text is empty. There"),
        (lambda: extract(Person, None, model=MODELS["uniform"]), PromptError, "The text is None. Pass a str."),
        (
            lambda: Extractor(Person, model=MODELS["uniform"]).stream(["a"]),
            PromptError,
            "The text is a list, not text. Use extract_batch for several texts.",
        ),
        (lambda: extract_batch(Person, ["a", 3], model=MODELS["uniform"]), BatchError, "Document 1 is int, not text"),
        (lambda: extract_batch(Person, "a", model=MODELS["uniform"]), PromptError, "Pass a list"),
        (lambda: extract(3, "a", model=MODELS["uniform"]), SchemaError, "not a type"),
        (lambda: extract(ImportString, "a", model="no/model"), SchemaError, "import_string"),
        (lambda: extract(int, "a", model=MODELS["uniform"], examples=[("b", "x")]), PromptError, "is not of type int"),
        (lambda: extract(ImportString, "a", model=MODELS["uniform"]), SchemaError, "import_string"),
        (lambda: extract(Person, "a", model=MODELS["uniform"], layout=JsonLayout("loose")), ValueError, "compact"),
        (lambda: extract(Person, "a", model=MODELS["uniform"], temperature=-1), ValueError, "temperature is -1"),
        (lambda: extract(Person, "a", model=MODELS["uniform"], max_tokens=0), ValueError, "max_tokens is 0"),
        (
            lambda: extract(Person, "a", modle=MODELS["uniform"]),
            TypeError,
            "Unknown option modle. Did you mean 'model'?",
        ),
    ],
)
def test_bad_input_gets_its_own_error(call, error, message):
    with pytest.raises(error, match=re.escape(message)):
        call()


LONG = "Read it. " * 200


class Described(BaseModel):
    name: Annotated[str, Field(description=LONG)]


@pytest.mark.parametrize(
    ("output_type", "text", "options", "blamed"),
    [
        (Regex("a"), LONG, {}, "Shorten or split the text"),
        (int, "word", {"instructions": LONG}, r"\d+ of them are those of instructions and system\. Shorten that"),
        (int, "word", {"system": LONG}, r"\d+ of them are those of instructions and system\. Shorten that"),
        (int, "word", {"examples": [(LONG, 3)]}, r"\d+ of them are those of examples\. Shorten that"),
        (Described, "word", {}, r"\d+ of them are those of the description of the type\. Shorten that"),
    ],
    ids=["text", "instructions", "system", "examples", "type"],
)
def test_a_prompt_longer_than_the_context_blames_its_longest_part(output_type, text, options, blamed):
    """Before anything is generated."""
    model = FunctionModel(random_logits(WIDTH), TOKENIZER, context_length=200)
    told = rf"takes \d+ tokens, and the context of .* has 200\. {blamed}, or use a model with a longer context\.$"
    with pytest.raises(PromptError, match=told):
        extract(output_type, text, model=model, **options)


def test_the_answer_fits_into_what_the_context_leaves():
    """The prompt takes most of the context; the answer is steered to its end in what is left, and says so."""
    free = FunctionModel(random_logits(WIDTH), TOKENIZER)
    prompt = Extractor(Texts, model=free).prompt("a")
    model = FunctionModel(random_logits(WIDTH), TOKENIZER, context_length=len(free.encode(prompt)) + 30)
    with pytest.warns(BudgetWarning, match="to fit the context of logits:"):
        answer = extract(Texts, "a", model=model, temperature=1.0, seed=0)
    assert len(answer) >= 3


def test_every_error_of_the_library_has_one_base():
    with pytest.raises(StructuredError):
        extract(Person, "", model=MODELS["uniform"])


def test_examples_are_shown_in_the_whitespace_of_the_answers():
    person = Person(name="Ana", age=31)
    for whitespace in WHITESPACES:
        extractor = Extractor(
            Person, model=MODELS["uniform"], examples=[("Ana is 31.", person)], layout=JsonLayout(whitespace)
        )
        answer = extractor.prompt("x").split("JSON:\n")[1].split("\n\nText:")[0]
        assert re.fullmatch(to_regex(Person, layout=JsonLayout(whitespace)), answer)
