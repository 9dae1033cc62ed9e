"""Datasets of Hugging Face: the answers of a batch beside the rows, with features that follow from the type."""

import json
import os
import pickle
import re
import subprocess
import sys
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from package_map import HOUSE
from pydantic import BaseModel

from structured import Repetition, StructuredError, extract_batch
from structured.errors import SchemaError
from structured.integrations.datasets import extract_dataset
from structured.models import PACKAGED_MODEL
from structured.models.scripted import ScriptedModel

datasets = pytest.importorskip("datasets", reason="Not installed: pip install 'structured-extraction[datasets]'")

TEXTS = ["Jason is 25 years old.", "", "Ana Brandt, 31, is a nurse.", None, "Maria is 9 years old."]
MODEL = str(PACKAGED_MODEL)


class Person(BaseModel):
    name: str
    age: int | None


class Visit(BaseModel):
    day: date
    people: list[Person]
    notes: dict[str, str]


VISITS = st.builds(Visit, people=st.lists(st.builds(Person, age=st.none() | st.integers(0, 120)), max_size=3))


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Leave out the bars of `datasets`."""
    datasets.disable_progress_bars()
    yield
    datasets.enable_progress_bars()


def letters(texts: list[Any] = TEXTS) -> Any:
    features = datasets.Features({"row": datasets.Value("int32"), "text": datasets.Value("string")})
    return datasets.Dataset.from_dict({"row": list(range(len(texts))), "text": texts}, features=features)


def check_rows(rows: list[dict[str, Any]]) -> None:
    """Assert that rows are those of the letters, each with what a batch gives its text."""
    assert [(row["row"], row["text"]) for row in rows] == list(enumerate(TEXTS))
    for row, alone in zip(rows, extract_batch(Person, TEXTS, errors="return", model=MODEL), strict=True):
        if isinstance(alone, StructuredError):
            assert (row["value"], row["error"]["kind"]) == (None, type(alone).__name__)
        else:
            assert (Person.model_validate(row["value"]), row["error"]) == (alone, None)


@pytest.mark.parametrize("rows", [1, 2, 1_000])
def test_a_dataset_has_the_answers_of_a_batch(rows: int) -> None:
    """Value or error in each row, beside its other columns, whose features stay."""
    answered = extract_dataset(letters(), Person, model=MODEL, rows=rows)
    check_rows(answered.to_list())
    assert {**answered.features, **letters().features} == answered.features
    assert answered.features["value"] == {"name": datasets.Value("string"), "age": datasets.Value("int64")}


def test_an_iterable_dataset_is_answered_as_it_is_read() -> None:
    """No more rows than were asked for, `rows` at a time; also where its features are not known."""
    read: list[int] = []

    def rows() -> Iterator[dict[str, Any]]:
        for row in letters():
            read.append(row["row"])
            yield row

    for features in (letters().features, None):
        answered = extract_dataset(
            datasets.IterableDataset.from_generator(rows, features=features), Person, model=MODEL, rows=2
        )
        assert answered.features == (
            None if features is None else extract_dataset(letters([]), Person, model=MODEL).features
        )
        read.clear()
        next(iter(answered))
        assert read == [0, 1]
        check_rows(list(answered))


def test_an_iterable_dataset_is_pickled() -> None:
    """As it is for the processes of a `DataLoader`."""
    answered = extract_dataset(letters().to_iterable_dataset(), Person, model=MODEL)
    check_rows(list(pickle.loads(pickle.dumps(answered))))  # noqa: S301


@given(VISITS)
def test_values_come_back_from_their_features(visit: Visit) -> None:
    """Nested, listed, optional and dates; an object with any names is a list of its members. From a file, too."""
    model = ScriptedModel(visit.model_dump_json())
    options: dict[str, Any] = {"model": model, "max_tokens": 10_000, "repetition": Repetition(stop=False)}
    answered = extract_dataset(letters(["The visit."]), Visit, **options)
    assert answered.features["value"]["day"] == datasets.Value("date32")
    for (row,) in (
        answered.to_list(),
        list(extract_dataset(letters(["The visit."]).to_iterable_dataset(), Visit, **options)),
    ):
        assert row["error"] is None
        members = {entry["key"]: entry["value"] for entry in row["value"]["notes"]}
        assert Visit.model_validate({**row["value"], "notes": members}) == visit


def test_features_follow_from_the_type_alone(tmp_path: Path) -> None:
    """Datasets without a value, without an error and without rows have the same, also when they are read back."""
    model = ScriptedModel('{"name": "Jason", "age": 25}')
    given: list[list[Any]] = [["Jason is 25 years old."], [None, ""], []]
    found = [extract_dataset(letters(texts), Person, model=model) for texts in given]
    assert found[0].features == found[1].features == found[2].features
    assert found[0].column_names == ["row", "text", "value", "missing", "evidence", "error"]
    assert [len(one) for one in found] == [1, 2, 0]
    found[0].to_parquet(tmp_path / "people.parquet")
    back = datasets.Dataset.from_parquet(str(tmp_path / "people.parquet"), cache_dir=str(tmp_path / "cache"))
    assert (back.features, back.to_list()) == (found[0].features, found[0].to_list())


def test_evidence_says_where_values_stand() -> None:
    """By the path of each; what is missing is told, and columns of JSON say the same."""
    model = ScriptedModel('{"name": "Jason", "age": null}')
    (row,) = extract_dataset(letters(["Jason is old."]), Person, model=model, allow_missing=["age"]).to_list()
    assert {entry["key"]: entry["value"]["span"] for entry in row["evidence"]}["name"] == [0, 5]
    assert row["missing"] == ["age"]
    (plain,) = extract_dataset(
        letters(["Jason is old."]), Person, model=model, allow_missing=["age"], columns="json"
    ).to_list()
    assert json.loads(plain["evidence"])["name"]["span"] == [0, 5]


def test_a_format_stays() -> None:
    """That of a `Dataset`; its values may be of another kind then, and its texts are read all the same."""
    answered = extract_dataset(letters().with_format("numpy"), Person, model=MODEL)
    assert answered.format["type"] == "numpy"
    check_rows(answered.with_format(None).to_list())


def test_what_the_model_raises_ends_the_call() -> None:
    """It would fail for every row."""

    def fails(_: str) -> str:
        raise RuntimeError("the device is gone")

    with pytest.raises(Exception, match="the device is gone"):
        extract_dataset(letters(["Jason is 25."]), Person, model=ScriptedModel(fails))


def test_mistakes_are_told_before_a_model_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A type that cannot be enforced, an option and a column that are unknown, and what is no dataset."""
    given = letters().add_column("value", [1] * len(TEXTS))
    with pytest.raises(SchemaError):
        extract_dataset(given, object(), model="nowhere")
    with pytest.raises(TypeError, match="batchsize"):
        extract_dataset(given, Person, batchsize=3, model="nowhere")
    with pytest.raises(ValueError, match="would be added: value"):
        extract_dataset(given, Person, model="nowhere")
    with pytest.raises(ValueError, match="no column 'body'"):
        extract_dataset(letters().to_iterable_dataset(), Person, column="body", model="nowhere")
    with pytest.raises(ValueError, match="rows is 0"):
        extract_dataset(letters(), Person, rows=0, model="nowhere")
    with pytest.raises(TypeError, match=r"Pass a Dataset or an IterableDataset: dataset\['train'\]"):
        extract_dataset(datasets.DatasetDict(train=letters()), Person, model="nowhere")
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(ImportError, match=r"pip install 'structured-extraction\[datasets\]'"):
        extract_dataset(letters, Person)


def test_the_guide_shows_what_comes_out(tmp_path: Path) -> None:
    """The block of the guide, run as a script."""
    page = (HOUSE.parent / "docs/guides/ray-and-datasets.md").read_text("utf-8")
    (script,) = (block for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "import datasets\n" in block)
    command = [sys.executable, "-W", "ignore", "-c", script]
    environment = {**os.environ, "HF_HOME": str(tmp_path), "PYTHONPATH": str(HOUSE.parent)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True, env=environment)
    assert done.stdout.splitlines() == re.findall(r"# → (.*)", script)
