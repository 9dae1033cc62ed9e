"""The build: what compiles the loops, and what becomes of them without a compiler. `.ci/installed` builds for real."""

import importlib.util
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from packaging.tags import parse_tag, sys_tags

from build_tools import compilation, compilers
from build_tools.compilers import PROBE, TARGETS, CompilationError, Compiler, native_platform, system_compiler
from build_tools.loop_modules import CONSTANTS, MODULES, ROOT, cython_source, source_digest

uses_the_system = pytest.mark.skipif(sys.platform == "win32", reason="Zig compiles on Windows.")


def failing() -> str:
    """Return a command that fails, as a compiler does that misses something."""
    return shlex.join([sys.executable, "-c", "import sys; sys.exit('Python.h: no such file')"])


@pytest.fixture
def no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without a C compiler, and an index without Zig."""
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(compilers.sysconfig, "get_config_var", lambda _: None)
    monkeypatch.setattr(compilation, "zig_compiler", lambda _: None)
    monkeypatch.setattr(compilation, "_is_offered", lambda _: False)


def test_the_compiled_module_is_made_from_these_sources() -> None:
    """After a loop is changed, the module has to be compiled again: Python would silently run the old one."""
    if importlib.util.find_spec("structured._compiled") is None:
        pytest.skip("the loops are not compiled: they run as Python")
    from structured import _compiled

    assert source_digest() == _compiled.SOURCES, "the compiled loops are older than their source: pip install -e ."


def test_the_digest_is_that_of_the_texts(tmp_path: Path) -> None:
    """It depends on each source, and not on the ends of lines, which a clone may change."""
    names = [*CONSTANTS, *MODULES, "build_tools/translation.py"]
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes((ROOT / name).read_bytes().replace(b"\n", b"\r\n"))
    assert source_digest(tmp_path) == source_digest()
    for name in names:
        before = (tmp_path / name).read_bytes()
        (tmp_path / name).write_bytes(before + b"#")
        assert source_digest(tmp_path) != source_digest()
        (tmp_path / name).write_bytes(before)


@pytest.mark.thorough
@pytest.mark.parametrize("checks", [False, True])
def test_the_translation_is_the_same_each_time(checks: bool) -> None:
    """It depends on the sources alone: not on the seed of hashes, on which the order of sets depends."""
    program = f"from build_tools.loop_modules import cython_source; print(cython_source(checks={checks}), end='')"
    for seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", program], cwd=ROOT, env={"PYTHONHASHSEED": seed}, capture_output=True, check=True
        )
        assert done.stdout.decode().splitlines() == cython_source(checks=checks).splitlines()


def test_a_wheel_is_for_a_platform_that_installers_know() -> None:
    """The platform of this machine is one that it accepts, and the others are well formed."""
    accepted = {str(tag) for tag in sys_tags()}
    assert f"cp311-abi3-{native_platform()}" in accepted
    assert all(len(parse_tag(f"cp311-abi3-{platform}")) == 1 for platform in TARGETS)


@uses_the_system
def test_the_variable_cc_names_the_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may have arguments; if it cannot be found, no other is taken in its place."""
    monkeypatch.setenv("CC", f"{failing()} -march=anything")
    found = system_compiler()
    named = (*shlex.split(failing()), "-march=anything")
    assert found is not None
    assert found.command[: len(named)] == named
    monkeypatch.setenv("CC", "no-such-compiler")
    assert system_compiler() is None


@pytest.mark.usefixtures("no_compiler")
def test_without_a_path_there_is_no_compiler() -> None:
    assert system_compiler() is None


@uses_the_system
@pytest.mark.parametrize(
    ("works", "is_offered", "required"),
    [(True, True, []), (False, True, [compilation.ZIG]), (False, False, [])],
    ids=["a compiler", "none, but Zig can be had", "neither"],
)
def test_zig_is_required_if_nothing_else_works(
    monkeypatch: pytest.MonkeyPatch, works: bool, is_offered: bool, required: list[str]
) -> None:
    """A compiler works if it has compiled: macOS has a command that only offers to install one."""
    monkeypatch.setenv("CC", failing())
    monkeypatch.setattr(compilation, "has_headers", lambda: True)
    monkeypatch.setattr(compilation, "_is_offered", lambda _: is_offered)
    if works:
        monkeypatch.setattr(Compiler, "works", lambda _: True)
    assert compilation.requirements("auto") == required
    assert compilation.requirements("zig") == compilation.requirements("win_amd64") == [compilation.ZIG]
    assert [compilation.requirements(choice) for choice in ("system", "none", "checked")] == [[], [], []]


@pytest.mark.usefixtures("no_compiler")
def test_zig_is_not_required_without_headers(monkeypatch: pytest.MonkeyPatch) -> None:
    """It brings none: without them, nothing can be compiled, and 100 MB are not loaded in vain."""
    monkeypatch.setattr(compilation, "_is_offered", lambda _: True)
    monkeypatch.setattr(compilation, "has_headers", lambda: False)
    assert compilation.requirements("auto") == []


@pytest.mark.usefixtures("no_compiler")
def test_without_a_compiler_the_loops_stay_python(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One warning says how to get one; if that is what is chosen, there is none."""
    assert compilation.compile_loops("none", tmp_path) is None
    assert capsys.readouterr().err == ""
    assert compilation.compile_loops("auto", tmp_path) is None
    warning = capsys.readouterr().err
    assert warning.startswith("The loops of structured were not compiled. They run as Python")
    assert warning.count("not compiled") == 1
    assert warning.endswith("no C compiler was found\n")


@pytest.mark.usefixtures("no_compiler")
@uses_the_system
def test_a_compiler_that_fails_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The warning ends with its last lines; if it is chosen, the build fails with them."""
    monkeypatch.setattr(compilation, "c_source", lambda **_: PROBE)
    monkeypatch.setenv("CC", failing())
    assert compilation.compile_loops("auto", tmp_path) is None
    assert capsys.readouterr().err.endswith("ended with 1\nPython.h: no such file\n")
    with pytest.raises(CompilationError, match=r"(?s)^STRUCTURED_BUILD=system: .*\nPython\.h: no such file$"):
        compilation.compile_loops("system", tmp_path)


def test_an_unknown_choice_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STRUCTURED_BUILD", "gcc")
    with pytest.raises(
        ValueError, match=r"^STRUCTURED_BUILD is 'gcc'; it may be one of auto, system, zig, none, checked"
    ):
        compilation.chosen()
    monkeypatch.setenv("STRUCTURED_BUILD", "")
    assert compilation.chosen() == "auto"


@pytest.mark.thorough
def test_a_module_is_the_same_wherever_it_is_compiled(tmp_path: Path) -> None:
    """It holds neither folders nor dates, and it can be imported."""
    compiler = system_compiler()
    if compiler is None or not compiler.works():
        pytest.skip("There is no C compiler.")
    folders = (tmp_path / "a", tmp_path / "another, longer")
    made = []
    for folder in folders:
        folder.mkdir()
        made.append(compiler.compile(PROBE, folder).read_bytes())
    assert made[0] == made[1]
    program = "import _compiled; print(_compiled.__name__)"
    done = subprocess.run([sys.executable, "-c", program], cwd=folders[0], capture_output=True, text=True, check=True)
    assert done.stdout == "_compiled\n"


def test_the_choices_are_documented() -> None:
    """The page on installation names each value of STRUCTURED_BUILD that is no platform, and no other."""
    page = (ROOT / "docs/index.md").read_text("utf-8")
    named = set(re.findall(r"^\| `STRUCTURED_BUILD=(\w+)`", page, re.MULTILINE))
    assert named == {*compilation.CHOICES} - {"auto", *TARGETS}
