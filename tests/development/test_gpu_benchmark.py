"""The command for a GPU: parts that are done stay done, what fails is told, and each part runs where there is none."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from doubles import byte_level_tokenizer

from benchmarks.gpu.__main__ import WEIGHTS
from benchmarks.gpu.results import FAILED, SKIPPED, Plan, Result, Row
from benchmarks.gpu.tables import NOTES, TITLES, cell, report
from benchmarks.gpu.worker import PARTS


def says(*rows: Row, then: str = "") -> list[str]:
    """Return a command that writes some rows, and then does something."""
    lines = "".join(f"print({json.dumps(json.dumps(row))}, flush=True)\n" for row in rows)
    return [sys.executable, "-c", f"print('noise')\n{lines}{then}"]


def plan(folder: Path, machine: str = "a GPU", *, again: bool = False, **commands: list[str]) -> Plan:
    return Plan(folder, machine, False, commands, dict.fromkeys(commands, 1.0), again=again)


def test_parts_that_are_done_are_not_run_again(tmp_path: Path) -> None:
    """One that has failed is, and so are all on another machine, or when they are to be."""
    commands = {"texts": says({"a": 1}), "masks": says({FAILED: "no"}), "passes": says({SKIPPED: "none"})}
    assert plan(tmp_path, **commands).waiting() == ["texts", "masks", "passes"]
    plan(tmp_path, **commands).run(30.0)
    assert plan(tmp_path, **commands).waiting() == ["masks"]
    assert plan(tmp_path, **commands, again=True).waiting() == ["texts", "masks", "passes"]
    assert plan(tmp_path, "another", **commands).waiting() == ["texts", "masks", "passes"]
    (tmp_path / "texts.json").write_text("{")  # half of a file
    assert plan(tmp_path, **commands).waiting() == ["texts", "masks"]
    kept = Result.read(tmp_path, "passes")
    assert kept is not None
    assert kept.rows == [{SKIPPED: "none"}]


@pytest.mark.thorough
def test_a_part_that_breaks_off_keeps_its_rows_and_the_next_is_run(tmp_path: Path) -> None:
    """Whether its process crashes or takes too long; that is a reason, too."""
    crash, slow = says({"a": 1}, then="import os; os._exit(3)"), says({"a": 2}, then="import time; time.sleep(60)")
    plan(tmp_path, texts=crash, masks=slow, passes=says({"a": 3})).run(6.0)
    found = {part: Result.read(tmp_path, part) for part in ("texts", "masks", "passes")}
    rows = {part: result.rows for part, result in found.items() if result}
    assert rows["texts"] == [{"a": 1}, {FAILED: "its process ended with 3"}]
    assert rows["masks"][0] == {"a": 2}
    assert rows["masks"][1][FAILED].startswith("it took more than")
    assert rows["passes"] == [{"a": 3}]


def test_tables_have_all_that_was_found() -> None:
    """Columns of all rows, reasons beneath, and a word where it was no GPU."""
    rows: list[Row] = [{"model": "x", "ms": 1.23456}, {SKIPPED: "y"}, {"model": "z", "ratio": 1234.5}, {FAILED: "w"}]
    text = report([Result("passes", "a GPU", False, 1.0, rows), Result("masks", "CPU", True)])
    assert "| model | ms | ratio |\n|---|---|---|\n| x | 1.23 |  |\n| z |  | 1234 |" in text
    assert "- Skipped: y\n- Failed: w" in text
    assert text.index("### a GPU") < text.index("### CPU") < text.index("CPU, small shapes: only shows")
    assert text.count("only shows") == 1
    assert [cell(value) for value in (None, 7, "a|b", True)] == ["", "7", "a\\|b", "True"]
    assert set(TITLES) == set(WEIGHTS) == set(PARTS) >= set(NOTES)


@pytest.fixture
def setting(tmp_path: Path) -> Any:
    """Return small shapes on the CPU with a tokenizer of bytes."""
    import torch

    from benchmarks.gpu.machine import Setting

    byte_level_tokenizer().save_pretrained(tmp_path)

    return Setting(torch.device("cpu"), "CPU", True, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("part", [part for part in PARTS if part != "tests"])
def test_every_part_runs_without_a_gpu(setting: Any, part: str) -> None:
    """Only peers and models that are not installed are left out."""
    from importlib import import_module

    rows = list(getattr(import_module(f"benchmarks.gpu.{PARTS[part]}"), part)(setting))
    assert not [row for row in rows if FAILED in row]
    found = [row for row in rows if SKIPPED not in row]
    assert found
    for row in found:
        assert row.get("valid", row.get("documents")) == row.get("documents")
        assert row.get("valid, %", 100.0) == 100.0
    if part == "texts":
        assert all(row["equal"] == row["documents"] for row in found if "float32" in row["model"])
    if part == "passes":
        assert all(row["ms a pass"] > 0 for row in found)
    if part == "throughput":
        assert all(0 < row["outside the pass, %"] < 100 for row in found)


@pytest.mark.thorough
def test_large_models_are_made_where_they_run(tmp_path: Path) -> None:
    """Not on the host first: on the device without memory, none is taken."""
    import torch

    from benchmarks.gpu.machine import LARGE, Setting

    byte_level_tokenizer().save_pretrained(tmp_path)
    setting = Setting(torch.device("meta"), "meta", False, tmp_path)
    network = setting.llama("Llama 8 B", torch.bfloat16).model
    assert list(LARGE) == ["Llama 1 B", "Llama 8 B"]
    assert sum(weights.numel() for weights in network.parameters()) > 6.5e9
    assert {weights.dtype for weights in network.parameters()} == {torch.bfloat16}
    assert all(tensor.is_meta for tensor in (*network.parameters(), *network.buffers()))


@pytest.mark.slow
def test_the_command_runs(tmp_path: Path) -> None:
    """And once more, when nothing is left to do."""
    import subprocess

    from doubles import REAL_VOCABULARIES

    if not (REAL_VOCABULARIES / "llama3").is_dir():
        pytest.skip("The tokenizer llama3 is not beside the repository, in shared/tokenizers.")
    command = [sys.executable, "-m", "benchmarks.gpu", "--parts", "tests,masks", "--small", "--out", str(tmp_path)]
    first = subprocess.run([*command, "--limit", "200"], capture_output=True, text=True, check=True)
    assert first.stdout.count("####") == 2
    assert "Failed" not in first.stdout
    assert (tmp_path / "table.md").read_text() == first.stdout
    again = subprocess.run(command, capture_output=True, text=True, check=True)
    assert again.stdout == first.stdout
    assert not again.stderr
