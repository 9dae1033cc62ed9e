"""Code that runs in an interpreter of its own."""

import os
import subprocess
import sys

from package_map import HOUSE


def run(code: str) -> str:
    """Run code in a new interpreter, which keeps byte code as an installed package has it, and return its output."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=HOUSE.parent, env=environment
    )
    return done.stdout
