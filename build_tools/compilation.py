"""The compilation of the loops, by what the variable STRUCTURED_BUILD chooses.

| value | compiled by |
|---|---|
| not set | the first of `system` and `zig` that works; if neither does, the loops stay Python, with a warning |
| `system` | the system's C compiler, or that of the variable CC |
| `zig` | the package `ziglang` |
| `none` | nothing: the loops stay Python |
| `checked` | the system's C compiler; a wrong index raises IndexError, and an overflow ends the process |
| `win_amd64`, … | the package `ziglang`, for that platform: one of `compilers.TARGETS` |

A compiler that is chosen has to work. `pip install --config-settings` was rejected: Hatch does not pass them to hooks.

`python -m build_tools.compilation` compiles into the tree, as `pip install -e .` does, if Cython is installed.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from build_tools.compilers import (
    TARGETS,
    CompilationError,
    Compiler,
    has_headers,
    output_of,
    system_compiler,
    zig_compiler,
)
from build_tools.loop_modules import ROOT, cython_source

CHOICES = ("auto", "system", "zig", "none", "checked", *TARGETS)
ZIG = "ziglang>=0.14"

REMEDY = """\
The loops of structured were not compiled. They run as Python: with the same results, but about 30 times as slowly.
To compile them, install a C compiler and the headers of Python, then structured again:
    apt install gcc python3-dev (Debian), dnf install gcc python3-devel (Fedora), xcode-select --install (macOS)
or let pip install the package ziglang. STRUCTURED_BUILD=none means them to stay Python. What was tried:"""


class CompiledModule(NamedTuple):
    """A compiled module, and the platform that it is for, named as in wheels."""

    path: Path
    platform: str


def chosen() -> str:
    """Return what STRUCTURED_BUILD chooses. Raises ValueError if that is nothing known."""
    choice = os.environ.get("STRUCTURED_BUILD") or "auto"
    if choice not in CHOICES:
        raise ValueError(f"STRUCTURED_BUILD is {choice!r}; it may be one of {', '.join(CHOICES)}")
    return choice


def requirements(choice: str) -> list[str]:
    """Return what pip has to install for a build: ziglang, if it is chosen, or if nothing else works and it can be."""
    if choice == "zig" or choice in TARGETS:
        return [ZIG]
    if choice != "auto" or not has_headers():
        return []
    system = system_compiler()
    return [] if (system is not None and system.works()) or not _is_offered(ZIG) else [ZIG]


def _is_offered(requirement: str) -> bool:
    """Return whether pip finds a package. Without pip, nobody knows, and the installer is asked."""
    pip = [sys.executable, "-I", "-m", "pip"]  # isolated, since the environment of a build hides pip
    if subprocess.run([*pip, "--version"], capture_output=True, check=False).returncode:
        return True
    asked = [*pip, "install", "-q", "--dry-run", "--no-deps", "--ignore-installed", requirement]
    return subprocess.run(asked, capture_output=True, check=False).returncode == 0


def compile_loops(choice: str, folder: Path) -> CompiledModule | None:
    """Return the compiled module, made in a folder that is empty; None if the loops stay Python.

    Raises CompilationError if what is chosen does not work.
    """
    compilers = [] if choice == "none" else _compilers(choice)
    source = c_source(checks=choice == "checked") if compilers else ""
    failures = []
    for compiler in compilers:
        try:
            return CompiledModule(compiler.compile(source, folder, checks=choice == "checked"), compiler.platform)
        except CompilationError as error:
            failures.append(str(error))
    if choice == "none":
        return None
    report = "\n".join(failures or ["no C compiler was found"])
    if choice != "auto":
        raise CompilationError(f"STRUCTURED_BUILD={choice}: {report}")
    print(f"{REMEDY}\n{report}", file=sys.stderr)
    return None


def compile_into_tree(choice: str) -> None:
    """Put the compiled module beside its sources. The old one goes first, since a process may run it."""
    package = ROOT / "structured"
    with tempfile.TemporaryDirectory() as folder:
        compiled = compile_loops(choice, Path(folder))
        for old in package.glob("_compiled.*"):
            old.unlink()
        if compiled is not None:
            shutil.copyfile(compiled.path, package / compiled.path.name)


def _compilers(choice: str) -> list[Compiler]:
    """Return the compilers to try."""
    found = []
    if choice in {"auto", "system", "checked"}:
        found.append(system_compiler())
    if choice not in {"system", "checked"}:
        found.append(zig_compiler(choice if choice in TARGETS else None))
    return [compiler for compiler in found if compiler is not None]


def c_source(*, checks: bool = False, root: Path = ROOT) -> str:
    """Return the module in C. Raises CompilationError if Cython does not accept it, or is not installed."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "_compiled.pyx").write_text(cython_source(root, checks=checks), "utf-8")
        cython = [sys.executable, "-m", "cython", "-3", "--module-name", "structured._compiled"]
        output_of([*cython, "_compiled.pyx"], Path(folder))
        return Path(folder, "_compiled.c").read_text("utf-8")


if __name__ == "__main__":
    compile_into_tree(chosen())
