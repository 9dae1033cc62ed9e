"""Stand-ins for vLLM: its interfaces, where it is not installed, and schedulers that drive what is plugged in.

The schedulers do what vLLM 0.33.0 does between two steps (`vllm/v1/worker/gpu_input_batch.py` and
`vllm/v1/worker/gpu/`), from its source: rows are refilled from the lowest, moved down and swapped; slots are taken from
the end of a list; requests are preempted and come back; parts of a prompt are read in steps that write nothing.
"""

import random
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from importlib.util import find_spec
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
from doubles import LogitsFunction, byte_level_tokenizer

if TYPE_CHECKING:
    import torch

HAS_VLLM = find_spec("vllm") is not None


def _module(name: str, **members: Any) -> None:
    parent, _, child = name.rpartition(".")
    if parent and parent not in sys.modules:
        _module(parent)
    made = sys.modules[name] = ModuleType(name)
    vars(made).update(members, __path__=[])
    if parent:
        setattr(sys.modules[parent], child, made)


class _RowInterface(ABC):
    """The members of vLLM's logits processors that its first model runner calls."""

    @abstractmethod
    def __init__(self, vllm_config: Any, device: Any, is_pin_memory: bool) -> None: ...
    @abstractmethod
    def apply(self, logits: Any) -> Any: ...
    @abstractmethod
    def is_argmax_invariant(self) -> bool: ...
    @abstractmethod
    def update_state(self, batch_update: Any) -> None: ...


class _SlotInterface(ABC):
    """The members that its second one calls."""

    @abstractmethod
    def apply(self, logits: Any, ctx: Any) -> Any: ...


class _Direction(Enum):
    UNIDIRECTIONAL = auto()
    SWAP = auto()


@dataclass(frozen=True)
class _BatchUpdate:
    batch_size: int
    removed: Sequence[Any]
    added: Sequence[Any]
    moved: Sequence[Any]


@dataclass(frozen=True)
class _States:
    device: Any
    max_num_reqs: int
    vocab_size: int
    all_token_ids: Any
    prompt_len: Any
    prefill_len: Any
    total_len: Any


@dataclass(frozen=True)
class _Context:
    expanded_idx_mapping: Any
    idx_mapping: Any
    idx_mapping_np: Any
    expanded_local_pos: Any
    input_ids: Any
    pos: Any
    seq_lens_upper_bound_np: Any


if not HAS_VLLM:
    _module("vllm")
    _module("vllm.tokenizers", cached_tokenizer_from_config=lambda model_config: model_config.tokenizer)
    _module(
        "vllm.v1.sample.logits_processor",
        LogitsProcessor=_RowInterface,
        BatchUpdate=_BatchUpdate,
        MoveDirectionality=_Direction,
    )
    _module(
        "vllm.v1.worker.gpu.sample.logits_processor",
        LogitsProcessor=_SlotInterface,
        LogitsProcRequestState=_States,
        LogitsContext=_Context,
    )


else:
    import vllm.tokenizers

    _theirs = vllm.tokenizers.cached_tokenizer_from_config
    vllm.tokenizers.cached_tokenizer_from_config = lambda given: getattr(given, "tokenizer", None) or _theirs(given)  # type: ignore[assignment]


CONTEXT = 96
"""Tokens of a prompt and its answer, in the stand-in for an engine."""


def engine_config(context: int = CONTEXT) -> Any:
    """Return what a processor is told of vLLM: a model with a tokenizer and two end tokens."""
    tokenizer = byte_level_tokenizer()
    model_config = SimpleNamespace(
        tokenizer=tokenizer,
        max_model_len=context,
        get_vocab_size=lambda: len(tokenizer) + 13,
        try_get_generation_config=lambda: {"eos_token_id": [1, 2]},
    )
    return SimpleNamespace(model_config=model_config)


class EngineTokenizer:
    """The tokenizer of the stand-in for an engine, as the models of this library take it."""

    def __init__(self) -> None:
        from structured.models.transformers_model import vocabulary_of

        config = engine_config().model_config
        found = vocabulary_of(config.tokenizer, [[1, 2]], width=config.get_vocab_size())
        self.tokens, self.end_token_ids, self.encode = found.tokens, found.end_token_ids, found.encode


def sampling_params(**given: Any) -> Any:
    """Return the parameters of a request to vLLM."""
    if HAS_VLLM:
        from vllm import SamplingParams

        return SamplingParams(**given)
    return SimpleNamespace(**{"extra_args": None, "max_tokens": 16} | given)


@dataclass(eq=False)
class EngineRequest:
    """A request on its way."""

    params: Any
    prompt: list[int]
    written: list[int] = field(default_factory=list)
    parts: int = 0
    """Steps in which its prompt is read only in part."""

    def is_done(self, ends: frozenset[int]) -> bool:
        """Tell whether vLLM ends it: by an end token, or by its limits."""
        full = len(self.prompt) + len(self.written) >= CONTEXT
        return bool(self.written) and (self.written[-1] in ends or len(self.written) >= self.params.max_tokens or full)


class RowEngine:
    """vLLM's first model runner, as a logits processor sees it."""

    def __init__(self, make: Callable[..., Any], model: LogitsFunction, chance: random.Random, *, rows: int) -> None:
        import torch

        self.processor = make(engine_config(), torch.device("cpu"), False)
        assert not self.processor.is_argmax_invariant()
        self.model, self.chance, self.size = model, chance, rows
        self.rows: list[EngineRequest] = []

    def run(self, requests: Sequence[EngineRequest], ends: frozenset[int]) -> None:
        """Write the answers of some requests."""
        waiting = list(requests)
        while waiting or self.rows:
            self._schedule(waiting, ends)
            if self.rows:
                self._step()

    def _schedule(self, waiting: list[EngineRequest], ends: frozenset[int]) -> None:
        """Take out, put in, move down and swap, and tell the processor."""
        from vllm.v1.sample.logits_processor import BatchUpdate, MoveDirectionality

        batch: dict[int, EngineRequest] = dict(enumerate(self.rows))
        leaving = {row for row, one in batch.items() if one.is_done(ends)}
        preempted = {row for row in batch.keys() - leaving if self.chance.random() < 0.03}
        waiting.extend(batch[row] for row in sorted(preempted))
        free = sorted(leaving | preempted)
        for row in free:
            del batch[row]
        added, moved = [], []
        while waiting and len(batch) < self.size and self.chance.random() < 0.8:
            one = waiting.pop(0)
            one.written = list(one.written)  # the list that the engine appends to from now on
            row = free.pop(0) if free else len(batch)
            batch[row] = one
            added.append((row, one.params, one.prompt, one.written))
        removed = sorted(free, reverse=True)
        while free and free[0] < len(batch):
            last = max(batch)
            target = free.pop(0)
            removed.remove(target)
            batch[target] = batch.pop(last)
            moved.append((last, target, MoveDirectionality.UNIDIRECTIONAL))
        self.rows = [batch[row] for row in sorted(batch)]
        if len(self.rows) > 1 and self.chance.random() < 0.3:
            one, other = self.chance.sample(range(len(self.rows)), 2)
            self.rows[one], self.rows[other] = self.rows[other], self.rows[one]
            moved.append((one, other, MoveDirectionality.SWAP))
        changed = bool(added or moved or removed)
        self.processor.update_state(BatchUpdate(len(self.rows), removed, added, moved) if changed else None)

    def _step(self) -> None:
        logits = scores(self.model, [one.prompt + one.written for one in self.rows])
        before = logits.clone()
        after = self.processor.apply(logits)
        check_rows(before, after, [one.params.extra_args is not None for one in self.rows])
        for one, token_id in zip(self.rows, after.argmax(dim=1).tolist(), strict=True):
            if one.parts:
                one.parts -= 1  # what is sampled in the middle of a prompt is thrown away
            else:
                one.written.append(token_id)


class SlotEngine:
    """vLLM's second model runner, with and without tokens that another model proposes."""

    def __init__(
        self, make: Callable[..., Any], model: LogitsFunction, chance: random.Random, *, rows: int, proposals: int
    ) -> None:
        import torch
        from vllm.v1.worker.gpu.sample.logits_processor import LogitsProcRequestState

        config = engine_config()
        self.width = config.model_config.get_vocab_size()
        self.states = LogitsProcRequestState(
            device=torch.device("cpu"),
            max_num_reqs=rows,
            vocab_size=self.width,
            all_token_ids=SimpleNamespace(gpu=torch.zeros((rows, CONTEXT), dtype=torch.int32)),
            prompt_len=SimpleNamespace(np=np.zeros(rows, dtype=np.int32)),
            prefill_len=SimpleNamespace(np=np.zeros(rows, dtype=np.int32)),
            total_len=SimpleNamespace(gpu=torch.zeros(rows, dtype=torch.int32)),
        )
        self.processor = make(config, self.states)
        self.model, self.chance, self.proposals = model, chance, proposals
        self.free = list(range(rows))
        self.slots: dict[int, EngineRequest] = {}

    def run(self, requests: Sequence[EngineRequest], ends: frozenset[int]) -> None:
        """Write the answers of some requests."""
        waiting = list(requests)
        while waiting or self.slots:
            for slot, one in list(self.slots.items()):
                preempted = self.chance.random() < 0.03
                if preempted and not one.is_done(ends):
                    waiting.append(one)
                if preempted or one.is_done(ends):
                    del self.slots[slot]
                    self.free.append(slot)
            while waiting and self.free and self.chance.random() < 0.8:
                self._add(waiting.pop(0))
            if self.slots:
                self._step(ends)

    def _add(self, one: EngineRequest) -> None:
        slot = self.free.pop()
        self.slots[slot] = one
        self.states.prompt_len.np[slot] = len(one.prompt)
        self._write(slot, one)
        is_constrained = self.processor.add_request(slot, one.params)
        assert is_constrained == (one.params.extra_args is not None)

    def _write(self, slot: int, one: EngineRequest) -> None:
        import torch

        known = one.prompt + one.written
        self.states.all_token_ids.gpu[slot, : len(known)] = torch.tensor(known)
        self.states.total_len.gpu[slot] = len(known)

    def _step(self, ends: frozenset[int]) -> None:
        import torch
        from vllm.v1.worker.gpu.sample.logits_processor import LogitsContext

        order = self.chance.sample(sorted(self.slots), len(self.slots))
        rows: list[tuple[int, int, int, int]] = []
        texts: list[list[int]] = []
        proposed: dict[int, list[int]] = {}
        for slot in order:
            one = self.slots[slot]
            known = one.prompt + one.written
            if one.parts:
                known = known[: max(1, len(known) - one.parts)]
            drafts = [] if one.parts else self._drafts(known)
            proposed[slot] = drafts
            for place in range(len(drafts) + 1):
                text = known + drafts[:place]
                rows.append((slot, len(text) - 1, text[-1], place))
                texts.append(text)
        slots, positions, inputs, places = torch.tensor(rows, dtype=torch.int32).t()
        mapping = torch.tensor(order, dtype=torch.int32)
        context = LogitsContext(
            expanded_idx_mapping=slots,
            idx_mapping=mapping,
            idx_mapping_np=mapping.numpy(),
            expanded_local_pos=places,
            input_ids=inputs,
            pos=positions.long(),
            seq_lens_upper_bound_np=positions.numpy() + 1,
        )
        logits = scores(self.model, texts)
        before = logits.clone()
        after = self.processor.apply(logits, context)
        check_rows(before, after, [self.slots[slot].params.extra_args is not None for slot, *_ in rows])
        chosen = iter(after.argmax(dim=1).tolist())
        for slot in order:
            self._accept(slot, proposed[slot], [next(chosen) for _ in range(len(proposed[slot]) + 1)], ends)

    def _drafts(self, known: list[int]) -> list[int]:
        """Propose what the model would write, or anything."""
        drafts: list[int] = []
        for _ in range(min(self.proposals, CONTEXT - 1 - len(known))):
            likely = int(np.argmax(self.model(known + drafts)))
            drafts.append(likely if self.chance.random() < 0.5 else self.chance.randrange(self.width))
        return drafts

    def _accept(self, slot: int, drafts: list[int], chosen: list[int], ends: frozenset[int]) -> None:
        """Keep what is written in order: proposed tokens while they are the ones chosen, and one behind them."""
        one = self.slots[slot]
        if one.parts:
            one.parts -= 1
            return
        for draft, token_id in zip([*drafts, None], chosen, strict=True):
            one.written.append(token_id)
            if draft != token_id or one.is_done(ends):
                break
        self._write(slot, one)


def scores(model: LogitsFunction, texts: Sequence[Sequence[int]]) -> "torch.Tensor":
    """Return the logits of a model, shape (texts, width)."""
    import torch

    return torch.from_numpy(np.stack([model(text) for text in texts]))


def check_rows(before: "torch.Tensor", after: "torch.Tensor", constrained: Sequence[bool]) -> None:
    """See that logits keep their shape and type, that each row allows something, and that others' are as they were."""
    import torch

    assert (after.shape, after.dtype) == (before.shape, before.dtype)
    for row, is_constrained in enumerate(constrained):
        if is_constrained:
            assert bool(after[row].isfinite().any())
            assert bool(((after[row] == before[row]) | (after[row] == -torch.inf)).all())
        else:
            assert torch.equal(after[row], before[row])
