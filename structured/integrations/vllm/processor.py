"""The logits processor that vLLM loads, for both of its model runners.

A processor that raises ends the engine, and everybody's requests with it. So what can be wrong with a request is found
by `validate_params`: vLLM calls it where the request comes in, and answers what it raises. What only the tokenizer
tells, that no answer takes so few tokens, is found later: such an answer ends at once, empty, and the log says why.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from structured.decoding.device_masks import DeviceMasks, apply_masks
from structured.index.masks import Mask, MaskTable
from structured.integrations.vllm import KEY, Cursor, check_constraint, start_or_end
from structured.models.kv_cache import on_device
from structured.models.transformers_model import vocabulary_of

try:
    from vllm.tokenizers import cached_tokenizer_from_config
    from vllm.v1.sample.logits_processor import LogitsProcessor as RowInterface
    from vllm.v1.sample.logits_processor import MoveDirectionality
    from vllm.v1.worker.gpu.sample.logits_processor import LogitsProcessor as SlotInterface
    from vllm.v1.worker.gpu.sample.logits_processor import LogitsProcRequestState
except ImportError as error:
    raise ImportError(f"GuideProcessor is for vLLM 0.32 or later: {error}") from error

if TYPE_CHECKING:
    from vllm import SamplingParams
    from vllm.config import VllmConfig
    from vllm.v1.sample.logits_processor import BatchUpdate
    from vllm.v1.worker.gpu.sample.logits_processor import LogitsContext

_CONTRADICTIONS = {
    **dict.fromkeys(("allowed_token_ids", "bad_words"), "which may rule out all that the constraint allows"),
    **dict.fromkeys(("repetition_detection", "stop", "stop_token_ids"), "which would cut the answer off"),
    "ignore_eos": "and the answer has to end",
    "min_tokens": "which forbids the end of an answer",
    "structured_outputs": "which is another constraint",
    "thinking_token_budget": "and the constraint holds from the first token",
    "trace_decode_token_ids": "which says the tokens",
}
"""The parameters that contradict a constraint, and why."""


class GuideProcessor(RowInterface, SlotInterface):  # type: ignore[misc]  # of a package that is not installed here
    """The logits processor that vLLM loads: `"structured.integrations.vllm:GuideProcessor"`.

    It is of both interfaces, so that each model runner takes it, and makes the processor that the runner calls.
    Requests without a constraint are left alone.

    Raises:
        VocabularyError: The bytes of the tokens are unknown, since the tokenizer is not a fast one.
    """

    def __new__(cls, vllm_config: "VllmConfig", place: Any, *_: Any) -> Any:
        """Return the processor for the runner: the first passes its device, the second its state."""
        if isinstance(place, LogitsProcRequestState):
            return SlotProcessor(vllm_config, place)
        return RowProcessor(vllm_config)

    @classmethod
    def validate_params(cls, sampling_params: "SamplingParams") -> None:
        """Raise ValueError for a constraint that cannot be read, or a parameter that contradicts it."""
        constraint = _constraint(sampling_params)
        if constraint is None:
            return
        check_constraint(constraint)
        for name, why in _CONTRADICTIONS.items():
            if getattr(sampling_params, name, None):
                raise ValueError(f"{name} and a constraint exclude each other: {name} is set, {why}. Leave it out.")


class RowProcessor(RowInterface):  # type: ignore[misc]
    """The processor of the first model runner: requests are known by their rows, which the runner moves."""

    def __init__(self, vllm_config: "VllmConfig") -> None:
        self._cursor_maker = _CursorMaker(vllm_config)
        self._rows: dict[int, tuple[Cursor, Sequence[int]]] = {}
        """The answer in each row, with the list to which vLLM appends its tokens."""

    def is_argmax_invariant(self) -> bool:
        """Tell vLLM that greedy sampling needs it, too."""
        return False

    def update_state(self, batch_update: "BatchUpdate | None") -> None:
        """Follow the requests: rows are emptied first, then filled, then moved."""
        if batch_update is None:
            return
        for row in batch_update.removed:
            self._rows.pop(row, None)
        for row, sampling_params, prompt, tokens in batch_update.added:
            self._rows.pop(row, None)
            cursor = self._cursor_maker.start_cursor(sampling_params, len(prompt or ()))
            if cursor is not None:
                self._rows[row] = cursor, tokens
        for old_row, new_row, direction in batch_update.moved:
            moved, replaced = self._rows.pop(old_row, None), self._rows.pop(new_row, None)
            if moved is not None:
                self._rows[new_row] = moved
            if replaced is not None and direction is MoveDirectionality.SWAP:
                self._rows[old_row] = replaced

    def apply(self, logits: torch.Tensor) -> torch.Tensor:
        """Return the logits, shape (requests, tokens), with -inf for tokens that may not follow."""
        if not self._rows:
            return logits
        rows = sorted(self._rows)
        cursors = [self._rows[row][0] for row in rows]
        for cursor, tokens in self._rows.values():
            cursor.rollback(cursor.count - len(tokens))  # tokens are taken back where a cache was lost
            cursor.advance(tokens[cursor.count :])
        return _mask_rows(logits, rows, [cursor.mask() for cursor in cursors], cursors[0].table)


class SlotProcessor(SlotInterface):  # type: ignore[misc]
    """The processor of the second model runner: requests keep their slots, and their tokens are on the device.

    With speculative decoding, a request has a row for each token that is proposed, and one for the token behind them.
    """

    def __init__(self, vllm_config: "VllmConfig", states: "LogitsProcRequestState") -> None:
        self._cursor_maker = _CursorMaker(vllm_config)
        self._states = states
        self._slots: dict[int, Cursor] = {}

    def add_request(self, req_idx: int, sampling_params: "SamplingParams") -> bool:
        """Begin the answer of a request in a slot; tell whether it has a constraint."""
        self._slots.pop(req_idx, None)
        cursor = self._cursor_maker.start_cursor(sampling_params, int(self._states.prompt_len.np[req_idx]))
        if cursor is not None:
            self._slots[req_idx] = cursor
        return cursor is not None

    def apply(self, logits: torch.Tensor, ctx: "LogitsContext") -> torch.Tensor:
        """Return the logits, shape (rows, tokens), with -inf for tokens that may not follow."""
        if self._slots.keys().isdisjoint(ctx.idx_mapping_np.tolist()):
            return logits
        columns = (ctx.expanded_idx_mapping, ctx.pos, ctx.input_ids)  # each of shape (rows,)
        entries = torch.stack([column.long() for column in columns], dim=1).tolist()
        rows = [(row, *entry) for row, entry in enumerate(entries) if entry[0] in self._slots]
        self._catch_up({slot: position for _, slot, position, _ in reversed(rows)})
        masks, row_counts = [], Counter[int]()
        for _, slot, _, token_id in rows:
            if row_counts[slot]:  # it is proposed to follow the row before
                self._slots[slot].accept(token_id)
            row_counts[slot] += 1
            masks.append(self._slots[slot].mask())
        for slot, count in row_counts.items():
            self._slots[slot].rollback(count - 1)
        return _mask_rows(logits, [row for row, *_ in rows], masks, self._slots[rows[0][1]].table)

    def _catch_up(self, last: Mapping[int, int]) -> None:
        """Advance the cursors of some slots by the new tokens; `last` has the positions of the last tokens."""
        new: dict[int, range] = {}
        for slot, position in last.items():
            cursor, start = self._slots[slot], int(self._states.prompt_len.np[slot])
            written = max(0, position + 1 - start)  # none while parts of the prompt are read
            cursor.rollback(cursor.count - written)
            new[slot] = range(start + cursor.count, start + written)
        widest = max(map(len, new.values()))
        if not widest:
            return
        token_ids = self._states.all_token_ids.gpu  # (slots, context length)
        slots, starts = on_device([[slot, span.start] for slot, span in new.items()], token_ids.device).t()[:, :, None]
        positions = (starts + torch.arange(widest, device=token_ids.device)).clamp(max=token_ids.shape[1] - 1)
        for (slot, span), new_tokens in zip(new.items(), token_ids[slots, positions].tolist(), strict=True):
            self._slots[slot].advance(new_tokens[: len(span)])


class _CursorMaker:
    """The vocabulary and the context of an engine, which answers begin with."""

    def __init__(self, vllm_config: "VllmConfig") -> None:
        model_config = vllm_config.model_config
        ends = model_config.try_get_generation_config().get("eos_token_id")
        tokenizer = cached_tokenizer_from_config(model_config)
        self._vocabulary = vocabulary_of(tokenizer, [ends], width=model_config.get_vocab_size())
        self._context_length = model_config.max_model_len

    def start_cursor(self, sampling_params: "SamplingParams", prompt_tokens: int) -> Cursor | None:
        """Return the cursor of a request's answer; None without a constraint."""
        constraint = _constraint(sampling_params)
        if constraint is None:
            return None
        limits = (sampling_params.max_tokens, self._context_length - prompt_tokens)
        return start_or_end(constraint, self._vocabulary, min(limit for limit in limits if limit is not None))


def _constraint(sampling_params: "SamplingParams") -> Any:
    return (sampling_params.extra_args or {}).get(KEY)


def _mask_rows(logits: torch.Tensor, rows: Sequence[int], masks: Sequence[Mask], table: MaskTable) -> torch.Tensor:
    """Return logits with -inf where the masks of some rows, in ascending order, allow no token; other rows stay.

    `logits` has shape (batch, width). They may be changed in place. `table` is that of most masks.
    """
    allowed = DeviceMasks.of(table, logits.device).gather(masks)  # (rows, words)
    if len(rows) == len(logits):
        return apply_masks(logits, allowed)
    places = on_device(np.array(rows, dtype=np.int64), logits.device)
    return logits.index_copy_(0, places, apply_masks(logits.index_select(0, places), allowed))
