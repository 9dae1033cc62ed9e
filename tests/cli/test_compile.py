"""`structured compile` compiles the loops, or says why that helps nobody."""

import os

import pytest
from typer.testing import CliRunner

from structured.automata.loops import jit
from structured.cli import model_commands
from structured.cli.commands import app


@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT", "0") != "0", reason="Nothing is compiled.")
def test_the_loops_are_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """All of them run as machine code afterwards, as they did not before."""
    for entry in jit._ENTRIES:
        monkeypatch.setattr(entry, "run", entry._run_fallback)
    done = CliRunner().invoke(app, ["compile"])
    assert (done.exit_code, done.output) == (0, "The loops are compiled.\n")
    assert jit._ENTRIES
    assert all(entry.run != entry._run_fallback for entry in jit._ENTRIES)


def test_machine_code_that_cannot_be_kept_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """The next process would have to make it again."""

    def compile_loops() -> None:
        raise RuntimeError("cannot cache function 'walk': no locator available")

    monkeypatch.setattr(model_commands, "compile_loops", compile_loops)
    done = CliRunner().invoke(app, ["compile"])
    assert done.exit_code == 1
    assert "NUMBA_CACHE_DIR" in done.output
