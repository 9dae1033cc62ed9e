"""Many clients of one server at once, on the loopback: throughput beside one by one, latency, errors, memory.

    python -m benchmarks.serving --clients 200 --seconds 300

The server is a process of its own, and so are the clients. One by one means that the next request is sent when the
answer to the last one is there, to the same server, before the others and after them.
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


def resident(process: subprocess.Popen[bytes]) -> float:
    """Return the memory of a process, in MiB."""
    pages = int(Path(f"/proc/{process.pid}/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def processor_ms(process: subprocess.Popen[bytes]) -> float:
    """Return the processor time that a process has taken, in milliseconds."""
    told = Path(f"/proc/{process.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return 1000 * (int(told[11]) + int(told[12])) / os.sysconf("SC_CLK_TCK")


def one_by_one(url: str, seconds: float) -> float:
    """Return the requests per second of a single client."""
    with httpx.Client() as client:
        started, count = time.perf_counter(), 0
        while time.perf_counter() - started < seconds:
            client.post(url, json=body(count)).raise_for_status()
            count += 1
        return count / (time.perf_counter() - started)


async def together(url: str, clients: int, seconds: float) -> tuple[Counter[int], list[float], float]:
    """Return how often each status came, the seconds of each answer, and how long it all took."""
    statuses: Counter[int] = Counter()
    latencies: list[float] = []
    started = time.perf_counter()

    async def ask(client: httpx.AsyncClient, number: int) -> None:
        while time.perf_counter() - started < seconds:
            begun = time.perf_counter()
            answer = await client.post(url, json=body(number))
            statuses[answer.status_code] += 1
            if answer.status_code == 200:
                latencies.append(time.perf_counter() - begun)
            elif answer.status_code == 429:
                await asyncio.sleep(float(answer.headers["retry-after"]))
            number += clients

    limits = httpx.Limits(max_connections=clients, max_keepalive_connections=clients)
    async with httpx.AsyncClient(timeout=120, limits=limits) as client:
        await asyncio.gather(*(ask(client, number) for number in range(clients)))
    return statuses, latencies, time.perf_counter() - started


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--alone", type=float, default=15, help="seconds of one by one, before and after")
    parser.add_argument("--port", type=int, default=8765)
    parser.add_argument("--model", default=None)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    options = [] if asked.model is None else ["--model", asked.model]
    url = f"http://127.0.0.1:{asked.port}/v1/extract"
    with server(asked.port, *options) as process:
        one_by_one(url, 2)
        taken = [processor_ms(process)]
        before = one_by_one(url, asked.alone)
        taken.append(processor_ms(process))
        memory = [resident(process)]
        half = asyncio.run(together(url, asked.clients, asked.seconds / 2))
        memory.append(resident(process))
        rest = asyncio.run(together(url, asked.clients, asked.seconds / 2))
        memory.append(resident(process))
        taken.append(processor_ms(process))
        after = one_by_one(url, asked.alone)
    latencies = sorted(half[1] + rest[1])
    throughput = len(latencies) / (half[2] + rest[2])
    alone = (before + after) / 2
    figures = {
        "clients": asked.clients,
        "statuses": dict(half[0] + rest[0]),
        "requests per second": round(throughput, 1),
        "one by one": round(alone, 1),
        "times": round(throughput / alone, 2),
        "p50 ms": round(1000 * statistics.median(latencies), 1),
        "p99 ms": round(1000 * latencies[int(0.99 * len(latencies))], 1),
        "ms of processor time, one by one": round((taken[1] - taken[0]) / (before * asked.alone), 1),
        "ms of processor time, together": round((taken[2] - taken[1]) / max(len(latencies), 1), 1),
        "MiB before, half way, after": [round(one) for one in memory],
    }
    if asked.json:
        print(json.dumps(figures))
        return
    for name, value in figures.items():
        print(f"{name:34} {value}")


if __name__ == "__main__":
    main()
