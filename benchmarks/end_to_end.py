"""Whole answers, with the model, against unguided generation and other engines: `python -m benchmarks.end_to_end`.

The same model, prompts, types and greedy draws for each engine, in turns, in a process of its own for each. Two models
serve: that of the package, which answers sensibly, and a larger one with the shape of Llama and random weights. The
peers are installed from `benchmarks/requirements.txt` into an environment of their own; `--python` names its Python.
"""

import argparse
import json
import statistics
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.documents import INSTRUCTION, KINDS, documents
from benchmarks.end_to_end_worker import CLOCKS, OURS, PEERS, UNGUIDED
from benchmarks.flat_cost import flat_cost
from benchmarks.maskbench import Worker
from structured.extraction.prompts import completion_prompt
from structured.models import PACKAGED_MODEL
from structured.output_types.resolve import resolve_type

PLAIN = f"{OURS}, nothing forced"
ENGINES = (UNGUIDED, OURS, PLAIN, *PEERS)
TABLES = ("rates", "many", "shared", "flat")
SHARED = "+instruction"
"""Marks the kind of those prompts that begin with the long instruction."""

Record = dict[str, Any]


def main() -> None:
    """Measure, and print the tables."""
    arguments = _arguments()
    say = _Printer(arguments.out)
    if set(arguments.only) != {"flat"}:
        for name in ("demo", "llama") if arguments.model == "both" else (arguments.model,):
            with tempfile.TemporaryDirectory() as temporary:
                measure(name, Path(temporary), arguments, say)
    if "flat" in arguments.only:
        for vocabulary in (str(PACKAGED_MODEL), *([arguments.tokenizer] if arguments.tokenizer else [])):
            say(f"## Flat cost, the vocabulary of {Path(vocabulary).name}\n\n{flat_cost(vocabulary)}")


def measure(name: str, temporary: Path, arguments: argparse.Namespace, say: Callable[[str], None]) -> None:
    """Print the tables of one model."""
    folder = PACKAGED_MODEL if name == "demo" else temporary / "llama"
    if name == "demo":
        say("## The packaged model")
    else:
        say(f"## Llama's shape, random weights\n\n{make_llama(folder, arguments)}")
    tasks = temporary / "tasks.json"
    tasks.write_text(json.dumps(prompts(folder, arguments)))
    with _bench(folder, tasks, arguments) as bench:
        say(f"### Until the first token may be drawn\n\n{bench.compile_table()}")
        if "rates" in arguments.only:
            runs = {}
            for size in arguments.batches:
                runs[size] = bench.rates(size)
                say(f"### Batches of {size}\n\n{rates_table(runs[size])}")
            say(f"### Guiding, as a share of the time\n\n{shares_table(runs)}")
            say(f"### Characters against unguided generation\n\n{characters_table(runs)}")
        if "many" in arguments.only:
            say(f"### {arguments.many} documents, against outlines\n\n{bench.many()}")
        if "shared" in arguments.only:
            say(f"### An instruction of {arguments.instruction} tokens that 64 documents share\n\n{bench.shared()}")
        for engine, reason in bench.broken.items():
            say(f"{engine} does not run: {reason}")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", choices=["demo", "llama", "both"], default="demo")
    parser.add_argument("--tokenizer", help="the folder of Llama 3's tokenizer")
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=list(ENGINES))
    parser.add_argument("--python", default=sys.executable, help="the Python that has the peers installed")
    parser.add_argument("--batches", nargs="+", type=int, default=[1, 8, 32])
    parser.add_argument("--documents", type=int, default=32, help="of all types together, in each round")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS), help="the types")
    parser.add_argument("--many", type=int, default=256, help="documents of the table against outlines")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--max-tokens", type=int, default=256)
    parser.add_argument("--instruction", type=int, default=500, help="tokens of the instruction that is shared")
    parser.add_argument("--only", nargs="+", choices=TABLES, default=list(TABLES))
    parser.add_argument("--out", type=Path, help="write the tables to this file too")
    parser.add_argument("--seconds", type=float, default=900.0, help="limit for one request to an engine")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--clock", choices=CLOCKS, default="wall", help="processor: of this process alone, one thread")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--hidden-size", type=int, default=512)
    parser.add_argument("--intermediate-size", type=int, default=1536)
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--heads", type=int, default=8)
    arguments = parser.parse_args()
    if arguments.model != "demo" and not arguments.tokenizer:
        parser.error("The model with Llama's shape needs --tokenizer, the folder of its tokenizer.")
    return arguments


class _Printer:
    """Prints sections, and writes them to a file as soon as they are there."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        if path:
            path.write_text("")

    def __call__(self, section: str) -> None:
        print(section, end="\n\n", flush=True)
        if self.path:
            with self.path.open("a") as file:
                file.write(f"{section}\n\n")


def make_llama(folder: Path, arguments: argparse.Namespace) -> str:
    """Save a model with random weights and its tokenizer to a folder, and say how large it is."""
    import torch
    from transformers import AutoTokenizer, LlamaConfig, LlamaForCausalLM

    tokenizer = AutoTokenizer.from_pretrained(arguments.tokenizer)
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=arguments.hidden_size,
        intermediate_size=arguments.intermediate_size,
        num_hidden_layers=arguments.layers,
        num_attention_heads=arguments.heads,
        num_key_value_heads=max(arguments.heads // 2, 1),
        max_position_embeddings=8192,
        tie_word_embeddings=True,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    model: Any = LlamaForCausalLM(config).to(getattr(torch, arguments.dtype))
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    embeddings = model.get_input_embeddings().weight.numel()
    others = sum(weights.numel() for weights in model.parameters()) - embeddings
    return (
        f"{others / 1e6:.0f} M parameters and {embeddings / 1e6:.0f} M of {len(tokenizer)} tied embeddings, "
        f"{arguments.dtype}, {arguments.device}."
    )


def prompts(folder: Path, arguments: argparse.Namespace) -> dict[str, list[list[int]]]:
    """Return the prompts of each kind, as the library makes them, as token ids."""
    from transformers import AutoTokenizer

    tokenizer: Any = AutoTokenizer.from_pretrained(folder)
    count = -(
        -max(arguments.documents, arguments.many, max(arguments.batches) * len(arguments.kinds), 64)
        // len(arguments.kinds)
    )
    instruction = INSTRUCTION
    while len(tokenizer(instruction)["input_ids"]) < arguments.instruction:
        instruction += INSTRUCTION
    instruction = tokenizer.decode(tokenizer(instruction)["input_ids"][: arguments.instruction])
    made: dict[str, list[list[int]]] = {}
    for kind, (output_type, _) in KINDS.items():
        description = resolve_type(output_type).describe()
        texts = documents(kind, count)
        made[kind] = tokenizer([completion_prompt(description, text) for text in texts])["input_ids"]
        long = [completion_prompt(description, text, instructions=instruction) for text in texts]
        made[kind + SHARED] = tokenizer(long)["input_ids"]
    return made


@dataclass(slots=True)
class Summary:
    """What an engine did, one sum over the types for each round."""

    rounds: list[Record] = field(default_factory=list)

    def median(self, over: str, under: str) -> float:
        """Return the median of a ratio."""
        return float(statistics.median(record[over] / record[under] for record in self.rounds))

    def faster(self, other: "Summary", amount: str) -> float:
        """Return how many times as much of something it made in a second as another engine did in the same round."""
        pairs = zip(self.rounds, other.rounds, strict=True)
        ratios = ((mine[amount] / mine["seconds"]) / (theirs[amount] / theirs["seconds"]) for mine, theirs in pairs)
        return float(statistics.median(ratios))


@dataclass(slots=True)
class Bench:
    """The engines at work on one model."""

    workers: dict[str, Worker]
    arguments: argparse.Namespace
    broken: dict[str, str] = field(default_factory=dict)
    compiled: dict[str, dict[str, float]] = field(default_factory=lambda: defaultdict(dict))

    def start(self) -> None:
        """Make all types ready in all engines, and let each write two short answers."""
        for name in list(self.workers):
            for kind in self.arguments.kinds:
                answer = self._ask(name, {"compile": kind})
                if answer:
                    self.compiled[name][kind] = answer["seconds"]
                    warm_up = {"write": kind, "count": 2, "batch": 2, "max_tokens": 64, "lengths": [4, 4]}
                    self._ask(name, warm_up)

    def engines(self, *wanted: str) -> list[str]:
        """Return those that run."""
        chosen = [engine for engine in wanted or ENGINES if engine in self.arguments.engines]
        return [engine for engine in chosen if _worker_of(engine) not in self.broken]

    def rates(self, batch: int, count: int | None = None, *engines: str) -> dict[str, Summary]:
        """Let engines write answers to some documents, in turns, and sum up what each did."""
        for_each = (
            count // len(self.arguments.kinds)
            if count
            else max(self.arguments.documents // len(self.arguments.kinds), batch)
        )
        found: dict[str, Summary] = defaultdict(Summary)
        lengths = {
            kind: self._write(OURS, kind, batch, for_each)["lengths"]
            for kind in (self.arguments.kinds if UNGUIDED in self.engines(*engines) else ())
        }
        for _ in range(self.arguments.rounds):
            sums: dict[str, Record] = defaultdict(lambda: defaultdict(float))
            for kind in self.arguments.kinds:
                for engine in self.engines(*engines):
                    answer = self._write(engine, kind, batch, for_each, lengths=lengths.get(kind))
                    for key, value in answer.items():
                        if isinstance(value, int | float):
                            sums[engine][key] += value
                    sums[engine]["tokens"] += sum(answer.get("lengths", ()))
            for engine in self.engines(*engines):
                found[engine].rounds.append(sums[engine])
        running = {engine: found[engine] for engine in self.engines(*engines)}
        if UNGUIDED in running and OURS in running:  # it is taken to have written the same answers
            for mine, theirs in zip(running[OURS].rounds, running[UNGUIDED].rounds, strict=True):
                theirs["characters"], theirs["valid"] = mine["characters"], 0
        return running

    def many(self) -> str:
        """Return the table of many documents."""
        batch = max(self.arguments.batches)
        runs = self.rates(batch, self.arguments.many, OURS, PLAIN, "outlines")
        lines = ["| engine | documents/s | characters/s | valid | against outlines | aim |", "|---" * 6 + "|"]
        for engine, summary in runs.items():
            shown = f"{summary.median('documents', 'seconds'):.2f} | {summary.median('characters', 'seconds'):.0f}"
            ratio = f"{summary.faster(runs['outlines'], 'documents'):.2f} ×" if "outlines" in runs else "not measured"
            aim = "≥ 4 ×" if engine == OURS else ""
            lines.append(f"| {engine} | {shown} | {_percent(summary.median('valid', 'documents'))} | {ratio} | {aim} |")
        return "\n".join(lines)

    def shared(self) -> str:
        """Return the table of prompts that begin alike."""
        count, batch = 64 // len(self.arguments.kinds), max(self.arguments.batches)
        times: dict[bool, list[float]] = {True: [], False: []}
        for _ in range(self.arguments.rounds):
            for share, seconds in times.items():
                answers = [  # each type on its own
                    self._ask(OURS, {**self._request(kind + SHARED, batch, count), "share": share, "force": True})
                    for kind in self.arguments.kinds
                ]
                seconds.append(sum(answer["seconds"] for answer in answers))
        ratio = statistics.median(without / shared for shared, without in zip(times[True], times[False], strict=True))
        row = (
            f"| {64 / statistics.median(times[False]):.2f} | {64 / statistics.median(times[True]):.2f} | {ratio:.2f} × "
            "| ≥ 2 × |"
        )
        head = "| documents/s, read for each | documents/s, read once | ratio | aim |"
        return "\n".join([head, "|---" * 4 + "|", row])

    def compile_table(self) -> str:
        """Return how long each engine takes over each type."""
        lines = [
            f"| engine | {', s | '.join(self.arguments.kinds)}, s |",
            "|---" * (len(self.arguments.kinds) + 1) + "|",
        ]
        for name, seconds in self.compiled.items():
            if name != UNGUIDED and name not in self.broken:
                lines.append(f"| {name} | {' | '.join(f'{seconds[kind]:.3f}' for kind in self.arguments.kinds)} |")
        return "\n".join(lines)

    def _write(self, engine: str, kind: str, batch: int, count: int, **more: Any) -> Record:
        return self._ask(_worker_of(engine), {**self._request(kind, batch, count), "force": engine != PLAIN, **more})

    def _request(self, kind: str, batch: int, count: int) -> Record:
        return {"write": kind, "batch": batch, "count": count, "max_tokens": self.arguments.max_tokens}

    def _ask(self, name: str, request: Record) -> Record:
        """Return a worker's answer; an engine that fails is left out from then on."""
        if name in self.broken:
            return {}
        answer = self.workers[name].ask(json.dumps(request), self.arguments.seconds)
        if "seconds" in answer:
            return answer
        slow = f"it took more than {self.arguments.seconds:.0f} s" if "timeout" in answer else "its process ended"
        self.broken[name] = answer.get("error", slow)
        return {}


@contextmanager
def _bench(folder: Path, tasks: Path, arguments: argparse.Namespace) -> Iterator[Bench]:
    bench = Bench({}, arguments)
    try:
        for name in dict.fromkeys([OURS, *map(_worker_of, arguments.engines)]):
            bench.workers[name] = Worker(
                [
                    *(arguments.python if name in PEERS else sys.executable, "-m", "benchmarks.end_to_end_worker"),
                    *(name, str(folder.resolve()), str(tasks)),
                    *("--device", arguments.device, "--threads", str(arguments.threads), "--clock", arguments.clock),
                ]
            )
        bench.start()
        yield bench
    finally:
        for worker in bench.workers.values():
            worker.stop()


def _worker_of(engine: str) -> str:
    return OURS if engine == PLAIN else engine


def rates_table(runs: dict[str, Summary]) -> str:
    """Return what each engine did in batches of one size."""
    heads = ["engine", "documents/s", "characters/s", "passes a document", "outside the pass", "guiding"]
    heads += ["tokens", "characters", "valid", "against unguided"]
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for engine, summary in runs.items():
        cells = [
            f"{summary.median('documents', 'seconds'):.2f}",
            f"{summary.median('characters', 'seconds'):.0f}",
            f"{summary.median('passes', 'documents'):.0f}",
            _percent(1 - summary.median("model", "seconds")),
            _percent(summary.median("guiding", "seconds")) if engine != UNGUIDED else "",
            f"{summary.median('tokens', 'documents'):.0f}",
            f"{summary.median('characters', 'documents'):.0f}",
            _percent(summary.median("valid", "documents")) if engine != UNGUIDED else "",
            f"{summary.faster(runs[UNGUIDED], 'characters'):.2f} ×" if UNGUIDED in runs else "",
        ]
        lines.append(f"| {engine} | {' | '.join(cells)} |")
    return "\n".join(lines)


def shares_table(runs: dict[int, dict[str, Summary]]) -> str:
    """Return what guiding takes of a step: masks and draws for us, the logits processor for the peers."""
    lines = ["| batch | engine | µs for each sampled token | share of the time | aim |", "|---" * 5 + "|"]
    for batch, summaries in runs.items():
        for engine, summary in summaries.items():
            if engine != UNGUIDED:
                aim = {1: "≤ 1 %", 32: "≤ 5 %"}.get(batch, "") if engine.startswith(OURS) else ""
                shown = f"{summary.median('guiding', 'sampled') * 1e6:.0f}"
                lines.append(
                    f"| {batch} | {engine} | {shown} | {_percent(summary.median('guiding', 'seconds'))} | {aim} |"
                )
    return "\n".join(lines)


def characters_table(runs: dict[int, dict[str, Summary]]) -> str:
    """Return our characters a second as multiples of those of unguided generation."""
    lines = ["| batch | characters/s | unguided | ratio | aim |", "|---" * 5 + "|"]
    for batch, summaries in runs.items():
        if OURS in summaries and UNGUIDED in summaries:
            ours, unguided = summaries[OURS], summaries[UNGUIDED]
            rates = [f"{summary.median('characters', 'seconds'):.0f}" for summary in (ours, unguided)]
            lines.append(f"| {batch} | {' | '.join(rates)} | {ours.faster(unguided, 'characters'):.2f} × | ≥ 1.5 × |")
    return "\n".join(lines)


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


if __name__ == "__main__":
    main()
