"""A table of masks enters; the same rows as one tensor on the model's device leave, and logits under them.

A batch's masks are one gather there, whatever states its texts are in and whatever types they have: between two tokens
only row numbers cross from the host. This is a room of its own, below the models, since nothing above them needs torch.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from structured.masks import NO_ROW, Mask, MaskTable

if TYPE_CHECKING:
    import torch


class DeviceMasks:
    """The rows of a table on one device. Rows are only added to a table, so each is copied once."""

    def __init__(self, table: MaskTable, device: "torch.device | str") -> None:
        import torch

        self.table = table
        self.device = torch.device(device)
        self._buffer = torch.empty((0, table.rows.shape[1]), dtype=torch.int32, device=self.device)
        self._copied = 0
        self._shares_memory = self.device.type == "cpu"

    def rows(self) -> "torch.Tensor":
        """Return all rows of the table as they are now; int32 of shape (rows, words).

        On the CPU they are the table's own memory; elsewhere the buffer doubles when it is full.
        """
        import torch

        rows = self.table.rows
        if self._shares_memory:
            return torch.from_numpy(rows)
        if len(rows) > len(self._buffer):
            grown = torch.empty((2 * len(rows), rows.shape[1]), dtype=torch.int32, device=self.device)
            grown[: self._copied] = self._buffer[: self._copied]
            self._buffer = grown
        if len(rows) > self._copied:
            self._buffer[self._copied : len(rows)] = torch.from_numpy(rows[self._copied :]).to(self.device)
            self._copied = len(rows)
        return self._buffer[: len(rows)]

    def gather(self, masks: Sequence[Mask]) -> "torch.Tensor":
        """Return the masks of a batch, int32 of shape (batch, words).

        Masks that are no rows of the table (reduced by a budget, or of an index with another table) are copied.
        """
        import torch

        numbers = np.array([self.table.row_of(mask) for mask in masks], dtype=np.int64)
        is_row = numbers != NO_ROW
        rows = self.rows().index_select(0, torch.from_numpy(numbers[is_row]).to(self.device))
        if is_row.all():
            return rows
        others = np.stack([mask for mask, known in zip(masks, is_row, strict=True) if not known])
        gathered = torch.empty((len(masks), rows.shape[1]), dtype=torch.int32, device=self.device)
        gathered[torch.from_numpy(is_row).to(self.device)] = rows
        gathered[torch.from_numpy(~is_row).to(self.device)] = torch.from_numpy(others).to(self.device)
        return gathered


def apply_masks(logits: "torch.Tensor", masks: "torch.Tensor") -> "torch.Tensor":
    """Return logits with -inf for every token outside the masks, and for logits beyond the vocabulary.

    `logits` has shape (batch, width), `masks` (batch, words); both are on one device, and the result is as well.
    """
    import torch

    if logits.device.type == "cpu" and logits.dtype == torch.float32:
        return torch.from_numpy(_apply_on_host(logits.detach().numpy(), masks.numpy()))
    batch, width = logits.shape
    shifts = torch.arange(32, dtype=torch.int32, device=masks.device)
    allowed = ((masks.unsqueeze(2) >> shifts) & 1).bool()  # (batch, words, 32)
    allowed = allowed.view(batch, -1)[:, :width]
    padded = torch.nn.functional.pad(allowed, (0, width - allowed.shape[1]))
    return logits.masked_fill(~padded, float("-inf"))


def _apply_on_host(logits: NDArray[np.float32], masks: NDArray[np.int32]) -> NDArray[np.float32]:
    """Do the same in NumPy, whose unpacking of bits is faster; where few tokens are allowed, five times."""
    allowed = np.unpackbits(masks.view(np.uint8), axis=1, bitorder="little").view(np.bool_)
    width = min(logits.shape[1], allowed.shape[1])
    masked = np.full_like(logits, -np.inf)
    np.copyto(masked[:, :width], logits[:, :width], where=allowed[:, :width])
    return masked
