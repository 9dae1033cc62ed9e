"""Batches that other processes make, so that making them costs the training nothing but a share of the cores."""

import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from multiprocessing.process import BaseProcess
from queue import Empty

from training.examples import Batch

QUEUED = 64
"""Batches that wait for the training at most."""

PATIENCE = 5
"""Seconds without a batch after which the processes are looked at."""

Made = Callable[[int], Iterator[Batch]]
"""Returns the batches of samples whose seed is that of the run plus a number."""


def prefetched(made: Made, workers: int, offset: int) -> Iterator[Batch]:
    """Yield batches made by some processes, each of other samples; with no process, make them here.

    A process makes some 150,000 tokens a second for the packaged model; a GPU takes more. `made` is pickled. With
    another `offset` the samples are others: a run that goes on takes that of the steps it has taken.

    Raises RuntimeError once a process has ended, and no batch of it is left.
    """
    if not workers:
        yield from made(offset)
        return
    context = multiprocessing.get_context("spawn")
    queue: multiprocessing.Queue[Batch] = context.Queue(maxsize=QUEUED)
    processes = [
        context.Process(target=_fill, args=(queue, partial(made, 1_000 * number + offset)), daemon=True)
        for number in range(workers)
    ]
    for process in processes:
        process.start()
    try:
        while True:
            yield _received(queue, processes)
    finally:
        for process in processes:
            process.terminate()


def _received(queue: "multiprocessing.Queue[Batch]", processes: Sequence[BaseProcess]) -> Batch:
    while True:
        try:
            return queue.get(timeout=PATIENCE)
        except Empty:
            ended = [process.exitcode for process in processes if not process.is_alive()]
            if ended:
                raise RuntimeError(f"A process that makes samples has ended, with {ended[0]}; see above.") from None


def _fill(queue: "multiprocessing.Queue[Batch]", made: Callable[[], Iterator[Batch]]) -> None:
    for batch in made():
        queue.put(batch)
