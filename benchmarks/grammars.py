"""Masks of grammars against those of other engines: `python -m benchmarks.grammars TOKENIZER --python PEERS`.

Each engine runs in a process of its own, on one thread, and reads the same texts of JSON, SQL and Python twice: the
first pass makes the masks, the second finds them made. Before that it has read another grammar. The times are CPU time,
which a busy machine changes less; the averages are shown in wall time as well. `peer_grammars.py` says in what the
grammars of the peers differ from those that ship.
"""

import argparse
import gc
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from transformers import AutoTokenizer

from benchmarks.grammar_texts import texts

ROOT = Path(__file__).parent.parent
ENGINES = {
    "structured": "benchmarks.grammar_engines:Structured",
    "llguidance": "benchmarks.grammar_engines:LLGuidance",
    "xgrammar": "benchmarks.grammar_engines:XGrammar",
}
GRAMMARS = ("json", "sql", "python")
HEADER = """
| engine | first mask | masks p50 | p99 | average | average, wall | second pass p50 | average |
|---|---|---|---|---|---|---|---|"""


class Moment(NamedTuple):
    """The seconds of two clocks: of the CPU, and on the wall."""

    cpu: float
    wall: float


def main() -> None:
    """Run the engines one after the other, and print a table of each grammar, with the ratios to each peer."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tokenizer", help="a folder or hub id of a tokenizer")
    parser.add_argument("--grammars", nargs="+", default=GRAMMARS, choices=GRAMMARS)
    parser.add_argument("--engines", nargs="+", default=list(ENGINES), choices=ENGINES)
    parser.add_argument("--python", default=sys.executable, help="the Python that has the peers installed")
    parser.add_argument("--seconds", type=int, default=300, help="after which an engine is given up on a grammar")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        print(json.dumps(measure(arguments.worker, arguments.tokenizer, arguments.grammars[0])))
        return
    for grammar in arguments.grammars:
        print(f"\n{grammar}, ms of CPU time\n{HEADER}")
        rows: dict[str, list[float]] = {}
        for engine in arguments.engines:
            python = sys.executable if engine == "structured" else arguments.python
            try:
                rows[engine] = measured_elsewhere(python, engine, arguments.tokenizer, grammar, arguments.seconds)
            except subprocess.TimeoutExpired:
                print(f"| {engine} | had not read the texts after {arguments.seconds} s |", flush=True)
                continue
            print(f"| {engine} | {' | '.join(f'{1000 * seconds:.3g}' for seconds in rows[engine])} |", flush=True)
        own = rows.pop("structured", None)
        for peer, row in rows.items() if own else ():
            ratios = np.array(own) / row
            print(f"| structured / {peer} | {' | '.join(f'{ratio:.2g} ×' for ratio in ratios)} |", flush=True)


def measured_elsewhere(python: str, engine: str, tokenizer: str, grammar: str, seconds: int) -> list[float]:
    """Return what `measure` finds in a process of its own. Raises RuntimeError with what it says where it fails.

    Raises TimeoutExpired where it has not ended after some seconds.
    """
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "RAYON_NUM_THREADS": "1"}
    command = [python, "-m", "benchmarks.grammars", tokenizer, "--worker", engine, "--grammars", grammar]
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=seconds
    )
    if done.returncode:
        raise RuntimeError(f"{engine} failed to read {grammar}:\n{done.stderr}")
    found: list[float] = json.loads(done.stdout.splitlines()[-1])
    return found


def measure(engine: str, tokenizer_name: str, grammar: str) -> list[float]:
    """Return the seconds of the first mask; the median, the 99th percentile, the average and that by the wall's clock.

    Behind these come the median and the average of the second pass.
    """
    tokenizer = AutoTokenizer.from_pretrained(tokenizer_name)
    module, _, name = ENGINES[engine].partition(":")
    made: Any = getattr(import_module(module), name)(tokenizer)
    made.compile("tiny")
    for _ in read(made, tokenizer.encode("aab", add_special_tokens=False)):
        pass
    gc.collect()
    began = now()
    made.compile(grammar)
    made.reset()
    made.compute_mask()
    first = since(began)
    token_ids = [tokenizer.encode(text, add_special_tokens=False) for text in texts(grammar)]
    new, known = (np.array([moment for ids in token_ids for moment in read(made, ids)]) for _ in range(2))
    return [
        first.cpu,
        *np.quantile(new[:, 0], (0.5, 0.99)).tolist(),
        *new.mean(axis=0).tolist(),
        float(np.median(known[:, 0])),
        float(known[:, 0].mean()),
    ]


def read(engine: Any, token_ids: list[int]) -> Iterator[Moment]:
    """Yield the seconds of each mask of a text, with the step behind it."""
    engine.reset()
    for token_id in token_ids:
        began = now()
        mask = engine.compute_mask()
        taken = engine.commit(token_id)
        yield since(began)
        if not taken or not int(mask[token_id >> 5]) >> (token_id & 31) & 1:
            raise RuntimeError(f"Token {token_id} is refused.")
    if not engine.can_end():
        raise RuntimeError("The text is refused at its end.")


def now() -> Moment:
    """Return the time of both clocks."""
    return Moment(time.process_time(), time.perf_counter())


def since(began: Moment) -> Moment:
    """Return the seconds that have passed on both clocks."""
    return Moment(time.process_time() - began.cpu, time.perf_counter() - began.wall)


if __name__ == "__main__":
    main()
