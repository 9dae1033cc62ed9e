"""How long a step takes on a device: masks and sampling, and forward passes."""

import itertools
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import torch

from benchmarks.documents import KINDS
from benchmarks.gpu.machine import Setting, attempted
from benchmarks.gpu.results import FAILED, SKIPPED, Row
from structured.decoding.device_masks import DeviceMasks, apply_masks, draw
from structured.decoding.generate import compile_type
from structured.decoding.sampling import Sampler
from structured.index.guide import Guide
from structured.index.masks import Mask, MaskTable, unpack
from structured.models.transformers_model import HuggingFaceModel
from structured.output_types.resolve import resolve_type
from structured.vocabulary import Vocabulary


def masks(setting: Setting) -> Iterator[Row]:
    """Time the copying of masks to the device, their use there, and sampling; and compare with the host."""
    from transformers import AutoTokenizer

    if not setting.tokenizer.is_dir():
        yield {SKIPPED: f"there is no tokenizer of Llama 3 in {setting.tokenizer}: name its folder"}
        return
    tokenizer: Any = AutoTokenizer.from_pretrained(setting.tokenizer)
    vocabulary = Vocabulary.from_transformers(tokenizer)
    table, met = walked(vocabulary, 64 if setting.small else 512)
    DeviceMasks(table, setting.device).rows()  # the device is made ready
    for size in setting.batches:
        yield from attempted(setting, f"batches of {size}", partial(_masked, setting, table, met, size))


def walked(vocabulary: Vocabulary, count: int) -> tuple[MaskTable, list[Mask]]:
    """Return masks that random texts of all types meet, and the table that they are rows of, as far as they are."""
    rng = np.random.default_rng(0)
    met: list[Mask] = []
    while True:
        for output_type, _ in KINDS.values():
            index = compile_type(resolve_type(output_type), vocabulary)
            guide = Guide(index, max_tokens=256)
            while not guide.finished:
                met.append(guide.mask())
                guide.advance(int(rng.choice(np.flatnonzero(unpack(met[-1], vocabulary.size)))))
        if len(met) >= count:
            return index.table, met


def _masked(setting: Setting, table: MaskTable, met: list[Mask], size: int) -> Iterator[Row]:
    rng = np.random.default_rng(size)
    chosen = [met[place] for place in rng.integers(0, len(met), size)]
    width = 32 * table.rows.shape[1]
    scores = torch.from_numpy(rng.normal(scale=3.0, size=(size, width)).astype(np.float32)).to(torch.bfloat16)
    there, device_masks = scores.to(setting.device), DeviceMasks.of(table, setting.device)
    greedy, sampling = Sampler(), Sampler(temperature=0.8, top_p=0.9)

    def drawn(logits: torch.Tensor, sampler: Sampler) -> list[int]:
        return [one.token_id for one in draw(logits, chosen, table, _generators(size), sampler)]

    def agreement(sampler: Sampler) -> float:
        rows = scores.float().numpy()
        on_host = [
            sampler.choose(row, mask, generator).token_id
            for row, mask, generator in zip(rows, chosen, _generators(size), strict=True)
        ]
        return 100 * float(np.mean(np.array(drawn(there, sampler)) == np.array(on_host)))

    gathered = device_masks.gather(chosen)
    row: Row = {
        "batch": size,
        "rows in the table": len(table),
        "copy all rows, ms": 1e3 * setting.seconds(lambda: DeviceMasks(table, setting.device).rows()),
        "gather": 1e3 * setting.median(lambda: device_masks.gather(chosen)),
        "apply": 1e3 * setting.median(lambda: apply_masks(there, gathered)),
        "greedy, all": 1e3 * setting.median(lambda: drawn(there, greedy)),
        "sampled, top_p, all": 1e3 * setting.median(lambda: drawn(there, sampling)),
        "masks equal": torch.equal(gathered.cpu(), torch.from_numpy(np.stack(chosen))),
        "greedy equal, %": agreement(greedy),
        "sampled equal, %": agreement(sampling),
    }
    if not row["masks equal"] or row["greedy equal, %"] < 100:
        yield {FAILED: f"batches of {size}: the device and the host differ"}
    yield row


def _generators(size: int) -> list[np.random.Generator]:
    return [np.random.default_rng([7, row]) for row in range(size)]


def passes(setting: Setting) -> Iterator[Row]:
    """Time passes of a few tokens, as many for each text."""
    for shape in setting.shapes:
        yield from attempted(setting, shape, partial(_passes, setting, shape))


def _passes(setting: Setting, shape: str) -> Iterator[Row]:
    model = setting.llama(shape, torch.bfloat16)
    for size, columns in itertools.product(setting.batches, (1, 8)):
        milliseconds = _pass(setting, model, size, columns)
        yield {"model": shape, "batch": size, "new tokens of each": columns, "ms a pass": milliseconds}
        setting.release()


def _pass(setting: Setting, model: HuggingFaceModel, size: int, columns: int) -> float:
    """Return the median milliseconds of a pass."""
    prompt = [5 + place % 200 for place in range(64 if setting.small else 140)]
    batch, _ = model.prefill([prompt] * size)
    new = [[9 + place for place in range(columns)]] * size
    times = [setting.seconds(lambda: batch.forward(new)) for _ in range(6 if setting.small else 14)]
    return 1e3 * float(np.median(times[3:]))
