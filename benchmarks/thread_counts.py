"""Wall and CPU time of passes by threads and size of model, alone and beside another program, on the CPU.

`python -m benchmarks.thread_counts` prints the table by which `SMALL_MODEL` was chosen: models with random weights in
the shapes of well-known ones read a prompt of 200 tokens and then 30 tokens one by one, for one text and for eight. The
last rows are two batches of four texts side by side, with one thread each.
"""

import argparse
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from functools import partial
from statistics import median
from time import perf_counter, process_time
from typing import Any, NamedTuple

from benchmarks.busy import busy
from structured.models.cpu_threads import available_cpus, torch_threads
from structured.models.transformers_model import Network


class Shape(NamedTuple):
    """The shape of a Llama."""

    dtype: str
    layers: int
    hidden: int
    inner: int
    heads: int
    key_heads: int
    tokens: int


SHAPES = {
    "135 M (SmolLM2)": Shape("float32", 30, 576, 1536, 9, 3, 49152),
    "360 M (SmolLM2)": Shape("float32", 32, 960, 2560, 15, 5, 49152),
    "0.5 B (Qwen 2.5)": Shape("bfloat16", 24, 896, 4864, 14, 2, 151936),
    "1.2 B (Llama 3.2)": Shape("bfloat16", 16, 2048, 8192, 32, 8, 128256),
}

PROMPT, NEW = 200, 30
"""Tokens of a prompt and of an answer."""


def network(shape: Shape) -> Network:
    """Return a Llama with random weights, in which embeddings and last layer are tied."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        num_hidden_layers=shape.layers,
        hidden_size=shape.hidden,
        intermediate_size=shape.inner,
        num_attention_heads=shape.heads,
        num_key_value_heads=shape.key_heads,
        vocab_size=shape.tokens,
        tie_word_embeddings=True,
    )
    model: Any = LlamaForCausalLM(config)
    return Network(model.to(getattr(torch, shape.dtype)).eval())


def answer(net: Network, texts: int, threads: int) -> None:
    """Read prompts, and write answers token by token."""
    with torch_threads(threads):
        cache = net.cache(texts)
        net.read(cache, [list(range(PROMPT))] * texts)
        for token_id in range(NEW):
            net.read(cache, [[token_id]] * texts)


def side_by_side(net: Network) -> None:
    """Answer two batches of four texts, each on one thread."""
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(partial(answer, net, 4), (1, 1)))


def kinds_of_work(net: Network, cpus: int) -> Iterator[tuple[str, str, Callable[[], None]]]:
    """Yield the number of texts and of threads, and the work itself."""
    for texts in (1, 8):
        for threads in sorted({1, cpus}):
            yield str(texts), str(threads), partial(answer, net, texts, threads)
    yield "2 × 4", "1 each", partial(side_by_side, net)


def cost(work: Callable[[], object], repeats: int) -> tuple[float, float]:
    """Return the median wall and CPU time of some work."""
    costs = []
    for _ in range(repeats):
        started, cpu = perf_counter(), process_time()
        work()
        costs.append((perf_counter() - started, process_time() - cpu))
    return median(wall for wall, _ in costs), median(cpu for _, cpu in costs)


def main() -> None:
    """Print a row for each model, number of texts and number of threads."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    cpus = available_cpus()
    print("| model | texts | threads | alone: wall, CPU | busy: wall, CPU |\n|---|---|---|---|---|")
    for name, shape in SHAPES.items():
        for texts, threads, run in kinds_of_work(network(shape), cpus):
            run()
            cells = []
            for place in (nullcontext(), busy(max(cpus // 2, 1))):
                with place:
                    cells.append("{:.2f}, {:.2f}".format(*cost(run, options.repeats)))
            print(f"| {name}, {shape.dtype} | {texts} | {threads} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
