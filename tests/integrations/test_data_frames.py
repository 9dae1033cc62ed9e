"""Data frames: the answers of a batch beside the rows, of the types that follow from the type."""

from datetime import date
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from structured import JsonSchema, extract_batch
from structured.errors import OutputError
from structured.integrations.data_frames import extract_table
from structured.models import PACKAGED_MODEL
from structured.models.scripted import ScriptedModel

pandas = pytest.importorskip("pandas", reason="The extra test has pandas.")
polars = pytest.importorskip("polars", reason="The extra test has Polars.")
duckdb = pytest.importorskip("duckdb", reason="The extra test has DuckDB.")
pyarrow = pytest.importorskip("pyarrow", reason="The extra test has pyarrow.")

TEXTS = ["Jason is 25 years old.", "", "Ana Brandt, 31, is a nurse.", None, "Maria is 9 years old."]
IDS = [3, 1, 4, 1, 5]
MODEL = str(PACKAGED_MODEL)
COLUMNS = {"id": IDS, "text": TEXTS}
ADDED = ["name", "age", "missing", "evidence", "error"]


class Person(BaseModel):
    name: str
    age: int | None


class Visit(BaseModel):
    day: date
    people: list[Person]


FRAMES: dict[str, Any] = {
    "pandas": pandas.DataFrame,
    "Polars": polars.DataFrame,
    "Arrow": pyarrow.table,
    "DuckDB": lambda columns: duckdb.from_arrow(pyarrow.table(columns)),
}


def records(frame: Any) -> list[dict[str, Any]]:
    """The rows of a frame as plain data."""
    if isinstance(frame, pandas.DataFrame):
        frame = pyarrow.Table.from_pandas(frame, preserve_index=False)
    return list(frame.to_dicts() if isinstance(frame, polars.DataFrame) else frame.to_pylist())


@pytest.fixture(scope="module")
def answers() -> list[Any]:
    return extract_batch(Person, TEXTS, model=MODEL, errors="return", progress=False)


@pytest.mark.parametrize("kind", FRAMES)
def test_each_row_has_the_answer_of_a_batch(kind: str, answers: list[Any]) -> None:
    """In each kind of frame: the value's fields, or the error of the row, beside the columns that were there."""
    given = FRAMES[kind](COLUMNS)
    found = extract_table(given, "text", Person, model=MODEL, progress=False)
    assert type(found) is (pyarrow.Table if kind == "DuckDB" else type(given))
    rows = records(found)
    assert [*rows[0]] == ["id", "text", *ADDED]
    assert [row["id"] for row in rows] == IDS
    for row, answer in zip(rows, answers, strict=True):
        if isinstance(answer, Exception):
            assert (row["name"], row["age"], row["error"]["kind"]) == (None, None, type(answer).__name__)
        else:
            assert (row["name"], row["age"], row["error"]) == (answer.name, answer.age, None)
            [start, end] = dict(row["evidence"])["name"]["span"]
            assert row["text"][start:end] == answer.name


@pytest.mark.parametrize("kind", FRAMES)
def test_a_frame_without_rows_gets_its_columns(kind: str) -> None:
    """Of the same types as those of one with rows."""
    empty = extract_table(FRAMES[kind]({"text": pyarrow.array([], "string").to_pylist()}), "text", Visit, model=MODEL)
    assert [*getattr(empty, "column_names", empty.columns)] == ["text", "day", "people", *ADDED[2:]]


def test_columns_have_the_types_of_the_fields() -> None:
    frame = extract_table(
        pyarrow.table({"text": ["Visit."]}),
        "text",
        Visit,
        model=ScriptedModel('{"day": "2024-05-01", "people": [{"name": "Ana", "age": null}]}'),
        progress=False,
    )
    assert frame.schema.field("day").type == pyarrow.date32()
    assert frame.column("people").to_pylist() == [[{"name": "Ana", "age": None}]]


def test_the_index_and_the_dtypes_of_pandas_are_kept() -> None:
    """Whole numbers with missing ones stay whole numbers; missing texts, of each kind, are errors of their rows."""
    frame = pandas.DataFrame({"text": ["Ana is 31.", float("nan"), pandas.NA]}, index=["b", "a", "b"])
    found = extract_table(frame, "text", Person, model=ScriptedModel('{"name": "Ana", "age": 31}'), progress=False)
    assert [*found.index] == ["b", "a", "b"]
    assert found["age"].tolist()[0] == 31
    assert str(found["age"].dtype) == "int64[pyarrow]"
    assert [error is not None for error in found["error"].array.to_numpy(dtype=object, na_value=None)] == [0, 1, 1]
    assert [*frame.columns] == ["text"]


def test_a_type_without_fields_is_one_column() -> None:
    frame = polars.DataFrame({"note": ["What a day!"]})
    found = extract_table(frame, "note", int, model=ScriptedModel("7"), prefix="mood_", progress=False)
    assert found.columns == ["note", "mood_value", "mood_missing", "mood_evidence", "mood_error"]
    assert found["mood_value"].to_list() == [7]


def test_a_batch_goes_on_where_it_stopped(tmp_path: Path) -> None:
    """What is in the file is not asked for again; other rows under the same numbers are refused."""
    asked: list[str] = []
    model = ScriptedModel(lambda prompt: asked.append(prompt) or '{"name": "Ana", "age": 31}')
    out = tmp_path / "people.jsonl"
    texts = ["Ana is 31.", "Ana, 31."]
    first = extract_table(pandas.DataFrame({"text": texts[:1]}), "text", Person, output=out, model=model)
    second = extract_table(pandas.DataFrame({"text": texts}), "text", Person, output=out, model=model)
    assert len(asked) == 2
    assert first["name"].tolist() == ["Ana"]
    assert second["age"].tolist() == [31, 31]
    with pytest.raises(OutputError, match="text"):
        extract_table(pandas.DataFrame({"text": ["Bea is 7."]}), "text", Person, output=out, model=model)


@pytest.mark.parametrize(
    ("frame", "column", "options", "kind", "said"),
    [
        (["a"], "text", {}, TypeError, "Pass a DataFrame of pandas or Polars"),
        (polars.LazyFrame({"text": ["a"]}), "text", {}, TypeError, "collect a LazyFrame first"),
        (pandas.DataFrame({"body": ["a"]}), "text", {}, ValueError, "There is no column 'text', but 'body'"),
        (pandas.DataFrame({"text": ["a"], "name": ["b"]}), "text", {}, ValueError, "or pass prefix=…"),
        (pandas.DataFrame({"text": ["a"]}), "text", {"colour": 1}, TypeError, "colour"),
        (pandas.DataFrame({"text": ["a"]}), "text", {"prefix": 1}, TypeError, "prefix is 1"),
    ],
)
def test_what_cannot_be_answered_is_refused(
    frame: Any, column: str, options: dict[str, Any], kind: type[Exception], said: str
) -> None:
    with pytest.raises(kind, match=said):
        extract_table(frame, column, Person, model=MODEL, **options)


def test_a_field_named_as_a_column_of_its_own_is_refused() -> None:
    class Odd(BaseModel):
        error: str

    with pytest.raises(ValueError, match="Rename the field"):
        extract_table(pandas.DataFrame({"text": ["a"]}), "text", Odd, model=MODEL)


def test_duckdb_reads_the_result_by_its_name() -> None:
    relation = duckdb.sql("SELECT 'Ana is 31.' AS text")
    people = extract_table(relation, "text", Person, model=ScriptedModel('{"name": "Ana", "age": 31}'), progress=False)
    assert people.num_rows == 1
    assert duckdb.sql("SELECT name, age + 1 FROM people WHERE error IS NULL").fetchall() == [("Ana", 32)]


ITEM = {
    "type": "object",
    "properties": {"price": {"type": "number"}},
    "required": ["price"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("schema", "script", "column"),
    [
        (ITEM, '{"price": 9999999999999999}', "new_price"),
        ({"type": "array", "items": ITEM}, '[{"price": 3}, {"price": 9999999999999998}]', "new_value[1].price"),
    ],
)
def test_an_integer_that_a_float_column_rounds_is_an_error_of_its_column(
    schema: dict[str, Any], script: str, column: str
) -> None:
    """Beyond 2**53, where pyarrow and pandas draw the line as well: behind it a float stands for several integers."""
    frame = pyarrow.table({"text": ["a"]})
    found = extract_table(frame, "text", JsonSchema(schema), prefix="new_", model=ScriptedModel(script)).to_pylist()
    message = found[0]["new_error"]["message"]
    assert message.startswith(f"The column {column} cannot hold 999999999999999")
    assert "integers up to 2**53" in message
    assert message.endswith(" Bound the field, or pass output=…, whose records have all values.")


def test_integers_that_floats_hold_are_held() -> None:
    model = ScriptedModel(f'{{"price": {2**53}}}')
    found = extract_table(pyarrow.table({"text": ["a"]}), "text", JsonSchema(ITEM), model=model).to_pylist()
    assert (found[0]["price"], found[0]["error"]) == (2**53, None)
