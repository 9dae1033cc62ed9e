"""CPU and wall time of small work, alone and beside another program: `python -m benchmarks.busy`.

The other program computes without end on half of the CPUs. Each kind of work is one new process, which runs once before
it is measured, so that the caches are filled. The ratios are those of the same run; a busy loop takes its share of the
machine from wall time, and nothing from CPU time unless threads of the work wait for each other in loops of their own.
"""

import argparse
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import NamedTuple

from structured.models.checkpoints import fetched_path
from structured.models.cpu_threads import available_cpus

ROOT = Path(__file__).parents[1]

INVOICE = """
from datetime import date
from typing import Literal
from pydantic import BaseModel
from structured import extract

class Invoice(BaseModel):
    number: str
    vendor: str
    total: float
    currency: Literal["EUR", "USD"]
    due: date | None

extract(Invoice, "Invoice 4411 from Acme Tools: one drill. Total: 89.90 EUR. Due 2 May 2024.", model="packaged")
"""

MAILS = """
from pydantic import BaseModel
from structured import extract

class Order(BaseModel):
    customer: str
    item: str
    quantity: int

for text in (
    "Hi, this is Tom Reed. Please send two boxes of nails to the workshop.",
    "Dear shop, we need fourteen litres of white paint by Friday. Ana Brandt, Leeds",
    "Good morning, could I get one garden hose, the longer one? Thanks, Priya Nair",
):
    extract(Order, text, model="smollm2-extract")
"""

MODEL = "from structured import load_model; load_model('smollm2-extract')"

WORK = {
    "the README's invoice": ["-c", INVOICE],
    "`structured demo`": ["-m", "structured", "demo"],
    "loading `smollm2-extract`": ["-c", MODEL],
    "loading it, and three mails": ["-c", MAILS],
}
"""What is measured: the arguments of Python."""


class Cost(NamedTuple):
    """Seconds of a process."""

    cpu: float
    wall: float


@contextmanager
def busy(count: int) -> Iterator[None]:
    """Keep that many CPUs busy with other programs."""
    programs = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for program in programs:
            program.kill()
            program.wait()


def measure(arguments: list[str], source: Path) -> Cost:
    """Run Python with some arguments over the library of a checkout, and return what it cost."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), perf_counter()
    environment = {**os.environ, "PYTHONPATH": str(source)}
    command = [sys.executable, *arguments]
    subprocess.run(command, check=True, env=environment, cwd=source, stdout=subprocess.DEVNULL)
    wall, after = perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    return Cost(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall)


def typical(arguments: list[str], source: Path, repeats: int) -> Cost:
    """Return the median cost of several runs."""
    costs = [measure(arguments, source) for _ in range(repeats)]
    return Cost(median(cost.cpu for cost in costs), median(cost.wall for cost in costs))


def main() -> None:
    """Print a row for each kind of work."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", type=int, default=max(available_cpus() // 2, 1), help="busy programs beside it")
    parser.add_argument("--repeats", type=int, default=3, help="runs of which the median is printed")
    parser.add_argument("--source", type=Path, default=ROOT, help="the checkout to measure, such as an earlier commit")
    options = parser.parse_args()
    print(f"{available_cpus()} CPUs, {options.programs} of them busy; seconds of CPU and wall time, medians\n")
    print("| | alone | busy | CPU × | wall × |\n|---|---|---|---|---|")
    for name, arguments in WORK.items():
        if "smollm2-extract" in arguments[-1] and not fetched_path("smollm2-extract").is_file():
            print(f"| {name} | run `structured fetch smollm2` first | | | |")
            continue
        measure(arguments, options.source)
        alone = typical(arguments, options.source, options.repeats)
        with busy(options.programs):
            beside = typical(arguments, options.source, options.repeats)
        ratios = f"{beside.cpu / alone.cpu:.1f} | {beside.wall / alone.wall:.1f}"
        costs = (f"{cost.cpu:.1f}, {cost.wall:.1f}" for cost in (alone, beside))
        print(f"| {name} | {' | '.join(costs)} | {ratios} |", flush=True)


if __name__ == "__main__":
    main()
