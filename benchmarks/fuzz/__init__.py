"""Random cases without end: types, schemas, expressions, grammars, files and requests, each with an independent judge.

The strategies of the tests are imported, not written again: `support` returns a module of `tests/support`.
"""

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]


def support(module: str) -> Any:
    """Return a module of `tests/support`, which is no package."""
    folder = str(ROOT / "tests" / "support")
    if folder not in sys.path:
        sys.path.append(folder)
    return import_module(module)
