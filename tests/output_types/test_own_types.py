"""The interface of output types: what follows it is sampled, streamed, shown, voted on and read like a Python type."""

import re
from typing import Any

import pytest
from doubles import ByteTokenizer, random_logits
from hypothesis import given, settings
from hypothesis import strategies as st

from structured import (
    Extractor,
    GenerationError,
    GuidedLogitsProcessor,
    JsonSchema,
    PromptError,
    SchemaError,
    extract,
    extract_batch,
    load_model,
)
from structured.automata import Automaton, RegularAutomaton
from structured.output_types.output_type import Description, OutputType
from structured.regex import alternation, char_set, concat, literal, repeat, words


class Year(OutputType[int]):
    """Four digits, read as a number."""

    name = "Year"

    def automaton(self, document: str | None = None) -> Automaton:
        assert document is None
        return RegularAutomaton(concat(char_set((0x31, 0x32)), repeat(char_set((0x30, 0x39)), 3, 3)))

    def parse(self, text: str) -> int:
        if int(text) % 2:
            raise ValueError("odd")
        return int(text)

    def describe(self) -> Description:
        return Description("Pattern", "[12][0-9]{3}", answer="Year", task="Find the year.")


class Word(OutputType[str]):
    """A word of the document."""

    name = "Word"
    depends_on_document = True

    def automaton(self, document: str | None = None) -> Automaton:
        assert document is not None
        return RegularAutomaton(alternation(literal("-"), words(document.split() or ["-"])))

    def parse(self, text: str) -> str:
        return text

    def describe(self) -> Description:
        return Description("Task", "one word of the text", answer="Word", task="Quote one word.")


def model(seed: int) -> tuple[Any, ByteTokenizer]:
    tokenizer = ByteTokenizer()
    return random_logits(len(tokenizer.tokens), scale=3.0, seed=seed), tokenizer


OPTIONS = {"temperature": 1.0, "max_tokens": 40}


@settings(max_examples=20)
@given(seed=st.integers(0, 1000))
def test_answers_are_of_the_automaton_and_are_parsed(seed: int) -> None:
    """A validator of one's own is one as well: what it rejects is sampled again, and listed if all is rejected."""
    seen: list[str] = []
    options = {**OPTIONS, "model": model(seed), "seed": seed, "observe": lambda _, one: seen.append(one.text)}
    (year,) = extract_batch(Year(), ["x"], errors="return", **options)
    assert all(re.fullmatch("[12][0-9]{3}", text) for text in seen)
    if isinstance(year, GenerationError):
        assert [attempt.text for attempt in year.attempts] == seen
        assert all(int(text) % 2 for text in seen)
    else:
        assert year == int(seen[-1])
        assert year % 2 == 0


@settings(max_examples=20)
@given(
    documents=st.lists(st.lists(st.text("abcé", min_size=1, max_size=4), min_size=1), min_size=1, max_size=4),
    seed=st.integers(0, 1000),
)
def test_each_document_has_its_own_automaton_where_the_type_depends_on_it(
    documents: list[list[str]], seed: int
) -> None:
    """In a batch, too, the answer to each document is one of its own words."""
    texts = [" ".join(document) for document in documents]
    for document, word in zip(documents, extract_batch(Word(), texts, model=model(seed), **OPTIONS), strict=True):
        assert word in {*document, "-"}


def test_the_prompt_shows_the_description_between_its_own_labels() -> None:
    """Nothing in it speaks of JSON; a document that imitates one of the labels is indented."""
    extractor = Extractor(Year(), model=model(0), examples=[("Born in 1990.", "1990")])
    assert extractor.prompt("In 1984.\nYear: 1") == (
        "Pattern:\n[12][0-9]{3}\n\nText:\nBorn in 1990.\n\nYear:\n1990\n\nText:\n    In 1984.\n    Year: 1\n\nYear:\n"
    )
    with pytest.raises(PromptError, match=r"1991.*is no Year: odd"):
        Extractor(Year(), model=model(0), examples=[("Born in 1991.", "1991")])


def test_a_stream_has_one_value_where_there_are_no_parts() -> None:
    """It is whole at the end of the text."""
    stream = Extractor(Word(), model=model(3), **OPTIONS).stream("red green blue")
    events = list(stream.events())
    assert [(event.path, event.value) for event in events] == [("", stream.text)]
    assert stream.result() == stream.text


def test_votes_are_on_the_whole_text() -> None:
    """What most samples say is the answer."""
    seen: list[str] = []
    options = {**OPTIONS, "samples": 9, "choose": "vote", "observe": lambda _, one: seen.append(one.text)}
    word = extract(Word(), "red green", model=model(1), **options)
    assert seen.count(word) == max(map(seen.count, seen))


def test_options_of_json_are_refused_for_other_types() -> None:
    """What would have no effect is an error; so is absence for a schema."""
    with pytest.raises(SchemaError, match="Year is written in its own way"):
        Extractor(Year(), model=model(0), whitespace="compact")
    with pytest.raises(SchemaError, match="Year is written in its own way"):
        Extractor(Year(), model=model(0), absent=True)
    with pytest.raises(SchemaError, match="says itself what may be missing"):
        Extractor(JsonSchema(True), model=model(0), absent=True)


def test_a_logits_processor_refuses_types_that_depend_on_the_document() -> None:
    """It sees no document, and would have to guess one."""
    with pytest.raises(SchemaError, match=r"Word depends on the document.* Use extract or extract_batch\."):
        GuidedLogitsProcessor(Word(), load_model(model(0)), max_tokens=9)
