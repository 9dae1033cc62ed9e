"""Many short documents: memory over the run, and what the library takes of the processor beside the model."""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

from benchmarks.batches.machine import Cost, measured
from benchmarks.batches.orders import Order, model_for_one, short_documents
from structured import Extractor, read_results
from structured.extraction.result_files import write_results_of

WARM = 1_000
"""Documents before those that are measured."""


def streamed(count: int) -> Cost:
    """Return what it costs to stream the results of so many documents, and to forget them."""
    extractor = Extractor(Order, model=model_for_one())
    with measured() as cost:
        found = sum(not result.error for result in extractor.results(short_documents(count)))
    if found != count:
        raise ValueError(f"{found} of {count} documents have an answer")
    return cost


def written(count: int) -> Cost:
    """Return what it costs to write the results of so many documents to a file."""
    extractor = Extractor(Order, model=model_for_one())
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "orders.jsonl"
        with measured() as cost:
            write_results_of(extractor, short_documents(count), path, progress=False)
        found = sorted(int(result.id) for result in read_results(path, Order) if not result.error)
    if found != [*range(count)]:
        raise ValueError(f"{len(found)} of {count} documents have a record, or not one each")
    return cost


def table(counts: Sequence[int], counts_written: Sequence[int]) -> str:
    """Measure, and return the table."""
    streamed(WARM)
    rows = [("streamed", count, streamed(count)) for count in counts]
    rows += [("written to a file", count, written(count)) for count in counts_written]
    lines = [
        (
            "| | documents | CPU ms a document | the model | its tokenizer | the library | wall clock, ms | "
            "memory, MiB: first tenth | last tenth | least | most |"
        ),
        "|---" * 11 + "|",
    ]
    for name, count, cost in rows:
        memory, tenth = cost.memory, max(len(cost.memory) // 10, 1)
        each = (cost.processor, cost.inference, cost.tokenizing, cost.overhead, cost.seconds)
        figures = " | ".join(f"{one / count * 1e3:.2f}" for one in each)
        sizes = (fmean(memory[:tenth]), fmean(memory[-tenth:]), min(memory), max(memory))
        lines.append(f"| {name} | {count:,} | {figures} | {' | '.join(f'{one:.0f}' for one in sizes)} |")
    return "\n".join(lines)
