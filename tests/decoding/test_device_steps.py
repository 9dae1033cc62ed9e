"""What a GPU would wait for: the uploads, read-backs and kernels of a step, counted on the device `meta`.

That device has shapes and no numbers, so the same code runs up to its read-back, and the test says what is read. A
tensor on the wrong device is an error there, too.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
import torch
from doubles import ByteTokenizer
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from structured.automata import RegularAutomaton
from structured.decoding import scheduler
from structured.decoding.generate import generate
from structured.decoding.requests import Generation, Request
from structured.decoding.sampling import Sampler
from structured.index.guide import Guide
from structured.index.index import Index
from structured.index.masks import Mask, MaskTable, unpack
from structured.models import DecodingBatch, LanguageModel, checked_calls
from structured.regex import chars, concat, literal, repeat
from structured.vocabulary import Vocabulary

META = torch.device("meta")

TOKENIZER = ByteTokenizer()

READ_BACKS = {
    getattr(torch.Tensor, name)
    for name in ("tolist", "item", "cpu", "numpy", "__bool__", "__int__", "__float__", "__index__", "nonzero")
}
"""What waits for the device."""

UPLOADS = {torch.ops.aten._to_copy.default, torch.ops.aten.copy_.default}

SMALL = 4096
"""Bytes of a small upload: far less than the masks of a batch."""


class MetaModel(LanguageModel):
    """A model whose logits are on a device without numbers."""

    name = "a model on meta"

    def __init__(self, *, width: int, can_roll_back: bool) -> None:
        self.vocabulary = Vocabulary.from_tokenizer(TOKENIZER)
        self.width, self.can_roll_back = width, can_roll_back

    def prefill(
        self,
        prompts: Sequence[Sequence[int]],
        *,
        shared: int = 0,  # noqa: ARG002  nothing is kept
        window: int = 0,
    ) -> tuple[DecodingBatch, Any]:
        batch = MetaBatch(self, len(prompts))
        return batch, batch.logits(window)


class MetaBatch(DecodingBatch):
    """The texts of such a model: as many rows as there are."""

    is_ragged = can_join = True

    def __init__(self, model: MetaModel, rows: int) -> None:
        self.model, self.rows = model, rows

    def logits(self, window: int) -> Any:
        shape = (self.rows, window + 1, self.model.width) if window else (self.rows, self.model.width)
        with torch.utils._python_dispatch._disable_current_modes():  # the pass is the model's
            return torch.empty(shape, dtype=torch.float16, device=META)

    def forward(self, token_ids: Sequence[Sequence[int]], *, window: int = 0) -> Any:
        assert len(token_ids) == self.rows
        return self.logits(window)

    def select(self, rows: Sequence[int]) -> None:
        self.rows = len(rows)

    def join(self, other: "MetaBatch") -> None:  # type: ignore[override]  the batches of a model are of one class
        self.rows += other.rows

    def rollback(self, counts: Sequence[int]) -> None:
        assert len(counts) == self.rows


@dataclass
class Step:
    """What one call that samples for a batch did on the device."""

    texts: int
    uploads: list[int] = field(default_factory=list)
    """Their bytes."""
    new_masks: int = 0
    read_backs: int = 0
    kernels: int = 0


class Watch(TorchDispatchMode):
    """Counts the operations on the device, and refuses those that mix devices."""

    def __init__(self) -> None:
        super().__init__()
        self.steps: list[Step] = []
        self.outside = Step(0)
        """What is done between the steps."""
        self.now = self.outside

    def __torch_dispatch__(
        self, function: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        tensors = [one for one in torch.utils._pytree.tree_leaves((args, kwargs)) if isinstance(one, torch.Tensor)]
        result = function(*args, **(kwargs or {}))
        outs = [one for one in torch.utils._pytree.tree_leaves(result) if isinstance(one, torch.Tensor)]
        devices = {one.device.type for one in (*tensors, *outs) if one.dim() or one.device == META}
        if function in UPLOADS and devices == {"cpu", "meta"}:
            self.now.uploads.append(sum(one.nbytes for one in tensors if one.device.type == "cpu"))
        elif "meta" in devices:
            assert devices == {"meta"}, f"{function} mixes devices"
            self.now.kernels += not function.is_view
        return result


class ReadBacks(TorchFunctionMode):
    """Counts what waits for the device, and says what is read: for each text a token that is legal and fits."""

    def __init__(self, watch: Watch) -> None:
        super().__init__()
        self.watch = watch
        self.masks: list[Mask] = []
        self.generator = np.random.default_rng(0)

    def __torch_function__(
        self, function: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if function not in READ_BACKS or args[0].device != META:
            return function(*args, **(kwargs or {}))
        self.watch.now.read_backs += 1
        assert function is torch.Tensor.tolist, f"{function} waits for the device"
        assert args[0].shape == (len(self.masks), 3)
        legal = [np.flatnonzero(unpack(mask, len(TOKENIZER.tokens))) for mask in self.masks]
        return [[float(self.generator.choice(token_ids)), -1.0, 0.5] for token_ids in legal]


@contextmanager
def watched(monkeypatch: pytest.MonkeyPatch) -> Iterator[Watch]:
    """Count what happens on the device while texts are written."""
    watch = Watch()
    reads = ReadBacks(watch)
    sample = scheduler._sample_on_device

    def counted(sequences: list[Any], masks: list[tuple[Mask, Mask]], scores: Any, sampler: Sampler) -> None:
        watch.now = Step(len(sequences), new_masks=len(sequences[0].guide.index.table))
        copied = sequences[0].guide.index.table.copies.get(str(META))
        watch.now.new_masks -= 0 if copied is None else copied._copied  # type: ignore[attr-defined]
        reads.masks = [within for _, within in masks]
        watch.steps.append(watch.now)
        sample(sequences, masks, scores, sampler)
        watch.now = watch.outside

    monkeypatch.setattr(scheduler, "_sample_on_device", counted)
    monkeypatch.setattr(checked_calls, "_is_usable", lambda scores: scores.is_meta)  # a user's are refused there
    with watch, reads:
        yield watch


def write(model: MetaModel, count: int, sampler: Sampler) -> list[Generation]:
    """Write some texts of two types, all in one batch."""
    vowels = concat(literal("<"), repeat(chars("aeiou"), 8, 12), literal(">"))
    digits = repeat(chars("0123456789"), 6, 9)
    table = MaskTable(model.vocabulary.size)  # one for all types, as in `compiled_type`
    indexes = [Index(RegularAutomaton(pattern), model.vocabulary, table=table) for pattern in (vowels, digits)]
    requests = [
        Request(model.encode("a"), Guide(indexes[place % 2], max_tokens=60), sampler.generator(place, 0))
        for place in range(count)
    ]
    return generate(model, requests, sampler, batch_size=count)


@pytest.mark.parametrize("can_roll_back", [False, True])
@pytest.mark.parametrize("sampler", [Sampler(), Sampler(0.8, seed=1), Sampler(0.8, seed=1, top_k=5, top_p=0.9)])
def test_a_step_waits_once_whatever_the_number_of_texts(
    monkeypatch: pytest.MonkeyPatch, sampler: Sampler, can_roll_back: bool
) -> None:
    """One read-back, one small upload and one more of random numbers; as many kernels for 32 texts as for 1.

    A mask that is new in this step is uploaded as well, once for all texts and all later steps.
    """
    kernels: dict[int, set[int]] = {}
    most = 20 if sampler.temperature == 0 else 29 if sampler.top_k is None else 41  # as docs/performance.md says
    model = MetaModel(width=len(TOKENIZER.tokens) + 27, can_roll_back=can_roll_back)
    for count in (1, 4, 32):
        with watched(monkeypatch) as watch:
            texts = write(model, count, sampler)
        assert all(one.text for one in texts)
        assert not watch.outside.uploads
        assert not watch.outside.read_backs
        for step in watch.steps:
            small = [size for size in step.uploads if size <= SMALL]
            assert step.read_backs == 1
            assert len(step.uploads) <= 1 + (sampler.temperature > 0) + (step.new_masks > 0)
            assert small == step.uploads or step.new_masks > 0
        kernels[count] = {step.kernels for step in watch.steps if not step.new_masks}
    assert max(max(some) for some in kernels.values()) <= max(kernels[1]) + 1, kernels
    assert max(max(some) for some in kernels.values()) <= most
