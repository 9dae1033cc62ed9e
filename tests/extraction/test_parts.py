"""Parts: a folder of Parquet files in which each document has one record, whatever interrupts the calls."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from interpreter import run
from pydantic import BaseModel, field_validator

from structured import (
    BatchSummary,
    Choice,
    Document,
    Extractor,
    Grammar,
    OutputError,
    PromptError,
    Regex,
    extract_batch,
    read_results,
    write_table,
)
from structured.extraction.output import parts
from structured.extraction.output.journal import Journal
from structured.extraction.output.records import to_line
from structured.extraction.output.rows import Rows
from structured.models.scripted import ScriptedModel
from structured.output_types.resolve import resolve_type

dataset = pytest.importorskip("pyarrow.dataset")


class Number(BaseModel):
    number: int

    @field_validator("number", mode="before")
    @classmethod
    def is_not_thirteen(cls, number: int) -> int:
        if number == 13:
            raise ValueError("unlucky")
        return number


class Huge(BaseModel):
    number: int

    @field_validator("number")
    @classmethod
    def is_raised(cls, number: int) -> int:
        return 2**80 * number


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


def rows(path: Path) -> list[dict[str, Any]]:
    """Return what other readers find: the parts, and nothing of the journal."""
    found: list[dict[str, Any]] = dataset.dataset(path).to_table().to_pylist()
    return found


def names(path: Path) -> list[str]:
    return sorted(one.name for one in path.iterdir())


@pytest.fixture(scope="module")
def shared() -> Extractor[Any]:
    """One extractor for laws of many examples: to prepare it takes longer than to answer."""
    return extractor()


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let three records be a part."""
    monkeypatch.setattr(parts, "PART_RECORDS", 3)


@pytest.mark.usefixtures("small")
def test_documents_are_rows_of_parts(tmp_path: Path, shared: Extractor[Any]) -> None:
    """With typed values, errors and metadata; a second call does nothing, and reads the same."""
    path = tmp_path / "out.parquet"
    documents = ["item 1", ("b", "item 2"), "", Document("item 13", "c", {"year": 2024}), "item 5"]
    for done, before in ((5, 0), (0, 5)):
        assert shared.batch(documents, output=path) == BatchSummary(
            path, done, 2 * (not before), before, 2 * bool(before)
        )
        assert names(path) == [".journal.jsonl", "part-00000.parquet", "part-00001.parquet"]
        assert (path / ".journal.jsonl").read_bytes() == b""
    found = {row["id"]: row for row in rows(path)}
    assert {name: row["value"] for name, row in found.items()} == {
        "0": {"number": 1}, "b": {"number": 2}, "2": None, "c": None, "4": {"number": 5}
    }  # fmt: skip
    assert found["2"]["error"]["kind"] == "PromptError"
    assert json.loads(found["c"]["metadata"]) == {"year": 2024}


def test_a_part_is_written_when_it_is_large(
    tmp_path: Path, shared: Extractor[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """By bytes, however few the records are."""
    monkeypatch.setattr(parts, "PART_BYTES", 500)
    shared.batch(texts(4), output=tmp_path / "out.parquet")
    assert len(parts.parts_of(tmp_path / "out.parquet")) == 2


@pytest.mark.usefixtures("small")
def test_parts_and_lines_are_read_alike(tmp_path: Path) -> None:
    """As results and as tables, with and without evidence; so is what is still in the journal."""
    documents = [("a", "item 1"), "", Document("item 13", "c", {"year": 2024}), "item 4", "item 5"]
    for evidence in (False, True):
        folder, file = tmp_path / f"{evidence}.parquet", tmp_path / f"{evidence}.jsonl"
        for path in (folder, file):
            extractor(batch_size=1).batch(documents, output=path, evidence=evidence)
        told, whole = list(read_results(folder, Number)), list(read_results(file, Number))
        assert [(one.position, one.document, one.value, str(one.error)) for one in told] == [
            (one.position, one.document, one.value, str(one.error)) for one in whole
        ]
        assert isinstance(next(one.error for one in told if one.document.id == "1"), PromptError)
        for form in ("documents", "values") if evidence else ("documents",):
            tables = [write_table(path, tmp_path / "table.csv", rows=form).read_bytes() for path in (folder, file)]  # type: ignore[arg-type]
            assert tables[0] == tables[1]
    spans = {row["id"]: dict(row["evidence"])["number"]["span"] for row in rows(folder) if row["evidence"]}
    assert spans["a"] == [5, 6]
    assert not any(row["json"] for row in rows(folder))  # the columns say all of it
    with pytest.raises(
        OutputError, match=r"^Row 2 of .*part-00000.parquet, of the document 'a', cannot be read as int"
    ):
        list(read_results(folder, int))
    with pytest.raises(OutputError, match="is a folder without results"):
        list(read_results(tmp_path, Number))


def test_a_type_that_the_columns_cannot_hold_is_read_back(tmp_path: Path) -> None:
    """An integer of 80 bits, and an id that is no UTF-8."""
    path = tmp_path / "out.parquet"
    made = extractor(Huge)
    documents = [("d\ud800", "item 1")]
    assert made.batch(documents, output=path).done == 1
    assert made.batch(documents, output=path).before == 1
    (found,) = read_results(path, Huge)
    assert (found.document.id, found.value) == ("d\ud800", Huge.model_construct(number=2**80))
    assert rows(path)[0]["value"] is None


class StopError(Exception):
    pass


def until(documents: list[str], stop: int) -> Any:
    yield from documents[:stop]
    raise StopError


@settings(max_examples=12, deadline=None, suppress_health_check=[*HealthCheck])
@given(
    st.lists(st.integers(0, 15), unique=True, max_size=9),
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 400), st.booleans()), max_size=4),
    st.sampled_from(["continue", "retry"]),
)
@pytest.mark.thorough
def test_any_interruptions_leave_the_records_of_one_run(
    shared: Extractor[Any],
    tmp_path_factory: pytest.TempPathFactory,
    numbers: list[int],
    stops: list[tuple[int, int, bool]],
    resume: Any,
) -> None:
    """Wherever the documents break off and the journal is torn, and if it was not emptied after the last part."""
    folder = tmp_path_factory.mktemp("law")
    documents, path, journal = [f"item {number}" for number in numbers], folder / "out.parquet", None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parts, "PART_RECORDS", 3)
        for stop, cut, is_left in stops:
            if is_left:
                patch.setattr(Journal, "drop", lambda *_: (_ for _ in ()).throw(StopError))
            with pytest.raises(StopError):
                shared.batch(until(documents, stop), output=path, resume="continue")
            patch.undo()
            patch.setattr(parts, "PART_RECORDS", 3)
            journal = path / ".journal.jsonl"
            with journal.open("r+b") as file:
                file.truncate(max(0, journal.stat().st_size - cut))
            identities = [one.document.id for one in read_results(path, Number)]
            assert len(identities) == len(set(identities))
        shared.batch(documents, output=path, resume=resume)
    found = {row["id"]: row["value"] for row in rows(path)}
    assert found == {str(i): None if number == 13 else {"number": number} for i, number in enumerate(numbers)}
    assert len(rows(path)) == len(numbers)


def test_an_error_leaves_a_journal_that_is_read_and_gone_on_with(tmp_path: Path, shared: Extractor[Any]) -> None:
    """And says how many records are kept, in parts and outside."""
    path = tmp_path / "out.parquet"
    shared.batch(texts(2), output=path)
    with pytest.raises(StopError) as caught:
        shared.batch(until(texts(9), 4), output=path)
    assert caught.value.__notes__ == [f"4 records kept in {path}; the same call goes on."]
    assert len(rows(path)) == 2
    assert len(list(read_results(path, Number))) == 4
    with (path / ".journal.jsonl").open("ab") as file:
        file.write(b'{"id": "4", "dig')
    with pytest.raises(OutputError, match="Two documents have the id 'a'") as twice:
        shared.batch([*texts(4), ("a", "item 4"), ("a", "item 4")], output=path)
    assert twice.value.kept == 5
    assert shared.batch([*texts(4), ("a", "item 4"), "item 6"], output=path) == BatchSummary(path, 1, 0, 5, 0)
    assert len({row["id"] for row in rows(path)}) == len(rows(path)) == 6


@pytest.mark.usefixtures("small")
def test_errors_are_final_or_tried_again(tmp_path: Path, shared: Extractor[Any]) -> None:
    """Parts that hold errors are written again without them; the others stay as they are."""
    path = tmp_path / "out.parquet"
    documents = ["item 1", "item 2", "item 3", "", "item 13", "", "item 4", ""]
    shared.batch(documents[:3], output=path)
    assert shared.batch(documents, output=path).failed == 4
    first = (path / "part-00000.parquet").stat()
    documents[3] = documents[5] = documents[7] = "item 7"
    with pytest.raises(OutputError, match="resume='retry'"):
        shared.batch(documents, output=path)
    assert shared.batch(documents, output=path, resume="retry") == BatchSummary(path, 4, 1, 4, 0)
    assert (path / "part-00000.parquet").stat() == first
    assert {row["id"]: row["value"] and row["value"]["number"] for row in rows(path)} == {
        "0": 1, "1": 2, "2": 3, "3": 7, "4": None, "5": 7, "6": 4, "7": 7
    }  # fmt: skip


def test_a_changed_call_is_refused_or_starts_afresh(tmp_path: Path, shared: Extractor[Any]) -> None:
    path = tmp_path / "out.parquet"
    shared.batch(texts(2), output=path)
    before = (path / "part-00000.parquet").read_bytes()
    for changed, named in (
        ({"instructions": "Be brief."}, "the option instructions"),
        ({"output_type": Other}, "the type"),
    ):
        for resume in ("continue", "retry"):
            with pytest.raises(OutputError, match=f"since row 1 of part-00000.parquet was written, .*: {named}"):
                extractor(**changed).batch(texts(2), output=path, resume=resume)  # type: ignore[call-overload]
    assert (path / "part-00000.parquet").read_bytes() == before
    assert extractor(Other).batch(texts(2), output=path, resume="fresh") == BatchSummary(path, 2, 0, 0, 0)
    assert [row["value"] for row in rows(path)] == [{"number": 0.0}, {"number": 1.0}]


def test_what_is_no_folder_of_parts_is_left_as_it_is(tmp_path: Path, shared: Extractor[Any]) -> None:
    """A file, a folder of other things, a part of another make or that is torn."""
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path, file = tmp_path / "out.parquet", tmp_path / "file.parquet"
    parquet.write_table(pa.table({"a": [1]}), file)
    with pytest.raises(OutputError, match="cannot be made or read as a folder"):
        shared.batch(texts(1), output=file)
    with pytest.raises(OutputError, match="cannot be made or read as a folder"):
        shared.batch(texts(1), output=tmp_path / "missing" / "out.parquet")
    for name, content in (
        ("notes.txt", b"mine"),
        ("part-00000.parquet", file.read_bytes()),
        ("part-00000.parquet", b"PAR1 torn"),
    ):
        path.mkdir()
        (path / name).write_bytes(content)
        for resume in ("continue", "retry", "fresh"):
            with pytest.raises(OutputError, match=r"is no part of results"):
                shared.batch(texts(1), output=path, resume=resume)  # type: ignore[call-overload]
        assert names(path) == [name]
        assert (path / name).read_bytes() == content
        (path / name).unlink()
        path.rmdir()


@pytest.mark.usefixtures("small")
def test_one_call_at_a_time_writes(tmp_path: Path, shared: Extractor[Any]) -> None:
    """Also after parts were written, while it can be read."""
    path = tmp_path / "out.parquet"
    shared.batch(texts(2), output=path)
    (_, record), _ = parts.each_record(path)
    columns = Rows.of(resolve_type(Number))
    with parts.Parts(path, record["made_by"], "continue", columns) as sink:
        for number in range(5):
            sink.append(to_line({**record, "id": f"n{number}"}))
            for resume in ("continue", "fresh"):
                with pytest.raises(OutputError, match="Another call is writing"):
                    shared.batch(texts(1), output=path, resume=resume)  # type: ignore[call-overload]
            assert len(list(read_results(path, Number))) == 3 + number
        assert len(rows(path)) == 5
    assert len(rows(path)) == 7


@pytest.mark.thorough
def test_parts_need_pyarrow_and_only_they(tmp_path: Path) -> None:
    """It is imported when parts are written or read; without it, the message says what to install."""
    code = f"""
import sys
sys.modules["pyarrow"] = None
from structured import Extractor, read_results
from structured.extraction.output.records import to_line
from structured.extraction.output.rows import Rows
from structured.models.scripted import ScriptedModel
made = Extractor(int, model=ScriptedModel("1"))
print(made.batch(["a"], output={str(tmp_path / "out.jsonl")!r}).done)
path = {str(tmp_path)!r}
for run in (lambda: made.batch(["a"], output=path + "/out.parquet"), lambda: list(read_results(path, int))):
    try:
        run()
    except ImportError as error:
        print(error)
    except Exception as error:
        print(type(error).__name__)
"""
    assert run(code).split("\n")[:3] == [
        "1",
        "Parquet needs pyarrow: pip install 'structured-extraction[parquet]'.",
        "OutputError",
    ]
    assert names(tmp_path) == ["out.jsonl"]


def test_a_part_that_cannot_be_written_keeps_its_records(
    tmp_path: Path, shared: Extractor[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """They stay in the journal, and the next call makes the part."""
    path = tmp_path / "out.parquet"

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    shared.batch(texts(2), output=path)
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(OutputError, match=r"(?s)No space left on device. \d record"):
            shared.batch(texts(5), output=path)
    assert shared.batch(texts(5), output=path).done == 0
    assert len(rows(path)) == 5


KILLED = """
import sys
from pathlib import Path
sys.path[:0] = [sys.argv[1], str(Path(sys.argv[1], "..", "support"))]
from test_parts import extractor, parts, texts
parts.PART_RECORDS = 100
print("ready", flush=True)
extractor().batch(texts(int(sys.argv[3])), output=sys.argv[2])
"""


def killed(path: Path, times: int, count: int, seconds: float) -> None:
    """Kill calls at different moments, and look at the folder at each."""
    command = [sys.executable, "-c", KILLED, str(Path(__file__).parent), str(path), str(count)]
    last = 0
    for time_ in range(times):
        process = subprocess.Popen(command, stdout=subprocess.PIPE)
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        until = time.monotonic() + seconds * (time_ + 1) / times
        while time.monotonic() < until and process.poll() is None:
            if (path / ".journal.jsonl").exists():
                found = [one.document.id for one in read_results(path, Number)]
                assert len(found) == len(set(found)) >= last
                last = len(found)
                if parts.parts_of(path):
                    whole = [row["id"] for row in rows(path)]
                    assert len(whole) == len(set(whole))
            time.sleep(0.02)
        process.kill()
        process.wait()
        process.stdout.close()
    extractor().batch(texts(count), output=path)
    found = {row["id"]: row["value"] for row in rows(path)}
    assert found == {str(number): None if number == 13 else {"number": number} for number in range(count)}
    assert len(rows(path)) == count


@pytest.mark.thorough
def test_killed_calls_lose_nothing(tmp_path: Path) -> None:
    """Twice kill -9: each document has one row in the end."""
    killed(tmp_path / "out.parquet", 2, 300, 1.0)


@pytest.mark.slow
def test_calls_that_are_killed_again_and_again_lose_nothing(tmp_path: Path) -> None:
    """Five times kill -9 over some thousand documents, at different moments."""
    killed(tmp_path / "out.parquet", 5, 3000, 5.0)


def test_evidence_and_absent_fields_are_read_back_whole(tmp_path: Path) -> None:
    path = tmp_path / "out.parquet"
    model = ScriptedModel('{"number": null}')
    extract_batch(Number, texts(1), output=path, absent=["number"], model=model)
    (found,) = read_results(path, Number)
    assert (found.value.missing, found.value.value, found.value.document) == (("number",), None, "item 0")


def test_a_fresh_start_that_was_interrupted_is_finished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No record from before it counts, whichever part was dropped last."""
    path = tmp_path / "out.parquet"
    monkeypatch.setattr(parts, "PART_RECORDS", 5)
    extractor().batch(texts(20), output=path)
    unlink, dropped = Path.unlink, []

    def interrupted(part: Path, **options: Any) -> None:
        if part.name.startswith("part-"):
            dropped.append(part)
            if len(dropped) == 2:
                raise KeyboardInterrupt
        unlink(part, **options)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "unlink", interrupted)
        with pytest.raises(KeyboardInterrupt):
            extractor().batch(texts(20), output=path, resume="fresh")
    assert 0 < len(parts.parts_of(path)) < 4
    summary = extractor().batch(texts(20), output=path)
    assert (summary.done, summary.before) == (20, 0)
    assert len(rows(path)) == 20


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="There are no FIFOs here.")
def test_what_would_keep_a_reader_waiting_is_refused(tmp_path: Path) -> None:
    """A FIFO in place of results, or of a part of them."""
    os.mkfifo(tmp_path / "out.jsonl")
    folder = tmp_path / "out.parquet"
    folder.mkdir()
    os.mkfifo(folder / "part-00000.parquet")
    for path in (tmp_path / "out.jsonl", folder):
        with pytest.raises(OutputError, match="is no regular file"):
            list(read_results(path, Number))
    with pytest.raises(OutputError, match="is no regular file"):
        extractor().batch(texts(2), output=folder)


@pytest.mark.parametrize(
    "described",
    [b"[]", b"null", b"5", b'{"id": {"struct": {}, "omittable": 5}}', b'{"list": ' * 3000 + b"1" + b"}" * 3000],
)
def test_a_forged_part_is_refused(tmp_path: Path, described: bytes) -> None:
    """By an error of the library, whatever it says of its columns."""
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "out.parquet"
    extractor().batch(texts(2), output=path)
    part = path / "part-00000.parquet"
    table = parquet.read_table(part)
    parquet.write_table(table.replace_schema_metadata({b"structured.columns": described}), part)
    for run_it in (lambda: list(read_results(path, Number)), lambda: extractor().batch(texts(2), output=path)):
        with pytest.raises(OutputError, match="is no part of results"):
            run_it()


@pytest.mark.parametrize(
    ("output_type", "text"),
    [(Regex("[0-9]{4}"), "1987"), (Choice(["yes", "no"]), "no"), (Grammar('start: "a" "b"'), "ab")],
    ids=repr,
)
def test_texts_that_are_no_json_are_texts_in_the_table(tmp_path: Path, output_type: Any, text: str) -> None:
    """Which a query finds as they are."""
    path = tmp_path / "out.parquet"
    extractor(output_type, model=ScriptedModel(text)).batch(["x"], output=path)
    assert [row["value"] for row in rows(path)] == [text]
    assert [one.value for one in read_results(path, output_type)] == [text]
