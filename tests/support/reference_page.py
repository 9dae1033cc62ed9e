"""The tables of docs/reference.md: a line for each option and for each public name, from their docstrings.

`python tests/support/reference_page.py` writes them; a test tells whether they are up to date.
"""

import ast
import inspect
import pydoc
import re
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from structured.extraction.options import DEFAULTS, OPTION_TYPES, Options

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reference.md"

_SECTION = re.compile(r"^## .*?(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_TABLE = re.compile(r"^\|(?: name| option).*\n(?:\|.*\n)+\n", re.MULTILINE)


def with_tables(page: str) -> str:
    """Return the reference with the tables that docstrings make: one of the names of each section, one of options."""
    return _SECTION.sub(lambda section: _with_table(section[0]), page)


def _with_table(section: str) -> str:
    section = _TABLE.sub("", section)
    rows = [f"| `{name.removeprefix('structured.')}` | {_sentence(_docstring(name))} |" for name in _names(section)]
    tables = ["\n".join(("| name | |", "|---|---|", *rows))]
    if "Options" in section.partition("\n")[0]:
        tables.append(options_table())
    return re.sub(r"^::: ", "\n\n".join((*tables, "::: ")), section, count=1, flags=re.MULTILINE)


def options_table() -> str:
    """Return the table of the options: name, type, default and the first sentence of each."""
    described = re.findall(r"^    (\w+): (.*(?:\n     .*)*)", inspect.getdoc(Options) or "", re.MULTILINE)
    rows = [
        f"| `{name}` | {' or '.join(f'`{kind}`' for kind in OPTION_TYPES[name].split(' | '))} "
        f"| `{DEFAULTS.get(name)!r}` | {_sentence(text)} |"
        for name, text in described
    ]
    return "\n".join(("| option | type | default | |", "|---|---|---|---|", *rows))


def _names(section: str) -> list[str]:
    return re.findall(r"^::: (\S+)$", section, flags=re.MULTILINE)


def _sentence(text: str) -> str:
    """Return the first sentence of a docstring, in one line."""
    line = " ".join(text.partition("\n\n")[0].split())
    return re.split(r"(?<=[^.]\.) (?=[A-Z`\"])", line, maxsplit=1)[0].replace("|", r"\|")


def _docstring(name: str) -> str:
    """Return the docstring of a name; of a type alias, which has none when the program runs, that in its module."""
    found: Any = pydoc.locate(name)
    if inspect.isroutine(found) or inspect.isclass(found) or inspect.ismodule(found):
        return inspect.getdoc(found) or ""
    return _docstrings_of_aliases()[name.rpartition(".")[2]]


@cache
def _docstrings_of_aliases() -> dict[str, str]:
    bodies = [ast.parse(path.read_text(encoding="utf-8")).body for path in sorted((ROOT / "structured").rglob("*.py"))]
    return {
        ast.unparse(alias.targets[0] if isinstance(alias, ast.Assign) else alias.target): text.value.value
        for body in bodies
        for alias, text in pairwise(body)
        if isinstance(alias, ast.Assign | ast.AnnAssign) and isinstance(text, ast.Expr)
        if isinstance(text.value, ast.Constant) and isinstance(text.value.value, str)
    }


if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
