"""`structured serve` as a process: ended, killed, and beside another with the same cache."""

import json
import signal
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from odd_requests import user
from serving import is_listening, process_serving, wait_until

pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


def schema(number: int) -> dict[str, Any]:
    """A schema of which nothing is known yet, with a pattern that takes some states."""
    properties = {
        "name": {"type": "string", "pattern": f"^[A-Z][a-z]{{1,{8 + number % 5}}}$"},
        f"age{number}": {"type": "integer", "minimum": number},
        "tags": {"type": "array", "items": {"enum": ["a", f"b{number}"]}, "maxItems": 2},
    }
    return {"type": "object", "properties": properties, "required": list(properties)}


def extracted(address: str, number: int) -> Any:
    body = {"schema": schema(number), "text": f"Jason is {number + 20} years old."}
    return httpx.post(f"{address}/v1/extract", json=body, timeout=120).json()["value"]


@pytest.mark.thorough
def test_sigterm_lets_what_runs_be_finished(tmp_path: Path) -> None:
    """A stream goes on to its end while nobody else is let in; then the process ends, by the signal."""
    body = {"messages": user("a"), "guided_regex": "[ab]{800}", "stream": True}
    with process_serving(tmp_path / "cache") as (server, address):
        with httpx.stream("POST", f"{address}/v1/chat/completions", json=body, timeout=120) as answer:
            lines = answer.iter_lines()
            read = [next(lines)]
            server.send_signal(signal.SIGTERM)
            wait_until(lambda: not is_listening(address))
            read += lines
        pieces = [json.loads(line.removeprefix("data: ")) for line in read if line.startswith("data: {")]
        text = "".join(piece["choices"][0]["delta"].get("content", "") for piece in pieces)
        assert len(text) == 800
        assert "data: [DONE]" in read
        assert server.wait(60) in (0, -signal.SIGTERM)


@pytest.mark.slow
def test_killed_in_the_middle_it_begins_again_with_the_same_cache(tmp_path: Path) -> None:
    """Whatever it was writing, the next answers as one does that has no cache."""
    numbers = range(12)
    with process_serving(tmp_path / "fresh") as (_, address):
        expected = [extracted(address, number) for number in numbers]
    for moment in range(4):
        with process_serving(tmp_path / "cache") as (server, address), ThreadPoolExecutor(4) as pool:

            def ask(number: int, address: str = address) -> None:
                with suppress(httpx.HTTPError):
                    extracted(address, number)

            asked = [pool.submit(ask, number) for number in numbers]
            wait_until(lambda asked=asked, done=2 * moment: sum(one.done() for one in asked) >= done)
            server.kill()
    with process_serving(tmp_path / "cache") as (_, address):
        assert [extracted(address, number) for number in numbers] == expected


@pytest.mark.slow
def test_two_servers_share_a_cache(tmp_path: Path) -> None:
    """Both are asked for the same new types at the same time, four at a time, and answer as one does alone."""
    numbers = range(12)
    with process_serving(tmp_path / "fresh") as (_, address):
        expected = [extracted(address, number) for number in numbers]
    with (
        process_serving(tmp_path / "cache") as (_, one),
        process_serving(tmp_path / "cache") as (_, other),
        ThreadPoolExecutor(8) as pool,
    ):
        asked = [(address, number) for number in numbers for address in (one, other)]
        found = list(pool.map(lambda one: extracted(*one), asked))
        assert found == [value for value in expected for _ in (one, other)]
