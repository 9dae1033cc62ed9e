"""The CPUs that this process may use, and the threads that a model computes with on them.

Threads of one product wait for each other in a busy loop. If another program has one of their cores, the wait is that
program's whole time slice. So a small model, whose products a second thread hardly shortens, computes on one.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from ctypes import CDLL
from functools import cache
from pathlib import Path

SMALL_MODEL = 200_000_000
"""Parameters up to which one thread is the default: `docs/performance.md` has the table by which it was chosen."""

VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS")
"""Environment variables that set the number of threads; the first one counts."""


def available_cpus(root: Path = Path("/")) -> int:
    """Return the number of CPUs that this process may use at a time: its affinity, and the quota of its cgroups.

    `os.cpu_count` tells those of the host, however few of them a container has. A share of a CPU beside whole ones is
    left out, since a thread that has used up its share stops all others of a product. `root` is the root of the file
    system, which has the cgroups.
    """
    cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(min([cpus, *map(int, _quotas(root))]), 1)


def _quotas(root: Path) -> Iterator[float]:
    """Yield the quotas of CPUs of this process's cgroups and of those above them, of version 2 and 1 (cgroups(7))."""
    try:
        lines = (root / "proc/self/cgroup").read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):  # a system without cgroups
        return
    for line in lines:
        _, _, rest = line.partition(":")
        controllers, _, name = rest.partition(":")
        if controllers and "cpu" not in controllers.split(","):
            continue
        mount = root / "sys/fs/cgroup" / ("cpu" if controllers else "")  # a link, if others are mounted with it
        cgroup = mount / name.lstrip("/")
        for folder in (cgroup, *cgroup.parents):  # a limit of a parent holds for its children
            yield from _quota(folder)
            if folder == mount:
                break


def _quota(cgroup: Path) -> Iterator[float]:
    """Yield the quota of a cgroup, if it has one. A folder that is not visible in a container is passed over."""
    for names in (("cpu.max",), ("cpu.cfs_quota_us", "cpu.cfs_period_us")):
        try:
            quota, period = " ".join((cgroup / name).read_text(encoding="ascii") for name in names).split()
            if quota != "max" and int(quota) > 0:
                yield int(quota) / int(period)
        except (OSError, ValueError, ZeroDivisionError):
            continue


def environment_threads() -> int | None:
    """Return the number of threads that the environment sets, if it does."""
    for variable in VARIABLES:
        number = os.environ.get(variable, "").split(",")[0].strip()  # OpenMP takes a list, for nested loops
        if number.isdecimal() and int(number):
            return int(number)
    return None


def default_threads(parameters: int) -> int:
    """Return the number of threads for a model with so many parameters, if its user does not choose one."""
    return environment_threads() or (1 if parameters <= SMALL_MODEL else available_cpus())


@contextmanager
def torch_threads(count: int | None) -> Iterator[None]:
    """Have torch compute with that many threads in a block, in this thread of Python alone.

    `torch.set_num_threads` would set them for threads of the program, too, that use torch for the first time meanwhile.
    """
    if count is None:
        yield
        return
    import torch

    before = torch.get_num_threads()
    restore = _limit_torch(count)
    try:
        yield
    finally:
        restore(before)


def _limit_torch(count: int) -> Callable[[int], object]:
    """Limit the threads of OpenMP and MKL in this thread, and return a function that takes the number from before."""
    import torch

    library = _torch_library()
    if library is None:
        torch.set_num_threads(count)
        return torch.set_num_threads
    library.omp_set_num_threads(count)
    try:
        local_of_mkl = library.MKL_Set_Num_Threads_Local
    except AttributeError:  # a build without MKL
        return library.omp_set_num_threads
    mkl_before = local_of_mkl(count)
    return lambda before: (library.omp_set_num_threads(before), local_of_mkl(mkl_before))


@cache
def _torch_library() -> CDLL | None:
    """Return the library of torch, through which OpenMP is reached; None where it has another name, or no OpenMP."""
    import torch

    for name in ("libtorch_cpu.so", "libtorch_cpu.dylib"):
        with suppress(OSError, AttributeError):
            library = CDLL(str(Path(torch.__file__).parent / "lib" / name))
            library.omp_set_num_threads  # noqa: B018  AttributeError if it lacks it
            return library
    return None
