"""A batch that is killed again and again and gone on with, and two processes that write to one file."""

import json
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from benchmarks.batches.orders import Order, model_for_one, read_one, short_documents
from structured import read_results, write_results
from structured.errors import OutputError

REFUSED = 3
"""The exit code of a process that may not write to the file."""


class Killed(NamedTuple):
    """What became of a batch that was killed.

    Attributes:
        documents: How many there were.
        kills: How often it was killed.
        torn: How often the beginning of a record was left behind.
        looks: How often the file was read meanwhile, each time without an error.
        records: The lines of the file in the end.
        done: The documents with a record, each once and right; all of them, or `ValueError` is raised.
    """

    documents: int
    kills: int
    torn: int
    looks: int
    records: int
    done: int


def killed(documents: int, kills: int, seed: int = 1) -> Killed:
    """Kill a batch at random moments (SIGKILL), go on with it, and read its file all the while."""
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "orders.jsonl"
        torn = looks = count = 0
        while count < kills:
            process = _started(path, documents)
            before, begun = _size(path), time.monotonic()
            ends = 0.0
            while process.poll() is None:
                looks += _looked_at(path)
                time.sleep(0.01)
                if not ends and _size(path) != before:  # it writes: from here on, any moment
                    ends = time.monotonic() + rng.uniform(0.0, 0.6)
                if ends and time.monotonic() >= ends:
                    process.send_signal(signal.SIGKILL)
                    process.wait()
                if time.monotonic() - begun > 300:
                    process.kill()
                    raise ValueError("The batch did not begin in five minutes.")
            if process.returncode == 0:
                raise ValueError(f"The batch was over after {count} kills. Give it more documents.")
            count += process.returncode == -signal.SIGKILL
            if process.returncode != -signal.SIGKILL:
                raise ValueError(f"The batch ended with {process.returncode}.")
            torn += not path.read_bytes().endswith(b"\n")
        if _started(path, documents).wait() != 0:
            raise ValueError("The batch could not be gone on with.")
        lines = path.read_text(encoding="utf-8").splitlines()
        values = {record["id"]: Order.model_validate(record["value"]) for record in map(json.loads, lines)}
    right = sum(
        values.get(one.id or "") == Order.model_validate_json(read_one(str(one.text)))
        for one in short_documents(documents)
    )
    if not right == len(lines) == documents:
        raise ValueError(f"{right} of {documents} documents have a right record; {len(lines)} records")
    return Killed(documents, kills, torn, looks, len(lines), right)


def two_at_once(documents: int) -> list[int]:
    """Let two processes write to one file, and return their exit codes: one refuses, and the other does all."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "orders.jsonl"
        processes = [_started(path, documents) for _ in range(2)]
        codes = sorted(process.wait() for process in processes)
        found = sorted(int(result.id) for result in read_results(path, Order))
    if codes != [0, REFUSED] or found != [*range(documents)]:
        raise ValueError(f"the exit codes were {codes}, and {len(found)} of {documents} documents have a record")
    return codes


def _started(path: Path, documents: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-m", "benchmarks.batches.killed", str(path), str(documents)])


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _looked_at(path: Path) -> int:
    """Read the file, and tell whether there was one. Raises OutputError if it cannot be read."""
    if not path.exists():
        return 0
    for result in read_results(path, Order):
        assert result.value is not None
    return 1


def main() -> None:
    """Write the answers of so many documents to a file."""
    path, documents = sys.argv[1:]
    try:
        write_results(Order, short_documents(int(documents)), path, model=model_for_one(), progress=False)
    except OutputError as error:
        sys.exit(REFUSED if "Another call is writing" in str(error) else str(error))


if __name__ == "__main__":
    main()
