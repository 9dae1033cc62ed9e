"""Tables: the columns of answers follow from the type, and a row fails alone."""

import json
from datetime import date
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any

import pytest
from doubles import ByteTokenizer
from hypothesis import given
from hypothesis import strategies as st
from pydantic import AfterValidator, BaseModel, field_serializer, field_validator

from structured import Extractor, Repetition
from structured.errors import ModelError
from structured.integrations.datasets import added_columns, answer_rows, check_columns
from structured.models import FunctionModel
from structured.models.scripted import ScriptedModel
from structured.output_types.resolve import resolve_type

pyarrow = pytest.importorskip(
    "pyarrow", reason="pyarrow is not installed: pip install 'structured-extraction[parquet]'"
)


class Person(BaseModel):
    name: str
    age: int | None


class Adult(Person):
    @field_validator("age")
    @classmethod
    def is_adult(cls, age: int | None) -> int | None:
        if age is not None and age < 18:
            raise ValueError("must be 18 or more")
        return age


class Unwritable(Person):
    @field_serializer("age")
    def to_nothing(self, age: int | None) -> int:
        raise RuntimeError(f"{age} is not to be written")


class Kind(Enum):
    NEW = "new"
    USED = "used"


class Line(BaseModel):
    article: str
    price: Decimal
    size: float | None = None


class Invoice(BaseModel):
    number: int
    day: date
    kind: Kind
    lines: list[Line]
    paid: bool
    buyer: Person | None
    notes: dict[str, str]


LINES = st.builds(
    Line, price=st.decimals(-1000, 1000, places=2), size=st.none() | st.integers(-1000, 1000).map(lambda size: size / 8)
)
INVOICES = st.builds(
    Invoice,
    number=st.integers(-(10**17), 10**17),
    lines=st.lists(LINES, max_size=3),
    buyer=st.none() | st.builds(Person, age=st.none() | st.integers(0, 120)),
)


def answer(texts: list[Any], output_type: object, **given: Any) -> Any:
    """Return the table of rows with these texts, and their answers."""
    columns = added_columns(output_type, given, given.pop("columns", "typed"))
    rows: dict[str, Any] = {"text": texts, "row": list(range(len(texts)))}
    lists = answer_rows(rows, extractor=Extractor(output_type, **given), column="text", columns=columns)
    added = {name: pyarrow.array(lists[name], column.arrow) for name, column in columns.items()}
    return pyarrow.table({"text": pyarrow.array(texts, "string"), "row": pyarrow.array(rows["row"], "int64"), **added})


@given(INVOICES)
def test_values_have_the_arrow_type_of_their_schema(invoice: Invoice) -> None:
    """What the type reads of a row's cell is the value: nested, listed, optional, a date, an enum or a decimal."""
    model = ScriptedModel(resolve_type(Invoice).write(invoice))
    table = answer(["The invoice."], Invoice, model=model, max_tokens=10_000, repetition=Repetition(stop=False))
    assert table["error"].to_pylist() == [None]
    (cell,) = table["value"].to_pylist(maps_as_pydicts="strict")
    assert Invoice.model_validate(cell) == invoice
    told = table.schema.field("value").type
    assert told.field("day").type == pyarrow.date32()
    line = told.field("lines").type.value_type
    assert (line.field("size").type, line.field("price").type) == (pyarrow.float64(), pyarrow.string())


def test_columns_follow_from_the_type_alone() -> None:
    """Tables without a value, without an error and without rows have the same columns."""
    model = ScriptedModel('{"name": "Jason", "age": 25}')
    texts: list[list[str | None]] = [["Jason is 25 years old."], [None, ""], []]
    schemas = [answer(some, Person, model=model).schema for some in texts]
    assert schemas[0] == schemas[1] == schemas[2]
    assert schemas[0].names == ["text", "row", "value", "missing", "evidence", "error"]


def test_a_text_that_fails_costs_its_row_alone() -> None:
    """Null, an empty text, and an answer that validators reject each time are errors of their rows."""
    model = ScriptedModel(lambda prompt: json.dumps({"name": "Jason", "age": 9 if "9 years" in prompt else 25}))
    table = answer(["He is 25 years old.", None, "", "He is 9 years old."], Adult, model=model, retries=1)
    assert [one and one["name"] for one in table["value"].to_pylist()] == ["Jason", None, None, None]
    errors = table["error"].to_pylist()
    assert [one and one["kind"] for one in errors] == [None, "PromptError", "PromptError", "GenerationError"]
    assert errors[2]["message"] == "The text is empty. There is nothing to extract from."
    assert errors[2]["fields"] is None  # rows have no ids
    assert list(json.loads(errors[3]["fields"])) == ["attempts", "document"]
    assert len(json.loads(errors[3]["fields"])["attempts"]) == 2
    assert table["row"].to_pylist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    "cell",
    [
        ["He is 25.", "He is 9."],
        ("id", "He is 9."),
        ["He is 9."],
        [{"role": "user", "content": "He is 9."}],
        9,
        b"9",
        {},
    ],
)
def test_a_cell_that_is_no_text_is_an_error_of_its_row(cell: Any) -> None:
    """Two texts in a list are no id with its text, and messages no chat."""
    options: Any = {"model": ScriptedModel('{"name": "J", "age": 9}')}
    columns = added_columns(Person, options, "typed")
    extractor = Extractor(Person, **options)
    lists = answer_rows({"text": ["He is 9.", cell]}, extractor=extractor, column="text", columns=columns)
    assert [one and one["age"] for one in lists["value"]] == [9, None]
    assert lists["error"][1]["kind"] == "PromptError"
    assert "not text" in lists["error"][1]["message"]


def test_a_value_without_an_exact_place_is_an_error_of_its_row() -> None:
    """An integer that a validator makes longer than 64 bits has no place in its column, and one in JSON as text."""
    output_type = Annotated[int, AfterValidator(lambda number: number**9)]
    model = ScriptedModel(lambda prompt: "300" if "many" in prompt else "2")
    typed = answer(["few", "many"], output_type, model=model)
    assert typed["value"].to_pylist() == [512, None]
    assert "The column value cannot hold" in typed["error"].to_pylist()[1]["message"]
    plain = answer(["few", "many"], output_type, model=model, columns="json")
    assert plain["value"].to_pylist() == ["512", str(300**9)]
    assert plain["error"].to_pylist() == [None, None]


def test_a_value_that_cannot_be_written_is_told_by_its_text() -> None:
    """A serializer of the type's author that raises costs nothing: the row has what the model wrote."""
    model = ScriptedModel('{"name": "Jason", "age": 25}')
    (row,) = answer(["Jason is 25 years old."], Unwritable, model=model).to_pylist()
    assert (json.loads(row["value"]) if isinstance(row["value"], str) else row["value"]) == {"name": "Jason", "age": 25}
    assert row["error"] is None


def test_evidence_says_where_values_stand() -> None:
    """The spans are those of the row's text, and missing fields are told; each has its column."""
    model = ScriptedModel('{"name": "Jason", "age": null}')
    (row,) = answer(["Jason is old."], Person, model=model, allow_missing=["age"]).to_pylist()
    assert dict(row["evidence"])["name"]["span"] == [0, 5]
    assert row["missing"] == ["age"]


def test_what_the_model_raises_is_no_error_of_a_row() -> None:
    """A model that fails would fail for every row, and ends the dataset."""

    def failing(_: object) -> Any:
        raise RuntimeError("the device is gone")

    with pytest.raises((RuntimeError, ModelError), match="the device is gone"):
        answer(["Jason is 25."], Person, model=FunctionModel(failing, ByteTokenizer()))


def test_columns_that_clash_or_are_not_there_are_refused() -> None:
    """The message names them, and says what to do."""
    columns = added_columns(Person, {}, "typed")
    with pytest.raises(ValueError, match=r"no column 'text', but 'body', 'row'\. Pass column="):
        check_columns(["body", "row"], "text", columns)
    with pytest.raises(ValueError, match=r"would be added: value, error\. Rename them"):
        check_columns(["text", "error", "value"], "text", columns)
