"""How much is written in a second: by this library in batches of all sizes, and by others with the same prompts."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial

import torch

from benchmarks.end_to_end_worker import CLOCKS, OURS, UNGUIDED, Generate, Ours, Stopwatch, record
from benchmarks.gpu.machine import MAX_TOKENS, Setting, attempted, prompts
from benchmarks.gpu.results import Row
from structured.models.transformers_model import HuggingFaceModel

CLOCK = CLOCKS["wall"]

CHOSEN = ("llguidance", "xgrammar", "outlines")
"""The peers of which the processors run with this version of transformers."""


def throughput(setting: Setting) -> Iterator[Row]:
    """Write answers in batches of all sizes, at full speed, and once more with each pass timed."""
    for shape in setting.shapes:
        yield from attempted(setting, shape, partial(_throughput, setting, shape))


def _throughput(setting: Setting, shape: str) -> Iterator[Row]:
    model = setting.llama(shape, torch.bfloat16)
    run = Run(setting, model, Ours(model, CLOCK))
    for size in setting.batches:
        run.written(size)  # the same as is timed, so that each width of a pass has been met
        yield {"model": shape, "batch": size} | run.rates(size) | run.shares(size)
        setting.release()


def peers(setting: Setting) -> Iterator[Row]:
    """Write the same answers with this library, unguided, and with other engines in the `generate` of transformers."""
    *_, shape = setting.shapes
    model = setting.llama(shape, torch.bfloat16)
    ends = model.model.generation_config.eos_token_id
    engines: dict[str, Callable[[], Ours | Generate]] = {
        OURS: lambda: Ours(model, CLOCK),
        **{name: partial(Generate, model.model, model.tokenizer, CLOCK, name) for name in (UNGUIDED, *CHOSEN)},
    }
    runs: dict[str, Run] = {}
    lengths: dict[str, list[int]] = {}
    for size in [size for size in setting.batches if size <= 64]:
        for name in list(engines):
            model.model.generation_config.eos_token_id = ends  # unguided generation takes it away

            def row(name: str = name, size: int = size) -> Iterator[Row]:
                if name not in runs:
                    runs[name] = Run(setting, model, engines[name](), lengths)
                runs[name].written(size)  # the same as is timed, so that each width of a pass has been met
                found = runs[name].rates(size)
                if name == UNGUIDED:
                    del found["valid, %"], found["characters/s"]  # it writes whatever it likes
                yield {"engine": name, "batch": size} | found

            rows = list(attempted(setting, name, row))
            if not all("engine" in one for one in rows):
                del engines[name]
            yield from rows


@dataclass(slots=True)
class Run:
    """One engine that writes answers in batches."""

    setting: Setting
    model: HuggingFaceModel
    """The model whose prompts they are."""
    engine: Ours | Generate
    lengths: dict[str, list[int]] = field(default_factory=dict)
    """For unguided generation, how many tokens each answer is to have; this library tells it."""

    def __post_init__(self) -> None:
        for kind in self.setting.kinds:
            self.engine.compile(kind)
        self._timed(is_timed=False)

    def written(self, size: int, count: int = 0) -> dict[str, float]:
        """Write answers in batches of a size, to some documents of each kind, and sum up what there is to tell."""
        count = count or max(2 if self.setting.small else 4, size)
        sums: dict[str, float] = Counter()  # type: ignore[assignment]  # one of floats
        for kind in self.setting.kinds:
            request = {"write": kind, "batch": size, "max_tokens": MAX_TOKENS, "lengths": self.lengths.get(kind)}
            asked = prompts(self.model, kind, count)
            model, started = self.engine.forward.seconds, CLOCK()
            written = self.engine.write(asked, request)
            self.setting.wait()
            sums["seconds"] += CLOCK() - started
            sums["model"] += self.engine.forward.seconds - model
            told = record(written, kind)
            sums["tokens"] += sum(told["lengths"])
            for key in ("documents", "characters", "valid", "passes", "sampled", "guiding"):
                sums[key] += told[key]
            if isinstance(self.engine, Ours):
                self.lengths[kind] = told["lengths"]
        return sums

    def rates(self, size: int) -> Row:
        """Return what is written in a second, at full speed."""
        sums = self.written(size)
        return {
            "documents/s": sums["documents"] / sums["seconds"],
            "tokens/s": sums["tokens"] / sums["seconds"],
            "characters/s": sums["characters"] / sums["seconds"],
            "tokens a document": sums["tokens"] / sums["documents"],
            "passes a document": sums["passes"] / sums["documents"],
            "valid, %": 100 * sums["valid"] / sums["documents"],
        }

    def shares(self, size: int) -> Row:
        """Return what part of the time is not the model's, the device waited for after each pass."""
        self._timed(is_timed=True)
        sums = self.written(size)
        self._timed(is_timed=False)
        return {
            "outside the pass, %": 100 * (1 - sums["model"] / sums["seconds"]),
            "guiding, µs a sampled token": 1e6 * sums["guiding"] / sums["sampled"],
        }

    def _timed(self, *, is_timed: bool) -> None:
        for watch in vars(self.engine).values():
            if isinstance(watch, Stopwatch):
                watch.is_running = is_timed
