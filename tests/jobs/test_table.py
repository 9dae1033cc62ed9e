"""Tables of results: every value of a file of results has its cell."""

import csv
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from structured import Document, Result, read_results, write_results, write_table
from structured.errors import OutputError, PromptError
from structured.extraction.batch_state import BatchState
from structured.extraction.documents.document import id_of
from structured.extraction.journal import Journal
from structured.extraction.records import line_of, record_of
from structured.extraction.result_files import unrecorded
from structured.models.scripted import ScriptedModel
from structured.results.result import Provenance

RECORD = {"digest": "0" * 64, "provenance": {}}

VALUES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.lists(st.integers())


def results(path: Path, values: list[Any]) -> Path:
    lines = [json.dumps({"id": str(number), **RECORD, "value": value}) for number, value in enumerate(values)]
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


@given(st.lists(st.fixed_dictionaries({"a": VALUES, "b": st.none() | st.fixed_dictionaries({"c": VALUES})})))
def test_each_value_has_a_cell(tmp_path_factory: pytest.TempPathFactory, values: list[Any]) -> None:
    """In Parquet as itself, or as JSON where a column has several kinds; in CSV as text or JSON."""
    parquet = pytest.importorskip("pyarrow.parquet")
    folder = tmp_path_factory.mktemp("table")
    path = results(folder / "out.jsonl", values)
    rows = parquet.read_table(write_table(path, folder / "out.parquet")).to_pylist()
    with write_table(path, folder / "out.csv").open(newline="", encoding="utf-8") as file:
        plain = list(csv.DictReader(file))
    assert len(rows) == len(plain) == len(values)
    for row, cells, value in zip(rows, plain, values, strict=True):
        told = {"value.a": value["a"], "value.b.c": (value["b"] or {}).get("c")}
        for name, one in told.items():
            written = one.encode(errors="backslashreplace").decode() if isinstance(one, str) else one
            assert row.get(name) == written or json.loads(row[name]) == one
            text = "" if one is None else written if isinstance(one, str) else json.dumps(one)
            assert cells.get(name, "") == text


class Person(BaseModel):
    name: str
    age: int | None


@pytest.mark.parametrize("rows", ["documents", "values"])
def test_what_a_batch_wrote_is_a_table(tmp_path: Path, rows: Any) -> None:
    """With metadata and errors, or with the evidence."""
    documents = [Document("I am Ana.", "a", {"year": 2024, "from": {"city": "Porto"}}), ("b", "")]
    model = ScriptedModel('{"name": "Ana", "age": null}')
    write_results(Person, documents, tmp_path / "out.jsonl", model=model)
    with write_table(tmp_path / "out.jsonl", tmp_path / "out.csv", rows=rows).open(newline="") as file:
        header, first, *others = csv.reader(file)
    if rows == "documents":
        assert header == ["id", "metadata.year", "metadata.from.city", "value.name", "value.age", "error"]
        found = sorted([first, *others])
        assert found[0] == ["a", "2024", "Porto", "Ana", "", ""]
        assert found[1][-1].startswith("PromptError: Document b is empty")
    else:
        evidence = ["quote", "start", "end", "page", "match", "confidence", "agreement"]
        assert header == ["id", "path", "value", *evidence, "flags"]
        assert first[7] == "exact"
        assert first[:7] == ["a", "name", "Ana", "Ana", "5", "8", ""]
        assert [row[:3] for row in others] == [["a", "age", ""]]


def test_what_is_no_table_is_refused(tmp_path: Path) -> None:
    """Another format, too many columns, a folder that is not there; nothing is left."""
    path = results(tmp_path / "out.jsonl", [1, 2])
    with pytest.raises(ValueError, match=r"must end with \.csv or \.parquet"):
        write_table(path, tmp_path / "out.xls")
    with pytest.raises(OutputError, match="cannot be read or written"):
        write_table(tmp_path / "none.jsonl", tmp_path / "out.csv")
    with pytest.raises(OutputError, match="cannot be read or written"):
        write_table(path, tmp_path / "none" / "out.csv")
    results(path, [{str(number): number for number in range(2001)}])
    with pytest.raises(OutputError, match="more than 2,000 columns"):
        write_table(path, tmp_path / "out.csv")
    assert [one.name for one in tmp_path.iterdir()] == ["out.jsonl"]


@pytest.mark.parametrize("error", [5, None, {}, {"kind": "PromptError", "message": 5}])
def test_an_error_that_is_none_is_refused(tmp_path: Path, error: Any) -> None:
    path = tmp_path / "out.jsonl"
    path.write_text(json.dumps({"id": "a", **RECORD, "error": error}) + "\n")
    with pytest.raises(OutputError, match=r"^Line 1 of .* is no record of a document: its error has no kind"):
        write_table(path, tmp_path / "out.csv")
    with pytest.raises(OutputError, match=r"^Line 1 of .* is no record"):
        list(read_results(path, int))


@pytest.mark.parametrize("name", ["a\0b", "a\ud800b"])
def test_what_no_file_can_be_called_is_refused(tmp_path: Path, name: str) -> None:
    """As an output, as results to read, and as a table."""
    path = results(tmp_path / "out.jsonl", [1])
    calls: list[Any] = [
        lambda: write_results(int, ["1"], tmp_path / name, model=ScriptedModel("1")),
        lambda: list(read_results(tmp_path / name, int)),
        lambda: write_table(tmp_path / name, tmp_path / "out.csv"),
        lambda: write_table(path, tmp_path / f"{name}.csv"),
    ]
    for call in calls:
        with pytest.raises(OutputError, match="has a character that no path can have"):
            call()


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_column_whose_name_is_no_utf8_has_its_escapes(tmp_path: Path, ending: str) -> None:
    """Names of objects come from documents. One that is spelled like the escapes keeps its own cells."""
    parquet = pytest.importorskip("pyarrow.parquet")
    path = results(tmp_path / "out.jsonl", [{"\ud800": 1, "\\ud800": 2}])
    table = write_table(path, tmp_path / f"out.{ending}")
    if ending == "csv":
        head, row = table.read_text(encoding="utf-8").splitlines()
        names, cells = head.split(","), row.split(",")
    else:
        found = parquet.ParquetFile(table).read()
        names, cells = found.column_names, [str(column[0]) for column in found.columns]
    assert [name for name in names if "ud800" in name] == names[1:]
    assert cells[1:] == ["1", "2"]


def order_of(table: Path) -> list[str]:
    with table.open(newline="", encoding="utf-8") as file:
        return [row["id"] for row in csv.DictReader(file)]


def written(output: Path, documents: str, done: Iterable[str] | None = None, **options: Any) -> None:
    """Write the records of documents, or of those of them that are `done` before an interruption, in this order."""
    waiting = [(name, "It is 1.") for name in documents]
    if done is None:
        write_results(int, waiting, output, model=ScriptedModel("1"), batch_size=1, **options)
        return
    made = Provenance("int", "0", "scripted", None, "0", {}, "1")
    with Journal(output, made) as sink:
        works = {id_of(work.document, 0): work for work in unrecorded(waiting, sink, BatchState()) if work is not None}
        for name in done:
            if name in works:
                result = Result[Any](name, 0, "", error=PromptError("empty"))
                sink.append(line_of(record_of(result, works[name].digest, works[name].place, made)))


@given(st.permutations("abcdef"), st.lists(st.integers(0, 6), max_size=3))
def test_rows_are_in_the_order_of_the_documents(
    tmp_path_factory: pytest.TempPathFactory, done: list[str], interrupted_after: list[int]
) -> None:
    """Whatever order they were done in, by one call or by several that were interrupted."""
    path = tmp_path_factory.mktemp("table") / "out.jsonl"
    for count in (*sorted(interrupted_after), len(done)):
        written(path, "abcdef", done[:count])
        assert order_of(write_table(path, path.with_suffix(".csv"))) == sorted(done[:count])


@given(st.lists(st.sets(st.sampled_from("abcdefgh")), max_size=4), st.randoms(use_true_random=False))
def test_documents_of_a_folder_are_at_their_places(
    tmp_path_factory: pytest.TempPathFactory, found: list[set[str]], random: Random
) -> None:
    """Whichever files each call found, in an order that the calls agree upon, a last call of all has it."""
    path = tmp_path_factory.mktemp("table") / "out.jsonl"
    known: set[str] = set()
    for names in found:
        known |= names  # a folder loses no file
        done = sorted(known)
        random.shuffle(done)
        written(path, "".join(sorted(known)), done)
        assert order_of(write_table(path, path.with_suffix(".csv"))) == sorted(known)


@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        (["ace", "abcde"], "abcde"),
        (["bd", "abd", "abcd", "abcdefg"], "abcdefg"),
        (["cd", "bcd", "abcd"], "abcd"),
        (["ab", "cd", "ef"], "abcdef"),
        (["ab", "cd", "abx", "cyd"], "abxcyd"),
        (["ab", "abc", "abcd"], "abcd"),
        (["abcdefg", "cdefghi", "hijk"], "abcdefghijk"),
        (["ab", "cd", "cdeab"], "cdeab"),
    ],
    ids=["between", "around", "before", "batches", "two folders", "after", "window", "other way round"],
)
def test_documents_of_a_later_call_are_inserted_among_those_before(
    tmp_path: Path, calls: list[str], expected: str
) -> None:
    """A folder has new files, a window has moved, say; other documents come behind, in the order of the calls."""
    output = tmp_path / "out.jsonl"
    for names in calls:
        written(output, names)
    assert "".join(order_of(write_table(output, tmp_path / "out.csv"))) == expected


def test_new_documents_before_all_others_stay_there_after_an_interruption(tmp_path: Path) -> None:
    """Those before the interruption were written before the document that they come before had been read."""
    output = tmp_path / "out.jsonl"
    written(output, "xy")

    with pytest.raises(RuntimeError):
        write_results(int, _raising_after("abc"), output, model=ScriptedModel("1"), batch_size=1)
    written(output, "abcdxy")
    assert "".join(order_of(write_table(output, tmp_path / "out.csv"))) == "abcdxy"


def _raising_after(names: str) -> Iterator[tuple[str, str]]:
    yield from ((name, "It is 1.") for name in names)
    raise RuntimeError


@pytest.mark.parametrize("failed", ["a", "bc", "abc", "d", "abd"])
def test_documents_that_failed_are_retried_at_their_places(tmp_path: Path, failed: str) -> None:
    """Also the first one, and those that later documents were inserted after."""
    output = tmp_path / "out.jsonl"
    for names in ("abd", "abcd", "abcde"):
        documents = [(name, "" if name in failed else "It is 1.") for name in names]
        write_results(int, documents, output, model=ScriptedModel("1"))
    written(output, "abcde", resume="retry")
    assert "".join(order_of(write_table(output, tmp_path / "out.csv"))) == "abcde"


def test_records_without_an_order_keep_that_of_their_lines(tmp_path: Path) -> None:
    """An earlier version of the library wrote them; those that are written after them come behind."""
    path = results(tmp_path / "out.jsonl", [1, 2, 3])
    assert order_of(write_table(path, tmp_path / "out.csv")) == ["0", "1", "2"]
    later = [{"id": str(place), **RECORD, "value": 1, "order": [0, place]} for place in (4, 3)]
    path.write_text(path.read_text() + "".join(f"{json.dumps(one)}\n" for one in later))
    assert order_of(write_table(path, tmp_path / "out.csv")) == ["0", "1", "2", "3", "4"]


def test_an_order_that_is_none_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    for order in ([0], [0, "1"], [0, -1], 1, [True, 1], [0, 2**63], [0, 1, "a"], [0, 1, "a", 2], None):
        path.write_text(json.dumps({"id": "a", **RECORD, "value": 1, "order": order}) + "\n")
        with pytest.raises(OutputError, match=r"Line 1 .* its order is no pair of numbers"):
            write_table(path, tmp_path / "out.csv")


def test_a_file_with_the_greatest_numbers_is_continued(tmp_path: Path) -> None:
    """What the next call writes is read, too."""
    output = tmp_path / "out.jsonl"
    written(output, "a")
    record = json.loads(output.read_text())
    output.write_text(json.dumps({**record, "order": [2**63 - 1, 2**63 - 1]}) + "\n")
    for names in ("ab", "abc"):
        written(output, names)
    assert sorted(order_of(write_table(output, tmp_path / "out.csv"))) == ["a", "b", "c"]
