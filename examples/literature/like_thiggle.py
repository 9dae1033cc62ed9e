"""Categorise, and complete by an expression and by a grammar, over HTTP, as Thiggle's API did.

Thiggle answered requests with one of some categories, or with a text of an expression or of a grammar. `structured
serve` has an endpoint for each; here the program starts it, with the packaged model. That gets the first day wrong: a
grammar enforces the form, and not the facts.

    $ python examples/literature/like_thiggle.py
    choose:  cancellation
    regex:   B-2291
    grammar: from 3 May to 12 May
"""

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import httpx

ADDRESS = "http://127.0.0.1:8472"

STAY = r"""
start: "from " date " to " date
date: DAY " " MONTH
DAY: /[12]?[0-9]|3[01]/
MONTH: "April" | "May" | "June" | "July" | "August" | "September"
"""

MAIL = "We would like to cancel the room with a balcony, booked as B-2291 from 3 May to 12 May."


@contextmanager
def server() -> Iterator[None]:
    """Run `structured serve` until the block ends."""
    command = [sys.executable, "-m", "structured", "serve", "--port", "8472", "--quiet"]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)  # noqa: S603  its own command
    try:
        while process.poll() is None:
            try:
                httpx.get(f"{ADDRESS}/readyz").raise_for_status()
                break
            except httpx.HTTPError:
                time.sleep(0.1)
        yield
    finally:
        process.terminate()
        process.wait()


def ask(endpoint: str, **body: object) -> str:
    """Return what the server answers about the mail."""
    answer = httpx.post(f"{ADDRESS}/v1/{endpoint}", json={"text": MAIL, **body}, timeout=60).raise_for_status()
    value: str = answer.json()["value"]
    return value


if __name__ == "__main__":
    with server():
        print("choose: ", ask("choose", choices=["booking", "cancellation", "complaint"]))
        print("regex:  ", ask("regex", regex="B-[0-9]{4}"))
        print("grammar:", ask("grammar", grammar=STAY))
