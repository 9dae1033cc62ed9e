"""One part in a process of its own: `python -m benchmarks.gpu.worker PART`, one line of JSON for each row."""

import argparse
import json
import os
from importlib import import_module
from pathlib import Path

from benchmarks.gpu.results import FAILED

PARTS = {
    "tests": "checks",
    "texts": "checks",
    "masks": "timings",
    "passes": "timings",
    "throughput": "answers",
    "peers": "answers",
}
"""The module that has the function of each part."""


def main() -> None:
    """Run the part. An error is a row as well; those that were before it stay."""
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--tokenizer", type=Path, required=True)
    parser.add_argument("--small", action="store_true")
    arguments = parser.parse_args()
    try:
        from benchmarks.gpu.machine import Setting

        run = getattr(import_module(f"benchmarks.gpu.{PARTS[arguments.part]}"), arguments.part)
        for row in run(Setting.found(arguments.tokenizer, small=arguments.small)):
            print(json.dumps(row, ensure_ascii=False), flush=True)
    except Exception as error:
        print(json.dumps({FAILED: f"{type(error).__name__}: {' '.join(str(error).split())}"[:500]}), flush=True)
        raise


if __name__ == "__main__":
    main()
