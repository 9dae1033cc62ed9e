"""The guide to the server: its snippets that need one do what they show."""

import re
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from package_map import HOUSE

from structured.models import PACKAGED_MODEL

GUIDE = (HOUSE.parent / "docs/guides/serving.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)

PERSON = """
from pydantic import BaseModel

class Person(BaseModel):
    name: str
    age: int
"""


def snippet(begins: str) -> str:
    """Return the one block that begins so, with the type that it uses."""
    (block,) = (block for block in BLOCKS if block.startswith(begins))
    return PERSON + block


def run(script: str, folder: Path) -> str:
    """Run a script in a process of its own, and return what it prints."""
    (folder / "script.py").write_text(script, encoding="utf-8")
    command = [sys.executable, "-W", "ignore", "script.py"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.thorough
def test_the_client_of_openai_gets_an_object_from_the_command(tmp_path: Path) -> None:
    """`structured serve` serves the packaged model, and the snippet gets what its comments say."""
    pytest.importorskip("openai", reason="The extra test has OpenAI's client.")
    pytest.importorskip("uvicorn", reason="The extra serve runs a server.")
    script = snippet("import openai\n")
    assert "`structured serve`" in GUIDE
    shown = re.compile(r"^(.+?)  # → (.+)$", re.MULTILINE)
    expected = [found[2] for found in shown.finditer(script)]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [
        sys.executable,
        "-W",
        "ignore",
        "-m",
        "structured",
        "serve",
        "--port",
        str(port),
        "--model",
        str(PACKAGED_MODEL),
    ]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            wait_for(port)
            asked = shown.sub(r"print(repr(\1))", script).replace("127.0.0.1:8000", f"127.0.0.1:{port}")
            assert run(asked, tmp_path).splitlines() == expected
            assert len(expected) == 2
        finally:
            server.terminate()


def wait_for(port: int) -> None:
    """Wait until something listens."""
    for _ in range(600):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise TimeoutError(f"nothing listens at port {port}")
