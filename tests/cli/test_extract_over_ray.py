"""`structured extract --engine ray`: the records of one process, by several, whatever becomes of them."""

import contextlib
import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from structured import write_table
from structured.cli.commands import app
from structured.integrations import ray
from structured.integrations.ray import BatchActor
from structured.models.load import PACKAGED_MODEL
from structured.models.scripted import ScriptedModel

ROOT = Path(__file__).parents[2]
FIELDS = ("--fields", "name: str, age: int | None")
CLUSTER = ("--engine", "ray", "--concurrency", "2")
LETTERS = 150

needs_ray = pytest.mark.skipif(
    importlib.util.find_spec("ray") is None, reason="Ray is not installed: pip install 'structured-extraction[ray]'"
)

TYPES = """
from __future__ import annotations
import os, signal
from pathlib import Path
from pydantic import BaseModel, field_validator
from beside import Years

class Person(BaseModel):
    name: str
    age: Years
    friend: Person | None = None

class Deadly(BaseModel):
    name: str
    age: Years

    @field_validator("age")
    @classmethod
    def dies_once(cls, age):
        try:
            Path("killed").touch(exist_ok=False)
        except FileExistsError:
            return age
        os.kill(os.getpid(), signal.SIGKILL)

class Poisonous(Deadly):
    @field_validator("age")
    @classmethod
    def dies(cls, age):
        os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture(autouse=True)
def letters(tmp_path, monkeypatch):
    """Stand in a folder with a folder of letters, one of which is empty, and a file of types with another beside it."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "letters"
    folder.mkdir()
    (tmp_path / "people.py").write_text(TYPES, encoding="utf-8")
    (tmp_path / "beside.py").write_text("Years = int\n", encoding="utf-8")
    for number in range(LETTERS):
        text = f"Jason is {number} years old." if number != 99 else ""
        (folder / f"{number:03}.txt").write_text(text, encoding="utf-8")
    return folder


def start(*arguments):
    """Start the command as a process of its own, which an interrupt reaches."""
    command = [sys.executable, "-W", "ignore", "-m", "structured", "extract", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "STRUCTURED_MODEL": str(PACKAGED_MODEL)}
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "env": environment, "text": True}
    if os.name != "nt":  # where the tests run in the background, it would be ignored
        options["preexec_fn"] = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    return subprocess.Popen(command, **options)


def run(*arguments):
    process = start(*arguments)
    stdout, stderr = process.communicate(timeout=500)
    return process.returncode, stdout, stderr


def lines(path):
    return sorted(Path(path).read_text(encoding="utf-8").splitlines())


@pytest.mark.slow
@needs_ray
def test_a_cluster_writes_the_records_of_one_process():
    """Letter by letter, in any order; a document that fails is told once, and by the exit code."""
    code, _, told = run(*FIELDS, "letters", *CLUSTER, "-o", "ray.jsonl")
    assert (code, told.count("letters/099.txt is empty")) == (1, 1)
    assert f"{LETTERS} documents in" in told
    assert run(*FIELDS, "letters", "-o", "alone.jsonl")[0] == 1
    assert lines("ray.jsonl") == lines("alone.jsonl")
    code, _, told = run(*FIELDS, "letters", *CLUSTER, "-o", "alone.jsonl")
    assert (code, f"{LETTERS} documents had been done before" in told) == (1, True)


class Cluster:
    """Stands in for Ray: its actors are in this process, and an answer is a function that is called in the end."""

    def wait(self, references):
        return references[-1:], []

    def get(self, reference):
        return reference()


class Actor:
    def __init__(self, *given):
        actor = BatchActor(*given, folder=".", path=[])
        self.provenance = SimpleNamespace(remote=lambda: actor.provenance)
        self.answer = SimpleNamespace(remote=lambda documents: partial(actor.answer, documents))


@needs_ray
@pytest.mark.parametrize("calls", [["ace", "abcdef"], ["cd", "abcd"], ["bcd", "abcd"], ["abc", "bcdef"]])
def test_the_records_of_a_cluster_are_in_the_order_of_the_documents(tmp_path, monkeypatch, calls):
    """Also those that come before the first one with a record; an actor has one document at a time."""
    monkeypatch.setattr(ray, "DOCUMENTS_AT_ONCE", 1)
    monkeypatch.setattr(
        ray,
        "_actor_pool",
        lambda *options: contextlib.nullcontext(ray._ActorPool(Cluster(), [Actor(*options[2:]) for _ in range(2)])),
    )
    observers = {"startup": contextlib.nullcontext(), "on_record": lambda _: None, "progress": False}
    output = tmp_path / "out.jsonl"
    for names in calls:
        documents = [(name, "It is 1.") for name in names]
        ray.write_batch_by_actors(
            lambda: int,
            {"model": ScriptedModel("1")},
            documents,
            output,
            concurrency=2,
            num_gpus=0,
            resume="continue",
            **observers,
        )
    table = write_table(output, tmp_path / "out.csv").read_text(encoding="utf-8").splitlines()
    assert [row.split(",")[0] for row in table[1:]] == sorted(set("".join(calls)))


def test_the_records_of_a_cluster_are_on_standard_output(monkeypatch):
    """As short lines; Ray's own messages are not, which it prints to standard output. The actor is in this process."""

    class Pool:
        def __init__(self, given):
            self.actor = BatchActor(*given, folder=".", path=[])

        def provenance(self):
            sys.stdout.write("Ray says something.\n")
            return self.actor.provenance()[0]

        def lines(self, documents):
            yield from self.actor.answer(list(documents))[0]

    monkeypatch.setattr("structured.cli.extract_command.find_spec", lambda _: True)
    monkeypatch.setattr(ray, "_actor_pool", lambda *options: contextlib.nullcontext(Pool(options[2:])))
    paths = [f"letters/{number:03}.txt" for number in (7, 8, 99)]
    result = CliRunner().invoke(app, ["extract", *FIELDS, *paths, "--model", str(PACKAGED_MODEL), "--engine", "ray"])
    assert result.exit_code == 1
    told = {record["id"]: record for record in map(json.loads, result.stdout.splitlines())}
    assert {*told} == {*paths}
    assert told[paths[0]]["value"] == {"name": "Jason", "age": 7}
    assert "Ray says something." in result.stderr


@pytest.mark.slow
@needs_ray
def test_a_process_that_is_killed_costs_no_document():
    """Types of a file are read by each process, with what is beside the file; one dies in the middle. To Parquet."""
    parquet = pytest.importorskip("pyarrow.parquet")
    code, _, told = run("people.py:Deadly", "letters", *CLUSTER, "-o", "people.parquet")
    assert (code, Path("killed").exists()) == (1, True), told
    rows = parquet.read_table("people.parquet").to_pylist()
    assert sorted(row["id"] for row in rows) == [f"letters/{number:03}.txt" for number in range(LETTERS)]
    assert sum(row["error"] is not None for row in rows) == 1


@pytest.mark.slow
@needs_ray
def test_a_document_that_kills_each_process_ends_the_command():
    """With a sentence, and the code of what cannot be used; it does not go on for ever."""
    code, stdout, told = run("people.py:Poisonous", "letters/001.txt", "--engine", "ray")
    assert (code, stdout) == (3, "")
    assert "A process died, and so did those that were given its documents after it" in told


@pytest.mark.slow
@needs_ray
def test_an_interrupt_keeps_what_is_done():
    """And the same command goes on: each document has one record in the end."""
    process = start("people.py:Person", "letters", *CLUSTER, "-o", "out.jsonl")
    for _ in range(600):
        if Path("out.jsonl").exists() and Path("out.jsonl").stat().st_size:
            break
        time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=100)
    assert process.returncode in {130, 1}, told  # the last record may have come before
    assert run("people.py:Person", "letters", *CLUSTER, "-o", "out.jsonl")[0] == 1
    assert [json.loads(line)["id"] for line in lines("out.jsonl")] == [f"letters/{n:03}.txt" for n in range(LETTERS)]


@pytest.mark.slow
@needs_ray
def test_what_an_actor_raises_is_told_as_a_sentence():
    """A model that is not there."""
    code, stdout, told = run(*FIELDS, "letters", *CLUSTER, "--model", "./nowhere")
    assert (code, stdout) == (3, "")
    assert told.startswith("ModelError: ")
    assert "Traceback" not in told


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (("--concurrency", "2"), 2, "Pass --engine ray as well"),
        (("--num-gpus", "1"), 2, "Pass --engine ray as well"),
        (("--engine", "ray", "--concurrency", "0"), 2, "--concurrency is 0"),
        (("--engine", "ray", "--num-gpus", "-1"), 2, "--num-gpus is -1"),
        (("--engine", "ray", "--batch-size", "0"), 2, "--batch-size is 0"),
        (("--engine", "dask"), 2, "'dask' is not one of"),
    ],
)
def test_mistakes_are_told_before_a_cluster_starts(arguments, code, told, monkeypatch):
    """Options of a cluster without one, and values that are not allowed."""
    monkeypatch.setattr("structured.cli.extract_command.find_spec", lambda _: True)
    result = CliRunner().invoke(app, ["extract", *FIELDS, "letters", *arguments], env={"COLUMNS": "200"})
    assert result.exit_code == code
    assert told in result.stderr


def test_without_ray_the_message_says_how_to_install_it(monkeypatch):
    """It is an extra."""
    monkeypatch.setattr("structured.cli.extract_command.find_spec", lambda _: None)
    result = CliRunner().invoke(app, ["extract", *FIELDS, "letters", "--engine", "ray"])
    assert result.exit_code == 3
    assert "pip install 'structured-extraction[ray]'" in result.stderr
