"""Tables: their rows are documents, all of them, in order, and what is wrong with one is said by its place."""

import csv
import io
import json
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from structured import Document, Extractor
from structured.errors import PromptError
from structured.extraction import read_rows
from structured.models import ScriptedModel

FIELDS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12) | st.text(
    "a,;|\t\"' \n\r", max_size=12
)
NAMES = ["first", "second", "third"]


def written(tmp_path_factory: pytest.TempPathFactory, name: str, data: bytes) -> Path:
    path = tmp_path_factory.mktemp("table") / name
    path.write_bytes(data)
    return path


@given(
    st.lists(st.tuples(FIELDS, FIELDS, FIELDS), max_size=6),
    st.sampled_from(",;\t|"),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
)
def test_rows_of_csv_come_back_as_they_were_written(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, ...]], separator: str, end: str, encoding: str
) -> None:
    held = io.StringIO(newline="")
    writer = csv.writer(held, delimiter=separator, lineterminator=end, quoting=csv.QUOTE_ALL)
    writer.writerows([NAMES, *rows])
    path = written(tmp_path_factory, "a.csv", held.getvalue().encode(encoding))
    found = list(read_rows(path, text="second"))
    assert all(isinstance(one, Document) for one in found)
    assert [(one.metadata["first"], one.text, one.metadata["third"]) for one in found] == rows


@given(st.lists(st.text(st.characters(exclude_categories=("Cs",)), max_size=12), min_size=1, max_size=6))
def test_rows_of_json_lines_come_back_as_they_were_written(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str]
) -> None:
    lines = [json.dumps({"text": text, "at": position}, ensure_ascii=False) for position, text in enumerate(texts)]
    path = written(tmp_path_factory, "a.jsonl", "\n\n".join(lines).encode())
    assert list(read_rows(path, id="at")) == [Document(text, str(at)) for at, text in enumerate(texts)]


def test_parquet_is_read_over_row_groups(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    table = pa.table({"body": [f"text {n}" for n in range(1000)], "n": range(1000)})
    pa.parquet.write_table(table, path, row_group_size=300)
    found = list(read_rows(path))
    assert found[7] == Document("text 7", f"{path}:8", {"n": 7})
    assert [one.metadata["n"] for one in found if isinstance(one, Document)] == list(range(1000))


def test_texts_of_parquet_that_are_no_utf_8_are_told(tmp_path: Path) -> None:
    """Columns say that they are text, and nobody checks: a program wrote Latin-1, or a byte of the file is damaged."""
    buffers = [None, pa.py_buffer(np.array([0, 1, 3], np.int32).tobytes()), pa.py_buffer(b"aZ\xeb")]
    table = pa.table({"text": pa.Array.from_buffers(pa.string(), 2, buffers)})
    pa.parquet.write_table(table, tmp_path / "a.parquet")
    with pytest.raises(PromptError, match=r"a\.parquet cannot be read after row 0: .*utf-8"):
        list(read_rows(tmp_path / "a.parquet"))


def test_rows_are_extracted_from(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('id;body;year\na;"It is 3.";2024\nb;;2025\nc;It is 3.\nd;It is 3.;2026\n')
    found = Extractor(int, model=ScriptedModel("3")).results(read_rows(path, text="body", id="id"))
    results = sorted(found, key=lambda one: one.position)
    assert [3 if one.error is None else None for one in results] == [3, None, None, 3]
    assert (results[0].document, results[0].id, results[0].metadata) == ("It is 3.", "a", {"year": "2024"})
    assert str(results[1].error).startswith("Document b is empty.")
    assert str(results[2].error).startswith(f"{path}:4: the row has 2 fields, and the header has 3.")


def test_rows_may_be_chats(tmp_path: Path) -> None:
    path = tmp_path / "a.ndjson"
    chat = [{"role": "user", "content": "Hello."}]
    path.write_text(json.dumps({"messages": chat}) + "\n")
    assert list(read_rows(path)) == [Document(chat, f"{path}:1")]


@pytest.mark.parametrize(
    ("name", "data", "options", "told"),
    [
        ("a.csv", b"a,b\n1,2\n", {}, r"has 2 columns of texts: 'a', 'b'\. Name one: read_rows\(path, text="),
        (
            "a.csv",
            b"body,b\n",
            {"text": "Body"},
            r"text is 'Body', .* has the columns 'body', 'b'\. Did you mean 'body'",
        ),
        ("a.csv", b"body,b\n", {"text": "b", "id": "key"}, "id is 'key', and the table"),
        ("a.csv", b"body,b\n", {"text": "b", "id": "b"}, "'b' is to be both the text and the id"),
        ("a.csv", b"a,a\n", {"text": "a"}, "several columns 'a'"),
        ("a.csv", b"a,b;c\n1,2;3\n", {"text": "a"}, "separator of .* may be comma or semicolon"),
        ("a.csv", b"\n \n", {}, "is empty. Its first line"),
        ("a.jsonl", b"", {}, "is empty"),
        ("a.jsonl", b"[1]\n", {}, r"a\.jsonl:1: the line is \[1\], and not an object"),
        ("a.jsonl", b'{"a": 1}\n', {}, "has no column of texts: 'a'"),
        ("a.parquet", b"PAR1", {}, "is no Parquet"),
        ("a.xlsx", b"", {}, r"has the suffix '\.xlsx', and rows are read of \.csv.*Save the sheet as CSV"),
        ("a.csv", b"a\nb\nZo\xeb\n", {}, "Line 3 of .* is not text in UTF-8: it has the byte 0xeb"),
        ("a.csv", b"a\nb\0\n", {}, "Line 2 of .* has NUL characters"),
        ("a.csv", b'a,b\n1,2\n3,"4\n5,6\n', {"text": "a"}, "row at line 3 .* unexpected end of data. Look for a quote"),
        ("a.csv", b"a\n" + b"x" * 200_000, {}, r"row at line 2 .* field limit .*csv\.field_size_limit"),
    ],
)
def test_what_is_wrong_with_a_table_is_said(
    name: str, data: bytes, options: dict[str, Any], told: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(PromptError, match=told):
        list(read_rows(tmp_path / name, **options))


def test_a_torn_row_fails_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "a"}\n{"text": "b\n{"text": null}\n5\n{"text": "c"}\n{"tex')
    documents = list(read_rows(path))
    told = [str(one) if isinstance(one, PromptError) else one.text for one in documents]
    assert told[0::4] == ["a", "c"]
    assert f"{path}:2: the line is no JSON" in told[1]
    assert f"{path}:3: 'text' is None, not a text" in told[2]
    assert f"{path}:4: the line is 5, and not an object" in told[3]
    assert f"{path}:6: the line is no JSON" in told[5]


def test_a_row_without_id_fails_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("id,text\n7,a\n ,b\n")
    seven, without = read_rows(path, id="id")
    assert seven == Document("a", "7")
    assert "'id' is ' ', no id" in str(without)


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_a_long_table_takes_no_more_memory_than_a_short_one(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"long{suffix}"
    texts = [f"Text number {n} is about as long as a line." for n in range(20_000)]
    if suffix == ".parquet":
        pa.parquet.write_table(pa.table({"text": texts}), path, row_group_size=1000)
    else:
        path.write_text(
            "".join(f"{json.dumps({'text': one}) if suffix == '.jsonl' else one}\n" for one in ["text", *texts])
        )
    rows = read_rows(path)
    next(rows)
    tracemalloc.start()
    try:
        assert sum(1 for _ in rows) >= 19_999
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "rows",
    ["number;text\n1;Ana is 31.", "day;text\n2024-05-02;Ana is 31.\n;\n12.50;Tom is 42.", "ID;text\na1;Ana is 31."],
)
def test_numbers_dates_and_ids_are_no_texts(rows: str, tmp_path: Path) -> None:
    """So a table of them beside one column of texts needs no name of a column."""
    (tmp_path / "people.csv").write_text(f"{rows}\n", encoding="utf-8")
    assert next(row.text for row in read_rows(tmp_path / "people.csv") if isinstance(row, Document)) == "Ana is 31."
