"""The masks of a grammar are kept on disk, and found again by another process."""

import os
import subprocess
import sys

import pytest

pytest.importorskip("lark")


def test_each_process_makes_the_same_tables() -> None:
    """Otherwise what one has learned of a grammar is of no use to the next: it is kept under a digest of these."""
    code = (
        "from structured import Grammar; print([Grammar.named(n).automaton().fingerprint for n in ('json', 'python')])"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", code],
            check=True,
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
        ).stdout
        for seed in (1, 2, 3)
    }
    assert len(found) == 1
