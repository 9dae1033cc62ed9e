"""A very large job by simulation: measured forward passes, documents as they are, actors that start, die and wait.

`python -m benchmarks.simulation` prints the tables of `docs/scaling.md`. It runs some hundred documents of the
end-to-end benchmark through the packaged model, with several batch sizes, and measures the processor's time of each
forward pass. What passes cost by their rows and tokens is fitted to some of the sizes, and tells what documents take
with any of them; beside it stands what they took. Then blocks of such documents go to actors: each starts, works, and
dies now and then, which costs the block that it was at.
"""

import argparse
import heapq
import random
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from benchmarks.documents import KINDS, documents
from structured import Extractor, Result
from structured.models import PACKAGED_MODEL, load_model
from structured.models.lfm2 import PackagedModel

SIZES = (1, 4, 8, 16, 32)

FITTED = (1, 8, 32)
"""The sizes that costs are fitted to; the others show how far they carry."""

ACTORS = (64, 1_000, 4_000)

BLOCKS = (1_000, 100_000)


class Pass(NamedTuple):
    """A forward pass."""

    rows: int
    tokens: int
    seconds: float


class Costs(NamedTuple):
    """What a pass costs, and a document beside its passes, in seconds of a processor."""

    a_pass: float
    a_row: float
    a_token: float
    a_document: float


class Work(NamedTuple):
    """What a document makes a model do."""

    prompt: int
    """The tokens that are read before the first pass of the answer."""
    passes: int
    written: int
    """The tokens of the answer."""


class Job(NamedTuple):
    """A job of many blocks of documents.

    Attributes:
        documents: How many there are.
        block: The documents of a block, which one actor does.
        seconds: What a document takes, on average.
        spread: The standard deviation of that.
        start: The seconds in which an actor starts.
        deaths: How often an actor dies, in an hour.
    """

    documents: int
    block: int
    seconds: float
    spread: float
    start: float
    deaths: float


class Took(NamedTuple):
    """What a job took."""

    hours: float
    """From its start to its end."""
    paid: float
    """That, times the actors."""
    worked: float
    """The share of it that was spent on answers that were kept."""


@contextmanager
def timed(model: PackagedModel) -> Iterator[list[Pass]]:
    """Measure the forward passes of a model."""
    network, passes = model.network, list[Pass]()
    read = network.read

    def measured(cache: Any, token_ids: Sequence[Sequence[int]], window: int = 0) -> Any:
        began = time.process_time()
        logits = read(cache, token_ids, window)
        passes.append(Pass(len(token_ids), sum(map(len, token_ids)), time.process_time() - began))
        return logits

    vars(network)["read"] = measured
    try:
        yield passes
    finally:
        del vars(network)["read"]


class Measured(NamedTuple):
    """What some documents did with a batch size.

    Attributes:
        works: What each of them made the model do.
        passes: The passes.
        seconds: What all of it took of a processor.
    """

    works: list[Work]
    passes: list[Pass]
    seconds: float

    @property
    def beside(self) -> float:
        """The seconds of a document that are in no pass."""
        return (self.seconds - sum(one.seconds for one in self.passes)) / len(self.works)


def fitted(measured: Sequence[Measured]) -> Costs:
    """Return what passes cost, by least squares over all of them, and documents beside them, on average."""
    passes = [one for some in measured for one in some.passes]
    factors = np.array([(1, one.rows, one.tokens) for one in passes], dtype=float)
    found, *_ = np.linalg.lstsq(factors, np.array([one.seconds for one in passes]), rcond=None)
    a_pass, a_row, a_token = map(float, found)
    return Costs(a_pass, a_row, a_token, sum(one.beside for one in measured) / len(measured))


def actor_seconds(works: Sequence[Work], batch_size: int, costs: Costs) -> float:
    """Return what one actor takes for documents, of which so many are in the model at a time.

    A document that is finished makes room for the next, whose prompt is read in the pass in which others go on. Each
    pass reads as many tokens of a document as it has on average.
    """
    waiting = list(reversed(works))
    running: list[list[float]] = []  # the passes that are left, and the tokens of each
    seconds = costs.a_document * len(works)
    while waiting or running:
        joining = [waiting.pop() for _ in range(min(len(waiting), batch_size - len(running)))]
        tokens = sum(one.prompt for one in joining) + sum(each for _, each in running)
        seconds += costs.a_pass + costs.a_row * (len(running) + len(joining)) + costs.a_token * tokens
        running += [[one.passes, one.written / max(1, one.passes - 1)] for one in joining]
        for one in running:
            one[0] -= 1
        running = [one for one in running if one[0] > 0]
    return seconds


def took(job: Job, actors: int, seed: int = 1) -> Took:
    """Return what a job takes over so many actors: whichever is free gets the next block."""
    rng = random.Random(seed)
    blocks = -(-job.documents // job.block)
    mean, spread, rate = job.block * job.seconds, job.block**0.5 * job.spread, job.deaths / 3600
    free = [job.start] * actors
    kept = end = 0.0
    for _ in range(blocks):
        at, seconds = heapq.heappop(free), max(0.0, rng.gauss(mean, spread))
        while rate and (death := rng.expovariate(rate)) < seconds:
            at += death + job.start
        kept += seconds
        end = max(end, at + seconds)
        heapq.heappush(free, at + seconds)
    return Took(end / 3600, actors * end / 3600, kept / (actors * end))


def measure(kind: str, count: int) -> dict[int, Measured]:
    """Return what documents of a kind did, by batch size."""
    model = load_model(str(PACKAGED_MODEL))
    assert isinstance(model, PackagedModel)
    texts = documents(kind, count)
    return {size: _measured(Extractor(KINDS[kind][0], model=model, batch_size=size), model, texts) for size in SIZES}


def _measured(extractor: Extractor[Any], model: PackagedModel, texts: list[str]) -> Measured:
    extractor.batch(texts[:32], progress=False, errors="return")  # warm
    with timed(model) as passes:
        began = time.process_time()
        found = list(extractor.results(texts, progress=False))
        seconds = time.process_time() - began
    works = [_work(one) for one in found if one.error is None]
    # What the prompts share is read once, and tokens that were proposed in vain are read as well.
    extra = (sum(one.tokens for one in passes) - sum(one.prompt + one.written for one in works)) / len(works)
    return Measured([one._replace(prompt=round(one.prompt + extra)) for one in works], passes, seconds)


def _work(one: Result[Any]) -> Work:
    usage = one.usage
    return Work(usage.prompt_tokens, usage.passes, usage.sampled_tokens + usage.forced_tokens)


def main() -> None:
    """Measure, simulate, and print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.simulation", description=__doc__)
    parser.add_argument("--kind", choices=KINDS, default="Invoice", help="the type")
    parser.add_argument("--documents", type=int, default=256, help="those that are measured")
    parser.add_argument("--job", type=int, default=100_000_000, help="those of the job")
    parser.add_argument("--start", type=float, default=10, help="the seconds in which an actor starts")
    parser.add_argument("--deaths", type=float, default=0.01, help="how often an actor dies, in an hour")
    arguments = parser.parse_args()
    measured = measure(arguments.kind, arguments.documents)
    print(f"{sizes_table(measured)}\n")
    costs, works = costs_of(measured), measured[max(measured)].works
    mean, passes = actor_seconds(works, max(measured), costs) / len(works), [one.passes for one in works]
    spread = mean * float(np.std(passes) / np.mean(passes))
    print(jobs_table(Job(arguments.job, 0, mean, spread, arguments.start, arguments.deaths)))


def costs_of(measured: dict[int, Measured]) -> Costs:
    """Return the costs that are fitted to some of the sizes."""
    return fitted([one for size, one in measured.items() if size in FITTED])


def sizes_table(measured: dict[int, Measured]) -> str:
    """Return a table of what documents took, and of what they take by the costs, and the costs."""
    costs = costs_of(measured)
    lines = ["| in the model at once | passes a document | CPU ms a document | simulated |", "|---|---|---|---|"]
    for size, one in measured.items():
        passes, count = sum(work.passes for work in one.works) / len(one.works), len(one.works)
        told = f"{1000 * one.seconds / count:.1f} | {1000 * actor_seconds(one.works, size, costs) / count:.1f}"
        lines.append(f"| {size}{'' if size in FITTED else ', not fitted'} | {passes:.1f} | {told} |")
    named = ", ".join(f"{name.replace('_', ' ')} {1000 * value:.3f} ms" for name, value in costs._asdict().items())
    return "\n".join([*lines, "", named])


def jobs_table(job: Job) -> str:
    """Return a table of what a job takes, by the actors and the documents of a block."""
    lines = [
        "| actors | documents of a block | hours | by the formula | actor hours | worked |",
        "|---|---|---|---|---|---|",
    ]
    for actors in ACTORS:
        for block in BLOCKS:
            found, formula = took(job._replace(block=block), actors), job.documents * job.seconds / 3600 / actors
            figures = f"{found.hours:.2f} | {formula:.2f} | {found.paid:,.0f} | {100 * found.worked:.1f} %"
            lines.append(f"| {actors:,} | {block:,} | {figures} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
