"""One long document: its time and memory by its length, and each order once."""

import json
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

from benchmarks.batches.machine import measured
from benchmarks.batches.orders import Order, long_document, model_for_all
from structured import extract

CONTEXT, ANSWER = 6_000, 4_000
"""Tokens of the context, each a byte, and of an answer at most."""


def one_length(characters: int) -> dict[str, Any]:
    """Extract the orders of a document, and return what that cost. Raises ValueError unless each is found once."""
    extract(list[Order], long_document(1_000).text, model=model_for_all())
    document = long_document(characters)
    with measured() as cost:
        found = extract(list[Order], document.text, model=model_for_all(CONTEXT), max_tokens=ANSWER)
    wanted = [(number, customer, float(total)) for (number, customer, total), _ in document.orders]
    if [(one.number, one.customer, one.total) for one in found] != wanted:
        raise ValueError(f"{len(found)} orders were found of {len(wanted)}, or others")
    return {
        "characters": len(document.text),
        "orders": len(found),
        "seconds": cost.seconds,
        "processor": cost.processor,
        "overhead": cost.overhead,
        "before": cost.memory[0],
        "peak": max(cost.memory),
    }


def by_length(lengths: Sequence[int]) -> list[dict[str, Any]]:
    """Return what documents cost, each in a process of its own."""
    return [
        json.loads(subprocess.check_output([sys.executable, "-m", "benchmarks.batches.long", str(length)]))
        for length in lengths
    ]


def table(rows: Sequence[dict[str, Any]]) -> str:
    """Return the table of what documents cost."""
    lines = [
        (
            "| characters | orders, each found once | CPU s | of it the library, s | library, µs a character | "
            "wall clock, s | memory before, MiB | peak, MiB |"
        ),
        "|---" * 8 + "|",
    ]
    lines += [
        f"| {row['characters']:,} | {row['orders']:,} | {row['processor']:.1f} | {row['overhead']:.1f} | "
        f"{row['overhead'] / row['characters'] * 1e6:.1f} | {row['seconds']:.1f} | {row['before']:.0f} | "
        f"{row['peak']:.0f} |"
        for row in rows
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    print(json.dumps(one_length(int(sys.argv[1]))))
