"""One engine over some schemas, in a process of its own: `python -m benchmarks.maskbench_worker ENGINE ZIP TOKENIZER`.

Names of schema files come in on standard input, one a line; for each, one line of JSON goes out, in that order.
"""

import argparse
import gc
import json
import resource
import sys
import time
import zipfile
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from transformers import AutoTokenizer

ENGINES = {
    "structured": "benchmarks.maskbench_engine:Engine",
    "structured-in-order": "benchmarks.maskbench_engine:OrderedEngine",
    "llguidance": "benchmarks.peers:LLGuidance",
    "xgrammar": "benchmarks.peers:XGrammar",
    "outlines-core": "benchmarks.peers:OutlinesCore",
    "lm-format-enforcer": "benchmarks.peers:LMFormatEnforcer",
}


def main() -> None:
    """Measure what is asked for, until nothing more is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("engine", choices=ENGINES)
    parser.add_argument("zip")
    parser.add_argument("tokenizer")
    arguments = parser.parse_args()
    tokenizer = AutoTokenizer.from_pretrained(arguments.tokenizer)
    module, _, name = ENGINES[arguments.engine].partition(":")
    engine = getattr(import_module(module), name)(tokenizer)
    measure(engine, tokenizer, {"schema": WARM_UP, "tests": [{"data": {"a": "b"}, "valid": True}]})
    gc.collect()
    gc.freeze()  # what lives as long as the process is not looked through before each schema
    print(json.dumps({"ready": True}), flush=True)
    with zipfile.ZipFile(arguments.zip) as archive:
        for line in sys.stdin:
            record = measure(engine, tokenizer, json.loads(archive.read(line.strip())))
            record["peak"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
            print(json.dumps(record), flush=True)


WARM_UP = {
    "type": "object",
    "properties": {"a": {"type": "string"}},
    "required": ["a"],
    "additionalProperties": False,
}
"""Compiled once before anything is measured, so that no engine pays for its first call."""


class Stopwatch:
    """Measures time without what other processes took of the machine, and without what measuring takes.

    The clock on the wall runs on while others have the processor; that of the process takes microseconds to read. The
    lesser of both is neither.
    """

    __slots__ = ("_processor", "_wall")

    def __init__(self) -> None:
        self._processor = time.process_time()
        self._wall = time.perf_counter()

    def seconds(self) -> float:
        """Return the seconds since it was made."""
        wall = time.perf_counter() - self._wall
        return min(wall, time.process_time() - self._processor)


def measure(engine: Any, tokenizer: Any, case: Mapping[str, Any]) -> dict[str, Any]:
    """Compile a schema and read its tests twice; return the times in seconds, and which tests went wrong."""
    texts = [json.dumps(test["data"], ensure_ascii=False) for test in case["tests"]]
    token_ids = [tokenizer.encode(text, add_special_tokens=False) for text in texts]
    gc.collect()
    watch = Stopwatch()
    try:
        engine.compile(case["schema"])
        engine.compute_mask()
    except Exception as error:  # noqa: BLE001  engines refuse in ways of their own
        return {"refused": f"{type(error).__name__}: {error}"[:200]}
    record: dict[str, Any] = {"first_mask": watch.seconds(), "passes": []}
    for _ in range(2):
        times: list[float] = []
        accepted = [read(engine, ids, times) for ids in token_ids]
        record["passes"].append(times)
    judged = list(zip(case["tests"], accepted, strict=True))
    record["accepted_invalid"] = sum(ok and not test["valid"] for test, ok in judged)
    record["rejected_valid"] = sum(test["valid"] and not ok for test, ok in judged)
    return record


def read(engine: Any, token_ids: Sequence[int], times: list[float]) -> bool:
    """Feed a text to an engine token by token, timing each mask and the step after it; tell whether it is accepted."""
    engine.reset()
    for token_id in token_ids:
        watch = Stopwatch()
        mask = engine.compute_mask()
        taken = engine.commit(token_id)
        times.append(watch.seconds())
        allowed = bool(int(mask[token_id >> 5]) >> (token_id & 31) & 1)
        if allowed != taken:
            raise RuntimeError(f"The mask and the step disagree on token {token_id}.")
        if not taken:
            return False
    return bool(engine.can_end())


if __name__ == "__main__":
    main()
