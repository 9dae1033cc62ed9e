"""Whether a device does what the host does: the tests marked `gpu`, and greedy texts."""

import itertools
import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.documents import KINDS, is_valid
from benchmarks.gpu.machine import MAX_TOKENS, Setting, attempted, prompts
from benchmarks.gpu.results import FAILED, ROOT, Row
from structured.decoding.generate import compile_type, generate
from structured.decoding.requests import Generation, Request
from structured.decoding.sampling import Sampler
from structured.index.guide import Guide
from structured.models import PACKAGED_MODEL, load_model
from structured.models.checkpoints import fetched_path
from structured.models.transformers_model import HuggingFaceModel
from structured.output_types.resolve import resolve_type

HOST = torch.device("cpu")


def tests(setting: Setting) -> Iterator[Row]:
    """Run the tests that are marked `gpu`, file by file; where there is no GPU, the quick ones of them."""
    chosen = "gpu" if setting.device.type == "cuda" else "gpu and not thorough"
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        if "pytest.mark.gpu" in path.read_text(encoding="utf-8"):
            name = path.relative_to(ROOT).as_posix()
            yield from attempted(setting, name, partial(_tests, name, chosen))


def _tests(name: str, chosen: str) -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", chosen]
        done = subprocess.run(
            [*command, f"--junitxml={report}", name],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        if not report.is_file():
            raise RuntimeError(f"pytest ended with {done.returncode}: {(done.stdout + done.stderr)[-400:]}")
        cases = list(ET.parse(report).getroot().iter("testcase"))  # noqa: S314  pytest wrote it
    outcomes: Counter[str] = Counter()
    for case in cases:
        bad = [child for child in case if child.tag in {"failure", "error"}]
        outcomes["fail" if bad else "skip" if case.find("skipped") is not None else "pass"] += 1
        for child in bad:
            words = " ".join((child.get("message") or "").split())[:300]
            yield {FAILED: f"{case.get('classname')}::{case.get('name')}: {words}"}
    seconds = sum(float(case.get("time") or 0.0) for case in cases)
    yield {"tests in": name} | {key: outcomes[key] for key in ("pass", "fail", "skip")} | {"seconds": seconds}


@dataclass(frozen=True, slots=True)
class Texts:
    """Greedy answers of one model to the same documents, written in different ways."""

    kinds: Sequence[str]
    count: int
    """Documents of each kind."""
    max_tokens: int = MAX_TOKENS

    def written(self, model: HuggingFaceModel, batch_size: int) -> list[Generation]:
        """Return the answers, those of all kinds in the same batches."""
        requests = []
        for kind in self.kinds:
            index = compile_type(resolve_type(KINDS[kind][0]), model.vocabulary)
            requests += [
                Request(prompt, Guide(index, max_tokens=self.max_tokens), np.random.default_rng(0), 0)
                for prompt in prompts(model, kind, self.count)
            ]
        return generate(model, requests, Sampler(), batch_size=batch_size)

    def compared(self, model: HuggingFaceModel, reference: list[Generation], way: str, batch_size: int) -> Row:
        """Return how answers that are written in another way compare with those of a reference."""
        found = self.written(model, batch_size)
        kinds = [kind for kind in self.kinds for _ in range(self.count)]
        pairs = list(zip(found, reference, strict=True))
        alike = sum(
            sum(
                1
                for _ in itertools.takewhile(
                    lambda both: both[0] == both[1], zip(one.token_ids, other.token_ids, strict=False)
                )
            )
            for one, other in pairs
        )
        return {
            "model": f"{model.name}, {str(model.model.dtype).removeprefix('torch.')}",
            "compared": way,
            "documents": len(found),
            "valid": sum(is_valid(kind, one.text) for kind, one in zip(kinds, found, strict=True)),
            "equal": sum(one.text == other.text for one, other in pairs),
            "tokens alike from the start, %": 100 * alike / sum(len(other.token_ids) for _, other in pairs),
        }


def texts(setting: Setting) -> Iterator[Row]:
    """Compare greedy texts: of the device with those of the host, and in batches with alone."""
    batch = max(size for size in setting.batches if size <= 8)
    yield from attempted(setting, "the packaged model", partial(_packaged, setting, batch))
    yield from attempted(setting, "SmolLM2", partial(_smollm2, setting, batch))
    first, *_ = setting.shapes
    yield from attempted(setting, f"{first} against the host", partial(_llama_on_host, setting, first))
    for shape in setting.shapes:
        yield from attempted(setting, shape, partial(_llama, setting, shape, batch))


def _on_device(setting: Setting, host: HuggingFaceModel, ways: Texts, batch: int) -> Iterator[Row]:
    """Yield how the device compares with the host, alone and in batches."""
    reference = ways.written(host, batch)
    device = setting.sampling_there(setting.copied(host, setting.device))
    for size in (1, batch):
        yield ways.compared(device, reference, f"host; device, batches of {size}", size)


def _packaged(setting: Setting, batch: int) -> Iterator[Row]:
    host: Any = load_model(PACKAGED_MODEL, device_map={"": "cpu"})
    yield from _on_device(setting, host, Texts(tuple(KINDS), 2 if setting.small else 8, 256), batch)


def _smollm2(setting: Setting, batch: int) -> Iterator[Row]:
    path = Path(os.environ.get("STRUCTURED_REAL_MODEL") or fetched_path("smollm2"))
    if not path.is_file():
        raise FileNotFoundError(f"there is no {path}: run `structured fetch smollm2`")
    if find_spec("gguf") is None:
        raise ModuleNotFoundError("transformers reads GGUF files with the package gguf, which is not installed")
    host: Any = load_model(path, device_map={"": "cpu"}, dtype="float32")
    host.name = "SmolLM2-135M-Instruct"
    yield from _on_device(setting, host, Texts(setting.kinds, 1 if setting.small else 4), batch)


def _llama_on_host(setting: Setting, shape: str) -> Iterator[Row]:
    ways = Texts(("Person",), 2, 48)
    device = setting.llama(shape, torch.float32)
    reference = ways.written(setting.copied(device, HOST), 2)
    yield ways.compared(device, reference, "host; device, batches of 2", 2)


def _llama(setting: Setting, shape: str, batch: int) -> Iterator[Row]:
    ways = Texts(setting.kinds, batch)
    plain = setting.llama(shape, torch.bfloat16)
    reference = ways.written(plain, batch)
    yield ways.compared(plain, reference, f"device, batches of {batch}; the same again", batch)
    yield ways.compared(plain, reference, f"device, batches of {batch}; alone", 1)
