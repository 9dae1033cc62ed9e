"""`structured serve`: what is wrong with its options is said in a sentence, before a model is loaded."""

import socket
from collections.abc import Iterator
from typing import Any

import pytest
from typer.testing import CliRunner

from structured.cli import commands
from structured.cli.commands import app

pytest.importorskip("uvicorn", reason="The extra serve runs a server.")


def run(*options: str, code: int, **environment: str) -> str:
    """Return what the command writes for people, on one line."""
    found = CliRunner().invoke(app, ["serve", "--port", "0", *options], env=environment)
    assert found.exit_code == code, found.output
    assert "Traceback" not in found.output
    return " ".join(found.output.replace("│", " ").split())


@pytest.fixture
def taken() -> Iterator[int]:
    """A port at which something listens."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening.getsockname()[1]


@pytest.fixture
def loads_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def load(name: str | None) -> Any:
        pytest.fail(f"{name} is loaded")

    monkeypatch.setattr(commands, "_load_served_model", load)


def test_a_model_that_there_is_not_is_one_sentence() -> None:
    """With the code that `extract` has for it."""
    said = run("--model", "./missing", code=3)
    assert said.startswith("ModelError: There is no folder './missing'.")


def test_a_model_behind_a_server_is_not_served_again() -> None:
    """The help does not offer it."""
    for options, environment, who in (
        (["--model", "vllm://localhost:8801/x"], {}, "--model names"),
        ([], {"STRUCTURED_MODEL": "vllm://localhost:8801/x"}, "STRUCTURED_MODEL names"),
    ):
        said = run(*options, code=3, **environment)
        assert said.startswith(f"ModelError: {who} vllm://localhost:8801/x, a model that a server has already.")
    assert "vllm://" not in run("--help", code=0)


@pytest.mark.usefixtures("loads_nothing")
@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_port_that_is_taken_is_told_before_the_model_is_loaded(taken: int, workers: str) -> None:
    said = run("--port", str(taken), "--workers", workers, code=3)
    assert said.startswith(f"OSError: Nothing can listen at port {taken} of 127.0.0.1: Address already in use.")


@pytest.mark.usefixtures("loads_nothing")
@pytest.mark.parametrize("workers", ["1", "2"])
def test_an_address_of_another_machine_is_told_before_the_model_is_loaded(workers: str) -> None:
    said = run("--host", "192.0.2.1", "--port", "8801", "--workers", workers, code=3)
    assert said.startswith("OSError: Nothing can listen at port 8801 of 192.0.2.1: ")


@pytest.mark.usefixtures("loads_nothing")
def test_options_that_contradict_each_other_are_refused() -> None:
    assert "'p' names two types." in run("--type", "p=builtins:int", "--type", "p=builtins:str", code=2)
    assert "The key is empty." in run("--api-key", "", code=2)
    assert "Invalid value for '--workers': Input should be greater than or equal to 1" in run("--workers", "0", code=2)
    assert "The key is empty." in run(code=2, STRUCTURED_API_KEY="")  # as where a secret is missing
