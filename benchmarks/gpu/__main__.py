"""The command: `python -m benchmarks.gpu`. Ten minutes at most on one GPU; what is there already is not run again.

Without a GPU everything runs on the CPU, as far as it can, with small shapes: that shows only that the command works.
Peers are optional: `--python` names a Python that has them, installed from `benchmarks/requirements.txt`.
"""

import argparse
import signal
import sys
from pathlib import Path

from benchmarks.gpu.results import ROOT, Plan, Result
from benchmarks.gpu.tables import report

WEIGHTS = {"tests": 3.0, "texts": 2.0, "masks": 1.0, "passes": 1.0, "throughput": 3.0, "peers": 3.0}
"""The parts, in their order, and what share of the time each may take."""


def main() -> None:
    """Run the parts, keep their results and print the tables."""
    arguments = _arguments()
    parts = [part for part in WEIGHTS if part in arguments.parts]
    if not arguments.table:
        from benchmarks.gpu.machine import Setting

        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the process of a part is ended as well
        setting = Setting.found(arguments.tokenizer, small=arguments.small)
        options = ["--tokenizer", str(arguments.tokenizer), *(["--small"] if arguments.small else [])]
        commands = {
            part: [
                arguments.python if part == "peers" else sys.executable,
                *("-m", "benchmarks.gpu.worker", part, *options),
            ]
            for part in parts
        }
        plan = Plan(arguments.out, setting.machine, setting.small, commands, WEIGHTS, again=arguments.again)
        plan.run(arguments.limit or (300.0 if setting.small else 600.0))
    kept = [Result.read(arguments.out, part) for part in parts]
    text = report(result for result in kept if result is not None)
    print(text)
    if not arguments.table:
        (arguments.out / "table.md").write_text(f"{text}\n", encoding="utf-8")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu", description=__doc__)
    parser.add_argument("--parts", type=_parts, default=list(WEIGHTS), help=f"some of {','.join(WEIGHTS)}")
    parser.add_argument("--out", type=Path, default=Path("gpu-results"), help="the folder of the results")
    parser.add_argument("--again", action="store_true", help="run parts of which there are results, too")
    parser.add_argument(
        "--limit", type=float, metavar="SECONDS", help="for all parts together; default: 600, and 300 without a GPU"
    )
    parser.add_argument("--table", action="store_true", help="print the tables of what is there, and run nothing")
    parser.add_argument("--small", action="store_true", help="small shapes on a GPU, too")
    parser.add_argument("--python", default=sys.executable, help="the Python that has the peers installed")
    parser.add_argument(
        "--tokenizer",
        type=Path,
        default=ROOT.parent / "shared" / "tokenizers" / "llama3",
        help="the folder of Llama 3's tokenizer",
    )
    return parser.parse_args()


def _parts(text: str) -> list[str]:
    """Return the parts of a list with commas."""
    chosen = text.split(",")
    unknown = sorted(set(chosen) - set(WEIGHTS))
    if unknown:
        raise argparse.ArgumentTypeError(f"there is no part {', '.join(unknown)}; there are {', '.join(WEIGHTS)}")
    return chosen


if __name__ == "__main__":
    main()
