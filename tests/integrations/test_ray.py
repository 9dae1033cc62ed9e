"""Datasets of Ray: what the guide shows works."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from package_map import HOUSE


@pytest.mark.slow
def test_the_guide_shows_how_to_use_a_dataset_of_ray(tmp_path: Path) -> None:
    """The block of the guide, run as the script that it is."""
    pytest.importorskip("ray.data", reason="Ray Data is not installed: pip install 'structured-extraction[ray]'")
    page = (HOUSE.parent / "docs/guides/ray-and-datasets.md").read_text(encoding="utf-8")
    (script,) = (block for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "import ray\n" in block)
    (tmp_path / "people.py").write_text(script, encoding="utf-8")
    command = [sys.executable, "-W", "ignore", "people.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=True)
    assert done.stdout.splitlines() == re.findall(r"# → (.*)", script)
