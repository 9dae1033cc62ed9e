"""Threads: the packaged model computes on one, others on as many as suits their size and the process."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import pytest
from doubles import ByteTokenizer, in_memory, random_logits, save, tiny_llama

from structured import extract, load_model
from structured.errors import ModelError
from structured.models import PACKAGED_MODEL, cpu_threads
from structured.models.cpu_threads import VARIABLES, available_cpus, default_threads, torch_threads
from structured.models.one_thread_products import (
    KEYS_AT_ONCE,
    QUERIES_AT_ONCE,
    blocks_of_columns,
    times_blocks,
    times_keys,
    times_values,
)

torch = pytest.importorskip("torch")

WAKES_NO_THREAD = """
import os, pathlib, time
import numpy as np

tasks = pathlib.Path("/proc/self/task")
blas = [task for task in tasks.iterdir() if task.name != str(os.getpid())]
from structured import extract_batch

def sleeps():
    while any((task / "stat").read_text().rpartition(")")[2].split()[0] == "R" for task in blas):
        time.sleep(0.01)
    return [(task / "status").read_text().partition("voluntary_ctxt_switches:")[2].split()[0] for task in blas]

def wakes(work):
    before = sleeps()
    work()
    return sleeps() != before

wide = np.ones((600, 600), np.float32)
documents = ["Jason is 25 years old.", "Ana Brandt, 31, and Tom Reed, 42, run the shop. " * 9, "Ann is 5."]
print(len(blas) > 0, wakes(lambda: wide @ wide), wakes(lambda: extract_batch(list[int], documents, model="packaged")))
"""
"""How often each thread of BLAS has gone to sleep is compared before and after, when all are asleep."""


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="Threads are seen in /proc, which Linux has.")
def test_the_packaged_model_wakes_no_thread_of_blas() -> None:
    """Which are there, and which a large product of the program's own does wake."""
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "4"}
    command = [sys.executable, "-c", WAKES_NO_THREAD]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    has_threads, program_wakes_them, model_wakes_them = done.stdout.split()
    if has_threads == "False":
        pytest.skip("This NumPy has no OpenBLAS with threads.")
    assert (program_wakes_them, model_wakes_them) == ("True", "False")


@pytest.mark.parametrize("rows", [1, 2, 11, 12, 33, 300])
@pytest.mark.parametrize(("inputs", "outputs"), [(256, 768), (704, 256), (256, 6144), (7, 33), (1, 1)])
def test_products_in_blocks_are_those_of_numpy(rows: int, inputs: int, outputs: int) -> None:
    """Whatever the shapes are."""
    rng = np.random.default_rng(rows)
    left, right = (rng.standard_normal(shape).astype(np.float32) for shape in ((rows, inputs), (inputs, outputs)))
    assert np.allclose(times_blocks(left, blocks_of_columns(right)), left @ right, atol=1e-3)


@pytest.mark.parametrize("queries", [1, QUERIES_AT_ONCE])
@pytest.mark.parametrize("length", [1, KEYS_AT_ONCE, KEYS_AT_ONCE + 1, 300])
def test_products_of_attention_are_those_of_numpy(queries: int, length: int) -> None:
    """With all keys and values, in one or several pieces."""
    rng = np.random.default_rng(length)
    asking, kept = (rng.standard_normal((3, 2, count, 64)).astype(np.float32) for count in (queries, length))
    scores = times_keys(asking, kept)
    assert np.allclose(scores, asking @ kept.swapaxes(-1, -2), atol=1e-3)
    assert np.allclose(times_values(scores, kept), scores @ kept, rtol=1e-3, atol=1e-2)


def cgroup_files(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


V2, V1 = "0::/a/b\n", "4:cpuacct,cpu:/a/b\n3:memory:/a/b\n0::/\n"
QUOTAS: dict[str, tuple[dict[str, str], int]] = {
    "no cgroups": ({}, 64),
    "no quota": ({"proc/self/cgroup": V2, "sys/fs/cgroup/a/b/cpu.max": "max 100000\n"}, 64),
    "its own": ({"proc/self/cgroup": V2, "sys/fs/cgroup/a/b/cpu.max": "200000 100000\n"}, 2),
    "a parent's": (
        {
            "proc/self/cgroup": V2,
            "sys/fs/cgroup/a/b/cpu.max": "800000 100000\n",
            "sys/fs/cgroup/a/cpu.max": "350000 100000\n",
        },
        3,
    ),
    "a container's": ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "50000 100000\n"}, 1),
    "more than there are": ({"proc/self/cgroup": V2, "sys/fs/cgroup/cpu.max": "9900000 100000\n"}, 64),
    "nonsense": ({"proc/self/cgroup": "?\n\n0::/\n", "sys/fs/cgroup/cpu.max": "many 0\n"}, 64),
    "version 1": (
        {
            "proc/self/cgroup": V1,
            "sys/fs/cgroup/cpu/a/b/cpu.cfs_quota_us": "400000\n",
            "sys/fs/cgroup/cpu/a/b/cpu.cfs_period_us": "100000\n",
        },
        4,
    ),
    "version 1 in a container": (
        {
            "proc/self/cgroup": V1,  # the folders of the host, which a container does not see
            "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "250000\n",
            "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
        },
        2,
    ),
    "version 1 without one": (
        {
            "proc/self/cgroup": V1,
            "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n",
            "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
        },
        64,
    ),
}


@pytest.mark.parametrize(("files", "expected"), QUOTAS.values(), ids=QUOTAS)
def test_cpus_are_those_of_the_quota(
    files: dict[str, str], expected: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the cgroup and of those above it, in both versions, on a host of 64."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(64), raising=False)
    assert available_cpus(cgroup_files(tmp_path, files)) == expected


def test_cpus_are_those_of_the_affinity(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And without one those of the machine."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {3, 5}, raising=False)
    assert available_cpus(tmp_path) == 2
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: 7)
    assert available_cpus(tmp_path) == 7
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert available_cpus(tmp_path) == 1


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, (1, 6)),
        ({"OMP_NUM_THREADS": "3"}, (3, 3)),
        ({"OMP_NUM_THREADS": "4,2"}, (4, 4)),
        ({"MKL_NUM_THREADS": "2"}, (2, 2)),
        ({"OMP_NUM_THREADS": "5", "MKL_NUM_THREADS": "2"}, (5, 5)),
        ({"OMP_NUM_THREADS": "all"}, (1, 6)),
        ({"OMP_NUM_THREADS": "0"}, (1, 6)),
        ({"OMP_NUM_THREADS": ""}, (1, 6)),
    ],
    ids=str,
)
def test_the_default_depends_on_the_size_unless_the_environment_sets_it(
    environment: dict[str, str], expected: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A small model has one thread, and a large one those of the process."""
    monkeypatch.setattr(cpu_threads, "available_cpus", lambda: 6)
    for variable in VARIABLES:
        monkeypatch.delenv(variable, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert (default_threads(cpu_threads.SMALL_MODEL), default_threads(cpu_threads.SMALL_MODEL + 1)) == expected


@pytest.fixture
def three_threads() -> Any:
    """Let the program compute with three threads of torch."""
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    yield
    torch.set_num_threads(before)


@pytest.mark.usefixtures("three_threads")
def test_passes_have_the_threads_of_the_model_and_the_program_its_own() -> None:
    """While the model computes, and after it failed."""
    model = load_model(in_memory(tiny_llama), threads=2)
    seen: list[int] = []
    model.model.register_forward_hook(lambda *_: seen.append(torch.get_num_threads()))  # type: ignore[attr-defined]
    extract(list[int], "one and two", model=model, max_tokens=20)
    assert len(seen) > 1
    assert set(seen) == {2}
    assert torch.get_num_threads() == 3
    model.threads = None
    extract(int, "one", model=model, max_tokens=20)
    assert seen[-1] == 3
    model.threads = 1
    model.model.register_forward_hook(lambda *_: 1 / 0)  # type: ignore[attr-defined]
    with pytest.raises(ModelError):
        extract(int, "one", model=model, max_tokens=20)
    assert torch.get_num_threads() == 3


@pytest.mark.usefixtures("three_threads")
@pytest.mark.parametrize("has_set_its_own", [False, True])
def test_other_threads_keep_the_number_of_the_program(has_set_its_own: bool) -> None:
    """Those that use torch for the first time during a pass, and those that have set their own; then and afterwards."""
    begun, read, ended = Event(), Event(), Event()

    def numbers() -> list[int]:
        if has_set_its_own:
            torch.set_num_threads(2)
        begun.wait()
        during = torch.get_num_threads()
        with torch_threads(1):
            own = torch.get_num_threads()
        read.set()
        ended.wait()
        return [during, own, torch.get_num_threads()]

    expected = 2 if has_set_its_own else 3
    with ThreadPoolExecutor(1) as pool:
        seen = pool.submit(numbers)
        with torch_threads(1):
            begun.set()
            read.wait(60)
        ended.set()
        assert seen.result() == [expected, 1, expected]


def test_a_model_loaded_by_name_has_the_default_and_then_what_is_passed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is loaded once, and the program may have lowered the threads of torch."""
    save(in_memory(tiny_llama), tmp_path)
    for variable in VARIABLES:
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(cpu_threads, "SMALL_MODEL", 10)
    monkeypatch.setattr(cpu_threads, "available_cpus", lambda: 4)
    with monkeypatch.context() as patch:
        patch.setattr(torch, "get_num_threads", lambda: 2)
        assert load_model(tmp_path).threads == 2
    monkeypatch.setattr(torch, "get_num_threads", lambda: 8)
    assert load_model(tmp_path, dtype="float32").threads == 4
    first = load_model(tmp_path)
    assert load_model(tmp_path, threads=7) is first
    assert first.threads == 7


def test_threads_are_refused_where_they_would_do_nothing() -> None:
    """By models that compute on one thread, or in a function of the user's own."""
    tokenizer = ByteTokenizer()
    for source in (PACKAGED_MODEL, (random_logits(len(tokenizer.tokens)), tokenizer)):
        with pytest.raises(ModelError, match="does not take a number of threads"):
            load_model(source, threads=2)
    for wrong in (0, -1, True, "2", 1.5):
        with pytest.raises((TypeError, ValueError), match="threads"):
            load_model(PACKAGED_MODEL, threads=wrong)  # type: ignore[arg-type]


def test_a_model_that_the_user_loaded_keeps_the_threads_of_the_program() -> None:
    """If no number is passed with it."""
    assert load_model(in_memory(tiny_llama)).threads is None
