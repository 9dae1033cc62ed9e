"""Many clients of one server at once, on the loopback: throughput beside one by one, latency, fairness, errors, memory.

    python -m benchmarks.serving --clients 200 --seconds 300
    python -m benchmarks.serving --clients 32 --seconds 60 --workers 1 2

The server is a process of its own, or several with `--workers`, and so are the clients, who take some 0.2 ms for a
request. One by one means that one client sends the next request when the answer to the last one is there, to the same
server, before the others and after them. Memory that several processes share is counted once.
"""

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
    "required": ["name", "age"],
    "additionalProperties": False,
}

NAMES = ("Jason", "Ana", "Priya", "Tom", "Mei", "Omar", "Lena", "Kofi")


def body(number: int) -> dict[str, Any]:
    """Return a request; no two in a row are the same."""
    text = f"{NAMES[number % len(NAMES)]} is {number % 80 + 10} years old, and writes for the {number}th time."
    return {"schema": SCHEMA, "text": text}


@contextmanager
def server(port: int, *options: str) -> Iterator[subprocess.Popen[bytes]]:
    """A server that is ready."""
    command = [sys.executable, "-W", "ignore", "-m", "structured", "serve", "--port", str(port), *options]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    try:
        for _ in range(600):
            try:
                if httpx.get(f"http://127.0.0.1:{port}/readyz").status_code == 200:
                    break
            except httpx.TransportError:
                time.sleep(0.1)
        yield process
    finally:
        process.terminate()
        process.wait(60)


def processes(process: subprocess.Popen[bytes]) -> list[Path]:
    """Return the folders in /proc of a process and of its children, which are all of a server's."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text(encoding="ascii").split()
    return [Path("/proc", pid) for pid in (str(process.pid), *children)]


def memory(process: subprocess.Popen[bytes]) -> float:
    """Return the memory of a server, in MiB: of pages that processes share, each has its part."""
    texts = [(folder / "smaps_rollup").read_text(encoding="ascii") for folder in processes(process)]
    return sum(int(text.partition("\nPss:")[2].split()[0]) for text in texts) / 2**10


def processor_ms(process: subprocess.Popen[bytes]) -> float:
    """Return the processor time that a server has taken, in milliseconds."""
    stats = [(folder / "stat").read_text(encoding="ascii").rpartition(")")[2].split() for folder in processes(process)]
    return sum(1000 * (int(told[11]) + int(told[12])) / os.sysconf("SC_CLK_TCK") for told in stats)


@dataclass(slots=True)
class Load:
    """What some clients have had of a server."""

    statuses: Counter[int] = field(default_factory=Counter)
    latencies: list[float] = field(default_factory=list)
    """The seconds of each answer."""
    answers: Counter[int] = field(default_factory=Counter)
    """Those of each client, by its number."""
    seconds: float = 0.0

    @property
    def rate(self) -> float:
        """Answers per second."""
        return len(self.latencies) / self.seconds


async def post(connection: tuple[asyncio.StreamReader, asyncio.StreamWriter], request: dict[str, Any]) -> int:
    """Send a request on a connection, read the answer, and return its status."""
    reader, writer = connection
    data = json.dumps(request).encode()
    head = "POST /v1/extract HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    writer.write(f"{head}Content-Length: {len(data)}\r\n\r\n".encode() + data)
    answer = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
    await reader.readexactly(int(answer.partition("content-length:")[2].split()[0]))
    return int(answer.split()[1])


async def load(port: int, clients: int, seconds: float) -> Load:
    """Return what some clients get, each with a connection of its own that stays."""
    found = Load()
    started = time.perf_counter()

    async def ask(client: int) -> None:
        connection = await asyncio.open_connection("127.0.0.1", port)
        number = client
        while time.perf_counter() - started < seconds:
            begun = time.perf_counter()
            status = await post(connection, body(number))
            found.statuses[status] += 1
            if status == 200:
                found.latencies.append(time.perf_counter() - begun)
                found.answers[client] += 1
            elif status == 429:
                await asyncio.sleep(2)
            number += clients
        connection[1].close()

    await asyncio.gather(*(ask(client) for client in range(clients)))
    found.seconds = time.perf_counter() - started
    return found


def measured(workers: int, asked: argparse.Namespace) -> dict[str, Any]:
    """Return the figures of a server with so many workers."""
    options = ["--quiet", "--workers", str(workers), *([] if asked.model is None else ["--model", asked.model])]

    def alone() -> tuple[float, float]:
        before, one = processor_ms(process), asyncio.run(load(asked.port, 1, asked.alone))
        return one.rate, (processor_ms(process) - before) / len(one.latencies)

    with server(asked.port, *options) as process:
        asyncio.run(load(asked.port, asked.clients, asked.warm))
        sizes, first = [memory(process)], alone()
        before = processor_ms(process)
        halves = [asyncio.run(load(asked.port, asked.clients, asked.seconds / 2))]
        sizes.append(memory(process))
        halves.append(asyncio.run(load(asked.port, asked.clients, asked.seconds / 2)))
        sizes.append(memory(process))
        taken = processor_ms(process) - before
        last = alone()
    latencies = sorted(halves[0].latencies + halves[1].latencies)
    rate = len(latencies) / sum(half.seconds for half in halves)
    one_by_one = (first[0] + last[0]) / 2
    middle, high = statistics.median(latencies), latencies[int(0.99 * len(latencies))]
    answers = (halves[0].answers + halves[1].answers).values()
    return {
        "workers": workers,
        "clients": asked.clients,
        "statuses": dict(halves[0].statuses + halves[1].statuses),
        "requests per second": round(rate, 1),
        "one by one": round(one_by_one, 1),
        "times": round(rate / one_by_one, 2),
        "p50 ms": round(1000 * middle, 1),
        "p99 ms": round(1000 * high, 1),
        "p99 / p50": round(high / middle, 2),
        "answers of a client, min and max": [min(answers), max(answers)],
        "ms of processor time, one by one": round((first[1] + last[1]) / 2, 1),
        "ms of processor time, together": round(taken / len(latencies), 1),
        "MiB before, half way, after": [round(size) for size in sizes],
    }


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--alone", type=float, default=15, help="seconds of one by one, before and after")
    parser.add_argument("--warm", type=float, default=5, help="seconds of all clients before anything is measured")
    parser.add_argument("--workers", type=int, nargs="+", default=[1], help="the numbers of workers to compare")
    parser.add_argument("--port", type=int, default=8765)
    parser.add_argument("--model", default=None)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    columns = [measured(workers, asked) for workers in asked.workers]
    if asked.json:
        print(json.dumps(columns))
        return
    for name in columns[0]:
        print(f"{name:34}", *(f"{column[name]!s:>20}" for column in columns))


if __name__ == "__main__":
    main()
