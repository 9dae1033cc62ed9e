"""Results of the parts: a file of JSON for each, which tells what need not be run again.

A part runs in a process of its own, which writes one line of JSON for each row as soon as it has it. So an error on the
device is over with the part that met it, and a part that takes too long keeps the rows that it had.
"""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any, Self

ROOT = Path(__file__).parents[2]
FAILED, SKIPPED = "failed", "skipped"
"""Keys of rows that are no row of the table: what is in them is a reason."""

Row = dict[str, Any]
"""The cells of a row by their columns, or a reason by FAILED or SKIPPED."""


@dataclass(slots=True)
class Result:
    """What a part has found on a machine."""

    part: str
    machine: str
    small: bool
    """Whether models and batches were small, since there was no GPU."""
    seconds: float = 0.0
    rows: list[Row] = field(default_factory=list)

    @property
    def is_complete(self) -> bool:
        """Whether nothing has failed. What has is run again."""
        return not any(FAILED in row for row in self.rows)

    @classmethod
    def read(cls, folder: Path, part: str) -> Self | None:
        """Return what is kept of a part; None if that is nothing, or cannot be read."""
        try:
            return cls(**json.loads((folder / f"{part}.json").read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return None

    def write(self, folder: Path) -> None:
        """Keep it, at one stroke: a process that is killed leaves no half of a file."""
        folder.mkdir(parents=True, exist_ok=True)
        temporary = folder / f".{self.part}.{os.getpid()}"
        temporary.write_text(json.dumps(asdict(self), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        temporary.replace(folder / f"{self.part}.json")


@dataclass(frozen=True, slots=True)
class Plan:
    """Which parts are to be run, on what, and for how long.

    `commands` has the command of each part, in their order, and `weights` what share of the time each may take.
    """

    folder: Path
    machine: str
    small: bool
    commands: Mapping[str, Sequence[str]]
    weights: Mapping[str, float]
    again: bool = False

    def waiting(self) -> list[str]:
        """Return the parts of which there is no complete result of this machine."""
        known = {part: Result.read(self.folder, part) for part in self.commands}
        return [
            part
            for part, result in known.items()
            if self.again or result is None or not result.is_complete or result.machine != self.machine
        ]

    def run(self, seconds: float) -> None:
        """Run what is waiting. Time that a part leaves over goes to those after it."""
        ends = perf_counter() + seconds
        waiting = self.waiting()
        for place, part in enumerate(waiting):
            left = max(ends - perf_counter(), 1.0)
            share = self.weights[part] / sum(self.weights[later] for later in waiting[place:])
            result = Result(part, self.machine, self.small)
            print(f"{part}, at most {left * share:.0f} s", file=sys.stderr, flush=True)
            fill(result, self.commands[part], left * share)
            result.write(self.folder)


def fill(result: Result, command: Sequence[str], seconds: float) -> None:
    """Run the command of a part, and take over the rows that it writes; it and its children are killed in time."""
    started = perf_counter()
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))}
    environment["TOKENIZERS_PARALLELISM"] = "false"
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        env=environment,
        cwd=ROOT,
        process_group=0,
    )
    late = threading.Event()

    def stop() -> None:
        late.set()
        os.killpg(process.pid, signal.SIGKILL)

    timer = threading.Timer(seconds, stop)
    timer.start()
    assert process.stdout is not None
    try:
        for line in process.stdout:
            if line.startswith("{"):
                result.rows.append(json.loads(line))
                print(f"  {line.rstrip()}", file=sys.stderr, flush=True)
        process.wait()
    finally:
        timer.cancel()
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()
        result.seconds = perf_counter() - started
    if late.is_set():
        result.rows.append({FAILED: f"it took more than {seconds:.0f} s; these are the rows until then"})
    elif process.returncode:
        result.rows.append({FAILED: f"its process ended with {process.returncode}"})
