"""The command: `python -m benchmarks.fuzz --hours 1`. Random cases of every family, for as long as it may take.

A failure is told with its case: `--case regex:1000017` tries that one again, in this process, and prints all of it.
"""

import argparse
import json
import sys
from pathlib import Path

from benchmarks.fuzz.campaign import Campaign
from benchmarks.fuzz.cases import Case
from benchmarks.fuzz.families import FAMILIES
from benchmarks.fuzz.table import table


def main() -> None:
    """Run a campaign and print its table, or try one case. Ends with 1 if anything is wrong."""
    arguments = _arguments()
    if arguments.case is not None:
        from benchmarks.fuzz.worker import measured

        outcome = measured(arguments.case)
        print(json.dumps(outcome, indent=2, ensure_ascii=False))
        sys.exit(bool(outcome["failures"]))
    campaign = Campaign(arguments.only or tuple(FAMILIES), arguments.seed, arguments.out)
    campaign.run(3600 * arguments.hours, workers=arguments.workers)
    text = table(campaign.sums)
    print(f"\n{text}")
    if arguments.out is not None:
        arguments.out.mkdir(parents=True, exist_ok=True)
        (arguments.out / "table.md").write_text(f"{text}\n", encoding="utf-8")
    sys.exit(any(found.kinds for found in campaign.sums.values()))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fuzz", description=__doc__)
    parser.add_argument("--hours", type=float, default=1.0, help="how long; 0.1 is six minutes")
    parser.add_argument("--seed", type=int, default=0, help="other cases for each")
    parser.add_argument("--only", nargs="+", choices=list(FAMILIES), metavar="FAMILY", help=f"of {', '.join(FAMILIES)}")
    parser.add_argument("--out", type=Path, help="the folder of the failures, as JSON lines, and of the table")
    parser.add_argument("--workers", type=int, default=1, help="processes at a time")
    parser.add_argument("--case", type=_case, metavar="FAMILY:SEED", help="try one case again, and nothing else")
    return parser.parse_args()


def _case(name: str) -> Case:
    try:
        case = Case.read(name)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{name!r} is no FAMILY:SEED") from error
    if case.family not in FAMILIES:
        raise argparse.ArgumentTypeError(f"there is no family {case.family!r}; there are {', '.join(FAMILIES)}")
    return case


if __name__ == "__main__":
    main()
