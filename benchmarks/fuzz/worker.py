"""The process that tries cases: it reads their names and writes what became of each, as lines of JSON.

A case that takes more than `HANG` seconds of the processor is ended by a signal; one that machine code keeps busy, or
that waits for ever, by its parent, with the trace that `faulthandler` leaves. The memory of each case is the most above
what the process had before.
"""

import faulthandler
import json
import os
import resource
import signal
import sys
import time
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

from benchmarks.fuzz.cases import Case, HangError, tried
from benchmarks.fuzz.families import FAMILIES, GUIDED
from benchmarks.fuzz.guided import load_vocabularies

HANG = 20.0
"""Seconds of the processor that a step of a case may take."""

WAIT = 180.0
"""Seconds after which a process that says nothing is ended."""

MEMORY = 1 << 30
"""Bytes that a case may take."""

_ADDRESSES = 24 << 30
"""Bytes of addresses, which no case has to reach; with less, the threads and the machine code do not fit."""

_STATUS = Path("/proc/self/status")


def main() -> None:
    """Try cases until there are none."""
    warnings.simplefilter("ignore")
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (_ADDRESSES, resource.getrlimit(resource.RLIMIT_AS)[1]))
    sys.unraisablehook = lambda _: None  # a signal may come while a destructor runs, and comes again
    faulthandler.enable()
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what a library prints is no answer
    for line in sys.stdin:
        case = Case.read(line.strip())
        if case.family in GUIDED:
            load_vocabularies()
        print(json.dumps(measured(case)), file=out, flush=True)


def measured(case: Case) -> dict[str, Any]:
    """Try a case within its limits, and return what became of it, with its bytes, and its seconds of the processor."""
    before, began = memory(reset=True), time.process_time()
    faulthandler.dump_traceback_later(WAIT - 5)
    signal.signal(signal.SIGPROF, _hang)
    signal.setitimer(signal.ITIMER_PROF, HANG, 1.0)  # again, where a destructor swallows it
    try:
        trial = tried(case, FAMILIES[case.family])
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        faulthandler.cancel_dump_traceback_later()
    grown = memory() - before
    if grown > MEMORY:
        trial.fail("memory", f"{grown >> 20} MB")
    return {**trial.data(), "seconds": round(time.process_time() - began, 4), "memory": grown, "pid": os.getpid()}


def memory(*, reset: bool = False) -> int:
    """Return the most bytes that the process has had since it was reset, or had so far where no system tells."""
    with suppress(OSError):
        if reset:
            Path("/proc/self/clear_refs").write_text("5")
        for line in _STATUS.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) << 10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


def _hang(*_: object) -> None:
    raise HangError(f"more than {HANG:.0f} s of the processor")


if __name__ == "__main__":
    main()
