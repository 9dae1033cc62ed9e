"""Batches: what goes wrong with one document costs no other its answer, and is told in its place."""

import asyncio
import random
import re
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

import pytest
from doubles import ByteTokenizer, LogitsFunction, each_generation, extract_each, json_hating_logits, random_logits
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field, field_validator
from random_patterns import randoms

from structured import (
    Beams,
    Extractor,
    Particles,
    Repetition,
    Samples,
    StructuredError,
    aextract,
    aextract_batch,
    extract,
    extract_batch,
    structured,
)
from structured.decoding import Generation
from structured.errors import (
    BatchError,
    BudgetError,
    BudgetWarning,
    GenerationError,
    ModelError,
    OutOfMemoryError,
    PromptError,
)
from structured.extraction import Options, events
from structured.models import FunctionModel
from structured.models.function import FunctionBatch

TOKENIZER = ByteTokenizer(tokens=(*ByteTokenizer().tokens, b'\n{"'))
"""With a token that prompts are healed for."""

LOGITS = random_logits(len(TOKENIZER.tokens), scale=3.0)
CONTEXT = 160


class Digits(BaseModel):
    first: int = Field(ge=0, le=9)
    second: int = Field(ge=0, le=9)


class Note(BaseModel):
    text: str = Field(max_length=12)


class Even(BaseModel):
    number: int = Field(ge=0, le=9)

    @field_validator("number")
    @classmethod
    def is_even(cls, number: int) -> int:
        if number % 2:
            raise ValueError("odd")
        return number


class Smashed(BaseModel):
    number: int = Field(ge=0, le=9)

    @field_validator("number")
    @classmethod
    def divides(cls, number: int) -> int:
        return 12 // (number % 3) * number


class OneAtATime(FunctionModel):
    """A model whose device has no room for a prompt with "huge" in it, however few are beside it."""

    def prefill(
        self, prompts: Sequence[Sequence[int]], *, shared: int = 0, window: int = 0
    ) -> tuple[FunctionBatch, Any]:
        spelled = [b"".join(TOKENIZER.tokens[one] or b"" for one in prompt) for prompt in prompts]
        if any(b"huge" in text for text in spelled):
            raise OutOfMemoryError("full")
        return super().prefill(prompts, shared=shared, window=window)


TYPES = (Digits, Note, Even, Literal["a", "b"])
WAYS: tuple[Options, ...] = (
    {},
    {"jump_forward": False},
    {"temperature": 1.0, "seed": 1},
    {"temperature": 1.0, "seed": 1, "search": Samples(2)},
    {"temperature": 1.0, "seed": 1, "search": Samples(3, vote=True)},
    {"search": Beams(2)},
)
GOOD = ("Ana", "1 and 2", "x" * 20)
BAD: tuple[tuple[Any, type[StructuredError], str], ...] = (
    ("", PromptError, r"^Document {} is empty\."),
    (" \n", PromptError, r"^Document {} is empty\."),
    (None, PromptError, r"^Document {} is None, not text\. Leave it out\.$"),
    (b"x", PromptError, r"^Document {} is bytes, not text\. Decode it: document\.decode\(\)\.$"),
    (Path("nowhere"), PromptError, "^The file nowhere cannot be read: .*No such file"),
    (3, PromptError, r"^Document {} is int, not text\. Pass a str\.$"),
    ("huge", OutOfMemoryError, "^full$"),
)


@pytest.mark.thorough
@given(
    st.lists(st.sampled_from([*((good, None, "") for good in GOOD), *BAD]), max_size=7),
    st.sampled_from(WAYS),
    st.integers(1, 9),
    randoms(),
)
@settings(max_examples=25, deadline=None)
def test_a_bad_document_costs_no_other_its_answer(
    given_documents: list[tuple[Any, type[StructuredError] | None, str]],
    way: Options,
    batch_size: int,
    rng: random.Random,
) -> None:
    """Good documents have the answers that they have without the bad ones, whose errors are in their places."""
    documents = [document for document, _, _ in given_documents]
    types = [rng.choice(TYPES) for _ in documents]
    model = OneAtATime(LOGITS, TOKENIZER, context_length=CONTEXT)
    options: Options = {"model": model, "batch_size": batch_size, "retries": rng.randrange(2), **way}
    if options["retries"]:
        options["seed"] = 1  # answers that validators reject are sampled again, the same in each batch
    replaced = [GOOD[0] if kind else document for document, kind, _ in given_documents]
    expected = extract_each(types, replaced, errors="return", **options)
    found = extract_each(types, documents, errors="return", **options)
    for position, (_, kind, message) in enumerate(given_documents):
        if kind is None:
            assert type(found[position]) is type(expected[position])
            assert str(found[position]) == str(expected[position])
        else:
            assert isinstance(found[position], kind)
            assert re.search(message.format(position), str(found[position]))
    errors = {position: one for position, one in enumerate(found) if isinstance(one, StructuredError)}
    assert all(one.document == position for position, one in errors.items() if isinstance(one, GenerationError))
    if not errors:
        assert extract_each(types, documents, **options) == found
        return
    with pytest.raises(BatchError) as caught:
        extract_each(types, documents, **options)
    assert list(caught.value.errors) == list(errors)
    assert {at: str(error) for at, error in caught.value.errors.items()} == {at: str(one) for at, one in errors.items()}
    assert caught.value.results == tuple(None if position in errors else one for position, one in enumerate(found))


def test_a_budget_that_is_too_small_is_the_error_of_its_document() -> None:
    """Where the context leaves less than the shortest answer takes."""
    free = Extractor(Digits, model=FunctionModel(LOGITS, TOKENIZER))
    room = len(free._task.model.encode(free.prompt("Ana")))
    model = FunctionModel(LOGITS, TOKENIZER, context_length=room + free._task.index("").shortest_completion(0) + 2)
    found = extract_batch(Digits, ["Ana", "Ana" + "x" * 6, "Bob"], model=model, errors="return")
    assert [type(one) for one in found] == [Digits, BudgetError, Digits]


@pytest.mark.parametrize(
    ("documents", "message"),
    [
        ("text", "are one str, and would be read letter by letter. Pass a list: [text]."),
        (b"text", "are one bytes, and would be read letter by letter. Pass a list: [text]."),
        ({"a": "text"}, "are a mapping, and would be its keys. Pass list(documents.items())."),
        (None, "are None. Pass a list of texts."),
        (3, "are 3. Pass a list of texts."),
    ],
)
def test_what_are_no_documents_is_told_at_once(documents: Any, message: str) -> None:
    with pytest.raises(PromptError, match=f"^The documents {re.escape(message)}$"):
        extract_batch(Digits, documents, model=FunctionModel(LOGITS, TOKENIZER), errors="return")


@pytest.mark.parametrize("errors", ["ignore", None, True, ["raise"]])
def test_errors_are_raised_or_returned(errors: Any) -> None:
    model = FunctionModel(LOGITS, TOKENIZER)
    message = f"^errors is {re.escape(repr(errors))}; it must be one of 'raise', 'return', 'skip'\\.$"
    for call in (
        lambda: extract_batch(Digits, ["x"], model=model, errors=errors),
        lambda: Extractor(Digits, model=model).batch(["x"], errors=errors),
        lambda: asyncio.run(aextract_batch(Digits, ["x"], model=model, errors=errors)),
    ):
        with pytest.raises(ValueError if isinstance(errors, str) else TypeError, match=message):
            call()


def test_errors_of_the_documents_iterable_are_the_callers() -> None:
    """A generator that fails is not a document that fails."""

    def documents() -> Any:
        yield "x"
        raise KeyError("lost")

    with pytest.raises(KeyError, match="lost"):
        extract_batch(Digits, documents(), model=FunctionModel(LOGITS, TOKENIZER), errors="return")


def test_a_validator_that_breaks_costs_one_document() -> None:
    """An exception that is no ValueError is the reason why an answer was rejected."""
    model = FunctionModel(random_logits(len(TOKENIZER.tokens)), TOKENIZER)
    documents = [f"document {number}" for number in range(20)]
    found = extract_batch(Smashed, documents, model=model, errors="return", retries=0)
    broken = [one for one in found if isinstance(one, GenerationError)]
    assert 0 < len(broken) < len(found)
    for one in broken:
        assert isinstance(one.__cause__, ZeroDivisionError)
        assert "ZeroDivisionError: integer division or modulo by zero" in str(one)


def failing_after(documents: int, error: BaseException) -> tuple[LogitsFunction, events.Listener]:
    """Return a model that can write so many documents and then raises, and who must observe it to know."""
    written: set[int] = set()

    def logits(token_ids: Sequence[int]) -> Any:
        if len(written) >= documents:
            raise error
        return LOGITS(token_ids)

    def observe(position: int, _generation: Generation) -> None:
        written.add(position)

    return logits, each_generation(observe)


@pytest.mark.thorough
@given(st.integers(0, 5), st.sampled_from([ModelError("broken"), RuntimeError("broken")]), st.sampled_from([1, 2, 8]))
@settings(max_examples=20, deadline=None)
def test_what_was_finished_before_the_model_failed_is_kept(count: int, error: Exception, batch_size: int) -> None:
    """The model's error is that of the documents that are left; it alone is raised if there is no result.

    What a function raises is the cause of a ModelError.
    """
    documents = ["Ana", "", "Bob", "Eva", "Ida", "Max"]
    whole = extract_batch(Digits, documents, model=FunctionModel(LOGITS, TOKENIZER), errors="return")

    def call(errors: Any) -> Any:
        logits, observe = failing_after(count, error)
        options: Options = {"model": FunctionModel(logits, TOKENIZER), "observe": observe, "batch_size": batch_size}
        return extract_batch(Digits, documents, errors=errors, **options)

    found = call("return")
    left = [at for at, one in enumerate(found) if isinstance(one, ModelError)]
    assert isinstance(found[1], PromptError)
    for position in left:
        assert found[position] is error or found[position].__cause__ is error
        assert "broken" in str(found[position])
    kept = set(range(6)) - {1, *left}
    assert all(found[position] == whole[position] for position in kept)
    assert len(kept) >= min(count, 5)
    with pytest.raises(BatchError if kept else ModelError) as caught:
        call("raise")
    if isinstance(caught.value, BatchError):
        stopped = caught.value.__cause__
        assert (stopped is error or (stopped is not None and stopped.__cause__ is error)) == bool(left)
        assert set(caught.value.errors) == {1, *left}
        assert [one for one in caught.value.results if one is not None] == [
            whole[position] for position in sorted(kept)
        ]


@pytest.mark.parametrize("error", [KeyboardInterrupt(), KeyError("mine")])
def test_what_interrupts_a_batch_tells_what_is_lost(error: BaseException) -> None:
    """Whether from outside or from the caller's own `observe`, it comes out as it is."""
    seen = []

    def observe(position: int, _generation: Generation) -> None:
        if len(seen) == 2:
            raise error
        seen.append(position)

    with pytest.raises(type(error)) as caught:
        extract_batch(
            Digits, ["a", "b", "c", "d"], model=FunctionModel(LOGITS, TOKENIZER), observe=each_generation(observe)
        )
    assert caught.value is error
    assert "2 of 4 documents were finished, and their results are lost" in caught.value.__notes__[0]


ENDLESS = json_hating_logits(TOKENIZER.tokens)


def one_warning(call: Callable[[], object]) -> BudgetWarning:
    """Return the warning that a call gives; it gives one, and it points here."""
    with pytest.warns(BudgetWarning) as caught:
        call()
    (warning,) = caught
    assert warning.filename == __file__
    assert isinstance(warning.message, BudgetWarning)
    return warning.message


def test_a_call_warns_once_of_all_that_was_shortened() -> None:
    """It names the documents, and max_tokens if that was too small for them."""
    model = FunctionModel(ENDLESS, TOKENIZER)
    one = one_warning(lambda: extract(str, "x", model=model, max_tokens=9))
    assert str(one) == (
        "The answer was shortened to fit max_tokens=9; it is valid but may be incomplete. Raise max_tokens, "
        "or set chunking=Chunking(tokens=…), and the text is read in parts."
    )
    types = [str, Digits, str, Digits, Digits, str]
    with pytest.warns(BudgetWarning) as caught:
        extract_each(types, list("abcdef"), model=model, max_tokens=40, repetition=Repetition(stop=False))
    (several,) = (one.message for one in caught)
    assert isinstance(several, BudgetWarning)
    assert several.documents == (0, 2, 5)
    assert str(several) == (
        "The answers for 3 of 6 documents (0, 2, 5) were shortened to fit max_tokens=40; they are valid "
        "but may be incomplete. Raise max_tokens, "
        "or set chunking=Chunking(tokens=…), and the text is read in parts."
    )
    many = one_warning(lambda: extract_batch(str, ["x"] * 12, model=model, max_tokens=9))
    assert "12 of 12 documents (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, …)" in str(many)


def test_the_context_is_not_blamed_on_max_tokens() -> None:
    """Where the context leaves less than max_tokens, the text is too long or the model too small."""
    free = Extractor(str, model=FunctionModel(ENDLESS, TOKENIZER))
    context = len(free._task.model.encode(free.prompt("x" * 30))) + 20
    model = FunctionModel(ENDLESS, TOKENIZER, context_length=context)
    one = one_warning(lambda: extract(str, "x" * 30, model=model))
    assert str(one) == (
        f"The answer was shortened to fit the context of <lambda>: {context} tokens, prompt included; "
        "it is valid but may be incomplete. Shorten or split the text, or use a model with a longer context."
    )
    both = str(one_warning(lambda: extract_batch(str, ["x", "x" * 30], model=model, max_tokens=25)))
    assert "1 of 2 documents (0) were shortened to fit max_tokens=25" in both
    assert "1 of 2 documents (1) were shortened to fit the context of <lambda>" in both


def test_calls_beside_the_event_loop_warn_of_the_line_that_awaits() -> None:
    """So do those of tasks: of the line that runs the loop."""
    options: Options = {"model": FunctionModel(ENDLESS, TOKENIZER), "max_tokens": 9}

    async def direct() -> None:
        await aextract(str, "x", **options)

    async def batch() -> None:
        await aextract_batch(str, ["x", "y"], **options)

    async def task() -> None:
        await asyncio.gather(aextract(str, "x", **options))

    for main in (direct, batch, task):
        one_warning(lambda main=main: asyncio.run(main()))


def test_a_stream_warns_of_its_result() -> None:
    stream = Extractor(str, model=FunctionModel(ENDLESS, TOKENIZER), max_tokens=9).stream("x")
    "".join(stream)
    one_warning(stream.result)


def test_nothing_is_warned_of_where_nothing_was_shortened() -> None:
    """Nor of answers that were rejected."""

    @structured(model=FunctionModel(LOGITS, TOKENIZER))
    def digits(text: str) -> Digits:
        """Read {text}"""

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        digits("x")
        extract_each([Digits, Note], ["x", "y"], model=FunctionModel(LOGITS, TOKENIZER))


@pytest.mark.thorough
@pytest.mark.parametrize("search", [Options(search=Beams(2)), Options(search=Particles(2), temperature=1.0, seed=3)])
@given(most=st.integers(1, 5), batch_size=st.integers(1, 12))
@settings(max_examples=20, deadline=None)
def test_searches_too_large_for_the_device_are_tried_in_halves(search: Options, most: int, batch_size: int) -> None:
    """With room for fewer searches at once, they find the same."""

    class Small(FunctionModel):
        def prefill(
            self, prompts: Sequence[Sequence[int]], *, shared: int = 0, window: int = 0
        ) -> tuple[FunctionBatch, Any]:
            if len(prompts) > most:
                raise OutOfMemoryError("full")
            return super().prefill(prompts, shared=shared, window=window)

    documents = ["Ana", "Bob", "Eva", "Ida", "Max"]
    options: Options = {**search, "retries": 0, "batch_size": batch_size}
    expected = extract_batch(Digits, documents, model=FunctionModel(LOGITS, TOKENIZER), **options)
    assert extract_batch(Digits, documents, model=Small(LOGITS, TOKENIZER), **options) == expected
