"""One engine and one model in a process of its own: `python -m benchmarks.end_to_end_worker ENGINE MODEL TASKS`.

Requests come in on standard input, one line of JSON each; for each, one line of JSON goes out. `{"compile": kind}`
makes a type ready. `{"write": kind, "count": …, "batch": …}` writes answers to the first prompts of that kind, and
tells how long that took, how much of it in the model, and what came out. An error is an answer too.
"""

import argparse
import gc
import itertools
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import wraps
from importlib import import_module
from pathlib import Path
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

import torch

from benchmarks.documents import KINDS, is_valid, json_schema

if TYPE_CHECKING:
    from structured.models.transformers_model import HuggingFaceModel

UNGUIDED, OURS = "unguided", "structured"
PEERS = {
    "outlines": "benchmarks.logits_processors:Outlines",
    "llguidance": "benchmarks.logits_processors:LLGuidance",
    "xgrammar": "benchmarks.logits_processors:XGrammar",
    "lm-format-enforcer": "benchmarks.logits_processors:LMFormatEnforcer",
    "lm-format-enforcer, alone": "benchmarks.logits_processors:LMFormatEnforcerAlone",
}

P = ParamSpec("P")
T = TypeVar("T")
Request = dict[str, Any]


Clock = Callable[[], float]
CLOCKS: dict[str, Clock] = {"wall": perf_counter, "processor": process_time}
"""What tells the time. That of the processor does not count what other processes take; it is for a single thread."""


class Stopwatch:
    """Adds up how long some calls take. One that is not running only counts them, and waits for nothing."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.seconds = 0.0
        self.calls = 0
        self.is_running = True

    def on(self, function: Callable[P, T]) -> Callable[P, T]:
        """Return the function, timed; a GPU is waited for, unless it is recording."""

        @wraps(function)
        def timed(*args: P.args, **kwargs: P.kwargs) -> T:
            self.calls += 1
            if not self.is_running:
                return function(*args, **kwargs)
            started = self.clock()
            result = function(*args, **kwargs)
            if torch.cuda.is_available() and not torch.cuda.is_current_stream_capturing():
                torch.cuda.synchronize()
            self.seconds += self.clock() - started
            return result

        return timed


@dataclass(frozen=True, slots=True)
class Written:
    """Answers to some prompts: their texts and tokens, and the passes that each of them took part in."""

    texts: list[str]
    lengths: list[int]
    passes: list[int]
    sampled: int
    guiding: float
    """Seconds spent on masks and draws; of the peers, in the logits processor."""


class Ours:
    """This library."""

    def __init__(self, model: "HuggingFaceModel", clock: Clock) -> None:
        from structured.decoding.generate import compile_type
        from structured.output_types.resolve import resolve_type

        self.model = cast("Any", model)
        self.clock = clock
        self.forward, self.passes = Stopwatch(clock), Stopwatch(clock)
        self.model.model.forward = self.forward.on(self.model.model.forward)
        self.model.prefill = self.passes.on(self._prefilling(self.model.prefill))
        self._indexes: dict[str, Any] = {}
        compile_type(resolve_type(bool), self.model.vocabulary).mask(0)  # which lays out the vocabulary

    def compile(self, kind: str) -> None:
        """Make a type ready, up to its first mask."""
        from structured.decoding.generate import compile_type
        from structured.output_types.resolve import resolve_type

        index = compile_type(resolve_type(KINDS[kind][0]), self.model.vocabulary)
        index.mask(index.automaton.start)
        self._indexes[kind] = index

    def write(self, prompts: Sequence[Sequence[int]], request: Request) -> Written:
        """Write answers, with the loop of the library; texts that are finished make room for others."""
        import numpy as np

        from structured.decoding.generate import generate
        from structured.decoding.requests import Request as Wanted
        from structured.decoding.sampling import Sampler
        from structured.index.guide import Guide

        self.model.network.prefixes.clear()  # what prompts share is computed in the time that is measured
        shared = count_shared(prompts) if request.get("share", True) else 0
        index, generator = self._indexes[kind_of(request)], np.random.default_rng(0)
        wanted = [
            Wanted(prompt, Guide(index, max_tokens=request["max_tokens"]), generator, shared) for prompt in prompts
        ]
        started, before = self.clock(), self.passes.seconds
        done = generate(
            self.model, wanted, Sampler(), batch_size=request["batch"], jump_forward=bool(request.get("force", True))
        )
        guiding = self.clock() - started - (self.passes.seconds - before)
        return Written(
            [generation.text for generation in done],
            [len(generation.token_ids) for generation in done],
            [generation.diagnostics.passes for generation in done],
            sum(generation.diagnostics.sampled for generation in done),
            guiding,
        )

    def _prefilling(self, prefill: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*args: Any, **options: Any) -> Any:
            batch, logits = prefill(*args, **options)
            for name in ("forward", "select", "join"):
                setattr(batch, name, self.passes.on(getattr(batch, name)))
            return batch, logits

        return timed


class Generate:
    """The `generate` of transformers, with the processor of a peer or without any."""

    def __init__(self, model: Any, tokenizer: Any, clock: Clock, engine: str) -> None:
        self.model, self.tokenizer = model, tokenizer
        self.clock = clock
        self.forward, self._processing = Stopwatch(clock), Stopwatch(clock)
        ends = self.model.generation_config.eos_token_id
        self._ends = {ends} if isinstance(ends, int) else set(ends)
        self.engine: Any = None
        if engine in PEERS:
            module, _, name = PEERS[engine].partition(":")
            self.engine = getattr(import_module(module), name)(self.model, self.tokenizer)
        self.model.forward = self.forward.on(self.model.forward)
        self._compiled: dict[str, Any] = {}

    def compile(self, kind: str) -> None:
        """Make a type ready."""
        self._compiled[kind] = self.engine.compile(json_schema(kind)) if self.engine else None

    def write(self, prompts: Sequence[Sequence[int]], request: Request) -> Written:
        """Write answers, batch after batch. Without a guide, of the lengths that the request tells."""
        make, before = self._compiled[request["write"]], self._processing.seconds
        rows: list[list[int]] = []
        passes: list[int] = []
        for start in range(0, len(prompts), request["batch"]):
            batch, calls = prompts[start : start + request["batch"]], self.forward.calls
            if make:
                rows += [self._cut(row) for row in self._generate(batch, request["max_tokens"], make())]
            else:
                lengths = request["lengths"][start : start + len(batch)]
                written = self._generate(batch, max(lengths), None)
                rows += [row[:length] for row, length in zip(written, lengths, strict=True)]
            passes += [self.forward.calls - calls] * len(batch)
        lengths = [len(row) for row in rows]
        sampled = sum(lengths) + (len(rows) if make else 0)  # the end tokens
        return Written(self.tokenizer.batch_decode(rows), lengths, passes, sampled, self._processing.seconds - before)

    def _generate(self, prompts: Sequence[Sequence[int]], max_tokens: int, processor: Any) -> list[list[int]]:
        width = max(map(len, prompts))
        rows = [[0] * (width - len(prompt)) + list(prompt) for prompt in prompts]
        seen = [[0] * (width - len(prompt)) + [1] * len(prompt) for prompt in prompts]
        if processor is None:
            self.model.generation_config.eos_token_id = None  # goes on to the end
        with torch.inference_mode():
            output = self.model.generate(
                torch.tensor(rows, device=self.model.device),
                attention_mask=torch.tensor(seen, device=self.model.device),
                max_new_tokens=max_tokens,
                do_sample=False,
                pad_token_id=min(self._ends),
                logits_processor=[self._processing.on(processor.__call__)] if processor else None,
            )
        written: list[list[int]] = output[:, width:].tolist()
        return written

    def _cut(self, token_ids: Sequence[int]) -> list[int]:
        """Return what is in front of the first end token."""
        return list(itertools.takewhile(lambda token_id: token_id not in self._ends, token_ids))


def load(folder: str, device: str, clock: Clock, engine: str) -> Ours | Generate:
    """Return an engine with the model of a folder."""
    if engine == OURS:
        from structured.models import load_model

        return Ours(cast("HuggingFaceModel", load_model(folder, device_map={"": device})), clock)
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model = cast("Any", AutoModelForCausalLM.from_pretrained(folder, dtype="auto")).to(device)
    return Generate(model, AutoTokenizer.from_pretrained(folder), clock, engine)


def answers(lines: Iterator[str], engine: Ours | Generate, tasks: dict[str, list[list[int]]]) -> Iterator[Request]:
    """Yield an answer to each request."""
    for line in lines:
        request = json.loads(line)
        gc.collect()
        started, model = engine.clock(), engine.forward.seconds
        try:
            if "compile" in request:
                engine.compile(request["compile"])
                yield {"seconds": engine.clock() - started}
            else:
                written = engine.write(tasks[request["write"]][: request["count"]], request)
                seconds = engine.clock() - started
                yield {**record(written, kind_of(request)), "seconds": seconds, "model": engine.forward.seconds - model}
        except Exception as error:  # noqa: BLE001  engines fail in ways of their own
            yield failure(error)


def failure(error: Exception) -> Request:
    """Return what there is to tell about an error."""
    causes = [error, *([error.__context__] if error.__context__ else [])]
    return {"error": " ← ".join(f"{type(cause).__name__}: {' '.join(str(cause).split())}"[:200] for cause in causes)}


def kind_of(request: Request) -> str:
    """Return the kind of the documents; prompts that begin with an instruction are marked behind it."""
    kind, _, _ = str(request["write"]).partition("+")
    return kind


def count_shared(prompts: Sequence[Sequence[int]]) -> int:
    """Return how many tokens all prompts begin with, and 0 for a single one."""
    columns = zip(*prompts, strict=False)
    return sum(1 for _ in itertools.takewhile(lambda column: len(set(column)) == 1, columns)) if prompts[1:] else 0


def record(written: Written, kind: str) -> Request:
    """Return what there is to tell about some answers."""
    return {
        "documents": len(written.texts),
        "characters": sum(map(len, written.texts)),
        "valid": sum(is_valid(kind, text) for text in written.texts),
        "lengths": written.lengths,
        "passes": sum(written.passes),
        "sampled": written.sampled,
        "guiding": written.guiding,
        "texts": written.texts,
    }


def main() -> None:
    """Answer requests until no more come."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("engine", choices=[UNGUIDED, OURS, *PEERS])
    parser.add_argument("model", help="a folder")
    parser.add_argument("tasks", type=Path, help="a file of JSON: the prompts of each kind, as token ids")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--clock", choices=CLOCKS, default="wall")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    tasks = json.loads(arguments.tasks.read_text())
    try:
        engine = load(arguments.model, arguments.device, CLOCKS[arguments.clock], arguments.engine)
    except Exception as error:  # noqa: BLE001  as above
        reason = failure(error)
        replies: Iterator[Request] = (reason for _ in sys.stdin)
    else:
        replies = answers(sys.stdin, engine, tasks)
    print(json.dumps({"ready": True}), flush=True)
    for reply in replies:
        print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main()
