"""The benchmarks of work beside another program, on work that takes no time."""

import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import busy, thread_counts
from benchmarks.thread_counts import Shape


def test_each_work_has_a_row_and_runs_over_the_given_checkout(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Once for the caches, and then alone and beside the busy programs, which are gone in the end."""
    (tmp_path / "structured.py").write_text("", encoding="utf-8")
    program = (
        "import pathlib, structured; print('run', file=pathlib.Path(structured.__file__).with_name('runs').open('a'))"
    )
    monkeypatch.setattr(busy, "WORK", {"import": ["-c", program]})
    monkeypatch.setattr(sys, "argv", ["busy", "--repeats", "2", "--programs", "1", "--source", str(tmp_path)])
    started: list[subprocess.Popen[bytes]] = []
    popen = subprocess.Popen
    monkeypatch.setattr(
        subprocess, "Popen", lambda *args, **options: started.append(popen(*args, **options)) or started[-1]
    )
    busy.main()
    *_, row = capsys.readouterr().out.splitlines()
    assert [cell.strip() for cell in row.split("|")][1] == "import"
    assert row.count("|") == 6
    assert (tmp_path / "runs").read_text(encoding="utf-8").split() == ["run"] * 5
    assert all(process.poll() is not None for process in started)


def test_passes_are_timed_for_each_number_of_threads(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """For one text and for eight, and for two batches side by side."""
    monkeypatch.setattr(thread_counts, "SHAPES", {"tiny": Shape("float32", 2, 32, 64, 2, 1, 300)})
    monkeypatch.setattr(thread_counts, "available_cpus", lambda: 2)
    monkeypatch.setattr(sys, "argv", ["thread_counts", "--repeats", "1"])
    thread_counts.main()
    rows = [row.split("|") for row in capsys.readouterr().out.splitlines()[2:]]
    assert [(row[2].strip(), row[3].strip()) for row in rows] == [
        *(("1", "1"), ("1", "2"), ("8", "1"), ("8", "2")),
        ("2 × 4", "1 each"),
    ]
