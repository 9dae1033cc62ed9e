"""What a run costs: the memory of the process while it lasts, and the processor's time apart from that of the model."""

import gc
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from structured.models.scripted import ScriptedBatch, ScriptedModel

PAUSE = 0.1
"""Seconds between two samples of the memory."""

MEBIBYTE = 1 << 20


class Cost:
    """What a run cost.

    Attributes:
        seconds: Wall clock.
        processor: The processor's seconds, of all threads.
        inference: Those of them inside the model.
        tokenizing: Those of them inside its tokenizer.
        memory: MiB of the process, sampled while the run lasted.
    """

    def __init__(self) -> None:
        self.seconds = self.processor = self.inference = self.tokenizing = 0.0
        self.memory: list[float] = []

    @property
    def overhead(self) -> float:
        """The processor's seconds that are neither the model's nor its tokenizer's."""
        return self.processor - self.inference - self.tokenizing


def resident() -> float:
    """Return the memory that the process has now, in MiB. Needs Linux."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


@contextmanager
def measured() -> Iterator[Cost]:
    """Measure what is run inside, with any `ScriptedModel`. The clocks of threads cost time too, which is left out."""
    cost, clocks, is_over = Cost(), _Clocks(), threading.Event()

    def sample() -> None:
        while not is_over.is_set():
            cost.memory.append(resident())
            is_over.wait(PAUSE)

    gc.collect()
    watch = threading.Thread(target=sample, daemon=True)
    with clocks.installed():
        started, wall = time.process_time(), time.perf_counter()
        watch.start()
        try:
            yield cost
        finally:
            cost.seconds, cost.processor = time.perf_counter() - wall, time.process_time() - started
            is_over.set()
            watch.join()
    cost.inference, cost.tokenizing = clocks.inference, clocks.tokenizing
    cost.processor -= clocks.calls * clocks.price


class _Clocks:
    """Clocks around a model's methods, each of its own thread."""

    def __init__(self) -> None:
        self.inference = self.tokenizing = 0.0
        self.calls = 0
        started = time.process_time()
        for _ in range(1_000):
            time.thread_time()
        self.price = (time.process_time() - started) / 1_000
        """What one look at the clock costs; of two, one is measured with the method."""

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Put a clock on each method while this lasts."""
        methods: list[tuple[type, str]] = [(ScriptedModel, "encode"), (ScriptedModel, "prefill")]
        methods += [(ScriptedBatch, name) for name in ("forward", "select", "join", "finish")]
        before = [(owner, name, getattr(owner, name)) for owner, name in methods]
        for owner, name, method in before:
            setattr(owner, name, self._clocked(method, is_tokenizer=name == "encode"))
        try:
            yield
        finally:
            for owner, name, method in before:
                setattr(owner, name, method)

    def _clocked(self, method: Callable[..., Any], *, is_tokenizer: bool) -> Callable[..., Any]:
        def clocked(*arguments: Any, **named: Any) -> Any:
            started = time.thread_time()
            try:
                return method(*arguments, **named)
            finally:
                seconds = time.thread_time() - started
                self.calls += 1
                if is_tokenizer:
                    self.tokenizing += seconds
                else:
                    self.inference += seconds

        return clocked
