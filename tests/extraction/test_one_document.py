"""One document: whatever is raised for it is its own error, at every door; the others have their answers."""

import asyncio
import itertools
import json
import logging
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any, get_args

import pytest
from doubles import ByteTokenizer, random_logits, spell
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel
from servers import chat, double

from structured import (
    Beams,
    Chunking,
    Document,
    Extractor,
    Particles,
    Regex,
    Samples,
    StructuredError,
    aextract_batch,
    aextract_results,
    awrite_results,
    extract_batch,
    extract_results,
    read_results,
    write_results,
)
from structured.decoding import running_batch, scheduler
from structured.decoding.running_batch import Caller, RunningBatch
from structured.decoding.text_in_progress import TextInProgress
from structured.errors import BatchError, ModelError, RepetitionWarning
from structured.extraction import acceptance, events, long_documents, result_files, run, task
from structured.extraction.extractor import Extractor as ExtractorClass
from structured.extraction.guided_task import GuidedTask
from structured.extraction.long_documents import LongDocument
from structured.extraction.remote_task import RemoteTask
from structured.models import PACKAGED_MODEL, DecodingBatch, FunctionModel, LanguageModel, connect, function
from structured.models.checked_calls import _FACTS
from structured.models.function import FunctionBatch
from structured.models.remote_model import RemoteModel
from structured.models.scripted import ScriptedModel
from structured.results import result as results

POISON = "belladonna"
DOCUMENTS = ["item 1", f"item 2, {POISON}", "item 3", "item 4"]
RIGHT = [1, None, 3, 4]
"""The answers; None stands for the error of a document."""


class Number(BaseModel):
    number: int


class Firm(BaseModel):
    name: str
    capital: int


class Hostile(LookupError):  # noqa: N818  it has no better name
    """An exception whose own code raises."""

    def __str__(self) -> str:
        raise RuntimeError

    def __eq__(self, other: object) -> bool:
        raise RuntimeError

    __hash__ = LookupError.__hash__


ERRORS = (KeyError(POISON), RecursionError(POISON), MemoryError(), Hostile(POISON), OSError(5, POISON), StopIteration())


def answer(prompt: str) -> str:
    """Return the number of the last item of a prompt."""
    return json.dumps({"number": int(prompt.rsplit("item ", 1)[1][0])})


def model() -> ScriptedModel:
    return ScriptedModel(answer)


def values(found: list[Any]) -> list[int | None]:
    """Return the numbers, with None for each error of the library."""
    assert all(isinstance(one, Number | StructuredError) for one in found)
    return [one.number if isinstance(one, Number) else None for one in found]


def outcomes(found: Any) -> list[int | None]:
    """Return the numbers of results, read with their evidence."""
    members = {one.position: one for one in found}
    read = [results.made_of(members[position], lambda one: one.to_dict())[0] for position in sorted(members)]
    return values([one.error or one.value for one in read])


def raised(**options: Any) -> list[int | None]:
    with pytest.raises(BatchError) as caught:
        extract_batch(Number, DOCUMENTS, model=model(), **options)
    return values([one or caught.value.errors[place] for place, one in enumerate(caught.value.results)])


def written(write: Callable[..., Any]) -> Callable[..., list[int | None]]:
    def call(folder: Path, **options: Any) -> list[int | None]:
        done = write(Number, DOCUMENTS, folder / "out.jsonl", model=model(), **options)
        assert (done.done, done.failed) == (4, 1)
        read = sorted(read_results(folder / "out.jsonl", Number), key=lambda one: int(one.id))
        return values([one.error or one.value for one in read])

    return call


async def listed(found: Any) -> list[Any]:
    return [one async for one in found]


def in_frame(_: Path, **options: Any) -> list[int | None]:
    pyarrow = pytest.importorskip("pyarrow")
    from structured.integrations.data_frames import extract_table

    table = extract_table(pyarrow.table({"text": DOCUMENTS}), "text", Number, model=model(), **options)
    assert [error is None for error in table["error"].to_pylist()] == [number is not None for number in RIGHT]
    return table["number"].to_pylist()  # type: ignore[no-any-return]


def in_dataset(_: Path, **options: Any) -> list[int | None]:
    datasets = pytest.importorskip("datasets")
    from structured.integrations.datasets import extract_dataset

    found = extract_dataset(datasets.Dataset.from_dict({"text": DOCUMENTS}), Number, model=model(), **options)
    return [row["value"] and row["value"]["number"] for row in found]


def in_shell(folder: Path, *arguments: str) -> list[int | None]:
    testing = pytest.importorskip("typer.testing")
    from structured.cli.commands import app

    (folder / "letters").mkdir()
    for number, text in enumerate(DOCUMENTS):
        (folder / "letters" / f"{number} {text.partition(', ')[2]}.txt").write_text(text)
    command = ["extract", "--fields", "number: int", *arguments, str(folder / "letters")]
    done = testing.CliRunner().invoke(app, command, env={"TERM": "dumb"})
    assert done.exit_code == 1, done.output
    lines = sorted(map(json.loads, done.stdout.splitlines()), key=lambda line: line["id"])
    assert f"1 {POISON}.txt" in done.stderr
    return [line["value"]["number"] if "value" in line else None for line in lines]


def from_server(*, evidence: bool) -> list[int | None]:
    testing = pytest.importorskip("fastapi.testclient")
    from structured.integrations.server.app import create_app

    body = {"documents": DOCUMENTS, "schema": Number.model_json_schema(), "evidence": evidence}
    with testing.TestClient(create_app(model())) as client:
        response = client.post("/v1/extract", json=body)
        alone = client.post("/v1/extract", json={**body, "documents": None, "text": DOCUMENTS[1]})
    assert response.status_code == 200, response.text
    found = response.json()["results"]
    assert alone.status_code == 500
    assert alone.json() == {"error": found[1]["error"]}
    assert found[1]["error"]["message"] == "The server failed. Its log says where."
    return [one["value"]["number"] if "value" in one else None for one in found]


def from_actor(_: Path) -> list[int | None]:
    pytest.importorskip("ray")
    from structured.integrations.ray import BatchActor

    actor = BatchActor(lambda: Number, {"model": model()}, "nowhere", [])
    lines, _ = actor.answer([(str(place), text) for place, text in enumerate(DOCUMENTS)])
    read = sorted(map(json.loads, lines), key=lambda line: line["id"])
    return [line["value"]["number"] if "value" in line else None for line in read]


DOORS: dict[str, Callable[[Path], list[int | None]]] = {
    "raise": lambda _: raised(),
    "return": lambda _: values(extract_batch(Number, DOCUMENTS, model=model(), errors="return")),
    "skip": lambda _: [one.number for one in extract_batch(Number, DOCUMENTS, model=model(), errors="skip")],
    "results": lambda _: outcomes(extract_results(Number, DOCUMENTS, model=model())),
    "one at a time": lambda _: outcomes(extract_results(Number, iter(DOCUMENTS), model=model(), batch_size=1)),
    "aextract_batch": lambda _: values(asyncio.run(aextract_batch(Number, DOCUMENTS, model=model(), errors="return"))),
    "aextract_results": lambda _: outcomes(asyncio.run(listed(aextract_results(Number, DOCUMENTS, model=model())))),
    "samples": lambda _: values(
        Extractor(Number, model=model(), search=Samples(2), temperature=1.0).batch(DOCUMENTS, errors="return")
    ),
    "write_results": written(write_results),
    "awrite_results": written(lambda *parts, **options: asyncio.run(awrite_results(*parts, **options))),
    "a frame": in_frame,
    "a dataset": in_dataset,
    "the shell": in_shell,
    "the shell, with evidence": lambda folder: in_shell(folder, "--evidence"),
    "the server": lambda _: from_server(evidence=False),
    "the server, with evidence": lambda _: from_server(evidence=True),
    "an actor": from_actor,
}


def of_request(text: TextInProgress, *_: Any) -> str:
    return spell(text.request.guide.index.vocabulary.tokens, text.request.prompt).decode()


def of_input(_: Any, pending: Any, *__: Any, **___: Any) -> str:
    return str(pending.document if hasattr(pending, "document") else pending)


def in_any(*parts: Any, **_: Any) -> str:
    """Return what the arguments of a stage say, a document of the batch among them."""
    return " ".join(one if isinstance(one, str) else str(getattr(one, "document", one)) for one in parts)


STAGES: dict[str, list[tuple[Any, str, Callable[..., str]]]] = {
    "reading": [(task, "read_document", in_any), (result_files, "read_document", in_any)],
    "preparing": [(GuidedTask, "prepared", lambda _, document: document.conversation.text)],
    "the request": [(GuidedTask, "request", lambda _, item, *__: item.document)],
    "the first tokens": [(TextInProgress, "_append_forced", of_request)],
    "a mask": [(TextInProgress, "masks", of_request)],
    "a penalty": [(TextInProgress, "penalised", of_request)],
    "a token": [(TextInProgress, "repeats", of_request)],
    "the end": [(TextInProgress, "generation", of_request)],
    "accepting": [(run, "accept_candidates", in_any)],
    "choosing": [(acceptance, "_answer_among", in_any)],
    "the result": [(run, "result_of", in_any)],
    "a name": [(acceptance, "id_of", lambda document, _: str(document))],
    "evidence": [(results, "attribute", in_any)],
}
"""What is done for one document, and what is replaced to raise there: where, its name, and the document from it."""

WITHOUT_EVIDENCE = {"raise", "return", "skip", "samples", "aextract_batch", "the shell", "the server"}
"""The doors at which nobody asks for evidence."""


def let_raise(patch: pytest.MonkeyPatch, stage: list[tuple[Any, str, Callable[..., str]]], error: Exception) -> None:
    """Replace what a stage calls by what raises for one document."""
    for owner, name, said in stage:
        original = getattr(owner, name)

        def replaced(*parts: Any, original: Any = original, said: Callable[..., str] = said, **named: Any) -> Any:
            if POISON in said(*parts, **named):
                raise error.with_traceback(None)
            return original(*parts, **named)

        patch.setattr(owner, name, replaced)


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let commands that name no model use the scripted one."""
    found = ExtractorClass.__init__.__globals__["find_model"]
    monkeypatch.setitem(
        ExtractorClass.__init__.__globals__, "find_model", lambda one: model() if one is None else found(one)
    )


CASES = [(door, stage) for door in DOORS for stage in STAGES if stage != "evidence" or door not in WITHOUT_EVIDENCE]


@pytest.mark.usefixtures("scripted")
@pytest.mark.parametrize(("door", "stage"), CASES)
def test_what_is_raised_for_one_document_costs_no_other_its_answer(
    door: str, stage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Wherever it is raised, and whatever it is; the log says where, and nothing of the document."""
    error = ERRORS[CASES.index((door, stage)) % len(ERRORS)]
    let_raise(monkeypatch, STAGES[stage], error)
    with caplog.at_level(logging.ERROR, "structured"):
        found = DOORS[door](tmp_path)
    assert found == ([1, 3, 4] if door == "skip" else RIGHT)
    logged = [record.getMessage() for record in caplog.records]
    assert any(f"{type(error).__qualname__}\n" in text and "replaced" in text for text in logged)
    assert POISON not in caplog.text.replace(f"1 {POISON}.txt", "")


LONG_STAGES: dict[str, tuple[Any, str, Callable[..., str]]] = {
    "splitting": (long_documents, "chunks", in_any),
    "the next chunk": (LongDocument, "next_item", in_any),
    "the answer to a chunk": (LongDocument, "add_answer", in_any),
    "merging": (LongDocument, "_merge", in_any),
    "the text": (LongDocument, "text_of", in_any),
    "a rejection": (acceptance, "read_answer", lambda _, text: POISON if '"number": 2' in text else ""),
}


@pytest.mark.parametrize("stage", LONG_STAGES)
@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_what_is_raised_for_a_long_document_costs_no_other_its_answer(
    stage: str, error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its chunks may be in one batch with those of others, and with short documents."""
    let_raise(monkeypatch, [LONG_STAGES[stage]], error)
    documents = [f"{text} {'and so on. ' * 30}" if number % 2 else text for number, text in enumerate(DOCUMENTS)]
    documents += [f"item 5 {'and so on. ' * 30}"]
    found = extract_batch(
        Number | None,
        documents,
        model=ScriptedModel(lambda prompt: answer(prompt) if "item " in prompt else "null"),
        chunking=Chunking(tokens=150),
        errors="return",
        retries=0,
    )
    assert values(found) == [*RIGHT, 5]


@pytest.mark.parametrize("options", [{"search": Beams(2)}, {"search": Particles(2), "temperature": 1.0}], ids=str)
@pytest.mark.parametrize("stage", ["the request", "the first tokens", "the end", "accepting"])
def test_what_is_raised_for_one_search_costs_no_other_its_answer(
    options: dict[str, Any], stage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beams and particles of several documents are written together."""
    let_raise(monkeypatch, STAGES[stage], KeyError(POISON))
    tokenizer = ByteTokenizer()
    found = extract_batch(
        Number,
        DOCUMENTS,
        model=FunctionModel(random_logits(len(tokenizer.tokens)), tokenizer),
        errors="return",
        max_tokens=30,
        **options,
    )
    assert [isinstance(one, Number) for one in found] == [True, False, True, True]
    assert isinstance(found[1].__cause__, KeyError)


@pytest.mark.parametrize(
    "stage", [(RemoteTask, "request"), (RemoteModel, "answer"), (run, "accept_candidates")], ids=str
)
def test_what_is_raised_for_one_document_of_a_server_costs_no_other_its_answer(
    stage: tuple[Any, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether before its request is sent, in the thread that waits for it, or afterwards."""
    pytest.importorskip("httpx", reason="The extra remote asks servers.")
    let_raise(
        monkeypatch, [(*stage, lambda *parts: in_any(*parts) + str(getattr(parts[1], "messages", "")))], ERRORS[0]
    )
    with double(lambda body: chat(answer(body["messages"][-1]["content"]))) as server:
        asked = connect(server.address("openai"))
        found = extract_batch(Number, DOCUMENTS, model=asked, errors="return")
    assert values(found) == RIGHT
    assert found[1].__cause__ is ERRORS[0]


ADMISSION: dict[str, tuple[Any, str]] = {
    "its size": (TextInProgress, "capacity"),
    "its length": (scheduler.PartialPrefill, "wants"),
    "grouping": (scheduler, "grouped_by_beginning"),
    "its first pass": (scheduler.Scheduler, "_begin"),
    "joining": (scheduler.Scheduler, "_join"),
}
"""What is done while texts are admitted, for which no single text may be to blame: where, and its name."""


def fail_at(patch: pytest.MonkeyPatch, owner: Any, name: str, call: int, error: BaseException) -> None:
    """Let one call of a function, or of a property, raise an error."""
    original, calls = getattr(owner, name), itertools.count(1)

    def replaced(*parts: Any, **named: Any) -> Any:
        if next(calls) == call:
            raise error
        return original.fget(*parts) if isinstance(original, property) else original(*parts, **named)

    patch.setattr(owner, name, property(replaced) if isinstance(original, property) else replaced)


def answered_by(shared: bool, documents: list[str], **options: Any) -> list[Any]:
    """Return the outcomes of documents, of a running batch or not; raise the error if they are waited for in vain."""
    if not shared:
        return extract_batch(Number, documents, model=model(), errors="return", **options)
    caller, batch = Caller(), RunningBatch(model(), size=4)

    def call() -> list[Any]:
        with caller:
            return extract_batch(Number, documents, model=batch, errors="return", **options)

    with ThreadPoolExecutor(1) as pool, batch:
        answering = pool.submit(call)
        wait([answering], 60)
        caller.leave(TimeoutError("nobody answers"))
        return answering.result()


@pytest.mark.parametrize("shared", [False, True], ids=["alone", "running"])
@pytest.mark.parametrize("stage", ADMISSION)
@pytest.mark.parametrize("call", [1, 2, 3])
def test_an_error_while_texts_are_admitted_loses_none(
    stage: str, call: int, shared: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are tried again. In a batch that other threads share, their callers waited for ever."""
    documents = [f"item {number}" for number in (1, 2, 3, 4, 5, 6)]
    fail_at(monkeypatch, *ADMISSION[stage], call, MemoryError())
    assert values(answered_by(shared, documents, batch_size=4, retries=0)) == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize("stage", ADMISSION)
@pytest.mark.parametrize("shared", [False, True], ids=["alone", "running"])
def test_an_error_at_each_admission_is_that_of_each_document(
    stage: str, shared: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def replaced(*_: Any, **__: Any) -> Any:
        raise KeyError(POISON)

    owner, name = ADMISSION[stage]
    monkeypatch.setattr(owner, name, property(replaced) if name == "capacity" else replaced)
    found = answered_by(shared, DOCUMENTS, batch_size=4, retries=0)
    assert [type(one.__cause__) for one in found] == [KeyError] * 4


@pytest.mark.parametrize("name", ["_drop", "_turn", "_notify"])
@pytest.mark.parametrize("error", [KeyError(POISON), SystemExit(POISON)], ids=lambda one: type(one).__name__)
def test_a_running_batch_that_fails_leaves_nobody_waiting(
    name: str, error: BaseException, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its thread goes on, also for texts that had no room yet."""
    tokenizer = ByteTokenizer()
    letters = FunctionModel(random_logits(len(tokenizer.tokens)), tokenizer)
    with RunningBatch(letters, size=2) as batch:
        extractor = Extractor(Regex("[ab]{5}"), model=batch)
        with monkeypatch.context() as patch:
            fail_at(patch, running_batch._SharedState, name, 2, error)
            with ThreadPoolExecutor(1) as pool:
                caller = Caller()

                def call() -> Any:
                    with caller:
                        return extractor.batch(DOCUMENTS)

                answering = pool.submit(call)
                wait([answering], 60)
                caller.leave(TimeoutError("nobody answers"))
                assert isinstance(answering.exception(), type(error) | StructuredError)
        assert len(extractor(DOCUMENTS[0])) == 5


PARTICLES = {"search": Particles(2), "temperature": 1.0}
FACTS: list[tuple[type, str, dict[str, Any]]] = [
    *[(DecodingBatch, "is_ragged", options) for options in ({}, {"search": Beams(2)}, PARTICLES)],
    (DecodingBatch, "can_join", {}),
    *[(LanguageModel, "can_roll_back", options) for options in ({}, PARTICLES)],
    (LanguageModel, "pass_cost", {}),
    (LanguageModel, "logits_cost", {}),
]
"""What a model of the user's own states, by the class that states it, and the options of a call that asks for it."""


@pytest.mark.parametrize(("stated_by", "name", "options"), FACTS)
def test_a_fact_that_a_model_cannot_state_is_its_own_error(
    stated_by: type, name: str, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was once the error of those documents that were written while it was asked for."""

    class Own(FunctionModel):
        pass

    class OwnBatch(FunctionBatch):
        pass

    def raises(_: Any) -> Any:
        raise KeyError(name)

    monkeypatch.setattr(function, "FunctionBatch", OwnBatch)
    tokenizer = ByteTokenizer()
    asked = Own(random_logits(len(tokenizer.tokens)), tokenizer)
    extractor = Extractor(Regex("[ab]{5}"), model=asked, batch_size=4, **options)
    setattr(OwnBatch if stated_by is DecodingBatch else Own, name, property(raises))
    with pytest.raises(ModelError, match=f"raised KeyError: '{name}'"):
        extractor.batch(DOCUMENTS * 5)
    if name in _FACTS:
        with pytest.raises(ModelError, match=f"raised KeyError for its `{name}`: '{name}'"):
            Extractor(int, model=asked)


class Proxy:
    """An object that stands for another, which is not there: whoever looks at it gets an error."""

    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError(name)

    def __str__(self) -> str:
        raise KeyError

    __repr__ = __str__


class Hidden(Document):
    """A document whose text cannot be had."""

    @property
    def text(self) -> str:  # type: ignore[override]
        raise RecursionError


HIDDEN: dict[str, Callable[[], Any]] = {
    "an object": Proxy,
    "a list": lambda: [Proxy()],
    "a message": lambda: [{"role": "user", "content": Proxy()}],
    "a pair": lambda: ("b", Proxy()),
    "a document": lambda: object.__new__(Hidden),
}


@pytest.mark.parametrize("kind", HIDDEN)
def test_a_document_that_cannot_be_looked_at_costs_no_other_its_answer(kind: str, tmp_path: Path) -> None:
    """At its place there is an error."""
    document = HIDDEN[kind]()
    for documents in (["item 1", document, "item 3", "item 4"], iter(["item 1", document, "item 3", "item 4"])):
        found = extract_batch(Number, documents, model=model(), errors="return", observe=lambda _: None)
        assert values(found) == RIGHT
    path = tmp_path / "out.jsonl"
    assert write_results(Number, [document, "item 1"], path, model=model())[:2] == (2, 1)
    assert sorted("error" in json.loads(line) for line in path.read_bytes().splitlines()) == [False, True]


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize(
    "error", [KeyboardInterrupt(), SystemExit(), GeneratorExit()], ids=lambda one: type(one).__name__
)
def test_what_ends_a_program_ends_a_batch(stage: str, error: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    let_raise(monkeypatch, STAGES[stage], error)
    with pytest.raises(type(error)):
        outcomes(extract_results(Number, DOCUMENTS, model=model()))


@pytest.mark.parametrize("kind", get_args(events.Event))
def test_what_a_listener_raises_ends_a_batch(kind: type) -> None:
    """Whichever event it is called with, also that of a document that fails."""

    def observe(event: events.Event) -> None:
        if isinstance(event, kind):
            raise KeyError("mine")

    for documents in (DOCUMENTS, ["", "item 1"]):
        with pytest.raises(KeyError, match="mine"):
            extract_batch(Number, documents, model=model(), observe=observe, errors="return")


class Illiterate(ScriptedModel):
    """A model whose tokenizer fails for some texts."""

    def __init__(self, text: str, error: type[BaseException]) -> None:
        super().__init__(answer)
        self.text, self.error = text, error

    def encode(self, prompt: Any) -> list[int]:
        if self.text in str(prompt):
            raise self.error(self.text)
        return super().encode(prompt)


Panic = type("PanicException", (BaseException,), {"__module__": "pyo3_runtime"})
"""What code in Rust raises where it fails, such as a tokenizer."""


@pytest.mark.parametrize("error", [KeyError, Panic])
def test_a_text_that_the_tokenizer_cannot_read_is_the_error_of_its_document(error: type[BaseException]) -> None:
    """Of a tokenizer that reads no text at all, the error is raised."""
    found = extract_batch(Number, DOCUMENTS, model=Illiterate(POISON, error), errors="return")
    assert values(found) == RIGHT
    assert isinstance(found[1], ModelError)
    with pytest.raises(ModelError):
        extract_batch(Number, DOCUMENTS, model=Illiterate("", error), errors="return")


def test_a_stream_raises_an_error_of_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever something was raised, again each time."""
    for stage in STAGES.keys() - {"evidence"}:
        with monkeypatch.context() as patch:
            let_raise(patch, STAGES[stage], KeyError(POISON))
            with pytest.raises(StructuredError) as caught:
                Extractor(Number, model=model()).stream(DOCUMENTS[1]).result()
            assert isinstance(caught.value.__cause__, KeyError)


class Pair(BaseModel):
    a: str
    b: str


CHARACTERS = st.sampled_from([*"a会é🙂\u0301\u200d한\uffff\U0010ffff", "\\ud83d\\ude42", "\\u4f1a", "\\n", "\\ud83d"])


@given(st.lists(CHARACTERS, min_size=1, max_size=9).map("".join), st.integers(0, 9), st.booleans())
@settings(deadline=None)
def test_a_repetition_of_any_characters_is_closed_in_its_field(unit: str, seed: int, is_mixed: bool) -> None:
    """Wherever tokens cut characters: between two characters, and the warning names the fields."""
    tokenizer = ByteTokenizer() if is_mixed else ByteTokenizer(ByteTokenizer().tokens[:260])
    endless, scores = unit.encode() * 100, random_logits(len(tokenizer.tokens), seed=seed)

    def loop(token_ids: Any) -> Any:
        """Prefer any token that goes on with the unit."""
        text = spell(tokenizer.tokens, token_ids)
        rest = endless[len(text[text.rfind(b'"') + 1 :]) % len(unit.encode()) :]
        return scores(token_ids) + [20.0 * bool(token and rest.startswith(token)) for token in tokenizer.tokens]

    extractor = Extractor(Pair, model=FunctionModel(loop, tokenizer), max_tokens=600)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = extractor.result("x")
    (generation,) = found.generations
    data = generation.text.encode()
    fields = {"b" if b'"b":' in data[:place] else "a" for place in generation.diagnostics.repetition_places}
    messages = [one.message for one in caught]
    assert fields == {name for one in messages if isinstance(one, RepetitionWarning) for name in one.fields}
    assert "".join(extractor.stream("x")) == generation.text
    if not is_mixed and "\\" not in unit:
        assert fields
        assert all(data[:place].decode() is not None for place in generation.diagnostics.repetition_places)


def test_a_repetition_in_letters_of_several_bytes_is_closed() -> None:
    """It once ended the whole batch with UnicodeDecodeError."""
    documents = ["Acme Ltd has 500 euros.", "会社名：ミナト商事株式会社　資本金：500万円"]
    with pytest.warns(RepetitionWarning) as caught:
        found = extract_batch(Firm, documents, model=PACKAGED_MODEL, errors="return")
    assert found[1].name == "会社名：社名：社名："
    assert [one.message.fields for one in caught if isinstance(one.message, RepetitionWarning)] == [("name",)]
