"""The guide to the command line shows what happens: its sessions are run in a shell."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from structured.models.load import PACKAGED_MODEL

ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "docs" / "guides" / "command-line.md"


@pytest.mark.thorough
@pytest.mark.skipif(os.name == "nt", reason="The sessions are those of a POSIX shell.")
def test_the_sessions_of_the_guide_do_what_they_show(tmp_path):
    """Each command after the ones above it; what is below a command is all that it prints."""
    bin_folder = tmp_path / "bin"
    bin_folder.mkdir()
    command = bin_folder / "structured"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m structured "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    environment = {
        **os.environ,
        "PATH": f"{bin_folder}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "STRUCTURED_MODEL": str(PACKAGED_MODEL),
    }
    sessions = re.findall(r"```console\n(.*?)```", GUIDE.read_text(encoding="utf-8"), flags=re.DOTALL)
    steps = [step.split("\n", 1) for session in sessions for step in re.split(r"^\$ ", session, flags=re.MULTILINE)[1:]]
    assert len(steps) > 4
    for line, shown in steps:
        done = subprocess.run(
            ["/bin/sh", "-c", line], capture_output=True, encoding="utf-8", env=environment, cwd=tmp_path, check=True
        )
        expected = ".*".join(map(re.escape, shown.strip().split("…")))
        assert re.fullmatch(expected, done.stdout.strip()), (line, done.stdout)
