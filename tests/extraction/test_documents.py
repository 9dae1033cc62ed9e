"""Documents in any iterable: read as they are needed, in windows that change no answer."""

import threading
import weakref
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from doubles import ByteTokenizer, in_order, random_logits
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field, field_validator

from structured import Document, Extractor, Repetition, Result
from structured.errors import BatchError, ModelError, PromptError
from structured.extraction import batch_state, events, run
from structured.extraction.documents.document import id_of
from structured.models import FunctionModel

TOKENIZER = ByteTokenizer()
LOGITS = random_logits(len(TOKENIZER.tokens), scale=3.0)


class Even(BaseModel):
    number: int = Field(ge=0, le=9)
    name: str = Field(max_length=4)

    @field_validator("number")
    @classmethod
    def is_even(cls, number: int) -> int:
        if number % 2:
            raise ValueError("must be even")
        return number


class Plain(BaseModel):
    number: int = Field(ge=0, le=9)


def extractor(output_type: type[BaseModel] = Plain, **options: Any) -> Extractor[Any]:
    given = {
        "model": FunctionModel(LOGITS, TOKENIZER),
        "seed": 1,
        "batch_size": 2,
        "repetition": Repetition(stop=False),
    }
    return Extractor(output_type, **given | options)


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "BLOCK_BATCHES", 1)


def as_they_are(texts: list[str]) -> Iterable[Any]:
    return texts


def lazily(texts: list[str]) -> Iterable[Any]:
    yield from texts


def with_ids(texts: list[str]) -> Iterable[Any]:
    return [(f"number {position}", text) for position, text in enumerate(texts)]


def as_documents(texts: list[str]) -> Iterable[Any]:
    return (Document(text, metadata={"length": len(text)}) for text in texts)


def as_chats(texts: list[str]) -> Iterable[Any]:
    return [[{"role": "user", "content": text}] for text in texts]


@pytest.mark.thorough
@settings(max_examples=15, deadline=None)
@given(
    st.lists(st.sampled_from(["Ana", "12", "", "a longer text", "b"]), max_size=9),
    st.sampled_from([as_they_are, lazily, with_ids, as_documents, as_chats]),
    st.integers(1, 3),
    st.sampled_from([1, 20, 10**6]),
    st.sampled_from(["return", "skip"]),
)
def test_answers_depend_on_no_block(
    texts: list[str], given_as: Callable[[list[str]], Iterable[Any]], batches: int, characters: int, errors: Any
) -> None:
    """However the documents are given, and however many are looked at together, retries included."""
    told = extractor(Even, batch_size=16).batch(list(given_as(texts)), errors="return")
    kept = [position for position, one in enumerate(told) if errors == "return" or not isinstance(one, Exception)]
    made = extractor(Even)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run, "BLOCK_BATCHES", batches)
        patch.setattr(run, "MAX_BLOCK_CHARACTERS", characters)
        found = made.batch(given_as(texts), errors=errors, progress=False)
        streamed = sorted(made.results(given_as(texts)), key=lambda one: one.position)
    assert list(map(repr, found)) == [repr(told[position]) for position in kept]
    assert [repr(one.error or one.value) for one in streamed] == list(map(repr, told))
    documents = list(given_as(texts))
    assert [one.id for one in streamed] == [id_of(one, position) for position, one in enumerate(documents)]
    answered = [one for one in streamed if one.error is None]
    assert [one.document for one in answered] == [texts[one.position] for one in answered]


@pytest.mark.usefixtures("small_blocks")
def test_documents_are_read_as_they_are_needed() -> None:
    """No more than two windows ahead, by the thread that asks for the results; what is done is forgotten."""
    read = 0

    def endless() -> Iterator[str]:
        nonlocal read
        while True:
            read += 1
            assert threading.current_thread() is threading.main_thread()
            yield f"text {read}"

    results = extractor().results(endless())
    seen = set()
    for done, result in enumerate(results, 1):
        seen.add(result.position)
        assert read <= done + 2 * 2 + 1
        assert result.document == f"text {result.position + 1}"
        if done == 40:
            break
    assert len(seen) == 40
    results.close()  # type: ignore[attr-defined]
    assert not any(thread.name.startswith("documents") for thread in threading.enumerate())


@pytest.mark.usefixtures("small_blocks")
def test_where_reading_fails_nothing_read_is_lost() -> None:
    def broken() -> Iterator[str]:
        yield from ("Ana", "Bob", "Cy")
        raise OSError("the disk is gone")

    results = extractor().results(broken())
    found = []
    with pytest.raises(OSError, match="the disk is gone"):
        found.extend(results)
    with pytest.raises(OSError, match="the disk is gone"):
        extractor().batch(broken())
    assert len(found) == 3


def test_errors_are_raised_told_or_left_out() -> None:
    texts = ["Ana", "", "Bob"]
    results = in_order(extractor().results(texts))
    assert [one.position for one in results if one.error is not None] == [1]
    with pytest.raises(PromptError, match="Document 1 is empty"):
        _ = results[1].value
    with pytest.raises(BatchError, match="Document 1 is empty"):
        extractor().batch(texts)
    assert len(extractor().batch(texts, errors="skip")) == 2


@pytest.mark.usefixtures("small_blocks")
def test_a_model_that_fails_ends_the_stream() -> None:
    calls = 0

    def logits(token_ids: list[int]) -> Any:
        nonlocal calls
        calls += 1
        if calls > 20:
            raise RuntimeError("out of order")
        return LOGITS(token_ids)

    results: list[Result[Any]] = []
    with pytest.raises(ModelError, match="out of order"):
        results.extend(extractor(model=FunctionModel(logits, TOKENIZER)).results(["a"] * 50))
    read = 0

    def counted() -> Iterator[str]:
        nonlocal read
        for read in range(1, 51):  # noqa: B007
            yield "a"

    calls = 0
    with pytest.raises(ModelError, match="out of order"):
        list(extractor(model=FunctionModel(logits, TOKENIZER)).results(counted()))
    assert read < 50


def test_a_model_that_fails_loses_nothing_of_an_iterable() -> None:
    """What is finished keeps its place, what was read has the model's error, and nothing is left out for it."""
    calls = 0

    def logits(token_ids: list[int]) -> Any:
        nonlocal calls
        calls += 1
        if calls > 20:
            raise RuntimeError("out of order")
        return LOGITS(token_ids)

    broken = extractor(model=FunctionModel(logits, TOKENIZER), batch_size=1)
    values = broken.batch(iter(["a"] * 50), errors="return")
    finished = [value for value in values if not isinstance(value, ModelError)]
    assert 0 < len(finished) < len(values) == 50
    assert values[: len(finished)] == finished
    assert {"out of order" in str(error) for error in values[len(finished) :]} == {True}
    calls = 0
    with pytest.raises(ModelError, match="out of order"):
        broken.batch(["a"] * 50, errors="skip")


def test_a_batch_of_values_lets_go_of_its_results() -> None:
    """The text of an answer and all that was generated for it is gone when the next documents are done."""
    made: list[weakref.ref[Result[Any]]] = []
    alive: list[int] = []

    def count(event: events.Event) -> None:
        if isinstance(event, events.DocumentDone):
            made.append(weakref.ref(event.result))
            alive.append(sum(one() is not None for one in made))

    values = extractor(batch_size=2, observe=count).batch(["a"] * 20)
    assert (len(values), len(alive)) == (20, 20)
    assert max(alive) <= 2


def test_what_made_an_answer_is_looked_up_when_it_is_asked_for() -> None:
    """A call for a value alone makes no prompt and reads no version for it."""
    made = extractor()
    made("a")
    assert "provenance" not in vars(made._task)
    provenance = made.result("a").provenance
    assert provenance is not None
    assert provenance.model == made.model.name


def test_files_and_folders_are_documents(tmp_path: Path) -> None:
    """In the order of their names, without hidden ones; one that is no text is an error of its own."""
    (tmp_path / "inner").mkdir()
    contents = {
        "b.txt": b"\xef\xbb\xbfAna",
        "a.md": "Zoë".encode(),
        "inner/c.txt": b"Bob\r\n",
        "inner/latin.txt": b"Zo\xeb",
        "inner/zero.bin": b"a\0b",
        "z.txt": b"",
        ".hidden": b"x",
    }
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    results = sorted(extractor().results(tmp_path), key=lambda one: one.position)
    assert [str(Path(one.id).relative_to(tmp_path)) for one in results] == [
        *("a.md", "b.txt", "inner/c.txt", "inner/latin.txt", "inner/zero.bin", "z.txt")
    ]
    assert str(results[-1].error).startswith(f"Document {tmp_path / 'z.txt'} is empty.")
    assert [one.error is None for one in results] == [True, True, True, False, False, False]
    (found,) = in_order(extractor().results([tmp_path / "b.txt"]))
    assert found.document == "Ana"


@pytest.mark.parametrize(
    "given",
    ["one text", b"x", Document("x"), {"a": "b"}, {"a"}, 5, [{"role": "user", "content": "x"}]],
)
def test_what_is_not_many_documents_is_refused(given: Any) -> None:
    with pytest.raises(PromptError, match=r"^The documents are .*Pass "):
        extractor().results(given)


def test_progress_of_an_unknown_number_has_no_end() -> None:
    progress = events.Progress(None, 1, 1, 1, 30, 10.0)
    assert batch_state._progress_facts(progress) == ["1 documents", "1 failed", "3 tokens/s", "0:00:10"]
    assert batch_state._progress_facts(replace(progress, total=1))[0] == "1/1 documents"


def test_a_list_of_two_texts_is_no_pair() -> None:
    """One of the two would be lost as an id."""
    (told,) = extractor().batch([["Jason is 25.", "Ana is 31."]], errors="return")  # type: ignore[list-item]
    assert isinstance(told, PromptError)
    assert "list, not text" in str(told)


@pytest.mark.parametrize("identity", [5, None, b"a"])
def test_an_id_that_is_no_text_is_refused(identity: Any) -> None:
    """By a Document where it is made, and in a pair as that document's error: no chat of two messages is meant."""
    with pytest.raises(TypeError, match=r"^The id of a document is .*, not text\. Pass a str\.$"):
        Document("A", id=identity)
    told = extractor().batch([(identity, "A"), ("a", "A")], errors="return")
    assert isinstance(told[0], PromptError)
    assert str(told[0]) == f"The id of a document is {identity!r}, not text. Pass a str: (str(id), text)."
    assert isinstance(told[1], Plain)
