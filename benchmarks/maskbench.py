"""Masks against those of other engines, on MaskBench: `python -m benchmarks.maskbench ZIP TOKENIZER`.

Every engine runs in a process of its own, on one thread, and has some seconds for each schema; they take turns. The
peers are installed from `benchmarks/requirements.txt` into an environment of their own; `--python` names its Python.
"""

import argparse
import contextlib
import json
import os
import queue
import random
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.maskbench_worker import ENGINES

ROOT = Path(__file__).parent.parent
QUANTILES = (0.25, 0.5, 0.75, 0.9, 0.99, 0.999, 1.0)
START_SECONDS = 300
Record = dict[str, Any]
"""What a worker tells of a schema."""

OURS, BASELINE = "structured", "llguidance"


def main() -> None:
    """Run the engines and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("zip", help="a zip file of JSON files with `schema` and `tests`")
    parser.add_argument("tokenizer", help="a folder or hub id of a tokenizer")
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=[OURS, BASELINE])
    parser.add_argument("--python", default=sys.executable, help="the Python that has the peers installed")
    parser.add_argument("--count", type=int, help="schemas, drawn at random; default: all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=15.0, help="limit for one schema")
    parser.add_argument("--out", type=Path, help="write every record to this file, as JSON lines")
    arguments = parser.parse_args()
    with zipfile.ZipFile(arguments.zip) as archive:
        names = sorted(name for name in archive.namelist() if name.endswith(".json"))
    if arguments.count:
        names = sorted(random.Random(arguments.seed).sample(names, min(arguments.count, len(names))))
    commands = {
        engine: [
            *(sys.executable if engine.startswith(OURS) else arguments.python, "-m", "benchmarks.maskbench_worker"),
            *(engine, arguments.zip, arguments.tokenizer),
        ]
        for engine in arguments.engines
    }
    runs = run(commands, names, seconds=arguments.seconds)
    if arguments.out:
        lines = [
            json.dumps({"engine": engine, "name": name, **record})
            for engine, records in runs.items()
            for name, record in zip(names, records, strict=True)
        ]
        arguments.out.write_text("\n".join(lines) + "\n")
    print(report(runs))


class Worker:
    """An engine's process, started again when it dies or is too slow."""

    def __init__(self, command: Sequence[str]) -> None:
        self.command = command
        self._start()

    def ask(self, name: str, seconds: float) -> Record:
        """Return what the worker measures for a schema, or that it took too long or crashed."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(f"{name}\n")
            self._process.stdin.flush()
            return self._answer(seconds)
        except (queue.Empty, BrokenPipeError, EOFError) as error:
            self.stop()
            self._start()
            return {"timeout": True} if isinstance(error, queue.Empty) else {"crash": True}

    def stop(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        self._process.kill()
        self._process.wait()
        self._listener.join()
        with contextlib.suppress(BrokenPipeError):  # a request that was not sent
            self._process.stdin.close()

    def _start(self) -> None:
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "RAYON_NUM_THREADS": "1"}
        environment["TOKENIZERS_PARALLELISM"] = "false"
        self._process = subprocess.Popen(
            self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment, cwd=ROOT
        )
        self._lines: queue.Queue[str] = queue.Queue()
        self._listener = threading.Thread(target=self._listen, args=(self._process, self._lines), daemon=True)
        self._listener.start()
        if "ready" not in self._answer(START_SECONDS):
            raise RuntimeError(f"{' '.join(self.command)} did not start.")

    def _answer(self, seconds: float) -> Record:
        line = self._lines.get(timeout=seconds)
        if not line:
            raise EOFError
        answer: Record = json.loads(line)
        return answer

    @staticmethod
    def _listen(process: subprocess.Popen[str], lines: "queue.Queue[str]") -> None:
        assert process.stdout is not None
        with process.stdout as output:
            for line in output:
                if line.startswith("{"):
                    lines.put(line)
        lines.put("")


def run(commands: Mapping[str, Sequence[str]], names: Sequence[str], *, seconds: float) -> dict[str, list[Record]]:
    """Return one record for each schema and engine.

    The engines take turns, schema by schema, so that whatever else the machine does slows all of them alike.
    """
    workers: dict[str, Worker] = {}
    records: dict[str, list[Record]] = {engine: [] for engine in commands}
    try:
        for engine, command in commands.items():
            workers[engine] = Worker(command)
        for count, name in enumerate(names, 1):
            for engine, worker in workers.items():
                records[engine].append(worker.ask(name, seconds))
            if count % 500 == 0:
                print(f"{count} of {len(names)} schemas", file=sys.stderr)
    finally:
        for worker in workers.values():
            worker.stop()
    return records


@dataclass(slots=True)
class Summary:
    """What an engine did on some schemas."""

    first_mask: list[float] = field(default_factory=list)
    cold: list[float] = field(default_factory=list)
    warm: list[float] = field(default_factory=list)

    @classmethod
    def of(cls, records: Iterable[Record]) -> "Summary":
        """Collect the times of the schemas that were supported."""
        summary = cls()
        for record in records:
            if "first_mask" in record:
                summary.first_mask.append(record["first_mask"])
                summary.cold += record["passes"][0]
                summary.warm += record["passes"][1]
        return summary


def report(runs: dict[str, list[Record]]) -> str:
    """Return the tables as Markdown."""
    parts = [outcomes(runs)]
    for title, attribute, unit in (
        ("Time to first mask, ms", "first_mask", 1e3),
        ("Mask and advance, first pass, µs", "cold", 1e6),
        ("Mask and advance, second pass, µs", "warm", 1e6),
    ):
        rows = {engine: getattr(Summary.of(records), attribute) for engine, records in runs.items()}
        parts.append(f"### {title}\n\n{quantiles(rows, unit)}")
    if OURS in runs:
        parts += [ratios(runs, peer) for peer in runs if peer != OURS]
    return "\n\n".join(parts)


def outcomes(runs: dict[str, list[Record]]) -> str:
    """Return how many schemas each engine passes, refuses and gets wrong."""
    head = "| engine | schemas | pass | refused | accepted invalid | rejected valid | timeouts | crashes | peak, MB |"
    rows = []
    for engine, records in runs.items():
        supported = [record for record in records if "first_mask" in record]
        counts = [
            sum(not record["accepted_invalid"] and not record["rejected_valid"] for record in supported),
            sum("refused" in record for record in records),
            sum(record["accepted_invalid"] > 0 for record in supported),
            sum(record["rejected_valid"] > 0 for record in supported),
            sum("timeout" in record for record in records),
            sum("crash" in record for record in records),
            max((record.get("peak", 0) for record in records), default=0) // 1_000_000,
        ]
        rows.append(f"| {engine} | {len(records)} | {' | '.join(map(str, counts))} |")
    return "\n".join([head, "|---" * 9 + "|", *rows])


def quantiles(rows: dict[str, list[float]], unit: float) -> str:
    """Return the quantiles of some times, one engine a row."""
    names = [f"p{100 * q:g}" if q < 1 else "max" for q in QUANTILES]
    lines = [f"| engine | {' | '.join(names)} | average |", "|---" * (len(names) + 2) + "|"]
    for engine, times in rows.items():
        if times:
            shown = [f"{quantile(times, q) * unit:.3g}" for q in QUANTILES] + [f"{sum(times) / len(times) * unit:.3g}"]
            lines.append(f"| {engine} | {' | '.join(shown)} |")
    return "\n".join(lines)


def quantile(times: Sequence[float], q: float) -> float:
    """Return the least time that is not exceeded by a share `q` of all."""
    ordered = sorted(times)
    return ordered[min(int(q * len(ordered)), len(ordered) - 1)]


def ratios(runs: dict[str, list[Record]], peer: str) -> str:
    """Return our times as multiples of a peer's, on the schemas that both support."""
    both = [
        (ours, theirs)
        for ours, theirs in zip(runs[OURS], runs[peer], strict=True)
        if "first_mask" in ours and "first_mask" in theirs
    ]
    ours, theirs = (Summary.of(records) for records in (zip(*both, strict=True) if both else ((), ())))
    lines = [f"### {OURS} / {peer}, on the {len(both)} schemas that both support", "", "| | p50 | p99 | average |"]
    lines.append("|---|---|---|---|")
    for title, attribute in (("first mask", "first_mask"), ("first pass", "cold"), ("second pass", "warm")):
        mine, other = getattr(ours, attribute), getattr(theirs, attribute)
        if mine and other:
            shares = [quantile(mine, q) / quantile(other, q) for q in (0.5, 0.99)]
            shares.append((sum(mine) / len(mine)) / (sum(other) / len(other)))
            lines.append(f"| {title} | {' | '.join(f'{share:.3g} ×' for share in shares)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
