"""Loops run as Python until there is machine code, which another process makes; nobody waits for it."""

import importlib.util
import logging
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from interpreter import run

from structured.automata.loops import jit
from structured.automata.loops.compiling import OtherProcess, one_process

LOOP = """
from structured.automata.loops.jit import compiled_entry, compiled_loop


@compiled_loop
def half(number: int) -> int:
    return number >> 1


@compiled_entry
def quarter(number: int) -> int:
    return half(half(number))
"""


TUPLE_LOOP = """
from typing import NamedTuple

from structured.automata.loops.jit import Ints, Rows, compiled_entry, compiled_loop


class Pair(NamedTuple):
    left: Ints
    right: Rows


@compiled_loop
def larger(pair: Pair, place: int) -> int:
    return max(int(pair.left[place]), int(pair.right[place, 0]))


@compiled_entry
def largest(pair: Pair) -> int:
    found = 0
    for place in range(len(pair.left)):
        found = max(found, larger(pair, place))
    return found
"""


IS_COMPILED = os.environ.get("NUMBA_DISABLE_JIT", "0") == "0"


class PlacedSchema:
    """Stands in for the process that compiles."""

    def __init__(self, *, can_start: bool) -> None:
        self.can_start = can_start
        self.starts = 0

    def is_at_work(self) -> bool:
        return bool(self.starts) and self.can_start

    def start(self) -> bool:
        self.starts += 1
        return self.can_start


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], ModuleType]:
    """Return a function that imports a module with a loop anew, as another process would."""
    if not IS_COMPILED:
        pytest.skip("Nothing is compiled.")
    path = tmp_path / "loops_of_a_test.py"
    path.write_text(LOOP, encoding="utf-8")
    monkeypatch.setattr(jit, "PATIENCE_SECONDS", 0.0)
    monkeypatch.setattr(jit, "CHECK_SECONDS", 0.0)
    monkeypatch.setattr(jit, "_ENTRIES", [])

    def load() -> ModuleType:
        specification = importlib.util.spec_from_file_location(path.stem, path)
        assert specification is not None
        assert specification.loader is not None
        module = importlib.util.module_from_spec(specification)
        specification.loader.exec_module(module)
        return module

    return load


def is_python(entry: jit._Entry) -> bool:
    return entry.run == entry._run_fallback


def test_python_runs_until_machine_code_is_kept(
    load: Callable[[], ModuleType], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each look finds out whether there is some; one process is asked to make it."""
    elsewhere = PlacedSchema(can_start=True)
    monkeypatch.setattr(jit, "_COMPILER_PROCESS", elsewhere)
    here, there = load(), load()
    entry, other = jit._ENTRIES
    assert [here.quarter(42), here.quarter(43)] == [10, 10]
    assert is_python(entry)
    assert elsewhere.starts == 1
    other.compile()  # as another process does
    assert here.quarter(44) == there.quarter(44) == 11
    assert not is_python(entry)
    assert elsewhere.starts == 1


def test_machine_code_is_kept_for_what_an_entry_calls(tmp_path: Path, load: Callable[[], ModuleType]) -> None:
    """What is kept of an entry that takes a tuple is found again, and no longer once a loop that it calls changes."""
    path = tmp_path / "loops_of_a_test.py"
    path.write_text(TUPLE_LOOP, encoding="utf-8")
    load()
    jit._ENTRIES[-1].compile()
    load()
    entry = jit._ENTRIES[-1]
    name = jit._digest(jit._flat(entry.function))
    assert jit._load_cached(entry.function) is not None
    path.write_text(TUPLE_LOOP.replace("max(int", "min(int"), encoding="utf-8")
    jit._source.cache_clear()
    load()
    entry = jit._ENTRIES[-1]
    assert jit._digest(jit._flat(entry.function)) != name
    assert jit._load_cached(entry.function) is None


def test_machine_code_takes_little_memory_once_it_is_kept() -> None:
    """Neither the loops that an entry has compiled into it are loaded, nor what LLVM would compile it from."""
    if not IS_COMPILED or not Path("/proc/self/statm").exists():
        pytest.skip("Nothing is compiled, or nothing says how much memory a process has.")
    program = """if True:
        import numba
        from structured.automata.loops import jit

        def resident() -> int:
            return int(open("/proc/self/statm").read().split()[1])

        for module in jit.MODULES:
            jit.import_module(module)
        before = resident()
        jit.compile_loops()
        print(resident() - before)
        """
    megabytes = int(run(program)) * os.sysconf("SC_PAGE_SIZE") / 2**20
    assert megabytes < 130, "with both it is 250"


def test_without_another_process_the_loop_is_compiled_here(
    load: Callable[[], ModuleType], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """And that is logged, once, by a logger under `structured`; to load what is kept is not."""
    caplog.set_level(logging.INFO, "structured")
    jit._log_compiling.cache_clear()
    monkeypatch.setattr(jit, "_COMPILER_PROCESS", PlacedSchema(can_start=False))
    assert load().quarter(42) == 10
    assert [record.name for record in caplog.records] == ["structured.automata.loops.jit"]
    assert not is_python(jit._ENTRIES[0])
    jit._log_compiling.cache_clear()
    assert load().quarter(42) == 10
    assert len(caplog.records) == 1


def test_a_short_program_never_looks(load: Callable[[], ModuleType], monkeypatch: pytest.MonkeyPatch) -> None:
    """To import Numba takes longer than what it would save."""
    elsewhere = PlacedSchema(can_start=True)
    monkeypatch.setattr(jit, "_COMPILER_PROCESS", elsewhere)
    monkeypatch.setattr(jit, "PATIENCE_SECONDS", 1e9)
    assert load().quarter(42) == 10
    assert elsewhere.starts == 0


def test_the_clock_is_slow_while_python_runs(load: Callable[[], ModuleType], monkeypatch: pytest.MonkeyPatch) -> None:
    """So that limits in seconds mean the same on a machine where nothing was compiled yet; errors count as well."""
    monkeypatch.setattr(jit, "PATIENCE_SECONDS", 1e9)
    module = load()

    def slow(_number: int) -> int:
        time.sleep(0.2)
        return 0

    monkeypatch.setattr(jit._ENTRIES[0], "fallback", slow)
    clock, started = jit.clock(), time.perf_counter()
    module.quarter(1)
    assert jit.clock() - clock < time.perf_counter() - started - 0.1
    monkeypatch.setattr(jit._ENTRIES[0], "fallback", lambda number: slow(number) or 1 // 0)
    clock = jit.clock()
    with pytest.raises(ZeroDivisionError):
        module.quarter(1)
    assert jit.clock() - clock < 0.1


def test_the_coarse_clock_is_hardly_behind() -> None:
    """It says what the clock said at most so long ago, however often it is asked."""
    for _ in range(2_000):
        earliest = jit.clock()
        began = time.perf_counter()
        coarse = jit.coarse_clock()
        assert coarse <= jit.clock()
        assert earliest - coarse <= jit.COARSE_CLOCK_SECONDS + time.perf_counter() - began
    time.sleep(2 * jit.COARSE_CLOCK_SECONDS)
    exact = jit.clock()
    assert jit.coarse_clock() >= exact


def test_modules_are_all_that_have_entries() -> None:
    """What the other process compiles is everything."""
    package = Path(jit.__file__).parents[2]
    is_entry = re.compile(r"^@(compiled_entry|entry_with_fallback)\b", re.MULTILINE)
    sources = (path for path in package.rglob("*.py") if is_entry.search(path.read_text(encoding="utf-8")))
    names = {".".join(path.relative_to(package.parent).with_suffix("").parts) for path in sources}
    assert names == set(jit.MODULES)


def test_another_process_is_started_once_and_goes_on_alone(tmp_path: Path) -> None:
    """Also when the one that started it has ended."""
    written, awaited = tmp_path / "written", tmp_path / "awaited"
    code = (
        "import os, time\n"
        f"while not os.path.exists({str(awaited)!r}): time.sleep(0.1)\n"
        f"open({str(written)!r}, 'w').close()"
    )
    program = (
        "from pathlib import Path; from structured.automata.loops.compiling import OtherProcess\n"
        f"other = OtherProcess({code!r}, lambda: Path({str(tmp_path)!r}))\n"
        "print(other.is_at_work(), other.start(), other.is_at_work(), other.start())"
    )
    done = subprocess.run([sys.executable, "-X", "dev", "-c", program], check=True, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("False True True False\n", "")
    assert not written.exists()
    awaited.touch()
    deadline = time.monotonic() + 60
    while not written.exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    assert written.exists()


def test_another_process_imports_nothing_from_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file there that is called like a module of the library, or of Python, is not run."""
    monkeypatch.chdir(tmp_path)
    done = tmp_path / "done"
    for name in ("structured", "json"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / name)!r}, 'w')", encoding="utf-8")
    other = OtherProcess(f"import structured, json; open({str(done)!r}, 'w').close()", lambda: tmp_path)
    assert other.start()
    deadline = time.monotonic() + 60
    while other.is_at_work() and time.monotonic() < deadline:
        time.sleep(0.1)
    assert [done.exists(), (tmp_path / "structured").exists(), (tmp_path / "json").exists()] == [True, False, False]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has other locks.")
def test_work_of_another_program_is_seen(tmp_path: Path) -> None:
    """So that of many programs, forks among them, one starts a compiler."""
    other = OtherProcess("", lambda: tmp_path / "new")
    assert not other.is_at_work()
    with one_process(tmp_path / "new"):
        assert other.is_at_work()
    assert not other.is_at_work()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="The system has no fork.")
def test_a_fork_is_made_while_no_thread_compiles() -> None:
    """Or it would wait for ever for a thread that it does not have."""
    program = (
        "import os, threading, time\n"
        "from structured.automata.loops import jit\n"
        "def hold():\n"
        "    with jit._LOCK: held.set(); time.sleep(0.5)\n"
        "held = threading.Event(); threading.Thread(target=hold).start(); held.wait()\n"
        "child = os.fork()\n"
        "if child == 0: os._exit(0 if jit._LOCK.acquire(timeout=5) else 1)\n"
        "raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) or not jit._LOCK.acquire(timeout=5))"
    )
    subprocess.run([sys.executable, "-W", "ignore", "-c", program], check=True, timeout=60)


@pytest.mark.parametrize("damage", [b"", b"nonsense", None])
def test_damaged_machine_code_is_made_again(
    load: Callable[[], ModuleType], monkeypatch: pytest.MonkeyPatch, damage: bytes | None, tmp_path: Path
) -> None:
    """Whatever happened to its files, the loop runs, and its machine code is kept again."""
    elsewhere = PlacedSchema(can_start=True)
    monkeypatch.setattr(jit, "_COMPILER_PROCESS", elsewhere)
    load()
    jit._ENTRIES[0].compile()
    files = [*tmp_path.rglob("*quarter_*.nbi" if damage == b"" else "*quarter_*.nb[ci]")]
    assert files
    for file in files:
        file.write_bytes(file.read_bytes()[:100] if damage is None else damage)
    jit._dispatcher.cache_clear()
    here = load()
    assert here.quarter(42) == 10
    assert is_python(jit._ENTRIES[1])
    assert elsewhere.starts == 1
    jit._ENTRIES[1].compile()
    assert load().quarter(42) == 10
    assert not is_python(jit._ENTRIES[2])


def test_clocks_of_threads_never_run_back(load: Callable[[], ModuleType], monkeypatch: pytest.MonkeyPatch) -> None:
    """However many run loops as Python, and loops that call each other."""
    monkeypatch.setattr(jit, "PATIENCE_SECONDS", 1e9)
    quarter = load().quarter
    entry = jit._ENTRIES[0]
    monkeypatch.setattr(entry, "fallback", lambda number: quarter(number - 1) if number else time.sleep(0.02))
    spent: list[float] = []

    def run() -> None:
        started = jit.clock()
        quarter(5)
        spent.append(jit.clock() - started)

    threads = [threading.Thread(target=run) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(spent) == 8
    assert all(0 <= seconds < 0.02 for seconds in spent)


@pytest.mark.parametrize("executable", ["", None, "/usr/bin/uwsgi", "/nowhere/python3"])
def test_only_an_interpreter_is_started(
    executable: str | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A program that has one inside would start itself again."""
    monkeypatch.setattr(sys, "executable", executable)
    other = OtherProcess("", lambda: tmp_path)
    assert not other.start()
    assert not other.is_at_work()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has other locks, and compiles twice.")
def test_one_process_compiles_at_a_time(tmp_path: Path) -> None:
    """The others wait, and find what it made."""
    program = (
        "import sys, time; from pathlib import Path; from structured.automata.loops.compiling import one_process\n"
        "with one_process(Path(sys.argv[1]) / 'new'):\n    print('in', flush=True); time.sleep(0.3); print('out')"
    )
    with one_process(tmp_path / "new"):
        others = [
            subprocess.Popen([sys.executable, "-c", program, str(tmp_path)], stdout=subprocess.PIPE, text=True)
            for _ in range(2)
        ]
        time.sleep(1.5)
        assert [other.poll() for other in others] == [None, None]
    assert [other.communicate()[0] for other in others] == ["in\nout\n"] * 2
