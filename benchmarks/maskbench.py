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
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TextIO

from benchmarks.maskbench_report import BASELINE, DRAWN, OURS, Record, report
from benchmarks.maskbench_worker import ENGINES

ROOT = Path(__file__).parent.parent
START_SECONDS = 300


def main() -> None:
    """Run the engines and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("zip", help="a zip file of JSON files with `schema` and `tests`")
    parser.add_argument("tokenizer", help="a folder or hub id of a tokenizer")
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=[OURS, BASELINE])
    parser.add_argument("--python", default=sys.executable, help="the Python that has the peers installed")
    parser.add_argument("--count", type=int, help="schemas, drawn at random; default: all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--draws", type=int, default=0, help=f"compare on so many random draws of {DRAWN}, too")
    parser.add_argument("--seconds", type=float, default=15.0, help="limit for one schema")
    parser.add_argument("--out", type=Path, help="write every record to this file as it comes, as JSON lines")
    parser.add_argument("--read", type=Path, help="measure nothing: print the tables of what --out has written")
    arguments = parser.parse_args()
    if arguments.read:
        names, runs = read_records(arguments.read)
        print(report(names, runs, draws=arguments.draws))
        return
    with zipfile.ZipFile(arguments.zip) as archive:
        names = sorted(name for name in archive.namelist() if name.endswith(".json"))
    # In random order, so that a run that is interrupted has measured a fair sample.
    names = random.Random(arguments.seed).sample(names, min(arguments.count or len(names), len(names)))
    commands = {
        engine: [
            *(sys.executable if engine.startswith(OURS) else arguments.python, "-m", "benchmarks.maskbench_worker"),
            *(engine, arguments.zip, arguments.tokenizer),
        ]
        for engine in arguments.engines
    }
    with arguments.out.open("w") if arguments.out else contextlib.nullcontext() as out:
        runs = run(commands, names, seconds=arguments.seconds, out=out)
    print(report(names, runs, draws=arguments.draws))


def read_records(path: Path) -> tuple[list[str], dict[str, list[Record]]]:
    """Return the schemas that every engine has a record of in a file, and these records, by engine."""
    found: dict[str, dict[str, Record]] = {}
    with path.open() as lines:
        for line in lines:
            record: Record = json.loads(line)
            found.setdefault(record.pop("engine"), {})[record.pop("name")] = record
    names = [name for name in next(iter(found.values())) if all(name in records for records in found.values())]
    return names, {engine: [records[name] for name in names] for engine, records in found.items()}


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


def run(
    commands: Mapping[str, Sequence[str]], names: Sequence[str], *, seconds: float, out: TextIO | None = None
) -> dict[str, list[Record]]:
    """Return one record for each schema and engine, and write it as a line of JSON as soon as it is there.

    The engines take turns, schema by schema, so that whatever else the machine does slows all of them alike.
    """
    workers: dict[str, Worker] = {}
    records: dict[str, list[Record]] = {engine: [] for engine in commands}
    try:
        for engine, command in commands.items():
            workers[engine] = Worker(command)
        for count, name in enumerate(names, 1):
            for engine, worker in workers.items():
                records[engine].append(record := worker.ask(name, seconds))
                if out:
                    print(json.dumps({"engine": engine, "name": name, **record}), file=out, flush=True)
            if count % 500 == 0:
                print(f"{count} of {len(names)} schemas", file=sys.stderr)
    finally:
        for worker in workers.values():
            worker.stop()
    return records


if __name__ == "__main__":
    main()
