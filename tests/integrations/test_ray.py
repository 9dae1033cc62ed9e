"""Datasets of Ray: the answers of a batch, in typed columns, each row once, whatever becomes of actors and rows."""

import csv
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from package_map import HOUSE
from pydantic import BaseModel, field_validator

from structured import OptionWarning, SchemaError, StructuredError, connect, extract_batch
from structured.extraction.events import DocumentAccepted, Event
from structured.integrations import ray as integration
from structured.integrations.ray import extract_dataset
from structured.models import PACKAGED_MODEL

pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed: pip install 'structured-extraction[ray]'")


pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:ray")  # of its own settings


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


MODEL = str(PACKAGED_MODEL)
ACTORS: dict[str, Any] = {"model": MODEL, "concurrency": 2, "num_cpus": 0.5}
TEXTS = [f"{name} is {age} years old." for name in ("Jason", "Maria", "Ana Brandt") for age in (25, 31, 9, 47)]


@pytest.mark.parametrize("concurrency", [0, (2, 1), (0, 1), "two", 1.5, (1, 2, 3)])
def test_concurrency_is_a_number_or_a_range(concurrency: Any) -> None:
    """Anything else is refused where it is passed."""
    with pytest.raises((TypeError, ValueError), match="concurrency is "):
        integration._pool_size(concurrency)
    assert integration._pool_size((1, 4)) == {"min_size": 1, "max_size": 4}


class Assassin:
    """A listener that kills its own process, once, when a document is accepted, and notes each process it is in."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __call__(self, event: Event) -> None:
        if isinstance(event, DocumentAccepted):
            (self._folder / str(os.getpid())).touch()
            try:
                (self._folder / "killed").touch(exist_ok=False)
            except FileExistsError:
                return
            os.kill(os.getpid(), signal.SIGKILL)


@pytest.fixture(scope="module")
def ray() -> Iterator[Any]:
    """Return Ray with a cluster of two processes of this machine."""
    found = pytest.importorskip("ray", reason="Ray is not installed: pip install 'structured-extraction[ray]'")
    pytest.importorskip("ray.data", reason="Ray Data is not installed: pip install 'structured-extraction[ray]'")
    folders = [HOUSE.parent, HOUSE.parent / "tests" / "support", Path(__file__).parent]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join(map(str, folders)))  # where the processes find this module
        found.init(
            num_cpus=2, object_store_memory=200e6, include_dashboard=False, log_to_driver=False, logging_level="ERROR"
        )
        found.data.DataContext.get_current().enable_progress_bars = False
        yield found
        found.shutdown()


def rows_of(dataset: Any) -> list[dict[str, Any]]:
    return sorted(dataset.take_all(), key=lambda row: int(row["row"]))


@pytest.mark.thorough
def test_ray_gives_the_answers_of_a_batch(ray: Any) -> None:
    """Two actors give each row what `extract_batch` gives its text, value or error, and leave the other columns."""
    texts = [*TEXTS, "", None, *reversed(TEXTS)]
    given = ray.data.from_items([{"row": row, "text": text} for row, text in enumerate(texts)])
    rows = rows_of(
        extract_dataset(
            given.repartition(6), Adult, concurrency=2, num_cpus=0.5, rows=4, retries=0, model=PACKAGED_MODEL
        )
    )
    assert [(row["row"], row["text"]) for row in rows] == list(enumerate(texts))
    for row, alone in zip(rows, extract_batch(Adult, texts, errors="return", retries=0, model=MODEL), strict=True):
        if isinstance(alone, StructuredError):
            assert (row["value"], row["error"]["kind"]) == (None, type(alone).__name__)
        else:
            assert (Adult.model_validate(row["value"]), row["error"]) == (alone, None)
    assert {row["error"]["kind"] for row in rows if row["error"]} == {"PromptError", "GenerationError"}


@pytest.mark.slow
def test_each_row_is_there_once_when_an_actor_is_killed(ray: Any, tmp_path: Path) -> None:
    """An actor dies by SIGKILL in the middle of its rows; another one does them, and none is lost or twice."""
    given = ray.data.from_items([{"row": row, "text": text} for row, text in enumerate(TEXTS * 4)]).repartition(4)
    actors = {"concurrency": 2, "num_cpus": 0.5}
    rows = rows_of(
        extract_dataset(given, Person, **actors, rows=6, model=MODEL, batch_size=2, observe=Assassin(tmp_path))
    )
    assert (tmp_path / "killed").exists()
    assert len([*tmp_path.iterdir()]) >= 3  # the mark, the process that died, and one that did its rows
    assert [row["row"] for row in rows] == list(range(len(TEXTS) * 4))
    alone = extract_batch(Person, TEXTS, model=MODEL) * 4
    assert [Person.model_validate(row["value"]) for row in rows] == alone


@pytest.mark.slow
def test_parquet_in_and_out(ray: Any, tmp_path: Path) -> None:
    """A file of Parquet becomes a folder of Parquet with typed columns, which pyarrow reads."""
    from pyarrow import dataset, parquet

    table = pyarrow.table({"row": range(len(TEXTS)), "body": TEXTS})
    parquet.write_table(table, tmp_path / "letters.parquet")
    given = ray.data.read_parquet(str(tmp_path / "letters.parquet"))
    extract_dataset(given, Person, column="body", evidence=True, model=MODEL).write_parquet(str(tmp_path / "people"))
    written = dataset.dataset(tmp_path / "people").to_table()
    assert written.schema.field("value").type == pyarrow.struct([("name", "string"), ("age", "int64")])
    rows = sorted(written.to_pylist(), key=lambda row: row["row"])
    assert [row["body"] for row in rows] == TEXTS
    assert [Person.model_validate(row["value"]) for row in rows] == extract_batch(Person, TEXTS, model=MODEL)
    for row in rows:
        start, end = dict(row["evidence"])["name"]["span"]
        assert row["body"][start:end] == row["value"]["name"]


@pytest.mark.slow
def test_csv_and_json_lines_in_and_out(ray: Any, tmp_path: Path) -> None:
    """CSV holds the columns as JSON text; JSON lines hold them typed."""
    source = tmp_path / "letters.csv"
    with source.open("w", newline="") as file:
        csv.writer(file).writerows([("row", "text"), *enumerate(TEXTS[:3])])
    alone = extract_batch(Person, TEXTS[:3], model=MODEL)
    given = ray.data.read_csv(str(source))
    extract_dataset(given, Person, columns="json", model=MODEL).write_csv(str(tmp_path / "csv"))
    rows = [row for path in (tmp_path / "csv").iterdir() for row in csv.DictReader(path.read_text().splitlines())]
    assert [Person.model_validate_json(row["value"]) for row in sorted(rows, key=lambda row: row["row"])] == alone
    extract_dataset(given, Person, model=MODEL).write_json(str(tmp_path / "lines"))
    back = extract_dataset(
        ray.data.read_json(str(tmp_path / "lines")).drop_columns(["value", "error"]), Person, model=PACKAGED_MODEL
    )
    assert [Person.model_validate(row["value"]) for row in rows_of(back)] == alone


@pytest.mark.thorough
def test_mistakes_are_told_before_an_actor_starts(ray: Any) -> None:
    """A type that cannot be enforced, an option and a column that are unknown, and what is no dataset."""
    given = ray.data.from_arrow(pyarrow.table({"text": ["Jason"], "value": [1]}))
    with pytest.raises(SchemaError):
        extract_dataset(given, object())
    with pytest.raises(TypeError, match="batchsize"):
        extract_dataset(given, Person, batchsize=3)  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="would be added: value"):
        extract_dataset(given, Person)
    with pytest.raises(ValueError, match="no column 'body'"):
        extract_dataset(given, Person, column="body")
    with pytest.raises(TypeError, match="The dataset is "):
        extract_dataset(["Jason is 25."], Person)
    texts = given.drop_columns(["value"])
    with pytest.raises(ValueError, match=r"reserve 2 of the 2 cores.*would wait for ever\. Lower concurrency"):
        extract_dataset(texts, Person, concurrency=2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(integration, "_is_own_cluster", lambda: False)
        with pytest.warns(OptionWarning, match="reserve 2 of the 2 cores.*unless cores are added"):
            extract_dataset(texts, Person, concurrency=2)
    for model in ("structured://localhost", connect("vllm://localhost/name")):  # they compute nothing
        extract_dataset(texts, Person, concurrency=2, model=model)
        with pytest.raises(ValueError, match="reserve 2 of the 2 cores"):
            extract_dataset(texts, Person, concurrency=2, model=model, num_cpus=1)


def test_without_ray_the_message_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is an extra."""
    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.setitem(sys.modules, "ray.data", None)
    with pytest.raises(ImportError, match=r"pip install 'structured-extraction\[ray\]'"):
        extract_dataset(None, Person)  # type: ignore[arg-type]


@pytest.mark.slow
def test_the_guide_shows_how_to_use_ray(tmp_path: Path) -> None:
    """The block of the guide, run as the script that it is."""
    pytest.importorskip("ray.data", reason="Ray Data is not installed: pip install 'structured-extraction[ray]'")
    (script,) = re.findall(r"```python\n(.*?)```", (HOUSE.parent / "docs/guides/ray.md").read_text(), re.DOTALL)
    (tmp_path / "people.py").write_text(script, encoding="utf-8")
    command = [sys.executable, "-W", "ignore", "people.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=True)
    assert done.stdout.splitlines() == re.findall(r"# → (.*)", script)
