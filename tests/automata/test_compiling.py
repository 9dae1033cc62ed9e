"""The compiler of the loops says once that it compiles, and not that it loads what it compiled before."""

import importlib.util
import logging

import numba
import pytest

from structured.automata.loops import jit

LOOP = """
from structured.automata.loops.jit import compiled_loop


@compiled_loop
def twice(number: int) -> int:
    return 2 * number
"""


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="Nothing is compiled.")
def test_compiling_is_logged_once(tmp_path, caplog):
    """By a logger under `structured`."""
    path = tmp_path / "loops_of_a_test.py"
    path.write_text(LOOP, encoding="utf-8")
    caplog.set_level(logging.INFO, "structured")

    def load():
        specification = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(specification)
        specification.loader.exec_module(module)
        assert module.twice(21) == 42
        return [record.name for record in caplog.records]

    jit._log_compiling.cache_clear()
    assert load() == ["structured.automata.loops.jit"]
    jit._log_compiling.cache_clear()
    assert load() == ["structured.automata.loops.jit"]
