"""The masks of a batch, as few operations on the device of its logits."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from structured.decoding.device_masks import DeviceMasks, apply_masks
from structured.index.masks import Mask, MaskTable
from structured.models.kv_cache import on_device

if TYPE_CHECKING:
    import torch


def guided(logits: "torch.Tensor", rows: Sequence[int], masks: Sequence[Mask], table: MaskTable) -> "torch.Tensor":
    """Return logits with -inf for what the masks of some rows, in ascending order, do not allow; others stay.

    `logits` has shape (batch, width). They may be changed in place. `table` is that of most masks.
    """
    allowed = DeviceMasks.of(table, logits.device).gather(masks)  # (rows, words)
    if len(rows) == len(logits):
        return apply_masks(logits, allowed)
    places = on_device(np.array(rows, dtype=np.int64), logits.device)
    return logits.index_copy_(0, places, apply_masks(logits.index_select(0, places), allowed))
