"""Streams and threads: the same answers, sooner or without waiting."""

import asyncio
from typing import TYPE_CHECKING

import pytest
from doubles import ByteTokenizer, random_logits
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, field_validator

from structured import (
    Extractor,
    JsonLayout,
    Result,
    aextract,
    aextract_batch,
    aextract_results,
    extract,
    extract_batch,
    structured,
)
from structured.errors import GenerationError
from structured.models import FunctionModel

if TYPE_CHECKING:
    from structured.extraction import Options

pytestmark = pytest.mark.filterwarnings("ignore::structured.errors.StructuredWarning")

TOKENIZER = ByteTokenizer()
MODEL = FunctionModel(random_logits(len(TOKENIZER.tokens), scale=4.0), TOKENIZER)


class Person(BaseModel):
    name: str
    age: int


class Picky(BaseModel):
    name: str

    @field_validator("name")
    @classmethod
    def _refuse(cls, _value: str) -> str:
        raise ValueError("never right")


@pytest.mark.thorough
@given(st.integers(0, 200), st.booleans())
@settings(max_examples=examples(30))
def test_the_pieces_are_the_text(seed: int, jump_forward: bool) -> None:
    """Put together they are what is written in one go, and each comes with whole characters."""
    extractor = Extractor(Person, model=MODEL, temperature=1, seed=seed, max_tokens=60, jump_forward=jump_forward)
    stream = extractor.stream("x")
    assert not stream.text
    pieces = list(stream)
    assert all(pieces)
    assert "".join(pieces) == stream.text == stream.generation.text
    again = Extractor(Person, model=MODEL, temperature=1, seed=seed, max_tokens=60, jump_forward=jump_forward)
    assert stream.result().value == again("x")


def test_what_is_known_comes_before_the_model_is_asked() -> None:
    """The beginning of an object needs no forward pass."""

    def never(token_ids: object) -> list[float]:
        raise AssertionError(token_ids)

    stream = Extractor(Person, model=FunctionModel(never, TOKENIZER)).stream("x")
    assert next(stream).startswith('{"name')


def test_a_stream_is_finished_once() -> None:
    """Its result can be taken at any time; before the end there is no generation."""
    stream = Extractor(Person, model=MODEL, max_tokens=60).stream("x")
    with pytest.raises(ValueError, match="not finished"):
        _ = stream.generation
    next(stream)
    assert isinstance(stream.result().value, Person)
    assert list(stream) == []
    assert stream.result() is not None


def test_an_answer_that_validators_reject_is_an_error_at_the_end() -> None:
    """Its pieces have been read by then, so it is not drawn again."""
    stream = Extractor(Picky, model=MODEL, max_tokens=40).stream("x")
    assert "".join(stream)
    with pytest.raises(GenerationError, match="never right"):
        stream.result()


def test_async_calls_answer_as_the_others_do() -> None:
    """One by one, in batches, from a function and piece by piece, while the event loop runs on."""

    @structured(model=MODEL, max_tokens=60)
    async def person(text: str) -> Person:
        """Read {text}"""

    async def main() -> None:
        one, several, third = await asyncio.gather(
            aextract(Person, "x", model=MODEL, max_tokens=60),
            aextract_batch(Person, ["x", "y"], model=MODEL, max_tokens=60),
            person("x"),
        )
        assert one == extract(Person, "x", model=MODEL, max_tokens=60)
        assert several == extract_batch(Person, ["x", "y"], model=MODEL, max_tokens=60)
        assert isinstance(third, Person)
        (result,) = [one async for one in aextract_results(Person, ["x"], model=MODEL, max_tokens=60)]
        assert result.value == one
        stream = Extractor(Person, model=MODEL, max_tokens=60).stream("x")
        assert "".join([piece async for piece in stream]) == stream.text
        assert stream.result().value == one

    asyncio.run(main())


@pytest.mark.thorough
@given(st.integers(0, 200), st.sampled_from(["spaced", "indented"]))
@settings(max_examples=20)
def test_values_are_told_as_they_become_whole(seed: int, whitespace: str) -> None:
    """Each field once, in order, with the value it has in the end; what is partly there is a part of the answer."""
    options: Options = {
        "model": MODEL,
        "temperature": 1,
        "seed": seed,
        "max_tokens": 60,
        "layout": JsonLayout(whitespace),
    }
    person = Extractor(Person, **options)("x")
    events = list(Extractor(Person, **options).stream("x").events())
    assert [event.path for event in events] == ["name", "age", ""]
    assert [event.value for event in events] == [person.name, person.age, person]
    partials = list(Extractor(Person, **options).stream("x").partials())
    assert partials[-1] == person
    for partial in partials:
        assert vars(partial).items() <= vars(person).items()


def test_missing_fields_are_streamed_as_null() -> None:
    """Until the whole is read, what a text does not state is a null of the text."""
    stream = Extractor(Person, model=MODEL, allow_missing=True, max_tokens=60).stream("x")
    assert {event.path for event in stream.events()} >= {"name", "age", ""}
    assert isinstance(stream.result(), Result)
