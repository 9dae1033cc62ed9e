"""A server among clients that behave badly: `python -m benchmarks.soak --minutes 60 --clients 32`.

Most clients ask for known documents, over and over; each answer has to be the one that the same document had alone, so
that no answer is lost, late for ever, or somebody else's. Between these, clients leave streams in the middle, send
schemas that cost much, bodies that are too large, bytes that are no JSON, and connections that say nothing. In the end
the server has to be where it was after the first minute and after each quarter: memory, descriptors and threads, once
it has been idle for a while. Needs Linux.
"""

import argparse
import asyncio
import json
import random
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import httpx

from benchmarks.serving import body, memory, processes, server

DOCUMENTS = 64
"""Different ones, whose answers are known."""

IDLE = 20.0
"""Seconds before the server is measured."""


class Holdings(NamedTuple):
    """What a server holds, with all of its processes."""

    memory: float
    """In MiB."""
    descriptors: int
    threads: int


def holdings(process: Any) -> Holdings:
    """Return what a server holds now."""
    folders = processes(process)
    return Holdings(
        memory(process),
        sum(len(list((folder / "fd").iterdir())) for folder in folders),
        sum(len(list((folder / "task").iterdir())) for folder in folders),
    )


@dataclass(slots=True)
class Outcome:
    """What became of the requests."""

    statuses: Counter[str] = field(default_factory=Counter)
    """How often each kind of request got each status."""
    wrong: list[str] = field(default_factory=list)
    """Answers to known documents that are not theirs, and faults of the server."""


def bomb(rng: random.Random) -> dict[str, Any]:
    """Return a request whose schema costs much."""
    names = [f"p{number}" for number in range(rng.randrange(20, 400))]
    schemas: list[Any] = [
        {"anyOf": [{"required": [name], "properties": {name: {"type": "string"}}} for name in names]},
        {"type": "string", "pattern": f"^(a{{1,{rng.randrange(100, 5000)}}}b?){{1,50}}$"},
        {"type": "array", "items": {"enum": [f"{name}{rng.random()}" for name in names]}, "uniqueItems": True},
        {"$defs": {"a": {"anyOf": [{"$ref": "#/$defs/a"}, {"type": "null"}]}}, "$ref": "#/$defs/a"},
    ]
    return {"schema": rng.choice(schemas), "text": "a", "max_tokens": 16}


async def behave_badly(client: httpx.AsyncClient, url: str, rng: random.Random, outcome: Outcome) -> None:
    """Do one thing that no client should do."""
    kind = rng.choice(("left stream", "bomb", "large body", "no JSON", "silence", "no such path"))
    try:
        if kind == "left stream":
            chat = {"messages": [{"role": "user", "content": "a" * rng.randrange(2000)}], "stream": True}
            chat["guided_regex"] = "[a-z ]{200}"
            async with client.stream("POST", f"{url}/v1/chat/completions", json=chat) as answer:
                left = rng.randrange(4)
                async for _ in answer.aiter_lines():
                    left -= 1
                    if left < 0:
                        break
        elif kind == "bomb":
            answer = await client.post(f"{url}/v1/extract", json=bomb(rng))
        elif kind == "large body":
            answer = await client.post(f"{url}/v1/extract", json={**body(1), "text": "a" * 20_000_000})
        elif kind == "no JSON":
            data = json.dumps(body(1)).encode()
            answer = await client.post(
                f"{url}/v1/extract",
                content=data[: rng.randrange(len(data))] + rng.randbytes(rng.randrange(9)),
                headers={"Content-Type": "application/json"},
            )
        elif kind == "silence":
            _, writer = await asyncio.open_connection(*url.removeprefix("http://").split(":"))
            await asyncio.sleep(rng.uniform(0, 2))
            writer.close()
            outcome.statuses["silence, closed"] += 1
            return
        else:
            answer = await client.get(f"{url}/{rng.random()}")
    except httpx.TransportError as error:
        outcome.statuses[f"{kind}, {type(error).__name__}"] += 1
        return
    outcome.statuses[f"{kind}, {answer.status_code}"] += 1
    if answer.status_code >= 500 and not (kind == "bomb" and answer.status_code in {503, 504}):
        outcome.wrong.append(f"{kind}: {answer.status_code} {answer.text[:200]}")


async def ask(client: httpx.AsyncClient, url: str, number: int, expected: list[Any] | None, outcome: Outcome) -> Any:
    """Ask for a known document, and return its answer."""
    for _ in range(1000):
        try:
            answer = await client.post(f"{url}/v1/extract", json=body(number))
        except httpx.TransportError as error:
            outcome.wrong.append(f"document {number}: lost, {type(error).__name__}")
            return None
        if answer.status_code != 429:
            break
        outcome.statuses["known document, 429"] += 1
        await asyncio.sleep(0.5)
    outcome.statuses[f"known document, {answer.status_code}"] += 1
    told = answer.json()
    value = told.get("value", told)
    if answer.status_code != 200 or (expected is not None and value != expected[number]):
        outcome.wrong.append(f"document {number}: {answer.status_code} {json.dumps(told)[:200]}")
    return value


async def soaked(url: str, seconds: float, asked: argparse.Namespace, outcome: Outcome, part: int) -> None:
    """Let clients do what they do for some seconds; in each part of a run, other things."""
    async with httpx.AsyncClient(timeout=300) as alone:
        expected = [await ask(alone, url, number, None, outcome) for number in range(DOCUMENTS)]
    ends = time.monotonic() + seconds

    async def one(place: int) -> None:
        rng = random.Random(f"{asked.seed} {part} {place}")
        async with httpx.AsyncClient(timeout=300) as client:
            while time.monotonic() < ends:
                if rng.random() < asked.share:
                    await behave_badly(client, url, rng, outcome)
                else:
                    await ask(client, url, rng.randrange(DOCUMENTS), expected, outcome)

    await asyncio.gather(*map(one, range(asked.clients)))


def main() -> None:
    """Soak a server, and print what became of it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--share", type=float, default=0.1, help="of the requests that are bad")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--port", type=int, default=8766)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    outcome = Outcome()
    url = f"http://127.0.0.1:{asked.port}"
    with server(asked.port, "--quiet", "--workers", str(asked.workers)) as process:
        for part, seconds in enumerate([min(60.0, 6 * asked.minutes), *[15 * asked.minutes] * 4]):
            asyncio.run(soaked(url, seconds, asked, outcome, part))
            time.sleep(IDLE)
            held = holdings(process)
            print(f"{held.memory:.0f} MiB, {held.descriptors} descriptors, {held.threads} threads", flush=True)
        over = process.poll()
    for kind, count in sorted(outcome.statuses.items()):
        print(f"{count:>9,}  {kind}")
    print(f"{len(outcome.wrong)} wrong answers or faults; the server {'runs' if over is None else 'has ended'}")
    print(*outcome.wrong[:20], sep="\n")
    sys.exit(bool(outcome.wrong) or over is not None)


if __name__ == "__main__":
    main()
