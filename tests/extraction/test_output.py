"""A batch that is written to a file: each document has one record, whatever interrupts the call."""

import json
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from doubles import each_generation, in_order
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, field_validator

from structured import (
    Document,
    Extractor,
    JsonLayout,
    Result,
    awrite_results,
    extract_results,
    read_results,
    write_results,
)
from structured.errors import GenerationError, ModelError, OutputError, PromptError
from structured.extraction import journal
from structured.extraction.options import DEFAULTS
from structured.extraction.records import Gap, Place, is_record_prefix, line_of, record_of
from structured.extraction.result_files import Written, write_results_of
from structured.models.scripted import ScriptedModel
from structured.results.result import Provenance


class Number(BaseModel):
    number: int

    @field_validator("number", mode="before")
    @classmethod
    def is_not_thirteen(cls, number: int) -> int:
        if number == 13:
            raise ValueError("unlucky")
        return number


class Other(BaseModel):
    number: float


def answer(prompt: str) -> str:
    """Return the number that stands last in a prompt."""
    return json.dumps({"number": int(prompt.rsplit("item ", 1)[1].split(maxsplit=1)[0])})


def extractor(output_type: Any = Number, **options: Any) -> Extractor[Any]:
    given = {"model": ScriptedModel(answer), "batch_size": 2, "retries": 0, "cache": False}
    return Extractor(output_type, **given | options)


def texts(count: int) -> list[str]:
    return [f"item {number}" for number in range(count)]


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().split(b"\n") if line]


def by_id(path: Path) -> dict[str, dict[str, Any]]:
    found = {record["id"]: {**record, "seconds": 0, "order": record["order"][1]} for record in records(path)}
    assert len(found) == len(records(path)), "a document has one record"
    return found


@pytest.fixture(scope="module")
def shared() -> Extractor[Any]:
    """One extractor for laws of many examples: to prepare it takes longer than to answer."""
    return extractor()


def test_each_document_has_a_record(tmp_path: Path) -> None:
    """With its value or its error, its id, its digest and its metadata; a second call does nothing."""
    path = tmp_path / "out.jsonl"
    documents = ["item 1", ("b", "item 2"), "", Document("item 13", "c", {"year": 2024})]
    assert write_results_of(extractor(), documents, path) == Written(4, 2, 0, 0)
    found = by_id(path)
    assert sorted(found) == ["0", "2", "b", "c"]
    assert found["b"]["value"] == {"number": 2}
    assert found["c"]["metadata"] == {"year": 2024}
    assert found["2"]["error"]["kind"] == "PromptError"
    before = path.read_bytes()
    asked: list[int] = []
    again = extractor(observe=each_generation(lambda position, _: asked.append(position)))
    assert write_results_of(again, iter(documents), str(path)) == Written(0, 0, 4, 2)
    assert (path.read_bytes(), asked) == (before, [])


def test_results_are_read_back(tmp_path: Path) -> None:
    """Values as the type, errors with their kind, message and fields, documents with id and metadata."""
    path = tmp_path / "out.jsonl"
    documents = [("a", "item 1"), "", Document("item 13", "c", {"year": 2024})]
    told = extractor().batch(documents, errors="return")
    write_results_of(extractor(), documents, path)
    read = {one.id: one for one in read_results(path, Number)}
    assert read["a"].value == told[0] == Number(number=1)
    assert isinstance(read["1"].error, PromptError)
    rejected = read["c"].error
    assert isinstance(rejected, GenerationError)
    assert (str(rejected), rejected.document, rejected.attempts[0].text) == (str(told[2]), 2, '{"number": 13}')
    assert read["c"].metadata == {"year": 2024}
    with pytest.raises(OutputError, match=r"Line \d of .* cannot be read as int"):
        list(read_results(path, int))
    with pytest.raises(OutputError, match="cannot be read"):
        list(read_results(tmp_path / "none", Number))


def test_results_are_read_back_whole(tmp_path: Path) -> None:
    """Value, evidence, document and usage, also of what is missing."""
    path = tmp_path / "out.jsonl"
    write_results(Number, texts(2), path, model=ScriptedModel(answer))
    told = in_order(extract_results(Number, texts(2), model=ScriptedModel(answer)))
    read = sorted(read_results(path, Number), key=lambda one: one.document)
    assert [(one.value, one.evidence, one.document, one.usage) for one in read] == [
        (one.value, one.evidence, one.document, one.usage) for one in told
    ]
    absent = tmp_path / "absent.jsonl"
    model = ScriptedModel('{"number": null}')
    write_results(Number, texts(1), absent, allow_missing=["number"], model=model)
    assert [one.missing for one in read_results(absent, Number)] == [("number",)]


class Half(BaseModel):
    number: int

    @field_validator("number")
    @classmethod
    def is_halved(cls, number: int) -> int:
        return number // 2


def test_a_value_is_read_from_what_the_model_wrote(tmp_path: Path) -> None:
    """A validator that changes a value does so once: what is read back is equal to what was returned."""
    path = tmp_path / "out.jsonl"
    write_results_of(extractor(Half), ["item 8"], path)
    assert records(path)[0]["value"] == {"number": 4}
    assert [one.value for one in read_results(path, Half)] == [Half.model_construct(number=4)]


@pytest.mark.parametrize("name", ["out.xml", "out.json", "out.txt", "out.csv", "OUT.PARQUET"])
def test_an_output_that_is_named_like_another_kind_of_file_is_refused(tmp_path: Path, name: str) -> None:
    """Results are lines of JSON, and their file says so, or nothing."""
    with pytest.raises(ValueError, match=r"lines of JSON, to \.jsonl or \.ndjson\. Pass output='(out|OUT)\.jsonl'"):
        write_results_of(extractor(), texts(1), tmp_path / name)
    assert not list(tmp_path.iterdir())
    for other in ("out.jsonl", "out.NDJSON", "out"):
        assert write_results_of(extractor(), texts(1), tmp_path / other).done == 1


def test_arguments_that_were_mistaken_for_each_other_are_told(tmp_path: Path) -> None:
    path: Any = str(tmp_path / "out.jsonl")
    options: Any = {"model": ScriptedModel(answer)}
    with pytest.raises(TypeError, match=r"write_results takes the documents first, and then the output: .*other way"):
        write_results(Number, path, texts(2), **options)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"write_results takes the type first, and then the text: .*other way round"):
        write_results(texts(2), Number, path, **options)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"output is None; it must be the path of a file, or a stream of bytes"):
        write_results(Number, texts(2), None, **options)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"read_results takes the path first, and then the type: .*other way round"):
        read_results(Number, path)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"path is 5; it must be the path of a file of results"):
        read_results(5, Number)  # type: ignore[call-overload]
    assert not list(tmp_path.iterdir())


def test_records_of_other_tools_are_read(tmp_path: Path) -> None:
    """What a record lacks has its default; it has to have an id, and a value or an error."""
    path = tmp_path / "out.jsonl"
    path.write_text('{"id": "a", "value": {"number": 3}}\n', encoding="utf-8")
    for output_type in (Number, Any):
        (read,) = read_results(path, output_type)
        assert (read.id, read.document, read.missing, dict(read.evidence), read.provenance) == ("a", "", (), {}, None)
        assert read.data == {"number": 3}
        assert read.value == (Number(number=3) if output_type is Number else {"number": 3})
    path.unlink()
    write_results_of(extractor(), [("a", "item 1")], path)
    whole = records(path)[0]
    for name in whole.keys() - {"id", "value"}:
        path.write_text(json.dumps({key: part for key, part in whole.items() if key != name}) + "\n", encoding="utf-8")
        assert [one.value for one in read_results(path, Number)] == [Number(number=1)]
    for name, problem in (("id", "it has no id"), ("value", "it has neither a value nor an error")):
        less = {key: part for key, part in whole.items() if key != name}
        path.write_text(f"{json.dumps(whole)}\n{json.dumps(less)}\n", encoding="utf-8")
        with pytest.raises(OutputError, match=f"Line 2 of .* is no record of a document: {problem}"):
            list(read_results(path, Number))


def test_it_works_in_an_event_loop(tmp_path: Path) -> None:
    import asyncio

    path = tmp_path / "out.jsonl"
    told = asyncio.run(awrite_results(Number, texts(2), path, model=ScriptedModel(answer)))
    assert told == Written(2, 0, 0, 0)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.integers(0, 15), unique=True, max_size=8),
    st.lists(st.tuples(st.integers(0, 8), st.integers(0, 400)), max_size=4),
    st.sampled_from(["continue", "retry"]),
)
@pytest.mark.thorough
def test_any_interruptions_leave_the_records_of_one_run(
    shared: Extractor[Any],
    tmp_path_factory: pytest.TempPathFactory,
    numbers: list[int],
    stops: list[tuple[int, int]],
    resume: Any,
) -> None:
    """Whenever the documents break off, and wherever the file is cut, the records are those of an uninterrupted run."""
    folder = tmp_path_factory.mktemp("law")
    documents = [f"item {number}" for number in numbers]
    write_results_of(shared, documents, folder / "whole.jsonl")
    path = folder / "broken.jsonl"

    class StopError(Exception):
        pass

    def until(stop: int) -> Any:
        yield from documents[:stop]
        raise StopError

    for stop, cut in stops:
        with pytest.raises(StopError) as caught:
            write_results_of(shared, until(stop), path, resume=resume)
        assert "the same call goes on" in caught.value.__notes__[0]
        with path.open("r+b") as file:
            file.truncate(max(0, path.stat().st_size - cut))
    write_results_of(shared, documents, path, resume=resume)
    assert by_id(path) == by_id(folder / "whole.jsonl")


@pytest.mark.thorough
def test_a_torn_tail_is_mended_wherever_it_is_torn(shared: Extractor[Any], tmp_path: Path) -> None:
    """At each byte of a record, and with zeros behind it."""
    path = tmp_path / "out.jsonl"
    write_results_of(shared, texts(3), path)
    whole, lines = by_id(path), path.read_bytes().splitlines(keepends=True)
    for end in range(len(lines[2])):
        for zeros in (b"", b"\0" * 7) if end % 50 == 0 else (b"",):
            path.write_bytes(lines[0] + lines[1] + lines[2][:end] + zeros)
            assert len(list(read_results(path, Number))) == 2
            if end % 10 == 0:
                assert write_results_of(shared, texts(3), path).done == 1
                assert by_id(path) == whole
            else:
                journal.Journal(path, shared.provenance).close()
                assert path.read_bytes() == lines[0] + lines[1]


def test_what_is_no_output_is_left_as_it_is(tmp_path: Path) -> None:
    """A file of something else, a line that is torn in the middle, a forged one, one twice."""
    path = tmp_path / "out.jsonl"
    for content in (b"my notes", b"my notes\n", b"\0" * 9, b'{"id": 3'):
        path.write_bytes(content)
        for resume in ("continue", "fresh", "retry") if content[:1] != b"{" else ("continue",):
            with pytest.raises(OutputError, match=r"is no record|cannot be"):
                write_results_of(extractor(), texts(1), path, resume=resume)  # type: ignore[call-overload]
            assert path.read_bytes() == content
    path.unlink()
    write_results_of(extractor(), texts(3), path)
    first, second, third = path.read_bytes().splitlines(keepends=True)
    forged = {**json.loads(second), "digest": "0" * 63}
    for middle in (second[:20] + b"\n", json.dumps(forged).encode() + b"\n", b"[]\n", b"\n"):
        path.write_bytes(first + middle + third)
        with pytest.raises(OutputError, match=r"^Line 2 of .* is no record"):
            write_results_of(extractor(), texts(3), path)
        with pytest.raises(OutputError, match=r"^Line 2 of .* is no record"):
            list(read_results(path, Number))
        assert path.read_bytes() == first + middle + third
    path.write_bytes(first + second + first)
    with pytest.raises(OutputError, match=r"Line 3 of .* is the second one of the document"):
        write_results_of(extractor(), texts(3), path)
    path.write_bytes(third + first + second)
    assert write_results_of(extractor(), texts(3), path).before == 3


def test_lines_of_json_that_are_no_records_are_never_dropped(tmp_path: Path) -> None:
    """Though they begin as a record does: none that is whole, and none without a line end."""
    path = tmp_path / "gold.jsonl"
    gold = b'{"id": "a", "document": "item 1", "value": 1}'
    forged = b'{"id": "a", "digest": "0", "value": 1}'
    write_results_of(extractor(), texts(2), path)
    first, second = path.read_bytes().splitlines(keepends=True)
    contents = [
        gold,
        forged,
        gold + b"\n",
        forged + b"\n",
        gold + b"\n" + gold,
        gold[:20],
        first + gold,
        first + forged,
    ]
    contents += [first + gold + b"\n", first + gold + b"\n" + second, first + b'{"id": "a\tb', first + b'{"id": "a"}']
    for content in contents:
        for resume in ("continue", "retry", "fresh"):
            path.write_bytes(content)
            with pytest.raises(OutputError, match=r"is no record"):
                write_results_of(extractor(), texts(1), path, resume=resume)  # type: ignore[call-overload]
            assert path.read_bytes() == content
    for content in (first + second, first + second[:-1], first + second[:30] + b"\0" * 9, first[:11], b""):
        path.write_bytes(content)
        assert write_results_of(extractor(), texts(2), path, resume="fresh").done == 2
        assert len(by_id(path)) == 2


@given(st.text(min_size=1))
def test_each_beginning_of_a_record_is_known_as_one(identity: str) -> None:
    """Whatever the id: quotes, escapes and characters of several bytes."""
    made = Provenance("Number", "0", "scripted", None, "0", {}, "1")
    line = line_of(record_of(Result(identity, 0, "", error=PromptError("empty")), "0" * 64, Place(0, 0, Gap()), made))[
        :-1
    ]
    assert all(is_record_prefix(line[:end]) for end in range(len(line) + 1))


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"instructions": "Be brief."}, "the option instructions"),
        ({"temperature": 0.5, "seed": 1}, "the option seed .*; the option temperature"),
        ({"max_tokens": 50}, "max_tokens=50"),
        ({"examples": [("item 1", Number(number=1))]}, "the option examples"),
        ({"output_type": Other}, "the type"),
    ],
)
def test_a_changed_call_is_refused_by_name(tmp_path: Path, changed: dict[str, Any], named: str) -> None:
    path = tmp_path / "out.jsonl"
    write_results_of(extractor(), texts(2), path)
    before = path.read_bytes()
    for resume in ("continue", "retry"):
        with pytest.raises(OutputError, match=f"this has changed: .*{named}"):
            write_results_of(extractor(**changed), texts(2), path, resume=resume)  # type: ignore[call-overload]
    assert path.read_bytes() == before
    assert write_results_of(extractor(**changed), texts(2), path, resume="fresh") == Written(2, 0, 0, 0)


def test_an_explicit_default_changes_nothing(tmp_path: Path) -> None:
    """A default says the same whether it is passed or not."""
    path = tmp_path / "out.jsonl"
    write_results_of(extractor(), texts(2), path)
    explicit = extractor(**{**DEFAULTS, "retries": 0})
    assert explicit.provenance == extractor().provenance
    assert write_results_of(explicit, texts(2), path) == Written(0, 0, 2, 0)


def test_the_defaults_are_those_of_a_call() -> None:
    """Each option with a default answers as if it were left out."""
    model = ScriptedModel(answer)
    for name, value in DEFAULTS.items():
        plain = Extractor(Number, model=model)
        made = Extractor(Number, model=model, **{name: value})
        assert (made._run, made.output_type.digest, made._task.options) == (
            plain._run,
            plain.output_type.digest,
            plain._task.options,
        )


def test_a_changed_layout_is_no_other_type(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    write_results_of(extractor(), texts(2), path)
    with pytest.raises(OutputError, match=r"has changed: the option layout \([^;]*\)\. Call with"):
        write_results_of(extractor(layout=JsonLayout("compact")), texts(2), path)


def test_a_file_that_was_repaired_is_told_from_one_that_was_changed(tmp_path: Path) -> None:
    """A record of a file that could not be read says nothing about its text."""
    path, letter = tmp_path / "out.jsonl", tmp_path / "letter.txt"
    letter.write_bytes(b"item 1 \xff")
    assert write_results_of(extractor(), [letter], path).failed == 1
    letter.write_text("item 1", encoding="utf-8")
    with pytest.raises(OutputError, match=r"could not be read when its record .* Pass resume='retry'"):
        write_results_of(extractor(), [letter], path)
    assert write_results_of(extractor(), [letter], path, resume="retry") == Written(1, 0, 0, 0)
    letter.unlink()
    with pytest.raises(OutputError, match="cannot be read any more"):
        write_results_of(extractor(), [letter], path)
    letter.write_text("item 2", encoding="utf-8")
    with pytest.raises(OutputError, match="has another text"):
        write_results_of(extractor(), [letter], path)


def test_another_model_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    write_results_of(extractor(), texts(2), path)
    model = ScriptedModel(answer)
    model.name = "another"
    with pytest.raises(OutputError, match=r"the model .it was 'scripted', and is 'another'"):
        write_results_of(extractor(model=model), texts(2), path)
    assert write_results_of(extractor(batch_size=5, batch_tokens=9999, observe=print), texts(2), path).before == 2


def test_documents_are_told_apart(tmp_path: Path) -> None:
    """Two of one id, and one with another text than before, end the call; what was done is kept."""
    path = tmp_path / "out.jsonl"
    with pytest.raises(OutputError, match="Two documents have the id 'a', the second at position 2") as caught:
        write_results_of(extractor(), [("a", "item 1"), ("b", "item 2"), ("a", "item 1")], path)
    assert caught.value.kept == 2
    assert not getattr(caught.value, "__notes__", ())  # that the same call goes on would be wrong
    assert sorted(by_id(path)) == ["a", "b"]
    with pytest.raises(OutputError, match="The document 'b' has another text"):
        write_results_of(extractor(), [("a", "item 1"), ("b", "item 3")], path)
    assert write_results_of(extractor(), [("b", "item 2"), ("c", "item 3"), ("a", "item 1")], path).before == 2


def test_errors_are_final_or_tried_again(tmp_path: Path) -> None:
    """By default final; with retry their records are dropped."""
    path = tmp_path / "out.jsonl"
    documents = ["item 1", "", "item 2"]
    assert write_results_of(extractor(), documents, path).failed == 1
    documents[1] = "item 5"
    with pytest.raises(OutputError, match="resume='retry'"):
        write_results_of(extractor(), documents, path)
    assert write_results_of(extractor(), documents, path, resume="retry") == Written(1, 0, 2, 0)
    assert by_id(path)["1"]["value"] == {"number": 5}
    assert [one.name for one in tmp_path.iterdir()] == ["out.jsonl"]


@pytest.mark.parametrize("metadata", [{"x": object()}, {"x": "\ud800"}, {"\ud800": 1}])
def test_metadata_that_are_no_json_fail_their_document_alone(tmp_path: Path, metadata: dict[str, Any]) -> None:
    path = tmp_path / "out.jsonl"
    documents = ["item 1", Document("item 2", "d\ud800", metadata), "item 3"]
    assert write_results_of(extractor(), documents, path) == Written(3, 1, 0, 0)
    found = {one.id: one.error for one in read_results(path, Number)}
    assert found.keys() == {"0", "d\ud800", "2"}
    assert "cannot be written as JSON" in str(found["d\ud800"])
    documents[1] = Document("item 2", "d\ud800", {"x": 1})
    assert write_results_of(extractor(), documents, path, resume="retry") == Written(1, 0, 2, 0)
    assert by_id(path)["d\ud800"]["metadata"] == {"x": 1}


def test_errors_are_tried_again_through_a_link(tmp_path: Path) -> None:
    """The file that it leads to is written, and the link stays."""
    (tmp_path / "elsewhere").mkdir()
    path, link = tmp_path / "elsewhere" / "out.jsonl", tmp_path / "link.jsonl"
    link.symlink_to(path)
    assert write_results_of(extractor(), ["item 1", ""], link).failed == 1
    assert write_results_of(extractor(), ["item 1", "item 2"], link, resume="retry") == Written(1, 0, 1, 0)
    assert link.is_symlink()
    assert [by_id(path)[one]["value"]["number"] for one in ("0", "1")] == [1, 2]
    assert [one.name for one in path.parent.iterdir()] == ["out.jsonl"]


def test_files_are_identified_by_their_paths(tmp_path: Path) -> None:
    folder = tmp_path / "letters"
    folder.mkdir()
    (folder / "a.txt").write_text("item 1")
    (folder / "b.txt").write_bytes(b"\xff")
    path = tmp_path / "out.jsonl"
    assert write_results_of(extractor(), folder, path) == Written(2, 1, 0, 0)
    assert sorted(by_id(path)) == [str(folder / "a.txt"), str(folder / "b.txt")]
    assert write_results_of(extractor(), folder, path).before == 2


def test_only_regular_files_in_writable_folders(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "folder").mkdir()
    for name in ("fifo", "folder", "missing/out.jsonl"):
        with pytest.raises(OutputError, match=r"no regular file|cannot be opened"):
            write_results_of(extractor(), texts(1), tmp_path / name)
    with pytest.raises(ValueError, match="resume is 'again'; it must be one of"):
        write_results_of(extractor(), texts(1), tmp_path / "a", resume="again")  # type: ignore[call-overload]
    with pytest.raises(ValueError, match=r"Pass output='a.jsonl', and make a table of it in the end"):
        write_results_of(extractor(), texts(1), tmp_path / "a.csv")
    with pytest.raises(TypeError, match="takes one type"):
        write_results([Number, Other], texts(2), tmp_path / "a")
    assert sorted(one.name for one in tmp_path.iterdir()) == ["fifo", "folder"]


def test_one_call_at_a_time_writes(tmp_path: Path) -> None:
    """Another one is refused while it does, in this process or another, also by another name of the file."""
    path, link = tmp_path / "out.jsonl", tmp_path / "link.jsonl"
    write_results_of(extractor(), texts(1), path)
    link.symlink_to(path)
    here, done = threading.Event(), threading.Event()

    def slowly() -> Any:
        yield from texts(2)
        here.set()
        assert done.wait(60)

    thread = threading.Thread(target=lambda: write_results_of(extractor(), slowly(), path))
    thread.start()
    assert here.wait(60)
    try:
        for name in (path, link):
            with pytest.raises(OutputError, match="Another call is writing"):
                write_results_of(extractor(), texts(1), name)
        assert len(list(read_results(path, Number))) >= 1
    finally:
        done.set()
        thread.join()
    assert write_results_of(extractor(), texts(2), link).before == 2


def test_a_file_that_cannot_be_locked_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_locks(_: int) -> None:
        raise OSError(37, "No locks available")

    monkeypatch.setattr(journal, "lock", no_locks)
    with pytest.raises(OutputError, match=r"cannot be locked.*No locks available"):
        write_results_of(extractor(), texts(1), tmp_path / "out.jsonl")


@pytest.mark.parametrize("bytes_left", [0, 1, 100, 5000])
def test_a_full_disk_keeps_what_is_whole(tmp_path: Path, bytes_left: int) -> None:
    """The error says how many records are kept; no part of another is left; the next call goes on."""
    path = tmp_path / "out.jsonl"
    made = extractor()
    write_results_of(made, texts(2), path)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + bytes_left, limits[1]))
    try:
        with pytest.raises(OutputError, match=r"could not be written.*File too large") as caught:
            write_results_of(made, texts(40), path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    assert caught.value.kept == len(records(path)) >= 2
    assert path.read_bytes().endswith(b"\n")
    assert write_results_of(made, texts(40), path).before == caught.value.kept
    assert len(by_id(path)) == 40


def test_a_model_that_stops_leaves_no_error_behind(tmp_path: Path) -> None:
    """Its error is raised with what is kept; the documents that it did not answer are answered by the next call."""
    path = tmp_path / "out.jsonl"

    def breaks(prompt: str) -> str:
        if "item 5" in prompt:
            raise ConnectionError("gone")
        return answer(prompt)

    with pytest.raises(ModelError, match="gone") as caught:
        write_results_of(extractor(model=ScriptedModel(breaks)), texts(9), path)
    kept = len(records(path))
    assert any(f"{kept} record" in note for note in caught.value.__notes__)
    assert not any("error" in record for record in records(path))
    assert write_results_of(extractor(), texts(9), path) == Written(9 - kept, 0, kept, 0)


def test_an_interrupt_says_how_to_go_on(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"

    def interrupts(position: int, _: object) -> None:
        if position == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught:
        write_results_of(extractor(observe=each_generation(interrupts)), texts(9), path)
    assert f"kept in {path}; the same call goes on" in caught.value.__notes__[0]
    kept = len(records(path))
    assert write_results_of(extractor(), texts(9), path) == Written(9 - kept, 0, kept, 0)


KILLED = """
import sys
from pathlib import Path
sys.path[:0] = [sys.argv[1], str(Path(sys.argv[1], "..", "support"))]
from test_output import extractor, texts, write_results_of
print("ready", flush=True)
print(write_results_of(extractor(), texts(int(sys.argv[3])), sys.argv[2]).before)
"""


def killed(path: Path, times: int, count: int, seconds: float) -> None:
    """Kill calls at different moments, and look at the file at each."""
    command = [sys.executable, "-c", KILLED, str(Path(__file__).parent), str(path), str(count)]
    last = 0
    for time_ in range(times):
        process = subprocess.Popen(command, stdout=subprocess.PIPE)
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        until = time.monotonic() + seconds * (time_ + 1) / times
        while time.monotonic() < until:
            if path.exists():
                found = [one.id for one in read_results(path, Number)]
                assert len(found) == len(set(found)) >= last
                last = len(found)
            time.sleep(0.02)
        process.kill()
        process.wait()
        process.stdout.close()
    write_results_of(extractor(), texts(count), path)
    found = by_id(path)
    assert {one: record["value"]["number"] for one, record in found.items() if "value" in record} == {
        str(number): number for number in range(count) if number != 13
    }
    assert len(found) == count


@pytest.mark.thorough
def test_killed_calls_lose_nothing(tmp_path: Path) -> None:
    """Three times kill -9: each document has one record in the end."""
    killed(tmp_path / "out.jsonl", 3, 400, 1.5)


@pytest.mark.slow
def test_calls_that_are_killed_twenty_times_lose_nothing(tmp_path: Path) -> None:
    """Twenty times kill -9, at different moments."""
    killed(tmp_path / "out.jsonl", 20, 3000, 3.0)


def test_an_error_of_the_code_of_a_document_has_one_kind_at_each_door(tmp_path: Path) -> None:
    """It is no PromptError in a file, if it is none in a list."""

    class Torn(dict[str, Any]):
        def get(self, *_: Any) -> Any:
            raise KeyError("torn")

        __getitem__ = __iter__ = keys = items = get

    documents: Any = ["item 1", ("b", "item 2"), [Torn(role="user", content="x")]]
    _, _, error = extractor().batch(documents, errors="return")
    write_results_of(extractor(), documents, tmp_path / "out.jsonl")
    record = by_id(tmp_path / "out.jsonl")["2"]
    assert record["error"]["kind"] == type(error).__name__ == "StructuredError"
