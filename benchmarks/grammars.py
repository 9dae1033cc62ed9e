"""Masks of grammars against those of other engines: `python -m benchmarks.grammars TOKENIZER --python PEERS`.

Each engine runs in a process of its own, on one thread, and reads the same texts twice: the first pass makes the masks,
the second finds them made. JSON is written in the language of each engine. SQL and Python are those that ship, and are
read here alone, since the peers have neither Lark's lookahead in terminals nor its indentation.
"""

import argparse
import gc
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from transformers import AutoTokenizer

ROOT = Path(__file__).parent.parent
ENGINES = {
    "structured": "benchmarks.grammar_engines:Structured",
    "llguidance": "benchmarks.grammar_engines:LLGuidance",
    "xgrammar": "benchmarks.grammar_engines:XGrammar",
}
HEADER = "| engine | first mask | masks p50 | p99 | average | second pass average |\n|---|---|---|---|---|---|"
SQL = [
    "SELECT a.b AS c, count(*) FROM t JOIN u ON t.x = u.y WHERE (a > 3 AND b LIKE 'x') OR c IN (SELECT d FROM e);",
    "SELECT x, sum(y) FROM t GROUP BY x HAVING sum(y) > 3 ORDER BY x DESC LIMIT 3;",
]
PYTHON = ["import os\n\ndef f(x, y=3):\n    for i in range(9):\n        if x > i:\n            return [1, 2.5]\n"]


def main() -> None:
    """Run the engines one after the other, and print a table of each grammar."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tokenizer", help="a folder or hub id of a tokenizer")
    parser.add_argument("--grammars", nargs="+", default=["json"], choices=["json", "sql", "python"])
    parser.add_argument("--engines", nargs="+", default=list(ENGINES), choices=ENGINES)
    parser.add_argument("--python", default=sys.executable, help="the Python that has the peers installed")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        print(json.dumps(measure(arguments.worker, arguments.tokenizer, arguments.grammars[0])))
        return
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "RAYON_NUM_THREADS": "1"}
    for grammar in arguments.grammars:
        print(f"\n{grammar}, ms\n\n{HEADER}")
        for engine in arguments.engines if grammar == "json" else ["structured"]:
            python = sys.executable if engine == "structured" else arguments.python
            command = [python, "-m", "benchmarks.grammars", arguments.tokenizer]
            options = ["--worker", engine, "--grammars", grammar]
            done = subprocess.run([*command, *options], cwd=ROOT, env=environment, capture_output=True, check=True)
            found = json.loads(done.stdout.splitlines()[-1])
            print(f"| {engine} | {' | '.join(f'{1000 * seconds:.3g}' for seconds in found)} |", flush=True)


def measure(engine: str, tokenizer_name: str, grammar: str) -> list[float]:
    """Return the seconds of the first mask, the median, the 99th percentile and the average of both passes."""
    tokenizer = AutoTokenizer.from_pretrained(tokenizer_name)
    module, _, name = ENGINES[engine].partition(":")
    made: Any = getattr(import_module(module), name)(tokenizer)
    made.compile("tiny")
    for _ in read(made, tokenizer.encode("aab", add_special_tokens=False)):
        pass
    gc.collect()
    began = time.perf_counter()
    made.compile(grammar)
    made.reset()
    made.compute_mask()
    first = time.perf_counter() - began
    token_ids = [tokenizer.encode(text, add_special_tokens=False) for text in texts(grammar)]
    passes = [[seconds for ids in token_ids for seconds in read(made, ids)] for _ in range(2)]
    new = np.array(passes[0])
    return [first, *np.quantile(new, (0.5, 0.99)).tolist(), float(new.mean()), float(np.mean(passes[1]))]


def read(engine: Any, token_ids: list[int]) -> Iterator[float]:
    """Yield the seconds of each mask of a text, with the step behind it."""
    engine.reset()
    for token_id in token_ids:
        began = time.perf_counter()
        mask = engine.compute_mask()
        taken = engine.commit(token_id)
        yield time.perf_counter() - began
        if not taken or not int(mask[token_id >> 5]) >> (token_id & 31) & 1:
            raise RuntimeError(f"Token {token_id} is refused.")
    if not engine.can_end():
        raise RuntimeError("The text is refused at its end.")


def texts(grammar: str) -> list[str]:
    """Return the texts of a grammar."""
    if grammar == "json":
        return [json.dumps(value(random.Random(seed), 0), indent=seed % 3 or None) for seed in range(40)]
    return SQL if grammar == "sql" else PYTHON


def value(rng: random.Random, depth: int) -> Any:
    """Return a random JSON value."""
    kind = rng.randrange(6 if depth < 5 else 4)
    if kind == 4 or not depth:
        return {f"key {rng.randrange(50)}": value(rng, depth + 1) for _ in range(rng.randrange(1, 5))}
    if kind == 5:
        return [value(rng, depth + 1) for _ in range(rng.randrange(5))]
    return [rng.randrange(10_000), rng.random(), rng.choice(["a name", 'quoted "so"', "naïve €", ""]), None][kind]


if __name__ == "__main__":
    main()
