"""How throughput grows: with the documents that are in the model at once, and with the actors of Ray.

`python -m benchmarks.scaling` prints the tables of `docs/scaling.md`; `batches` or `actors` prints one of them. The
documents are those of the end-to-end benchmark, the same every time; `--repeat` joins that many of them to a longer
one. Each batch size is measured three times and the quickest run counts, since other programs are on the machine.
Needs Linux, and Ray for the actors: `pip install 'structured-extraction[ray]'`.
"""

import argparse
import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.documents import KINDS, documents
from structured import Extractor, load_model
from structured.extraction.events import BatchEnded, BatchStarted, Event
from structured.models import PACKAGED_MODEL

if TYPE_CHECKING:
    from structured.extraction import Options

BATCH_SIZES = (1, 2, 4, 8, 16, 32, 64)

ACTORS = (1, 2)

ROWS = 32
"""Rows that an actor is given at once."""

RUNS = 3


class Plan(NamedTuple):
    """What is measured."""

    model: str
    kind: str
    documents: int
    repeat: int
    cores: float
    batch_size: int = 8

    @property
    def texts(self) -> list[str]:
        """The documents."""
        short = documents(self.kind, self.documents * self.repeat)
        return ["\n".join(short[start : start + self.repeat]) for start in range(0, len(short), self.repeat)]


class Speed(NamedTuple):
    """How quick a run was."""

    seconds: float
    processor: float
    """The processor's seconds."""


def batches(plan: Plan) -> str:
    """Return a table of the throughput of one process, by the documents that are in the model at once."""
    texts, model = plan.texts, load_model(plan.model)
    tokens = sum(len(model.encode(text)) for text in texts) / len(texts)
    lines = ["| in the model at once | documents/s | CPU ms a document |", "|---|---|---|"]
    for size in BATCH_SIZES:
        extractor = Extractor(KINDS[plan.kind][0], model=model, batch_size=size)
        extractor.batch(texts[:size], errors="return", progress=False)  # warm
        speed = min(_speed(extractor, texts) for _ in range(RUNS))
        per_second, each = len(texts) / speed.seconds, 1000 * speed.processor / len(texts)
        lines.append(f"| {size} | {per_second:.2f} | {each:.1f} |")
    return f"{len(texts)} documents of {tokens:.0f} tokens, {model.name}\n\n" + "\n".join(lines)


def _speed(extractor: Extractor[Any], texts: list[str]) -> Speed:
    started, processor = time.perf_counter(), time.process_time()
    extractor.batch(texts, errors="return", progress=False)
    return Speed(time.perf_counter() - started, time.process_time() - processor)


class Answers:
    """An actor, which holds a model and a type, and answers the rows of a dataset."""

    def __init__(self, plan: Plan, folder: Path) -> None:
        options: Options = {"model": plan.model, "batch_size": plan.batch_size, "observe": Diary(folder)}
        self._extractor = Extractor(KINDS[plan.kind][0], **options)

    def __call__(self, rows: dict[str, Any]) -> dict[str, Any]:
        """Return rows with their answers, or the errors, as text."""
        found = self._extractor.batch(rows["text"].tolist(), errors="return", progress=False)
        return {**rows, "answer": [str(one) for one in found]}


class Diary:
    """A listener that writes down, in the actor that it is in, when a batch starts and ends, and what it has cost."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __call__(self, event: Event) -> None:
        """Take an event."""
        if isinstance(event, BatchStarted | BatchEnded):
            done = event.progress.done if isinstance(event, BatchEnded) else 0
            entry = {"at": time.time(), "done": done, "processor": time.process_time(), **_memory()}
            with (self._folder / f"{os.getpid()}.jsonl").open("a") as file:
                print(json.dumps(entry), file=file)


def _memory() -> dict[str, float]:
    """Return the memory of this process in MiB: all of it, and its share of what it has in common with others."""
    told = Path("/proc/self/smaps_rollup").read_text(encoding="utf-8")
    return {name: int(told.split(f"\n{name}:")[1].split()[0]) / 1024 for name in ("Rss", "Pss")}


def actors(plan: Plan) -> str:
    """Return a table of the throughput of a local cluster, by its actors, and of what each of them costs."""
    import ray

    lines = [
        "| actors | s until one is ready | documents/s then | CPU s until then | CPU ms a document | MiB | Pss, MiB |",
        "|---|---|---|---|---|---|---|",
    ]
    for count in ACTORS:
        ray.init(num_cpus=max(ACTORS) + 1, object_store_memory=200e6, include_dashboard=False, log_to_driver=False)
        ray.data.DataContext.get_current().enable_progress_bars = False
        try:
            with TemporaryDirectory() as folder:
                began = _run(plan, count, Path(folder))
                lines.append(_row(count, began, list(_entries(Path(folder)))))
        finally:
            ray.shutdown()
    return "\n".join(lines)


def _run(plan: Plan, count: int, folder: Path) -> float:
    """Run the documents through some actors, and return when that began."""
    import ray.data

    given = ray.data.from_items([{"text": text} for text in plan.texts], override_num_blocks=8 * max(ACTORS))
    began = time.time()
    pool = ray.data.ActorPoolStrategy(size=count)
    given.map_batches(
        Answers, fn_constructor_args=(plan, folder), compute=pool, batch_size=ROWS, num_cpus=plan.cores
    ).materialize()
    return began


def _entries(folder: Path) -> Iterator[list[dict[str, float]]]:
    """Yield what each actor wrote."""
    for path in folder.iterdir():
        yield [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def throughput(diaries: list[list[dict[str, float]]]) -> float:
    """Return the documents per second while all actors work: from when the last began to when the first one ended."""
    start, end = max(one[0]["at"] for one in diaries), min(one[-1]["at"] for one in diaries)
    return sum(entry["done"] for one in diaries for entry in one if start < entry["at"] <= end) / (end - start)


def _row(count: int, began: float, diaries: list[list[dict[str, float]]]) -> str:
    """Return a row of the table."""
    seconds = sum(one[-1]["processor"] - one[0]["processor"] for one in diaries)
    each = 1000 * seconds / sum(entry["done"] for one in diaries for entry in one)
    ready = min(one[0]["at"] for one in diaries) - began

    def mean(name: str, place: int) -> float:
        return sum(one[place][name] for one in diaries) / len(diaries)

    figures = f"{ready:.1f} | {throughput(diaries):.2f} | {mean('processor', 0):.1f} | {each:.1f}"
    told = f"{mean('Rss', -1):.0f} | {mean('Pss', -1):.0f}"
    return f"| {count}{'' if len(diaries) == count else f' ({len(diaries)} worked)'} | {figures} | {told} |"


PARTS: dict[str, Callable[[Plan], str]] = {"batches": batches, "actors": actors}


def main() -> None:
    """Measure some parts, or all, and print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scaling", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="part", help=f"some of: {', '.join(PARTS)}; all by default")
    parser.add_argument("--model", default=str(PACKAGED_MODEL), help="a name, a folder or a file")
    parser.add_argument("--kind", choices=KINDS, default="Invoice", help="the type")
    parser.add_argument("--documents", type=int, default=128)
    parser.add_argument("--repeat", type=int, default=1, help="documents that are joined to one")
    parser.add_argument("--cores", type=float, default=1, help="cores for each actor")
    parser.add_argument("--batch-size", type=int, default=8, help="documents in the model at once, of an actor")
    arguments = parser.parse_args()
    unknown = [part for part in arguments.parts if part not in PARTS]
    if unknown:
        parser.error(f"there is no part {unknown[0]}; the parts are {', '.join(PARTS)}")
    plan = Plan(
        arguments.model, arguments.kind, arguments.documents, arguments.repeat, arguments.cores, arguments.batch_size
    )
    for part in arguments.parts or PARTS:
        print(f"## {part}\n\n{PARTS[part](plan)}\n", flush=True)


if __name__ == "__main__":
    main()
