"""A campaign: workers that try cases of some families in turn, for some time, and the sums of what they found."""

import json
import os
import selectors
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from benchmarks.fuzz import ROOT
from benchmarks.fuzz.cases import Case
from benchmarks.fuzz.worker import MEMORY, WAIT

_STEP = 0.2
"""Seconds between two looks at a worker that is busy."""

_PAGE = os.sysconf("SC_PAGE_SIZE")

_CASES = 2_000
"""Cases after which a worker is replaced, so that what it keeps does not add up."""


@dataclass
class Sum:
    """What was found in the cases of a family."""

    cases: int = 0
    answers: int = 0
    texts: int = 0
    seconds: float = 0.0
    memory: int = 0
    slowest: tuple[float, str] = (0.0, "")
    refusals: Counter[str] = field(default_factory=Counter)
    explained: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    """Cases with a failure of each kind; a case counts once for each."""

    def add(self, outcome: dict[str, Any]) -> None:
        """Add what became of a case."""
        self.cases += 1
        self.answers += outcome["answers"]
        self.texts += outcome["texts"]
        self.seconds += outcome["seconds"]
        self.memory = max(self.memory, outcome["memory"])
        self.slowest = max(self.slowest, (outcome["seconds"], outcome["case"]))
        self.refusals.update(outcome["refusals"])
        self.explained.update(outcome["explained"])
        self.kinds.update({failure["kind"] for failure in outcome["failures"]})


class Worker:
    """A process that tries cases, one after another; it is replaced when it hangs, dies or has tried many."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._tried = 0

    def outcome(self, case: Case) -> dict[str, Any]:
        """Return what became of a case; one that had to be ended has failed."""
        if self._tried >= _CASES:
            self.close()
        process = self._process or self._started()
        assert process.stdin is not None
        assert process.stdout is not None
        self._tried += 1
        began, base, most = time.monotonic(), _resident(process.pid), 0
        with suppress(BrokenPipeError):
            print(case, file=process.stdin, flush=True)
        kind, what = "", ""
        while not _is_ready(process.stdout):
            most = max(most, _resident(process.pid) - base)
            if most > 2 * MEMORY:
                kind, what = "memory", f"{most >> 20} MB, when it was ended"
            elif time.monotonic() - began > WAIT:
                kind, what = "hang", f"no word for {WAIT:.0f} s"
            if kind:
                break
        line = "" if kind else process.stdout.readline()
        if line:
            outcome: dict[str, Any] = json.loads(line)
            return outcome
        self.close()
        failure = {"kind": kind or "raw error", "what": what or f"the process ended with {process.returncode}"}
        failure |= {"case": str(case), "made": ""}
        empty: dict[str, Any] = {"answers": 0, "texts": 0, "refusals": {}, "explained": {}}
        return {**empty, "case": str(case), "failures": [failure], "seconds": time.monotonic() - began, "memory": most}

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
        self._process, self._tried = None, 0

    def _started(self) -> "subprocess.Popen[str]":
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.fuzz.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env={**os.environ, "OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"},
        )
        return self._process


@dataclass
class Campaign:
    """Cases of some families, of which the one is next that has had the least time.

    Attributes:
        families: Their names.
        seed: What tells campaigns apart: the seeds of the cases go on from a million times it.
        out: The folder of the failures, in `failures.jsonl`.
        sums: What was found, by family.
    """

    families: Sequence[str]
    seed: int
    out: Path | None = None
    sums: dict[str, Sum] = field(init=False)
    _lock: threading.Lock = field(init=False, default_factory=threading.Lock)
    _asked: Counter[str] = field(init=False, default_factory=Counter)
    _spent: Counter[str] = field(init=False, default_factory=Counter)

    def __post_init__(self) -> None:
        self.sums = {family: Sum() for family in self.families}

    def run(self, seconds: float, *, workers: int = 1, tell: Callable[[str], None] = print) -> None:
        """Try cases for some seconds."""
        end = time.monotonic() + seconds
        threads = [threading.Thread(target=self._work, args=(end, tell)) for _ in range(workers)]
        for thread in threads:
            thread.start()
        began = time.monotonic()
        while any(thread.is_alive() for thread in threads):
            for thread in threads:
                thread.join(30 / workers)
            tell(self.progress(time.monotonic() - began))

    def progress(self, seconds: float) -> str:
        """Return a line on how it goes."""
        with self._lock:
            sums = list(self.sums.values())
            failed = sum((one.kinds for one in sums), Counter[str]())
            cases, answers = sum(one.cases for one in sums), sum(one.answers for one in sums)
            return f"{seconds:6.0f} s  {cases:,} cases  {answers:,} answers  {dict(failed) or 'nothing wrong'}"

    def add(self, family: str, outcome: dict[str, Any]) -> list[dict[str, Any]]:
        """Add what became of a case; return the failures, the first of each kind."""
        first = {failure["kind"]: failure for failure in reversed(outcome["failures"])}
        with self._lock:
            self.sums[family].add(outcome)
            if self.out is not None and outcome["failures"]:
                self.out.mkdir(parents=True, exist_ok=True)
                with (self.out / "failures.jsonl").open("a", encoding="utf-8") as file:
                    file.writelines(json.dumps(failure) + "\n" for failure in outcome["failures"])
        return list(first.values())

    def _work(self, end: float, tell: Callable[[str], None]) -> None:
        worker = Worker()
        try:
            while time.monotonic() < end:
                case = self._next()
                outcome = worker.outcome(case)
                with self._lock:
                    self._spent[case.family] += int(1e6 * outcome["seconds"])
                for failure in self.add(case.family, outcome):
                    tell(f"{failure['kind']}: --case {failure['case']}  {failure['what'][:160]}")
        finally:
            worker.close()

    def _next(self) -> Case:
        with self._lock:
            family = min(self.families, key=lambda family: self._spent[family])
            self._asked[family] += 1
            self._spent[family] += 1
            return Case(family, self.seed * 1_000_000 + self._asked[family])


def _is_ready(stream: IO[str]) -> bool:
    """Wait a moment for a line."""
    with selectors.DefaultSelector() as selector:
        selector.register(stream, selectors.EVENT_READ)
        return bool(selector.select(_STEP))


def _resident(process: int) -> int:
    """Return the bytes that a process has; 0 where no system tells."""
    try:
        return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * _PAGE
    except (OSError, IndexError):
        return 0
