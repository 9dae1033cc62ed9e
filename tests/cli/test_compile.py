"""`structured compile` compiles the loops, or says why that helps nobody."""

import pytest
from typer.testing import CliRunner

from structured.cli import compile as command
from structured.cli.app import app


def test_the_loops_are_compiled() -> None:
    """Once: here they were already."""
    done = CliRunner().invoke(app, ["compile"])
    assert (done.exit_code, done.output) == (0, "The loops are compiled.\n")


def test_machine_code_that_cannot_be_kept_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """The next process would have to make it again."""

    def compile_loops() -> None:
        raise RuntimeError("cannot cache function 'walk': no locator available")

    monkeypatch.setattr(command, "compile_loops", compile_loops)
    done = CliRunner().invoke(app, ["compile"])
    assert done.exit_code == 1
    assert "NUMBA_CACHE_DIR" in done.output
